# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Whole turns through a Runner on the emulator, with and without the guard.

What is measured is processor time, of the client and the emulator: it holds on a
busy machine too, and no waiting makes the guard look small.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types

from adk_history_guard import HistoryGuardPlugin
from adk_history_guard.testing import Script, StrictGemini, text
from benchmarks.sessions_of import AGENT, make_events
from benchmarks.speed import Row

if TYPE_CHECKING:
    from collections.abc import Sequence


async def _runner(server: Any, events: Sequence[Any], *, guard: bool) -> InMemoryRunner:
    agent = LlmAgent(name=AGENT, model=server.model("gemini-3.5-flash"))
    runner = InMemoryRunner(
        agent=agent,
        app_name="app",
        plugins=[HistoryGuardPlugin()] if guard else [],
    )
    session = await runner.session_service.create_session(
        app_name="app", user_id="u", session_id="s"
    )
    for event in events:
        await runner.session_service.append_event(session, event)
    return runner


async def _turn(runner: InMemoryRunner, *, stream: bool) -> tuple[float, int]:
    config = RunConfig(
        streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE
    )
    message = types.Content(role="user", parts=[types.Part(text="go on")])
    chunks = 0
    start = time.process_time()
    async for _ in runner.run_async(
        user_id="u", session_id="s", new_message=message, run_config=config
    ):
        chunks += 1
    return time.process_time() - start, chunks


async def _pairs(
    events: Sequence[Any], pairs: int, answer: list[Any], *, stream: bool
) -> tuple[float, int]:
    """Return the median over pairs of guarded over plain time, and the chunks."""
    ratios = []
    chunks = 0
    # A signature on each call of the history comes from elsewhere: not judged.
    server = StrictGemini(
        Script([], otherwise=answer), on_breach="ignore", signatures="off"
    )
    with server:
        plain = await _runner(server, events, guard=False)
        guarded = await _runner(server, events, guard=True)
        await _turn(plain, stream=stream)
        await _turn(guarded, stream=stream)
        for number in range(pairs):
            order = (plain, guarded) if number % 2 else (guarded, plain)
            times = {}
            for runner in order:
                times[id(runner)], chunks = await _turn(runner, stream=stream)
            ratios.append(times[id(guarded)] / times[id(plain)])
    return statistics.median(ratios), chunks


def turn_rows(pairs: int) -> list[Row]:
    """Whole turns, and turns that are mostly chunks."""
    events = make_events(1_000)[:-1]
    whole, _ = asyncio.run(_pairs(events, pairs, [text("done")], stream=False))
    words = [text(f"these are the words of part {n}") for n in range(100)]
    streamed, chunks = asyncio.run(_pairs((), max(pairs // 4, 10), words, stream=True))
    return [
        Row(f"a turn, 1,000 events of history, {pairs} pairs", whole, 1.03),
        Row(f"a streamed turn of {chunks} chunks, no history", streamed, 1.02),
    ]
