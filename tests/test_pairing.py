# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who answers whom: the table at the head of `core/pairing.py`, row by row.

A history is written as strings in the notation of `tests/notation.py`. Each
response names its call by token: `look#c1=2` belongs to `look#c1(2)`. What the
walk decided is read back as (token of the call, tokens of its responses).
"""

from __future__ import annotations

import gc
import time

import pytest

from adk_history_guard.adk.survey import read_events
from adk_history_guard.core.pairing import Pairs, pair
from adk_history_guard.core.turns import read_contents
from tests.builders import call, model, response, user
from tests.notation import read_history

pytestmark = pytest.mark.once

ASK = (
    "adk_request_confirmation#k{0}"
    '({{"originalFunctionCall": {{"id": "c1", "name": "{1}"}}}})'
)


def paired(*lines: list[str]) -> Pairs:
    """Pair a history of events."""
    return pair(read_events(read_history(lines)))


def told(pairs: Pairs) -> dict[int, list[int]]:
    """Return the tokens of the responses of each call that carries a token."""
    return {
        (c.args or {})["n"]: [(r.body or {}).get("n") for r in answers]
        for c, answers in pairs.answers.items()
        if "n" in (c.args or {})
    }


ROWS = [
    pytest.param(
        [
            ["root", "pay#c1(1)"],
            ["root", ASK.format(1, "pay")],
            ["root", "pay#c1=0"],
            ["root", "pay#c1(2)"],
            ["user", "adk_request_confirmation#k1="],
            ["root", "pay#c1=1"],
        ],
        {1: [0, 1], 2: []},
        id="tool-1-a-confirmed-call-before-a-fresh-one",
    ),
    pytest.param(
        [
            ["root", "look#c1(1)"],
            ["root", "look#c1(2)", "look#c1(3)"],
            ["root", "look#c1=2"],
        ],
        {1: [], 2: [2], 3: []},
        id="tool-2-the-first-fresh-call-of-the-newest-turn",
    ),
    pytest.param(
        [
            ["root", "look#c1(1)", "look#c1(2)"],
            ["root", "look#c1=1"],
            ["root", "look#c1=2"],
        ],
        {1: [1], 2: [2]},
        id="tool-2-equal-calls-of-a-turn-in-their-order",
    ),
    pytest.param(
        [
            ["root long=c1", "job#c1(1)"],
            ["root", "job#c1=0"],
            ["root long=c1", "job#c1(2)"],
            ["root", "job#c1=0"],
            ["root", "job#c1=2"],
        ],
        {1: [0], 2: [0, 2]},
        id="tool-3-the-newest-waiting-call",
    ),
    pytest.param(
        [
            ["root", "look#c1(1)"],
            ["root", "look#c1=1"],
            ["root", "look#c1(2)"],
            ["root", "look#c1=2"],
            ["root", "look#c1=3"],
        ],
        {1: [1], 2: [2, 3]},
        id="tool-4-the-call-answered-last",
    ),
    pytest.param(
        [
            ["root long=c1", "job#c1(1)"],
            ["root", "job#c1=0"],
            ["root long=c1", "job#c1(2)"],
            ["root", "job#c1=0"],
            ["user", "job#c1=1"],
            ["user", "job#c1=2"],
        ],
        {1: [0, 1], 2: [0, 2]},
        id="client-1-the-oldest-waiting-call-first",
    ),
    pytest.param(
        [
            ["root long=c1", "job#c1(1)"],
            ["root long=c1", "job#c1(2)"],
            ["user", "job#c1=1"],
        ],
        {1: [1], 2: []},
        id="client-1-also-where-no-tool-has-said-pending",
    ),
    pytest.param(
        [
            ["root", "look#c1(1)"],
            ["root", "look#c1(2)", "look#c1(3)"],
            ["user", "look#c1=2"],
        ],
        {1: [], 2: [2], 3: []},
        id="client-2-the-first-fresh-call-of-the-newest-turn",
    ),
    pytest.param(
        [
            ["root long=c1", "job#c1(1)"],
            ["user", "job#c1=1"],
            ["root long=c1", "job#c1(2)"],
            ["user", "job#c1=2"],
            ["user", "job#c1=3"],
        ],
        {1: [1], 2: [2, 3]},
        id="client-3-the-call-answered-last",
    ),
]


@pytest.mark.parametrize(("history", "expected"), ROWS)
def test_order_of_choice_is_that_of_the_table(history, expected):
    """Each row of the table in the docstring of the module decides as it says."""
    assert told(paired(*history)) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        pytest.param(
            [["root", "look#c1(1)", "seek#c1(2)"], ["root", "seek#c1=2", "look#c1=1"]],
            {1: [1], 2: [2]},
            id="name-before-occurrence",
        ),
        pytest.param(
            [
                ["root@a", "look#c1(1)"],
                ["root@b", "look#c1(2)"],
                ["root@a", "look#c1=1"],
                ["root@b", "look#c1=2"],
            ],
            {1: [1], 2: [2]},
            id="branch-before-occurrence",
        ),
        pytest.param(
            [["root", "look#c1(1)"], ["root", "#c1=1"]], {1: [1]}, id="empty-name"
        ),
        pytest.param(
            [["root", "look#c1(1)"], ["root", "seek#c1=1"]], {1: [1]}, id="wrong-name"
        ),
        pytest.param(
            [
                ["root", "look#c1(1)"],
                ["root", "look#c1=1"],
                ["root", "look#c1(2)"],
                ["root", "seek#c1=2"],
            ],
            {1: [1], 2: [2]},
            id="wrong-name-one-open-call-of-the-id",
        ),
        pytest.param(
            [["root", "look#c1(1)"], ["root", "look=1"]], {1: [1]}, id="no-id-by-name"
        ),
        pytest.param(
            [["root", "look(1)"], ["root", "look#c9=1"]],
            {1: [1]},
            id="id-of-a-call-without",
        ),
        pytest.param(
            [["root", "look(1)"], ["root", "=1"]], {1: [1]}, id="neither-one-call-open"
        ),
        pytest.param(
            [["root", "look#c1=1"], ["root", "look#c1(1)"]],
            {1: [1]},
            id="stored-before-its-call",
        ),
        pytest.param(
            [
                ["root long=c1", "job#c1(1)"],
                ["root", "look#c1(2)"],
                ["root", "look#c1=2"],
                ["user", "job#c1=1"],
            ],
            {1: [1], 2: [2]},
            id="an-open-job-keeps-its-answer",
        ),
    ],
)
def test_what_tells_calls_apart(history, expected):
    """Id, name, branch and occurrence are asked in this order."""
    assert told(paired(*history)) == expected


@pytest.mark.parametrize(
    ("history", "orphans"),
    [
        pytest.param([["root", "look#c9=9"]], [9], id="no-call"),
        pytest.param(
            [["root", "look#c1(1)", "seek#c2(2)"], ["root", "=9"]],
            [9],
            id="neither-two-open",
        ),
        pytest.param(
            [["root", "look(1)", "look(2)"], ["root", "look#c9=9"]],
            [9],
            id="unknown-id-two-calls-without",
        ),
        pytest.param(
            [["root", "look#c1=8"], ["root", "look#c1=9"], ["root", "look#c1(1)"]],
            [8, 9],
            id="two-before-their-call",
        ),
        pytest.param(
            [["root", "seek#c1=9"], ["root", "look#c1(1)"]],
            [9],
            id="before-with-another-name",
        ),
    ],
)
def test_what_fits_no_call_or_several_is_an_orphan(history, orphans):
    """Nothing is guessed: such a response is left without a call."""
    found = paired(*history)

    assert [(r.body or {})["n"] for r in found.orphans] == orphans


def test_a_guess_by_order_is_reported():
    """A response without id, where two calls of its name have ids, is doubtful."""
    found = paired(["root", "look#c1(1)", "look#c2(2)"], ["root", "look=1"])

    assert told(found) == {1: [1], 2: []}
    assert [(r.body or {})["n"] for r in found.doubtful] == [1]


def test_calls_without_ids_in_order_are_no_guess():
    """Where no call has an id, order is the only language there is."""
    found = paired(["root", "look(1)", "look(2)"], ["root", "look=1", "look=2"])

    assert told(found) == {1: [1], 2: [2]}
    assert found.doubtful == []


def test_open_calls_are_those_that_wait():
    """Unanswered calls and jobs that said pending are open; others are closed."""
    found = paired(
        ["root", "look#c1(1)"],
        ["root", "look#c1=1"],
        ["root long=c2", "job#c2(2)"],
        ["root", "job#c2=0"],
        ["root", "seek#c3(3)"],
        ["root long=c4", "job#c4(4)"],
        ["user", "job#c4=4"],
    )

    assert sorted((c.args or {})["n"] for c in found.open) == [2, 3]


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        ([], ["pay"]),
        ([["user", "adk_request_confirmation#k1="]], ["pay"]),
        ([["user", "adk_request_confirmation#k1="], ["root", "pay#c1=1"]], []),
    ],
    ids=["asked", "confirmed", "run"],
)
def test_a_call_is_held_until_its_tool_has_run(answer, held):
    """The call that a confirmation names is held until its tool has run after it."""
    found = paired(
        ["root", "pay#c1(1)"],
        ["root", ASK.format(1, "pay")],
        ["root", "pay#c1=0"],
        *answer,
    )

    assert [c.name for c in found.held] == held


def test_a_credential_request_holds_its_call():
    """The credential request names its call by id alone, in either spelling."""
    for key in ("functionCallId", "function_call_id"):
        found = paired(
            ["root", "mail#c1(1)"],
            ["root", f'adk_request_credential#k1({{"{key}": "c1"}})'],
        )

        assert [c.name for c in found.held] == ["mail"]


def test_calls_and_responses_of_one_turn_are_read_by_part():
    """In an interleaved turn a response answers the call before it, not behind it."""
    turn = model(call("look", n=1), response("look", n=1), call("look", n=2))

    assert told(pair(read_contents([turn]))) == {1: [1], 2: []}


def _seconds(turns) -> float:
    """Return the least time of the process for a walk, without the collector's."""
    gc.disable()
    try:
        times = []
        for _ in range(5):
            start = time.process_time()
            pair(turns)
            times.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times)


def _rounds(count: int, *, answered: bool = True) -> list:
    contents = []
    for n in range(count):
        contents.append(model(call("look", id="c1", n=n)))
        if answered:
            contents.append(user(response("look", id="c1", n=n)))
    return read_contents(contents)


def _parallel(count: int, **ids: str) -> list:
    return read_contents(
        [
            model(*(call("look", n=n, **ids) for n in range(count))),
            user(*(response("look", n=n, **ids) for n in range(count))),
        ]
    )


@pytest.mark.parametrize(
    ("make", "size"),
    [
        pytest.param(_rounds, 10_000, id="one-id-10000-times"),
        pytest.param(lambda n: _rounds(n, answered=False), 10_000, id="never-answered"),
        pytest.param(_parallel, 1_000, id="1000-parallel-without-ids"),
        pytest.param(lambda n: _parallel(n, id="c1"), 1_000, id="1000-parallel-one-id"),
    ],
)
def test_time_is_linear(make, size):
    """Five times the calls take about five times the time, not twenty-five."""
    small, large = _seconds(make(size // 5)), _seconds(make(size))

    assert large < 15 * small


def test_each_of_many_repetitions_keeps_its_own_answer():
    """Ten thousand rounds under one id: each call has the response of its round."""
    found = pair(_rounds(10_000))

    assert told(found) == {n: [n] for n in range(10_000)}
    assert not found.orphans
