# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A seeded small part of the simulation, and proof that its checks can fail.

The whole of it is `python -m benchmarks.simulate`.
"""

from __future__ import annotations

import json
import logging

import pytest

from benchmarks import simulate
from benchmarks.simulation import Plan, play
from benchmarks.simulation.ledger import Entry, Kind, Ledger, State


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(seed=2, turns=14, ids="pool20"), id="pool20"),
        pytest.param(Plan(seed=3, turns=12, ids="pool20", stream=True), id="streamed"),
        pytest.param(Plan(seed=4, turns=12, ids="clashing", stream=True), id="clash"),
        pytest.param(Plan(seed=5, turns=12, ids="missing"), id="missing"),
    ],
)
def test_simulated_session_has_no_breach(plan):
    """Every request of a session holds each answer once, beside its own call."""
    outcome = play(plan)

    assert outcome.breaches == []
    assert outcome.turns == plan.turns
    assert outcome.late > 0


def test_session_without_the_guard_is_refused(caplog):
    """The same session is refused by the provider where the guard is missing."""
    caplog.set_level(logging.CRITICAL)

    outcome = play(Plan(seed=2, turns=14, guard=False))

    kinds = {breach["kind"] for breach in outcome.breaches}
    assert "rejected" in kinds
    assert outcome.turns < 14


def test_command_reports_what_it_found(tmp_path, capsys):
    """The command prints a line for each configuration and writes its findings."""
    file = tmp_path / "found.json"

    code = simulate.main(
        ["--sessions=1", "--turns=2", "--stream=off", "--ids=unique", f"--json={file}"]
    )

    found = json.loads(file.read_text(encoding="utf-8"))
    assert code == 0
    assert found["breaches"] == 0
    assert found["sessions"][0]["turns"] == 2
    assert "1 sessions, 1 clean; 2 turns" in capsys.readouterr().out


def test_command_ends_with_one_where_something_was_wrong():
    """The command's exit code tells of a breach."""
    code = simulate.main(["--sessions=1", "--turns=14", "--seed=2", "--no-guard"])

    assert code == 1


# The checks themselves.


def turn(role, *parts):
    """A content of a request, as JSON."""
    return {"role": role, "parts": list(parts)}


def called(n, name="look"):
    """A call with the token `n`."""
    return {"functionCall": {"name": name, "args": {"n": n}}}


def said(body, name="look"):
    """A response."""
    return {"functionResponse": {"name": name, "response": body}}


@pytest.mark.parametrize(
    ("contents", "kinds"),
    [
        pytest.param(
            [
                turn("model", called(1), called(2)),
                turn("user", said({"n": 1}), said({"n": 2})),
            ],
            [],
            id="good",
        ),
        pytest.param(
            [
                turn("model", called(1), called(2)),
                turn("user", said({"n": 2}), said({"n": 1})),
            ],
            [Kind.MISPLACED, Kind.MISPLACED],
            id="swapped",
        ),
        pytest.param(
            [turn("model", called(1), called(2)), turn("user", said({"n": 1}))],
            [Kind.MISPLACED],
            id="lost",
        ),
        pytest.param(
            [turn("model", called(1)), turn("user", said({"n": 1}))],
            [Kind.LOST_CALL],
            id="call-lost",
        ),
        pytest.param(
            [
                turn("model", called(1), called(2)),
                turn("user", said({"n": 1}), said({"n": 2}), said({"n": 2})),
            ],
            [Kind.MISPLACED],
            id="doubled",
        ),
        pytest.param(
            [
                turn("model", called(1), called(2)),
                turn("user", said({"n": 1}), said({"status": "pending"})),
            ],
            [Kind.MISPLACED],
            id="masked",
        ),
    ],
)
def test_ledger_sees_what_is_wrong(contents, kinds):
    """A swapped, lost, doubled or masked answer is a breach."""
    ledger = Ledger()
    for n in (1, 2):
        ledger.calls[n] = Entry("look", {"n": n}, state=State.ANSWERED)

    ledger.check_request(contents)

    assert kinds == [breach.kind for breach in ledger.breaches]


def test_ledger_counts_runs():
    """A tool that ran twice, or with the arguments of another call, is a breach."""
    ledger = Ledger()
    ledger.calls[1] = Entry("look", {"n": 1, "words": "a"})
    ledger.ran("look", {"n": 1, "words": "a"}, State.ANSWERED)
    ledger.check_runs()
    assert ledger.breaches == []

    ledger.ran("look", {"n": 1, "words": "b"}, State.ANSWERED)
    ledger.check_runs()

    assert [breach.kind for breach in ledger.breaches] == [Kind.RUNS, Kind.RUNS]
