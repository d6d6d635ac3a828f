# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What one part of the guard says of a history, the others say too."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adk_history_guard import repair_contents, repair_events, validate_contents
from adk_history_guard.core.guard import guard
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.diagnostics.record import RejectedRequest
from adk_history_guard.options import GuardOptions
from tests.builders import call, event, events, model, response, text, user

GEMINI = PROFILES["gemini-3"]


@pytest.mark.parametrize(
    ("profile", "name", "legal"),
    [
        ("gemini-3", "shop.find:item", True),
        ("gemini-3", "2nd_try", False),
        ("gemini-gateway", "shop.find:item", True),
        ("openai-chat", "shop.find:item", False),
        ("openai-chat", "2nd_try-now", True),
        ("openai-responses", "shop.find:item", False),
        ("mistral", "shop.find:item", False),
        ("mistral", "x" * 64, True),
        ("mistral", "x" * 65, False),
        ("anthropic", "shop.find:item", True),
    ],
)
def test_names_are_held_to_the_provider_s_own_form(profile, name, legal):
    """Dots and colons are Gemini's; OpenAI and Mistral refuse them."""
    told = {"id": "abcdefgh1"}
    contents = [
        user("go"),
        model(call(name, **told, signature=b"s", n=1)),
        user(response(name, **told, n=1)),
    ]

    found = {v.code for v in validate_contents(contents, profile)}

    assert ("HG305" not in found) is legal
    left = {v.code for v in repair_contents(contents, profile).violations}
    assert ("HG305" not in left) is legal


def test_both_doors_split_a_mixed_turn_alike():
    """A call, its response and words in one: the words stay the model's."""
    parts = [call("look", id="a", n=1), response("look", id="a", n=1), text("found")]

    shown = repair_events(events(event("root", *parts, role="model"))).events
    sent = repair_contents([user("go"), model(*parts)], "gemini-2").contents[1:]

    expected = [("model", 1), ("user", 1), ("model", 1)]
    assert [(e.content.role, len(e.content.parts)) for e in shown] == expected
    assert [(c.role, len(c.parts)) for c in sent] == expected


def test_each_response_that_goes_is_told_of():
    """A call without a name goes, and its response with it: two records."""
    history = events(
        event("root", call(None, id="x", n=1)),
        event("root", response("look", id="x", n=1), role="user"),
        event("root", "done"),
    )

    changes = repair_events(history).changes

    places = [str(change.place) for change in changes if change.code == "HG304"]
    assert places == ["events[0].parts[0]", "events[1].parts[0]"]


def test_a_profile_that_narrates_does_so_as_the_knob_does():
    """The word of a contract of one's own counts as much as the user's."""
    contents = [user("go"), model(call("look", n=1)), user(response("look", n=1))]
    own = replace(GEMINI, unsigned="narrate")

    by_profile = guard(contents, profile=own, options=GuardOptions())
    by_knob = guard(contents, profile=GEMINI, options=GuardOptions(unsigned="narrate"))

    old = [user("first"), *contents[1:], model("done"), user("and?")]
    assert by_profile.contents == by_knob.contents
    assert by_profile.changes == by_knob.changes
    assert guard(old, profile=own, options=GuardOptions()).changes


def test_a_dump_judges_pending_calls_as_the_guard_did():
    """A call that waits on purpose is no unanswered one, there neither."""
    contents = [
        user("go"),
        model(call("job", id="c", signature=b"s", n=1)),
        user("and?"),
    ]
    options = GuardOptions(pending="keep")
    outcome = guard(contents, profile=GEMINI, options=options, pending={"c"})
    rejected = RejectedRequest(contents, GEMINI, pending=("c",))

    assert {v.code for v in outcome.violations} == {"HG109"}
    assert {v.code for v in rejected.violations} == {"HG109"}


def test_a_shape_hides_what_stands_behind_the_user_s_own_marker():
    """A signature inside an id is user data, whatever parts it from the id."""
    contents = [
        user("go"),
        model(call("look", id="c1~~sig~~SECRETBYTES", n=1)),
        user(response("look", id="c1~~sig~~SECRETBYTES", n=1)),
    ]
    rejected = RejectedRequest(
        contents, PROFILES["gemini-gateway"], markers=("~~sig~~",)
    )

    dump = json.dumps(rejected.to_dict("shape"))

    assert "SECRETBYTES" not in dump
    assert "~~sig~~" in dump


def test_a_response_that_is_superseded_in_a_gathered_round_is_told_of():
    """Two answers to one call and a sibling's in between: the first goes, on record."""
    history = events(
        event("root", call("look", id="a", n=1), call("look", id="b", n=2)),
        event("root", response("look", id="b", n=2), role="user"),
        event("root", response("look", id="a", n=99), role="user"),
        event("root", response("look", id="a", n=1), role="user"),
        event("root", "done"),
    )

    done = repair_events(history)

    told = [r.response["n"] for e in done.events for r in e.get_function_responses()]
    gone = [str(c.place) for c in done.changes if c.code == "HG103"]
    assert told == [1, 2]
    assert gone == ["events[2].parts[0]"]


def test_joining_model_turns_grows_with_their_number_only():
    """A loop agent may speak thousands of times in a row; one copy, not one each."""
    contents = [user("go"), *(model(f"step {n}") for n in range(3_000)), user("and?")]

    outcome = repair_contents(contents, "gemini-2")

    assert len(outcome.changes) == 2_999
    assert [len(c.parts) for c in outcome.contents] == [1, 3_000, 1]
    assert outcome.contents[1].parts[7] is contents[8].parts[0]
