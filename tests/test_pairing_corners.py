# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Corners of the pairing, each of which one changed line would round off.

`python -m benchmarks.mutation --module core/pairing.py` found them: before, no test
told the changed code from its own. The rules themselves are in `test_pairing.py`.
"""

from __future__ import annotations

import pytest

from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import read_contents
from tests.builders import call, model
from tests.test_pairing import ASK, paired, told

pytestmark = pytest.mark.once

CORNERS = [
    pytest.param(
        [["root", "look#c1(1)"], ["user", "adk_request_confirmation#c1=1"],
         ["root", "look#c1=2"]],
        {1: [2]},
        id="answer-to-a-question-under-the-only-call-of-the-id",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "look#c1(2)"],
         ["root", "adk_request_confirmation#c1=9"]],
        {1: [1], 2: []},
        id="answer-to-a-question-behind-the-only-open-call",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "look#c1(2)"],
         ["root", "seek#c1=2"]],
        {1: [1], 2: [2]},
        id="wrong-name-behind-the-only-open-call",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1(2)"], ["root", "seek#c1=2"]],
        {1: [], 2: [2]},
        id="wrong-name-behind-the-newest-of-two-open-calls",
    ),
    pytest.param(
        [["root", "look#c1(1)", "look#c1(2)"], ["root", "seek#c1=1"]],
        {1: [], 2: []},
        id="wrong-name-behind-two-open-calls-of-a-turn",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1(2)"], ["user", "seek#c1=2"]],
        {1: [], 2: []},
        id="wrong-name-from-the-client",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1(2)"], ["root", "look#c1=2"],
         ["root", "seek#c1=1"]],
        {1: [1], 2: [2]},
        id="wrong-name-and-an-older-call-is-the-only-open-one",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1(2)"], ["root", "pay#p(3)"],
         ["root", "seek#c1=2"]],
        {1: [], 2: [], 3: []},
        id="wrong-name-behind-another-call",
    ),
    pytest.param(
        [["root", "look#c1(1)", "look(2)"], ["root", "look=2"]],
        {1: [], 2: [2]},
        id="no-id-means-the-call-without-beside-one-with",
    ),
    pytest.param(
        [["root", "look(1)"], ["root", "look#c1(2)"], ["root", "look=2"]],
        {1: [], 2: [2]},
        id="no-id-means-the-newest-turn",
    ),
    pytest.param(
        [["root", "look#c1(1)"], ["root", "look#c1(2)"], ["root", "look#c1=2"],
         ["root", "look#c1=1"], ["root", "look#c1=3"]],
        {1: [1, 3], 2: [2]},
        id="one-more-answer-to-the-call-answered-last",
    ),
    pytest.param(
        [["root", "look(1)"], ["root", "look(2)"], ["root", "look=2"],
         ["root", "look=1"], ["root", "look=3"]],
        {1: [1, 3], 2: [2]},
        id="one-more-answer-without-ids",
    ),
    pytest.param(
        [["root long=c1", "job#c1(1)"], ["root", "job#c1=0"],
         ["root long=c1", "job#c1(2)"], ["root", "job#c1=0"],
         ["user", "job#c1=1"], ["user", "job#c1=2"], ["root", "job#c1=3"]],
        {1: [0, 1], 2: [0, 2, 3]},
        id="a-tool-answers-no-job-that-the-client-has-ended",
    ),
    pytest.param(
        [["root long=c1", "job#c1(1)"], ["root", "job#c1=0"], ["root", "job#c1(2)"],
         ["root", "job#c1=2"], ["root", "job#c1=1"]],
        {1: [0, 1], 2: [2]},
        id="a-job-still-waits-when-its-id-comes-again",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", "pay#c1=0"], ["root", ASK.format(1, "pay")],
         ["root", "pay#c1(2)"], ["user", "adk_request_confirmation#k1="],
         ["root", "pay#c1=1"]],
        {1: [0, 1], 2: []},
        id="a-question-opens-its-call-again",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", ASK.format(1, "pay")], ["root", "pay#c1=0"],
         ["user", "adk_request_confirmation#k1="], ["root", "pay#c1(2)"],
         ["root", "pay#c1=1"]],
        {1: [0, 1], 2: []},
        id="a-confirmed-call-goes-first-when-its-id-comes-again",
    ),
    pytest.param(
        [["root", "look#c1(1)", "look#c1=1"], ["root", "look#c2(2)"],
         ["root", "look#c2=2"]],
        {1: [1], 2: [2]},
        id="a-mixed-turn-and-what-follows",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", "pay#c1(2)"], ["root", ASK.format(1, "pay")],
         ["user", "adk_request_confirmation#k1="], ["root", "pay#c1=2"],
         ["root", "pay#c1=1"]],
        {1: [1], 2: [2]},
        id="a-confirmed-call-that-has-run-is-passed-over",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", "pay#c1=1"], ["root", "pay#c1(2)"],
         ["root", "pay#c1=2"], ["root", ASK.format(1, "pay")], ["root", "seek#c1=5"]],
        {1: [1], 2: [2, 5]},
        id="wrong-name-and-a-question-has-opened-a-call-again",
    ),
    pytest.param(
        [["root", "look(1)", "look(2)"], ["root", "=1"]],
        {1: [], 2: []},
        id="neither-id-nor-name-and-two-calls-of-a-tool",
    ),
    pytest.param(
        [["root long=c1", "job#c1(1)"], ["root long=c1", "job#c1(2)"],
         ["user", "job#c1=1"], ["root", ASK.format(1, "job")], ["user", "job#c1=2"]],
        {1: [1], 2: [2]},
        id="the-client-answers-no-job-twice-though-a-question-opened-it",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", ASK.format(1, "pay")], ["root", "pay#c1=0"],
         ["root", "adk_request_confirmation#k1="], ["root", "pay#c1(2)"],
         ["root", "pay#c1=2"]],
        {1: [0], 2: [2]},
        id="only-the-client-confirms",
    ),
    pytest.param(
        [["root", "look#c1=1"], ["root", "look#c1(1)"], ["root", "look#c1(2)"],
         ["root", "look#c1=2"]],
        {1: [], 2: [2]},
        id="too-early-for-one-of-two-calls",
    ),
    pytest.param(
        [["root", "job#c1=1"], ["root long=c1", "job#c1(1)"], ["root", "job#c1=0"]],
        {1: [0]},
        id="too-early-for-a-call-that-has-an-answer",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", ASK.format(1, "pay")], ["root", "pay#c1=0"],
         ["user", "adk_request_confirmation#k1="], ["root", "pay#c1=1"],
         ["root long=c1", "pay#c1(2)"], ["user", "pay#c1=2"]],
        {1: [0, 1], 2: [2]},
        id="the-client-answers-no-call-whose-tool-has-run",
    ),
    pytest.param(
        [["root", "pay#c1(1)"], ["root", "pay#c1=0"], ["root", "pay#c2(2)"],
         ["root", "pay#c2=2"], ["root", ASK.format(1, "pay")], ["root", "pay=9"]],
        {1: [0, 9], 2: [2]},
        id="no-id-means-the-call-that-a-question-opened",
    ),
    pytest.param(
        [["root", "look#a(1)"], ["root", "look#a=1"], ["root", "seek#b(2)"],
         ["root", "=2"]],
        {1: [1], 2: [2]},
        id="neither-id-nor-name-and-one-open-call-behind-a-closed-one",
    ),
    pytest.param(
        [["root", "look#c1=1", "look#c1(1)"]],
        {1: []},
        id="too-early-within-a-turn",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("history", "expected"), CORNERS)
def test_each_corner_of_the_walk_decides_as_it_should(history, expected):
    """Corners of the rules that a changed line would round off."""
    assert told(paired(*history)) == expected


def test_a_confirmation_holds_the_call_of_the_tool_that_it_names():
    """Two calls share an id: the question's tool tells which of them waits."""
    pairs = paired(
        ["root", "pay#c1(1)"], ["root", "look#c1(2)"], ["root", ASK.format(1, "pay")]
    )

    assert [held.name for held in pairs.held] == ["pay"]


@pytest.mark.parametrize(("asking", "held"), [("left", 1), ("right", 2), ("up", 2)])
def test_a_credential_request_holds_the_call_of_its_own_branch(asking, held):
    """It names an id alone: the asking agent's own call waits, else the newest."""
    pairs = paired(
        ["left@root.left", "mail#c1(1)"],
        ["right@root.right", "mail#c1(2)"],
        [
            f"{asking}@root.{asking}",
            'adk_request_credential#k1({"functionCallId": "c1"})',
        ],
    )

    assert [found.args["n"] for found in pairs.held] == [held]


def test_a_confirmation_that_comes_too_late_lets_nothing_run():
    """The call was answered by then; asked about once more, it waits again."""
    pairs = paired(
        ["root", "pay#c1(1)"], ["root", ASK.format(1, "pay")], ["user", "pay#c1=1"],
        ["user", "adk_request_confirmation#k1="], ["root", ASK.format(2, "pay")],
        ["root", "pay#c1=0"],
    )  # fmt: skip

    assert {waiting.name for waiting in pairs.open} == {
        "pay",
        "adk_request_confirmation",
    }


@pytest.mark.parametrize(
    "args",
    [None, {}, {"originalFunctionCall": None}, {"originalFunctionCall": {"id": "gone"}},
     {"originalFunctionCall": {"id": ["c1"]}}, {"originalFunctionCall": {"id": "k1"}}],
)  # fmt: skip
def test_a_question_that_names_no_call_holds_none(args):
    """Neither one that is gone nor itself, whatever stands in its arguments."""
    asked = call("adk_request_confirmation", id="k1")
    asked.function_call.args = args

    pairs = pair(read_contents([model(call("pay", id="c1")), model(asked)]))

    assert pairs.held == set()
    assert len(pairs.open) == 2


def test_a_call_is_held_while_its_question_is_open_though_it_was_answered():
    """The client answers the call itself and leaves the question be."""
    pairs = paired(
        ["root", "pay#c1(1)"], ["root", ASK.format(1, "pay")], ["user", "pay#c1=1"]
    )

    assert [held.name for held in pairs.held] == ["pay"]


def test_an_early_response_that_came_home_is_no_orphan():
    """It was one until its call came."""
    pairs = paired(["root", "look#c1=1"], ["root", "look#c1(1)"])

    assert (told(pairs), pairs.orphans) == ({1: [1]}, [])


@pytest.mark.parametrize("before", [[], [["root", "look#c1=1"]]], ids=["open", "done"])
def test_a_response_without_id_to_the_only_call_is_no_guess(before):
    """One call of its name, open or answered: nothing is doubtful."""
    pairs = paired(["root", "look#c1(1)"], *before, ["root", "look=1"])

    assert pairs.doubtful == []
