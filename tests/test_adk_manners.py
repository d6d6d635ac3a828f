# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What a guard must not do to ADK: one test for each way in which one could.

ADK's own unit tests, run with guards of several kinds in every Runner, broke in
nine ways (rows 1 to 9), fell into some more traps, and left some faults
unnoticed. Each has a test here, on every ADK version that has the feature.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from typing import TYPE_CHECKING, Any

import pytest
from google.adk import plugins
from google.adk.agents import BaseAgent, LlmAgent, ParallelAgent
from google.adk.apps.app import ResumabilityConfig
from google.adk.events import Event
from google.adk.models import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

from adk_history_guard import HistoryGuardPlugin
from tests.agents import Scripted, final, make_runner, partial, poison, say, stored
from tests.builders import (
    PLACEHOLDER,
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

pytestmark = pytest.mark.filterwarnings(
    "ignore:(Parallel|Sequential|Loop)Agent is deprecated:DeprecationWarning"
)
HAS_WORKFLOWS = "node_info" in Event.model_fields
needs_workflows = pytest.mark.skipif(not HAS_WORKFLOWS, reason="ADK 1.x has none")
needs_stamps = pytest.mark.skipif(
    not hasattr(plugins, "ToolCallIntegrityPlugin"), reason="came with ADK 2.11"
)
RESUMABLE = {"resumability_config": ResumabilityConfig(is_resumable=True)}
CONFIRMATION = "adk_request_confirmation"


def look(n: int) -> dict[str, Any]:
    """Look something up."""
    return {"n": n}


def job(n: int) -> dict[str, Any]:
    """Start something that takes long."""
    return {"status": "pending"}


def quiet_job(n: int) -> None:
    """Start something that takes long, and say nothing yet."""


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


@pytest.mark.trap("signature-not-demanded")
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
    assert part.thought_signature == PLACEHOLDER


# Row 2


@pytest.mark.trap("models-own-objects")
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


@pytest.mark.trap("one-id-in-parallel-agents")
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


@pytest.mark.trap("node-asks-again")
@pytest.mark.parametrize(
    ("question", "long_running"),
    [("adk_request_input", True), ("adk_request_input", False), ("approve", True)],
)
async def test_a_question_asked_again_keeps_its_id(question, long_running):
    """Row 4: what ADK or a long-running call asks again, is asked under its id."""
    agent = Asking(name="root", question=question, long_running=long_running)
    watch = Watch()
    runner = make_runner(Scripted(), agent=agent, plugins=[watch])

    asked = []
    for message in ("go", user(response(question, id="ask-1", ok=True)), "again"):
        made = await say(runner, message)
        asked += [c.id for e in made for c in e.get_function_calls()]

    assert asked == ["ask-1", "ask-1", "ask-1"]
    seen = [c.id for e in watch.sessions[-1] for c in e.get_function_calls()]
    assert seen[-1] == "ask-1"
    assert answered(*await stored(runner)) == [("ask-1", {"ok": True})]


@pytest.mark.trap("node-asks-again")
@needs_workflows
async def test_a_workflow_node_is_resumed_under_the_id_that_it_asks_again():
    """Row 4: the second answer under one interrupt id reaches the node."""
    workflow = importlib.import_module("google.adk.workflow")
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


@pytest.mark.trap("node-asks-again")
@needs_workflows
@pytest.mark.parametrize("inner", [False, True], ids=["edges", "run_node"])
async def test_two_nodes_are_resumed_by_one_message(inner):
    """Row 4: a message that answers two nodes reaches both, wherever they stand."""
    workflow = importlib.import_module("google.adk.workflow")
    got: dict[str, Any] = {}

    class Once(workflow.BaseNode):
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            if self.name in ctx.resume_inputs:
                got[self.name] = ctx.resume_inputs[self.name]
                return
            asked = types.FunctionCall(name="approve", id=self.name, args={})
            yield Event(
                content=model(types.Part(function_call=asked)),
                long_running_tool_ids={self.name},
            )

    class Both(workflow.BaseNode):
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            runs = [ctx.run_node(Once(name=name)) for name in ("left", "right")]
            await asyncio.gather(*runs)
            yield "done"

    edges = [(workflow.START, Once(name=name)) for name in ("left", "right")]
    flow = workflow.Workflow(name="flow", edges=edges)
    watch = Watch()
    runner = Runner(
        app_name="app",
        node=Both(name="both") if inner else flow,
        session_service=InMemorySessionService(),
        plugins=[HistoryGuardPlugin(), watch],
    )

    await say(runner, "go")
    both = [response("approve", id=name, of=name) for name in ("left", "right")]
    await say(runner, user(*both))

    assert got == {"left": {"of": "left"}, "right": {"of": "right"}}
    if not inner:  # the events show that a node has asked
        assert answered(watch.sessions[-1][-1]) == [
            ("left", {"of": "left"}),
            ("right", {"of": "right"}),
        ]


# Row 5


@pytest.mark.trap("call-to-a-task-agent")
async def test_a_call_by_an_agents_name_is_left_unanswered_in_the_session():
    """Row 5: a call to an agent of the tree is work that ADK dispatches later."""
    watch = Watch()
    llm = Scripted(model="mock")
    agent = LlmAgent(
        name="root",
        model=llm,
        tools=[look],
        sub_agents=[LlmAgent(name="helper", model=Scripted(model="mock"))],
    )
    runner = make_runner(llm, agent=agent, plugins=[watch])
    history = events(
        event("user", "go"),
        event("root", call("helper", id="h1"), call("look", id="l1", n=1)),
        event("user", "never mind"),
    )
    await poison(runner, history)

    await say(runner, "go on")

    assert [c for c, _ in answered(*watch.sessions[0])] == ["l1"]


@pytest.mark.trap("call-to-a-task-agent")
@needs_workflows
async def test_a_task_agent_goes_on_with_its_task():
    """Row 5: a coordinator's open call to a task agent is resumed, not answered."""
    helped = Scripted(
        model="mock", replies=["Which city?", [call("finish_task", result="Oslo")]]
    )
    llm = Scripted(model="mock", replies=[[call("helper", id="c1", request="find")]])
    helper = LlmAgent(name="helper", model=helped, mode="task", description="Finds.")
    runner = make_runner(
        llm, agent=LlmAgent(name="root", model=llm, sub_agents=[helper])
    )

    await say(runner, "go")
    await say(runner, "Oslo")

    assert len(helped.seen) == 2
    assert [r.response for r in responses_of(llm.seen[-1])] == [{"result": "Oslo"}]


# Row 6


@pytest.mark.trap("taken-for-paused")
@pytest.mark.parametrize("resumed", [False, True], ids=["new", "resumed"])
@pytest.mark.parametrize("tool", [job, quiet_job], ids=["pending", "quiet"])
async def test_a_resumable_app_goes_on_after_a_late_answer(tool, resumed):
    """Row 6: a moved long-running round is not taken for a pause."""
    llm = Scripted(replies=[[call(tool.__name__, id="j1", n=1)]])
    runner = make_runner(llm, tools=[LongRunningFunctionTool(tool)], app=RESUMABLE)
    (asked, *_) = await say(runner, "go")
    (waiting,) = asked.get_function_calls()
    await say(runner, "How is it going?")
    before = len(llm.seen)

    run = runner.run_async(
        user_id="u",
        session_id="s",
        invocation_id=asked.invocation_id if resumed else None,
        new_message=user(response(tool.__name__, id=waiting.id, n=1)),
    )
    made = [e async for e in run]

    assert len(llm.seen) == before + 1
    assert [r.response for r in responses_of(llm.seen[-1])] == [{"n": 1}]
    assert "How is it going?" in [p.text for c in llm.seen[-1] for p in c.parts]
    assert [e.content.parts[0].text for e in made if e.content] == ["done"]


# Row 7


@pytest.mark.trap("event-already-stored")
async def test_what_is_moved_at_an_event_is_moved_in_memory_only():
    """Row 7: the request keeps the talk between, the store keeps ADK's order."""

    def wire(n: int) -> dict[str, Any]:
        """Wire money."""
        return {"sent": n}

    async def run(door: str | None) -> tuple[list[Any], list[Any]]:
        llm = Scripted(replies=[[call("wire", id="w1", n=1)], "waiting", "hello"])
        tool = FunctionTool(wire, require_confirmation=True)
        runner = make_runner(llm, door=door, tools=[tool])
        made = await say(runner, "go")
        asked = [c for e in made for c in e.get_function_calls()]
        (question,) = [c for c in asked if c.name == CONFIRMATION]
        await say(runner, "Are you there?")
        yes = response(CONFIRMATION, id=question.id, confirmed=True)
        await say(runner, user(yes))
        words = [p.text for c in llm.seen[-1] for p in c.parts if p.text]
        return words, [
            (e.author, [p.model_fields_set - {"thought_signature"} for p in parts])
            for e in await stored(runner)
            if (parts := e.content and e.content.parts)
        ]

    words, kept = await run("plugin")

    assert "Are you there?" in words
    assert kept == (await run(None))[1]


# Row 8


class Prefill(BasePlugin):
    """Puts words in the model's mouth, as a user's plugin may."""

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> None:
        """Add a turn of the model at the end."""
        llm_request.contents.append(model("Dear"))


@pytest.mark.trap("ends-with-the-model")
@pytest.mark.parametrize("door", ["plugin", "model"])
async def test_no_turn_is_added_behind_a_last_model_turn(door):
    """Row 8: a request may end with the model; ADK's Gemini sees to that itself."""
    llm = Scripted(model="mock")
    runner = make_runner(llm, door=door)
    runner.plugin_manager.plugins.insert(0, Prefill(name="prefill"))

    await say(runner, "go")

    assert dumped(llm.seen[0]) == dumped([user("go"), model("Dear")])


# Row 9


@pytest.mark.trap("equal-is-not-the-same")
async def test_what_needs_no_repair_goes_on_as_the_same_object():
    """Row 9: a `UserContent` is not equal to a `Content` with the same parts."""
    llm = Scripted(model="mock")
    before, after = Watch("before"), Watch("after")
    runner = make_runner(llm, plugins=[after])
    runner.plugin_manager.plugins.insert(0, before)
    history = events(
        event("user", "go"),
        event("root", call("look", id="c1", n=1)),
        event("user", "stop"),
        event("root", "ok"),
    )
    await poison(runner, history)

    await say(runner, types.UserContent("go on"))

    was, now = before.requests[0], after.requests[0]
    assert now[-1] is was[-1]
    assert any(content is was[0] for content in now)
    assert [type(c) for c in llm.seen[0]][-1] is type(was[-1])


# Further traps


@pytest.mark.trap("plugins-behind")
async def test_later_plugins_see_every_callback():
    """Trap: what a callback returns would cut off the plugins behind it."""
    llm = Scripted(replies=[[call("look", id="c1", n=1)], [call("look", id="c1", n=2)]])
    alone, behind = Watch(), Watch()
    await say(make_runner(llm, door=None, tools=[look], plugins=[alone]), "go")
    llm = Scripted(replies=llm.replies)

    await say(make_runner(llm, tools=[look], plugins=[behind]), "go")

    assert behind.callbacks == alone.callbacks
    assert behind.callbacks.count("on_event") == 5


@pytest.mark.trap("copy-too-late")
@pytest.mark.parametrize("given", [None, "call_1"])
@pytest.mark.parametrize("stream", [True, False])
async def test_client_tool_and_response_know_a_call_by_one_id(given, stream):
    """Trap: a copy made at the event leaves the tool and the client with two ids."""
    known: list[str | None] = []

    def peek(n: int, tool_context: ToolContext) -> dict[str, Any]:
        """Note the id of the call."""
        known.append(tool_context.function_call_id)
        return {"n": n}

    said = [partial(call("peek", id=given, n=1)), final(call("peek", id=given, n=1))]
    llm = Scripted(replies=[said, said])
    runner = make_runner(llm, tools=[peek])

    made = await say(runner, "go", stream=stream)

    whole = [e for e in made if not e.partial]
    called = [c.id for e in whole for c in e.get_function_calls()]
    assert len(set(known)) == 2
    assert called == known
    assert [i for i, _ in answered(*made)] == known
    for shown in (e for e in made if e.partial):
        assert {c.id for c in shown.get_function_calls()} <= set(known)
    kept = await stored(runner)
    assert [c.id for e in kept for c in e.get_function_calls()] == known


@pytest.mark.trap("user-turns-joined")
async def test_neighbouring_user_turns_stay_two_turns():
    """Trap: ADK sends user turns side by side, and providers take them."""
    llm = Scripted(model="mock")
    runner = make_runner(llm)
    await poison(runner, events(event("user", "one"), event("user", "two")))

    await say(runner, "three")

    assert dumped(llm.seen[0]) == dumped([user("one"), user("two"), user("three")])


@pytest.mark.trap("check-that-raises")
async def test_a_request_that_cannot_be_repaired_is_sent_with_a_warning(caplog):
    """Trap: a check that raises stops requests of ADK's own making."""
    caplog.set_level(logging.WARNING, logger="adk_history_guard")
    llm = Scripted(model="mock")
    runner = make_runner(llm)
    runner.plugin_manager.plugins.insert(0, Prefill(name="prefill"))

    made = await say(runner, "go")

    assert [e.content.parts[0].text for e in made] == ["done"]
    assert [r.getMessage() for r in caplog.records if "HG206" in r.getMessage()]


@pytest.mark.trap("call-comes-back")
async def test_an_open_call_that_comes_back_is_the_same_call():
    """Trap: a call re-issued under its old `adk-` id, while open, keeps it."""
    mine = "adk-11111111-2222-3333-4444-555555555555"
    llm = Scripted(replies=[[call("job", id=mine, n=1)]])
    runner = make_runner(llm, tools=[LongRunningFunctionTool(job)])
    history = events(
        event("user", "go"),
        event("root", call("job", id=mine, n=1), long_running=(mine,)),
    )
    await poison(runner, history)

    made = await say(runner, "go on")

    assert [c.id for e in made for c in e.get_function_calls()] == [mine]


@pytest.mark.trap("id-is-a-key")
async def test_a_confirmed_call_is_known_by_one_id_everywhere():
    """Trap: an id is a key of confirmations too; all of them name the new one."""

    def wire(n: int) -> dict[str, Any]:
        """Wire money."""
        return {"sent": n}

    llm = Scripted(replies=[[call("wire", id="w1", n=1)]])
    runner = make_runner(llm, tools=[FunctionTool(wire, require_confirmation=True)])

    made = await say(runner, "go")

    (called,) = [c for e in made for c in e.get_function_calls() if c.name == "wire"]
    (asked,) = [
        c for e in made for c in e.get_function_calls() if c.name == CONFIRMATION
    ]
    keys = [k for e in made for k in e.actions.requested_tool_confirmations]
    assert called.id.startswith("adk-")
    assert asked.args["originalFunctionCall"]["id"] == called.id
    assert set(keys) == {called.id}


@pytest.mark.trap("stamped-calls")
@needs_stamps
@pytest.mark.parametrize("first", ["guard", "stamps"])
@pytest.mark.parametrize("given", ["unique", "repeated", "missing"])
async def test_stamped_calls_pass_their_check(first, given):
    """Trap: `ToolCallIntegrityPlugin` stamps ids; no run finds one without stamp."""
    ids = {"unique": ["a", "b", "c"], "repeated": ["a", "a", "a"]}.get(given)
    replies: list[Any] = []
    for n in range(3):
        replies += [[call("look", id=ids and ids[n], n=n)], "done"]
    llm = Scripted(replies=replies)
    stamps = plugins.ToolCallIntegrityPlugin(b"key")
    guard = HistoryGuardPlugin()
    both = [guard, stamps] if first == "guard" else [stamps, guard]
    runner = make_runner(llm, door=None, tools=[look], plugins=both)

    for _ in range(3):
        await say(runner, "go")

    assert [r.response for r in responses_of(llm.seen[-1])] == [
        {"n": 0},
        {"n": 1},
        {"n": 2},
    ]


# What ADK's own tests do not notice


@pytest.mark.trap("provider-id-stays")
async def test_a_repeated_id_of_the_model_does_not_stay():
    """Unnoticed: each call has an id of its own, and the model's is kept beside it."""
    llm = Scripted(replies=[[call("look", id="call_1", n=1)], "x"] * 3)
    runner = make_runner(llm, tools=[look])

    for _ in range(3):
        await say(runner, "go")

    found = [e for e in await stored(runner) if e.get_function_calls()]
    ids = [c.id for e in found for c in e.get_function_calls()]
    assert len(set(ids)) == 3
    kept = [e.custom_metadata["adk_history_guard"]["provider_ids"] for e in found]
    assert kept == [{call_id: "call_1"} for call_id in ids]


@pytest.mark.trap("partial-and-final-id")
async def test_partial_and_final_event_carry_one_id():
    """Unnoticed: what a client saw in a streamed piece is the id of the call."""
    said = [
        partial(text("Let me see. ")),
        partial(call("look", n=1)),
        final(text("Let me see. "), call("look", n=1)),
    ]
    llm = Scripted(replies=[said])

    made = await say(make_runner(llm, tools=[look]), "go", stream=True)

    shown = [c.id for e in made for c in e.get_function_calls()]
    assert len(shown) == 2
    assert len(set(shown)) == 1
    assert [i for i, _ in answered(*made)] == shown[:1]


@pytest.mark.trap("unseen-answer")
async def test_a_model_call_without_the_request_callback_is_numbered_too():
    """Unnoticed: an answer that another plugin gives for the model gets its ids."""

    class Canned(BasePlugin):
        async def before_model_callback(
            self, *, callback_context: Any, llm_request: Any
        ) -> LlmResponse | None:
            if any(c.parts[-1].function_response for c in llm_request.contents[-1:]):
                return LlmResponse(content=model("done"))
            return LlmResponse(content=model(call("look", id="canned", n=1)))

    runner = make_runner(Scripted(), tools=[look])
    runner.plugin_manager.plugins.insert(0, Canned(name="canned"))

    for _ in range(2):
        await say(runner, "go")

    found = await stored(runner)
    ids = [c.id for e in found for c in e.get_function_calls()]
    assert len(set(ids)) == 2
    assert [i for i, _ in answered(*found)] == ids
