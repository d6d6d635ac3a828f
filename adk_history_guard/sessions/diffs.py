# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The diff of a dry run: for each row, the lines of JSON that change."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from adk_history_guard.sessions.model import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adk_history_guard.sessions.model import RowChange


def diff(row: RowChange) -> str:
    """Return a unified diff of a row; its header names the event.

    Args:
      row: The row, before and after.
    """
    before, after = list(_lines(row.before)), list(_lines(row.after))
    name = f"event {row.id}"
    old = name if row.before is not None else "no event"
    lines = difflib.unified_diff(before, after, old, name, n=2)
    return "".join(f"  {shown(line.rstrip())}\n" for line in lines)


def _lines(columns: Mapping[str, Any] | None) -> Iterator[str]:
    for name, value in (columns or {}).items():
        shown = {name: from_json(value) if isinstance(value, str) else value}
        yield from json.dumps(
            shown, indent=2, ensure_ascii=False, sort_keys=True
        ).splitlines(keepends=True)
