# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - one case a line
"""The Anthropic emulator: rules, and ADK's AnthropicLlm."""

from __future__ import annotations

import httpx
import pytest
from google.adk.agents import LlmAgent
from google.adk.models.anthropic_llm import AnthropicLlm

from adk_history_guard.testing import (
    RandomModel,
    StrictAnthropic,
    call,
    failure,
    guarded,
    say,
)

pytestmark = pytest.mark.once

ASK = {"role": "user", "content": "go"}
UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after"


def use(id_="toolu_1", name="look", inputs=None):
    """A tool_use block."""
    inputs = {"n": 1} if inputs is None else inputs
    return {"type": "tool_use", "id": id_, "name": name, "input": inputs}


def result(id_="toolu_1"):
    """A tool_result block."""
    return {"type": "tool_result", "tool_use_id": id_, "content": '{"n": 1}'}


def words(text="hm"):
    """A text block."""
    return {"type": "text", "text": text}


def model(*blocks):
    """A message of the assistant."""
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks):
    """A message of the user."""
    return {"role": "user", "content": list(blocks)}


def post(server, messages, **body):
    """Send messages."""
    body = {"model": "claude-x", "max_tokens": 9, "messages": messages, **body}
    return httpx.post(f"{server.url}/v1/messages", json=body)


def look(n: int, city: str = "") -> dict:
    """Look around."""
    return {"n": n, "city": city}


async def talk(runner):
    """Say a few things to a runner."""
    for turn in range(4):
        await say(runner, f"turn {turn}")


@pytest.fixture(scope="module")
def server():
    """One server for all cases: they do not meet."""
    with StrictAnthropic() as server:
        yield server


@pytest.mark.parametrize(
    ("rule", "messages", "text"),
    [
        pytest.param("messages", [], "at least one message is required", id="empty"),
        pytest.param("role", [{"role": "tool", "content": "x"}], "messages.0.role: Input should be 'user' or 'assistant'", id="role"),
        pytest.param("content", [user(), ASK], "messages.0: all messages must have non-empty content", id="no-content"),
        pytest.param("text", [user(words(""))], "text content blocks must be non-empty", id="empty-text"),
        pytest.param("first", [model(words()), ASK], 'first message must use the "user" role', id="first"),
        pytest.param("whitespace", [ASK, model(words("x "))], "final assistant content cannot end with trailing whitespace", id="whitespace"),
        pytest.param("adjacency", [ASK, model(use()), ASK], f"messages.1: {UNANSWERED}: toolu_1. Each `tool_use` block must have", id="unanswered"),
        pytest.param("adjacency", [ASK, model(use())], UNANSWERED, id="last"),
        pytest.param("adjacency", [ASK, model(use(), use("b")), user(result())], f"{UNANSWERED}: b", id="half-answered"),
        pytest.param("adjacency", [ASK, model(use(), use("b")), user(result()), user(result("b"))], f"{UNANSWERED}: b", id="two-messages"),
        pytest.param("adjacency", [ASK, model(use()), user(words(), result())], UNANSWERED, id="text-first"),
        pytest.param("orphan", [ASK, user(result())], "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each", id="orphan"),
        pytest.param("orphan", [ASK, model(use()), user(result(), result("z"))], "blocks: z.", id="unknown"),
        pytest.param("double", [ASK, model(use()), user(result(), result())], "messages.2.content.1: each tool_use must have a single result. Found multiple", id="double"),
        pytest.param("unique", [ASK, model(use()), user(result()), model(use()), user(result())], "messages.3.content.0: `tool_use` ids must be unique", id="repeats"),
        pytest.param("format", [ASK, model(use("a.b")), user(result("a.b"))], "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", id="id"),
        pytest.param("format", [ASK, model(use(None)), user(result(None))], "tool_use.id: Input should be a valid string", id="no-id"),
        pytest.param("format", [ASK, model(use(name="a b")), user(result())], "tool_use.name: String should match pattern", id="name"),
        pytest.param("input", [ASK, model(use(inputs="x")), user(result())], "tool_use.input: Input should be a valid dictionary", id="input"),
        pytest.param("role", [user(use()), user(result())], "`tool_use` blocks can only be in `assistant` messages", id="use-of-the-user"),
        pytest.param("role", [ASK, model(result()), ASK], "`tool_result` blocks can only be in `user` messages", id="result-of-the-assistant"),
    ],
)  # fmt: skip
def test_a_breach_is_refused_in_anthropics_words(server, rule, messages, text):
    """A breach is a 400 of the type invalid_request_error with Anthropic's text."""
    response = post(server, messages)
    body = response.json()
    assert response.status_code == 400
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    assert text in body["error"]["message"]
    assert rule in {p.split()[0] for p in server.rejections[-1].problems}


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([ASK, model(words(), use()), user(result())], id="round"),
        pytest.param([ASK, model(use()), user(result(), words())], id="text-behind"),
        pytest.param([ASK, model(use(), use("b")), user(result("b"), result())], id="order"),
        pytest.param([ASK, ASK, model(words()), model(words()), ASK], id="same-roles"),
        pytest.param([ASK, model(words("x"))], id="prefill"),
        pytest.param([ASK, model()], id="empty-last-assistant"),
        pytest.param([ASK, model(use()), user(result()), model(use("b")), user(result("b"))], id="steps"),
    ],
)  # fmt: skip
def test_a_near_miss_passes(server, messages):
    """What only looks like a breach gets a reply."""
    response = post(server, messages)
    assert server.requests[-1].problems == []
    assert response.json()["content"] == [words("done")]


def test_a_failure_has_anthropics_body():
    """A scripted failure is an error of the provider with its own type."""
    with StrictAnthropic([failure(529, "Overloaded")]) as server:
        response = post(server, [ASK])
    assert response.status_code == 529
    assert response.json()["error"]["type"] == "overloaded_error"


async def test_the_anthropic_client_streams():
    """The real client puts text and input together again."""
    reply = ["one two", call("look", {"n": 1, "city": "Oslo"}, pieces=3)]
    with StrictAnthropic([reply]) as server:
        client = server.client()
        async with client.messages.stream(
            model="claude-x", max_tokens=9, messages=[ASK]
        ) as stream:
            message = await stream.get_final_message()
        await client.close()
    said, made = message.content
    assert said.text == "one two"
    assert made.input == {"n": 1, "city": "Oslo"}
    assert made.id.startswith("toolu_")
    assert message.stop_reason == "tool_use"


def test_the_model_is_a_real_anthropic_llm():
    """The model keeps its class, and a class of the caller's own."""

    class Mine(AnthropicLlm):
        pass

    with StrictAnthropic() as server:
        assert isinstance(server.model(), AnthropicLlm)
        assert isinstance(server.model(cls=Mine, max_tokens=5), Mine)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_an_adk_run_finishes_clean(stream):
    """An agent on the real AnthropicLlm with sound ids breaks no rule."""
    model = RandomModel(11, {"look": {"city": "str"}}, id_pool=None)
    with StrictAnthropic(model) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        runner = guarded(agent, guard=False)
        for turn in range(4):
            await say(runner, f"turn {turn}", stream=stream)
        assert server.problems == []
        made = [issued.n for issued in model.calls]
        assert len(made) > 4
        assert server.answers().misplaced(answered=made) == []


async def test_ids_that_repeat_end_an_unguarded_run():
    """Ids from a small pool are refused as soon as one comes again."""
    with StrictAnthropic(RandomModel(11, ["look"], id_pool=4, call_rate=1)) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        runner = guarded(agent, guard=False)
        with pytest.raises(Exception, match="ids must be unique"):
            await talk(runner)
        assert "unique" in {p.split()[1] for p in server.problems}
