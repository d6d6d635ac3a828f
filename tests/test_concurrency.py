# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One plugin instance for many runs: nothing mixes, and nothing stays behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
from collections import Counter
from contextlib import aclosing
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins import BasePlugin
from google.genai import types
from pydantic import Field

from adk_history_guard import HistoryGuardPlugin
from benchmarks import memory
from tests.agents import final, make_runner, partial, stored
from tests.builders import call
from tests.judge import faults

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google.adk.models import LlmRequest

RUNS = 200
ROUNDS = 3


class ModelDownError(Exception):
    """What the model of a failing run raises."""


class Crowd(BaseLlm):
    """Serves all runs at once, under the same few ids; knows a run by its first words.

    In each round it makes two calls under one id, which carry the number of the run.
    """

    model: str = "gemini-3.5-flash"
    found: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Judge the request, and make the calls of the next round."""
        contents = llm_request.contents
        run, done = int(contents[0].parts[0].text), len(contents) // 2
        answered = [token(run, k, m) for k in range(done) for m in (0, 1)]
        self.found += faults(contents, answered=answered)
        await asyncio.sleep(0)
        if done == 1 and fails(run):
            raise ModelDownError
        if done == ROUNDS:
            yield final("done")
            return
        for make in (partial, final):
            yield make(
                *(call("look", id=f"c{done}", n=token(run, done, m)) for m in (0, 1))
            )
            await asyncio.sleep(0)


def token(run: int, step: int, which: int) -> int:
    """Number each call of all runs."""
    return run * 100 + step * 10 + which


def fails(run: int) -> bool:
    """Whether the model fails in a run."""
    return run % 10 == 3


def leaves(run: int) -> bool:
    """Whether the client of a run leaves before its end."""
    return run % 10 == 7


async def look(n: int) -> dict[str, int]:
    """Echo, after others had their turn."""
    for _ in range(n % 3):
        await asyncio.sleep(0)
    return {"n": n}


async def talk(runner: Any, run: int) -> list[Any]:
    """Play one run in a session of its own; return its events."""
    where = {"user_id": "u", "session_id": str(run)}
    await runner.session_service.create_session(app_name=runner.app_name, **where)
    events: list[Any] = []
    words = types.Content(role="user", parts=[types.Part(text=str(run))])
    config = RunConfig(streaming_mode=StreamingMode.SSE)
    stream = runner.run_async(**where, new_message=words, run_config=config)
    try:
        async with aclosing(stream):
            async for event in stream:
                events.append(event)
                if leaves(run) and len(events) == 4:
                    break
    except ModelDownError:
        assert fails(run)
    return events


def ids_by_token(events: list[Any], *, partials: bool) -> dict[int, str]:
    """Return the id of each call by its token."""
    return {
        said.args["n"]: said.id
        for event in events
        if bool(event.partial) is partials
        for said in event.get_function_calls()
    }


def plugin_of(runner: Any) -> HistoryGuardPlugin:
    """Return the guard of a runner."""
    (found,) = [
        plugin
        for plugin in runner.plugin_manager.plugins
        if isinstance(plugin, HistoryGuardPlugin)
    ]
    return found


@pytest.mark.parametrize(
    "door", ["plugin", pytest.param("both", marks=pytest.mark.once)]
)
async def test_two_hundred_runs_at_once_do_not_mix(door):
    """Every call has one id of its own over all runs, and its own answer."""
    llm = Crowd()
    runner = make_runner(llm, door=door, tools=[look])

    played = await asyncio.gather(*(talk(runner, run) for run in range(RUNS)))

    judged = runner.agent.model.found if door == "both" else llm.found
    assert judged == []
    used: Counter[str] = Counter()
    for run, events in enumerate(played):
        shown = ids_by_token(events, partials=True)
        whole = ids_by_token(events, partials=False)
        assert all(whole.get(n, i) == i for n, i in shown.items())
        assert {n // 100 for n in shown} == {run}
        if not fails(run) and not leaves(run):
            kept = await stored(runner, str(run))
            answers = {
                r.id: r.response["n"] for e in kept for r in e.get_function_responses()
            }
            assert answers == {i: n for n, i in whole.items()}
            assert len(answers) == 2 * ROUNDS
        used.update(whole.values())
    assert max(used.values()) == 1


async def test_runs_leave_nothing_in_the_plugin(caplog):
    """Ended, failed and cancelled runs are forgotten alike."""
    caplog.set_level(logging.CRITICAL)  # a kept record would keep its traceback alive
    runner = make_runner(Crowd(), tools=[look])
    plugin = plugin_of(runner)

    async def play() -> None:
        tasks = [asyncio.create_task(talk(runner, run)) for run in range(60)]
        for _ in range(12):
            await asyncio.sleep(0)
        for task in tasks[40:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    await play()
    await asyncio.sleep(0)
    gc.collect()

    assert len(plugin._runs) == 0
    assert plugin.reporter.faults == 0


@pytest.mark.skipif(
    version("google-adk").startswith("2.0."),
    reason="ADK 2.0 tells no plugin that a run has ended",
)
async def test_an_ended_run_is_forgotten_though_its_session_lives_on():
    """A client may hold the session: what was kept for the run is gone all the same."""
    held: list[Any] = []

    class Holder(BasePlugin):
        async def before_run_callback(self, *, invocation_context: Any) -> None:
            held.append(invocation_context.session)

    runner = make_runner(Crowd(), tools=[look], plugins=[Holder(name="holder")])
    plugin = plugin_of(runner)

    events = await talk(runner, 1)

    assert (len(held), len(events)) == (1, 3 * ROUNDS + 1)
    assert len(plugin._runs) == 0
    assert held[0].events[-1] is events[-1]


async def growth() -> tuple[int, int]:
    """Count the objects that 1,000 model calls leave behind: the guard's, and all."""
    runner = memory.make_runner([HistoryGuardPlugin()])
    await memory.spend(runner, 200)
    before = alive()

    assert await memory.spend(runner, 1_000) == 1_000

    now = alive()
    return now["the guard's"] - before["the guard's"], now["all"] - before["all"]


GROWTH = """
import asyncio, logging
logging.disable(logging.CRITICAL)
from tests.test_concurrency import growth
print(*asyncio.run(growth()))
"""


@pytest.mark.once
def test_memory_is_flat_over_model_calls():
    """In a process of its own, 1,000 more model calls leave no objects behind."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", GROWTH],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    guards, everything = map(int, done.stdout.split())
    assert guards == 0
    assert everything < 200


def alive() -> Counter[str]:
    """Count the objects that the garbage collector knows."""
    gc.collect()
    found: Counter[str] = Counter()
    for known in gc.get_objects():
        found["all"] += 1
        found["the guard's"] += str(type(known).__module__).startswith(
            "adk_history_guard"
        )
    return found
