# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The repair of a request: ordered passes, each labelled by what it does.

Strategy
--------
The pairs are made once, before anything moves; the records of calls and
responses then travel with their parts, so a pass never has to guess who
answers whom. Each pass takes the turns and returns turns; a turn that it does
not change stays the same object, and so does its content.

The order has reasons:

1.  RENAME `fix_roles`, so that a turn is the model's or the user's; then DROP
           `take_off_foreign`, before it is asked which calls are signed.
2.  DROP   `drop_empty_parts`, before an empty turn stands between two others.
3.  DROP   `drop_nameless_calls`: no provider takes them, and no repair can
           name them.
4.  DROP   `settle_orphans`: responses without a call, and superseded ones,
           before anything is counted.
5.  MOVE   `nest_media`, where asked to, while it is seen whose media it is;
           then `bring_home`: one turn with the responses right behind its call
           turn, in call order; what else stood beside them right after it.
6.  ADD    `answer`: placeholders, once all true responses are home.
7.  RENAME `mend`: names and ids of responses as their calls have them; then
           MOVE `bring_out_media`, which opens turns between others.
8.  MOVE   `join_model_turns`: neighbours, after the turns between are gone.
9.  ADD    `lead_with_user`.
10. MOVE   `collapse_parallel`, then `narrate_unsigned`: calls that cannot be
           replayed as they are, once their responses stand right behind them.
11. ADD    `answer_for_model`, once it is known what stays a response; then
           DROP `strip_end`.
12. ADD    `signatures.PASSES`: on the final steps, since they decide where
           the current turn starts.
13. RENAME `ids.fit_ids`: last, when it is known which calls are sent.

Every pass is deterministic (no clock, no randomness), so the same history gives
the same bytes; and running them on their own output changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adk_history_guard.core import (
    answers,
    collapse,
    ids,
    media,
    narration,
    shape,
    signatures,
)
from adk_history_guard.core.origins import NO_ORIGINS
from adk_history_guard.core.turns import (
    DATA_MARKERS,
    Action,
    Call,
    Change,
    Place,
    Turn,
    is_request_for_client,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from adk_history_guard.core.origins import Origins
    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.options import GuardOptions


@dataclass(slots=True)
class Job:
    """What the passes share: the contract, the knobs, the pairs, the changes."""

    profile: Profile
    options: GuardOptions
    pairs: Pairs
    pending: Collection[str] = ()
    origins: Origins = NO_ORIGINS
    markers: tuple[str, ...] = DATA_MARKERS
    changes: list[Change] = field(default_factory=list)
    rests: set[Turn] = field(default_factory=set)

    @property
    def unsigned(self) -> str:
        """What to do with an unsigned step: the knob, else the profile's word."""
        chosen = self.options.unsigned
        return self.profile.unsigned if chosen == "auto" else chosen

    def note(self, code: str, action: Action, place: Place, message: str) -> None:
        """Record a change."""
        self.changes.append(Change(code, action, place, message))

    def is_pending(self, call: Call) -> bool:
        """Tell whether a call is unanswered on purpose; by id, else by name."""
        if call.waits or is_request_for_client(call.name):
            return True
        return (call.id or call.name) in self.pending


def data_markers(options: GuardOptions) -> tuple[str, ...]:
    """Return what an id with data inside holds, the user's own marker with it."""
    return (*DATA_MARKERS, options.signature_marker)


def repair(
    turns: list[Turn],
    pairs: Pairs,
    profile: Profile,
    options: GuardOptions,
    *,
    pending: Collection[str] = (),
    origins: Origins = NO_ORIGINS,
) -> tuple[list[Turn], list[Change]]:
    """Run all passes.

    Args:
      turns: The turns of a request.
      pairs: Who answers whom among them.
      profile: The contract to repair to.
      options: The knobs of the passes.
      pending: Ids, and for calls without id names, of calls that are
        unanswered on purpose.
      origins: Who wrote what, as far as it is on record.

    Returns:
      The turns, and what was done. Turns without a fault are the same objects.
    """
    markers = data_markers(options)
    job = Job(profile, options, pairs, pending, origins, markers)
    for run in PASSES:
        turns = run(turns, job)
    return turns, job.changes


PASSES: Sequence[Callable[[list[Turn], Job], list[Turn]]] = (
    shape.fix_roles,
    signatures.take_off_foreign,
    shape.drop_empty_parts,
    answers.drop_nameless_calls,
    answers.settle_orphans,
    media.nest_media,
    answers.bring_home,
    answers.answer,
    answers.mend,
    media.bring_out_media,
    shape.join_model_turns,
    shape.lead_with_user,
    collapse.collapse_parallel,
    narration.narrate_unsigned,
    shape.answer_for_model,
    shape.strip_end,
    *signatures.PASSES,
    ids.fit_ids,
)
