# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Where sessions are stored: a database by URL, or files by path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from adk_history_guard.sessions.model import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adk_history_guard.sessions.model import (
        Filters,
        Head,
        Key,
        RowChange,
        Stored,
    )
    from adk_history_guard.sessions.plan import Plan

_SQLITE_MAGIC = b"SQLite format 3\x00"


class Source(Protocol):
    """A store of sessions.

    Attributes:
      where: Its URL or path, as it was given.
      writable: Whether it was opened to be written.
      parallel: Whether several processes may write it at once.
    """

    where: str
    writable: bool
    parallel: bool

    @property
    def whole_events(self) -> bool:
        """Whether `contents` gives the JSON of whole events."""
        ...

    def count(self, filters: Filters) -> int | None:
        """Count the sessions that filters let through, None where that is slow."""
        ...

    def heads(self, filters: Filters, count: int) -> list[Head]:
        """Return the next sessions after `filters.after`, in order."""
        ...

    def after(self, head: Head) -> Any:
        """Return what `filters.after` must be to go on behind a session."""
        ...

    def contents(
        self, heads: Sequence[Head], *, whole: bool
    ) -> Iterable[tuple[Head, Sequence[str | None] | None]]:
        """Return each session with its events' JSON, None to read it in full."""
        ...

    def load(self, head: Head) -> Stored:
        """Read one session in full."""
        ...

    def changes(self, stored: Stored, plan: Plan) -> list[RowChange]:
        """Return what a plan makes of the rows of a session."""
        ...

    def save(self, stored: Stored, changes: Sequence[RowChange]) -> None:
        """Write the changes of one session, all or none."""
        ...

    def undo(self, key: Key, changes: Sequence[RowChange], place: Any) -> bool:
        """Bring the changes of one session back; whether there were any left."""
        ...

    def flush(self) -> None:
        """Write what is waiting to be written."""
        ...

    def written(self, place: Any) -> bool:
        """Tell whether what was saved at a place is on the disk; raise if lost."""
        ...

    def why(self, error: Exception) -> str:
        """Say in one line why a session could not be read or written."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def open_source(where: str, *, write: bool = False) -> Source:
    """Open a store.

    Args:
      where: A URL, or the path of an SQLite file, a session file or a folder.
      write: Whether it is going to be written.

    Raises:
      StoreError: There is no such store, or it cannot be read.
    """
    from adk_history_guard.sessions.files import FileStore

    if not where:
        msg = "no store is named: the path is empty"
        raise StoreError(msg)
    if "://" in where:
        return _tables(where, where, write=write)
    path = Path(where)
    if path.is_dir():
        return FileStore(where, write=write)
    if not path.is_file():
        msg = f"there is no file or folder {where!r}"
        raise StoreError(msg)
    try:
        with path.open("rb") as file:
            magic = file.read(len(_SQLITE_MAGIC))
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StoreError(msg) from error
    if magic == _SQLITE_MAGIC:
        return _tables(f"sqlite:///{path}", where, write=write)
    return FileStore(where, write=write)


def _tables(url: str, where: str, *, write: bool) -> Source:
    try:
        import sqlalchemy  # noqa: F401 - is it there?

        from adk_history_guard.sessions.tablewrites import TableStore
    except ImportError as error:
        msg = "databases need SQLAlchemy: pip install 'adk-history-guard[db]'"
        raise StoreError(msg) from error
    store = TableStore(url, write=write)
    store.where = where
    return store


def close_source(source: Source) -> None:
    """Close a store."""
    source.close()
