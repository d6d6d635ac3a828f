# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What a guard must not do to ADK: one test for each way in which one could.

ADK's own unit tests, run with guards of several kinds in every Runner, broke in
nine ways (rows 1 to 9), fell into some more traps, and left some faults
unnoticed. Each has a test here, on every ADK version that has the feature.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent, ParallelAgent
from google.adk.apps.app import ResumabilityConfig
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

from adk_history_guard import HistoryGuardPlugin
from tests.agents import Scripted, final, make_runner, partial, poison, say, stored
from tests.builders import (
    call,
    calls_of,
    dumped,
    event,
    events,
    model,
    response,
    responses_of,
    text,
    user,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

RESUMABLE = {"resumability_config": ResumabilityConfig(is_resumable=True)}
CONFIRMATION = "adk_request_confirmation"
PLACEHOLDER_SIGNATURE = b"skip_thought_signature_validator"


def look(n: int) -> dict[str, Any]:
    """Look something up."""
    return {"n": n}


def job(n: int) -> dict[str, Any]:
    """Start something that takes long."""
    return {"status": "pending"}


class Watch(BasePlugin):
    """Keeps what its callbacks are shown, and changes nothing."""

    def __init__(self, name: str = "watch") -> None:
        super().__init__(name=name)
        self.sessions: list[list[Event]] = []
        self.requests: list[list[types.Content]] = []
        self.events: list[Event] = []
        self.callbacks: list[str] = []

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Keep the events of the session as the run sees them."""
        self.callbacks.append("before_run")
        self.sessions.append(list(invocation_context.session.events))

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> None:
        """Keep the very contents of the request."""
        self.callbacks.append("before_model")
        self.requests.append(list(llm_request.contents))

    async def after_model_callback(
        self, *, callback_context: Any, llm_response: Any
    ) -> None:
        """Note the callback."""
        self.callbacks.append("after_model")

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        """Keep the event."""
        self.callbacks.append("on_event")
        self.events.append(event)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Note the callback."""
        self.callbacks.append("after_run")


class Asking(BaseAgent):
    """An agent without a model that asks the client, each time under one id.

    It stands for the nodes of workflows, which choose their ids, in versions
    that have none.
    """

    question: str = "approve"
    long_running: bool = True

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Event, None]:
        asked = types.FunctionCall(name=self.question, id="ask-1", args={})
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            branch=ctx.branch,
            content=model(types.Part(function_call=asked)),
            long_running_tool_ids={"ask-1"} if self.long_running else None,
        )


def answered(*found: Event) -> list[tuple[str | None, Any]]:
    """Return id and body of every response in events."""
    return [(r.id, r.response) for e in found for r in e.get_function_responses()]


# Row 1


async def test_a_model_that_demands_no_signature_gets_none():
    """Row 1: an unsigned call of a model of any name is sent as it came."""
    llm = Scripted(model="mock", replies=[[call("look", n=1)]])

    await say(make_runner(llm, tools=[look]), "go")

    assert dumped(llm.seen[1]) == [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [{"function_call": {"name": "look", "args": {"n": 1}}}],
        },
        {
            "role": "user",
            "parts": [{"function_response": {"name": "look", "response": {"n": 1}}}],
        },
    ]


async def test_a_model_that_demands_a_signature_gets_one():
    """Row 1, the near miss: Gemini 3 is known to demand it."""
    llm = Scripted(model="gemini-3.5-flash", replies=[[call("look", n=1)]])

    await say(make_runner(llm, tools=[look]), "go")

    (part,) = llm.seen[1][1].parts
    assert part.thought_signature == PLACEHOLDER_SIGNATURE


# Row 2


@pytest.mark.parametrize("given", [None, "call_1"])
async def test_the_models_own_parts_stay_as_they_were(given):
    """Row 2: a script or a cache that hands out its objects finds them unchanged."""
    said = final(call("look", id=given, n=1))
    part = said.content.parts[0]
    llm = Scripted(replies=[said])

    made = await say(make_runner(llm, tools=[look]), "go")

    assert part.function_call.id == given
    assert calls_of([made[0].content])[0].id.startswith("adk-")


# Row 3


def wires(*, scripted: bool) -> tuple[ParallelAgent, list[int]]:
    """Two parallel agents whose one call, under one id, must be confirmed."""
    ran: list[int] = []

    def wire(n: int) -> dict[str, Any]:
        """Wire money."""
        ran.append(n)
        return {"sent": n}

    def agent(name: str, n: int) -> LlmAgent:
        said = [[call("wire", id="call_1", n=n)]] if scripted else []
        tool = FunctionTool(wire, require_confirmation=True)
        llm = Scripted(model="mock", replies=said)
        return LlmAgent(name=name, model=llm, tools=[tool])

    both = [agent("left", 1), agent("right", 2)]
    return ParallelAgent(name="root", sub_agents=both), ran


@pytest.mark.parametrize("before", [None, "plugin"])
async def test_parallel_agents_confirm_their_calls_under_one_id(before):
    """Row 3: each confirmation names its call; both still run after a restart."""
    service = InMemorySessionService()
    agent, _ = wires(scripted=True)
    runner = make_runner(
        agent.sub_agents[0].model,
        agent=agent,
        door=before,
        service=service,
        app=RESUMABLE,
    )
    asked = [e for e in await say(runner, "go") if e.get_function_calls()]
    asked = [e for e in asked if e.get_function_calls()[0].name == CONFIRMATION]

    agent, ran = wires(scripted=False)
    runner = make_runner(Scripted(), agent=agent, service=service, app=RESUMABLE)
    for question in asked:
        (said,) = question.get_function_calls()
        run = runner.run_async(
            user_id="u",
            session_id="s",
            invocation_id=question.invocation_id,
            new_message=user(response(CONFIRMATION, id=said.id, confirmed=True)),
        )
        assert [e async for e in run]

    assert sorted(ran) == [1, 2]


# Row 4


@pytest.mark.parametrize(
    ("question", "long_running"),
    [("adk_request_input", True), ("adk_request_input", False), ("approve", True)],
)
async def test_a_question_asked_again_keeps_its_id(question, long_running):
    """Row 4: a node may ask again under its id, and clients answer that id."""
    agent = Asking(name="root", question=question, long_running=long_running)
    watch = Watch()
    runner = make_runner(Scripted(), agent=agent, plugins=[watch])

    asked = []
    for message in ("go", user(response(question, id="ask-1", ok=True)), "again"):
        made = await say(runner, message)
        asked += [c.id for e in made for c in e.get_function_calls()]

    assert asked == ["ask-1", "ask-1", "ask-1"]
    seen = [c.id for e in watch.sessions[-1] for c in e.get_function_calls()]
    assert seen == ["ask-1", "ask-1"]
    assert answered(*await stored(runner)) == [("ask-1", {"ok": True})]


async def test_a_workflow_node_is_resumed_under_the_id_that_it_asks_again():
    """Row 4: the second answer under one interrupt id reaches the node."""
    workflow = pytest.importorskip("google.adk.workflow", reason="ADK 1.x has none")
    got: list[Any] = []

    class Twice(workflow.BaseNode):
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            if "ask-1" in ctx.resume_inputs:
                got.append(ctx.resume_inputs["ask-1"])
            if len(got) == 2:
                yield "done"
                return
            asked = types.FunctionCall(name="approve", id="ask-1", args={})
            yield Event(
                content=model(types.Part(function_call=asked)),
                long_running_tool_ids={"ask-1"},
            )

    edges = [(workflow.START, Twice(name="twice"))]
    agent = workflow.Workflow(name="flow", edges=edges)
    runner = make_runner(Scripted(), agent=agent)

    await say(runner, "go")
    for n in (1, 2):
        await say(runner, user(response("approve", id="ask-1", n=n)))

    assert got == [{"n": 1}, {"n": 2}]
