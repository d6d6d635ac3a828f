# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a session's events into the turns that are paired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    Turn,
    read_parts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event


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
                run=event.invocation_id or None,
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
