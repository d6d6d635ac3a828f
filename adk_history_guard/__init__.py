# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps function calls and responses of Google ADK agents paired and acceptable.

Usage::

    from adk_history_guard import HistoryGuardPlugin
    from google.adk.apps import App

    app = App(name="travel", root_agent=root_agent, plugins=[HistoryGuardPlugin()])

This is the one door of the library. Each name is imported from its room when it is
first asked for, so that importing the package itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adk_history_guard.adk.history import HistoryRepair, repair_events
    from adk_history_guard.adk.model import GuardedGemini, guard_model
    from adk_history_guard.adk.plugin import HistoryGuardPlugin
    from adk_history_guard.core.guard import Outcome, repair_contents, validate_contents
    from adk_history_guard.core.profiles import PROFILES, Profile
    from adk_history_guard.core.rules import RULES, Rule
    from adk_history_guard.core.turns import Change, Place, Violation
    from adk_history_guard.diagnostics.explain import explain
    from adk_history_guard.diagnostics.minimize import minimize
    from adk_history_guard.diagnostics.record import RejectedRequest
    from adk_history_guard.errors import (
        ConfigurationError,
        DumpFormatError,
        HistoryGuardError,
        InvalidHistoryError,
    )
    from adk_history_guard.options import GuardOptions

    __version__: str

__all__ = [
    "PROFILES",
    "RULES",
    "Change",
    "ConfigurationError",
    "DumpFormatError",
    "GuardOptions",
    "GuardedGemini",
    "HistoryGuardError",
    "HistoryGuardPlugin",
    "HistoryRepair",
    "InvalidHistoryError",
    "Outcome",
    "Place",
    "Profile",
    "RejectedRequest",
    "Rule",
    "Violation",
    "__version__",
    "explain",
    "guard_model",
    "minimize",
    "repair_contents",
    "repair_events",
    "validate_contents",
]

_ROOMS = {
    "PROFILES": "adk_history_guard.core.profiles",
    "RULES": "adk_history_guard.core.rules",
    "Change": "adk_history_guard.core.turns",
    "ConfigurationError": "adk_history_guard.errors",
    "DumpFormatError": "adk_history_guard.errors",
    "GuardOptions": "adk_history_guard.options",
    "GuardedGemini": "adk_history_guard.adk.model",
    "HistoryGuardError": "adk_history_guard.errors",
    "HistoryGuardPlugin": "adk_history_guard.adk.plugin",
    "HistoryRepair": "adk_history_guard.adk.history",
    "InvalidHistoryError": "adk_history_guard.errors",
    "Outcome": "adk_history_guard.core.guard",
    "Place": "adk_history_guard.core.turns",
    "Profile": "adk_history_guard.core.profiles",
    "RejectedRequest": "adk_history_guard.diagnostics.record",
    "Rule": "adk_history_guard.core.rules",
    "Violation": "adk_history_guard.core.turns",
    "explain": "adk_history_guard.diagnostics.explain",
    "guard_model": "adk_history_guard.adk.model",
    "minimize": "adk_history_guard.diagnostics.minimize",
    "repair_contents": "adk_history_guard.core.guard",
    "repair_events": "adk_history_guard.adk.history",
    "validate_contents": "adk_history_guard.core.guard",
}
"""Where each public name lives."""


def __getattr__(name: str) -> object:
    """Import a public name from its room on first use (PEP 562)."""
    value: object
    if name == "__version__":
        value = _read_version()
    elif name in _ROOMS:
        value = getattr(importlib.import_module(_ROOMS[name]), name)
    else:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = value
    return value


def _read_version() -> str:
    """Return the version of the installed distribution."""
    from importlib import metadata

    try:
        return metadata.version("adk-history-guard")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def __dir__() -> list[str]:
    """List the public names, also those not imported yet."""
    return sorted({*globals(), *__all__})
