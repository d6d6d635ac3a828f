# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Further scenarios of rows 2 to 8: what is seldom used, and seldom tested."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import aclosing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.agents.context_cache_config import ContextCacheConfig
from google.adk.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from google.adk.events import Event, EventActions
from google.adk.models import LlmResponse
from google.adk.models.google_llm import Gemini
from google.adk.tools import ToolContext  # noqa: TC002 - ADK reads the annotation
from google.genai import types

from adk_history_guard.testing import StrictGemini
from tests.agents import Scripted, final, partial, poison, say
from tests.builders import call, event, events, response, user
from tests.conformance.runs import JOB, calls, look
from tests.conformance.stage import expect, judged, must, scenario, talk
from tests.judge import written

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.conformance.stage import Stage

CREDENTIAL = "adk_request_credential"


@scenario(2, "A job answered with the id of a partial event, after a restart")
async def partial_id_after_a_restart(stage: Stage) -> list[str]:
    said = [partial(call("job", n=1)), final(call("job", n=1))]
    llm = Scripted(replies=[said, "started", [call("job", n=2)], "started"])
    shown = []
    for message in ("go", "again"):
        runner = stage.runner(llm, tools=[JOB], service=stage.database())
        made = await say(runner, message, stream=True)
        shown.append(next(c for e in made for c in e.get_function_calls()).id)
    for n in (2, 1):
        runner = stage.runner(llm, tools=[JOB], service=stage.database())
        await say(runner, user(response("job", id=shown[n - 1], n=n)), stream=True)
    await say(runner, "go on")
    return judged(llm, [1, 2])


KEY = AuthConfig(
    auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "key"}),
    raw_auth_credential=AuthCredential(
        auth_type=AuthCredentialTypes.API_KEY, api_key="asked for"
    ),
)


def locked(n: int, tool_context: ToolContext) -> dict[str, Any] | None:
    """Look something up that needs a key."""
    if tool_context.get_auth_response(KEY) is None:
        tool_context.request_credential(KEY)
        return None
    return {"n": n}


@scenario(3, "A credential request, answered after a restart; the id comes again")
async def credential_given(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("locked", id="c", n=1)], "hm"])
    runner = stage.runner(llm, tools=[locked], service=stage.database())
    asked = [c for c in calls(await say(runner, "go")) if c.name == CREDENTIAL]
    if len(asked) != 1:
        return [f"{len(asked)} requests of a credential"]
    given = AuthConfig.model_validate(asked[0].args["authConfig"])
    given.exchanged_auth_credential = KEY.raw_auth_credential
    body = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    llm = Scripted(replies=["thanks", [call("locked", id="c", n=2)], "done"])
    runner = stage.runner(llm, tools=[locked], service=stage.database())
    await say(runner, user(response(CREDENTIAL, id=asked[0].id, **body)))
    await talk(runner, "again", "go on")
    told = [n for n in (1, 2) if f'"response": {{"n": {n}}}' in written(llm.seen[-1])]
    return judged(llm) + must(1 in told, "the answer n=1 reached the model")


@scenario(3, "`adk_request_input` after a restart, other ids repeat", needs="workflows")
async def input_after_a_restart(stage: Stage) -> list[str]:
    workflow = importlib.import_module("google.adk.workflow")
    got: list[Any] = []

    class Ask(workflow.BaseNode):
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            if "a" in ctx.resume_inputs:
                got.append(ctx.resume_inputs["a"])
                return
            asked = types.FunctionCall(name="adk_request_input", id="a", args={})
            yield Event(
                content=types.Content(
                    role="model", parts=[types.Part(function_call=asked)]
                ),
                long_running_tool_ids={"a"},
            )

    llm = Scripted(replies=[[call("look", id="c", n=1)], "x"] * 2)
    for message in ("go", user(response("adk_request_input", id="a", n=1))):
        first = LlmAgent(name="first", model=llm, tools=[look])
        flow = workflow.Workflow(
            name="f", edges=[(workflow.START, first), (first, Ask(name="n"))]
        )
        runner = stage.runner(llm, agent=flow, service=stage.database())
        await say(runner, message)
    return expect([{"n": 1}], got, "what the node was told") + judged(llm)


@scenario(4, "Context caching: one prefix, one fingerprint, with a repaired history")
async def cached_prefix(stage: Stage) -> list[str]:
    config = ContextCacheConfig(min_tokens=10**6, ttl_seconds=60, cache_intervals=10)
    with StrictGemini(["one", "two", "three"]) as server:
        runner = stage.runner(server.model(), app={"context_cache_config": config})
        history = events(
            event("user", "go"),
            event("root", call("look", id="c", n=1)),
            event("root", response("look", id="c", n=1)),
            event("root", "ok"),
            event("user", "again"),
            event("root", call("look", id="c", n=2)),
            event("user", "hm"),
            event("root", "ok"),
        )
        await poison(runner, history)
        prints = []
        for words in ("go on", "and on", "and on"):
            made = await say(runner, words)
            prints += [e.cache_metadata.fingerprint for e in made if e.cache_metadata]
        sent = [r.contents for r in server.requests if r.status == 200]
        found = must(prints, "ADK counted the prefix")
        for n, (before, after) in enumerate(pairwise(sent), 1):
            found += expect(before, after[: len(before)], f"the prefix of request {n}")
        return server.problems + found


@scenario(4, "A run that is ended through `abort_signal`", needs="abort signals")
async def abort_signal(stage: Stage) -> list[str]:
    signal = asyncio.Event()

    async def slow(n: int) -> dict[str, Any]:
        """Never comes back by itself."""
        signal.set()
        await asyncio.sleep(3600)
        return {"n": n}

    llm = Scripted(replies=[[call("slow", id="c", n=1), call("look", id="d", n=2)]])
    runner = stage.runner(llm, tools=[slow, look])
    await runner.session_service.create_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    run = runner.run_async(
        user_id="u", session_id="s", new_message=user("go"), abort_signal=signal
    )
    async with aclosing(run):
        async for _ in run:
            pass
    await talk(runner, "go on", "and on")
    return judged(llm)


@scenario(5, "Turns of another agent come as text, its ids are those of the reader")
async def quoted_turns(stage: Stage) -> list[str]:
    def both(n: int) -> list[Any]:
        return [call("look", id="c", n=n), call("look", id="c", n=n + 1)]

    made = [
        LlmAgent(
            name=name,
            model=Scripted(replies=[both(n)]),
            tools=[look],
        )
        for n, name in ((1, "a"), (3, "b"))
    ]
    root = SequentialAgent(name="root", sub_agents=made)
    await talk(stage.runner(Scripted(), agent=root), "go", "again", "go on")
    first, second = (agent.model for agent in made)
    quoted = "For context:" in written(second.seen[0])
    return (
        judged(first, [1, 2])
        + judged(second, [3, 4])
        + must(quoted, "the other agent's turns are quoted")
    )


class Interactions(Gemini):
    """The real class with the Interactions API on, and no server behind it."""

    use_interactions_api: bool = True

    async def generate_content_async(
        self,
        llm_request: Any,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Call once under an id of the server, then be done."""
        SENT.append(llm_request)
        answered = any(p.function_response for p in llm_request.contents[-1].parts)
        said = types.Part(text="done") if answered else call("look", id="server", n=1)
        yield LlmResponse(
            content=types.Content(role="model", parts=[said]), interaction_id="i-1"
        )


SENT: list[Any] = []


@scenario(7, "The Interactions API, two runs: server ids on both sides")
async def interactions_twice(stage: Stage) -> list[str]:
    SENT.clear()
    runner = stage.runner(Interactions(model="gemini-3.5-flash"), tools=[look])
    made = await talk(runner, "go", "again")
    said = [
        p.function_response.id
        for request in SENT
        for p in request.contents[-1].parts
        if p.function_response
    ]
    chained = [r.previous_interaction_id for r in SENT[1:]]
    return (
        expect(["server"] * 2, [c.id for c in calls(made)], "ids of calls")
        + expect(["server"] * 2, said, "ids of responses")
        + expect(["i-1"] * 3, chained, "the chain of interactions")
    )


@scenario(7, "A history with a live session's calls, one without its response")
async def broken_off_live(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("look", id="c", n=3)]])
    runner = stage.runner(llm, tools=[look])
    live = (
        {"live_session_id": "live"} if "live_session_id" in Event.model_fields else {}
    )
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=1), **live),
        event("root", response("look", id="c", n=1)),
        event("root", call("look", id="d", n=2), **live),
    )
    await poison(runner, history)
    await talk(runner, "go on", "and on")
    return judged(llm)


@scenario(8, "Transcriptions between a call and its response")
async def transcriptions(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    heard = Event(
        author="user",
        invocation_id="earlier",
        input_transcription=types.Transcription(text="hello", finished=True),
    )
    told = Event(
        author="root",
        invocation_id="earlier",
        output_transcription=types.Transcription(text="a moment", finished=True),
    )
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=1)),
        heard,
        told,
        event("root", response("look", id="c", n=1)),
        event("root", "ok"),
        event("user", "again"),
        event("root", call("look", id="c", n=2)),
        event("root", response("look", id="c", n=2)),
    )
    await poison(runner, history)
    await say(runner, "go on")
    return judged(llm, [1, 2])


@scenario(8, "Events of artifacts between a call and its response")
async def artifacts(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    saved = Event(
        author="root",
        invocation_id="earlier",
        actions=EventActions(artifact_delta={"a.png": 0}),
    )
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=1), call("look", id="c", n=2)),
        saved,
        event("root", response("look", id="c", n=1)),
        event("root", response("look", id="c", n=2)),
        event("root", "ok"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    return judged(llm, [1, 2])


@scenario(8, "Calls of server-side tools beside a client's call under one id")
async def server_side_tools(stage: Stage) -> list[str]:
    asked = types.Part(tool_call=types.ToolCall(id="c", args={"q": "x"}))
    told = types.Part(tool_response=types.ToolResponse(id="c", response={"r": "y"}))
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    history = events(
        event("user", "go"),
        event("root", asked, told, call("look", id="c", n=1)),
        event("root", response("look", id="c", n=1)),
        event("root", "ok"),
        event("user", "again"),
        event("root", call("look", id="c", n=2)),
        event("root", response("look", id="c", n=2)),
        event("root", "ok"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    sent = [p for content in llm.seen[-1] for p in content.parts]
    kept = [p.tool_call.id for p in sent if p.tool_call]
    kept += [p.tool_response.id for p in sent if p.tool_response]
    return expect(["c", "c"], kept, "ids of the server's tool") + judged(llm, [1, 2])
