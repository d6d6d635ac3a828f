# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Sessions in tables, read: pages of heads, and the events of a page.

Pages are cut by key, so that a page costs the same at the end of a store as at
its beginning, and memory does not depend on the size of the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from adk_history_guard.sessions.engines import hidden, open_engine, why
from adk_history_guard.sessions.layouts import (
    layout_of,
    read_event,
    rows_as_read,
    seconds,
)
from adk_history_guard.sessions.model import (
    Head,
    Key,
    Stored,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from adk_history_guard.sessions.layouts import Layout
    from adk_history_guard.sessions.model import Filters, Row

T = TypeVar("T")

_KNOWN_SCHEMA = "1"
EVENTS_AT_ONCE = 10_000
"""How many events are in memory at once, unless one session has more."""

KEY = ("app_name", "user_id", "session_id")
"""The columns of an event that name its session."""


class TableReader:
    """A database with ADK's tables `sessions` and `events`.

    Args:
      url: An SQLAlchemy URL.
      write: Whether it is going to be written; it is opened read-only otherwise.

    Raises:
      StoreError: It cannot be opened, or its tables are not ADK's.
    """

    parallel = True

    def __init__(self, url: str, *, write: bool = False) -> None:
        import sqlalchemy as sa
        from sqlalchemy.exc import ArgumentError

        self.where = url
        self.writable = write
        try:
            parsed = sa.make_url(url)
        except (ArgumentError, ValueError):
            msg = "this is no URL of a database"
            raise StoreError(msg) from None
        self.postgres = parsed.get_backend_name() == "postgresql"
        self._engine = open_engine(parsed, write=write)
        try:
            self.layout = self._read(_find_layout)
        except BaseException:
            self.close()
            raise
        self._sessions = sa.table(
            "sessions",
            *(sa.column(n) for n in ("app_name", "user_id", "id", "update_time")),
        )
        self._events = sa.table(
            "events",
            *(sa.column(n) for n in (*KEY, "id", "invocation_id", "timestamp")),
            *(sa.column(n) for n in self.layout.columns),
        )
        self._tie: Any = (
            sa.literal_column("events.rowid")
            if self.layout.tie == "rowid"
            else self._events.c.id
        )

    @property
    def whole_events(self) -> bool:
        """Whether `contents` gives the JSON of whole events."""
        return self.layout.content == "event_data"

    def close(self) -> None:
        """Close all connections."""
        self._engine.close()

    def flush(self) -> None:
        """Do nothing: each session is written as it is saved."""

    def written(self, place: Any) -> bool:
        """Return True: as above."""
        del place
        return True

    def why(self, error: Exception) -> str:
        """Say in one line why a session could not be read or written."""
        return why(error)

    # Reading

    def count(self, filters: Filters) -> int:
        """Count the sessions that filters let through; a share is not told apart."""
        import sqlalchemy as sa

        query = sa.select(sa.func.count()).select_from(self._sessions)
        query = self._filtered(query, filters)
        return int(self._read(lambda c: c.execute(query).scalar_one()))

    def _read(self, work: Callable[[Connection], T]) -> T:
        """Read what is of no single session; a fault is one of the store."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            return self._engine.read(work)
        # A driver that does not know an argument of the URL raises a TypeError.
        except (SQLAlchemyError, OSError, TypeError, ValueError) as error:
            msg = f"{hidden(self.where)}: {why(error)}"
            raise StoreError(msg) from error

    def _filtered(self, query: Any, filters: Filters) -> Any:
        import sqlalchemy as sa

        c = self._sessions.c
        if filters.app is not None:
            query = query.where(c.app_name == filters.app)
        if filters.user is not None:
            query = query.where(c.user_id == filters.user)
        if filters.since is not None:
            query = query.where(c.update_time >= self._time(filters.since))
        if filters.after is not None:
            query = query.where(
                sa.tuple_(c.app_name, c.user_id, c.id) > tuple(filters.after)
            )
        return query

    def _time(self, since: float) -> Any:
        import datetime as dt

        if self.layout.name == "sqlite":
            return since
        time = dt.datetime.fromtimestamp(since, dt.UTC)
        time = time.replace(tzinfo=None)
        if self.postgres:
            return time
        return time.isoformat(sep=" ", timespec="microseconds")

    def heads(self, filters: Filters, count: int) -> list[Head]:
        """Return the next sessions after `filters.after`, in the order of keys."""
        c = self._sessions.c
        query = self._filtered(
            self._sessions.select().order_by(c.app_name, c.user_id, c.id), filters
        ).limit(count)
        rows = self._read(lambda connection: connection.execute(query).all())
        return [Head(Key(*r[:3]), r[3], seconds(r[3])) for r in rows]

    def after(self, head: Head) -> list[str]:
        """Return what `filters.after` must be to go on behind a session."""
        return list(head.key)

    def contents(
        self, heads: Sequence[Head], *, whole: bool = True
    ) -> Iterator[tuple[Head, list[str | None]]]:
        """Read what the quick look needs: the JSON with the contents of each event.

        Args:
          heads: The sessions, in the order of keys.
          whole: Whether they are all the sessions that the store has between the
            first and the last of them.

        Returns:
          Each session with its events' JSON in stored order.
        """
        counts, texts = self._engine.read(lambda c: self._texts(c, heads, whole=whole))
        if texts is None:
            for some in _cut(heads, counts):
                yield from self.contents(some, whole=whole)
            return
        start = 0
        found: dict[Any, list[str | None]] = {}
        for key, count in counts.items():
            # The newest comes first: the order of ADK's own index.
            found[key] = texts[start : start + count][::-1]
            start += count
        texts.clear()
        for head in heads:
            yield head, found.pop(head.key, [])

    def _texts(
        self, connection: Connection, heads: Sequence[Head], *, whole: bool
    ) -> tuple[dict[tuple[str, ...], int], list[str | None] | None]:
        """Count the events of sessions and, if they are not too many, read them.

        A row of the text alone costs half of one that names its session.
        """
        counts = {
            tuple(key): count
            for some in self._batches(heads, whole=whole)
            for *key, count in connection.execute(self._counts(some, whole=whole))
        }
        if len(heads) > 1 and sum(counts.values()) > EVENTS_AT_ONCE:
            return counts, None
        text = [self._text(self.layout.content)]
        texts: list[str | None] = []
        for some in self._batches(heads, whole=whole):
            query = self._query(some, text, whole=whole)
            texts += connection.execute(query).scalars()
        return counts, texts

    def load(self, head: Head) -> Stored:
        """Read one session.

        Raises:
          RowError: One of its rows is no event.
        """
        rows = self._engine.read(lambda connection: self._rows(connection, head))
        return Stored(head, rows, [read_event(self.layout, row) for row in rows])

    def _rows(self, connection: Connection, head: Head) -> list[Row]:
        query = self._query([head], self._full(), whole=False)
        return rows_as_read(connection.execute(query).all()[::-1], self.layout)

    def head(self, key: Key) -> Head | None:
        """Return one session as it stands now."""
        rows = self._engine.read(
            lambda connection: connection.execute(self._one(key)).all()
        )
        return Head(key, rows[0][3], seconds(rows[0][3])) if rows else None

    def _one(self, key: Key) -> Any:
        c = self._sessions.c
        return self._sessions.select().where(
            c.app_name == key.app_name,
            c.user_id == key.user_id,
            c.id == key.session_id,
        )

    def _text(self, name: str) -> Any:
        """A column as a driver-independent value: JSON as text."""
        import sqlalchemy as sa

        column = self._events.c[name]
        if self.postgres and name in self.layout.json:
            return sa.cast(column, sa.Text).label(name)
        return column

    def _full(self) -> list[Any]:
        c = self._events.c
        return [c.id, c.invocation_id, c.timestamp, *map(self._text, self._columns)]

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.layout.columns

    def _batches(
        self, heads: Sequence[Head], *, whole: bool
    ) -> Iterable[Sequence[Head]]:
        """Cut sessions into what one query reads well.

        SQLite would go through the whole index for a list of keys. PostgreSQL takes
        a range of keys for a third of a large table and reads all of it.
        """
        return [heads] if whole or self.postgres else ([head] for head in heads)

    def _query(
        self, heads: Sequence[Head], columns: Sequence[Any], *, whole: bool
    ) -> Any:
        """Events by key, in each session the newest first."""
        import sqlalchemy as sa

        where = self._among(heads, whole=whole)
        order = (*self._key(), self._events.c.timestamp.desc(), self._tie.desc())
        return sa.select(*columns).where(where).order_by(*order)

    def _counts(self, heads: Sequence[Head], *, whole: bool) -> Any:
        """How many events each session has, in the order of `_query`."""
        import sqlalchemy as sa

        key = self._key()
        query = sa.select(*key, sa.func.count()).select_from(self._events)
        query = query.where(self._among(heads, whole=whole))
        return query.group_by(*key).order_by(*key)

    def _key(self) -> tuple[Any, ...]:
        return tuple(self._events.c[name] for name in KEY)

    def _among(self, heads: Sequence[Head], *, whole: bool) -> Any:
        import sqlalchemy as sa

        key = self._key()
        if len(heads) == 1:
            head = heads[0].key
            return sa.and_(*(a == b for a, b in zip(key, head, strict=True)))
        if whole and not self.postgres:
            first, last = tuple(heads[0].key), tuple(heads[-1].key)
            return sa.and_(sa.tuple_(*key) >= first, sa.tuple_(*key) <= last)
        return sa.tuple_(*key).in_([tuple(head.key) for head in heads])


def _cut(
    heads: Sequence[Head], counts: Mapping[tuple[str, ...], int]
) -> Iterator[Sequence[Head]]:
    """Cut sessions into runs of at most `EVENTS_AT_ONCE` events, or of one session."""
    start = total = 0
    for n, head in enumerate(heads):
        count = counts.get(head.key, 0)
        if n > start and total + count > EVENTS_AT_ONCE:
            yield heads[start:n]
            start, total = n, 0
        total += count
    yield heads[start:]


def _find_layout(connection: Connection) -> Layout:
    """Find out how the tables of a database are laid out."""
    import sqlalchemy as sa

    inspector = sa.inspect(connection)
    tables = set(inspector.get_table_names())
    if not {"sessions", "events"} <= tables:
        msg = "unknown schema: there are no tables 'sessions' and 'events' of ADK"
        raise StoreError(msg)
    if "adk_internal_metadata" in tables:
        metadata = sa.table(
            "adk_internal_metadata", sa.column("key"), sa.column("value")
        )
        query = sa.select(metadata.c.value).where(metadata.c.key == "schema_version")
        version = connection.execute(query).scalar()
        if version != _KNOWN_SCHEMA:
            msg = f"unknown schema: version {version!r} of ADK's tables"
            raise StoreError(msg)
    columns = {c["name"]: str(c["type"]) for c in inspector.get_columns("events")}
    layout = layout_of(columns)
    if layout is None:
        msg = "unknown schema: the table 'events' has not the columns of ADK"
        raise StoreError(msg)
    for name in ("sessions", "events"):  # Tells missing rights at once.
        connection.execute(
            sa.select(sa.literal(1)).select_from(sa.table(name)).limit(1)
        )
    return layout
