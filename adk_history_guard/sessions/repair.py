# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The repair of stored sessions: a dry run, or a session at a time for good.

The order of each session: read it, plan, make the rows, read the rows back in
memory to see that nothing is left, write the backup, then write the rows in one
transaction that checks that the session is still as it was read. Stopped
anywhere, it leaves the session as it was or as it is to be.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adk_history_guard.errors import ConfigurationError
from adk_history_guard.sessions.audit import is_running
from adk_history_guard.sessions.backup import list_backups, read_backup, write_backup
from adk_history_guard.sessions.look import is_clean
from adk_history_guard.sessions.model import (
    Filters,
    Key,
    RowError,
    SessionChangedError,
    StoreError,
)
from adk_history_guard.sessions.sources import close_source, open_source
from adk_history_guard.sessions.walk import pages, run_pages
from adk_history_guard.whole import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adk_history_guard.core.turns import Change
    from adk_history_guard.sessions.model import Head, RowChange
    from adk_history_guard.sessions.sources import Source


@dataclass(frozen=True, slots=True)
class SessionRepair:
    """What a repair did, or would do, to one session.

    Attributes:
      key: App, user and session.
      status: `clean`, `planned` (dry run), `repaired`, `stamped` (left alone),
        `changed` (while it was repaired: left alone) or `error`.
      changes: What was done, or would be.
      rows: The rows that differ, before and after.
      error: Why it was left alone, None where it was not.
    """

    key: Key
    status: str
    changes: Sequence[Change] = ()
    rows: Sequence[RowChange] = ()
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        out: dict[str, Any] = {
            **self.key._asdict(),
            "status": self.status,
            "changes": [change.to_dict() for change in self.changes],
            "rows": [
                {
                    "id": r.id,
                    "before": r.before and dict(r.before),
                    "after": dict(r.after),
                }
                for r in self.rows
            ],
        }
        if self.error is not None:
            out["error"] = self.error
        return out


@dataclass(frozen=True, slots=True)
class SessionRestore:
    """What a restore did to one session.

    Attributes:
      key: App, user and session.
      status: `restored`, `untouched` (it stood as before the repair), `changed`
        (its file did meanwhile: left alone) or `error`.
      error: Why it was left alone, None where it was not.
    """

    key: Key
    status: str
    error: str | None = None


D = TypeVar("D", SessionRepair, SessionRestore)

_TO_WRITE = frozenset({"repaired", "restored"})
"""What may be told only when the store says so."""


def repair_page(
    source: Source,
    heads: Sequence[Head],
    filters: Filters,
    *,
    backup: str | None = None,
    keys: Sequence[bytes] = (),
) -> list[SessionRepair]:
    """Repair some sessions of a store; one that fails does not stop the others.

    Args:
      source: The store.
      heads: The sessions.
      filters: What else to know of them.
      backup: Where backups go; a dry run where None.
      keys: The keys with which calls are stamped anew.
    """
    out: list[SessionRepair] = []
    try:
        for head, texts in source.contents(heads, whole=filters.contiguous):
            if texts is not None and is_clean(texts, whole=source.whole_events):
                out.append(SessionRepair(head.key, "clean"))
            else:
                out.append(_reported(source, head, filters, backup, keys))
    except Exception as error:  # noqa: BLE001 - reported, the rest goes on
        if len(heads) == 1:
            return [SessionRepair(heads[0].key, "error", error=source.why(error))]
    # One by one, so that the others of the page are not lost.
    one = partial(repair_page, backup=backup, keys=keys)
    rest = heads[len(out) :]
    return out + [done for head in rest for done in one(source, [head], filters)]


def _reported(
    source: Source,
    head: Head,
    filters: Filters,
    backup: str | None,
    keys: Sequence[bytes],
) -> SessionRepair:
    """Repair one session; what goes wrong is part of what is returned."""
    try:
        return _repair(source, head, filters, backup, keys)
    except SessionChangedError as error:
        return SessionRepair(head.key, "changed", error=str(error))
    except Exception as error:  # noqa: BLE001 - reported, the rest goes on
        reason = str(error) if isinstance(error, RowError) else source.why(error)
        return SessionRepair(head.key, "error", error=reason)


def _repair(
    source: Source,
    head: Head,
    filters: Filters,
    backup: str | None,
    keys: Sequence[bytes],
) -> SessionRepair:
    from adk_history_guard.sessions.plan import is_stamped, make_plan, scene_of
    from adk_history_guard.sessions.stamps import restamp

    stored = source.load(head)
    running = is_running(head, filters)
    scene = scene_of(stored.events, agents=filters.agents, running=running)
    plan = make_plan(stored.events, scene)
    if not plan.changes:
        return SessionRepair(head.key, "clean")
    if is_stamped(stored.events):
        if not keys:
            reason = "stamped by ToolCallIntegrityPlugin; --restamp repairs it"
            return SessionRepair(head.key, "stamped", plan.changes, error=reason)
        plan = restamp(head.key, stored.events, plan, keys)
    left = make_plan(list(plan.events), scene)
    if left.changes:
        msg = f"the repair would leave {left.changes[0].code} behind"
        raise RowError(msg)
    rows = source.changes(stored, plan)
    if backup is None:
        return SessionRepair(head.key, "planned", plan.changes, rows)
    write_backup(Path(backup), stored, rows)
    source.save(stored, rows)
    return SessionRepair(head.key, "repaired", plan.changes, rows)


def repair_store(
    where: str,
    filters: Filters | None = None,
    *,
    write: bool = False,
    backup: str | Path | None = None,
    restamp: Sequence[bytes] = (),
    jobs: int = 1,
) -> Iterator[SessionRepair]:
    """Repair a store, a session at a time.

    Args:
      where: A URL or a path, as for `audit_store`.
      filters: Which sessions; all of them where None.
      write: Whether to write; else nothing changes.
      backup: The folder that the untouched events go to; needed to write.
      restamp: Keys of `ToolCallIntegrityPlugin`, the one to stamp with first.
        Without them, sessions with stamps are left alone.
      jobs: How many processes share the work.

    Yields:
      What was done to each session, in the order of their keys.

    Raises:
      ConfigurationError: To write, a backup folder is needed.
      StoreError: The store cannot be read, or the backup folder not be made.
    """
    if write and backup is None:
        msg = "To write, say where the untouched events are to be kept (backup)."
        raise ConfigurationError(msg)
    filters = filters or Filters()
    if write and backup is not None:
        _make_folder(Path(backup))
    source = open_source(where, write=write)
    if write and not source.parallel:
        jobs = 1
    folder = str(backup) if write else None
    work = partial(repair_page, backup=folder, keys=tuple(restamp))
    waiting: deque[tuple[Any, SessionRepair]] = deque()
    try:
        page_list = pages(source, filters)
        for heads, done in run_pages(source, work, page_list, filters, jobs):
            waiting += zip((head.place for head in heads), done, strict=True)
            yield from _written(source, waiting)
        source.flush()
        yield from _written(source, waiting)
    finally:
        close_source(source)


def _written(source: Source, waiting: deque[tuple[Any, D]]) -> Iterator[D]:
    """Take off what is done as soon as it is on the disk, or known to be lost."""
    while waiting:
        place, done = waiting[0]
        try:
            if done.status in _TO_WRITE and not source.written(place):
                return
        except SessionChangedError as error:
            done = replace(done, status="changed", error=str(error))
        except Exception as error:  # noqa: BLE001 - reported, the rest goes on
            done = replace(done, status="error", error=source.why(error))
        waiting.popleft()
        yield done


def _make_folder(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        msg = f"the backup folder {str(folder)!r}: {error.strerror}"
        raise StoreError(msg) from error


def restore_store(where: str, backup: str | Path) -> Iterator[SessionRestore]:
    """Bring repaired sessions back to what they were.

    Args:
      where: A URL or a path, as for `audit_store`.
      backup: The folder that `repair_store` wrote the backups to.

    Yields:
      What was done to each session.

    Raises:
      StoreError: The store or the folder cannot be read.
    """
    files = list_backups(Path(backup))
    source = open_source(where, write=True)
    waiting: deque[tuple[Any, SessionRestore]] = deque()
    try:
        for path in files:
            waiting.append(_restore(source, path))
            yield from _written(source, waiting)
        source.flush()
        yield from _written(source, waiting)
    finally:
        close_source(source)


def _restore(source: Source, path: Path) -> tuple[Any, SessionRestore]:
    """Undo one repair; return where, and what became of it."""
    try:
        found = read_backup(path)
    except StoreError as error:
        return None, SessionRestore(Key("", "", path.name), "error", str(error))
    try:
        undone = source.undo(found.key, found.rows, found.place)
    except Exception as error:  # noqa: BLE001 - reported, the rest goes on
        return found.place, SessionRestore(found.key, "error", source.why(error))
    status = "restored" if undone else "untouched"
    return found.place, SessionRestore(found.key, status)
