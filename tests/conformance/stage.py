# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the scenarios of the conformance table share.

A scenario plays one feature of ADK with real parts and returns what came out
wrong. It is played twice, without the guard and with it: the tests demand that
nothing is wrong with it, and `benchmarks/conformance.py` makes a table of both.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import warnings
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from google.adk import plugins
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import DatabaseSessionService

from tests import postgres
from tests.agents import make_runner, say
from tests.builders import user
from tests.judge import faults

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from tests.agents import Scripted

    Play = Callable[["Stage"], Awaitable[list[str]]]

ADK = tuple(int(step) for step in metadata.version("google-adk").split(".")[:2])
# What `google-adk[eval]` brings, by ADK's own names of the time.
_EVALUATES = all(
    importlib.util.find_spec(name)
    for name in (
        "pandas",
        "rouge_score",
        "vertexai" if ADK < (2, 0) else "agentplatform",
    )
)
FEATURES: dict[str, bool] = {
    "workflows": "node_info" in Event.model_fields,
    "stamps": hasattr(plugins, "ToolCallIntegrityPlugin"),
    "abort signals": "abort_signal" in inspect.signature(Runner.run_async).parameters,
    "evaluation": _EVALUATES,
    "evaluated apps": _EVALUATES and ADK >= (2, 13),
}
"""What some installations lack.

Workflows came with ADK 2.0, stamps with 2.11. Evaluation needs `google-adk[eval]`,
and looks at an agent's app in 2.13, not yet in 2.6.
"""

LIMITS: dict[str, tuple[tuple[int, int], tuple[int, int], str]] = {
    "parallel_jobs": (
        (2, 0),
        (2, 10),
        (
            "ADK 2.0 to 2.9 shows the answer to both agents and refuses it for the "
            "one that did not ask, with unique ids and without the guard as well"
        ),
    )
}
"""Scenarios that the guard cannot mend, from one version on and before another."""


@dataclass(frozen=True)
class Scenario:
    """One line of the table.

    Attributes:
      row: The number of its group, see `GROUPS`.
      title: What is played, in a few words.
      play: Plays it and returns what came out wrong.
      needs: A feature that not every ADK has.
      heavy: Whether it starts processes, or imports for seconds: the tests play it
        with the guard only, the table without it too.
    """

    row: int
    title: str
    play: Play
    needs: str | None = None
    heavy: bool = False

    @property
    def exists(self) -> bool:
        """Whether the installed ADK has the feature."""
        return self.needs is None or FEATURES[self.needs]

    @property
    def limit(self) -> str | None:
        """Why the installed ADK refuses the scenario whatever the guard does."""
        start, end, why = LIMITS.get(self.play.__name__, ((0, 0), (0, 0), ""))
        return why if start <= ADK < end else None

    async def measure(self, folder: Path, *, guard: bool) -> list[str]:
        """Play it; a run that breaks off is a fault too."""
        stage = Stage(guard, folder)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*deprecated.*")
                warnings.simplefilter("ignore", FutureWarning)
                return await self.play(stage)
        except Exception as error:  # noqa: BLE001 - anything that ends the run
            return [f"{type(error).__name__}: {error}".split("\n")[0][:160]]
        finally:
            await stage.close()


GROUPS = {
    1: "Streaming",
    2: "Long-running tools",
    3: "Questions to the client",
    4: "Apps: resume, rewind, compaction, caching",
    5: "Several agents",
    6: "Other plugins",
    7: "Live runs and the Interactions API",
    8: "Other parts and events",
    9: "Session services",
    10: "Ways to install it",
}

SCENARIOS: list[Scenario] = []


def scenario(
    row: int, title: str, *, needs: str | None = None, heavy: bool = False
) -> Callable[..., Any]:
    """Enter a function into the table."""

    def enter(play: Play) -> Play:
        SCENARIOS.append(Scenario(row, title, play, needs, heavy))
        return play

    return enter


class Stage:
    """Makes runners with or without the guard, and cleans up behind them."""

    def __init__(self, guard: bool, folder: Path) -> None:  # noqa: FBT001
        self.guard = guard
        self.folder = folder
        self._open: list[Any] = []

    @property
    def door(self) -> str | None:
        """Where the guard stands in this play."""
        return "plugin" if self.guard else None

    def runner(self, llm: Any, **options: Any) -> Runner:
        """Make a runner; see `make_runner`."""
        return make_runner(llm, door=self.door, **options)

    @property
    def store(self) -> str:
        """The URL of the one SQLite store of this play."""
        return f"sqlite+aiosqlite:///{self.folder / f'sessions-{self.guard}.db'}"

    @functools.cached_property
    def postgres(self) -> str:
        """The URL of the one PostgreSQL store of this play."""
        return postgres.server()()

    def database(self, url: str | None = None) -> DatabaseSessionService:
        """Open a store, by default SQLite's, as a new process would."""
        service = DatabaseSessionService(url or self.store)
        self._open.append(service)
        return service

    async def close(self) -> None:
        """Close what was opened."""
        for service in self._open:
            engine = getattr(service, "db_engine", None)
            if engine is not None:
                with contextlib.suppress(Exception):
                    await engine.dispose()


def judged(
    llm: Scripted, answered: Iterable[int] | None = None, **options: Any
) -> list[str]:
    """Return what is wrong with the requests; tokens are judged in the last one."""
    found: list[str] = []
    last = len(llm.seen) - 1
    for n, contents in enumerate(llm.seen):
        tokens = list(answered) if answered is not None and n == last else None
        found += [
            f"request {n}: {fault}"
            for fault in faults(contents, answered=tokens, **options)
        ]
    return found


def expect(wanted: Any, found: Any, what: str) -> list[str]:
    """Return a fault where something is not as it should be."""
    return [] if wanted == found else [f"{what}: {found!r} instead of {wanted!r}"]


def must(holds: object, what: str) -> list[str]:
    """Return a fault where something does not hold."""
    return [] if holds else [f"not so: {what}"]


def load() -> list[Scenario]:
    """Import all scenarios and return them in the order of the table."""
    for name in (
        "runs",
        "streams",
        "clients",
        "agents",
        "neighbours",
        "services",
        "processes",
        "frontends",
        "evaluated",
        "corners",
    ):
        importlib.import_module(f"tests.conformance.{name}")
    return sorted(SCENARIOS, key=lambda found: found.row)


async def talk(runner: Runner, *messages: Any, stream: bool = False) -> list[Event]:
    """Send several messages and return all events."""
    made: list[Event] = []
    for message in messages:
        made += await say(runner, message, stream=stream)
    return made


async def leave(runner: Runner, *, at: Callable[[Event], object]) -> None:
    """Open a streamed run in a new session, and leave it at an event."""
    await runner.session_service.create_session(
        app_name=runner.app_name, user_id="u", session_id="s"
    )
    run = runner.run_async(
        user_id="u",
        session_id="s",
        new_message=user("go"),
        run_config=RunConfig(streaming_mode=StreamingMode.SSE),
    )
    async with contextlib.aclosing(run):
        async for event in run:
            if at(event):
                break
