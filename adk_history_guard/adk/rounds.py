# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds of a session: a call event and the responses to its calls.

ADK brings responses home by itself, but in the order in which their events were
stored, by id alone; and where the newest event answers an older call, it leaves
out every turn between the two. Here a round is gathered into two neighbouring
events only where ADK's own way would come out wrong, which is found by doing on
paper what ADK does (`_in_slots`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from google.adk.events import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from adk_history_guard.adk.draft import digest
from adk_history_guard.core.answers import PENDING, placeholder_part
from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import Action, is_request_for_client

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from adk_history_guard.adk.draft import Draft
    from adk_history_guard.core.turns import Call, Response, Turn


@dataclass(slots=True)
class Round:
    """A call event and the responses to its calls.

    Attributes:
      turn: The call event.
      calls: Its calls, without ADK's own questions and calls without a name.
      finals: The calls that have a response, with the one that counts.
      missing: Calls that an interrupted run left behind.
    """

    turn: Turn
    calls: list[Call]
    finals: list[tuple[Call, Response]]
    missing: list[Call]


def read_round(draft: Draft, turn: Turn) -> Round:
    """Read the round that starts with a call event."""
    calls = [
        call
        for call in turn.calls
        if call.name is not None and not draft.is_spared(call)
    ]
    final = draft.pairs.final
    finals = [(c, r) for c in calls if (r := final(c)) is not None]
    return Round(turn, calls, finals, [c for c in calls if is_left(draft, c)])


def is_left(draft: Draft, call: Call) -> bool:
    """Tell whether an interrupted run left a call behind, never to be answered."""
    scene = draft.scene
    return (
        not draft.pairs.answers[call]
        and not call.waits
        and scene.unanswered == "placeholder"
        and not scene.resumable
        and call.name not in scene.agents
        and draft.event_of(call).invocation_id != scene.invocation_id
    )


def settle(draft: Draft, found: Round) -> None:
    """Gather a round where ADK would not send it complete and in call order."""
    if not found.finals and not found.missing:
        return
    finals = [response for _, response in found.finals]
    if any(r.turn == draft.last and r.client for r in finals):
        return  # left to `bring_late`
    early = any(r.turn < found.turn.index for r in finals)
    if found.missing or early or _sent(draft, finals) != finals:
        _gather(draft, found, ())


def bring_late(draft: Draft) -> None:
    """Bring the rounds that the newest event answers to where ADK sends them well.

    The newest of them goes to just before its answer; the answers to older ones
    go home, since ADK refuses an event that answers two rounds, or sends all its
    responses behind both. An event of the run's own cannot be taken apart, as it
    is yet to be stored: there the rounds are joined.
    """
    rounds: dict[int, None] = {}
    for response in draft.turn(draft.last).responses:
        call = draft.pairs.owner.get(response)
        if call is None or call.name is None or draft.is_spared(call):
            continue
        if call.turn < draft.last:
            rounds[call.turn] = None
    if not rounds:
        return
    if len(rounds) > 1 and draft.events[draft.last].author != "user":
        _join(draft, sorted(rounds))
        return
    # ADK leaves out a message that answers a question of its own, all of it.
    left_out = any(map(_is_for_adk, draft.turn(draft.last).responses))
    newest = None if left_out else max(rounds)
    for index in rounds:
        if index != newest:
            _gather(draft, read_round(draft, draft.turn(index)), ())
    if newest is not None:
        _bring(draft, read_round(draft, draft.turn(newest)))


def _is_for_adk(response: Response) -> bool:
    return is_request_for_client(response.name)


def _bring(draft: Draft, found: Round) -> None:
    index, last = found.turn.index, draft.last
    answers = [r for c in found.calls for r in draft.pairs.answers[c]]
    own = sorted({r.turn for r in answers} - {last})
    finals = [r for _, r in found.finals]
    sent = [r for r in _in_slots(draft, answers) if _is_of(draft, r, found)]
    in_order = not found.missing and sent == finals
    along = {n for n in own if _goes_along(draft, n, found, gathered=not in_order)}
    between = _is_seen_between(draft, found, along)
    if in_order and not between:
        return
    late = [c for c, r in found.finals if r.turn == last]
    whole = in_order and all(_is_all_of(draft, n, answers) for n in own)
    if not whole:
        _gather(draft, found, late)
    if not between:
        return
    text = f"the round of {found.calls[0]} to just before its late answer"
    draft.note("HG104", Action.MOVE, found.calls[0], text)
    for n in (index, *own) if whole else (index,):
        _move(draft, n, late)


def _is_of(draft: Draft, response: Response, found: Round) -> bool:
    """Whether a round can do without a response: the newest event stays as it is."""
    return response.turn != draft.last or draft.pairs.owner.get(response) in found.calls


def _join(draft: Draft, indices: Sequence[int]) -> None:
    """Make one round of those that an event of the run's own answers together.

    Two calls that a person has confirmed in one message run together. Each part
    stays as it is, signatures with it.
    """
    calls: list[types.Part | None] = []
    stand_ins: list[types.Part] = []
    waiting: set[str] = set()
    late: list[Call] = []
    for index in indices:
        found = read_round(draft, draft.turn(index))
        mine = [c for c, r in found.finals if r.turn == draft.last]
        _gather(draft, found, mine)
        for home in draft.behind.pop(index, ()):
            stand_ins += (home.content.parts if home.content else None) or ()
        waiting |= set(draft.get(index, "long_running_tool_ids") or ())
        calls += draft.parts(index)
        draft.parts(index)[:] = [None]
        late += mine
        text = f"the round of {found.calls[0]} to just before its late answer"
        draft.note("HG104", Action.MOVE, found.calls[0], text)
    newest = indices[-1]
    draft.parts(newest)[:] = calls
    draft.set(newest, long_running_tool_ids=waiting or None)
    home = _home_event(draft.events[newest], draft.events[draft.last], stand_ins)
    draft.behind[newest] = [changed(home, {"actions": EventActions()})]
    _move(draft, newest, late)


def _move(draft: Draft, index: int, late: Sequence[Call]) -> None:
    last = draft.last
    draft.move(index, last)
    waiting = draft.get(index, "long_running_tool_ids")
    if draft.scene.resumable and waiting:
        # ADK 1.x takes a long-running call among the last two for a pause.
        draft.set(index, long_running_tool_ids=set(waiting) - {c.id for c in late})
    if any(e.actions.compaction for e in draft.events):
        # ADK sorts by time where a summary stands in for older events.
        time = draft.events[last].timestamp
        draft.set(index, timestamp=time)
        draft.behind[index] = [
            changed(event, {"timestamp": time}) for event in draft.behind.get(index, ())
        ]


def _is_seen_between(draft: Draft, found: Round, along: Collection[int]) -> bool:
    """Whether a turn stands between that ADK must not leave out.

    What the agent itself said while it waited ("I have started the job") is out
    of date with the answer; that ADK means to leave out. The events `along` go with
    the round.
    """
    index = found.turn.index
    asked = draft.events[index]
    return any(
        n not in along
        and is_seen(draft.events[n], asked.branch)
        and not _is_words_of(draft.events[n], asked.author)
        for n in range(index + 1, draft.last)
    )


def _goes_along(draft: Draft, index: int, found: Round, *, gathered: bool) -> bool:
    """Whether ADK keeps what an event with responses of a round says.

    It does not where the event answers another round as well, nor what is left
    behind when the responses are gathered, unless the agent itself said it.
    """
    event, owner = draft.events[index], draft.pairs.owner
    responses = draft.turn(index).responses
    if not all(owner.get(response) in found.calls for response in responses):
        return False
    own_words = event.author == draft.events[found.turn.index].author != "user"
    return not gathered or own_words or _is_all_of(draft, index, responses)


def _is_words_of(event: Event, author: str) -> bool:
    """Whether an event is nothing but what an agent said."""
    parts = (event.content.parts if event.content is not None else None) or ()
    return event.author == author != "user" and not any(
        part.function_call or part.function_response for part in parts
    )


def is_seen(event: Event, branch: str | None) -> bool:
    """Tell whether an event is a turn of the request of an agent on a branch."""
    content = event.content
    if content is None or not content.parts:
        return False
    for part in content.parts:
        said = part.function_call or part.function_response
        if said is not None and is_request_for_client(said.name):
            return False
    if not branch or not event.branch:
        return True
    return branch == event.branch or branch.startswith(event.branch + ".")


def _is_all_of(draft: Draft, index: int, answers: Iterable[Response]) -> bool:
    """Whether an event holds nothing but these responses."""
    content = draft.events[index].content
    mine = sum(response.turn == index for response in answers)
    return content is not None and len(content.parts or ()) == mine


def _sent(draft: Draft, finals: Sequence[Response]) -> list[Response]:
    """The responses of a round in the middle as ADK will send them."""
    turns = {response.turn for response in finals}
    if len(turns) == 1:
        return draft.responses(turns.pop())
    return _in_slots(draft, finals)


def _in_slots(draft: Draft, answers: Iterable[Response]) -> list[Response]:
    """What ADK makes of several response events: the last one takes the slot."""
    owner = draft.pairs.owner
    slots: dict[Call | Response, Response] = {}
    for turn in sorted({response.turn for response in answers}):
        for response in draft.responses(turn):
            slots[owner.get(response, response)] = response
    return list(slots.values())


def _gather(draft: Draft, found: Round, late: Sequence[Call]) -> None:
    """Put the responses of a round into one event right behind its calls.

    Calls in `late` are answered by the newest event, which stays as it is; an
    earlier response or a placeholder keeps their slot.
    """
    finals = dict(found.finals)
    parts: list[types.Part] = []
    first: int | None = None
    for call in found.calls:
        response = finals.get(call)
        if call in late:
            parts.append(_stand_in(draft, call))
        elif response is not None:
            parts.append(response.raw)
            first = response.turn if first is None else min(first, response.turn)
        elif call in found.missing:
            text = f"a placeholder response to {call}"
            draft.note("HG101", Action.ADD, call, text)
            parts.append(placeholder_part(_numbered(draft, call)))
    moved = _taken_home(draft, found, late, parts)
    if moved and not found.missing:
        text = f"the responses of {found.calls[0]} into one event, in call order"
        draft.note("HG105", Action.MOVE, moved[0], text)
    if parts:
        base = None if first is None else draft.events[first]
        home = _home_event(draft.events[found.turn.index], base, parts)
        draft.behind.setdefault(found.turn.index, []).append(home)


def _taken_home(
    draft: Draft, found: Round, late: Sequence[Call], kept: Sequence[types.Part]
) -> list[Response]:
    """Take the responses of a round out of their events; those not kept go."""
    moved: list[Response] = []
    sent = set(map(id, kept))
    for call in found.calls:
        for response in draft.pairs.answers[call]:
            if call in late and response.turn == draft.last:
                continue
            draft.put(response, None)
            moved.append(response)
            if id(response.raw) not in sent:
                text = f"a response to {call} that a later one supersedes"
                draft.note("HG103", Action.DROP, response, text)
    return moved


def _numbered(draft: Draft, call: Call) -> Call:
    """A call like this one, under the id that it has now."""
    return replace(call, id=draft.id_of(call))


def _stand_in(draft: Draft, call: Call) -> types.Part:
    """An earlier response of a call whose final one comes last."""
    answers = draft.pairs.answers[call]
    if len(answers) > 1:
        return answers[-2].raw
    return placeholder_part(_numbered(draft, call), PENDING)


def _home_event(call: Event, base: Event | None, parts: list[types.Part]) -> Event:
    seed = f"{call.id}\x1fresponses"
    update: dict[str, Any] = {
        "content": types.Content(role="user", parts=parts),
        "id": digest(seed),
        "timestamp": call.timestamp,
        # A rewind goes back to the first event of an invocation.
        "invocation_id": call.invocation_id,
    }
    if base is not None and base.author != "user":
        return changed(base, update)
    if base is not None:
        update["author"] = "user"  # a workflow is resumed by what the user posts
    update |= {"long_running_tool_ids": None, "actions": EventActions()}
    for name in ("output", "usage_metadata", "custom_metadata"):
        if name in Event.model_fields:
            update[name] = None
    return changed(call, update)
