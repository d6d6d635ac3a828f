# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard in every corner of ADK: nothing is wrong in any scenario."""

from __future__ import annotations

import pytest

from tests.conformance.stage import GROUPS, Scenario, load

SCENARIOS = load()
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*Agent is deprecated:DeprecationWarning",
    # ADK's in-memory artifacts and its Fast API app leave these behind.
    "ignore::ResourceWarning",
    # What an evaluation and a front end import warns of each other.
    "ignore::UserWarning",
    "ignore::FutureWarning",
    "ignore::SyntaxWarning",
    r"ignore:\[EXPERIMENTAL\]",
)


def ids(found: Scenario) -> str:
    """Name a test after the scenario's function."""
    return f"{found.row}-{found.play.__name__}"


@pytest.mark.parametrize("found", SCENARIOS, ids=ids)
async def test_nothing_is_wrong_with_the_guard(found, tmp_path):
    """Each scenario of the table comes right with the guard in the Runner."""
    if not found.exists:
        pytest.skip(f"this ADK has no {found.needs}")

    faults = await found.measure(tmp_path, guard=True)

    if found.limit is None:
        assert faults == []
    else:  # refused is better than sent with the wrong answers
        assert [fault.split(":")[0] for fault in faults] == ["ExceptionGroup"]


def test_every_group_has_scenarios():
    """No row of the table is left out."""
    assert {found.row for found in SCENARIOS} == set(GROUPS)


async def test_scenarios_can_fail(tmp_path):
    """Without the guard some scenarios come out wrong: the judge has teeth."""
    for name in ("jobs_in_reverse", "late_answer", "open_jobs_under_one_id"):
        (found,) = [s for s in SCENARIOS if s.play.__name__ == name]
        assert await found.measure(tmp_path, guard=False) != []
