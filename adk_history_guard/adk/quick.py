# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The quick look at a session's events, which most histories need no more than.

One loop tells whether every round stands as it should. Where only ids repeat, the
rounds concerned are copied under new ids on the way, while their objects are at
hand: on a long history, coming back for them costs as much as the copies.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from adk_history_guard.adk.draft import stored_id
from adk_history_guard.adk.survey import is_of_node
from adk_history_guard.core.copies import with_field
from adk_history_guard.core.turns import Action, Change, Place, is_request_for_client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from google.adk.events import Event
    from google.genai import types

_content = attrgetter("content")
_parts = attrgetter("parts")
_call = attrgetter("function_call")

MANY = 1_000
"""From how many events on a history is too large for the caches near a processor."""

BLOCK = 128
"""How many events are fetched together; what these hold fits there."""


class Look(NamedTuple):
    """What the quick look found: every round stands as it should.

    Attributes:
      ids: The ids of all calls, new ones included.
      waiting: The ids of long-running calls: their response may not be the last.
      renames: The events with new ids, None where no id repeats.
    """

    ids: set[str]
    waiting: set[str]
    renames: Renames | None


class Renames:
    """Events in which calls and their responses have new ids where ids repeat.

    Attributes:
      events: A new list; rounds that keep their ids are the same objects.
      changes: What was renamed, in order.
    """

    __slots__ = ("changes", "events")

    def __init__(self, events: Sequence[Event]) -> None:
        """Start with the events as they are."""
        self.events = list(events)
        self.changes: list[Change] = []

    def rename(
        self, start: int, end: int, numbers: Sequence[int], ids: set[str]
    ) -> bool:
        """Give calls of a round, and their responses, ids of their own.

        Args:
          start: The index of the event with the calls, which stand at its end.
          end: The index of the event with the responses, in call order.
          numbers: The indices of the parts with the calls concerned.
          ids: The ids in use; new ones are added.

        Returns:
          Whether that may be; not where somebody outside holds an id.
        """
        event, answer = self.events[start], self.events[end]
        content, reply = event.content, answer.content
        if content is None or reply is None or _holds_ids(answer) or is_of_node(event):
            return False
        parts, answers = list(content.parts or ()), list(reply.parts or ())
        first = len(parts) - len(answers)
        for n in numbers:
            part, said = parts[n], answers[n - first]
            call, response = part.function_call, said.function_response
            if call is None or response is None:
                return False
            old, name = call.id, call.name
            new = stored_id(event.id, n, old, name, ids)
            ids.add(new)
            call = with_field(call, "id", new)
            parts[n] = with_field(part, "function_call", call)
            response = with_field(response, "id", new)
            answers[n - first] = with_field(said, "function_response", response)
            text = f"the id of {name!r} (id {old!r}) to {new!r}"
            place = Place(start, n, "events")
            self.changes.append(Change("HG501", Action.RENAME, place, text))
        content = with_field(content, "parts", parts)
        self.events[start] = with_field(event, "content", content)
        reply = with_field(reply, "parts", answers)
        self.events[end] = with_field(answer, "content", reply)
        return True


def look(  # noqa: C901, PLR0911, PLR0912 - one loop on purpose: it runs over every event
    events: Sequence[Event],
) -> Look | None:
    """Look at events once and tell whether every round stands as it should.

    A round does where each call has a name and an id, its calls stand together
    at the end of their event, and the next event with content is nothing but
    their responses, in call order. Only ids may repeat, where nobody outside
    holds them: no long-running call, no open question, no rewind.

    Most histories are clean, and this loop is all that they cost: what only a
    repeated id makes worth knowing is kept for later, not read.

    Args:
      events: The events of a session in stored order.

    Returns:
      What was found, None where the events must be read in full.
    """
    seen: set[str] = set()
    names: set[str] = set()
    renames: Renames | None = None
    waiting: set[str] = set()
    acting: list[Event] = []  # those whose actions may say that an id must stay
    calls: list[types.FunctionCall] = []  # that the next event must answer
    again: list[int] = []
    start = 0
    for index, event in enumerate(_fetched(events)):
        content = event.content
        if content is None:
            acting.append(event)
            continue
        parts = content.parts
        if not parts:
            continue
        if calls:
            if len(parts) != len(calls):
                return None
            for part, call in zip(parts, calls):  # noqa: B905 - it costs, and see above
                said = part.function_response
                if said is None or said.id != call.id or said.name != call.name:
                    return None
            if again:
                if renames is None:
                    renames = Renames(events)
                if not renames.rename(start, index, again, seen):
                    return None
                again = []
            else:
                acting.append(event)
            calls = []
            continue
        for number, part in enumerate(parts):
            said_call = part.function_call
            if said_call is not None:
                call_id, name = said_call.id, said_call.name
                if not call_id or not name:
                    return None
                if call_id in seen:
                    again.append(number)
                else:
                    seen.add(call_id)
                names.add(name)
                calls.append(said_call)
            elif calls or part.function_response is not None:
                return None
        if calls:
            start = index
            if event.long_running_tool_ids:
                waiting |= event.long_running_tool_ids
    if calls:
        return None
    if renames is not None and (
        waiting
        or any(map(is_request_for_client, names))
        or any(map(_holds_ids, acting))
    ):
        return None
    return Look(seen, waiting, renames)


def _fetched(events: Sequence[Event]) -> Iterable[Event]:
    """Return the events; of many, the parts are at hand when their turn comes.

    The time of a look goes into waiting for memory, object by object. A loop in C
    over one attribute lets the processor wait for several at once, which takes a
    fifth off the whole look.
    """
    return events if len(events) < MANY else _by_block(events)


def _by_block(events: Sequence[Event]) -> Iterator[Event]:
    for start in range(0, len(events), BLOCK):
        block = events[start : start + BLOCK]
        contents = [content for content in map(_content, block) if content is not None]
        turns = filter(None, list(map(_parts, contents)))
        deque(map(_call, list(chain.from_iterable(turns))), maxlen=0)
        yield from block


def _holds_ids(event: Event) -> bool:
    """Tell whether an event's actions make stored ids known outside, or take back."""
    actions = event.actions
    return bool(
        actions.rewind_before_invocation_id
        or actions.requested_tool_confirmations
        or actions.requested_auth_configs
    )
