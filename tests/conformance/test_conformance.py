# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard in every corner of ADK: nothing is wrong, and the table says so."""

from __future__ import annotations

from importlib import metadata

import pytest

from benchmarks.conformance import PAGE, cell, read
from tests.conformance.stage import GROUPS, LIMITS, Scenario, load

SCENARIOS = load()
TABLE = read(PAGE.read_text(encoding="utf-8"))
VERSION = metadata.version("google-adk")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*Agent is deprecated:DeprecationWarning",
    # ADK's in-memory artifacts and its Fast API app leave these behind.
    "ignore::ResourceWarning",
    r"ignore:\[EXPERIMENTAL\]",
    # What an evaluation and a front end import warns of each other.
    "ignore::UserWarning",
    "ignore::FutureWarning",
    "ignore::SyntaxWarning",
)


def ids(found: Scenario) -> str:
    """Name a test after the scenario's function."""
    return f"{found.row}-{found.play.__name__}"


@pytest.mark.parametrize("found", SCENARIOS, ids=ids)
async def test_nothing_is_wrong_with_the_guard(found, tmp_path):
    """Each scenario comes right with the guard, and as the table says without it."""
    if not found.exists:
        pytest.skip(f"no {found.needs} here")

    faults = {"guard": await found.measure(tmp_path, guard=True)}

    if found.limit is None:
        assert faults["guard"] == []
    else:  # refused is better than sent with the wrong answers
        kinds = [fault.split(":")[0] for fault in faults["guard"]]
        assert kinds == ["ExceptionGroup"]
    listed = TABLE[found.row, found.title].get(VERSION)
    if listed is not None and not found.heavy:
        faults["alone"] = await found.measure(tmp_path, guard=False)
        assert listed == cell(faults), faults["alone"]


def test_table_lists_every_scenario():
    """The committed table and the code have the same scenarios, in the same order."""
    assert [(s.row, s.title) for s in SCENARIOS] == list(TABLE)
    assert {found.row for found in SCENARIOS} == set(GROUPS)


def test_table_has_no_line_where_the_guard_is_worse():
    """Only what is listed as a limit of ADK is wrong with the guard too."""
    cells = {(title, c) for (_, title), line in TABLE.items() for c in line.values()}
    limited = {s.title for s in SCENARIOS if s.play.__name__ in LIMITS}

    assert {title for title, c in cells if c == "wrong → wrong"} == limited
    assert {c for _, c in cells} == {
        "none",
        "right → right",
        "wrong → right",
        "wrong → wrong",
    }


async def test_scenarios_can_fail(tmp_path):
    """Without the guard some scenarios come out wrong: the judge has teeth."""
    for name in ("jobs_in_reverse", "late_answer", "open_jobs_under_one_id"):
        (found,) = [s for s in SCENARIOS if s.play.__name__ == name]
        assert await found.measure(tmp_path, guard=False) != []
