# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a session's events: the quick look, and the turns for pairing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    Turn,
    is_request_for_client,
    read_parts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event
    from google.genai import types


class Look(NamedTuple):
    """What the quick look found: every round stands as it should.

    Attributes:
      ids: The ids of all calls.
      repeats: Rounds in which an id comes up again: the index of the call event,
        of the response event, and of the parts of the calls concerned.
      waiting: The ids of long-running calls: their response may not be the last.
    """

    ids: set[str]
    repeats: list[tuple[int, int, list[int]]]
    waiting: set[str]


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
    repeats: list[tuple[int, int, list[int]]] = []
    waiting: set[str] = set()
    acting: list[Event] = []  # those whose actions may say that an id must stay
    calls: list[types.FunctionCall] = []  # that the next event must answer
    again: list[int] = []
    start = 0
    for index, event in enumerate(events):
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
                repeats.append((start, index, again))
                again = []
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
    if repeats and (
        waiting
        or any(map(is_request_for_client, names))
        or any(map(_holds_ids, acting))
        or any(is_of_node(events[start]) for start, _, _ in repeats)
    ):
        return None
    return Look(seen, repeats, waiting)


def _holds_ids(event: Event) -> bool:
    """Tell whether an event's actions make stored ids known outside, or take back."""
    actions = event.actions
    return bool(
        actions.rewind_before_invocation_id
        or actions.requested_tool_confirmations
        or actions.requested_auth_configs
    )


def is_of_node(event: Event) -> bool:
    """Tell whether a node of a workflow made an event, not an agent's model.

    A node speaks in the name of its workflow: the author is a name further up
    in the path of the node. It chooses its ids, may ask again under the same
    one, and is resumed by it.
    """
    info = getattr(event, "node_info", None)
    path = info.path if info is not None else None
    if not path or "/" not in path:
        return False
    names = [step.partition("@")[0] for step in path.split("/")]
    return event.author != names[-1] and event.author in names


def annulled(events: Sequence[Event]) -> set[int]:
    """Return the indices of events that a rewind has taken back."""
    out: set[int] = set()
    index = len(events) - 1
    starts: dict[str, int] | None = None
    while index >= 0:
        actions = events[index].actions
        target = actions.rewind_before_invocation_id
        if target:
            if starts is None:
                starts = {}
                for n, event in enumerate(events):
                    starts.setdefault(event.invocation_id, n)
            start = starts.get(target, index)
            out.update(range(min(start, index), index + 1))
            index = min(start, index)
        index -= 1
    return out


def read_events(events: Sequence[Event]) -> list[Turn]:
    """Read events into turns; only those with calls or responses are returned.

    Events that a rewind took back are left out: ADK does not send them.
    """
    gone = annulled(events)
    turns = []
    for n, event in enumerate(events):
        content = event.content
        if content is None or not content.parts or n in gone:
            continue
        parts = content.parts
        for part in parts:
            if part.function_call is not None or part.function_response is not None:
                break
        else:
            continue
        turns.append(
            read_parts(
                Turn(n, content.role, parts),
                scope=_scope(event),
                client=event.author == "user",
                waiting=event.long_running_tool_ids or (),
            )
        )
    return turns


def _scope(event: Event) -> Any:
    """What tells parallel agents apart: branch and isolation scope."""
    isolation = getattr(event, "isolation_scope", None)
    if event.branch is None and isolation is None:
        return None
    return event.branch, isolation


def waiting_calls(events: Sequence[Event]) -> frozenset[str]:
    """Return what tells calls apart that wait on purpose and have no answer.

    Returns:
      Their ids, and for ids that ADK strips from requests the tools' names.
    """
    out: set[str] = set()
    for call, answers in pair(read_events(events)).answers.items():
        if call.waits and not answers and call.id is not None:
            out.add(call.id)
            if call.id.startswith(CLIENT_ID_PREFIX) and call.name is not None:
                out.add(call.name)
    return frozenset(out)
