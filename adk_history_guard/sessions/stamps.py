# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Stamps of ADK's `ToolCallIntegrityPlugin`, made anew for calls that changed.

A stamp says that a call was not tampered with. So a changed event is stamped
anew only where its old stamps are good under the same key; the plugin itself
checks and stamps.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from adk_history_guard.sessions.model import RowError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from google.adk.events import Event

    from adk_history_guard.sessions.model import Key
    from adk_history_guard.sessions.plan import Plan


def read_keys(path: Path) -> list[bytes]:
    """Read the key of a file: its bytes; without a line's end, should it have one.

    Raises:
      StoreError: The file cannot be read or is empty.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StoreError(msg) from error
    stripped = data.rstrip(b"\r\n")
    if not stripped:
        msg = f"{path} holds no key"
        raise StoreError(msg)
    return [data] if stripped == data else [stripped, data]


def restamp(
    key: Key, events: Sequence[Event], plan: Plan, keys: Sequence[bytes]
) -> Plan:
    """Stamp the changed calls of a plan.

    Args:
      key: App, user and session, which a stamp covers.
      events: The events as stored.
      plan: The repair.
      keys: The keys that may have been used.

    Returns:
      The plan, with good stamps.

    Raises:
      RowError: A stamp is not good under any key, or ADK has no such plugin.
    """
    from adk_history_guard.sessions.plan import STAMPS

    stored = {event.id: event for event in events}
    updated = dict(plan.updated or {})
    for event_id, event in updated.items():
        old = stored[event_id]
        if STAMPS not in (old.custom_metadata or {}):
            continue
        used = next((k for k in keys if _is_good(key, old, k)), None)
        if used is None:
            msg = f"event {event_id!r} has a stamp that is not good under this key"
            raise RowError(msg)
        updated[event_id] = _stamped(key, event, used)
    after = [updated.get(event.id, event) for event in plan.events]
    return replace(plan, updated=updated, events=after)


def _plugin(secret: bytes) -> Any:
    from google.adk import plugins

    try:
        return plugins.ToolCallIntegrityPlugin(secret_key=secret)
    except AttributeError as error:
        msg = "this ADK has no ToolCallIntegrityPlugin to stamp with"
        raise RowError(msg) from error


def _scene(key: Key, events: list[Event]) -> Any:
    from google.adk.sessions.session import Session

    session = Session(
        id=key.session_id, app_name=key.app_name, user_id=key.user_id, events=events
    )
    return SimpleNamespace(session=session)


def _is_good(key: Key, event: Event, secret: bytes) -> bool:
    check = _plugin(secret).before_run_callback(invocation_context=_scene(key, [event]))
    try:
        asyncio.run(check)
    except ValueError:
        return False
    return True


def _stamped(key: Key, event: Event, secret: bytes) -> Event:
    from adk_history_guard.sessions.plan import STAMPS

    metadata = dict(event.custom_metadata or {})
    metadata.pop(STAMPS, None)
    out = event.model_copy(update={"custom_metadata": metadata})
    plugin, scene = _plugin(secret), _scene(key, [])
    asyncio.run(plugin.on_event_callback(invocation_context=scene, event=out))
    return out
