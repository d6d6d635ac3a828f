# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The Gemini behind an OpenAI-compatible gateway: rules W1 to W6, on the wire."""

from __future__ import annotations

import copy

import httpx
import pytest
from google.adk.agents import LlmAgent

from adk_history_guard.testing import RandomModel, StrictGateway, call, guarded, say
from adk_history_guard.testing.gateway import MARKER

# LiteLLM's own types make pydantic warn, in the middle of a stream.
pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:Items? '.*ReadOnly:UserWarning"),
]

ASK = {"role": "user", "content": "go"}
COUNT = "number of function response parts is equal to the number of function call"
MISSING = "Function call is missing a thought_signature in functionCall parts."
PAIR = [call("look", {"n": 1}), call("see", {"n": 2})]


def post(server, messages):
    """Send messages."""
    url = f"{server.api_base}/chat/completions"
    return httpx.post(url, json={"model": "gemini", "messages": messages})


def tool(call, content="{}"):
    """Answer a call."""
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def look(n: int, city: str = "") -> dict:
    """Look around."""
    return {"n": n, "city": city}


@pytest.fixture
def server():
    """A gateway whose model makes two parallel calls."""
    with StrictGateway([PAIR]) as server:
        yield server


@pytest.fixture
def turn(server):
    """The model's turn of two calls, as the gateway sent it."""
    return post(server, [ASK]).json()["choices"][0]["message"]


def test_the_signature_hides_in_the_id_of_the_first_call(turn):
    """W1, W2: the first call of a parallel turn is signed, its siblings are bare."""
    first, second = (made["id"] for made in turn["tool_calls"])
    assert first.count(MARKER) == 1
    assert MARKER not in second


def test_parallel_calls_replayed_faithfully_are_refused(server, turn):
    """W3: two calls and two responses are counted as one call and two responses."""
    first, second = turn["tool_calls"]
    response = post(server, [ASK, turn, tool(first), tool(second)])
    assert response.status_code == 400
    assert COUNT in response.json()["error"]["message"]


def test_a_split_turn_is_refused(server, turn):
    """W4: the unsigned half of a turn that was split has no signature."""
    first, second = turn["tool_calls"]
    one = {**turn, "tool_calls": [first]}
    two = {**turn, "tool_calls": [second]}
    response = post(server, [ASK, one, tool(first), two, tool(second)])
    assert MISSING in response.json()["error"]["message"]
    assert "position 4" in response.json()["error"]["message"]


def test_the_signed_call_alone_passes(server, turn):
    """W5: the signed call with one response is what the gateway can replay."""
    first = turn["tool_calls"][0]
    alone = {**turn, "tool_calls": [first]}
    assert post(server, [ASK, alone, tool(first)]).status_code == 200


@pytest.mark.parametrize(
    ("misreport", "words"), [(False, MISSING), (True, COUNT)], ids=["named", "mislead"]
)
def test_a_turn_of_another_model_is_refused(misreport, words):
    """W6: a turn without a signed call is refused, sometimes as a count mismatch."""
    function = {"name": "look", "arguments": "{}"}
    made = {"id": "call_1", "type": "function", "function": function}
    foreign = {"role": "assistant", "content": None, "tool_calls": [made]}
    with StrictGateway(misreport=misreport) as server:
        response = post(server, [ASK, foreign, tool(made)])
        assert response.status_code == 400
        assert words in response.json()["error"]["message"]
        assert server.problems[0].startswith("#0 W6 messages[1]")


def test_a_told_turn_passes(server):
    """W6: what another model did may be told in words."""
    told = {"role": "assistant", "content": "I called look(n=1)."}
    answer = {"role": "user", "content": "look answered: 1"}
    assert post(server, [ASK, told, answer]).status_code == 200


def strip(call, answer):
    """Take the signature off both ids."""
    call["id"] = answer["tool_call_id"] = call["id"].partition(MARKER)[0]


def strip_answer(call, answer):
    """Take the signature off the response's id alone."""
    answer["tool_call_id"] = call["id"].partition(MARKER)[0]


def cut(call, answer):
    """Cut the id to the 64 characters that other providers allow."""
    call["id"] = answer["tool_call_id"] = call["id"][:64]


def rename(call, answer):
    """Put the signature behind another id."""
    call["id"] = answer["tool_call_id"] = f"adk-1{MARKER}{call['id'].split(MARKER)[1]}"


def transplant(call, answer):
    """Put the signed id on another call."""
    call["function"] = {"name": "see", "arguments": '{"n": 2}'}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(strip, MISSING, id="stripped"),
        pytest.param(strip_answer, COUNT, id="stripped-from-the-response"),
        pytest.param(cut, "Thought signature is not valid.", id="cut"),
        pytest.param(rename, "Thought signature is not valid.", id="renamed"),
        pytest.param(transplant, "Corrupted thought signature.", id="transplanted"),
    ],
)
def test_ids_come_back_byte_for_byte(server, turn, fault, words):
    """W1: an id that was touched on either side is refused."""
    first = copy.deepcopy(turn["tool_calls"][0])
    answer = tool(first)
    fault(first, answer)
    alone = {**turn, "tool_calls": [first]}
    response = post(server, [ASK, alone, answer])
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


def test_the_rules_of_chat_completions_hold_as_well(server):
    """A tool message without a call is refused as anywhere."""
    response = post(server, [ASK, {"role": "tool", "tool_call_id": "a", "content": ""}])
    assert "must be a response to a preceeding message" in response.text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_an_adk_run_passes_with_single_calls_only(stream):
    """The real LiteLlm gives ids back whole; parallel calls end an unguarded run."""
    single = RandomModel(11, {"look": {"city": "str"}}, parallel=(1, 1))
    with StrictGateway(single) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        runner = guarded(agent, guard=False)
        for turn in range(4):
            await say(runner, f"turn {turn}", stream=stream)
        assert server.problems == []
        assert len(single.calls) > 2
        server.play(RandomModel(12, ["look"], parallel=(2, 3), call_rate=1, first=900))
        with pytest.raises(Exception, match="number of function response parts"):
            await say(runner, "all at once", stream=stream)
