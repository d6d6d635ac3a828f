# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`retry="once"`: what is sent after a rejection for signatures or counts.

The steps of a table are tried from the mildest; the first that changes what was
sent is the one. Every signature then counts as foreign, since the provider has
just refused what was there. Other errors are never answered with a retry.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.guard import Outcome, guard
from adk_history_guard.core.origins import Origins
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.diagnostics.causes import find_clues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.adk.models.llm_request import LlmRequest
    from google.genai import types

    from adk_history_guard.adk.targets import Target
    from adk_history_guard.diagnostics.failures import ProviderError
    from adk_history_guard.options import GuardOptions


@dataclass(frozen=True, slots=True)
class Step:
    """One policy that is stricter than the one before.

    Attributes:
      name: Its name in logs.
      knobs: The knobs that it sets.
      distrust: Whether every signature counts as another model's.
    """

    name: str
    knobs: Mapping[str, Any] = field(default_factory=dict)
    distrust: bool = False


_PLACEHOLDER = Step(
    "placeholder_signature", {"unsigned": "placeholder_signature"}, distrust=True
)
_NARRATE = Step("narrate", {"unsigned": "narrate"}, distrust=True)
_COLLAPSE = Step("collapse", {"parallel": "collapse"})

STEPS: Mapping[str, tuple[Step, ...]] = {
    "signature": (_PLACEHOLDER, _NARRATE),
    "count": (_COLLAPSE, _NARRATE),
}
"""What may help against a kind of rejection, the mildest first."""

GATEWAY_STEPS: tuple[Step, ...] = (
    _COLLAPSE,
    Step("narrate", {"unsigned": "narrate", "parallel": "collapse"}, distrust=True),
)
"""The same behind an OpenAI-compatible address, which reports one as the other."""

KINDS: Mapping[str, str] = {
    "HG401": "signature",
    "HG402": "signature",
    "HG403": "signature",
    "HG101": "count",
    "HG103": "count",
    "HG404": "count",
}
"""The kind of rejection by the rule that the provider's words mean first."""

_GATEWAY = "gemini-gateway"
_SPEAKS_OPENAI = frozenset({"openai-chat", _GATEWAY})


@dataclass(frozen=True, slots=True)
class Retry:
    """What to send once more.

    Attributes:
      outcome: The contents and what was changed in them.
      step: The name of the policy.
      code: The rule that the provider meant.
      target: The contract that the contents are now held against, and why.
    """

    outcome: Outcome
    step: str
    code: str
    target: Target


class Attempt:
    """The tries of one model call: the first, and one more at most."""

    def __init__(self, *, may_retry: bool) -> None:
        """Start before the first try."""
        self.may_retry = may_retry
        self._left = 1

    def goes_on(self) -> bool:
        """Tell whether there is a try to make, and count it."""
        self._left -= 1
        return self._left >= 0

    def again(self, request: LlmRequest) -> LlmRequest:
        """Allow the second try with a request; never a third."""
        self.may_retry = False
        self._left = 1
        return request

    def yielded(self) -> None:
        """Note that somebody has seen a part of the answer."""
        self.may_retry = False


def stricter(
    contents: list[types.Content],
    sent: list[types.Content],
    error: ProviderError,
    *,
    target: Target,
    options: GuardOptions,
) -> Retry | None:
    """Find the next stricter policy that changes what was sent.

    Args:
      contents: The contents as the model was handed them.
      sent: The contents that were refused.
      error: What the provider said.
      target: Where they were sent.
      options: The knobs under which they were sent.

    Returns:
      What to send; None where the error is of another kind, or no policy helps.
    """
    clues = find_clues(error)
    code = clues[0].codes[0] if clues else ""
    kind = KINDS.get(code)
    if kind is None or (error.finish_reason or "") == "STOP":
        return None
    steps = STEPS[kind]
    if target.profile.name in _SPEAKS_OPENAI:
        steps = GATEWAY_STEPS
        if target.profile.name != _GATEWAY:
            reason = f"{target.reason}, and a rejection for what a Gemini asks ({code})"
            target = replace(target, profile=PROFILES[_GATEWAY], reason=reason)
    for step in steps:
        outcome = guard(
            contents,
            profile=target.profile,
            options=replace(options, **step.knobs),
            origins=Origins(distrust=step.distrust),
        )
        if outcome.contents != sent:
            return Retry(outcome, step.name, code, target)
    return None
