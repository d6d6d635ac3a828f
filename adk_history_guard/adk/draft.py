# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A repair of events in the making: what is to become of each, written at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.survey import is_of_node, read_events
from adk_history_guard.core.copies import changed
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    Action,
    Change,
    Place,
    Turn,
    is_request_for_client,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.adk.events import Event
    from google.genai import types

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.turns import Call, Record, Response


def stored_id(
    event_id: str,
    part: int,
    call_id: str | None,
    name: str | None,
    taken: Collection[str | None],
) -> str:
    """Return a new id for a stored call: a function of what is stored and where.

    Args:
      event_id: The id of its event; copied histories hold one twice.
      part: The index of its part.
      call_id: The id that it had.
      name: The tool's name.
      taken: Ids that it must not be.
    """
    seed = f"{event_id}\x1f{part}\x1f{call_id}\x1f{name}"
    new = CLIENT_ID_PREFIX + digest(seed)
    while new in taken:
        seed += "\x1f"
        new = CLIENT_ID_PREFIX + digest(seed)
    return new


def digest(seed: str) -> str:
    """Return 32 hexadecimal digits that depend on nothing but the seed."""
    return hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:32]


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


@dataclass(slots=True)
class Draft:
    """Events, their pairs, and what is planned for each event.

    Attributes:
      events: The events as they came; never mutated.
      scene: What the run knows.
      changes: What was planned, as records.
      new_ids: New ids of calls.
      taken: All ids of calls, old and new.
      behind: New events by the index of the event that they follow.
    """

    events: list[Event]
    scene: Scene
    changes: list[Change] = field(default_factory=list)
    new_ids: dict[Call, str] = field(default_factory=dict)
    behind: dict[int, list[Event]] = field(default_factory=dict)
    turns: list[Turn] = field(init=False)
    pairs: Pairs = field(init=False)
    taken: set[str | None] = field(init=False)
    _by_index: dict[int, Turn] = field(init=False)
    _parts: dict[int, list[types.Part | None]] = field(default_factory=dict)
    _told: dict[int, dict[int, list[types.Part]]] = field(default_factory=dict)
    _fields: dict[int, dict[str, Any]] = field(default_factory=dict)
    _moved: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the events and pair their responses."""
        self.turns = read_events(self.events)
        self.pairs = pair(self.turns)
        self.taken = {call.id for call in self.pairs.answers}
        self._by_index = {turn.index: turn for turn in self.turns}

    @property
    def last(self) -> int:
        """The index of the newest event."""
        return len(self.events) - 1

    def turn(self, index: int) -> Turn:
        """Return the calls and responses of an event."""
        return self._by_index.get(index) or Turn(index, None, [])

    def event_of(self, record: Record) -> Event:
        """Return the event that a call or response stands in."""
        return self.events[record.turn]

    def is_spared(self, call: Call) -> bool:
        """Tell whether a call is ADK's or a node's question, known by its id."""
        return is_request_for_client(call.name) or is_of_node(self.event_of(call))

    def id_of(self, call: Call) -> str | None:
        """Return the id that a call has now."""
        return self.new_ids.get(call, call.id)

    def note(self, code: str, action: Action, record: Record, message: str) -> None:
        """Record a change at the place of a call or response."""
        place = Place(record.turn, record.part, "events")
        self.changes.append(Change(code, action, place, message))

    def put(self, record: Record, part: types.Part | None) -> None:
        """Put another part in the place of a call or response; None drops it."""
        self.parts(record.turn)[record.part] = part

    def tell(self, record: Record, parts: list[types.Part]) -> None:
        """Put text in the place of a response."""
        self.parts(record.turn)
        self._told.setdefault(record.turn, {})[record.part] = parts

    def set(self, index: int, **fields: Any) -> None:
        """Give the copy of an event other field values."""
        self._fields.setdefault(index, {}).update(fields)

    def get(self, index: int, name: str) -> Any:
        """Return a field of an event as it is planned."""
        planned = self._fields.get(index, {})
        return planned[name] if name in planned else getattr(self.events[index], name)

    def move(self, index: int, before: int) -> None:
        """Let an event, and what follows it, stand just before another one."""
        self._moved[index] = before

    def parts(self, index: int) -> list[types.Part | None]:
        """Return the planned parts of an event, to be changed."""
        parts = self._parts.get(index)
        if parts is None:
            content = self.events[index].content
            parts = self._parts[index] = list((content and content.parts) or ())
        return parts

    def responses(self, index: int) -> list[Response]:
        """Return the responses that are left in an event."""
        responses = self.turn(index).responses
        planned = self._parts.get(index)
        if planned is None:
            return responses
        return [r for r in responses if planned[r.part] is not None]

    def write(self) -> list[Event]:
        """Return the events as planned; untouched ones are the same objects."""
        out: list[Event] = []
        arrivals: dict[int, list[int]] = {}
        for index, before in self._moved.items():
            arrivals.setdefault(before, []).append(index)
        for index in range(len(self.events)):
            for moved in arrivals.get(index, ()):
                out.append(self._written(moved))
                out += self.behind.get(moved, ())
            if index not in self._moved:
                out.append(self._written(index))
                out += self.behind.get(index, ())
        return out

    def _written(self, index: int) -> Event:
        event = self.events[index]
        update: dict[str, Any] = dict(self._fields.get(index) or {})
        if index in self._parts:
            told = self._told.get(index, {})
            parts: list[types.Part] = []
            for n, part in enumerate(self._parts[index]):
                if n in told:
                    parts += told[n]
                elif part is not None:
                    parts.append(part)
            content = event.content
            if content is not None:
                update["content"] = (
                    changed(content, {"parts": parts}) if parts else None
                )
        return changed(event, update) if update else event
