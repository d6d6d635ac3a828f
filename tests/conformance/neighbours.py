# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of other plugins (row 6), of live runs (7) and other parts (8)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from google.adk import plugins
from google.adk.agents import LiveRequestQueue, LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event, EventActions
from google.adk.models import LlmResponse
from google.adk.models.base_llm_connection import BaseLlmConnection
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.debug_logging_plugin import DebugLoggingPlugin
from google.adk.plugins.multimodal_tool_results_plugin import (
    MultimodalToolResultsPlugin,
)
from google.adk.plugins.reflect_retry_tool_plugin import ReflectAndRetryToolPlugin
from google.genai import types

from tests.agents import Scripted, poison, say, stored
from tests.builders import call, event, events, media, model, response, text
from tests.conformance.runs import calls, look
from tests.conformance.stage import expect, judged, must, scenario, talk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.conformance.stage import Stage


def repeating(runs: int = 3) -> Scripted:
    """Make a model that calls once a run, always under one id."""
    replies: list[Any] = []
    for n in range(1, runs + 1):
        replies += [[call("look", id="c", n=n)], "x"]
    return Scripted(replies=replies)


async def with_plugin(stage: Stage, plugin: Any, *, first: bool) -> list[str]:
    """Play three runs beside another plugin."""
    llm = repeating()
    runner = stage.runner(llm, tools=[look], plugins=[plugin])
    found = runner.plugin_manager.plugins
    if first:
        found.insert(0, found.pop())
    await talk(runner, "go", "again", "and again", "go on")
    return judged(llm)


@scenario(6, "ContextFilterPlugin before the guard, ids repeat")
async def context_filter_before(stage: Stage) -> list[str]:
    plugin = ContextFilterPlugin(num_invocations_to_keep=2)
    return await with_plugin(stage, plugin, first=True)


@scenario(6, "ContextFilterPlugin after the guard, ids repeat")
async def context_filter_after(stage: Stage) -> list[str]:
    plugin = ContextFilterPlugin(num_invocations_to_keep=2)
    return await with_plugin(stage, plugin, first=False)


@scenario(6, "MultimodalToolResultsPlugin: media beside the responses")
async def multimodal_results(stage: Stage) -> list[str]:
    async def draw(n: int) -> Any:
        """Draw."""
        return [text("a picture"), media()]

    llm = Scripted(replies=[[call("draw", id="c", n=1)], "x"])
    runner = stage.runner(llm, tools=[draw], plugins=[MultimodalToolResultsPlugin()])
    found = runner.plugin_manager.plugins
    found.insert(0, found.pop())  # it adds its parts in `before_model_callback`
    await say(runner, "go")
    return judged(llm)


@scenario(6, "ReflectAndRetryToolPlugin, with a tool that fails under one id")
async def reflect_and_retry(stage: Stage) -> list[str]:
    def look(n: int) -> dict[str, Any]:
        """Fail at first."""
        if n == 1:
            message = "not yet"
            raise ValueError(message)
        return {"n": n}

    llm = Scripted(replies=[[call("look", id="c", n=1)], [call("look", id="c", n=2)]])
    plugin = ReflectAndRetryToolPlugin()
    await talk(stage.runner(llm, tools=[look], plugins=[plugin]), "go", "go on")
    return judged(llm)


@scenario(6, "ToolCallIntegrityPlugin before the guard, ids repeat", needs="stamps")
async def stamps_before(stage: Stage) -> list[str]:
    plugin = plugins.ToolCallIntegrityPlugin(b"key")
    return await with_plugin(stage, plugin, first=True)


@scenario(6, "ToolCallIntegrityPlugin after the guard, ids repeat", needs="stamps")
async def stamps_after(stage: Stage) -> list[str]:
    plugin = plugins.ToolCallIntegrityPlugin(b"key")
    return await with_plugin(stage, plugin, first=False)


@scenario(6, "DebugLoggingPlugin, ids repeat")
async def debug_logging(stage: Stage) -> list[str]:
    path = stage.folder / f"debug-{stage.guard}.yaml"
    plugin = DebugLoggingPlugin(output_path=str(path))
    return await with_plugin(stage, plugin, first=False)


class Cache(plugins.BasePlugin):
    """Answers for the model, with the same object each time."""

    def __init__(self) -> None:
        super().__init__(name="cache")
        self.kept = LlmResponse(content=model(call("look", id="c", n=1)))

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> LlmResponse | None:
        """Answer a user turn from the cache."""
        parts = llm_request.contents[-1].parts
        return None if parts[-1].function_response else self.kept


@scenario(6, "A cache that answers for the model, before the guard")
async def cache_before(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look], plugins=[Cache()])
    found = runner.plugin_manager.plugins
    found.insert(0, found.pop())
    await talk(runner, "go", "again", "and again")
    ids = [c.id for e in await stored(runner) for c in e.get_function_calls()]
    return judged(llm) + expect(3, len(set(ids)), "ids of three calls")


class Rewriter(plugins.BasePlugin):
    """Returns a new response, which ends the round through the plugins."""

    async def after_model_callback(
        self, *, callback_context: Any, llm_response: Any
    ) -> LlmResponse:
        """Return a copy."""
        return llm_response.model_copy(deep=True)


@scenario(6, "A plugin that returns a new response, before the guard")
async def rewriter_before(stage: Stage) -> list[str]:
    return await with_plugin(stage, Rewriter(name="rewriter"), first=True)


class Raising(plugins.BasePlugin):
    """Raises once, in the middle of a run."""

    done = False

    async def after_tool_callback(self, **_: Any) -> None:
        """Raise the first time."""
        if not self.done:
            self.done = True
            message = "no"
            raise ValueError(message)


@scenario(6, "A plugin that ends a run between call and response")
async def raising(stage: Stage) -> list[str]:
    llm = repeating(2)
    runner = stage.runner(llm, tools=[look], plugins=[Raising(name="raising")])
    try:
        await say(runner, "go")
    except Exception:  # noqa: BLE001 - what the plugin raises, wrapped by ADK
        await talk(runner, "again", "go on")
    return judged(llm)


class Interactions(Scripted):
    """A model whose ids are the server's, as with the Interactions API."""

    use_interactions_api: bool = True


@scenario(7, "The Interactions API: ids pass untouched")
async def interactions(stage: Stage) -> list[str]:
    llm = Interactions(replies=[[call("look", id="server-1", n=1)]])
    made = await say(stage.runner(llm, tools=[look]), "go")
    return expect(["server-1"], [c.id for c in calls(made)], "the id")


class Line(BaseLlmConnection):
    """A live connection that makes one call and waits for its response."""

    def __init__(self, said: list[Any]) -> None:
        self.said = said
        self.heard = asyncio.Event()

    async def send_history(self, history: list[types.Content]) -> None:
        """Keep the history."""
        self.said.append(("history", history))

    async def send_content(self, content: types.Content) -> None:
        """Keep the content."""
        self.said.append(("content", content))
        self.heard.set()

    async def send_realtime(self, blob: Any) -> None:
        """Take no blobs."""

    async def receive(self) -> AsyncGenerator[LlmResponse, None]:
        """Call, then end the turn."""
        yield LlmResponse(content=model(call("look", id="server-1", n=1)))
        await self.heard.wait()
        yield LlmResponse(turn_complete=True)

    async def close(self) -> None:
        """Do nothing."""


class Live(Scripted):
    """A model with a live connection."""

    model: str = "gemini-live-2.5-flash"

    @asynccontextmanager
    async def connect(self, llm_request: Any) -> AsyncGenerator[Line, None]:
        """Connect."""
        yield Line(self.replies)


@scenario(7, "A live run over an older history: ids pass untouched")
async def live(stage: Stage) -> list[str]:
    llm = Live()
    runner = stage.runner(llm, tools=[look])
    history = events(
        event("user", "go"),
        event("root", call("look", id="server-1", n=0)),
        event("root", response("look", id="server-1", n=0)),
    )
    await poison(runner, history)
    queue = LiveRequestQueue()
    run = runner.run_live(
        user_id="u",
        session_id="s",
        live_request_queue=queue,
        run_config=RunConfig(response_modalities=["AUDIO"]),
    )
    made = []
    async for found in run:
        made.append(found)
        if found.get_function_responses():
            break
    queue.close()
    await run.aclose()
    ids = [c.id for e in made for c in e.get_function_calls()]
    said = [r.id for e in made for r in e.get_function_responses()]
    return expect((["server-1"], ["server-1"]), (ids, said), "the ids")


@scenario(7, "A history with turns of an earlier live run, ids repeat")
async def after_live(stage: Stage) -> list[str]:
    llm = repeating(1)
    runner = stage.runner(llm, tools=[look])
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=8)),
        event("root", response("look", id="c", n=8)),
        event("root", "Hello", live_session_resumption_update=None),
    )
    await poison(runner, history)
    await talk(runner, "go on", "and on")
    return judged(llm, [8, 1])


@scenario(8, "Code execution, thoughts and server-side parts keep their place")
async def other_parts(stage: Stage) -> list[str]:
    code = types.Part(
        executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON)
    )
    result = types.Part(
        code_execution_result=types.CodeExecutionResult(
            outcome=types.Outcome.OUTCOME_OK, output="1"
        )
    )
    thought = types.Part(text="hm", thought=True)
    llm = Scripted(replies=["x"])
    runner = stage.runner(llm, tools=[look])
    history = events(
        event("user", "go"),
        event("root", code, result, "It is 1."),
        event("user", "again"),
        event("root", thought, call("look", id="c", n=1)),
        event("root", response("look", id="c", n=1)),
        event("root", "ok"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    sent = [p for c in llm.seen[-1] for p in c.parts]
    found = expect(1, sum(p.executable_code is not None for p in sent), "code parts")
    return found + judged(llm, [1])


@scenario(8, "Empty text beside a call, empty and state-only events")
async def empty_parts(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    state = Event(
        author="root",
        invocation_id="earlier",
        actions=EventActions(state_delta={"a": 1}),
    )
    history = events(
        event("user", "go"),
        event("root", "", call("look", id="c", n=1)),
        state,
        event("root", response("look", id="c", n=1)),
        event("root"),
        event("root", "ok"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    return judged(llm, [1])


@scenario(8, "Responses with media between them")
async def media_between(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    both = [response("look", id=name, n=n) for n, name in enumerate("ab", 1)]
    history = events(
        event("user", "go"),
        event("root", call("look", id="a", n=1), call("look", id="b", n=2)),
        event("root", both[0], media(), both[1]),
        event("root", "ok"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    kept = [p for c in llm.seen[-1] for p in c.parts if p.inline_data]
    return judged(llm, [1, 2]) + expect(1, len(kept), "media parts")


@scenario(8, "A user who answers a job and talks in one message")
async def answer_and_talk(stage: Stage) -> list[str]:
    llm = Scripted()
    agent = LlmAgent(name="root", model=llm, tools=[look])
    runner = stage.runner(llm, agent=agent)
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=1), long_running=("c",)),
        event("root", response("look", id="c", status="pending")),
        event("root", "started"),
        event("user", response("look", id="c", n=1), "Here it is."),
        event("root", "thanks"),
    )
    await poison(runner, history)
    await say(runner, "go on")
    texts = [p.text for c in llm.seen[-1] for p in c.parts]
    return judged(llm, [1]) + must("Here it is." in texts, "the words are kept")
