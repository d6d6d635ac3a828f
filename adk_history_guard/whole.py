# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their name when they are complete, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""For the owner only: dumps and backups may hold what users said."""


def write_whole(path: Path, pieces: Iterable[bytes], *, mode: int = FILE_MODE) -> None:
    """Write a file down to the disk; until that is done its name stays what it was.

    Args:
      path: The file; its folder must be there.
      pieces: What it is to hold.
      mode: Its permissions, from the first byte on.

    Raises:
      OSError: It cannot be written; nothing is left of it.
    """
    handle, name = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.chmod(name, mode)  # noqa: PTH101 - mkstemp gives a name
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105 - as above
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise
    _sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, for the owner only; one that is there stays.

    Raises:
      OSError: It cannot be made.
    """
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    for path in reversed(missing):
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder last, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
