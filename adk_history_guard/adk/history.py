# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The repair of a session's events, in memory, before ADK builds contents.

Only here can some histories be healed: ADK pairs by id alone, so where an id
repeats it hands a call the answer of another one, and by the time of the request
the right answer is gone. The steps, in order:

0. MOVE   calls and responses of one event into events of their own.
1. RENAME ids that repeat or are missing, and names and ids of responses.
2. DROP   calls without a name, orphan responses, superseded responses that
          would take the text between two updates away.
3. MOVE   the responses of a round into one event right behind its calls, where
          ADK would bring them into another order.
4. ADD    placeholders for calls that an interrupted run left behind.
5. MOVE   a round to just before its late answer, so that ADK does not leave
          out every turn between the two.

What must not be touched is known elsewhere by its id: an open call (clients and
runners hold its id), every question of ADK's own (`adk_request_*`) or of a
workflow's node, a call that an open question names, and long-running calls
unless two of them share an id; then the one that is answered now keeps it.
New ids and events are derived from what is stored, so the same history gives
the same bytes on every machine. Nothing here writes to a session service.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk import rounds
from adk_history_guard.adk.draft import Draft, Scene, stored_id
from adk_history_guard.adk.mixed import at_home, split_mixed
from adk_history_guard.adk.quick import look
from adk_history_guard.core import narration
from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import (
    Action,
    Change,
    is_request_for_client,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event
    from google.genai import types

    from adk_history_guard.core.turns import Call, Response

__all__ = ["HistoryRepair", "Scene", "bring_late_round", "repair_events"]


@dataclass(frozen=True, slots=True)
class HistoryRepair:
    """What became of the events of a session.

    Attributes:
      events: The events to build contents from. The list handed in where nothing
        changed; else a new list in which untouched events are the same objects.
      changes: What was done, in order; places read `events[7].parts[0]`.
      ids: Every id of a call.
      closed: The ids whose calls are answered for good.
      ordered: Whether each round is whole and in call order, so that its pairs
        can be told without ids.
    """

    events: list[Event]
    changes: Sequence[Change] = ()
    ids: frozenset[str] | set[str] = frozenset()
    closed: frozenset[str] | set[str] = frozenset()
    ordered: bool = False


def repair_events(events: list[Event], *, scene: Scene | None = None) -> HistoryRepair:
    """Repair the events of a session, in memory.

    Args:
      events: The events in stored order; never mutated.
      scene: What the run knows beyond them; a finished session by default.

    Returns:
      The repair. Deterministic and idempotent; no events of valid types raise.
    """
    found = look(events)
    if found is not None:
        ids, waiting, renames = found
        closed = ids - waiting if waiting else ids
        if renames is None:
            return HistoryRepair(events, (), ids, closed, ordered=True)
        return HistoryRepair(renames.events, renames.changes, ids, closed, ordered=True)
    whole, changes, homes = split_mixed(events)
    draft = Draft(whole, scene or Scene())
    draft.changes += changes
    done = _repair(draft)
    if not homes:
        return done
    mine = done.changes[len(changes) :]
    return replace(done, changes=[*changes, *(at_home(c, homes) for c in mine)])


def bring_late_round(
    events: list[Event], event: Event, *, scene: Scene
) -> HistoryRepair | None:
    """Move the round that a new event answers to the end of the events.

    For tools that ADK runs again after a confirmation: their response comes
    late, and ADK leaves out what stands between it and its call.

    Args:
      events: The events of the session, without the new one; never mutated.
      event: An event that is about to be appended.
      scene: What the run knows.

    Returns:
      The repair of `events`, or None where nothing stands between.
    """
    responses = event.get_function_responses()
    if not responses or event.author == "user":
        return None
    wanted = {response.id for response in responses}
    for earlier in reversed(events):
        ids = {call.id for call in earlier.get_function_calls()}
        if wanted <= ids:
            return None
        if wanted & ids:
            break  # the event answers another round as well
        answered = {r.id for r in earlier.get_function_responses()}
        if rounds.is_seen(earlier, event.branch) and not (
            answered and answered <= wanted
        ):
            break
    else:
        return None
    draft = Draft([*events, event], scene)
    rounds.bring_late(draft)
    if not draft.changes:
        return None
    done = draft.write()
    return HistoryRepair(done[:-1], draft.changes) if done[-1] is event else None


def _repair(draft: Draft) -> HistoryRepair:
    for step in _STEPS:
        step(draft)
    pairs = draft.pairs
    ids = set(filter(None, map(draft.id_of, pairs.answers)))
    closed = ids - set(map(draft.id_of, pairs.open))
    if not draft.changes:
        return HistoryRepair(draft.events, (), ids, closed)
    return HistoryRepair(draft.write(), draft.changes, ids, closed)


def rename_ids(draft: Draft) -> None:
    """RENAME ids that repeat or are missing.

    One call keeps a repeated id: one that is known elsewhere, else the first. Of
    several open ones it is the oldest, which a client's answer goes to.
    """
    groups: dict[str, list[Call]] = {}
    for call in draft.pairs.answers:
        if call.id is None:
            _rename(draft, call, "HG505")
        else:
            groups.setdefault(call.id, []).append(call)
    for calls in groups.values():
        if len(calls) == 1:
            continue
        ranks = [_rank(draft, call) for call in calls]
        keeper = ranks.index(max(ranks))
        for n, call in enumerate(calls):
            if n != keeper and ranks[n] < _FIXED:
                _rename(draft, call, "HG501")


_ORDINARY, _LONG_RUNNING, _OPEN, _RESUMED, _FIXED = range(5)


def _rank(draft: Draft, call: Call) -> int:
    """How much an id must stay; the first call of the highest rank keeps it."""
    if call in draft.pairs.held or draft.is_spared(call):
        return _FIXED
    final = draft.pairs.final(call)
    if final is not None and final.client and final.turn == draft.last:
        return _RESUMED
    if call in draft.pairs.open and not rounds.is_left(draft, call):
        return _OPEN
    if call.id in (draft.event_of(call).long_running_tool_ids or ()):
        return _LONG_RUNNING
    return _ORDINARY


def _rename(draft: Draft, call: Call, code: str) -> None:
    event = draft.event_of(call)
    new = stored_id(event.id, call.part, call.id, call.name, draft.taken)
    draft.taken.add(new)
    draft.new_ids[call] = new
    draft.note(code, Action.RENAME, call, f"the id of {call} to {new!r}")
    draft.put(call, _with(call.raw, "function_call", id=new))
    waiting = draft.get(call.turn, "long_running_tool_ids")
    if waiting and call.id in waiting:
        shared = any(
            other.id == call.id and other not in draft.new_ids
            for other in draft.turn(call.turn).calls
        )
        left = set(waiting) if shared else set(waiting) - {call.id}
        draft.set(call.turn, long_running_tool_ids=left | {new})


def mend_responses(draft: Draft) -> None:
    """RENAME responses to the names and ids of their calls."""
    for response, call in draft.pairs.owner.items():
        if call.name is None or draft.is_spared(call):
            continue
        update: dict[str, Any] = {}
        new_id = draft.id_of(call)
        if response.id != new_id:
            update["id"] = new_id
            if call not in draft.new_ids:
                text = f"the id of the response {response} to {new_id!r}"
                draft.note("HG107", Action.RENAME, response, text)
        if response.name != call.name:
            update["name"] = call.name
            text = f"the name of the response {response} to {call.name!r}"
            draft.note("HG106", Action.RENAME, response, text)
        if update:
            response.raw = _with(response.raw, "function_response", **update)
            draft.put(response, response.raw)


def drop_nameless(draft: Draft) -> None:
    """DROP calls without a name, and their responses."""
    for call, answers in draft.pairs.answers.items():
        if call.name is None:
            draft.note("HG304", Action.DROP, call, f"a call without name ({call})")
            draft.put(call, None)
            for response in answers:
                text = f"the response {response} to a call without name"
                draft.note("HG304", Action.DROP, response, text)
                draft.put(response, None)


def settle_orphans(draft: Draft) -> None:
    """DROP responses without a call; what the client has just posted is told."""
    for response in draft.pairs.orphans:
        if is_request_for_client(response.name):
            continue
        if draft.scene.orphans == "narrate" or (
            response.turn == draft.last and response.client
        ):
            text = f"the response {response} into text: no call for it"
            draft.note("HG102", Action.MOVE, response, text)
            draft.tell(response, narration.response(response.raw))
        else:
            text = f"the response {response}: no call for it"
            draft.note("HG102", Action.DROP, response, text)
            draft.put(response, None)


def drop_stale_updates(draft: Draft) -> None:
    """DROP an update where ADK 2.10 and later drop the text behind it with it."""
    for call, answers in draft.pairs.answers.items():
        if draft.is_spared(call):
            continue
        for before, after in pairwise(answers):
            if before.turn == after.turn or _takes_text(draft, before, after):
                text = f"a response to {call} that a later one supersedes"
                draft.note("HG103", Action.DROP, before, text)
                draft.put(before, None)


def _takes_text(draft: Draft, before: Response, after: Response) -> bool:
    first, second = draft.event_of(before), draft.event_of(after)
    if (first.invocation_id, first.author) != (second.invocation_id, second.author):
        return False
    actions = first.actions
    if actions.requested_tool_confirmations or actions.requested_auth_configs:
        return False
    between = draft.events[before.turn + 1 : after.turn]
    return bool(between) and all(
        event.content is not None
        and event.author != "user"
        and event.content.role == "model"
        and not event.get_function_calls()
        for event in between
    )


def settle_rounds(draft: Draft) -> None:
    """MOVE responses home and ADD placeholders, where ADK's own way comes out wrong."""
    for turn in draft.turns:
        if turn.calls:
            rounds.settle(draft, rounds.read_round(draft, turn))


def bring_late(draft: Draft) -> None:
    """MOVE a round to just before its late answer, where the client has posted it."""
    if draft.events[draft.last].author == "user":
        rounds.bring_late(draft)


def _with(part: types.Part, kind: str, /, **update: Any) -> types.Part:
    """Return a copy of a part with some fields of its call or response changed."""
    return changed(part, {kind: changed(getattr(part, kind), update)})


_STEPS = (
    rename_ids,
    mend_responses,
    drop_nameless,
    settle_orphans,
    drop_stale_updates,
    settle_rounds,
    bring_late,
)
"""The steps of the repair, in order."""
