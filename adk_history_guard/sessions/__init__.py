# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Audit and repair of stored sessions.

Usage::

    from adk_history_guard.sessions import audit_store, repair_store, restore_store

    for found in audit_store("sqlite:///sessions.db"):
        if found.poisoned:
            print(found.key, *found.violations)
    for done in repair_store("sqlite:///sessions.db", write=True, backup="backup"):
        print(done.key, done.status)

`audit_service` audits whatever is behind a session service of ADK. On the command
line: `adk-history-guard audit`, `repair` and `restore`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .audit import SessionAudit, audit_events, audit_service, audit_store
    from .model import Filters, Key, StoreError
    from .repair import SessionRepair, SessionRestore, repair_store, restore_store

__all__ = [
    "Filters",
    "Key",
    "SessionAudit",
    "SessionRepair",
    "SessionRestore",
    "StoreError",
    "audit_events",
    "audit_service",
    "audit_store",
    "repair_store",
    "restore_store",
]

_ROOMS = {
    "audit": ("SessionAudit", "audit_events", "audit_service", "audit_store"),
    "model": ("Filters", "Key", "StoreError"),
    "repair": ("SessionRepair", "SessionRestore", "repair_store", "restore_store"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name from its room when it is first asked for."""
    room = _HOME.get(name)
    if room is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(importlib.import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
