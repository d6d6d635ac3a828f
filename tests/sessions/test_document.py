# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of `docs/sessions.md`, run as they stand, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from adk_history_guard.cli import main
from tests.sessions.stores import Store, fill

TEXT = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^adk-history-guard (.+)$", TEXT, re.MULTILINE)


@pytest.mark.once
def test_commands_of_the_document_do_what_it_says(tmp_path, monkeypatch):
    """Found, shown, healed, found clean, brought back; then audits of the same."""
    monkeypatch.chdir(tmp_path)
    store = Store("v1", "sqlite+aiosqlite:///sessions.db")
    fill(store, healthy=6, poisoned=2)
    before = store.rows()

    ends = []
    for command in COMMANDS:
        result = CliRunner().invoke(main, shlex.split(command))
        assert (result.exit_code, result.exception) == (0, None), result.output
        ends.append(result.stdout.splitlines()[-1])

    assert ends[:7] == [
        "8 sessions, 2 poisoned",
        "6 clean, 2 planned",
        "6 clean, 2 repaired",
        "8 sessions, 0 poisoned",
        "2 restored",
        "8 sessions, 2 poisoned",
        ends[6],
    ]
    assert ends[7:] == ["8 sessions, 2 poisoned", "8 sessions, 2 poisoned"]
    assert '"session_id"' in ends[6]
    assert store.rows() == before
