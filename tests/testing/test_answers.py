# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The tokens of a request: whose answer stands beside which call."""

from __future__ import annotations

import json

import pytest
from google.genai import types

from adk_history_guard.testing import tokens

pytestmark = pytest.mark.once

ASK = {"role": "user", "parts": [{"text": "go"}]}


def gemini(calls, responses):
    """A Gemini request, as JSON."""
    return [
        ASK,
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "f", "args": {"n": n}, "id": i}}
                for n, i in calls
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": r, "id": i}}
                for r, i in responses
            ],
        },
    ]


def typed(calls, responses):
    """The same as google-genai types."""
    raw = gemini(calls, responses)
    return [types.Content.model_validate(content) for content in raw]


def openai(calls, responses):
    """A chat completion request."""
    made = [
        {
            "id": i,
            "type": "function",
            "function": {"name": "f", "arguments": json.dumps({"n": n})},
        }
        for n, i in calls
    ]
    given = [
        {"role": "tool", "tool_call_id": i, "content": json.dumps(r)}
        for r, i in responses
    ]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": made},
        *given,
    ]


def anthropic(calls, responses):
    """A Messages request."""
    made = [
        {"type": "tool_use", "id": i, "name": "f", "input": {"n": n}} for n, i in calls
    ]
    given = [
        {
            "type": "tool_result",
            "tool_use_id": i,
            "content": [{"type": "text", "text": json.dumps(r)}],
        }
        for r, i in responses
    ]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": made},
        {"role": "user", "content": given},
    ]


forms = pytest.mark.parametrize("form", [gemini, typed, openai, anthropic])


@forms
def test_answers_beside_their_calls_are_in_place(form):
    """Answers in any order, matched by id, are all in place."""
    contents = form([(1, "a"), (2, "b")], [({"n": 2}, "b"), ({"n": 1}, "a")])
    found = tokens(contents)
    assert (found.calls, found.responses) == ((1, 2), (2, 1))
    assert found.pairs == ((1, 1), (2, 2))
    assert found.misplaced(answered={1, 2}) == []


@forms
def test_swapped_answers_are_told(form):
    """An answer beside another call is told for both."""
    contents = form([(1, "a"), (2, "b")], [({"n": 2}, "a"), ({"n": 1}, "b")])
    assert tokens(contents).misplaced() == [
        "call n=1 got the answer n=2",
        "call n=2 got the answer n=1",
    ]


@forms
def test_placeholders_have_no_token(form):
    """A call that waits is no fault, unless its answer has been given."""
    contents = form([(1, "a")], [({"status": "pending"}, "a")])
    assert tokens(contents).pairs == ((1, None),)
    assert tokens(contents).misplaced(answered=()) == []
    assert tokens(contents).misplaced(answered={1}) == [
        "the answer n=1 stands 0 times, not 1"
    ]


@pytest.mark.parametrize(
    ("contents", "faults"),
    [
        pytest.param(
            gemini([(1, "a")], [({"n": 1}, "a"), ({"n": 1}, "a")]),
            [
                "the answer n=1 stands 2 times, not 1",
                "the answer n=1 stands beside no call",
            ],
            id="twice",
        ),
        pytest.param(
            [*gemini([(1, "a")], [({"n": 1}, "a")]), *gemini([(1, "a")], [])],
            ["call n=1 stands 2 times"],
            id="call-twice",
        ),
        pytest.param(
            [ASK, gemini([], [({"n": 4}, "a")])[2]],
            ["the answer n=4 stands beside no call"],
            id="orphan",
        ),
    ],
)
def test_lost_and_doubled_answers_are_told(contents, faults):
    """Doubles and orphans are faults, whoever is asked for."""
    assert tokens(contents).misplaced() == faults


def test_answers_without_ids_go_by_place():
    """Without ids the order is all there is."""
    contents = gemini([(1, None), (2, None)], [({"n": 2}, None), ({"n": 1}, None)])
    assert tokens(contents).pairs == ((1, 2), (2, 1))


@pytest.mark.parametrize(
    "response",
    [
        pytest.param({"n": 1}, id="plain"),
        pytest.param({"n": 1.0}, id="float"),
        pytest.param({"result": {"n": 1}}, id="wrapped"),
        pytest.param({"result": "{'n': 1, 'city': 'x'}"}, id="repr"),
        pytest.param({"result": '[{"n": 1}]'}, id="json"),
    ],
)
def test_the_token_is_found_in_what_adk_makes_of_it(response):
    """A token survives the wrappings that ADK and the providers put around it."""
    assert tokens(gemini([(1, "a")], [(response, "a")])).responses == (1,)


def test_an_answer_that_the_server_never_gave_is_told():
    """An answer to a call that is not answered yet is a fault."""
    contents = gemini([(1, "a")], [({"n": 1}, "a")])
    assert tokens(contents).misplaced(answered=()) == [
        "the answer n=1 stands 1 times, not 0"
    ]
