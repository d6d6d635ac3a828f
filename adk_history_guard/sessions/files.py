# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Sessions in files: JSON as `adk run --save_session` writes it, JSONL, folders."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from adk_history_guard.errors import HistoryGuardError
from adk_history_guard.sessions.documents import changed_document, event_document
from adk_history_guard.sessions.layouts import refusal
from adk_history_guard.sessions.model import (
    Head,
    Key,
    Row,
    RowChange,
    RowError,
    SessionChangedError,
    Stored,
)
from adk_history_guard.sessions.records import RecordFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from adk_history_guard.sessions.model import Filters
    from adk_history_guard.sessions.plan import Plan

_SUFFIXES = (".json", ".jsonl", ".ndjson")
_OUR_FORMAT = "adk-history-guard/"
"""What the format of the guard's own files begins with."""

_CAMEL = {
    "content": "content",
    "long_running_tool_ids": "longRunningToolIds",
    "custom_metadata": "customMetadata",
}


class FileStore:
    """A file of sessions, or a folder of such.

    Args:
      where: The path.
      write: Whether it is going to be written.
    """

    whole_events = True
    parallel = False

    def __init__(self, where: str, *, write: bool = False) -> None:
        self.where = where
        self.writable = write
        self._root = Path(where)
        self._open: tuple[str, RecordFile] | None = None
        self._lost: dict[str, Exception] = {}
        self._cursor: tuple[Any, Iterator[Head]] | None = None

    def why(self, error: Exception) -> str:
        """Say in one line why a session could not be read or written."""
        return str(error).split("\n", 1)[0] or type(error).__name__

    def close(self) -> None:
        """Write what is waiting to be written."""
        self.flush()

    def flush(self) -> None:
        """Write what is waiting; `written` tells of what could not be written."""
        if self._open is None:
            return
        name, file = self._open
        self._open = None
        try:
            file.flush()
        except (HistoryGuardError, OSError, ValueError) as error:
            self._lost[name] = error

    def written(self, place: Any) -> bool:
        """Tell whether the session at a place stands on the disk as it was saved.

        Raises:
          SessionChangedError: Its file changed meanwhile, and was left as it is.
          OSError: Its file could not be written.
        """
        name = place[0]
        if name in self._lost:
            raise self._lost[name]
        return self._open is None or self._open[0] != name or not self._open[1].pending

    def _names(self) -> list[str]:
        if self._root.is_file():
            return [""]
        found = (p for p in self._root.rglob("*") if p.suffix in _SUFFIXES)
        return sorted(
            p.relative_to(self._root).as_posix()
            for p in found
            if p.is_file() and not p.name.startswith(".")
        )

    def _file(self, name: str) -> RecordFile:
        if self._open is None or self._open[0] != name:
            self.flush()
            self._lost.pop(name, None)
            self._open = name, RecordFile(self._path(name))
        return self._open[1]

    def _path(self, name: str) -> Path:
        return self._root / name if name else self._root

    # Reading

    def count(self, filters: Filters) -> int | None:
        """Return None: to count them is to read them."""
        del filters
        return None

    def after(self, head: Head) -> list[Any]:
        """Return what `filters.after` must be to go on behind a session."""
        return list(head.place)

    def heads(self, filters: Filters, count: int) -> list[Head]:
        """Return the next sessions after `filters.after`, file by file."""
        after = None if filters.after is None else tuple(filters.after)
        if self._cursor is None or self._cursor[0] != after:
            self._cursor = (after, self._walk(after))
        out: list[Head] = []
        for head in self._cursor[1]:
            if _fits(head, filters):
                out.append(head)
                if len(out) == count:
                    break
        if out:
            self._cursor = (out[-1].place, self._cursor[1])
        return out

    def _walk(self, after: tuple[Any, ...] | None) -> Iterator[Head]:
        for name in self._names():
            if after is not None and name < after[0]:
                continue
            try:
                for number, offset, text in RecordFile(self._path(name)).records():
                    place = (name, number, offset)
                    if (after is None or place[:2] > after[:2]) and not _is_ours(text):
                        yield _head(text, place)
            except (OSError, ValueError, RecursionError) as error:
                why = str(error)
                if isinstance(error, RecursionError):
                    why = "nested too deep"
                key = Key("", "", name or self._root.name)
                yield Head(key, why, None, (name, -1, 0))

    def contents(
        self, heads: Sequence[Head], *, whole: bool = True
    ) -> Iterable[tuple[Head, None]]:
        """Ask for each session to be read in full."""
        del whole
        return ((head, None) for head in heads)

    def load(self, head: Head) -> Stored:
        """Read one session.

        Raises:
          RowError: It is no session, or one of its events is none.
        """
        from google.adk.events import Event

        name, number, offset = head.place
        if number < 0:
            msg = f"no JSON: {head.marker}"
            raise RowError(msg)
        document = _parsed(self._file(name).text(number, offset))
        documents = document.get("events") if document else None
        if not isinstance(documents, list):
            msg = "no session: a JSON object with a list of events is expected"
            raise RowError(msg)
        rows, events = [], []
        for n, item in enumerate(documents):
            row = _row(n, item)
            try:
                events.append(Event.model_validate({**item, "id": row.id}))
            except (ValueError, TypeError) as error:
                msg = f"event {row.id!r} is no event: {refusal(error)}"
                raise RowError(msg) from error
            rows.append(row)
        return Stored(head, rows, events)

    # Writing

    def changes(self, stored: Stored, plan: Plan) -> list[RowChange]:
        """Return what a plan makes of the events of a session."""
        rows = {r.id: (r, e) for r, e in zip(stored.rows, stored.events, strict=True)}
        out = []
        for event_id, event in (plan.updated or {}).items():
            row, before = rows[event_id]
            old = row.columns["document"]
            names = _CAMEL if _is_camel(old) else None
            new = changed_document(old, before, event, names)
            out.append(RowChange(event_id, {"document": old}, {"document": new}))
        for item in plan.inserted:
            camel = _is_camel(rows[item.after][0].columns["document"])
            new = event_document(item.event, camel=camel)
            values = {"document": new, "follows": item.after}
            out.append(RowChange(item.event.id, None, {"document": new}, values))
        return out

    def save(self, stored: Stored, changes: Sequence[RowChange]) -> None:
        """Take the changes of one session down; they are written with its file.

        Raises:
          SessionChangedError: The session is not as it was read.
        """
        name, number, offset = stored.head.place
        file = self._file(name)
        if _digest(file.text(number, offset)) != stored.head.marker:
            msg = "the session changed since it was read"
            raise SessionChangedError(msg)
        made = {change.id: change for change in changes}
        follows: dict[str, list[RowChange]] = {}
        for change in changes:
            if change.new is not None:
                follows.setdefault(change.new["follows"], []).append(change)
        events = []
        for row in stored.rows:
            columns = made[row.id].after if row.id in made else row.columns
            events.append(columns["document"])
            events += [new.after["document"] for new in follows.get(row.id, ())]
        file.pending[number] = events

    def undo(self, key: Key, changes: Sequence[RowChange], place: Any) -> bool:
        """Bring changed events back to what they were.

        Returns:
          Whether anything had to be brought back.

        Raises:
          SessionChangedError: An event is neither as it was nor as it was made.
        """
        head = self._find(key, place)
        stored = self.load(head)
        now = {row.id: row.columns["document"] for row in stored.rows}
        steps: dict[str, Any] = {}
        for change in changes:
            found = now.get(change.id)
            before = change.before and change.before["document"]
            if found == before:
                continue
            if found != change.after["document"]:
                msg = f"event {change.id!r} changed after the repair"
                raise SessionChangedError(msg)
            steps[change.id] = before
        if steps:
            left: list[Any] = [steps.get(n, d) for n, d in now.items()]
            file = self._file(head.place[0])
            file.pending[head.place[1]] = [d for d in left if d is not None]
        return bool(steps)

    def _find(self, key: Key, place: Any) -> Head:
        """Find a session where it stood: the lines before it may be longer by now."""
        name, number = place[:2] if place else ("", 0)  # a backup of a database
        with suppress(OSError, ValueError):
            for n, offset, text in self._file(name).records():
                if n == number and (head := _head(text, (name, n, offset))).key == key:
                    return head
        msg = "the session is gone"
        raise SessionChangedError(msg)


def _fits(head: Head, filters: Filters) -> bool:
    key = head.key
    if filters.app is not None and key.app_name != filters.app:
        return False
    if filters.user is not None and key.user_id != filters.user:
        return False
    return filters.since is None or (head.updated or 0.0) >= filters.since


def _head(text: str, place: tuple[Any, ...]) -> Head:
    document = _parsed(text) or {}
    names = [_get(document, n) for n in ("app_name", "user_id", "id")]
    if not all(isinstance(name, str) for name in names):
        names = ["", "", f"{place[0]}:{place[1] + 1}"]
    updated = _get(document, "last_update_time")
    time = float(updated) if isinstance(updated, (int, float)) else None
    return Head(Key(*map(str, names)), _digest(text), time, place)


def _is_ours(text: str) -> bool:
    """Whether a record is a backup or a dump: they may lie in a folder of sessions."""
    if _OUR_FORMAT not in text:
        return False
    document = _parsed(text) or {}
    return str(document.get("format")).startswith(_OUR_FORMAT)


def _get(document: dict[str, Any], name: str) -> Any:
    first, *rest = name.split("_")
    return document.get(name, document.get(first + "".join(map(str.title, rest))))


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        document = from_json(text)
    except TypeError:  # bytes that are no UTF-8
        return None
    except ValueError:  # it refuses half a character, too
        try:
            document = json.loads(text)
        except ValueError:
            return None
    return document if isinstance(document, dict) else None


def _row(number: int, document: Any) -> Row:
    if not isinstance(document, dict):
        msg = f"event {number} is no event: no JSON object"
        raise RowError(msg)
    event_id = str(document.get("id") or f"event-{number}")
    columns = {"document": document}
    return Row(event_id, "", document.get("timestamp"), columns)


def _is_camel(document: dict[str, Any]) -> bool:
    return "invocationId" in document


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
