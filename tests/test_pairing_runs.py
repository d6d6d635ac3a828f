# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Whose answer it is: runs side by side, ids missing, words wrong."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_history_guard import repair_contents, repair_events, validate_contents
from adk_history_guard.adk.survey import read_events
from adk_history_guard.core.pairing import pair
from tests.builders import call, event, events, model, response, user

RUNS = ("one", "two", "three")


def paired(history):
    """Pair events; return the `n` of each call with those of its responses."""
    found = pair(read_events(history)).answers
    return {c.args["n"]: [r.body["n"] for r in answers] for c, answers in found.items()}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_response_goes_to_the_call_of_its_own_run(order):
    """Three concurrent runs ask under one id; each tool answers its own call."""
    asked = [
        event("root", call("look", id="c", n=n), invocation=run)
        for n, run in enumerate(RUNS)
    ]
    told = [
        event("root", response("look", id="c", n=n), invocation=RUNS[n], role="user")
        for n in order
    ]

    assert paired(events(*asked, *told)) == {0: [0], 1: [1], 2: [2]}


def test_interleaved_runs_are_repaired_by_value():
    """What ADK is shown holds each answer under the id of its own call."""
    history = events(
        event("root", call("look", id="c", n=0), invocation="one"),
        event("root", call("look", id="c", n=1), invocation="two"),
        event("root", response("look", id="c", n=0), invocation="one", role="user"),
        event("root", response("look", id="c", n=1), invocation="two", role="user"),
    )

    shown = repair_events(history).events

    asked = {c.id: c.args["n"] for e in shown for c in e.get_function_calls()}
    told = {r.id: r.response["n"] for e in shown for r in e.get_function_responses()}
    assert len(asked) == 2
    assert told == asked


def test_what_a_client_posts_goes_by_age_whatever_its_run_is():
    """A client's answer belongs to a run that is over; the oldest open job waits."""
    history = events(
        event("root", call("job", id="c", n=0), invocation="one", long_running=("c",)),
        event("root", call("job", id="c", n=1), invocation="two", long_running=("c",)),
        event("user", response("job", id="c", n=0), invocation="two"),
        event("user", response("job", id="c", n=1), invocation="three"),
    )

    assert paired(history) == {0: [0], 1: [1]}


def test_a_stray_response_displaces_no_answer_that_came_under_its_id():
    """No id, two calls that are both answered by id: it is nobody's, and told of."""
    contents = [
        user("go"),
        model(call("look", id="a", n=1), call("look", id="b", n=2)),
        user(
            response("look", id="a", n=1),
            response("look", id="b", n=2),
            response("look", n=3),
        ),
        user("and?"),
    ]

    outcome = repair_contents(contents, "openai-chat")

    bodies = [
        part.function_response.response["n"]
        for content in outcome.contents
        for part in content.parts
        if part.function_response
    ]
    assert bodies == [1, 2]
    assert [c.code for c in outcome.changes if c.action == "drop"] == ["HG102"]


def test_an_update_without_an_id_goes_to_the_call_answered_last():
    """A client that has lost the id: the newest answered call is what it means."""
    history = events(
        event("root", call("job", id="a", n=1)),
        event("root", response("job", id="a", n=1), role="user"),
        event("root", call("job", id="b", n=2)),
        event("root", response("job", id="b", n=0), role="user"),
        event("user", response("job", n=2)),
    )

    assert paired(history) == {1: [1], 2: [0, 2]}


@pytest.mark.parametrize(
    "original",
    [
        {"id": "c", "name": ["look"]},
        {"id": "c", "name": {"a": 1}},
        {"id": ["c"], "name": "look"},
        {"id": 3, "name": None},
        "look",
        None,
    ],
)
def test_questions_may_name_anything(original):
    """What a store or a model wrote into a question's arguments raises nothing."""
    asked = types.FunctionCall(
        id="q",
        name="adk_request_confirmation",
        args={"originalFunctionCall": original},
    )
    contents = [
        user("go"),
        model(call("look", id="c", n=1)),
        user(response("look", id="c", n=1)),
        model(call("look", id="c", n=2)),
        user(response("look", id="c", n=2)),
        model(types.Part(function_call=asked)),
        user("and?"),
    ]
    history = [event("root", *content.parts, role=content.role) for content in contents]

    assert repair_contents(contents).contents
    assert repair_events(events(*history)).events


def test_nothing_but_a_nameless_call_and_its_responses():
    """What is left is no request, and says so."""
    contents = [
        model(call(None, id="x")),
        user(response("look", id="x", n=1)),
        user(response("look", id="x", n=2)),
    ]

    outcome = repair_contents(contents)

    assert outcome.contents == []
    assert "HG200" in {v.code for v in outcome.violations}
    assert "HG304" in {c.code for c in outcome.changes}


def test_an_empty_signature_signs_nothing():
    """Gemini 3 asks for one on the first call of a step; no bytes are none."""
    contents = [user("go"), model(call("look", id="c", signature=b"", n=1))]
    contents += [user(response("look", id="c", n=1))]

    assert "HG401" in {v.code for v in validate_contents(contents)}
    outcome = repair_contents(contents)
    assert [c.code for c in outcome.changes] == ["HG401"]
    assert outcome.contents[1].parts[0].thought_signature
    assert repair_contents(outcome.contents).changes == ()


@pytest.mark.parametrize("words", ["", None])
def test_an_empty_part_with_an_empty_signature_is_empty(words):
    """Neither words nor bytes: the provider would refuse it."""
    bare = types.Part(text=words, thought_signature=b"")
    contents = [user("go"), model("fine", bare), user("and?")]

    assert {v.code for v in validate_contents(contents)} == {"HG301"}
    assert repair_contents(contents).contents[1].parts == contents[1].parts[:1]
