# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The words of stored sessions: a session's key and head, its rows, and faults."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from adk_history_guard.errors import HistoryGuardError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from google.adk.events import Event


class StoreError(HistoryGuardError):
    """A store cannot be read or written: one line that says which and why."""


class RowError(HistoryGuardError):
    """One session cannot be read: a row of it is no event, or it is out of reach."""


class SessionChangedError(HistoryGuardError):
    """A session changed between reading and writing; nothing was written."""


def shown(text: str) -> str:
    """Return a text on one line in which nothing can act on a terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )


class Key(NamedTuple):
    """What names a session.

    Attributes:
      app_name: The app.
      user_id: The user.
      session_id: The session.
    """

    app_name: str
    user_id: str
    session_id: str

    def __str__(self) -> str:
        """Return the key as messages show it."""
        return shown("/".join(map(str, self)))

    @property
    def digest(self) -> str:
        """A name for the session that any file system takes."""
        text = "\x1f".join(map(str, self))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Head(NamedTuple):
    """A session without its events.

    Attributes:
      key: What names it.
      marker: What ADK compares to tell whether a session changed: its update
        time as stored. For files, a digest of the text.
      updated: The update time in seconds since the epoch; None where unknown.
      place: Where a file's session stands, None in a database.
    """

    key: Key
    marker: Any
    updated: float | None = None
    place: Any = None


@dataclass(frozen=True, slots=True)
class Row:
    """One stored event as it stands.

    Attributes:
      id: The event's id.
      invocation_id: Its invocation.
      timestamp: Its time as stored: a number, a text or a datetime.
      columns: The other columns as stored.
    """

    id: str
    invocation_id: str
    timestamp: Any
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """One session as read: its rows in ADK's order, and the events they hold."""

    head: Head
    rows: Sequence[Row]
    events: list[Event]


@dataclass(frozen=True, slots=True)
class RowChange:
    """What becomes of one row.

    Attributes:
      id: The event's id.
      before: The columns that change as they stood; None for a new row.
      after: The same columns as they are to stand.
      new: All columns of a new row, None where a row is changed.
    """

    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    new: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which sessions are looked at.

    Attributes:
      app: Only sessions of this app.
      user: Only sessions of this user.
      since: Only sessions updated at or after this time, in seconds since the
        epoch.
      limit: At most so many sessions.
      shard: `(i, n)`: only the i-th of n shares, counted from 0.
      after: Only sessions whose key comes after this one.
      agents: Names of agents that other agents call as tasks.
      idle: A session updated less than so many seconds ago may be in the middle
        of a run; what its newest invocation has not answered is left alone.
    """

    app: str | None = None
    user: str | None = None
    since: float | None = None
    limit: int | None = None
    shard: tuple[int, int] | None = None
    after: Any = None
    agents: Collection[str] = field(default=())
    idle: float = 0.0

    @property
    def contiguous(self) -> bool:
        """Whether the sessions of a page are all that the store has between two."""
        return self.user is None and self.since is None and self.shard is None

    def takes(self, key: Key) -> bool:
        """Tell whether a session belongs to this share."""
        if self.shard is None:
            return True
        index, count = self.shard
        return int(key.digest[:15], 16) % count == index % count
