# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of streams, over several turns and with every switch (row 1)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from google.adk.events import Event
from google.genai import types

from adk_history_guard.testing import RandomModel, StrictGemini, StrictOpenAI
from adk_history_guard.testing import call as emulated
from tests.agents import Scripted, final, partial, say
from tests.builders import call
from tests.conformance.runs import calls, find, look
from tests.conformance.stage import expect, judged, leave, must, scenario, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.stage import Stage


@contextlib.contextmanager
def progressive(*, on: bool) -> Iterator[None]:
    """Switch progressive streaming on or off, as a deployment does."""
    names = [f"ADK_{word}_PROGRESSIVE_SSE_STREAMING" for word in ("DISABLE", "ENABLE")]
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ[names[on]] = "1"
    try:
        yield
    finally:
        del os.environ[names[on]]
        os.environ.update({k: v for k, v in before.items() if v is not None})


def shown(made: list[Event], *, partial: bool) -> list[Any]:
    """Return the calls with arguments of the partial or of the final events."""
    return [
        c
        for e in made
        if bool(e.partial) is partial
        for c in e.get_function_calls()
        if c.args
    ]


async def eight_turns(stage: Stage, *, on: bool) -> list[str]:
    """Stream eight turns of a model that repeats ids."""
    # ADK's plain streaming takes no call in pieces.
    model = RandomModel(11, ["look", "find"], id_pool=10, stream_pieces=on)
    with progressive(on=on), StrictGemini(model) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        for _ in range(8):
            await say(runner, "go", stream=True)
        ran = [issued.n for issued in model.calls]
        return server.problems + server.answers().misplaced(ran)


@scenario(1, "Gemini, progressive streaming on: 8 turns, every answer judged")
async def progressive_on(stage: Stage) -> list[str]:
    return await eight_turns(stage, on=True)


@scenario(1, "Gemini, progressive streaming off: 8 turns, every answer judged")
async def progressive_off(stage: Stage) -> list[str]:
    return await eight_turns(stage, on=False)


async def under_one_id(stage: Stage, *, on: bool) -> list[str]:
    """Stream two calls under one id, twice."""
    twice = [
        [emulated("look", {"n": n}, id="a"), emulated("find", {"n": n + 1}, id="a")]
        for n in (1, 3)
    ]
    with progressive(on=on), StrictGemini([twice[0], "ok", twice[1]]) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        await talk(runner, "go", "again", "go on", stream=True)
        return server.problems + server.answers().misplaced([1, 2, 3, 4])


@scenario(1, "Gemini, progressive on: two calls under one id, twice")
async def under_one_id_progressive(stage: Stage) -> list[str]:
    return await under_one_id(stage, on=True)


@scenario(1, "Gemini, progressive off: two calls under one id, twice")
async def under_one_id_plain(stage: Stage) -> list[str]:
    return await under_one_id(stage, on=False)


@scenario(1, "Gemini, two equal calls in one stream, without ids")
async def equal_calls_streamed(stage: Stage) -> list[str]:
    both = [emulated("look", {"n": 1})] * 2
    with StrictGemini([both]) as server:
        runner = stage.runner(server.model(), tools=[look])
        made = await talk(runner, "go", "go on", stream=True)
        ids = {c.id for c in calls(made)}
        early = {c.id for c in shown(made, partial=True)}
        return (
            server.problems
            + expect(2, len(ids), "ids of two calls")
            + must(early <= ids, "what the partial events showed is what was called")
        )


@scenario(1, "Gemini, two calls in pieces that have neither name nor id")
async def pieces_without_name_or_id(stage: Stage) -> list[str]:
    both = [
        emulated(name, {"n": n}, pieces=2) for name, n in (("look", 1), ("find", 2))
    ]
    with progressive(on=True), StrictGemini([both], closing="empty") as server:
        runner = stage.runner(server.model(), tools=[look, find])
        made = await talk(runner, "go", "go on", stream=True)
        early = {c.id for e in made if e.partial for c in e.get_function_calls()}
        ids = {c.id for c in calls(made)}
        return (
            server.problems
            + server.answers().misplaced([1, 2])
            + must(early <= ids, "what the partial events showed is what was called")
        )


@scenario(1, "A custom adapter whose pieces have neither name nor id")
async def custom_pieces(stage: Stage) -> list[str]:
    def piece(**fields: Any) -> types.Part:
        return types.Part(function_call=types.FunctionCall(**fields))

    said = [
        partial(piece(name="look", will_continue=True)),
        partial(piece(will_continue=True)),
        partial(piece()),
        final(call("look", n=1)),
    ]
    llm = Scripted(replies=[said, "ok", said])
    made = await talk(stage.runner(llm, tools=[look]), "go", "again", stream=True)
    ids = {c.id for e in made for c in e.get_function_calls()}
    return judged(llm) + expect(2, len(ids), "ids of two calls")


@scenario(1, "A custom adapter that repeats one id in every stream")
async def custom_repeats(stage: Stage) -> list[str]:
    replies: list[Any] = []
    for n in (1, 2, 3):
        said = [partial(call("look", id="0", n=n)), final(call("look", id="0", n=n))]
        replies += [said, "ok"]
    llm = Scripted(replies=replies)
    made = await talk(stage.runner(llm, tools=[look]), "a", "b", "c", "d", stream=True)
    ids = {c.id for e in made for c in e.get_function_calls()}
    return judged(llm, [1, 2, 3]) + expect(3, len(ids), "ids of three calls")


@scenario(1, "LiteLlm, streamed: ids out of a pool of 6, every answer judged")
async def litellm_repeats(stage: Stage) -> list[str]:
    model = RandomModel(5, ["look", "find"], id_pool=6)
    with StrictOpenAI(model, unique_ids=True) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        for _ in range(6):
            await say(runner, "go", stream=True)
        ran = [issued.n for issued in model.calls]
        return server.problems + server.answers().misplaced(ran)


@scenario(1, "Gemini, a stream that the client leaves at the first call")
async def left_at_the_first_call(stage: Stage) -> list[str]:
    both = [emulated("look", {"n": 1}, id="a"), emulated("find", {"n": 2}, id="b")]
    again = emulated("look", {"n": 3}, id="a")
    with StrictGemini([both, again]) as server:
        runner = stage.runner(server.model(), tools=[look, find])
        await leave(runner, at=Event.get_function_calls)
        await talk(runner, "again", "and again", stream=True)
        return server.problems + server.answers().misplaced([3])
