# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Backups: what a session was before its repair, one file a session.

The file is on the disk before the first row changes. It holds the untouched
events, for a person or another tool, and for each row that changes what stood
there and what stands there now, which is what `restore` goes by: events that
ADK appended after the repair stay.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_history_guard.sessions.documents import event_document
from adk_history_guard.sessions.model import Key, RowChange, StoreError
from adk_history_guard.whole import make_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adk_history_guard.sessions.model import Stored

FORMAT = "adk-history-guard/session-backup"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup file.

    Attributes:
      path: The file.
      key: The session.
      place: Where a file's session stood, None for a database.
      rows: The changes that were made.
      events: The events before the repair, as JSON.
    """

    path: Path
    key: Key
    place: Any
    rows: Sequence[RowChange]
    events: Sequence[dict[str, Any]] = ()


def write_backup(folder: Path, stored: Stored, changes: Sequence[RowChange]) -> Path:
    """Write the backup of a session, down to the disk.

    A session that is repaired again gets a further file. The same repair, after
    a run that was stopped before it wrote, takes the place of its file.

    Args:
      folder: Where backups go; made where missing.
      stored: The session as it was read.
      changes: What is about to be written.

    Returns:
      The file.
    """
    key = stored.head.key
    rows = [_row(change) for change in changes]
    document = {
        "format": FORMAT,
        "version": VERSION,
        **key._asdict(),
        "marker": str(stored.head.marker),
        "place": stored.head.place and list(stored.head.place),
        "rows": rows,
        "events": [event_document(event) for event in stored.events],
    }
    home = folder / key.digest[:2]
    make_folder(home)
    number = 1
    path = home / f"{key.digest[:32]}.{number}.json"
    while path.exists() and json.loads(path.read_text("utf-8"))["rows"] != rows:
        number += 1
        path = home / f"{key.digest[:32]}.{number}.json"
    text = json.dumps(document, ensure_ascii=False, indent=1)
    write_whole(path, [text.encode()])
    return path


def _row(change: RowChange) -> dict[str, Any]:
    return {
        "id": change.id,
        "before": change.before and dict(change.before),
        "after": dict(change.after),
    }


def list_backups(folder: Path) -> list[Path]:
    """Return the backup files of a folder, the newest of each session first.

    Raises:
      StoreError: There is no such folder.
    """
    if not folder.is_dir():
        msg = f"there is no folder {str(folder)!r}"
        raise StoreError(msg)
    names = ((_NAME.fullmatch(p.name), p) for p in folder.glob("*/*.json"))
    found = [(name[1], -int(name[2]), path) for name, path in names if name]
    return [path for _, _, path in sorted(found)]


_NAME = re.compile(r"([0-9a-f]{32})\.(\d+)\.json")


def read_backup(path: Path) -> Backup:
    """Read a backup file.

    Raises:
      StoreError: It is no backup, or it cannot be read.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = (document["format"], document["version"])
        rows = [
            RowChange(r["id"], r["before"], r["after"], None if r["before"] else {})
            for r in document["rows"]
        ]
        key = Key(document["app_name"], document["user_id"], document["session_id"])
        found = Backup(path, key, document["place"], rows, document["events"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{path} is no backup: {type(error).__name__}"
        raise StoreError(msg) from error
    if version != (FORMAT, VERSION):
        msg = f"{path} is a backup of another version: {version}"
        raise StoreError(msg)
    return found
