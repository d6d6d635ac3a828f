# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`explain`: what is wrong with a request, where, why, and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import Place
from adk_history_guard.diagnostics.causes import find_clues
from adk_history_guard.diagnostics.sayings import saying
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.diagnostics.words import describe, safe_lines, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from google.genai import types

    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.turns import Violation
    from adk_history_guard.diagnostics.causes import Cause
    from adk_history_guard.diagnostics.record import RejectedRequest
    from adk_history_guard.diagnostics.sources import DumpLike

SHOWN = 12
"""How many violations are drawn; the rest is counted."""

ROWS = 60
"""How many rows of the pairing table are printed."""

_FEW = 20  # a pairing table of this size is printed whole
_PARTS = 8  # parts of one turn around a fault
_SUSPECTS = 3  # suspected causes that are listed


@dataclass(frozen=True)
class Explanation:
    """What is wrong with a request.

    Attributes:
        request: The request itself.
    """

    request: RejectedRequest

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What the request breaks, by place."""
        return self.request.violations

    @property
    def clean(self) -> bool:
        """Whether the request breaks no rule that the guard knows."""
        return not self.request.violations

    @property
    def misleading(self) -> list[str]:
        """How the provider's words are known to mislead; empty where they are not."""
        return [
            clue.misleads for clue in find_clues(self.request.error) if clue.misleads
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-ready values, without text of the user."""
        out = self.request.to_dict("shape", repaired=False)
        for name in ("schema", "schema_version", "contents", "config", "content"):
            out.pop(name)
        for violation in out["violations"]:
            rule = RULES[violation["code"]]
            violation["why"] = rule.why
            violation["source"] = rule.source
            violation["provider_says"] = saying(rule.code, self.request.profile.name)
        out["misleading"] = self.misleading
        out["clean"] = self.clean
        return out

    def __str__(self) -> str:
        """Return the explanation as text, as the command line prints it."""
        return "\n".join(_write(self))


def explain(
    dump: DumpLike,
    *,
    profile: str | Profile | None = None,
) -> Explanation:
    """Explain a rejected request.

    Args:
        dump: A dump (its path, its JSON, or the `RejectedRequest` that `dump` and
            `on_rejected` get), contents, or a session.
        profile: The contract to judge by, in place of the dump's own.

    Returns:
        The explanation; `str()` of it is the text of the command line.

    Raises:
        DumpFormatError: The dump cannot be read; names the file and the place.
        ConfigurationError: There is no profile of that name.
    """
    return Explanation(load(dump, profile))


def _write(explanation: Explanation) -> Iterator[str]:
    request = explanation.request
    yield from _head(request)
    if explanation.clean:
        yield ""
        yield "The request breaks no rule that this release knows."
        yield from _tail(explanation)
        return
    for violation in request.violations[:SHOWN]:
        yield ""
        yield from draw(request, violation)
    more = len(request.violations) - SHOWN
    if more > 0:
        yield ""
        yield f"and {more} more violation(s)."
    yield from _tail(explanation)


def _head(request: RejectedRequest) -> Iterator[str]:
    reason = f" ({visible(request.profile_reason)})" if request.profile_reason else ""
    yield f"profile:  {request.profile.name}{reason}"
    if request.model:
        yield f"model:    {visible(request.model)}"
    if request.agent:
        yield f"agent:    {visible(request.agent)}"
    turns = request.omitted or len(request.contents)
    yield f"contents: {turns}, violations: {len(request.violations)}"
    if request.error is not None:
        yield f"provider: {safe_lines(str(request.error)).strip()}"


def draw(request: RejectedRequest, violation: Violation) -> Iterator[str]:
    """Yield the lines that show one violation with the turns around it."""
    rule = RULES[violation.code]
    yield (
        f"{violation.code} {violation.name} ({violation.severity}): "
        f"{visible(violation.message, 400)}"
    )
    yield f"  --> {violation.place}"
    yield from _around(request.contents, violation.place)
    yield f"  why:    {rule.why}"
    says = saying(rule.code, request.profile.name)
    if says is not None:
        yield f"  answer: {says}"
    yield f"  fix:    {violation.fix}"
    yield f"  source: {rule.source}"


def _around(contents: Sequence[types.Content], place: Place) -> Iterator[str]:
    """Yield the turn of a fault, its neighbours, and carets under the fault."""
    first = max(0, place.turn - 1)
    for n in range(first, min(len(contents), place.turn + 2)):
        parts = contents[n].parts or []
        role = visible(contents[n].role or "(none)", 12)
        head = f"  {n:>5} {role:<8} "
        gap = " " * len(head)
        here = n == place.turn
        chosen = place.part if here else None
        if not parts:
            yield f"{head}(no parts)"
        low = max(0, (chosen or 0) - _PARTS // 2)
        if low:
            yield f"{head}... {low} part(s) before"
            head = gap
        for k, part in enumerate(parts[low : low + _PARTS], low):
            said = describe(part)
            yield f"{head}{said}"
            head = gap
            if here and chosen == k:
                yield f"{gap}{'^' * len(said)}"
        rest = len(parts) - low - _PARTS
        if rest > 0:
            yield f"{gap}... {rest} part(s) more"
        if here and chosen is None:
            yield f"{gap}{'^' * 12} the whole turn"


def _tail(explanation: Explanation) -> Iterator[str]:
    request = explanation.request
    yield from _causes(request)
    for told in explanation.misleading:
        yield f"  note: this text misleads: {told}."
    yield from _pairs(request)
    changes = request.repaired.changes
    if changes:
        yield ""
        yield "mode='repair' would"
        for change in changes[:ROWS]:
            yield f"  {visible(str(change), 400)}"
        if len(changes) > ROWS:
            yield f"  ... and {len(changes) - ROWS} more changes"
    elif not explanation.clean:
        yield ""
        yield "No repair is safe here: see the fix."


def _pairs(request: RejectedRequest) -> Iterator[str]:
    """Yield the pairing table; of a long request the rows next to a fault."""
    pairs, orphans = request.pairs
    if not pairs and not orphans:
        return
    near = {v.place.turn + step for v in request.violations for step in (-1, 0, 1)}
    rows = [
        (call, responses)
        for call, responses in pairs
        if len(pairs) <= _FEW
        or call.turn in near
        or any(response.turn in near for response in responses)
    ]
    yield ""
    yield "pairs"
    for call, responses in rows[:ROWS]:
        homes = ", ".join(str(Place(r.turn, r.part)) for r in responses)
        name = visible(str(call), 200)
        yield f"  {Place(call.turn, call.part)}  {name} -> {homes or 'no response'}"
    more = len(pairs) - len(rows[:ROWS])
    if more:
        yield f"  ... and {more} more call(s)"
    for orphan in orphans[:ROWS]:
        name = visible(str(orphan), 200)
        yield f"  no call -> {Place(orphan.turn, orphan.part)}  {name}"


def listed_causes(request: RejectedRequest) -> list[Cause]:
    """Return the causes worth reading: suspicions only where nothing is known."""
    known = [cause for cause in request.causes if cause.rank != "suspected"]
    return known or list(request.causes[:_SUSPECTS])


def _causes(request: RejectedRequest) -> Iterator[str]:
    listed = listed_causes(request) if request.error is not None else []
    if not listed:
        return
    yield ""
    yield "causes, the likeliest first"
    for n, cause in enumerate(listed, 1):
        places = ", ".join(map(str, cause.places[:4])) or "not found in this request"
        head = f"  {n}. {cause.code} {cause.name} ({cause.rank})"
        yield f"{head}: {places}; {cause.reason}"
