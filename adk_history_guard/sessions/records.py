# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""One file of sessions, read record by record and rewritten as a whole.

A file is rewritten once, when all its sessions have been looked at: into a new
file beside it that takes its place in one step. Until then nothing of it has
changed on the disk, while whoever asks for a record is given it as it will be. A
file that somebody else changed meanwhile is left as it is.
"""

from __future__ import annotations

import codecs
import json
import stat
from typing import TYPE_CHECKING, Any

from adk_history_guard.sessions.model import SessionChangedError
from adk_history_guard.whole import write_whole

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
        self._texts: list[str] | None = None

    def _stat(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size

    def records(self) -> Iterator[tuple[int, int, str]]:
        """Yield number, offset and text of each record."""
        if not self.lines:
            for n, text in enumerate(self._list()):
                yield n, 0, text
            return
        with self.path.open("rb") as file:
            offset = 0
            for n, line in enumerate(file):
                if line.strip():
                    yield n, offset, _decoded(line)
                offset += len(line)

    def text(self, number: int, offset: int) -> str:
        """Return the text of one record, as it will be."""
        text = self._text(number, offset)
        if number not in self.pending:
            return text
        return json.dumps(json.loads(text) | {"events": self.pending[number]})

    def _text(self, number: int, offset: int) -> str:
        if not self.lines:
            return self._list()[number]
        with self.path.open("rb") as file:
            file.seek(offset)
            return _decoded(file.readline())

    def _list(self) -> list[str]:
        """The records of a `.json` file, parsed as a whole, once."""
        if self._texts is None:
            document = json.loads(self.path.read_bytes())
            several = document if isinstance(document, list) else [document]
            self._texts = list(map(json.dumps, several))
        return self._texts

    def flush(self) -> None:
        """Put the changed sessions into a new file in the place of the old one.

        Raises:
          SessionChangedError: Somebody else changed the file; it stays as it is.
          OSError: It cannot be written; it stays as it was.
        """
        if not self.pending:
            return
        if self._stat() != self.stat:
            msg = f"{self.path} changed while it was repaired; it is left as it was"
            raise SessionChangedError(msg)
        mode = stat.S_IMODE(self.path.stat().st_mode)
        write_whole(self.path.resolve(), self._pieces(), mode=mode)
        self.pending = {}
        self._texts = None
        self.stat = self._stat()

    def _pieces(self) -> Iterator[bytes]:
        if self.lines:
            with self.path.open("rb") as file:
                for n, line in enumerate(file):
                    if n not in self.pending:
                        yield line
                        continue
                    record = json.loads(line) | {"events": self.pending[n]}
                    yield _dump(record, line)
            return
        data = self.path.read_bytes()
        document = json.loads(data)
        several = document if isinstance(document, list) else [document]
        for n, events in self.pending.items():
            several[n]["events"] = events
        yield _dump(document, data)


def _decoded(line: bytes) -> str:
    """The text of a line; bytes that are no UTF-8 make it no JSON, and no session."""
    return line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _dump(document: Any, data: bytes) -> bytes:
    """Write JSON in the style of what was there: indents, ASCII, line ends, mark."""
    text = data.removeprefix(codecs.BOM_UTF8).decode()
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    indented = "\n " in text.strip()
    compact = '":"' in text or '":{' in text
    style: dict[str, Any] = {
        "indent": 2 if indented else None,
        "separators": (",", ":") if compact and not indented else None,
    }
    try:
        out = json.dumps(document, ensure_ascii=text.isascii(), **style).encode()
    except UnicodeEncodeError:  # half a character, which only an escape can write
        out = json.dumps(document, **style).encode()
    line_end = b"\r\n" if b"\r\n" in data else b"\n"
    out = out.replace(b"\n", line_end)
    return mark + out + (line_end if data.endswith(b"\n") else b"")
