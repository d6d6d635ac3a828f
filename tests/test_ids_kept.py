# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Ids that stay what they are: by a knob, or since the wire can pair by them."""

from __future__ import annotations

import pytest
from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool

from adk_history_guard import guard_model
from adk_history_guard.testing import StrictGemini
from adk_history_guard.testing import call as asked
from tests.agents import Scripted, final, make_runner, partial, say
from tests.builders import call, response, user

LONG = ["function-call-4220438829512912", "function-call-9912912001234567"]


def look(n: int) -> dict[str, int]:
    """Look something up."""
    return {"n": n}


def job(n: int) -> dict[str, str]:
    """Begin something that takes a while."""
    return {"status": "pending"}


@pytest.mark.parametrize("door", ["plugin", "model", "both"])
async def test_jobs_answered_in_another_order_keep_their_own_answers(door):
    """A Gemini's unique ids are what a guarded model alone has to pair by."""
    round_ = [asked("job", {"n": n}, id=LONG[n]) for n in (0, 1)]
    with StrictGemini([round_, "a", "b", "c", "d"]) as server:
        llm = server.model("gemini-2.5-flash")
        if door != "plugin":
            llm = guard_model(llm)
        agent = LlmAgent(name="root", model=llm, tools=[LongRunningFunctionTool(job)])
        plugin = None if door == "model" else "plugin"
        runner = make_runner(llm, door=plugin, agent=agent)
        events = await say(runner, "go")
        ids = [c.id for e in events for c in e.get_function_calls()]
        for n in (1, 0):
            await say(runner, user(response("job", id=ids[n], n=n)))
        await say(runner, "and?")

        assert server.problems == []
        sent = server.requests[-1].contents

    calls = [p["functionCall"] for c in sent for p in c["parts"] if "functionCall" in p]
    told = [
        p["functionResponse"]
        for c in sent
        for p in c["parts"]
        if "functionResponse" in p
    ]
    if all("id" in c for c in calls):
        told = sorted(told, key=lambda r: [c["id"] for c in calls].index(r["id"]))
    assert [c["args"]["n"] for c in calls] == [0, 1]
    assert [r["response"]["n"] for r in told] == [0, 1]


@pytest.mark.parametrize(
    ("given", "stays"),
    [
        (LONG[0], True),
        ("8f2b1a3c", True),
        ("toolu_01A09q90qw90lq917835lq9", True),
        ("call_12", False),
        ("call_1234567", False),
        ("get_temperature", False),
        ("look", False),
        ("7", False),
    ],
)
async def test_a_guarded_gemini_keeps_ids_that_do_not_come_again(given, stays):
    """Counters and names of tools are replaced, long ids with digits are not."""
    llm = Scripted(model="gemini-3.5-flash", replies=[[call("look", id=given, n=1)]])
    runner = make_runner(llm, door="model", tools=[look])

    events = await say(runner, "go")

    found = [c.id for e in events for c in e.get_function_calls()]
    assert (found == [given]) is stays
    assert len(found) == 1


@pytest.mark.parametrize("door", ["plugin", "model", "both"])
async def test_mint_never_means_never(door):
    """A repeated id is the user's wish; partial and final events show the same."""
    replies = [
        [partial(call("look", id="c", n=n)), final(call("look", id="c", n=n))]
        if n != 1
        else "fine"
        for n in range(3)
    ]
    runner = make_runner(
        Scripted(replies=replies), door=door, tools=[look], mint="never"
    )

    events = [e for n in range(2) for e in await say(runner, f"go {n}", stream=True)]

    assert [c.id for e in events for c in e.get_function_calls()] == ["c"] * 4
