# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The documented names are those of the code."""

from __future__ import annotations

from pathlib import Path

from adk_history_guard import PROFILES, RejectedRequest
from adk_history_guard.cli import COMMANDS
from adk_history_guard.diagnostics import files, telemetry
from adk_history_guard.diagnostics.failures import SILENT_REASONS

DOCS = Path(__file__).parents[2] / "docs" / "diagnostics.md"


def test_every_key_of_a_dump_is_documented():
    """The schema table names each key, so that others can read dumps."""
    text = DOCS.read_text("utf-8")
    dump = RejectedRequest(contents=[], profile=PROFILES["gemini-3"]).to_dict()

    assert [key for key in dump if f"`{key}`" not in text] == []


def test_every_name_of_telemetry_is_documented():
    """Dashboards are built from the table."""
    text = DOCS.read_text("utf-8")
    names = [f"adk_history_guard.{name}" for name in telemetry.COUNTERS]
    units = [unit for unit, _ in telemetry.COUNTERS.values()]

    missing = [
        name for name in [*names, *units, telemetry.DURATION] if name not in text
    ]
    assert missing == []


def test_limits_reasons_and_commands_are_documented():
    """Numbers and names in the text are the ones in force."""
    text = DOCS.read_text("utf-8")

    assert f"newest {files.MOST_FILES} dumps" in text
    assert f"at most {files.LARGEST_FILE // 1_000_000} MB" in " ".join(text.split())
    assert [reason for reason in SILENT_REASONS if f"`{reason}`" not in text] == []
    ours = [name for name in COMMANDS if name not in ("audit", "restore", "demo")]
    assert [name for name in ours if f"`{name}" not in text] == []
