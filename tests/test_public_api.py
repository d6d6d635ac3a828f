# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The one door: its names, its cheapness, and its version."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import adk_history_guard

PROMISED = {
    "ConfigurationError",
    "DumpFormatError",
    "GuardOptions",
    "GuardedGemini",
    "HistoryGuardError",
    "HistoryGuardPlugin",
    "HistoryRepair",
    "InvalidHistoryError",
    "Change",
    "Outcome",
    "PROFILES",
    "RULES",
    "RejectedRequest",
    "Rule",
    "Violation",
    "explain",
    "guard_model",
    "minimize",
    "repair_contents",
    "repair_events",
    "validate_contents",
}


def run_python(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(adk_history_guard.__file__).parents[1],
    )
    return done.stdout.strip()


def test_promised_names_are_public():
    """Everything that the documentation imports is in `__all__`."""
    assert set() == PROMISED - set(adk_history_guard.__all__)


@pytest.mark.parametrize("name", adk_history_guard.__all__)
def test_public_name_can_be_imported(name):
    """Each name of `__all__` is there, and the same object every time."""
    first = getattr(adk_history_guard, name)

    assert first is getattr(adk_history_guard, name)
    assert name in dir(adk_history_guard)


def test_all_has_no_doubles():
    """Each public name is listed once."""
    assert len(set(adk_history_guard.__all__)) == len(adk_history_guard.__all__)


def test_unknown_name_is_an_attribute_error():
    """A misspelt name fails as it does with any module."""
    with pytest.raises(
        AttributeError, match="module 'adk_history_guard' has no attribute 'Guard'"
    ):
        _ = adk_history_guard.Guard


def test_importing_the_package_loads_neither_adk_nor_genai():
    """`import adk_history_guard` costs next to nothing."""
    loaded = run_python(
        "import sys, adk_history_guard; adk_history_guard.GuardOptions();"
        "print([m for m in sys.modules if m in ('google.adk', 'google.genai')])"
    )

    assert loaded == "[]"


def test_importing_the_plugin_loads_nothing_that_adks_plugins_do_not():
    """Agents, sessions, the command line and the rest are imported on use."""
    loaded = run_python(
        "import sys, google.adk.plugins; before = set(sys.modules);"
        "from adk_history_guard import HistoryGuardPlugin;"
        "print([m for m in set(sys.modules) - before"
        " if not m.startswith('adk_history_guard')])"
    )

    assert loaded == "[]"


def test_plugin_is_found_the_way_adk_web_looks_for_it():
    """`--extra_plugins` imports the module and takes the attribute."""
    module_name, _, attribute = "adk_history_guard.HistoryGuardPlugin".rpartition(".")

    plugin_class = getattr(importlib.import_module(module_name), attribute)

    assert plugin_class(name="history_guard").name == "history_guard"


def test_version_is_that_of_the_distribution():
    """`__version__` is read from the installed metadata."""
    try:
        expected = metadata.version("adk-history-guard")
    except metadata.PackageNotFoundError:
        pytest.skip("adk-history-guard is not installed")

    assert expected == adk_history_guard.__version__


def test_package_is_typed():
    """Type checkers read the annotations of the installed package."""
    assert Path(adk_history_guard.__file__).with_name("py.typed").exists()
