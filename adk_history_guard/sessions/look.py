# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The quick look at a stored session: JSON alone, no events are made.

It says "clean" only where the full reading would find nothing: every call has a
name and an id of its own and is answered by the next event with content, alone
and in call order. Whatever is not as plain as that is read in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_clean(texts: Iterable[str | None], *, whole: bool) -> bool:
    """Tell whether the events of a session are plainly in order.

    Args:
      texts: The JSON of each event, or of its content, in stored order.
      whole: Whether it is the JSON of the event, not of its content.
    """
    try:
        return _look(texts, whole=whole)
    except (ValueError, TypeError, AttributeError, KeyError):
        return False  # Read in full, where the row at fault is found and named.


def _look(texts: Iterable[str | None], *, whole: bool) -> bool:
    seen: set[str] = set()
    calls: list[dict[str, Any]] = []
    for text in texts:
        if text is None:
            continue
        content = from_json(text, cache_strings="keys")
        if whole:
            if not content["author"] or type(content["actions"]) is not dict:
                return False
            content = content.get("content")
        parts = content.get("parts") if content is not None else None
        if not parts:
            continue
        if calls:
            if not _answers(parts, calls):
                return False
            calls = []
        elif not _asks(parts, calls, seen):
            return False
    return not calls


def _asks(
    parts: list[dict[str, Any]], calls: list[dict[str, Any]], seen: set[str]
) -> bool:
    """Take down the calls of an event; whether nothing in it is out of place."""
    for part in parts:
        if "text" in part and len(part) == 1:
            if not part["text"] and len(parts) > 1:
                return False
            continue
        call = part.get("function_call")
        if call is not None:
            call_id = call["id"]
            if not call_id or not call["name"] or call_id in seen:
                return False
            seen.add(call_id)
            calls.append(call)
        elif not part or not _STRANGE.isdisjoint(part):
            return False
    return True


_STRANGE = frozenset({"function_response", "functionCall", "functionResponse"})
"""What must not stand where nothing was called, and names that ADK does not store."""


def _answers(parts: list[dict[str, Any]], calls: list[dict[str, Any]]) -> bool:
    """Whether parts are the responses to these calls, alone and in order."""
    if len(parts) != len(calls):
        return False
    for part, call in zip(parts, calls, strict=True):
        response = part["function_response"]
        if response["id"] != call["id"] or response["name"] != call["name"]:
            return False
    return True
