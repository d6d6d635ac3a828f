# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which response is whose, where ADK has left the ids off a request.

ADK strips `adk-` ids before any plugin sees the contents. Where a turn holds
several calls of one tool, nothing but the order of the responses then tells them
apart, and ADK sends them as they were stored: a job that was answered first
stands first, and one that is not answered yet stands nowhere. Where one event
answers calls of two turns, ADK sends all its responses behind both. The session
still knows. `find_ids` finds each such turn in its events, by the names and
arguments of its calls and by the bodies of its responses, and returns the ids
that its parts have there; the repair pairs by them and sends none of them.

Other turns need no ids: name and place tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_history_guard.adk.survey import read_events
from adk_history_guard.core.pairing import pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.adk.events import Event
    from google.genai import types

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.turns import Call

KnownIds = dict[tuple[int, int], str]
"""Ids of the session by turn and part of the request."""


def find_ids(contents: Sequence[types.Content], events: Sequence[Event]) -> KnownIds:
    """Find the session's ids of turns that cannot be told apart without.

    Args:
      contents: The contents of a request; never mutated.
      events: The events that ADK has made them from.

    Returns:
      The ids of calls and responses that carry none. A turn that is not found,
      or whose responses are not those of the session, has none in here.
    """
    wanted = [
        n
        for n, content in enumerate(contents)
        if content.role == "model"
        and _needs_ids(content, list(contents[n + 1 : n + 2]))
    ]
    found: KnownIds = {}
    if not wanted:
        return found
    session = _Session(events)
    # From the end: what is left out of a request (filters, summaries) is old.
    for n in reversed(wanted):
        following = contents[n + 1] if n + 1 < len(contents) else None
        turn = session.find(_calls(contents[n]), _responses(following))
        if turn is None:
            continue
        calls, owners = turn
        if calls == owners:
            continue  # whole and in call order: place tells
        _note(found, n, contents[n], calls)
        if following is not None:
            _note(found, n + 1, following, owners)
    return found


def _note(
    found: KnownIds, n: int, content: types.Content, calls: Iterable[Call]
) -> None:
    """Note the id of each part of a content that carries none."""
    left = iter(calls)
    for k, part in enumerate(content.parts or ()):
        said = part.function_call or part.function_response
        call = next(left, None) if said is not None else None
        if said is not None and not said.id and call is not None and call.id:
            found[n, k] = call.id


def _calls(content: types.Content) -> list[types.FunctionCall]:
    return [p.function_call for p in content.parts or () if p.function_call]


def _responses(content: types.Content | None) -> list[types.FunctionResponse]:
    parts = (content.parts if content is not None else None) or ()
    return [p.function_response for p in parts if p.function_response]


def _needs_ids(content: types.Content, following: list[types.Content]) -> bool:
    """Whether names do not tell whose the responses to a turn's calls are."""
    calls = _calls(content)
    names = [call.name for call in calls if not call.id]
    if not names:
        return False
    every = [call.name for call in calls]
    if len(set(every)) < len(every):
        return True
    for nxt in following:
        for response in _responses(nxt):
            if response.id:
                continue
            if response.name not in names:
                return True
            names.remove(response.name)
    return False


class _Session:
    """The call turns of a session, by the names of their calls."""

    def __init__(self, events: Sequence[Event]) -> None:
        turns = read_events(events)
        self._pairs: Pairs = pair(turns)
        self._turns: dict[str | None, dict[int, list[Call]]] = {}
        self._named: dict[str | None, list[Call]] = {}
        for turn in turns:
            for call in turn.calls:
                self._turns.setdefault(call.name, {})[turn.index] = turn.calls
                self._named.setdefault(call.name, []).append(call)

    def find(
        self,
        calls: Sequence[types.FunctionCall],
        responses: Sequence[types.FunctionResponse],
    ) -> tuple[list[Call], list[Call]] | None:
        """The newest turn with these calls, and the owner of each response.

        ADK may have left calls of the turn out: those without an answer. A turn is
        found once: the same calls further up belong to an older one.
        """
        known = self._turns.get(calls[0].name or None, {})
        for whole in (True, False):
            for index in reversed(known):
                turn = _pick(calls, known[index], whole=whole)
                if turn is None:
                    continue
                owners = self._owners(turn, responses)
                if owners is not None:
                    for name in {call.name for call in known[index]}:
                        del self._turns[name][index]
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


def _pick(
    wanted: Sequence[types.FunctionCall], turn: list[Call], *, whole: bool
) -> list[Call] | None:
    """Return the calls of a turn that are wanted, in order; None where one is not."""
    if len(turn) < len(wanted) or (whole and len(turn) > len(wanted)):
        return None
    left = iter(turn)
    picked = []
    for call in wanted:
        for known in left:
            if known.name == (call.name or None) and (known.args or {}) == (
                call.args or {}
            ):
                picked.append(known)
                break
        else:
            return None
    return picked
