# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""One file of sessions, read record by record and rewritten as a whole.

A file is rewritten once, when all its sessions have been looked at: into a new
file beside it that takes its place in one step. Until then nothing of it has
changed, and a file that somebody else changed meanwhile is left as it is.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from adk_history_guard.sessions.model import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class RecordFile:
    """One file and its records: a text for each session, and where it stands.

    Args:
      path: The file; `.json` holds one session or a list, others one a line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.suffix != ".json"
        self.stat = self._stat()
        self.pending: dict[int, list[dict[str, Any]]] = {}
        self.digests: dict[int, str] = {}

    def _stat(self) -> tuple[int, int]:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_size

    def records(self) -> Iterator[tuple[int, int, str]]:
        """Yield number, offset and text of each record."""
        if not self.lines:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            several = document if isinstance(document, list) else [document]
            for n, record in enumerate(several):
                yield n, 0, json.dumps(record)
            return
        with self.path.open("rb") as file:
            offset = 0
            for n, line in enumerate(file):
                if line.strip():
                    yield n, offset, line.decode("utf-8", "replace")
                offset += len(line)

    def text(self, number: int, offset: int) -> str:
        """Return the text of one record."""
        if not self.lines:
            return next(text for n, _, text in self.records() if n == number)
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.readline().decode("utf-8", "replace")

    def flush(self) -> None:
        """Put the changed sessions into a new file in the place of the old one."""
        if not self.pending:
            return
        if self._stat() != self.stat:
            msg = f"{self.path} changed while it was repaired; it is left as it was"
            raise StoreError(msg)
        new = self.path.with_name(f".{self.path.name}.repair")
        with new.open("wb") as out:
            for piece in self._pieces():
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        new.chmod(self.path.stat().st_mode & 0o7777)
        new.replace(self.path)
        self.pending = {}
        self.stat = self._stat()

    def _pieces(self) -> Iterator[bytes]:
        if self.lines:
            with self.path.open("rb") as file:
                for n, line in enumerate(file):
                    if n not in self.pending:
                        yield line
                        continue
                    record = json.loads(line) | {"events": self.pending[n]}
                    end = b"\n" if line.endswith(b"\n") else b""
                    yield _dump(record, line.decode()) + end
            return
        text = self.path.read_text(encoding="utf-8")
        document = json.loads(text)
        several = document if isinstance(document, list) else [document]
        for n, events in self.pending.items():
            several[n]["events"] = events
        yield _dump(document, text) + (b"\n" if text.endswith("\n") else b"")


def _dump(document: Any, text: str) -> bytes:
    """Write JSON in the style of a text: indented or not, ASCII or not."""
    indented = "\n " in text.strip()
    compact = '":"' in text or '":{' in text
    return json.dumps(
        document,
        ensure_ascii=text.isascii(),
        indent=2 if indented else None,
        separators=(",", ":") if compact and not indented else None,
    ).encode()
