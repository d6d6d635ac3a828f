# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""How ADK lays events out in tables: three layouts, as data.

========  ================================================================
`v0`      `DatabaseSessionService`, first generation: a column for each field,
          the actions pickled
`v1`      `DatabaseSessionService`, second generation: `event_data` in JSON
`sqlite`  `SqliteSessionService`: `event_data` in JSON, times as numbers
========  ================================================================

A row is read as ADK reads it and written as ADK writes it, but only the columns
that differ, and in `event_data` only the fields that differ: what a newer ADK
has put there stays.
"""

from __future__ import annotations

import datetime as dt
import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from adk_history_guard.sessions import unpickling
from adk_history_guard.sessions.documents import changed_document, event_document
from adk_history_guard.sessions.model import Row, RowChange, RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from google.adk.events import Event


@dataclass(frozen=True, slots=True)
class Layout:
    """One way in which events stand in a table.

    Attributes:
      name: `v0`, `v1` or `sqlite`.
      columns: The columns of an event beside its key, invocation and time.
      json: Which of them are JSON, a JSONB column on PostgreSQL.
      content: The column that holds the content, for the quick look.
      tie: What orders events of the same time.
      read: Makes the event of a row.
      change: Makes the columns of a changed event; see `RowChange`.
      create: Makes the columns of a new event.
    """

    name: str
    columns: tuple[str, ...]
    json: frozenset[str]
    content: str
    tie: str
    read: Callable[[Row], Event]
    change: Callable[[Row, Event, Event], dict[str, Any]]
    create: Callable[[Event], dict[str, Any]]


def seconds(value: Any) -> float | None:
    """Return a stored time in seconds since the epoch, None if it is none.

    A text or a datetime without a zone is UTC, as ADK's newest services have it.
    """
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            value = value.replace(tzinfo=dt.UTC)
        return float(value.timestamp())
    return None


def shifted(value: Any, by: float) -> Any:
    """Return a stored time moved by some seconds, in the form it came in."""
    if isinstance(value, (int, float)):
        return value + by
    if isinstance(value, str):
        moved = dt.datetime.fromisoformat(value) + dt.timedelta(seconds=by)
        return moved.isoformat(sep=" ", timespec="microseconds")
    return value + dt.timedelta(seconds=by)


def read_event(layout: Layout, row: Row) -> Event:
    """Make the event of a row.

    Raises:
      RowError: The row holds no event; the message shows no content.
    """
    try:
        return layout.read(row)
    except (ValueError, TypeError, pickle.UnpicklingError) as error:
        msg = f"event {row.id!r} is no event: {refusal(error)}"
        raise RowError(msg) from error


def refusal(error: Exception) -> str:
    """What is wrong with a row, without what stands in it."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
    first = errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"])) or "the row"
    return f"{place}: {first['type']}"


def change_row(layout: Layout, row: Row, before: Event, after: Event) -> RowChange:
    """Make the columns of a changed event, only those that differ."""
    columns = layout.change(row, before, after)
    return RowChange(row.id, {name: row.columns[name] for name in columns}, columns)


def create_row(layout: Layout, event: Event, timestamp: Any) -> RowChange:
    """Make the columns of a new event."""
    columns = layout.create(event)
    after = {name: v for name, v in columns.items() if not isinstance(v, bytes)}
    new = {"invocation_id": event.invocation_id, "timestamp": timestamp, **columns}
    return RowChange(event.id, None, after, new)


# JSON in one column


def _document(row: Row) -> dict[str, Any]:
    document = from_json(row.columns["event_data"] or "")
    if not isinstance(document, dict):
        msg = f"{type(document).__name__} in place of an object"
        raise TypeError(msg)
    return document


def _read_json(row: Row) -> Event:
    from google.adk.events import Event

    document = _document(row)
    time = document.get("timestamp")
    own = {
        "id": row.id,
        "invocation_id": row.invocation_id,
        "timestamp": seconds(row.timestamp) if time is None else time,
    }
    return Event.model_validate(document | own)


def _change_json(
    dump: Callable[[Any], str],
) -> Callable[[Row, Event, Event], dict[str, Any]]:
    def change(row: Row, before: Event, after: Event) -> dict[str, Any]:
        document = changed_document(_document(row), before, after)
        return {"event_data": dump(document)}

    return change


def _create_json(dump: Callable[[Any], str]) -> Callable[[Event], dict[str, Any]]:
    def create(event: Event) -> dict[str, Any]:
        return {"event_data": dump(event_document(event))}

    return create


# A column for each field


def _read_columns(row: Row) -> Event:
    from google.adk.events import Event
    from google.adk.events.event_actions import EventActions
    from google.genai import types

    columns = row.columns
    pickled = columns["actions"]
    actions = unpickling.loads(bytes(pickled)) if pickled else None
    content = columns["content"]
    waiting = columns["long_running_tool_ids_json"]
    metadata = columns["custom_metadata"]
    document = None if content is None else from_json(content)
    return Event(
        id=row.id,
        invocation_id=row.invocation_id,
        author=columns["author"],
        branch=columns["branch"],
        timestamp=seconds(row.timestamp) or 0.0,
        actions=(
            EventActions.model_validate(actions.model_dump())
            if actions
            else EventActions()
        ),
        long_running_tool_ids=set(from_json(waiting)) if waiting else None,
        custom_metadata=None if metadata is None else from_json(metadata),
        content=None if not document else types.Content.model_validate(document),
    )


def _column_values(event: Event) -> dict[str, Any]:
    waiting = event.long_running_tool_ids
    content = event.content
    return {
        "content": content and content.model_dump(exclude_none=True, mode="json"),
        "long_running_tool_ids_json": None if waiting is None else sorted(waiting),
        "custom_metadata": event.custom_metadata or None,
    }


def _change_columns(row: Row, before: Event, after: Event) -> dict[str, Any]:
    del row
    old, new = _column_values(before), _column_values(after)
    return {
        name: None if new[name] is None else json.dumps(new[name])
        for name in new
        if old[name] != new[name]
    }


def _create_columns(event: Event) -> dict[str, Any]:
    from google.adk.events.event_actions import EventActions

    values = _column_values(event)
    return {
        "author": event.author,
        "branch": event.branch,
        "actions": pickle.dumps(EventActions(), pickle.HIGHEST_PROTOCOL),
        **{n: None if v is None else json.dumps(v) for n, v in values.items()},
    }


def _compact(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


LAYOUTS = {
    "v0": Layout(
        "v0",
        (
            "author",
            "branch",
            "actions",
            "content",
            "long_running_tool_ids_json",
            "custom_metadata",
        ),
        frozenset({"content", "custom_metadata"}),
        "content",
        "id",
        _read_columns,
        _change_columns,
        _create_columns,
    ),
    "v1": Layout(
        "v1",
        ("event_data",),
        frozenset({"event_data"}),
        "event_data",
        "id",
        _read_json,
        _change_json(json.dumps),
        _create_json(json.dumps),
    ),
    "sqlite": Layout(
        "sqlite",
        ("event_data",),
        frozenset(),
        "event_data",
        "rowid",
        _read_json,
        _change_json(_compact),
        _create_json(_compact),
    ),
}
"""Every layout by its name."""


def layout_of(columns: Mapping[str, str]) -> Layout | None:
    """Return the layout of a table of events by its columns and their types."""
    names = set(columns)
    if {"event_data", "timestamp", "invocation_id"} <= names:
        numbers = columns["timestamp"].upper().startswith(("REAL", "FLOAT"))
        return LAYOUTS["sqlite" if numbers else "v1"]
    if {"actions", "content", "author", "timestamp"} <= names:
        return LAYOUTS["v0"]
    return None


def rows_as_read(rows: Sequence[Any], layout: Layout) -> list[Row]:
    """Make rows of what a database gave: id, invocation, time, then the columns."""
    width = len(layout.columns)
    return [
        Row(r[-3 - width], r[-2 - width], r[-1 - width], _named(layout, r[-width:]))
        for r in rows
    ]


def _named(layout: Layout, values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(layout.columns, values, strict=True))
