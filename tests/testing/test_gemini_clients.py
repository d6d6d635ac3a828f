# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The real clients on the Gemini emulator: google-genai, and ADK's Gemini."""

from __future__ import annotations

import asyncio
import copy

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.models.google_llm import Gemini
from google.genai import errors, types

from adk_history_guard.testing import (
    RandomModel,
    StrictGemini,
    call,
    guarded,
    say,
    text,
)

MODEL = "gemini-3.5-flash"
both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
backends = pytest.mark.parametrize("vertex", [False, True], ids=["api", "vertex"])


def look(n: int, city: str = "") -> dict:
    """Look around."""
    return {"n": n, "city": city}


def agent(model):
    """An agent with one tool."""
    return LlmAgent(name="root", model=model, tools=[look])


@backends
def test_the_genai_client_gets_a_reply(vertex):
    """A whole reply has parts, usage and the model's version."""
    reply = ["Hm.", call("look", {"n": 1}, id="call_1")]
    with StrictGemini([reply]) as server:
        client = server.client(vertex=vertex)
        response = client.models.generate_content(model=MODEL, contents="go")
    said, made = response.candidates[0].content.parts
    assert said.text == "Hm."
    assert made.function_call.id == "call_1"
    assert made.thought_signature
    assert response.model_version == MODEL
    assert response.usage_metadata.total_token_count > 0
    assert server.requests[0].path.startswith(
        "/v1beta1/publishers/" if vertex else "/v1beta/models/"
    )


@backends
async def test_the_genai_client_streams(vertex):
    """Text comes in pieces; a call comes head first, then its arguments in pieces."""
    args = {"n": 1, "city": "Reykjavik", "at": [{"x": 1.5, "ok": True, "no": None}]}
    reply = [text("one two three"), call("look", args, id="call_1", pieces=3)]
    with StrictGemini([reply]) as server:
        stream = await server.client(vertex=vertex).aio.models.generate_content_stream(
            model=MODEL, contents="go"
        )
        chunks = [chunk async for chunk in stream]
    parts = [chunk.candidates[0].content.parts[0] for chunk in chunks]
    words = [part.text for part in parts if part.text]
    assert len(words) == 3
    assert "".join(words) == "one two three"
    head, *rest = [part for part in parts if part.function_call]
    assert (head.function_call.name, head.function_call.id) == ("look", "call_1")
    assert head.thought_signature
    assert head.function_call.will_continue
    assert all(part.function_call.name is None for part in rest)
    assert [part.function_call.will_continue for part in rest][-1] is None
    partials = [piece for part in rest for piece in part.function_call.partial_args]
    paths = [piece.json_path for piece in partials]
    assert paths == ["$.n", *["$.city"] * 3, "$.at[0].x", "$.at[0].ok", "$.at[0].no"]
    assert "".join(p.string_value for p in partials if p.string_value) == "Reykjavik"
    reasons = [chunk.candidates[0].finish_reason for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + [types.FinishReason.STOP]


async def test_a_stream_may_close_arguments_with_an_empty_call():
    """With closing='empty', the last chunk of a call holds nothing."""
    reply = [call("look", {"n": 1}, id="a", pieces=1, echo_id=True)]
    with StrictGemini([reply], closing="empty") as server:
        client = server.client(vertex=True)
        stream = await client.aio.models.generate_content_stream(
            model=MODEL, contents="go"
        )
        calls = [
            chunk.candidates[0].content.parts[0].function_call async for chunk in stream
        ]
    assert [(c.id, c.will_continue) for c in calls] == [
        ("a", True),
        ("a", True),
        (None, None),
    ]


async def test_a_signature_ends_a_streamed_text():
    """The signature of a text comes last, in a part without words."""
    with StrictGemini([text("one two", signature=True)]) as server:
        stream = await server.client().aio.models.generate_content_stream(
            model=MODEL, contents="go"
        )
        parts = [chunk.candidates[0].content.parts[0] async for chunk in stream]
    assert [bool(part.thought_signature) for part in parts] == [False] * 3 + [True]
    assert parts[-1].text == ""


@both
def test_the_genai_client_raises_the_apis_error(stream):
    """A breach is a ClientError with the API's status and message."""
    contents = [types.Content(role="model", parts=[types.Part(text="x")])]
    with StrictGemini() as server:
        models = server.client().models
        ask = models.generate_content_stream if stream else models.generate_content
        with pytest.raises(errors.ClientError, match="alternate between") as caught:
            list(ask(model=MODEL, contents=contents))
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")


def test_the_model_is_a_real_gemini():
    """The model keeps its class, its fields and a class of the caller's own."""

    class Mine(Gemini):
        flavour: str = "plain"

    with StrictGemini() as server:
        model = server.model(cls=Mine, flavour="sour")
        assert isinstance(server.model("gemini-2.5-flash"), Gemini)
        assert isinstance(model, Mine)
        assert (model.model, model.flavour) == (MODEL, "sour")
        assert type(model).__name__ == "Mine"


async def test_the_model_can_be_copied_after_use():
    """No client hides in the model, so deep copies work and talk to the same server."""
    with StrictGemini() as server:
        model = server.model()
        await say(guarded(agent(model), guard=False), "go")
        for other in (copy.deepcopy(model), model.model_copy(deep=True)):
            await say(guarded(agent(other), guard=False), "go")
        assert len(server.requests) == 3


@both
@backends
async def test_an_adk_run_finishes_clean(stream, vertex):
    """An agent on a random model with sound ids breaks no rule on any version."""
    model = RandomModel(11, {"look": {"city": "str"}}, id_pool="unique")
    with StrictGemini(model, signatures="history") as server:
        runner = guarded(agent(server.model(vertex=vertex)), guard=False)
        for turn in range(5):
            await say(runner, f"turn {turn}", stream=stream)
        assert server.problems == []
        made = [issued.n for issued in model.calls]
        assert len(made) > 5
        assert server.answers().misplaced(answered=made) == []


def test_one_model_serves_several_event_loops():
    """Nothing of a run is left in the model that the next event loop trips over."""
    with StrictGemini() as server:
        runner = guarded(agent(server.model()), guard=False)
        for _ in range(3):
            (event,) = asyncio.run(say(runner, "go"))
            assert event.content.parts[0].text == "done"


async def poisoned(model):
    """A runner whose session holds a response under another name than its call's."""
    made = types.FunctionCall(id="call_1", name="look", args={"n": 1})
    given = types.FunctionResponse(id="call_1", name="see", response={"n": 1})
    turns = [
        ("user", "user", types.Part(text="go")),
        ("root", "model", types.Part(function_call=made)),
        ("root", "user", types.Part(function_response=given)),
        ("root", "model", types.Part(text="done")),
    ]
    runner = guarded(agent(model), guard=False)
    session = await runner.session_service.create_session(
        app_name=runner.app_name, user_id="user", session_id="session"
    )
    for author, role, part in turns:
        content = types.Content(role=role, parts=[part])
        event = Event(author=author, invocation_id="first", content=content)
        await runner.session_service.append_event(session, event)
    return runner


async def test_an_adk_run_meets_the_400():
    """A broken history ends the unguarded run with the API's own error."""
    with StrictGemini() as server:
        runner = await poisoned(server.model())
        with pytest.raises(errors.ClientError, match="contains an invalid argument"):
            await say(runner, "and now?")
        assert [p.split()[1] for p in server.problems] == ["G7"]


async def test_the_silent_reply_reaches_adk():
    """With on_breach='empty' the run ends with no word and no error."""
    with StrictGemini(on_breach="empty") as server:
        events = await say(await poisoned(server.model()), "and now?")
        assert not any(e.content and e.content.parts for e in events)
        assert len(server.rejections) == 1
