# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What each provider accepts: which rules, how severe, which ids. Data only."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from adk_history_guard.core.turns import Severity
from adk_history_guard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

ERROR, WARNING, OFF = Severity.ERROR, Severity.WARNING, Severity.OFF


@dataclass(frozen=True, slots=True)
class IdFormat:
    """What a provider asks of call ids.

    Attributes:
      required: Whether every call and response must carry one.
      pattern: What an id must match in full; None where anything goes.
      length: The longest id; None where there is no limit.
      exact: Whether `length` is not a limit but the length itself.
      data: Whether an id may carry data, so that it is kept byte for byte.
    """

    required: bool = False
    pattern: re.Pattern[str] | None = None
    length: int | None = None
    exact: bool = False
    data: bool = True

    def allows(self, call_id: str) -> bool:
        """Tell whether an id has the provider's format."""
        if self.pattern is not None and not self.pattern.fullmatch(call_id):
            return False
        if self.length is None:
            return True
        size = len(call_id)
        return size == self.length if self.exact else size <= self.length


_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
"""G28."""

_PLAIN_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""OpenAI and Mistral, by the provider table of the contract."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A provider's contract, as data.

    Attributes:
      name: Its name in `PROFILES`.
      summary: One line on where it applies.
      rules: The severity of each rule that does not have its default.
      ids: What it asks of ids.
      names: What a function may be called.
      signatures: What it does with thought signatures: `demanded` (the first
        call of each step of the current turn must carry one), `optional`, or
        `foreign` (it has none of Gemini's).
      signed_ids: Whether a signature is looked for inside the id of a call.
      thoughts: Which thoughts may be sent: `any`; `own`, not those of another
        model; `signed`, only own ones with their signature.
      unsigned: What to do with an unsigned step: `placeholder_signature`,
        `narrate` or `keep`.
      parallel: `keep`, or `collapse` where only signed calls are replayed.
      nested_media: Whether media may stand inside a response.
      media_turns: The turns for media of several responses: `one`, or `each`.
      media_types: What may stand as a part of its own; None for anything.
      leading_user: Whether the history must start with a user turn.
      model_after_responses: Whether the model must speak between a response
        turn and a user turn.
      final_space: Whether the model's words may end in white space at the end
        of the request.
    """

    name: str
    summary: str
    rules: Mapping[str, Severity] = field(default_factory=dict)
    ids: IdFormat = IdFormat()
    names: re.Pattern[str] = _GEMINI_NAME
    signatures: str = "optional"
    signed_ids: bool = False
    thoughts: str = "any"
    unsigned: str = "keep"
    parallel: str = "keep"
    nested_media: bool = False
    media_turns: str = "one"
    media_types: frozenset[str] | None = None
    leading_user: bool = True
    model_after_responses: bool = False
    final_space: bool = True


_WORD = re.compile(r"[a-zA-Z0-9_-]+")
_ALPHANUMERIC = re.compile(r"[a-zA-Z0-9]+")

_NO_SIGNATURES: Mapping[str, Severity] = {"HG401": OFF, "HG402": OFF}
_PAIRED_BY_ID: Mapping[str, Severity] = {
    "HG105": OFF,
    "HG501": ERROR,
    "HG206": OFF,
    "HG302": WARNING,
    "HG307": OFF,
    **_NO_SIGNATURES,
}

_ALL = (
    Profile(
        "gemini-3",
        "Gemini 3 and later over `generateContent`.",
        signatures="demanded",
        unsigned="placeholder_signature",
        nested_media=True,
    ),
    Profile(
        "gemini-2",
        "Gemini 2.x over `generateContent`, and models not known otherwise.",
        rules={"HG401": OFF, "HG205": WARNING},
    ),
    Profile(
        "gemini-gateway",
        "Gemini behind an OpenAI-compatible gateway, signatures inside the ids.",
        rules={**_PAIRED_BY_ID, "HG401": ERROR},
        ids=IdFormat(required=True),
        signatures="demanded",
        signed_ids=True,
        unsigned="narrate",
        parallel="collapse",
        media_turns="each",
        leading_user=False,
    ),
    Profile(
        "openai-chat",
        "OpenAI Chat Completions and compatible servers.",
        rules=_PAIRED_BY_ID,
        ids=IdFormat(required=True, pattern=_WORD, length=40),
        names=_PLAIN_NAME,
        signatures="foreign",
        media_turns="each",
        leading_user=False,
    ),
    Profile(
        "openai-responses",
        "OpenAI Responses.",
        rules=_PAIRED_BY_ID,
        ids=IdFormat(required=True, pattern=_WORD, length=64),
        names=_PLAIN_NAME,
        signatures="foreign",
        media_turns="each",
        leading_user=False,
    ),
    Profile(
        "anthropic",
        "Anthropic Messages, directly or through Vertex AI.",
        rules={**_PAIRED_BY_ID, "HG302": ERROR},
        ids=IdFormat(required=True, pattern=_WORD, length=64, data=False),
        signatures="foreign",
        thoughts="signed",
        final_space=False,
        media_types=frozenset(
            {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}
        ),
    ),
    Profile(
        "mistral",
        "Mistral chat completions.",
        rules=_PAIRED_BY_ID,
        ids=IdFormat(
            required=True,
            pattern=_ALPHANUMERIC,
            length=9,
            exact=True,
            data=False,
        ),
        names=_PLAIN_NAME,
        signatures="foreign",
        media_turns="each",
        model_after_responses=True,
    ),
    Profile(
        "bedrock",
        "Amazon Bedrock Converse.",
        rules={**_PAIRED_BY_ID, "HG302": ERROR},
        ids=IdFormat(required=True, pattern=_WORD, length=64, data=False),
        signatures="foreign",
        thoughts="own",
        final_space=False,
    ),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({p.name: p for p in _ALL})
"""Every profile by its name."""

_GEMINI_VERSION = re.compile(r"gemini-(\d+)")
_GEMINI_LATEST = re.compile(r"gemini-(?:[a-z]+-)*latest")


def resolve_profile(profile: str | Profile) -> Profile:
    """Return a profile by its name; a profile is handed back.

    Raises:
      ConfigurationError: There is no profile of that name; lists those there are.
    """
    if isinstance(profile, Profile):
        return profile
    found = PROFILES.get(profile)
    if found is None:
        msg = f"Unknown profile {profile!r}. Use one of: {', '.join(PROFILES)}."
        raise ConfigurationError(msg)
    return found


@lru_cache(maxsize=512)
def gemini_profile(name: str) -> str:
    """Return the profile of a Gemini by its name: by version, aliases are new."""
    lowered = name.lower()
    version = _GEMINI_VERSION.search(lowered)
    if version:
        return "gemini-3" if int(version.group(1)) >= 3 else "gemini-2"  # noqa: PLR2004 - the generation
    return "gemini-3" if _GEMINI_LATEST.search(lowered) else "gemini-2"
