# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: A002 - the arguments are named as the fields
"""Histories that read like sentences: `user("hi")`, `model(call("look", id="c1"))`."""

from __future__ import annotations

from typing import Any

from google.adk.events import Event
from google.genai import types

PNG = b"\x89PNG"
SIGNATURE = b"signed-by-the-model"
PLACEHOLDER = b"skip_thought_signature_validator"


def text(words: str, *, signature: bytes | None = None) -> types.Part:
    """Return a text part."""
    return types.Part(text=words, thought_signature=signature)


def call(
    name: str | None, *, id: str | None = None, signature: Any = None, **args: Any
) -> types.Part:
    """Return a call part; further keywords are its arguments."""
    return types.Part(
        function_call=types.FunctionCall(id=id, name=name, args=args),
        thought_signature=signature,
    )


def response(name: str | None, *, id: str | None = None, **body: Any) -> types.Part:
    """Return a response part; further keywords are its body."""
    said = types.FunctionResponse(id=id, name=name, response=body)
    return types.Part(function_response=said)


def media(kind: str = "image/png") -> types.Part:
    """Return a media part of a few bytes."""
    return types.Part(inline_data=types.Blob(data=PNG, mime_type=kind))


def user(*parts: str | types.Part) -> types.Content:
    """Return a turn of the user, or the turn of responses."""
    return types.Content(role="user", parts=_parts(parts))


def model(*parts: str | types.Part) -> types.Content:
    """Return a turn of the model."""
    return types.Content(role="model", parts=_parts(parts))


def event(
    author: str,
    *parts: str | types.Part,
    number: int = 0,
    invocation: str = "earlier",
    long_running: tuple[str, ...] = (),
    role: str | None = None,
    **fields: Any,
) -> Event:
    """Return an event; its id and its time come from `number`."""
    made = _parts(parts)
    answers = any(part.function_response is not None for part in made)
    if role is None:
        role = "user" if author == "user" or answers else "model"
    return Event(
        id=f"event-{number}",
        author=author,
        invocation_id=invocation,
        timestamp=1_700_000_000.0 + number,
        content=types.Content(role=role, parts=made) if made else None,
        long_running_tool_ids=set(long_running) or None,
        **fields,
    )


def events(*made: Event) -> list[Event]:
    """Return the events with ids and times in their order."""
    for number, found in enumerate(made):
        found.id = f"event-{number}"
        found.timestamp = 1_700_000_000.0 + number
    return list(made)


def dumped(items: list[Any]) -> list[dict[str, Any]]:
    """Return contents or events as JSON-ready data, to compare them later.

    Waiting ids are sorted: a set has no order, not even that of its copy.
    """
    found = [item.model_dump(mode="json", exclude_none=True) for item in items]
    for item in found:
        item.get("long_running_tool_ids", []).sort()
    return found


def calls_of(contents: list[types.Content]) -> list[types.FunctionCall]:
    """Return every call in order."""
    parts = [part for content in contents for part in content.parts or ()]
    return [part.function_call for part in parts if part.function_call]


def responses_of(contents: list[types.Content]) -> list[types.FunctionResponse]:
    """Return every response in order."""
    parts = [part for content in contents for part in content.parts or ()]
    return [part.function_response for part in parts if part.function_response]


def _parts(parts: tuple[str | types.Part, ...]) -> list[types.Part]:
    return [text(part) if isinstance(part, str) else part for part in parts]
