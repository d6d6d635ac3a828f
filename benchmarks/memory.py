# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Many model calls in one process: memory stays flat: `python -m benchmarks.memory`.

One plugin in one Runner; each run has twenty model calls with a streamed call each,
in a session that is deleted afterwards. Resident memory is read after the first
thousand calls and at the end (Linux only); exit 1 where it grew by more than 5 MB.

ADK's runs leave cycles, which Python's collector takes its time for: up to a quarter
of all that lives. What exists before the first run is frozen and garbage is collected
every few runs, so that what is measured is memory that somebody still holds. The
number of objects that live is shown beside it.

The allocator of the C library raises its threshold for memory of its own as it
goes; what it then keeps in its heap looks like growth (3 MB at a time, with and
without the guard). So the command starts itself anew with that threshold fixed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from adk_history_guard import HistoryGuardPlugin
from adk_history_guard.testing.quiet import quiet

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from google.adk.models import LlmRequest

ROUNDS = 19
CALLS_OF_A_RUN = ROUNDS + 1
BOUND = 5.0  # MB
WARM_UP = 1_000
BETWEEN = 200  # calls from one collection of garbage to the next


class Repeater(BaseLlm):
    """Calls a tool under one id, over and over, and ends each run with a word."""

    model: str = "gemini-3.5-flash"

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Reply by the number of turns so far."""
        del stream
        n = len(llm_request.contents) // 2
        if n == ROUNDS:
            yield LlmResponse(content=types.ModelContent("done"))
            return
        for partial in (True, False):
            said = types.FunctionCall(id="call_1", name="look", args={"n": n})
            part = types.Part(function_call=said)
            yield LlmResponse(content=types.ModelContent([part]), partial=partial)


def look(n: int) -> dict[str, int]:
    """Echo."""
    return {"n": n}


def make_runner(plugins: Sequence[Any]) -> Runner:
    """Return a Runner over a store in memory."""
    agent = LlmAgent(name="root", model=Repeater(), tools=[look])
    app = App(name="app", root_agent=agent, plugins=list(plugins))
    return Runner(app=app, session_service=InMemorySessionService())


async def spend(runner: Runner, calls: int) -> int:
    """Make model calls, in sessions that are deleted; return how many were made."""
    made = 0
    where: dict[str, Any] = {
        "app_name": "app",
        "user_id": "user",
        "session_id": "session",
    }
    message = types.UserContent("go")
    config = RunConfig(streaming_mode=StreamingMode.SSE)
    while made < calls:
        await runner.session_service.create_session(**where)
        async for _ in runner.run_async(
            user_id="user", session_id="session", new_message=message, run_config=config
        ):
            pass
        await runner.session_service.delete_session(**where)
        made += CALLS_OF_A_RUN
    return made


def fix_allocator() -> None:
    """Start this command anew with glibc's thresholds fixed, unless they are."""
    wanted = {f"MALLOC_{name}_THRESHOLD_": "131072" for name in ("MMAP", "TRIM")}
    if wanted.items() <= os.environ.items():
        return
    again = [sys.executable, "-m", "benchmarks.memory", *sys.argv[1:]]
    os.execve(sys.executable, again, {**os.environ, **wanted})  # noqa: S606 - this very command


def resident() -> float:
    """Return the resident memory of this process in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _measure(calls: int, step: int, *, guard: bool) -> float:
    runner = make_runner([HistoryGuardPlugin()] if guard else [])
    gc.collect()
    gc.freeze()
    made, first, last = 0, None, 0.0
    told = (WARM_UP, *range(WARM_UP + step, calls, step), calls)
    for goal in told:
        while made < goal:
            made += await spend(runner, min(BETWEEN, goal - made))
            gc.collect()
        last = resident()
        first = last if first is None else first
        alive = len(gc.get_objects())
        print(f"{made:>9,} calls {last:8.1f} MB {alive:>9,} objects", flush=True)
    return last - (first or last)


@quiet()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory", description=__doc__
    )
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--step", type=int, default=10_000, help="calls to a line")
    parser.add_argument("--no-guard", dest="guard", action="store_false")
    args = parser.parse_args(argv)
    began = time.monotonic()
    grown = asyncio.run(_measure(args.calls, args.step, guard=args.guard))
    print(
        f"google-adk {version('google-adk')}, guard {'on' if args.guard else 'off'}: "
        f"{grown:+.1f} MB after the first {WARM_UP:,} calls, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if grown > BOUND else 0


if __name__ == "__main__":
    fix_allocator()
    sys.exit(main())
