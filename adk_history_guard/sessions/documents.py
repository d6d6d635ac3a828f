# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON of an event as it is stored: what a repair changed, the rest untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.adk.events import Event

FIELDS = ("content", "long_running_tool_ids", "custom_metadata")
"""The fields of an event that a repair may change."""

WAITING = ("long_running_tool_ids", "longRunningToolIds")
"""The one set of an event, by both of its names."""


def event_document(
    event: Event, *, camel: bool = False, fields: set[str] | None = None
) -> dict[str, Any]:
    """Return the JSON of an event, the same in every process.

    The set of waiting ids is sorted: else the hash seed would show in the bytes.

    Args:
      event: The event.
      camel: Whether its fields go by the names of the web API.
      fields: The fields that are wanted, where it is not all of them.
    """
    out: dict[str, Any] = event.model_dump(
        mode="json", include=fields, exclude_none=True, by_alias=camel
    )
    for name in WAITING:
        if name in out:
            out[name].sort()
    return out


def changed_document(
    document: Mapping[str, Any],
    before: Event,
    after: Event,
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return an event's JSON with what a repair changed, and nothing else.

    Args:
      document: The JSON as stored.
      before: The event that was read from it.
      after: The changed event.
      names: The names of the fields where they are not the event's own.
    """
    out = dict(document)
    camel = names is not None
    for field in FIELDS:
        value = getattr(after, field)
        if value is getattr(before, field):
            continue
        name = (names or {}).get(field, field)
        if value is None:
            out.pop(name, None)
            continue
        out[name] = event_document(after, camel=camel, fields={field})[name]
    content = out.get("content")
    if isinstance(content, dict) and content is not document.get("content"):
        _keep_parts(document.get("content"), before, content, after)
    return out


def _keep_parts(
    stored: Any, before: Event, content: dict[str, Any], after: Event
) -> None:
    """Put the JSON of untouched parts back as it was stored."""
    if not isinstance(stored, dict) or before.content is None or after.content is None:
        return
    originals = stored.get("parts") or []
    index = {id(part): n for n, part in enumerate(before.content.parts or [])}
    for n, part in enumerate(after.content.parts or []):
        old = index.get(id(part))
        if old is not None and old < len(originals):
            content["parts"][n] = originals[old]
