# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - one case a line
"""The OpenAI and the Mistral emulator: rules, and the real LiteLLM."""

from __future__ import annotations

import json

import httpx
import pytest
from google.adk.agents import LlmAgent

from adk_history_guard.testing import (
    RandomModel,
    StrictMistral,
    StrictOpenAI,
    call,
    failure,
    guarded,
    say,
)

# LiteLLM's own types make pydantic warn, in the middle of a stream.
pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:Items? '.*ReadOnly:UserWarning"),
]

ASK = {"role": "user", "content": "go"}
both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def tc(id_="call_a", name="look", arguments='{"n": 1}'):
    """A tool call."""
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "function": function}


def said(*calls, content=None):
    """An assistant message."""
    message = {"role": "assistant", "content": content}
    return message | ({"tool_calls": list(calls)} if calls else {})


def tool(id_="call_a", content='{"n": 1}'):
    """A tool message."""
    return {"role": "tool", "tool_call_id": id_, "content": content}


def post(server, messages, **body):
    """Send messages."""
    url = f"{server.api_base}/chat/completions"
    return httpx.post(url, json={"model": "gpt-x", "messages": messages, **body})


def look(n: int, city: str = "") -> dict:
    """Look around."""
    return {"n": n, "city": city}


async def talk(runner):
    """Say a few things to a runner."""
    for turn in range(4):
        await say(runner, f"turn {turn}", stream=True)


@pytest.fixture(scope="module")
def openai():
    """One server for all cases: they do not meet."""
    with StrictOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def mistral():
    """One server for all cases, with the order of the older hosted API."""
    with StrictMistral(tool_then_user=False) as server:
        yield server


@pytest.mark.parametrize(
    ("rule", "messages", "words"),
    [
        pytest.param("messages", [], "Invalid 'messages': empty array.", id="empty"),
        pytest.param("role", [{"role": "bot", "content": "x"}], "Invalid value: 'bot'. Supported values are: 'system', 'assistant'", id="role"),
        pytest.param("content", [{"role": "user"}], "Invalid value for 'content': expected a string, got null", id="no-content"),
        pytest.param("adjacency", [ASK, said(tc()), ASK], "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_a", id="unanswered"),
        pytest.param("adjacency", [ASK, said(tc(), tc("call_b")), tool()], "did not have response messages: call_b", id="half-answered"),
        pytest.param("adjacency", [ASK, said(tc()), ASK, tool()], "did not have response messages: call_a", id="user-between"),
        pytest.param("adjacency", [ASK, said(tc(), tc("call_b")), tool(), ASK, tool("call_b")], "did not have response messages: call_b", id="batch-split"),
        pytest.param("orphan", [ASK, tool()], "messages with role 'tool' must be a response to a preceeding message", id="orphan"),
        pytest.param("orphan", [ASK, said(tc()), tool(), tool("call_z")], "'tool_call_id' of 'call_z' not found in 'tool_calls' of previous message", id="unknown"),
        pytest.param("double", [ASK, said(tc()), tool(), tool()], "Duplicate value for 'tool_call_id' of 'call_a', in messages[2] and messages[3]", id="double"),
        pytest.param("unique", [ASK, said(tc()), tool(), said(tc()), tool()], "Duplicate value for 'tool_call_id' of 'call_a'", id="repeats"),
        pytest.param("id", [ASK, said(tc("a" * 41)), tool("a" * 41)], "string too long. Expected a string with maximum length 40, but got a string with length 41 instead.", id="long"),
        pytest.param("id", [ASK, said(tc(None)), tool(None)], "Invalid type for 'messages[1].tool_calls[0].id': expected a string, but got null", id="null"),
        pytest.param("id", [ASK, said(tc("")), tool("")], "empty string. Expected a string with minimum length 1", id="empty-id"),
        pytest.param("name", [ASK, said(tc(name="a.b")), tool()], "function.name': string does not match pattern", id="name"),
        pytest.param("arguments", [ASK, said(tc(arguments={"n": 1})), tool()], "function.arguments': expected a string, but got an object", id="object"),
        pytest.param("arguments", [ASK, said(tc(arguments="{")), tool()], "a string that holds valid JSON", id="no-json"),
    ],
)  # fmt: skip
def test_openai_refuses_a_breach_in_its_own_words(openai, rule, messages, words):
    """A breach is a 400 of the type invalid_request_error with OpenAI's text."""
    response = post(openai, messages)
    error = response.json()["error"]
    assert response.status_code == 400
    assert error["type"] == "invalid_request_error"
    assert words in error["message"]
    assert rule in {p.split()[0] for p in openai.rejections[-1].problems}


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([{"role": "system", "content": "x"}, ASK], id="system"),
        pytest.param([ASK, said(tc(), content="hm"), tool()], id="text-and-call"),
        pytest.param([ASK, said(tc(), tc("b")), tool("b"), tool()], id="other-order"),
        pytest.param([ASK, said(tc()), tool(), ASK, ASK], id="two-user-messages"),
        pytest.param([ASK, said(tc("a" * 40)), tool("a" * 40)], id="40-characters"),
        pytest.param([ASK, said(tc()), tool(), said(tc("b")), tool("b")], id="steps"),
        pytest.param([ASK, said(tc()), tool(content=[{"type": "text", "text": "1"}])], id="parts"),
    ],
)  # fmt: skip
def test_openai_lets_a_near_miss_pass(openai, messages):
    """What only looks like a breach gets a reply."""
    response = post(openai, messages)
    assert openai.requests[-1].problems == []
    assert response.json()["choices"][0]["message"]["content"] == "done"


def test_openai_limits_are_options():
    """Length and uniqueness of ids are options; one turn never repeats an id."""
    long = "a" * 64
    twice = [said(tc(long)), tool(long)]
    with StrictOpenAI(max_id_length=64, unique_ids=False) as server:
        assert post(server, [ASK, *twice, *twice]).status_code == 200
        assert post(server, [ASK, said(tc(), tc()), tool()]).status_code == 400


@pytest.mark.parametrize(
    ("rule", "messages", "words"),
    [
        pytest.param("id", [ASK, said(tc()), tool()], "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9.", id="id"),
        pytest.param("count", [ASK, said(tc("a" * 9), tc("b" * 9)), tool("a" * 9)], "Not the same number of function calls and responses", id="count"),
        pytest.param("pairing", [ASK, said(tc("a" * 9)), tool("b" * 9)], "Unexpected tool call id in tool results", id="unknown"),
        pytest.param("order", [ASK, said(tc("a" * 9)), tool("a" * 9), ASK], "Unexpected role 'user' after role 'tool'", id="user-after-tool"),
        pytest.param("order", [ASK, tool("a" * 9)], "Unexpected role 'tool' after role 'user'", id="orphan"),
        pytest.param("order", [said(content="x"), ASK], "Expected first role to be one of", id="first"),
        pytest.param("content", [ASK, said(), ASK], "Assistant message must have either content or tool_calls", id="empty"),
        pytest.param("last", [ASK, said(content="x")], "Expected last role User or Tool (or Assistant with prefix True)", id="last"),
        pytest.param("name", [ASK, said(tc("a" * 9, name="a.b")), tool("a" * 9)], "Function name was a.b but must be", id="name"),
    ],
)  # fmt: skip
def test_mistral_refuses_a_breach_in_its_own_words(mistral, rule, messages, words):
    """A breach is a 400 with Mistral's flat error body."""
    response = post(mistral, messages)
    body = response.json()
    assert response.status_code == 400
    assert body["object"] == "error"
    assert words in body["message"]
    assert rule in {p.split()[0] for p in mistral.rejections[-1].problems}


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([ASK, said(tc("a" * 9)), tool("a" * 9)], id="round"),
        pytest.param([ASK, said(content="x") | {"prefix": True}], id="prefix"),
        pytest.param([ASK, said(tc("a1B2c3D4e")), tool("a1B2c3D4e"), said(content="x"), ASK], id="talk"),
    ],
)  # fmt: skip
def test_mistral_lets_a_near_miss_pass(mistral, messages):
    """What only looks like a breach gets a reply."""
    assert post(mistral, messages).status_code == 200
    assert mistral.requests[-1].problems == []


def test_the_newer_mistral_takes_a_user_after_a_tool():
    """The order of the newer validators is the default."""
    messages = [ASK, said(tc("a" * 9)), tool("a" * 9), ASK]
    with StrictMistral() as server:
        assert post(server, messages).status_code == 200


def test_a_stream_sends_arguments_in_pieces():
    """A call comes head first, then its arguments by index; usage and [DONE] end it."""
    reply = ["Hm.", call("look", {"n": 1, "city": "Oslo"}, id="call_a", pieces=3)]
    with StrictOpenAI([reply]) as server:
        body = post(server, [ASK], stream=True, stream_options={"include_usage": True})
    *lines, done = [line[6:] for line in body.text.split("\n\n") if line]
    assert done == "[DONE]"
    chunks = [json.loads(line) for line in lines]
    assert chunks[-1]["usage"]["total_tokens"] > 0
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert calls[0]["id"] == "call_a"
    assert len(calls) == 4
    arguments = "".join(piece["function"]["arguments"] for piece in calls)
    assert json.loads(arguments) == {"n": 1, "city": "Oslo"}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_failure_has_openais_body():
    """A scripted failure is an error of the provider with its status."""
    with StrictOpenAI([failure(429, "Slow down.")]) as server:
        response = post(server, [ASK])
    assert response.status_code == 429
    assert response.json()["error"]["type"] == "rate_limit_error"


@both
@pytest.mark.parametrize("emulator", [StrictOpenAI, StrictMistral])
async def test_an_adk_run_over_litellm_finishes_clean(emulator, stream):
    """An agent on the real LiteLlm with sound ids breaks no rule."""
    model = RandomModel(11, {"look": {"city": "str"}}, id_pool=None)
    with emulator(model) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        runner = guarded(agent, guard=False)
        for turn in range(4):
            await say(runner, f"turn {turn}", stream=stream)
        assert server.problems == []
        assert len(model.calls) > 4
        made = [issued.n for issued in model.calls]
        assert server.answers().misplaced(answered=made) == []


async def test_ids_that_repeat_end_an_unguarded_run():
    """What LiteLlm makes of calls without ids is refused in the second turn."""
    model = RandomModel(11, ["look"], id_pool=None, call_rate=1)
    with StrictOpenAI(model, assign_ids=False) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        runner = guarded(agent, guard=False)
        with pytest.raises(Exception, match="Duplicate value for 'tool_call_id'"):
            await talk(runner)
        assert {p.split()[1] for p in server.problems} == {"unique"}
