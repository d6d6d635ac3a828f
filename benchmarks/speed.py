# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the guard costs, as ratios to ADK's own content building in the same run."""

from __future__ import annotations

import asyncio
import compileall
import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import RunConfig
from google.adk.flows.llm_flows import contents as adk_contents
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions import InMemorySessionService, Session

import adk_history_guard
from adk_history_guard.adk.history import repair_events
from adk_history_guard.adk.memory import Memory
from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.core.guard import guard
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.options import GuardOptions
from benchmarks.sessions_of import AGENT, make_events

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.events import Event
    from google.genai import types


def adk_builds(events: list[Event]) -> list[types.Content]:
    """Let ADK build the contents of a request from events, by its processor."""
    session = Session(id="s", app_name="app", user_id="u", events=[])
    session.events = events
    context = InvocationContext(
        invocation_id="now",
        agent=LlmAgent(name=AGENT, model="gemini-3.5-flash"),
        session=session,
        session_service=InMemorySessionService(),
        run_config=RunConfig(),
    )
    request = LlmRequest(model="gemini-3.5-flash")

    async def build() -> None:
        async for _ in adk_contents.request_processor.run_async(context, request):
            pass

    asyncio.run(build())
    return request.contents


@dataclass
class Row:
    """One line of the table: a name, a ratio, and the bound it is held to."""

    name: str
    ratio: float
    bound: float | None = None
    note: str = ""

    @property
    def held(self) -> bool:
        """Whether the ratio is within its bound."""
        return self.bound is None or self.ratio <= self.bound


@dataclass
class Race:
    """Functions timed in turns, so that a slow moment of the machine hits all.

    Attributes:
      rounds: How often each is timed.
      collector: Whether Python's cyclic collector may run in between. Its passes
        come by chance and cost what the whole process holds, fixtures included.
      times: Seconds by name, as they were taken.
    """

    rounds: int = 9
    collector: bool = True
    times: dict[str, list[float]] = field(default_factory=dict)

    def run(self, **runners: Callable[[], Any]) -> dict[str, float]:
        """Return the median seconds of each, over interleaved rounds."""
        times: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(self.rounds):
            for name, runner in runners.items():
                if not self.collector:
                    gc.collect()
                    gc.disable()
                start = time.process_time()
                kept = runner()
                times[name].append(time.process_time() - start)
                del kept
                gc.enable()
        self.times = times
        return {name: statistics.median(found) for name, found in times.items()}


OPTIONS = GuardOptions()
PROFILE = PROFILES["gemini-3"]


def pool(n: int) -> str:
    """Return one of twenty ids, so that each comes up again and again."""
    return f"call_{n % 20}"


HISTORY = (
    ("clean", "clean history, cold", 0.03),
    ("repeated", "ids repeat in every round", 0.10),
    ("again", "the run's next model call", 0.005),
    ("request", "request, repair and check", 0.06),
)
"""What is measured on one history: key, words, bound."""

BOUNDED = 10_000
"""The size that the bounds are for; the others are there to be seen."""


def history_rows(size: int, rounds: int) -> list[Row]:
    """Cold history repair, the next look, and request repair of clean contents."""
    clean, repeated = make_events(size), make_events(size, id_of=pool)
    contents = adk_builds(clean)
    memory, ledger = Memory(clean), Ledger()
    ledger.read(clean)

    def again() -> None:
        ledger.read(clean)
        memory.is_whole(clean)

    def ratios(*, collector: bool) -> dict[str, float]:
        race = Race(rounds, collector=collector)
        found = race.run(
            adk=lambda: adk_builds(clean),
            clean=lambda: repair_events(clean),
            again=again,
            request=lambda: guard(contents, profile=PROFILE, options=OPTIONS),
        )
        other = race.run(
            adk=lambda: adk_builds(repeated), repeated=lambda: repair_events(repeated)
        )
        shares = {name: time / found["adk"] for name, time in found.items()}
        return {**shares, "repeated": other["repeated"] / other["adk"]}

    # A full pass of the collector costs what the whole process holds; it falls to
    # whoever makes the next object, mostly to ADK. So both are shown.
    with_it, without = ratios(collector=True), ratios(collector=False)
    return [
        Row(
            f"{size:,} events: {text}",
            with_it[name],
            bound if size == BOUNDED else None,
            f"{without[name]:.4f} with the collector off",
        )
        for name, text, bound in HISTORY
    ]


SHAPES: dict[str, dict[str, Any]] = {
    "clean": {},
    "ids repeat": {"id_of": pool},
    "one id for all": {"id_of": lambda _: "call_1"},
    "late answers": {"late": True},
    "late answers, ids repeat": {"late": True, "id_of": pool},
    "2 calls a turn": {"calls": 2},
    "8 calls a turn": {"calls": 8, "id_of": pool},
    "1,000 parallel calls": {"calls": 1000, "id_of": pool},
    "1 MB responses": {"text": "x" * 1_000_000},
}
"""Shapes of sessions whose cost must grow with their size only."""


def growth_rows(sizes: tuple[int, int], rounds: int) -> list[Row]:
    """Time of four times the events over time of the events, for each shape."""
    rows = []
    small, large = sizes
    factor = large / small
    for name, shape in SHAPES.items():
        few, many = make_events(small, **shape), make_events(large, **shape)
        few_sent, many_sent = adk_builds(few), adk_builds(many)
        found = Race(rounds, collector=False).run(
            few=partial(both, few, few_sent),
            many=partial(both, many, many_sent),
        )
        ratio = found["many"] / found["few"] / factor * 4
        text = f"growth, {name}: {small:,} to {large:,} events, per factor of 4"
        rows.append(Row(text, ratio, 4.4, f"{found['many'] * 1e3:.0f} ms"))
    return rows


def both(events: list[Event], contents: list[types.Content]) -> None:
    """Repair a history and a request."""
    repair_events(events)
    guard(contents, profile=PROFILE, options=OPTIONS)


def memory_row(size: int) -> Row:
    """Peak of what a repair of a clean history allocates, in megabytes."""
    events = make_events(size)
    repair_events(events)
    tracemalloc.start()
    repair_events(events)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Row(f"{size:,} events: extra memory, clean, in MB", peak / 1e6, 1.0)


_IMPORT = """
import time
import google.adk.plugins
start = time.process_time()
from adk_history_guard import HistoryGuardPlugin
print(time.process_time() - start)
"""


def import_row(rounds: int) -> Row:
    """Milliseconds that importing the plugin adds to `import google.adk.plugins`.

    Modules are compiled before, as they are where the package is installed.
    """
    compileall.compile_dir(Path(adk_history_guard.__file__).parent, quiet=1)
    found = [
        float(
            subprocess.run(
                [sys.executable, "-c", _IMPORT],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for _ in range(rounds)
    ]
    return Row(
        "import, in ms beyond google.adk.plugins", statistics.median(found) * 1e3, 30
    )
