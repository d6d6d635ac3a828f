# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Connections to a store: opened for one short transaction, then given back.

No transaction lasts longer than one page or one session, so that a writer of
ADK never waits for a reader of ours.

SQLite is opened in a way that leaves no trace: `mode=ro` makes no journal. A
database in write-ahead mode makes two files when it is opened even so; while
nobody has it open it is read as `immutable` instead, and should somebody open
it meanwhile, the page is read again.

An asynchronous driver, the one that the ADK service itself needs, is driven
from a thread of its own, so that this works inside a running event loop too.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from adk_history_guard.sessions.model import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import URL, Connection

T = TypeVar("T")

SQLITE_WAIT = 30.0
"""How many seconds to wait for another writer of an SQLite store."""

SERVER_WAIT = 30
"""How many seconds to wait for a row that another transaction of a server holds."""

_SQLITE_PAUSE = 0.01
"""Seconds between two attempts to write."""


def hidden(url: str) -> str:
    """Return a URL without its password, or a path as it is."""
    if "://" not in url:
        return url
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ImportError:  # opening it will say so
        return "<a database>"
    try:
        # Drivers take passwords and keys in the query, too.
        return make_url(url).set(query={}).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "<no URL>"


def why(error: Exception) -> str:
    """What a database said, in one line, without the statement and its values."""
    origin = getattr(error, "orig", None) or error
    text = str(origin).strip().split("\n", 1)[0]
    text = text.split(" with text ", 1)[0]  # SQLite quotes what it cannot decode
    text = text.rsplit(">: ", 1)[-1] if text.startswith("<class") else text
    return text or type(origin).__name__


class Engine(Protocol):
    """Runs functions on connections."""

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction that changes nothing."""
        ...

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction; an exception rolls it back."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def open_engine(url: URL, *, write: bool) -> Engine:
    """Open a store.

    Args:
      url: Its URL; the driver of an SQLite URL does not matter.
      write: Whether it is going to be written.

    Raises:
      StoreError: No such file, or no such driver.
    """
    backend = url.get_backend_name()
    if backend == "sqlite":
        return SqliteEngine(url, write=write)
    if backend == "postgresql":
        return ServerEngine(url)
    msg = f"{backend} is not supported; the stores are SQLite and PostgreSQL"
    raise StoreError(msg)


class SqliteEngine:
    """An SQLite file."""

    def __init__(self, url: URL, *, write: bool) -> None:
        name = (url.database or "").removeprefix("file:").split("?", 1)[0]
        self._path = Path(name)
        if not name or not self._path.is_file():
            msg = f"there is no file {name!r}"
            raise StoreError(msg)
        self._write = write
        self._engines: dict[str, Any] = {}

    def _engine(self, mode: str) -> Any:
        import sqlite3

        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool, StaticPool

        if mode not in self._engines:
            wait = 0.0 if "private" in mode else SQLITE_WAIT
            uri = f"{self._path.resolve().as_uri()}?{mode}"

            def connect() -> sqlite3.Connection:
                return sqlite3.connect(
                    uri,
                    uri=True,
                    timeout=wait,
                    isolation_level=None,
                    check_same_thread=False,
                )

            # What is read as immutable must not be kept: it may change after all.
            pool = NullPool if "immutable" in mode else StaticPool
            self._engines[mode] = create_engine(
                "sqlite://", creator=connect, poolclass=pool
            )
        return self._engines[mode]

    def _run(self, mode: str, begin: str, work: Callable[[Connection], T]) -> T:
        with self._engine(mode).connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                out = work(connection)
            except BaseException:
                with suppress(Exception):
                    connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")
            return out

    def _side(self, suffix: str) -> Path:
        return self._path.with_name(self._path.name + suffix)

    def _state(self) -> tuple[int, int, bool]:
        stat = self._path.stat()
        return stat.st_mtime_ns, stat.st_size, self._side("-wal").exists()

    def _keeps_wal(self) -> bool:
        with self._path.open("rb") as file:
            return file.read(20)[18:20] == b"\x02\x02"

    def read(self, work: Callable[[Connection], T]) -> T:
        """Read without a trace; see the head of this file."""
        if self._write:
            return self._run("mode=rw", "BEGIN", work)
        before = self._state()
        if self._keeps_wal() and not before[2]:
            try:
                out = self._run("mode=ro&immutable=1", "BEGIN", work)
            except Exception:
                if self._state() == before:
                    raise
            else:
                if self._state() == before:
                    return out
        if before[2] and not self._side("-shm").exists():
            msg = (
                f"{self._path} has a write-ahead log without its index; open it once "
                "with its application"
            )
            raise StoreError(msg)
        return self._run("mode=ro", "BEGIN", work)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Write at a moment at which nobody else reads or writes.

        A run of ADK reads before it writes; had we only SQLite's write lock in
        between, its write would fail at once. So all locks are taken, or none.
        """
        from sqlalchemy.exc import OperationalError

        deadline = time.monotonic() + SQLITE_WAIT
        while True:
            try:
                return self._run("mode=rw&cache=private", "BEGIN EXCLUSIVE", work)
            except OperationalError as error:
                if "locked" not in str(error.orig) or time.monotonic() > deadline:
                    raise
            time.sleep(_SQLITE_PAUSE)

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines.values():
            engine.dispose()


class _Portal:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class ServerEngine:
    """A database server, over a synchronous or an asynchronous driver."""

    def __init__(self, url: URL) -> None:
        from sqlalchemy import create_engine
        from sqlalchemy.exc import ArgumentError, InvalidRequestError
        from sqlalchemy.ext.asyncio import create_async_engine

        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+asyncpg")
        self._portal: _Portal | None = None
        options: dict[str, Any] = {"pool_size": 2, "pool_pre_ping": True}
        try:
            if url.get_dialect().is_async:
                self._engine: Any = create_async_engine(url, **options)
                self._portal = _Portal()
            else:
                self._engine = create_engine(url, **options)
        except (ImportError, ArgumentError, InvalidRequestError) as error:
            msg = f"no driver for {url.drivername}: {error}"
            raise StoreError(msg) from error

    def _run(self, work: Callable[[Connection], T], **options: Any) -> T:
        if self._portal is None:
            engine = self._engine.execution_options(**options)
            with engine.begin() as connection:
                out: T = work(connection)
                return out

        async def run() -> T:
            engine = self._engine.execution_options(**options)
            async with engine.begin() as connection:
                done: T = await connection.run_sync(work)
                return done

        answer: T = self._portal.run(run())
        return answer

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a read-only transaction."""
        return self._run(
            work, isolation_level="REPEATABLE READ", postgresql_readonly=True
        )

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction that waits for no lock for long."""

        def patient(connection: Connection) -> T:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{SERVER_WAIT}s'")
            return work(connection)

        return self._run(patient)

    def close(self) -> None:
        """Close all connections."""
        if self._portal is None:
            self._engine.dispose()
            return
        with suppress(Exception):
            self._portal.run(self._engine.dispose())
        self._portal.close()
