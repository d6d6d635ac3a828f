# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard as a whole: what is known of a request beside its contents."""

from __future__ import annotations

import pytest

from adk_history_guard import (
    PROFILES,
    GuardOptions,
    repair_contents,
    validate_contents,
)
from adk_history_guard.core.guard import guard
from adk_history_guard.core.origins import Origins
from tests.builders import call, calls_of, model, response, responses_of, text, user
from tests.rounds import ONE, ONE_SAID, SIG, TWO, TWO_SAID, round_of

pytestmark = pytest.mark.once

DATA_ID = "c1__thought__QUJD"
BARE = [call("look", n=1), call("look", n=2)]
SWAPPED = [response("look", n=2), response("look", n=1)]
KNOWN = {(1, 0): "c1", (1, 1): "c2", (2, 0): "c2", (2, 1): "c1"}


def guarded(contents, profile="gemini-2", options=None, **known):
    """Guard contents of which something is known."""
    return guard(
        contents,
        profile=PROFILES[profile],
        options=options or GuardOptions(),
        origins=Origins(**known),
    )


@pytest.mark.parametrize(
    ("profile", "contents", "known", "changes"),
    [
        pytest.param(
            "gemini-3",
            [user("a"), model(text("b", signature=SIG)), user("c")],
            {"signatures": {SIG}},
            [
                (
                    "contents[1].parts[0]: HG403 drop: "
                    "the thought signature of another model"
                )
            ],
            id="signatures",
        ),
        pytest.param(
            "gemini-3",
            [user("a"), model(text("b", signature=SIG)), user("c")],
            {"signatures": {b"other"}},
            [],
            id="signatures-of-others",
        ),
        pytest.param(
            "gemini-3",
            [user("a"), model("z", text("b", signature=SIG)), user("c")],
            {"distrust": True},
            [
                (
                    "contents[1].parts[1]: HG403 drop: "
                    "the thought signature of another model"
                )
            ],
            id="distrust",
        ),
        pytest.param(
            "openai-chat",
            round_of(
                [call("look", id=DATA_ID)],
                [response("look", id=DATA_ID)],
            ),
            {"ids": {DATA_ID}},
            [
                (
                    f"contents[1].parts[0]: HG504 rename: the id of 'look' "
                    f"(id '{DATA_ID}') to 'call_HxiuwqsW6SV5pzfe', on both sides"
                )
            ],
            id="ids",
        ),
        pytest.param(
            "gemini-2",
            round_of([call("look")], [response("look")]),
            {"wire_ids": {(1, 0): "w1"}},
            [
                (
                    "contents[1].parts[0]: HG107 rename: the id of 'look' and of its "
                    "response: the provider's own, 'w1'"
                )
            ],
            id="wire_ids",
        ),
        pytest.param(
            "openai-chat",
            round_of([call("look")], [response("look")]),
            {"known_ids": {(1, 0): "c1"}},
            [
                (
                    "contents[1].parts[0]: HG505 rename: the id of 'look' to the "
                    "session's own, 'c1', on both sides"
                )
            ],
            id="known_ids",
        ),
    ],
)
def test_clean_contents_are_repaired_by_what_is_known(
    profile, contents, known, changes
):
    """The contents alone tell nothing; what is on record of them does."""
    assert [str(c) for c in guarded(contents, profile, **known).changes] == changes


def test_known_ids_pair_what_carries_none():
    """ADK leaves its ids off; the session's say which response is whose."""
    outcome = guarded(round_of(BARE, SWAPPED), known_ids=KNOWN)

    assert [r.response for r in responses_of(outcome.contents)] == [{"n": 1}, {"n": 2}]
    assert [c.id for c in calls_of(outcome.contents)] == [None, None]
    assert [str(change) for change in outcome.changes] == [
        "contents[2]: HG105 move: 2 responses into the order of their calls"
    ]
    assert outcome.violations == []


def test_ids_that_stand_there_are_not_overruled():
    """What is known counts only where a part carries no id itself."""
    calls = [call("look", id="c1", n=1), call("look", id="c2", n=2)]
    said = [response("look", id="c1", n=1), response("look", id="c2", n=2)]
    contents = round_of(calls, said)
    crossed = {(1, 0): "c2", (1, 1): "c1"}

    assert guarded(contents, known_ids=crossed).contents is contents


def test_ids_may_be_known_for_some_parts_only():
    """The others are paired by name and order, and no id is sent for any."""
    contents = round_of([*BARE, call("see")], [*SWAPPED, response("see")])

    outcome = guarded(contents, known_ids=KNOWN)

    assert [r.response for r in responses_of(outcome.contents)] == [
        {"n": 1},
        {"n": 2},
        {},
    ]
    assert [c.id for c in calls_of(outcome.contents)] == [None, None, None]
    assert [change.code for change in outcome.changes] == ["HG105"]


def test_clean_contents_are_rewritten_where_a_knob_asks_for_it():
    """Parallel calls are put together, and an unsigned turn is told."""
    parallel = round_of(TWO, TWO_SAID)
    unsigned = [*round_of(ONE, ONE_SAID), model("b"), user("c")]

    collapsed = guarded(parallel, "gemini-3", GuardOptions(parallel="collapse"))
    told = guarded(unsigned, "gemini-3", GuardOptions(unsigned="narrate"))

    assert [change.code for change in collapsed.changes] == ["HG404"]
    assert [change.code for change in told.changes] == ["HG401", "HG401"]
    assert guarded(parallel, "gemini-3").contents is parallel
    assert guarded(unsigned, "gemini-3").contents is unsigned


def test_nothing_is_built_for_clean_contents(monkeypatch):
    """With the default knobs the quick look is all that a clean request costs."""
    monkeypatch.delattr("adk_history_guard.core.guard.read_contents")
    contents = round_of(TWO, TWO_SAID)

    assert guarded(contents, "gemini-3").contents is contents


def test_a_guess_stays_reported_after_the_repair():
    """The response carries an id now, but nobody knows whether the right one."""
    contents = round_of(
        [call("look", id="c1", n=1), call("look", id="c2", n=2), call("see", id="c3")],
        [response("look", n=1), response("look", n=2), response("see", id="c3")],
    )

    outcome = repair_contents(contents, "gemini-2")

    assert [change.code for change in outcome.changes] == ["HG107", "HG107"]
    assert [f"{v.place} {v.code} {v.message}" for v in outcome.violations] == [
        "contents[2].parts[0] HG108 several calls fit the response 'look' (id 'c1')."
    ]


@pytest.mark.parametrize("known", ["c1", "look"])
def test_a_pending_call_is_reported_as_such(known):
    """By its id, or by its name where it has none."""
    made = call("look", id="c1") if known == "c1" else call("look")
    contents = [user("a"), model(made, call("see")), user("b")]

    outcome = repair_contents(
        contents, "gemini-2", GuardOptions(mode="observe"), pending=[known]
    )

    codes = {v.code: v.place.part for v in outcome.violations}
    assert (codes["HG109"], codes["HG101"]) == (0, 1)


def test_errors_are_violations_that_a_provider_refuses():
    """`mode="strict"` raises for them; a warning is only told."""
    contents = [user("a"), model(*ONE), user("b"), model("c")]

    outcome = repair_contents(contents, "gemini-2", GuardOptions(unanswered="keep"))

    assert [v.code for v in outcome.violations] == ["HG101", "HG206"]
    assert [v.code for v in outcome.errors] == ["HG101"]


def test_gemini_3_is_the_profile_by_default():
    """Of the check and of the repair alike."""
    contents = round_of(ONE, ONE_SAID)

    assert [v.code for v in validate_contents(contents)] == ["HG401"]
    assert [c.code for c in repair_contents(contents).changes] == ["HG401"]
