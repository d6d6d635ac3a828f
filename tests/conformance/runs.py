# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of streams (row 1) and of long-running tools (row 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.tools import LongRunningFunctionTool

from adk_history_guard.testing import RandomModel, StrictGemini, StrictOpenAI
from adk_history_guard.testing import call as emulated
from tests.agents import Scripted, final, partial, poison, say
from tests.builders import call, event, events, response, responses_of, user
from tests.conformance.stage import expect, judged, leave, scenario, talk
from tests.judge import written

if TYPE_CHECKING:
    from google.adk.events import Event

    from tests.conformance.stage import Stage


def look(n: int) -> dict[str, Any]:
    """Look something up."""
    return {"n": n}


def find(n: int) -> dict[str, Any]:
    """Find something."""
    return {"n": n}


def job(n: int) -> dict[str, Any]:
    """Start something that takes long."""
    return {"status": "pending"}


JOB = LongRunningFunctionTool(job)


def calls(made: list[Event]) -> list[Any]:
    """Return the calls of all final events."""
    return [c for e in made if not e.partial for c in e.get_function_calls()]


@scenario(1, "Gemini, streamed: ids out of a pool of 12, 8 turns")
async def gemini_repeats_ids(stage: Stage) -> list[str]:
    model = RandomModel(7, ["look", "find"], id_pool=12)
    with StrictGemini(model) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        for _ in range(8):
            await say(runner, "go", stream=True)
        return server.problems


@scenario(1, "Gemini, streamed: two calls under one id")
async def gemini_two_calls_under_one_id(stage: Stage) -> list[str]:
    both = [emulated("look", {"n": 1}, id="a"), emulated("find", {"n": 2}, id="a")]
    with StrictGemini([both]) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        made = await say(runner, "go", stream=True)
        names = sorted(c.name for c in calls(made))
        return server.problems + expect(["find", "look"], names, "calls that ran")


@scenario(1, "LiteLlm, streamed without ids, so that they fall back to an index")
async def litellm_without_ids(stage: Stage) -> list[str]:
    model = RandomModel(7, ["look", "find"], id_pool="missing")
    with StrictOpenAI(model, assign_ids=False, unique_ids=True) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        for _ in range(6):
            await say(runner, "go", stream=True)
        return server.problems


@scenario(1, "An adapter that makes fresh parts: partial and final id are one")
async def fresh_parts(stage: Stage) -> list[str]:
    said = [partial(call("look", n=1)), final(call("look", n=1))]
    llm = Scripted(replies=[said])
    made = await say(stage.runner(llm, tools=[look]), "go", stream=True)
    shown = {c.id for e in made for c in e.get_function_calls()}
    return judged(llm, [1]) + expect(1, len(shown), "ids of the call")


@scenario(1, "Two equal parallel calls")
async def equal_calls(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("look", id="a", n=1), call("look", id="a", n=1)]])
    made = await say(stage.runner(llm, tools=[look]), "go")
    found = expect(2, len({c.id for c in calls(made)}), "ids of two calls")
    return found + judged(llm, [1, 1])


@scenario(1, "A stream that the client leaves after a piece of the call")
async def cancelled_stream(stage: Stage) -> list[str]:
    said = [partial(call("look", id="a", n=1)), final(call("look", id="a", n=1))]
    llm = Scripted(replies=[said, [call("look", id="a", n=2)]])
    runner = stage.runner(llm, tools=[look])
    await leave(runner, at=lambda _: True)
    await talk(runner, "again", "and again")
    return judged(llm, [2])


@scenario(2, "Two parallel jobs of one tool, answered in reverse")
async def jobs_in_reverse(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", n=1), call("job", n=2)]])
    runner = stage.runner(llm, tools=[JOB])
    first, second = calls(await say(runner, "go"))
    await talk(runner, user(response("job", id=second.id, n=2)))
    await talk(runner, user(response("job", id=first.id, n=1)), "go on")
    return judged(llm, [1, 2])


@scenario(2, "A late answer, with talk in between")
async def late_answer(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", n=1)]])
    runner = stage.runner(llm, tools=[JOB])
    (waiting,) = calls(await say(runner, "go"))
    await talk(runner, "By the way", user(response("job", id=waiting.id, n=1)))
    lost = "By the way" not in written(llm.seen[-1])
    return judged(llm, [1]) + (["'By the way' is lost"] if lost else [])


@scenario(2, "Pending, progress, final; then further talk")
async def progress(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", n=1)]])
    runner = stage.runner(llm, tools=[JOB])
    (waiting,) = calls(await say(runner, "go"))
    half = response("job", id=waiting.id, status="half")
    whole = response("job", id=waiting.id, n=1)
    await talk(runner, user(half), "hm", user(whole), "and?")
    said = [r.response for r in responses_of(llm.seen[-1])]
    return judged(llm, [1]) + expect([{"n": 1}], said, "the responses")


@scenario(2, "Two open jobs under one stored id, both answered")
async def open_jobs_under_one_id(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[JOB])
    history = events(
        event("user", "one"),
        event("root", call("job", id="j", n=1), long_running=("j",)),
        event("root", response("job", id="j", status="pending")),
        event("user", "two"),
        event("root", call("job", id="j", n=2), long_running=("j",)),
        event("root", response("job", id="j", status="pending")),
    )
    await poison(runner, history)
    for n in (1, 2):
        await say(runner, user(response("job", id="j", n=n)))
    await say(runner, "go on")
    return judged(llm, [1, 2])


@scenario(2, "Jobs under repeated ids, answered after a restart over SQLite")
async def jobs_over_a_restart(stage: Stage) -> list[str]:
    waiting = []
    for n in (1, 2):
        llm = Scripted(replies=[[call("job", id="j", n=n)]])
        runner = stage.runner(llm, tools=[JOB], service=stage.database())
        waiting += calls(await say(runner, f"go {n}"))
    llm = Scripted()
    runner = stage.runner(llm, tools=[JOB], service=stage.database())
    for n in (2, 1):
        done = response("job", id=waiting[n - 1].id, n=n)
        await say(runner, user(done))
    await say(runner, "go on")
    return judged(llm, [1, 2])
