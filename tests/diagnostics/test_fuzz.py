# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files through the command line: a clear line or a right answer, always.

The whole of it, ten thousand files, is `python -m benchmarks.fuzz`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_history_guard import DumpFormatError
from adk_history_guard.diagnostics.explain import explain
from adk_history_guard.diagnostics.report import render_html
from adk_history_guard.diagnostics.schema import parse_json
from adk_history_guard.diagnostics.sources import load
from benchmarks.fuzz import COMMANDS, damaged, sound, try_one

pytestmark = pytest.mark.once

FILES = sound()
SHARES = 10


@pytest.mark.parametrize("share", range(SHARES))
def test_a_damaged_file_gets_an_answer(share, tmp_path):
    """No traceback, no third status, no more than two seconds."""
    answers = []
    for seed in range(share, 300, SHARES):
        command = COMMANDS[seed % len(COMMANDS)]
        answers.append(try_one(damaged(FILES, seed), tmp_path, command))

    assert [fault for _, fault in answers if fault] == []
    assert {status for status, _ in answers} <= {0, 1, 2}


def test_the_damage_is_seeded_and_real():
    """A fault can be brought back by its seed, and most files are hurt."""
    whole = {damaged(FILES, seed) for seed in range(100)}

    assert damaged(FILES, 7) == damaged(FILES, 7)
    assert len(whole) > 60


KEYS = [
    *("role", "parts", "text", "functionCall", "functionResponse", "id", "name"),
    *("args", "response", "contents", "events", "content", "schema", "thought"),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["user", "model", "look"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_any_json_is_explained_or_refused(value):
    """`load`, `explain` and the page are total over JSON."""
    if not isinstance(value, (dict, list)):
        return
    try:
        request = load(value)
    except DumpFormatError:
        return

    assert str(explain(request))
    assert render_html(request).startswith("<!doctype html>")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_refused(data):
    """No bytes raise anything but `DumpFormatError`."""
    try:
        parse_json(data)
    except DumpFormatError:
        return
