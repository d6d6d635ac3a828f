# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Sessions in tables, written: one session in one transaction, or none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from adk_history_guard.sessions.layouts import (
    change_row,
    create_row,
    shifted,
)
from adk_history_guard.sessions.model import SessionChangedError
from adk_history_guard.sessions.tables import KEY, TableReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from adk_history_guard.sessions.model import Head, Key, RowChange, Stored
    from adk_history_guard.sessions.plan import Plan


class TableStore(TableReader):
    """A database with ADK's tables `sessions` and `events`.

    Args:
      url: An SQLAlchemy URL.
      write: Whether it is going to be written; it is opened read-only otherwise.

    Raises:
      StoreError: It cannot be opened, or its tables are not ADK's.
    """

    def changes(self, stored: Stored, plan: Plan) -> list[RowChange]:
        """Return what a plan makes of the rows of a session."""
        rows = {
            row.id: (row, e) for row, e in zip(stored.rows, stored.events, strict=True)
        }
        out = [
            change_row(self.layout, *rows[event_id], event)
            for event_id, event in (plan.updated or {}).items()
        ]
        for item in plan.inserted:
            time = shifted(rows[item.after][0].timestamp, item.shift)
            out.append(create_row(self.layout, item.event, time))
        return out

    def save(self, stored: Stored, changes: Sequence[RowChange]) -> None:
        """Write one session's changes in one transaction.

        The session's row is locked as ADK locks it. Its update time stays as it
        is: a run that has the session loaded goes on undisturbed.

        Raises:
          SessionChangedError: The session is not as it was read.
        """

        def work(connection: Connection) -> None:
            self._lock(connection, stored.head)
            if self._rows(connection, stored.head) != list(stored.rows):
                msg = "its events changed since they were read"
                raise SessionChangedError(msg)
            for change in changes:
                connection.execute(self._statement(stored.head.key, change))

        self._engine.write(work)

    def undo(self, key: Key, changes: Sequence[RowChange], place: Any = None) -> bool:
        """Bring changed rows back to what they were.

        Returns:
          Whether anything had to be brought back.

        Raises:
          SessionChangedError: A row is neither as it was nor as it was made.
        """
        del place
        head = self.head(key)
        if head is None:
            msg = "the session is gone"
            raise SessionChangedError(msg)

        def work(connection: Connection) -> bool:
            self._lock(connection, head)
            rows = {row.id: row for row in self._rows(connection, head)}
            steps = []
            for change in changes:
                row = rows.get(change.id)
                now = None if row is None else _only(row.columns, change.after)
                if _same(now, change.before):
                    continue
                if not _same(now, change.after):
                    msg = f"event {change.id!r} changed after the repair"
                    raise SessionChangedError(msg)
                steps.append(self._reverse(key, change))
            for step in steps:
                connection.execute(step)
            return bool(steps)

        return self._engine.write(work)

    def _lock(self, connection: Connection, head: Head) -> None:
        query = self._one(head.key)
        if self.postgres:
            query = query.with_for_update()
        row = connection.execute(query).one_or_none()
        if row is None or row[3] != head.marker:
            msg = "the session changed since it was read"
            raise SessionChangedError(msg)

    def _statement(self, key: Key, change: RowChange) -> Any:
        import sqlalchemy as sa

        if change.new is None:
            return self._update(key, change.id, change.after)
        own = dict(zip(KEY, key, strict=True)) | {"id": change.id}
        values = {n: self._bound(n, v) for n, v in change.new.items()}
        return sa.insert(self._events).values(own | values)

    def _update(self, key: Key, event_id: str, values: Any) -> Any:
        import sqlalchemy as sa

        return (
            sa.update(self._events)
            .where(*self._is(key, event_id))
            .values({n: self._bound(n, v) for n, v in values.items()})
        )

    def _reverse(self, key: Key, change: RowChange) -> Any:
        import sqlalchemy as sa

        if change.new is None:
            return self._update(key, change.id, change.before)
        return sa.delete(self._events).where(*self._is(key, change.id))

    def _is(self, key: Key, event_id: str) -> tuple[Any, ...]:
        c = self._events.c
        return (
            c.app_name == key.app_name,
            c.user_id == key.user_id,
            c.session_id == key.session_id,
            c.id == event_id,
        )

    def _bound(self, name: str, value: Any) -> Any:
        import sqlalchemy as sa
        from sqlalchemy.dialects.postgresql import JSONB

        if self.postgres and name in self.layout.json and value is not None:
            return sa.cast(sa.literal(value, sa.Text), JSONB)
        return value


def _only(columns: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: columns[name] for name in names}


def _same(now: Mapping[str, Any] | None, then: Mapping[str, Any] | None) -> bool:
    """Whether columns hold the same; PostgreSQL writes JSON in its own way."""
    if now is None or then is None:
        return now is then
    return now.keys() == then.keys() and all(
        value == then[name] or _json(value) == _json(then[name])
        for name, value in now.items()
    )


def _json(value: Any) -> Any:
    try:
        return from_json(value) if isinstance(value, str) else value
    except ValueError:
        return value
