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

from collections import Counter, deque
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from adk_history_guard.adk.keys import FEW, key_of
from adk_history_guard.adk.survey import read_events
from adk_history_guard.core.pairing import pair

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from google.adk.events import Event
    from google.genai import types

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.turns import Call, Response

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
    if all(call.id for call in calls):
        return False
    every = [call.name for call in calls]
    if len(set(every)) < len(every):
        return True
    names = {call.name for call in calls if not call.id}
    for nxt in following:
        for response in _responses(nxt):
            if response.id:
                continue
            if response.name not in names:
                return True
            names.remove(response.name)
    return False


class _Session:
    """The call turns of a session, by what is known of them in a request.

    What a request holds may not be there (other plugins change requests), and most
    turns of a session hold calls of the same few tools. So turns are looked up, by
    keys that are made of those turns only that may be meant; see `keys`.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        turns = read_events(events)
        self._pairs: Pairs = pair(turns)
        self._turns = [turn.calls for turn in turns if turn.calls]
        self._taken: set[int] = set()
        self._homes: dict[Hashable, set[int]] = {}
        self._named: dict[tuple[str | None, ...], list[int]] = {}
        for n, turn in enumerate(self._turns):
            self._named.setdefault(tuple([call.name for call in turn]), []).append(n)
        self._whole: dict[tuple[str | None, ...], dict[Hashable, list[int]]] = {}

    def find(
        self,
        calls: Sequence[types.FunctionCall],
        responses: Sequence[types.FunctionResponse],
    ) -> tuple[list[Call], list[Call]] | None:
        """The newest turn with these calls, and the owner of each response.

        ADK may have left calls of the turn out: those without an answer. A turn is
        found once: the same calls further up belong to an older one.
        """
        homes: list[set[int]] | None = None
        for n in chain(self._with(calls), self._with_more_than(calls)):
            turn = _pick(calls, self._turns[n])
            if turn is None or any(turn[0].turn not in h for h in homes or ()):
                continue
            owners = self._owners(turn, responses)
            if owners is not None:
                self._taken.add(n)
                return turn, owners
            if homes is None:
                homes = self._homes_of(responses)
            if not all(homes):
                break  # A body that is stored nowhere: it is that of no turn.
        return None

    def _with(self, calls: Sequence[types.FunctionCall]) -> Iterator[int]:
        """The turns of these calls and no others, newest first."""
        names = tuple([call.name or None for call in calls])
        named = self._named.get(names, [])
        nearest = next(self._newest(named), None)
        if nearest is None:
            return
        yield nearest  # It is meant where nobody has changed the request.
        whole = self._whole.get(names)
        if whole is None:
            whole = self._whole[names] = {}
            for n in named:
                whole.setdefault(_args(self._turns[n]), []).append(n)
        for n in self._newest(whole.get(_args(calls))):
            if n != nearest:
                yield n

    def _with_more_than(self, calls: Sequence[types.FunctionCall]) -> Iterator[int]:
        """The turns that hold these calls and more, newest first.

        They are among those that hold the rarest of the calls, however often.
        """
        holding = [self._holding.get(key) for key in _counted(calls)]
        known = [turns for turns in holding if turns is not None]
        rarest = min(known, key=len) if len(known) == len(holding) else None
        yield from self._newest(rarest)

    @cached_property
    def _holding(self) -> dict[Hashable, list[int]]:
        """The turns of several calls, by each of them."""
        out: dict[Hashable, list[int]] = {}
        for n, turn in enumerate(self._turns):
            if len(turn) > 1:
                for key in _counted(turn):
                    out.setdefault(key, []).append(n)
        return out

    @cached_property
    def _said(self) -> dict[Hashable, dict[str | None, list[Call]]]:
        """The calls of the session by what answers them and their names."""
        out: dict[Hashable, dict[str | None, list[Call]]] = {}
        for turn in self._turns:
            for call in turn:
                for said in self._pairs.answers[call]:
                    known = out.setdefault(_key(said.name, said.body), {})
                    known.setdefault(call.name, []).append(call)
        return out

    def _homes_of(self, responses: Sequence[types.FunctionResponse]) -> list[set[int]]:
        """The turns that may own each response that no call of its name has."""
        out = []
        for response in responses:
            key = _key(response.name, response.response)
            known = self._said.get(key, {})
            if (response.name or None) in known:
                continue
            if key not in self._homes:
                self._homes[key] = {c.turn for calls in known.values() for c in calls}
            out.append(self._homes[key])
        return out

    def _newest(self, turns: list[int] | None) -> Iterator[int]:
        """The newest few that are not taken; those that are leave the list."""
        left = FEW
        n = len(turns or ())
        while turns and n and left:
            n -= 1
            if turns[n] in self._taken:
                del turns[n]
            else:
                left -= 1
                yield turns[n]

    def _owners(
        self, calls: list[Call], responses: Sequence[types.FunctionResponse]
    ) -> list[Call] | None:
        """Whose each response is, by its body; None where one is nobody's."""
        if len(responses) <= len(calls) and all(
            map(self._is_last_word, calls, responses)
        ):
            return calls[: len(responses)]
        owners = self._own(calls, responses)
        for n, response in enumerate(responses):
            if owners[n] is None:
                key = _key(response.name, response.response)
                known = self._said.get(key, {})
                named = reversed(known.get(response.name or None, []))
                owners[n] = self._first(islice(named, FEW), response)
        found = [owner for owner in owners if owner is not None]
        return found if len(found) == len(responses) else None

    def _own(
        self, calls: list[Call], responses: Sequence[types.FunctionResponse]
    ) -> list[Call | None]:
        """The owner of each response among the calls of a turn."""
        owners: list[Call | None] = [None] * len(responses)
        free = set(calls)
        for start in (-1, None):  # The last word on a call, then any.
            heard: dict[Hashable, deque[Call]] = {}
            for call in calls:
                for said in self._pairs.answers[call][start:]:
                    key = _key(said.name, said.body)
                    heard.setdefault(key, deque()).append(call)
            for n, response in enumerate(responses):
                queue = heard.get(_key(response.name, response.response))
                if owners[n] is not None or queue is None:
                    continue
                while queue and queue[0] not in free:
                    queue.popleft()
                left = (call for call in queue if call in free)
                owner = owners[n] = self._first(left, response, start)
                if owner is not None:
                    free.remove(owner)
            if None not in owners:
                break
        return owners

    def _first(
        self,
        calls: Iterable[Call],
        response: types.FunctionResponse,
        start: int | None = None,
    ) -> Call | None:
        """The first of some calls that has this response."""
        for call in calls:
            if any(_is(s, response) for s in self._pairs.answers[call][start:]):
                return call
        return None

    def _is_last_word(self, call: Call, response: types.FunctionResponse) -> bool:
        said = self._pairs.final(call)
        return said is not None and _is(said, response)


def _is(said: Response, response: types.FunctionResponse) -> bool:
    return said.name == response.name and said.body == response.response


def _key(name: str | None, body: object) -> Hashable:
    """What tells a response apart, stored or sent."""
    return name, key_of(body)


def _args(calls: Iterable[Call | types.FunctionCall]) -> Hashable:
    return tuple([key_of(call.args or {}) for call in calls])


def _counted(calls: Iterable[Call | types.FunctionCall]) -> list[Hashable]:
    """What tells each call of a turn apart, equal ones by their number."""
    seen: Counter[Hashable] = Counter()
    out: list[Hashable] = []
    for call in calls:
        key = call.name or None, key_of(call.args or {})
        seen[key] += 1
        out.append((key, seen[key]))
    return out


def _pick(wanted: Sequence[types.FunctionCall], turn: list[Call]) -> list[Call] | None:
    """Return the calls of a turn that are wanted, in order; None where one is not."""
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
