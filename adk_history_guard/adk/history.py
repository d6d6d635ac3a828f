# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The repair of a session's events, in memory, before ADK builds contents.

Only here can some histories be healed: ADK pairs by id alone, so where an id
repeats it hands a call the answer of another one, and by the time of the request
the right answer is gone. The steps, in order:

1. RENAME ids that repeat or are missing, and names and ids of responses.
2. DROP   calls without a name, orphan responses, superseded responses that
          would take the text between two updates away.
3. MOVE   the responses of a round into one event right behind its calls, where
          ADK would bring them into another order.
4. ADD    placeholders for calls that an interrupted run left behind.
5. MOVE   a round to just before its late answer, so that ADK does not leave
          out every turn between the two.

What must not be touched is known elsewhere by its id: an open call (clients and
runners hold its id), every question of ADK's own (`adk_request_*`), a call that
an open question names, and long-running calls unless two of them share an id.
New ids and events are derived from what is stored, so the same history gives
the same bytes on every machine. Nothing here writes to a session service.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.adk.events import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from adk_history_guard.adk.survey import look, read_events
from adk_history_guard.core import narration
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.answers import PENDING, placeholder_part
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    Action,
    Change,
    Place,
    Turn,
    is_request_for_client,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.turns import Call, Response


@dataclass(frozen=True, slots=True)
class HistoryRepair:
    """What became of the events of a session.

    Attributes:
      events: The events to build contents from. The list handed in where nothing
        changed; else a new list in which untouched events are the same objects.
      changes: What was done, in order; places read `events[7].parts[0]`.
      ids: Every id of a call.
      closed: The ids whose calls are answered for good.
    """

    events: list[Event]
    changes: Sequence[Change] = ()
    ids: frozenset[str] | set[str] = frozenset()
    closed: frozenset[str] | set[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the run knows beyond the events.

    Attributes:
      invocation_id: The invocation that is about to run; its calls are not over.
      resumable: Whether the app resumes invocations; ADK then answers
        unanswered calls itself.
      agents: Names of the agents of the tree; a call by such a name is work
        that ADK dispatches later.
      orphans: `drop` or `narrate`.
      unanswered: `placeholder`, or anything else to leave calls to the request.
    """

    invocation_id: str | None = None
    resumable: bool = False
    agents: Collection[str] = ()
    orphans: str = "drop"
    unanswered: str = "placeholder"


def repair_events(events: list[Event], *, scene: Scene | None = None) -> HistoryRepair:
    """Repair the events of a session, in memory.

    Args:
      events: The events in stored order; never mutated.
      scene: What the run knows beyond them; a finished session by default.

    Returns:
      The repair. Deterministic and idempotent; no events of valid types raise.
    """
    ids = look(events)
    if ids is not None:
        return HistoryRepair(events, (), ids, ids)
    return _Repair(events, scene or Scene()).run()


def _digest(*seed: object) -> str:
    text = "\x1f".join(map(str, seed))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(slots=True)
class _Round:
    """A call event and the responses to its calls."""

    turn: Turn
    calls: list[Call]
    finals: list[tuple[Call, Response]]
    missing: list[Call]


@dataclass(slots=True)
class _Repair:
    """One repair: what is planned for each event, then written at once."""

    events: list[Event]
    scene: Scene
    changes: list[Change] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    by_index: dict[int, Turn] = field(default_factory=dict)
    pairs: Pairs = field(default_factory=lambda: pair(()))
    parts: dict[int, list[types.Part | None]] = field(default_factory=dict)
    narrated: dict[int, dict[int, list[types.Part]]] = field(default_factory=dict)
    fields: dict[int, dict[str, Any]] = field(default_factory=dict)
    behind: dict[int, list[Event]] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)  # event -> before event
    new_ids: dict[Call, str] = field(default_factory=dict)

    def run(self) -> HistoryRepair:
        pairs = self._read()
        self._rename_ids()
        self._mend_responses()
        self._drop_nameless()
        self._settle_orphans()
        self._drop_stale_updates()
        for turn in self.turns:
            if turn.calls:
                self._settle_round(self._round(turn))
        self._bring_late_round()
        ids = {self.new_ids.get(c) or c.id or "" for c in pairs.answers}
        closed = ids - {c.id for c in pairs.open if c.id}
        if not self.changes:
            return HistoryRepair(self.events, (), ids, closed)
        return HistoryRepair(self._write(), self.changes, ids, closed)

    def bring_late_round(self) -> HistoryRepair:
        """Do nothing but step 5."""
        self._read()
        self._bring_late_round()
        if not self.changes:
            return HistoryRepair(self.events)
        return HistoryRepair(self._write(), self.changes)

    def _read(self) -> Pairs:
        self.turns = read_events(self.events)
        self.by_index = {turn.index: turn for turn in self.turns}
        self.pairs = pair(self.turns)
        return self.pairs

    def note(self, code: str, action: Action, record: Any, message: str) -> None:
        place = Place(record.turn, record.part, "events")
        self.changes.append(Change(code, action, place, message))

    # 1. RENAME

    def _rename_ids(self) -> None:
        groups: dict[str, list[Call]] = {}
        repeated: dict[str, None] = {}
        for call in self.pairs.answers:
            if call.id is None:
                self._rename(call, "HG505")
            elif call.id in groups:
                groups[call.id].append(call)
                repeated[call.id] = None
            else:
                groups[call.id] = [call]
        for call_id in repeated:
            calls = groups[call_id]
            ranks = [self._rank(call) for call in calls]
            keeper = ranks.index(max(ranks))
            for n, call in enumerate(calls):
                if n != keeper and ranks[n] < _FIXED:
                    self._rename(call, "HG501")

    def _rank(self, call: Call) -> int:
        """How much an id must stay; the first call of the highest rank keeps it."""
        if call in self.pairs.open or call in self.pairs.held:
            return _FIXED
        if is_request_for_client(call.name):
            return _FIXED
        if call.waits and call.id in (
            self.events[call.turn].long_running_tool_ids or ()
        ):
            return _LONG_RUNNING
        return _ORDINARY

    def _rename(self, call: Call, code: str) -> None:
        event = self.events[call.turn]
        new = CLIENT_ID_PREFIX + _digest(event.id, call.part, call.id, call.name)
        self.new_ids[call] = new
        self.note(code, Action.RENAME, call, f"the id of {call} to {new!r}")
        self._put(call, _with(call.raw, "function_call", id=new))
        waiting = event.long_running_tool_ids
        if waiting and call.id in waiting:
            fields = self.fields.setdefault(call.turn, {})
            fields.setdefault("long_running_tool_ids", set(waiting)).add(new)
            others = (c for c in self._turn(call.turn).calls if c is not call)
            if not any(c.id == call.id and c not in self.new_ids for c in others):
                fields["long_running_tool_ids"].discard(call.id)

    def _mend_responses(self) -> None:
        for response, call in self.pairs.owner.items():
            if call.name is None or is_request_for_client(call.name):
                continue
            update: dict[str, Any] = {}
            new_id = self.new_ids.get(call, call.id)
            if response.id != new_id:
                update["id"] = new_id
                if call not in self.new_ids:
                    text = f"the id of the response {response} to {new_id!r}"
                    self.note("HG107", Action.RENAME, response, text)
            if response.name != call.name:
                update["name"] = call.name
                text = f"the name of the response {response} to {call.name!r}"
                self.note("HG106", Action.RENAME, response, text)
            if update:
                part = _with(response.raw, "function_response", **update)
                response.raw = part
                self._put(response, part)

    # 2. DROP

    def _drop_nameless(self) -> None:
        for call, answers in self.pairs.answers.items():
            if call.name is None:
                self.note("HG304", Action.DROP, call, f"a call without name ({call})")
                self._put(call, None)
                for response in answers:
                    self._put(response, None)

    def _settle_orphans(self) -> None:
        last = len(self.events) - 1
        for response in self.pairs.orphans:
            if is_request_for_client(response.name):
                continue
            if self.scene.orphans == "narrate" or (
                response.turn == last and response.client
            ):
                text = f"the response {response} into text: no call for it"
                self.note("HG102", Action.MOVE, response, text)
                told = self.narrated.setdefault(response.turn, {})
                told[response.part] = narration.response(response.raw)
                self._parts(response.turn)
            else:
                text = f"the response {response}: no call for it"
                self.note("HG102", Action.DROP, response, text)
                self._put(response, None)

    def _drop_stale_updates(self) -> None:
        """Let go of an update where ADK 2.10 and later drop the text behind it."""
        for call, answers in self.pairs.answers.items():
            if is_request_for_client(call.name):
                continue
            for before, after in zip(answers, answers[1:], strict=False):
                if before.turn == after.turn or self._takes_text(before, after):
                    text = f"a response to {call} that a later one supersedes"
                    self.note("HG103", Action.DROP, before, text)
                    self._put(before, None)

    def _takes_text(self, before: Response, after: Response) -> bool:
        first, second = self.events[before.turn], self.events[after.turn]
        if (first.invocation_id, first.author) != (second.invocation_id, second.author):
            return False
        actions = first.actions
        if actions and (
            actions.requested_tool_confirmations or actions.requested_auth_configs
        ):
            return False
        between = self.events[before.turn + 1 : after.turn]
        return bool(between) and all(
            event.content
            and event.author != "user"
            and event.content.role == "model"
            and not event.get_function_calls()
            for event in between
        )

    # 3. MOVE and 4. ADD

    def _round(self, turn: Turn) -> _Round:
        calls = [
            call
            for call in turn.calls
            if call.name is not None and not is_request_for_client(call.name)
        ]
        finals = [(c, r) for c in calls if (r := self.pairs.final(c)) is not None]
        return _Round(turn, calls, finals, [c for c in calls if self._is_left(c)])

    def _is_left(self, call: Call) -> bool:
        """Whether an interrupted run left the call behind."""
        scene = self.scene
        return (
            not self.pairs.answers[call]
            and not call.waits
            and scene.unanswered == "placeholder"
            and not scene.resumable
            and call.name not in scene.agents
            and self.events[call.turn].invocation_id != scene.invocation_id
        )

    def _settle_round(self, found: _Round) -> None:
        if not found.finals and not found.missing:
            return
        late = self._late_calls(found)
        if late:
            return  # left to `_bring_late_round`
        finals = [r for _, r in found.finals]
        early = any(r.turn < found.turn.index for r in finals)
        if not found.missing and not early and self._merged(found) == finals:
            return
        self._gather(found, [])

    def _merged(self, found: _Round) -> list[Response]:
        """The responses in the order in which ADK will send them."""
        turns = sorted({response.turn for _, response in found.finals})
        if len(turns) == 1:
            return self._responses(turns[0])
        owner = self.pairs.owner
        slots: dict[Call | Response, Response] = {}
        for turn in turns:
            for response in self._responses(turn):
                slots[owner.get(response, response)] = response
        return list(slots.values())

    def _responses(self, turn: int) -> list[Response]:
        gone = self.parts.get(turn)
        responses = self._turn(turn).responses
        if gone is None:
            return responses
        return [r for r in responses if gone[r.part] is not None]

    def _gather(self, found: _Round, late: Sequence[Call]) -> Event | None:
        """Put the responses of a round into one event behind its calls."""
        finals = dict(found.finals)
        parts: list[types.Part] = []
        first: int | None = None
        for call in found.calls:
            response = finals.get(call)
            if call in late:
                parts.append(self._stand_in(call))
            elif response is not None:
                parts.append(response.raw)
                first = response.turn if first is None else min(first, response.turn)
            elif call in found.missing:
                text = f"a placeholder response to {call}"
                self.note("HG101", Action.ADD, call, text)
                parts.append(placeholder_part(self._numbered(call)))
        moved = []
        for call in found.calls:
            for response in self.pairs.answers[call]:
                if call not in late or response.turn != len(self.events) - 1:
                    self._put(response, None)
                    moved.append(response)
        if moved and not found.missing:
            text = f"the responses of {found.calls[0]} into one event, in call order"
            self.note("HG105", Action.MOVE, moved[0], text)
        if not parts:
            return None
        base = None if first is None else self.events[first]
        home = self._home_event(self.events[found.turn.index], base, parts)
        self.behind.setdefault(found.turn.index, []).append(home)
        return home

    def _numbered(self, call: Call) -> Call:
        """The call under the id that it has now."""
        if call in self.new_ids:
            call.id = self.new_ids[call]
        return call

    def _stand_in(self, call: Call) -> types.Part:
        """An earlier response of a call whose final one comes last."""
        answers = self.pairs.answers[call]
        if len(answers) > 1:
            return answers[-2].raw
        return placeholder_part(self._numbered(call), PENDING)

    def _home_event(
        self, call_event: Event, base: Event | None, parts: list[types.Part]
    ) -> Event:
        content = types.Content(role="user", parts=parts)
        update: dict[str, Any] = {
            "content": content,
            "id": _digest(call_event.id, "responses"),
            "timestamp": call_event.timestamp,
        }
        if base is not None and base.author != "user":
            return base.model_copy(update=update)
        update |= {"long_running_tool_ids": None, "actions": EventActions()}
        for name in ("output", "usage_metadata", "custom_metadata"):
            if name in Event.model_fields:
                update[name] = None
        return call_event.model_copy(update=update)

    # 5. MOVE

    def _late_calls(self, found: _Round) -> list[Call]:
        last = len(self.events) - 1
        return [c for c, r in found.finals if r.turn == last and r.client]

    def _bring_late_round(self) -> None:
        """Bring rounds home that the newest event answers, the newest to its side."""
        last = len(self.events) - 1
        rounds: dict[int, None] = {}
        for response in self._turn(last).responses:
            call = self.pairs.owner.get(response)
            if call is None or call.name is None or is_request_for_client(call.name):
                continue
            if call.turn < last:
                rounds[call.turn] = None
        if not rounds:
            return
        newest = max(rounds)
        for index in rounds:
            if index != newest:
                self._gather(self._round(self._turn(index)), [])
        self._bring(self._round(self._turn(newest)), last)

    def _bring(self, found: _Round, last: int) -> None:
        """Move a round to just before the event that answers it."""
        index = found.turn.index
        answers = [r for c in found.calls for r in self.pairs.answers[c]]
        own = sorted({r.turn for r in answers} - {last})
        between = self._is_seen_between(index, last, own)
        in_order = not found.missing and self._in_slots(answers) == [
            r for _, r in found.finals
        ]
        if in_order and not between:
            return
        late = [c for c, r in found.finals if r.turn == last]
        whole = in_order and all(self._is_all_of(n, answers) for n in own)
        if not whole:
            self._gather(found, late)
        if not between:
            return
        text = f"the round of {found.calls[0]} to just before its late answer"
        self.note("HG104", Action.MOVE, found.calls[0], text)
        for n in (index, *own) if whole else (index,):
            self._move(n, last, late)

    def _move(self, index: int, last: int, late: Sequence[Call]) -> None:
        self.moved[index] = last
        update: dict[str, Any] = {}
        waiting = self.events[index].long_running_tool_ids
        if self.scene.resumable and waiting:
            # ADK 1.x takes a long-running call among the last two for a pause.
            update["long_running_tool_ids"] = set(waiting) - {c.id for c in late}
        if any(e.actions and e.actions.compaction for e in self.events):
            # ADK sorts by time where a summary stands in for older events.
            update["timestamp"] = self.events[last].timestamp
            for event in self.behind.get(index, ()):
                event.timestamp = self.events[last].timestamp
        if update:
            self.fields.setdefault(index, {}).update(update)

    def _is_seen_between(self, index: int, last: int, own: Sequence[int]) -> bool:
        branch = self.events[index].branch
        skip = set(own)
        return any(
            n not in skip and _is_seen(self.events[n], branch)
            for n in range(index + 1, last)
        )

    def _is_all_of(self, index: int, answers: Sequence[Response]) -> bool:
        content = self.events[index].content
        mine = sum(r.turn == index for r in answers)
        return content is not None and len(content.parts or ()) == mine

    def _in_slots(self, answers: Sequence[Response]) -> list[Response]:
        """The order that ADK makes of a round answered by the last event."""
        owner = self.pairs.owner
        slots: dict[Call | Response, Response] = {}
        for turn in sorted({r.turn for r in answers}):
            for response in self._responses(turn):
                slots[owner.get(response, response)] = response
        return list(slots.values())

    # Writing

    def _turn(self, index: int) -> Turn:
        return self.by_index.get(index) or Turn(index, None, [])

    def _parts(self, index: int) -> list[types.Part | None]:
        parts = self.parts.get(index)
        if parts is None:
            content = self.events[index].content
            parts = self.parts[index] = list((content and content.parts) or ())
        return parts

    def _put(self, record: Call | Response, part: types.Part | None) -> None:
        self._parts(record.turn)[record.part] = part

    def _write(self) -> list[Event]:
        out: list[Event] = []
        arrivals: dict[int, list[int]] = {}
        for index, before in self.moved.items():
            arrivals.setdefault(before, []).append(index)
        for index in range(len(self.events)):
            for moved in arrivals.get(index, ()):
                out.append(self._written(moved))
                out += self.behind.get(moved, ())
            if index not in self.moved:
                out.append(self._written(index))
                out += self.behind.get(index, ())
        return out

    def _written(self, index: int) -> Event:
        event = self.events[index]
        update: dict[str, Any] = dict(self.fields.get(index) or {})
        if index in self.parts:
            told = self.narrated.get(index, {})
            parts: list[types.Part] = []
            for n, part in enumerate(self.parts[index]):
                if n in told:
                    parts += told[n]
                elif part is not None:
                    parts.append(part)
            content = event.content
            update["content"] = (
                content.model_copy(update={"parts": parts})
                if content is not None and parts
                else None
            )
        return event.model_copy(update=update) if update else event


_ORDINARY, _LONG_RUNNING, _FIXED = range(3)


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
        if any(call.id in wanted for call in earlier.get_function_calls()):
            return None
        if _is_seen(earlier, event.branch) and not (
            wanted & {r.id for r in earlier.get_function_responses()}
        ):
            break
    else:
        return None
    done = _Repair([*events, event], scene).bring_late_round()
    if not done.changes or done.events[-1] is not event:
        return None
    return HistoryRepair(done.events[:-1], done.changes)


def _is_seen(event: Event, branch: str | None) -> bool:
    """Whether an event is a turn of the request of an agent on this branch."""
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


def _with(part: types.Part, kind: str, /, **update: Any) -> types.Part:
    """Return a copy of a part with some fields of its call or response changed."""
    said = getattr(part, kind)
    return part.model_copy(update={kind: said.model_copy(update=update)})
