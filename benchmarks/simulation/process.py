# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What both kinds of play share: a process that can be restarted, and its store."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.runners import Runner
from google.adk.sessions import DatabaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool

from adk_history_guard import HistoryGuardPlugin
from benchmarks.simulation.ledger import Kind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from google.adk.events import Event
    from google.adk.models import BaseLlm
    from google.adk.sessions import BaseSessionService, Session
    from google.genai import types

    from benchmarks.simulation.ledger import Ledger

_WHERE: dict[str, Any] = {
    "app_name": "app",
    "user_id": "user",
    "session_id": "session",
}


def open_store(kind: str, folder: str) -> BaseSessionService:
    """Open the store of a play as a new process would: memory, sqlite or database."""
    if kind == "sqlite":
        return SqliteSessionService(f"{folder}/sessions.db")
    if kind == "database":
        return DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/sessions.db")
    return InMemorySessionService()


def as_tools(
    *plain: Callable[..., Any],
    jobs: Iterable[Callable[..., Any]],
    confirmed: Callable[..., Any],
) -> list[Any]:
    """Make tools of functions: plain ones, jobs, and one that is confirmed first."""
    return [
        *map(FunctionTool, plain),
        *map(LongRunningFunctionTool, jobs),
        FunctionTool(confirmed, require_confirmation=True),
    ]


class Process:
    """What a restart ends: runner, plugin, agent, and the store's door."""

    def __init__(
        self,
        llm: str | BaseLlm,
        tools: list[Any],
        service: BaseSessionService,
        *,
        guard: bool = True,
        resumable: bool = False,
    ) -> None:
        """Start it."""
        self.plugin = HistoryGuardPlugin()
        self.service = service
        app = App(
            name="app",
            root_agent=LlmAgent(name="agent", model=llm, tools=tools),
            plugins=[self.plugin] if guard else [],
            resumability_config=ResumabilityConfig(is_resumable=resumable),
        )
        self.runner = Runner(app=app, session_service=service)

    def run(
        self, message: types.Content, *, stream: bool
    ) -> AsyncGenerator[Event, None]:
        """Send one message; yield the events of its run."""
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        return self.runner.run_async(
            user_id="user",
            session_id="session",
            new_message=message,
            run_config=RunConfig(streaming_mode=mode),
        )

    async def begin(self) -> None:
        """Make the session."""
        await self.service.create_session(**_WHERE)

    async def session(self) -> Session | None:
        """Return the session as it is stored."""
        return await self.service.get_session(**_WHERE)

    async def close(self) -> None:
        """End it as a process does that is told to stop."""
        await self.runner.close()
        # Services before 2.0 can only be closed through their engine.
        engine = getattr(self.service, "db_engine", None)
        if engine is not None:
            await engine.dispose()


def check_ids(ledger: Ledger, session: Session | None) -> None:
    """Note each id that stands at two calls of a stored session."""
    events = session.events if session is not None else []
    counts = Counter(c.id for event in events for c in event.get_function_calls())
    for call_id, count in counts.items():
        if count > 1 or not call_id:
            ledger.note(Kind.STORED_ID, f"{call_id!r} stands at {count} calls")
