# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which response is whose, where ADK has left the ids off a request.

ADK strips `adk-` ids before any plugin sees the contents. Where a turn holds
several calls of one tool, nothing but the order of the responses then tells them
apart, and ADK sends them as they were stored: a job that was answered first
stands first, and one that is not answered yet stands nowhere. Where one event
answers calls of two turns, ADK sends all its responses behind both. The session
still knows. `put_ids_back` finds each such turn in its events, by the names and
arguments of its calls and by the bodies of its responses, and puts the ids back
for as long as the repair runs; `leave_ids_off` takes them away again.

Other turns need no ids: name and place tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adk_history_guard.adk.survey import read_events
from adk_history_guard.core.ids import with_id
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import carries_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event
    from google.genai import types

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.turns import Call


@dataclass(slots=True)
class Restored:
    """The contents of a request with ids put back where they were needed.

    Attributes:
      contents: The contents to repair; the list handed in where none was needed.
      ids: The ids that were put back.
      parts: The parts as they came, by the identity of the part that stands in.
      sources: The contents as they came, likewise.
    """

    contents: list[types.Content]
    ids: set[str] = field(default_factory=set)
    parts: dict[int, types.Part] = field(default_factory=dict)
    sources: dict[int, types.Content] = field(default_factory=dict)


def put_ids_back(contents: list[types.Content], events: Sequence[Event]) -> Restored:
    """Put the session's ids back into turns that cannot be told apart without.

    Args:
      contents: The contents of a request; never mutated.
      events: The events that ADK has made them from.

    Returns:
      The contents for the repair. A turn that is not found, or whose responses
      are not those of the session, stays as it is.
    """
    wanted = [
        n
        for n, content in enumerate(contents)
        if content.role == "model" and _needs_ids(content, contents[n + 1 : n + 2])
    ]
    out = Restored(contents)
    if not wanted:
        return out
    session = _Session(events)
    # From the end: what is left out of a request (filters, summaries) is old.
    for n in reversed(wanted):
        following = contents[n + 1] if n + 1 < len(contents) else None
        responses = _responses(following)
        found = session.find(_calls(contents[n]), responses)
        if found is None:
            continue
        calls, owners = found
        if out.contents is contents:
            out.contents = list(contents)
        out.contents[n] = _with_ids(contents[n], [c.id for c in calls], out)
        if following is not None and responses:
            out.contents[n + 1] = _with_ids(following, [c.id for c in owners], out)
    return out


def leave_ids_off(contents: list[types.Content], restored: Restored) -> None:
    """Take the ids that were put back out of repaired contents, in place.

    Args:
      contents: The contents of an outcome; its list is changed, no content is.
      restored: What `put_ids_back` has returned.
    """
    for n, content in enumerate(contents):
        source = restored.sources.get(id(content))
        if source is not None:
            contents[n] = source
            continue
        parts = content.parts or []
        if any(_id(part) in restored.ids for part in parts):
            bare = [_bare(part, restored) for part in parts]
            contents[n] = content.model_copy(update={"parts": bare})


def _bare(part: types.Part, restored: Restored) -> types.Part:
    came = restored.parts.get(id(part))
    if came is not None:
        return came
    # Beside parts without ids no other may keep its own: all or none.
    call_id = _id(part)
    return part if call_id is None or carries_data(call_id) else with_id(part, None)


def _id(part: types.Part) -> str | None:
    said = part.function_call or part.function_response
    return said.id if said is not None else None


def _calls(content: types.Content) -> list[types.FunctionCall]:
    return [p.function_call for p in content.parts or () if p.function_call]


def _responses(content: types.Content | None) -> list[types.FunctionResponse]:
    parts = (content.parts if content is not None else None) or ()
    return [p.function_response for p in parts if p.function_response]


def _needs_ids(content: types.Content, following: list[types.Content]) -> bool:
    """Whether names do not tell whose the responses to a turn's calls are."""
    names = [call.name for call in _calls(content) if not call.id]
    if not names:
        return False
    if len(set(names)) < len(names):
        return True
    for nxt in following:
        for response in _responses(nxt):
            if response.id:
                continue
            if response.name not in names:
                return True
            names.remove(response.name)
    return False


def _with_ids(
    content: types.Content, ids: Sequence[str | None], out: Restored
) -> types.Content:
    """A copy of a content under the given ids, where its parts have none."""
    left = iter(ids)
    parts = []
    for part in content.parts or ():
        said = part.function_call or part.function_response
        call_id = next(left) if said is not None else None
        if said is not None and not said.id and call_id is not None:
            parts.append(with_id(part, call_id))
            out.parts[id(parts[-1])] = part
            out.ids.add(call_id)
        else:
            parts.append(part)
    made = content.model_copy(update={"parts": parts})
    out.sources[id(made)] = content
    return made


class _Session:
    """The call turns of a session, by the names of their calls."""

    def __init__(self, events: Sequence[Event]) -> None:
        turns = read_events(events)
        self._pairs: Pairs = pair(turns)
        self._turns: dict[tuple[str | None, ...], list[list[Call]]] = {}
        self._named: dict[str | None, list[Call]] = {}
        for turn in turns:
            if turn.calls:
                names = tuple(call.name for call in turn.calls)
                self._turns.setdefault(names, []).append(turn.calls)
            for call in turn.calls:
                self._named.setdefault(call.name, []).append(call)

    def find(
        self,
        calls: Sequence[types.FunctionCall],
        responses: Sequence[types.FunctionResponse],
    ) -> tuple[list[Call], list[Call]] | None:
        """The newest turn with these calls, and the owner of each response.

        A turn is found once: the same calls further up belong to an older one.
        """
        known = self._turns.get(tuple(call.name or None for call in calls), [])
        for k in range(len(known) - 1, -1, -1):
            turn = known[k]
            if any(
                (a.args or {}) != (b.args or {})
                for a, b in zip(calls, turn, strict=True)
            ):
                continue
            owners = self._owners(turn, responses)
            if owners is not None:
                del known[k]
                return turn, owners
        return None

    def _owners(
        self, calls: Sequence[Call], responses: Sequence[types.FunctionResponse]
    ) -> list[Call] | None:
        """Whose each response is, by its body; None where one is nobody's."""
        left = list(calls)
        owners: list[Call | None] = []
        for only_last in (True, False):  # The last word on a call, then any.
            for n, response in enumerate(responses):
                if only_last:
                    owners.append(self._owner(left, response, only_last=True))
                elif owners[n] is None:
                    owners[n] = self._owner(left, response)
        for n, response in enumerate(responses):
            if owners[n] is None:
                others = self._named.get(response.name or None, [])
                owners[n] = self._owner(list(reversed(others)), response)
        found = [owner for owner in owners if owner is not None]
        return found if len(found) == len(responses) else None

    def _owner(
        self,
        calls: list[Call],
        response: types.FunctionResponse,
        *,
        only_last: bool = False,
    ) -> Call | None:
        """The first call that has this response; it is taken off the list."""
        for n, call in enumerate(calls):
            answers = self._pairs.answers[call]
            for said in answers[-1:] if only_last else answers:
                if said.name == response.name and said.body == response.response:
                    return calls.pop(n)
        return None
