# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Turns and parts in words: names, ids and sizes, never the user's text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.signatures import PLACEHOLDER_SIGNATURES
from adk_history_guard.core.turns import DATA_FIELDS
from adk_history_guard.diagnostics.shape import STAND_IN, is_stand_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    said = " + ".join(_kinds(part)) or "nothing"
    if part.thought:
        said = f"thought: {said}"
    signature = part.thought_signature
    return said if signature is None else f"{said}, {_signed(signature)}"


def _kinds(part: types.Part) -> Iterator[str]:
    """Yield each thing that a part holds; a sound one holds one."""
    if part.text is not None:
        yield _text(part.text)
    for name in DATA_FIELDS:
        value = getattr(part, name)
        if value is not None:
            write = _WRITERS.get(name)
            yield name.replace("_", " ") if write is None else write(value)


def _text(text: str) -> str:
    if _STAND_IN_TEXT.fullmatch(text):
        return f"text {text}"
    return f"text, {len(text)} characters" if text else "text, empty"


def _call(call: types.FunctionCall) -> str:
    return f"call {_name(call.name, call.id)}"


def _response(response: types.FunctionResponse) -> str:
    body = ", no body" if response.response is None else ""
    media = getattr(response, "parts", None)
    held = f", {len(media)} media" if media else ""
    return f"response {_name(response.name, response.id)}{body}{held}"


def _media(media: types.Blob) -> str:
    size = "" if media.data is None else f", {_bytes(media.data)}"
    return f"media {visible(media.mime_type or 'of no type')}{size}"


def _file(file: types.FileData) -> str:
    return f"file {visible(file.mime_type or 'of no type')}"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "function_call": _call,
    "function_response": _response,
    "inline_data": _media,
    "file_data": _file,
}
"""How each field of a part is described; another one by its name."""


def _name(name: str | None, call_id: str | None) -> str:
    said = visible(name) if name else "without a name"
    return f"{said} (id {visible(repr(call_id))})" if call_id else said


def _bytes(data: bytes) -> str:
    if is_stand_in(data):
        return data[len(STAND_IN) :].decode("ascii", "replace")
    return f"{len(data)} bytes"


def _signed(signature: bytes) -> str:
    if signature in PLACEHOLDER_SIGNATURES:
        return "signed (placeholder)"
    return f"signed ({_bytes(signature)})" if is_stand_in(signature) else "signed"
