# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Dumps as files: whole or not at all, for the owner only, and not too many."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adk_history_guard.whole import make_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adk_history_guard.diagnostics.record import RejectedRequest

MOST_FILES = 50
"""How many dumps a folder keeps; the oldest go."""

LARGEST_FILE = 5_000_000
"""Bytes of the largest dump."""

PREFIX, SUFFIX = "rejected-", ".json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_NUMBERS = itertools.count(1)
_VIOLATIONS = 200


def write_dump(
    folder: str | os.PathLike[str],
    rejected: RejectedRequest,
    *,
    content: str = "shape",
    redact: Callable[..., object] | None = None,
) -> Path:
    """Write a dump into a folder and return its path.

    The folder is made where it is missing, with mode 0700; a folder that is there
    keeps its mode. The file has mode 0600 and appears under its name only when it is
    complete. Its name holds the time and the session, with every character that is
    not a letter, a digit, `_` or `-` taken out.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    data = _encode(rejected, content, redact)
    home = Path(folder)
    make_folder(home)
    path = home / _name(rejected)
    write_whole(path, [data])
    _prune(home)
    return path


def _name(rejected: RejectedRequest) -> str:
    """Return a name that sorts by time and is safe whatever the ids contain."""
    now = time.time()
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    session = _UNSAFE.sub("", rejected.session_id)[:40] or "session"
    number = next(_NUMBERS)
    micro = int(now % 1 * 1_000_000)
    return f"{PREFIX}{when}-{micro:06d}-{os.getpid()}-{number}-{session}{SUFFIX}"


def _prune(home: Path) -> None:
    """Remove the oldest dumps above the limit; another process may do so, too."""
    dumps = sorted(home.glob(f"{PREFIX}*{SUFFIX}"), key=lambda p: p.name)
    for path in dumps[: max(0, len(dumps) - MOST_FILES)]:
        with contextlib.suppress(OSError):
            path.unlink()


def _encode(
    rejected: RejectedRequest, content: str, redact: Callable[..., object] | None
) -> bytes:
    """Return the dump as bytes, the first form of it that is small enough."""
    data = b""
    for form in _forms(rejected, content, redact):
        # ASCII: a lone surrogate in a text would not encode as UTF-8.
        data = json.dumps(form, indent=1, default=str).encode("ascii") + b"\n"
        if len(data) <= LARGEST_FILE:
            return data
    return data


def _forms(
    rejected: RejectedRequest, content: str, redact: Callable[..., object] | None
) -> Iterator[dict[str, Any]]:
    """Yield the dump as asked for, then smaller and smaller forms of it."""
    yield rejected.to_dict(content, redact)
    if content != "shape":
        yield rejected.to_dict("shape", redact)
    small = rejected.to_dict("shape", redact, repaired=False)
    yield small
    small |= {"omitted": len(small["contents"]), "contents": [], "config": None}
    small["pairs"] = {"calls": [], "orphans": []}
    for name in ("violations", "changes"):
        small[name] = small[name][:_VIOLATIONS]
    small["repaired"] = None
    small["pending"] = []
    for cause in small["causes"]:
        cause["places"] = cause["places"][:_VIOLATIONS]
    yield small
