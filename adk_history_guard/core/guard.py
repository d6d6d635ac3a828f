# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The tour of the library: read, pair, repair, check, in one screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adk_history_guard.core.checks import check
from adk_history_guard.core.origins import NO_ORIGINS
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.profiles import resolve_profile
from adk_history_guard.core.repair import data_markers, repair
from adk_history_guard.core.screen import is_clean
from adk_history_guard.core.turns import (
    DATA_MARKERS,
    Change,
    Severity,
    Violation,
    read_contents,
    records,
    reread,
    write_contents,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from google.genai import types

    from adk_history_guard.core.origins import Origins
    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.turns import Turn
    from adk_history_guard.options import GuardOptions


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the contents of a request.

    Attributes:
      contents: The contents to send. The list handed in where nothing changed;
        else a new list in which untouched contents are the same objects.
      changes: What the repair did, in order.
      violations: What is left, by place.
    """

    contents: list[types.Content]
    changes: Sequence[Change] = ()
    violations: Sequence[Violation] = ()

    @property
    def errors(self) -> list[Violation]:
        """The violations of severity error, which `mode="strict"` raises for."""
        return [v for v in self.violations if v.severity is Severity.ERROR]


def guard(
    contents: list[types.Content],
    *,
    profile: Profile,
    options: GuardOptions,
    pending: Collection[str] = (),
    origins: Origins = NO_ORIGINS,
) -> Outcome:
    """Repair the contents of a request and check what is left.

    Args:
      contents: The contents of a `generateContent` request; never mutated.
      profile: The contract of the provider.
      options: The knobs; `mode="observe"` leaves the contents as they are.
      pending: Ids (for calls without id: names) of calls that are unanswered
        on purpose.
      origins: Who wrote what, as far as it is on record.

    Returns:
      The outcome. Total: no contents of valid types raise.
    """
    if not origins and _is_usual(options, profile) and is_clean(contents, profile):
        return Outcome(contents)
    turns = read_contents(contents)
    pairs = _pair_by(turns, origins.known_ids)
    changes: list[Change] = []
    if options.mode != "observe":
        repaired, changes = repair(
            turns, pairs, profile, options, pending=pending, origins=origins
        )
        if changes:
            turns = reread(repaired)
            pairs = _keep_doubts(repaired, pairs, turns)
    _mark_pending(pairs, pending)
    violations = check(turns, pairs, profile, data_markers(options))
    if not changes:
        return Outcome(contents, (), violations)
    return Outcome(write_contents(turns), changes, violations)


def _pair_by(turns: list[Turn], known: Mapping[tuple[int, int], str]) -> Pairs:
    """Pair turns by ids that their parts do not carry, where some are known."""
    bare = [
        record
        for record in records(turns)
        if record.id is None and (record.turn, record.part) in known
    ]
    for record in bare:
        record.id = known[record.turn, record.part]
    pairs = pair(turns)
    for record in bare:
        record.id = None
    return pairs


def _is_usual(options: GuardOptions, profile: Profile) -> bool:
    """Whether no knob asks to rewrite what breaks no rule."""
    if options.parallel != "keep" or options.unsigned == "narrate":
        return False
    # The screen knows what a gateway narrates: calls without data in their ids.
    asked = options.unsigned == "auto" and profile.unsigned == "narrate"
    return not asked or profile.signed_ids


def _keep_doubts(repaired: list[Turn], before: Pairs, turns: list[Turn]) -> Pairs:
    """Pair repaired turns; what was a guess before the repair still is one."""
    pairs = pair(turns)
    doubts = set(before.doubtful)
    pairs.doubtful += [
        new
        for old_turn, turn in zip(repaired, turns, strict=True)
        for old, new in zip(old_turn.responses, turn.responses, strict=True)
        if old in doubts
    ]
    return pairs


def _mark_pending(pairs: Pairs, pending: Collection[str]) -> None:
    """Tell the checks which calls wait on purpose, where nothing answers them."""
    for call in pairs.answers:
        if (call.id or call.name) in pending:
            call.waits = True


def repair_contents(
    contents: list[types.Content],
    profile: str | Profile = "gemini-3",
    options: GuardOptions | None = None,
    pending: Collection[str] = (),
) -> Outcome:
    """Repair contents to the contract of a provider.

    Args:
      contents: The contents of a request; never mutated.
      profile: A profile or its name in `PROFILES`.
      options: The knobs; the defaults of `GuardOptions` where None.
      pending: Ids of calls that are unanswered on purpose.

    Returns:
      The outcome: contents, changes, and the violations that are left.

    Raises:
      ConfigurationError: There is no profile of that name.
    """
    if options is None:
        from adk_history_guard.options import GuardOptions

        options = GuardOptions()
    return guard(
        contents, profile=resolve_profile(profile), options=options, pending=pending
    )


def validate_contents(
    contents: Sequence[types.Content],
    profile: str | Profile = "gemini-3",
    pending: Collection[str] = (),
    *,
    markers: tuple[str, ...] = DATA_MARKERS,
) -> list[Violation]:
    """Check contents against the contract of a provider; nothing is repaired.

    Args:
      contents: The contents of a request.
      profile: A profile or its name in `PROFILES`.
      pending: Ids of calls that are unanswered on purpose.
      markers: What an id with data inside holds.

    Returns:
      The violations by place; empty for a request that the provider takes.

    Raises:
      ConfigurationError: There is no profile of that name.
    """
    turns = read_contents(contents)
    pairs = pair(turns)
    _mark_pending(pairs, pending)
    return check(turns, pairs, resolve_profile(profile), markers)
