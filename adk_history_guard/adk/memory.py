# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What was found clean before is not walked again, as long as it is the same.

Some session services hand out the same event objects for each run. Their history
only grows, so the quick look goes on where it ended, after a check that the
events before are untouched: the same objects, with the same contents, the same
parts, the same calls and responses under the same ids. All of it is compared by
identity and by loops of the interpreter's own, several times as fast as a look.

A memory keeps no event alive that its session does not: it goes with the session.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.survey import Look, look

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.adk.events import Event

_content = attrgetter("content")
_parts = attrgetter("parts")
_call = attrgetter("function_call")
_response = attrgetter("function_response")
_label = attrgetter("id", "name")


class Memory:
    """The clean beginning of one session's history."""

    __slots__ = (
        "_contents",
        "_events",
        "_ids",
        "_labels",
        "_parts",
        "_said",
        "_spoken",
        "_waiting",
    )

    def __init__(self) -> None:
        """Start with nothing known."""
        self._forget()

    def _forget(self) -> None:
        self._ids: set[str] = set()
        self._waiting: set[str] = set()
        self._events: list[Event] = []
        self._contents: list[Any] = []  # of all events, None among them
        self._spoken: list[Any] = []  # those that have parts
        self._parts: list[Any] = []
        self._said: tuple[list[Any], list[Any]] = ([], [])
        self._labels: list[Any] = []

    def look(self, events: Sequence[Event]) -> Look | None:
        """Do what `survey.look` does, from where the last clean look ended.

        Args:
          events: The events of the session in stored order.

        Returns:
          What `survey.look` returns for them.
        """
        known = len(self._events)
        if not known or not self._is_untouched(events):
            self._forget()
            known = 0
        found = look(events[known:] if known else events, self._ids.copy())
        if found is not None and self._waiting:
            found = found._replace(waiting=found.waiting | self._waiting)
        if found is None or found.repeats:
            # A repeat is found again with its place counted from the start.
            return look(events) if known else found
        self._learn(events, known)
        self._ids, self._waiting = found.ids, found.waiting
        return found

    def _is_untouched(self, events: Sequence[Event]) -> bool:
        calls, responses = self._said
        try:
            return (
                len(events) >= len(self._events)
                and _same(events, self._events)
                and _same(map(_content, self._events), self._contents)
                and self._has_same_parts()
                and _same(map(_call, self._parts), calls)
                and _same(map(_response, self._parts), responses)
                and list(map(_label, _said(calls, responses))) == self._labels
            )
        except (AttributeError, TypeError):  # edited beyond recognition
            return False

    def _has_same_parts(self) -> bool:
        now = list(chain.from_iterable(map(_parts, self._spoken)))
        if len(now) != len(self._parts) or not _same(now, self._parts):
            return False
        silent = len(self._contents) - len(self._spoken)
        return not silent or silent == sum(not (c and c.parts) for c in self._contents)

    def _learn(self, events: Sequence[Event], known: int) -> None:
        fresh = list(events[known:])
        contents = list(map(_content, fresh))
        spoken = [c for c in contents if c is not None and c.parts]
        parts = list(chain.from_iterable(map(_parts, spoken)))
        calls, responses = list(map(_call, parts)), list(map(_response, parts))
        self._events += fresh
        self._contents += contents
        self._spoken += spoken
        self._parts += parts
        self._said[0].extend(calls)
        self._said[1].extend(responses)
        # All calls, then all responses: the order of the check above.
        self._labels = list(map(_label, _said(*self._said)))


def _same(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether two iterables hold the same objects, as far as the shorter goes."""
    return all(map(is_, some, others))


def _said(calls: list[Any], responses: list[Any]) -> Iterable[Any]:
    return filter(None, chain(calls, responses))
