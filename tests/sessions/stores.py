# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Stores for tests, each made and filled by ADK's own session services."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3

import sqlalchemy as sa
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.schemas import v0
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from sqlalchemy.ext.asyncio import create_async_engine

from tests.sessions.histories import HEALTHY, POISONED

APP, USER = "travel", "ada"


class Store:
    """A database of sessions, and ADK's service for it.

    Args:
        kind: `v0`, `v1` or `sqlite`: which of ADK's layouts.
        url: The URL, with the driver that ADK needs.
    """

    def __init__(self, kind, url):
        """Make the tables, where ADK does not make them itself."""
        self.kind = kind
        self.url = url
        self.engine = create_async_engine(url, poolclass=sa.NullPool)
        if kind == "v0":
            asyncio.run(self._make_old_tables())

    async def _make_old_tables(self):
        async with self.engine.begin() as connection:
            await connection.run_sync(v0.Base.metadata.create_all)

    def service(self):
        """Return a new service of ADK for this store."""
        if self.kind == "sqlite":
            return SqliteSessionService(self.url.split("///")[1])
        service = DatabaseSessionService(self.url, poolclass=sa.NullPool)
        if self.url.startswith("sqlite"):
            sa.event.listen(service.db_engine.sync_engine, "connect", _hurry)
        return service

    async def put(self, session_id, events, *, app=APP, user=USER, service=None):
        """Store a session the way that ADK does."""
        service = service or self.service()
        session = await service.create_session(
            app_name=app, user_id=user, session_id=session_id, state={"seen": 1}
        )
        for event in events:
            await service.append_event(session, event.model_copy(deep=True))

    async def get(self, session_id, *, app=APP, user=USER):
        """Load a session the way that ADK does."""
        return await self.service().get_session(
            app_name=app, user_id=user, session_id=session_id
        )

    def rows(self):
        """Return every row of the store, by table and key."""
        return asyncio.run(self._rows())

    async def _rows(self):
        out = {}
        async with self.engine.connect() as connection:
            for table in ("sessions", "events", "app_states", "user_states"):
                found = await connection.execute(sa.text(f"SELECT * FROM {table}"))  # noqa: S608
                for row in found.mappings():
                    key = tuple(row[n] for n in _KEYS if n in row)
                    out[table, *key] = {k: _plain(v) for k, v in row.items()}
        return out


_KEYS = ("app_name", "user_id", "session_id", "id")


def _plain(value):
    return bytes(value) if isinstance(value, memoryview) else value


def _hurry(connection, record):
    """Let SQLite not wait for the disk: thousands of small commits are tested."""
    del record
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=OFF")
    cursor.close()


def fill(store, *, healthy, poisoned):
    """Fill a store with so many healthy and poisoned sessions, mixed.

    Returns:
        The poison of each poisoned session, by session id.
    """
    return asyncio.run(_fill(store, healthy, poisoned))


async def _fill(store, healthy, poisoned):
    out = {}
    names = list(POISONED)
    service = store.service()
    total = healthy + poisoned
    turn = 0
    for n in range(total):
        # Spread the poisoned ones evenly among all.
        if (n + 1) * poisoned // total > n * poisoned // total:
            name = names[turn % len(names)]
            turn += 1
            out[f"s{n:05}"] = name
            events = POISONED[name][0](n)
        else:
            events = HEALTHY[n % len(HEALTHY)](n)
        await store.put(f"s{n:05}", events, service=service)
    return out


def snapshot(folder):
    """Return every file of a folder with its bytes and its time."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.iterdir())
    }


@contextlib.contextmanager
def opened(path):
    """Open an SQLite file, and close it."""
    connection = sqlite3.connect(path)
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()
