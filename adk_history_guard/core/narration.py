# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Calls and responses told as text, where they cannot be sent as such."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types


def call(part: types.Part) -> list[types.Part]:
    """Tell a call as text of the model.

    Args:
      part: A function call part.

    Returns:
      One text part with the tool's name and its arguments as JSON.
    """
    said = part.function_call
    if said is None:
        return [part]
    return [types.Part(text=f"[Called tool {said.name!r} with {_json(said.args)}]")]


def response(part: types.Part, of: str | None = None) -> list[types.Part]:
    """Tell a response as text of the user; media of the response stays media.

    Args:
      part: A function response part.
      of: How to name the call that it answers; the response's name by default.

    Returns:
      One text part, then the media that the response held.
    """
    said = part.function_response
    if said is None:
        return [part]
    label = of or f"Tool {said.name!r}"
    return [
        types.Part(text=f"[{label} responded: {_json(said.response)}]"),
        *media(said),
    ]


def media(said: types.FunctionResponse) -> list[types.Part]:
    """Return the media nested in a response as parts of their own."""
    out = []
    for nested in getattr(said, "parts", None) or ():
        if nested.inline_data is not None:
            blob = types.Blob(
                data=nested.inline_data.data, mime_type=nested.inline_data.mime_type
            )
            out.append(types.Part(inline_data=blob))
        elif nested.file_data is not None:
            file = types.FileData(
                file_uri=nested.file_data.file_uri,
                mime_type=nested.file_data.mime_type,
            )
            out.append(types.Part(file_data=file))
    return out


def _json(value: Any) -> str:
    return json.dumps(value or {}, ensure_ascii=False, sort_keys=True, default=str)
