# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What was found whole at one model call is not walked again at the next one.

A run asks before each model call whether all rounds stand whole and in order.
Its history only grows, unless somebody removes, replaces or rewrites events:
then the look starts anew. That is told by identity: the same event objects, with
the same contents. Reading deeper would cost what the look itself costs; what an
edit inside a content does is seen in the request, which is checked each time.

Between runs nothing is kept: session services hand out new objects.
"""

from __future__ import annotations

from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.quick import look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event

_content = attrgetter("content")


class Memory:
    """The beginning of a run's history whose rounds are whole and in order."""

    __slots__ = ("_contents", "_events")

    def __init__(self, events: Sequence[Event] = ()) -> None:
        """Start with events that were found whole."""
        self._events: list[Event] = list(events)
        self._contents: list[Any] = list(map(_content, self._events))

    def is_whole(self, events: Sequence[Event]) -> bool:
        """Tell whether all rounds are whole and in order; reads what is new.

        Args:
          events: The events of the run's session, now.
        """
        known = len(self._events)
        if not self._begins(events):
            self._events, self._contents, known = [], [], 0
        fresh = events[known:]
        if look(fresh) is None:
            return False
        self._events += fresh
        self._contents += map(_content, fresh)
        return True

    def _begins(self, events: Sequence[Event]) -> bool:
        """Whether the events begin with the known ones, and these are untouched."""
        return (
            len(events) >= len(self._events)
            and all(map(is_, events, self._events))
            and all(map(is_, map(_content, self._events), self._contents))
        )
