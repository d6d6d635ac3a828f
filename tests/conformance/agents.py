# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of several agents (row 5)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.tools import AgentTool

from tests.agents import Scripted, say
from tests.builders import call, response, responses_of, user
from tests.conformance.runs import JOB, calls, look
from tests.conformance.stage import expect, judged, scenario, talk

if TYPE_CHECKING:
    from tests.conformance.stage import Stage


def agent(name: str, *replies: Any, **options: Any) -> LlmAgent:
    """Make an agent with a scripted model and one tool."""
    llm = Scripted(replies=list(replies))
    options.setdefault("tools", [look])
    return LlmAgent(name=name, model=llm, **options)


def told(found: LlmAgent) -> list[Any]:
    """Return the responses in the last request of an agent."""
    return [r.response for r in responses_of(found.model.seen[-1])]


@scenario(5, "A transfer, and calls under one id on both sides")
async def transferred(stage: Stage) -> list[str]:
    sub = agent("sub", [call("look", id="c", n=2)])
    transfer = call("transfer_to_agent", id="c", agent_name="sub")
    root = agent("root", [call("look", id="c", n=1)], [transfer], sub_agents=[sub])
    runner = stage.runner(root.model, agent=root)
    await talk(runner, "go", "go on")
    return judged(root.model) + judged(sub.model, [2])


@scenario(5, "Sequential agents with calls under one id, over two runs")
async def sequential(stage: Stage) -> list[str]:
    both = [
        agent(name, [call("look", id="c", n=n)], "x", [call("look", id="c", n=n + 2)])
        for n, name in enumerate(("a", "b"), 1)
    ]
    root = SequentialAgent(name="root", sub_agents=both)
    await talk(stage.runner(Scripted(), agent=root), "go", "again")
    return judged(both[0].model, [1, 3]) + judged(both[1].model, [2, 4])


@scenario(5, "Parallel agents with calls under one id, over two runs")
async def parallel(stage: Stage) -> list[str]:
    both = [
        agent(name, [call("look", id="c", n=n)], "x", [call("look", id="c", n=n + 2)])
        for n, name in enumerate(("a", "b"), 1)
    ]
    root = ParallelAgent(name="root", sub_agents=both)
    await talk(stage.runner(Scripted(), agent=root), "go", "again")
    return judged(both[0].model, [1, 3]) + judged(both[1].model, [2, 4])


@scenario(5, "Parallel agents whose jobs share an id, answered in reverse")
async def parallel_jobs(stage: Stage) -> list[str]:
    both = [
        agent(name, [call("job", id="j", n=n)], tools=[JOB])
        for n, name in enumerate(("a", "b"), 1)
    ]
    root = ParallelAgent(name="root", sub_agents=both)
    runner = stage.runner(Scripted(), agent=root)
    made = calls(await say(runner, "go"))
    for found in sorted(made, key=lambda c: -c.args["n"]):
        await say(runner, user(response("job", id=found.id, n=found.args["n"])))
    await say(runner, "go on")
    return judged(both[0].model, [1]) + judged(both[1].model, [2])


@scenario(5, "A loop whose agent uses one id each time")
async def loop(stage: Stage) -> list[str]:
    inner = agent("a", *[[call("look", id="c", n=1)], "x", [call("look", id="c", n=2)]])
    root = LoopAgent(name="root", max_iterations=3, sub_agents=[inner])
    await say(stage.runner(Scripted(), agent=root), "go")
    found = judged(inner.model, [1, 2])
    # ADK's Gemini adds a user turn to such a request by itself.
    return [fault for fault in found if "the model speaks last" not in fault]


@scenario(5, "An agent as a tool, called twice under one id")
async def agent_tool(stage: Stage) -> list[str]:
    helper = agent("helper", [call("look", id="c", n=1)], "helped")
    asked = call("helper", id="c", request="help")
    root = agent("root", [asked], "x", [asked], tools=[AgentTool(helper)])
    await talk(stage.runner(root.model, agent=root), "go", "again", "go on")
    wanted = [{"result": "helped"}, {"result": "done"}]
    return (
        judged(helper.model)
        + judged(root.model)
        + expect(wanted, told(root), "the helper's answers")
    )


@scenario(5, "A task agent that asks back, then finishes", needs="workflows")
async def task_agent(stage: Stage) -> list[str]:
    finish = call("finish_task", id="c", result="Oslo")
    helper = agent("helper", "Which city?", [finish], mode="task", description="x")
    asked = call("helper", id="c", request="find")
    root = agent("root", [asked], sub_agents=[helper], tools=[])
    await talk(stage.runner(root.model, agent=root), "go", "Oslo", "go on")
    return judged(root.model) + expect([{"result": "Oslo"}], told(root), "the result")


@scenario(5, "A single-turn agent, called twice under one id", needs="workflows")
async def single_turn_agent(stage: Stage) -> list[str]:
    helper = agent("helper", "one", "two", mode="single_turn", description="x")
    asked = call("helper", id="c", request="find")
    root = agent("root", [asked], "x", [asked], sub_agents=[helper], tools=[])
    await talk(stage.runner(root.model, agent=root), "go", "again", "go on")
    return judged(root.model) + expect(
        [{"result": "one"}, {"result": "two"}], told(root), "the helper's answers"
    )


@scenario(5, "A workflow of two agents with calls under one id", needs="workflows")
async def workflow_of_agents(stage: Stage) -> list[str]:
    workflow = importlib.import_module("google.adk.workflow")
    a = agent("a", [call("look", id="c", n=1)], "x", [call("look", id="c", n=3)])
    b = agent("b", [call("look", id="c", n=2)], "x", [call("look", id="c", n=4)])
    flow = workflow.Workflow(name="f", edges=[(workflow.START, a), (a, b)])
    await talk(stage.runner(Scripted(), agent=flow), "go", "again")
    return judged(a.model) + judged(b.model)
