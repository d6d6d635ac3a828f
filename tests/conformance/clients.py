# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of questions to the client (row 3) and of apps (row 4)."""

from __future__ import annotations

import asyncio
import importlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.apps.app import EventsCompactionConfig, ResumabilityConfig
from google.adk.events import Event
from google.adk.tools import FunctionTool
from google.genai import types

from tests.agents import Scripted, poison, say
from tests.builders import SIGNATURE, call, dumped, event, events, model, response, user
from tests.conformance.runs import JOB, calls, look
from tests.conformance.stage import expect, judged, must, scenario, talk

if TYPE_CHECKING:
    from tests.conformance.stage import Stage

CONFIRM = "adk_request_confirmation"
RESUMABLE = {"resumability_config": ResumabilityConfig(is_resumable=True)}


def wire(n: int) -> dict[str, Any]:
    """Wire money."""
    return {"n": n}


WIRE = FunctionTool(wire, require_confirmation=True)


def yes(question: Any) -> types.Part:
    """Confirm."""
    return response(CONFIRM, id=question.id, confirmed=True)


def questions(made: list[Event]) -> list[Any]:
    """Return what ADK asks the client to confirm."""
    return [c for c in calls(made) if c.name == CONFIRM]


@scenario(3, "Confirmations of a tool whose id repeats")
async def confirmations_with_repeated_ids(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("wire", id="w", n=1)], "ok", "hm"])
    runner = stage.runner(llm, tools=[WIRE])
    (first,) = questions(await say(runner, "go"))
    await talk(runner, "Wait.", user(yes(first)))
    llm.replies += ["x"] * (len(llm.seen) - len(llm.replies))
    llm.replies.append([call("wire", id="w", n=2)])
    (second,) = questions(await say(runner, "again"))
    await talk(runner, user(yes(second)), "go on")
    return judged(llm, [1, 2])


@scenario(3, "Two confirmations in one batch under one id, after a restart")
async def confirmations_in_a_batch(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("wire", id="w", n=1), call("wire", id="w", n=2)]])
    runner = stage.runner(llm, tools=[WIRE], service=stage.database())
    asked = questions(await say(runner, "go"))
    llm = Scripted()
    runner = stage.runner(llm, tools=[WIRE], service=stage.database())
    await talk(runner, user(*map(yes, asked)), "go on")
    return expect(2, len(asked), "questions") + judged(llm, [1, 2])


@scenario(3, "A credential request for a call whose id repeats")
async def credential_request(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    asked = call("adk_request_credential", id="q", functionCallId="c")
    history = events(
        event("user", "one"),
        event("root", call("look", id="c", n=1)),
        event("root", response("look", id="c", n=1)),
        event("user", "two"),
        event("root", call("look", id="c", n=2)),
        event("root", asked, long_running=("q",)),
        event("root", response("look", id="c", status="pending")),
    )
    await poison(runner, history)
    await say(runner, "Not now.")
    return judged(llm, [1])


@scenario(
    3, "A workflow's `adk_request_input` asked twice under one id", needs="workflows"
)
async def input_asked_twice(stage: Stage) -> list[str]:
    workflow = importlib.import_module("google.adk.workflow")
    got: list[Any] = []

    class Twice(workflow.BaseNode):
        rerun_on_resume: bool = True

        async def _run_impl(self, *, ctx: Any, node_input: Any) -> Any:
            got.extend(value for key, value in ctx.resume_inputs.items() if key == "a")
            if len(got) == 2:
                return
            asked = types.FunctionCall(name="adk_request_input", id="a", args={})
            yield Event(
                content=model(types.Part(function_call=asked)),
                long_running_tool_ids={"a"},
            )

    flow = workflow.Workflow(name="f", edges=[(workflow.START, Twice(name="n"))])
    runner = stage.runner(Scripted(), agent=flow)
    await say(runner, "go")
    for n in (1, 2):
        await say(runner, user(response("adk_request_input", id="a", n=n)))
    return expect([{"n": 1}, {"n": 2}], got, "what the node was told")


@scenario(4, "A resumable app, paused on a job, with talk before the answer")
async def resumable_app(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", id="j", n=1)]])
    runner = stage.runner(llm, tools=[JOB], app=RESUMABLE)
    (waiting,) = calls(await say(runner, "go"))
    await talk(runner, "Still there?", user(response("job", id=waiting.id, n=1)))
    texts = [p.text for c in llm.seen[-1] for p in c.parts if p.text]
    lost = [] if "Still there?" in texts else ["'Still there?' is lost"]
    return lost + judged(llm, [1])


@scenario(4, "A resumed invocation")
async def resumed_invocation(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", id="j", n=1)]])
    runner = stage.runner(llm, tools=[JOB], app=RESUMABLE)
    made = await say(runner, "go")
    run = runner.run_async(
        user_id="u",
        session_id="s",
        invocation_id=made[0].invocation_id,
        new_message=user(response("job", id=calls(made)[0].id, n=1)),
    )
    made = [e async for e in run]
    return judged(llm, [1]) + must(made, "the agent went on")


@scenario(4, "A run that was broken off in a tool")
async def aborted(stage: Stage) -> list[str]:
    begun = asyncio.Event()

    async def slow(n: int) -> dict[str, Any]:
        """Never comes back."""
        begun.set()
        await asyncio.sleep(3600)
        return {"n": n}

    llm = Scripted(replies=[[call("slow", id="c", n=1), call("look", id="c", n=2)]])
    runner = stage.runner(llm, tools=[slow, look])
    task = asyncio.create_task(say(runner, "go"))
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await say(runner, "go on")
    return judged(llm, [])


@scenario(4, "A rewind to before a call whose id comes again")
async def rewound(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("look", id="c", n=1)], "one"])
    runner = stage.runner(llm, tools=[look])
    made = await say(runner, "go")
    await runner.rewind_async(
        user_id="u", session_id="s", rewind_before_invocation_id=made[0].invocation_id
    )
    llm.replies += [[call("look", id="c", n=2)], "two"]
    await talk(runner, "again", "go on")
    return judged(llm, [2])


@scenario(4, "Compaction, with a job open across it")
async def compacted(stage: Stage) -> list[str]:
    config = EventsCompactionConfig(compaction_interval=2, overlap_size=0)
    llm = Scripted(replies=[[call("job", id="j", n=1)]])
    runner = stage.runner(llm, tools=[JOB], app={"events_compaction_config": config})
    (waiting,) = calls(await say(runner, "go"))
    await talk(runner, "one", "two", "three")
    await say(runner, user(response("job", id=waiting.id, n=1)))
    found = judged(llm, [1])
    await say(runner, "go on")  # by now a summary may stand for the answer
    return found or judged(llm)


@scenario(4, "The prefix of a request stays the same from turn to turn")
async def same_prefix(stage: Stage) -> list[str]:
    said = [[call("look", id="c", signature=SIGNATURE, n=n)] for n in (1, 2)]
    llm = Scripted(replies=[said[0], "one", said[1]])
    runner = stage.runner(llm, tools=[look])
    await talk(runner, "go", "again", "go on", "and on")
    sent = [dumped(contents) for contents in llm.seen]
    found = judged(llm, [1, 2])
    for n, (before, after) in enumerate(pairwise(sent)):
        found += expect(before, after[: len(before)], f"prefix of request {n + 1}")
    return found


@scenario(4, "`include_contents='none'`")
async def without_history(stage: Stage) -> list[str]:
    llm = Scripted(
        replies=[[call("look", id="c", n=1)], "x", [call("look", id="c", n=2)], "y"]
    )
    agent = LlmAgent(name="root", model=llm, tools=[look], include_contents="none")
    await talk(stage.runner(llm, agent=agent), "go", "again")
    return judged(llm, [2])
