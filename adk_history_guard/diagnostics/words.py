# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Turns and parts in words: names, ids and sizes, never the user's text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from adk_history_guard.core.turns import DATA_FIELDS
from adk_history_guard.diagnostics.shape import STAND_IN, is_stand_in

if TYPE_CHECKING:
    from google.genai import types

LONGEST = 120
"""Characters of a name or an id that are shown."""

_STAND_IN_TEXT = re.compile(r"\[\d+ characters #[0-9a-f]+\]")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that a terminal or a page may act on, or not show at all."""


def visible(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, cut, with all that is not shown as it is escaped.

    Control characters, right-to-left marks, lone surrogates and line separators
    come out as their code in backslashes: none of them can act on a terminal.
    """
    cut = text[:longest]
    out = "".join(
        char if unicodedata.category(char) not in _HIDDEN else _escaped(char)
        for char in cut
    )
    return out if len(text) <= longest else f"{out}... ({len(text)} characters)"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def safe_lines(text: str) -> str:
    """Return a text of several lines, with everything but its line ends escaped."""
    return "\n".join(visible(line, 2_000) for line in text.split("\n"))


def describe(part: types.Part) -> str:
    """Return what a part is, in one line."""
    said = _kind(part)
    if part.thought:
        said = f"thought: {said}"
    signature = part.thought_signature
    if signature is not None:
        size = "signed" if not is_stand_in(signature) else _size(signature)
        said = f"{said}, {size}"
    return said


def _kind(part: types.Part) -> str:  # noqa: PLR0911 - one line for each kind of part
    call, response = part.function_call, part.function_response
    if call is not None:
        return f"call {_name(call.name, call.id)}"
    if response is not None:
        body = ", no body" if response.response is None else ""
        media = getattr(response, "parts", None)
        held = f", {len(media)} media" if media else ""
        return f"response {_name(response.name, response.id)}{body}{held}"
    if part.inline_data is not None:
        data = part.inline_data.data
        size = "" if data is None else f", {_bytes(data)}"
        return f"media {visible(part.inline_data.mime_type or 'of no type')}{size}"
    if part.file_data is not None:
        return f"file {visible(part.file_data.mime_type or 'of no type')}"
    if part.text is not None:
        if _STAND_IN_TEXT.fullmatch(part.text):
            return f"text {part.text}"
        return f"text, {len(part.text)} characters" if part.text else "text, empty"
    names = [name for name in DATA_FIELDS if getattr(part, name) is not None]
    return " and ".join(name.replace("_", " ") for name in names) or "nothing"


def _name(name: str | None, call_id: str | None) -> str:
    said = visible(name) if name else "without a name"
    return f"{said} (id {visible(repr(call_id))})" if call_id else said


def _bytes(data: bytes) -> str:
    if is_stand_in(data):
        return data[len(STAND_IN) :].decode("ascii", "replace")
    return f"{len(data)} bytes"


def _size(signature: bytes) -> str:
    return f"signed ({_bytes(signature)})"
