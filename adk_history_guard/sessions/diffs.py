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
        told = {name: _value(value)}
        yield from json.dumps(
            told, indent=2, ensure_ascii=False, sort_keys=True, default=str
        ).splitlines(keepends=True)


def _value(stored: Any) -> Any:
    """What a column holds: JSON in some, plain text in others, as it comes."""
    if not isinstance(stored, str):
        return stored
    try:
        return from_json(stored)
    except ValueError:
        return stored
