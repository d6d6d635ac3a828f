# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Streamed arguments of a call, put together from their pieces."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

_STEP = re.compile(
    r"""\[\s*(\d+)\s*\]|\[\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*\]|([^.\[\]]+)"""
)


def set_piece(args: dict[str, Any], piece: types.PartialArg) -> None:
    """Set one streamed piece of arguments, addressed by a JSON path (RFC 9535)."""
    value: Any = piece.string_value
    if value is None:
        value = piece.number_value
    if value is None:
        value = piece.bool_value
    if not piece.json_path or (value is None and piece.null_value is None):
        return
    path = _steps(piece.json_path)
    if not path:
        return
    target: Any = args
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        target = _enter(target, step, empty)
        if target is None:
            return
    last = path[-1]
    if isinstance(value, str):
        before = _get(target, last)
        value = before + value if isinstance(before, str) else value
    _put(target, last, value)


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for index, quoted, name in _STEP.findall(path.removeprefix("$")):
        if index:
            steps.append(int(index))
        elif quoted:
            steps.append(json.loads(quoted) if quoted[0] == '"' else quoted[1:-1])
        else:
            steps.append(name)
    return steps


_LONGEST = 10_000
"""The longest list that streamed arguments may ask for."""


def _get(target: Any, step: str | int) -> Any:
    if isinstance(target, dict):
        return target.get(step)
    if isinstance(target, list) and isinstance(step, int) and step < len(target):
        return target[step]
    return None


def _put(target: Any, step: str | int, value: Any) -> None:
    if isinstance(target, dict):
        target[step] = value
    elif isinstance(target, list) and isinstance(step, int) and step < _LONGEST:
        target.extend([None] * (step + 1 - len(target)))
        target[step] = value


def _enter(target: Any, step: str | int, empty: Any) -> Any:
    inner = _get(target, step)
    if not isinstance(inner, (dict, list)):
        _put(target, step, empty)
        inner = _get(target, step)
    return inner
