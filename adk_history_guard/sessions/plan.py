# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""What a repair of a stored session is: the in-memory repair, made to last.

The engine is `repair_events`, asked about the history as the next run will see
it: with one more message of the user behind it. So nothing is moved for the
sake of an answer that is the newest event only today.

What the engine puts into a new event right behind a call goes into the first
stored event that gave something to it; ADK brings it home by itself. Only where
no event gave anything is there a new row, in the time between the call and the
next event. Every row that changes is marked, with what was made up in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.history import Scene, repair_events
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    Action,
    Change,
    Place,
    is_empty,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from google.adk.events import Event

METADATA_KEY = "adk_history_guard"
STAMPS = "__adk_internal_fc_hmac"
"""Where `ToolCallIntegrityPlugin` keeps its stamps in `custom_metadata`."""

_TICK = 1e-6
"""Databases keep microseconds."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """A new event.

    Attributes:
      event: The event; its time lies between its neighbours.
      after: The id of the event that it follows.
      shift: How many seconds after that event it stands.
    """

    event: Event
    after: str
    shift: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a session.

    Attributes:
      changes: What is done and why; places read `events[7].parts[0]`.
      updated: The changed events by id.
      inserted: The new events.
      events: The events as they stand afterwards.
    """

    changes: Sequence[Change] = ()
    updated: dict[str, Event] | None = None
    inserted: Sequence[Insertion] = ()
    events: Sequence[Event] = ()


def scene_of(
    events: Sequence[Event], *, agents: Collection[str] = (), running: bool = False
) -> Scene:
    """Read from a session what a run would know beyond its events.

    Args:
      events: The events.
      agents: Names of agents that are called as tasks, as far as known.
      running: Whether its newest invocation may still be going on.
    """
    authors = {event.author for event in events} | set(agents)
    resumable = any(
        event.actions.agent_state is not None or event.actions.end_of_agent
        for event in events
    )
    newest = events[-1].invocation_id if events and running else None
    return Scene(invocation_id=newest, resumable=resumable, agents=authors)


def is_stamped(events: Sequence[Event]) -> bool:
    """Tell whether `ToolCallIntegrityPlugin` has stamped calls of a session."""
    return any(STAMPS in (event.custom_metadata or {}) for event in events)


def make_plan(events: list[Event], scene: Scene) -> Plan:
    """Plan the repair of a stored session.

    Args:
      events: The events in stored order, with their stored ids; never mutated.
      scene: What a run would know beyond them.

    Returns:
      The plan, without changes where nothing is amiss.
    """
    done = repair_events([*events, _next_message(events)], scene=scene)
    changes = list(done.changes)
    repaired = _placed(events, done.events[:-1])
    repaired = _of_one_kind(events, repaired, changes)
    repaired = _without_empty_parts(events, repaired, changes)
    known = {event.id: n for n, event in enumerate(events)}
    updated = {
        event.id: event
        for event in repaired
        if event.id in known and event is not events[known[event.id]]
    }
    if not changes:
        return Plan(events=events)
    inserted = _inserted(events, repaired, known)
    return _marked(Plan(changes, updated, inserted, repaired), events, known)


def _next_message(events: Sequence[Event]) -> Event:
    from google.adk.events import Event
    from google.genai import types

    last = events[-1] if events else None
    return Event(
        id="next",
        invocation_id="next",
        author="user",
        timestamp=last.timestamp if last else 0.0,
        content=types.UserContent("next"),
    )


def _placed(events: Sequence[Event], repaired: Sequence[Event]) -> list[Event]:
    """Put gathered responses into a stored event where one gave its own up."""
    known = {event.id: event for event in events}
    out: list[Event | None] = list(repaired)
    for n, event in enumerate(repaired):
        if event.id in known:
            continue
        home = _home(event, known, out, n + 1)
        if home is not None:
            out[home] = _with_parts(known[repaired[home].id], _parts(event))
            out[n] = None
    # A new event that had its parts taken away again was never stored.
    return [e for e in out if e is not None and (e.id in known or _parts(e))]


def _home(
    event: Event, known: dict[str, Event], out: Sequence[Event | None], start: int
) -> int | None:
    """The first event behind whose parts, nothing but responses, went into another."""
    bodies = {
        id(part.function_response.response)
        for part in _parts(event)
        if part.function_response is not None
    }
    for n in range(start, len(out)):
        candidate = out[n]
        stored = known.get(candidate.id) if candidate is not None else None
        if stored is None or candidate is None or candidate.content is not None:
            continue
        responses = [part.function_response for part in _parts(stored)]
        if all(r is not None for r in responses) and any(
            r is not None and id(r.response) in bodies for r in responses
        ):
            return n
    return None


def _parts(event: Event) -> Sequence[Any]:
    return (event.content.parts if event.content is not None else None) or ()


def _with_parts(event: Event, parts: Sequence[Any]) -> Event:
    content = event.content
    if content is not None:
        content = content.model_copy(update={"parts": list(parts)})
    return event.model_copy(update={"content": content})


def _of_one_kind(
    events: Sequence[Event], repaired: Sequence[Event], changes: list[Change]
) -> list[Event]:
    """Give new ids the kind of the ids beside them.

    ADK takes ids with its own prefix off requests to Gemini and leaves the
    others, and a turn in which some calls have ids and some have none is refused.
    """
    known = {event.id: event for event in events}
    old = {call.id for event in events for call in event.get_function_calls()}
    names: dict[str, str] = {}
    for event in repaired:
        if known.get(event.id) is event:
            continue
        ids = [call.id or "" for call in event.get_function_calls()]
        if all(call_id.startswith(CLIENT_ID_PREFIX) for call_id in ids):
            continue
        names |= {
            call_id: call_id.removeprefix(CLIENT_ID_PREFIX)
            for call_id in ids
            if call_id not in old
        }
    if not names:
        return list(repaired)
    changes[:] = [
        Change(c.code, c.action, c.place, _renamed_text(c.message, names))
        for c in changes
    ]
    return [_renamed(event, names) for event in repaired]


def _renamed_text(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(repr(old), repr(new))
    return text


def _renamed(event: Event, names: dict[str, str]) -> Event:
    parts = [_renamed_part(part, names) for part in _parts(event)]
    if all(new is old for new, old in zip(parts, _parts(event), strict=True)):
        return event
    out = _with_parts(event, parts)
    waiting = event.long_running_tool_ids
    if waiting:
        ids = {names.get(call_id, call_id) for call_id in waiting}
        out = out.model_copy(update={"long_running_tool_ids": ids})
    return out


def _renamed_part(part: Any, names: dict[str, str]) -> Any:
    for kind in ("function_call", "function_response"):
        said = getattr(part, kind)
        if said is not None and said.id in names:
            new = said.model_copy(update={"id": names[said.id]})
            return part.model_copy(update={kind: new})
    return part


def _without_empty_parts(
    events: Sequence[Event], repaired: Sequence[Event], changes: list[Change]
) -> list[Event]:
    """DROP parts that hold nothing beside parts that hold something.

    ADK leaves out an event without any content, but sends an empty part beside
    another as it is.
    """
    places = {event.id: n for n, event in enumerate(events)}
    out = []
    for event in repaired:
        parts = _parts(event)
        left = [part for part in parts if not is_empty(part)]
        if left and len(left) < len(parts) and event.id in places:
            place = Place(places[event.id], None, "events")
            changes.append(
                Change("HG301", Action.DROP, place, "a part without content")
            )
            out.append(_with_parts(event, left))
        else:
            out.append(event)
    return out


def _inserted(
    events: Sequence[Event], repaired: Sequence[Event], known: dict[str, int]
) -> list[Insertion]:
    """Find a time for each new event: behind a stored one, before what came next."""
    groups: list[tuple[Event, list[Event]]] = []
    for event in repaired:
        if event.id in known:
            groups.append((event, []))
        else:
            groups[-1][1].append(event)
    out = []
    for before, behind in groups:
        index, start = known[before.id] + 1, before.timestamp
        after = events[index].timestamp if index < len(events) else start + 2e-3
        room = (after - start) / (len(behind) + 1)
        # ADK before 2.13 reads events of one time in no order; so the response is
        # later than its call in any case, be it later than what came next. ADK
        # brings it home.
        step = min(1e-3, room) if room >= _TICK else _TICK
        for n, event in enumerate(behind, 1):
            timed = event.model_copy(update={"timestamp": start + n * step})
            out.append(Insertion(timed, before.id, n * step))
    return out


def _marked(plan: Plan, events: Sequence[Event], known: dict[str, int]) -> Plan:
    """Note in each row that changes which rules it broke and what was made up."""
    codes: dict[int, set[str]] = {}
    for change in plan.changes:
        codes.setdefault(change.place.turn, set()).add(change.code)
    # A row may change for the sake of another one, such as a call's response.
    every = {change.code for change in plan.changes}
    bodies = {
        id(part.function_response.response)
        for event in events
        for part in _parts(event)
        if part.function_response is not None
    }
    updated = {
        event_id: _mark(event, codes.get(known[event_id], every), bodies)
        for event_id, event in (plan.updated or {}).items()
    }
    inserted = [
        replace(
            item, event=_mark(item.event, codes.get(known[item.after], every), bodies)
        )
        for item in plan.inserted
    ]
    behind: dict[str, list[Event]] = {}
    for item in inserted:
        behind.setdefault(item.after, []).append(item.event)
    after: list[Event] = []
    for event in plan.events:
        if event.id in known:
            after.append(updated.get(event.id, event))
            after += behind.get(event.id, ())
    return Plan(plan.changes, updated, inserted, after)


def _mark(event: Event, codes: Collection[str], bodies: Collection[int]) -> Event:
    metadata = dict(event.custom_metadata or {})
    own = dict(metadata.get(METADATA_KEY) or {})
    own["repaired"] = sorted({*own.get("repaired", ()), *codes})
    made_up = [
        part.function_response.id
        for part in _parts(event)
        if part.function_response is not None
        and id(part.function_response.response) not in bodies
    ]
    if made_up:
        own["made_up"] = made_up
    metadata[METADATA_KEY] = own
    return event.model_copy(update={"custom_metadata": metadata})
