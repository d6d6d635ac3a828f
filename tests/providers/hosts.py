# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Agents over the emulators, and sessions that hold a history already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.sessions import InMemorySessionService

from adk_history_guard import guard_model
from adk_history_guard.testing import guarded, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.adk.events import Event
    from google.adk.runners import Runner


def look(n: int) -> dict:
    """Look something up."""
    return {"n": n, "seen": f"sight {n}"}


def see(n: int) -> dict:
    """See something."""
    return {"n": n, "seen": f"view {n}"}


TOOLS = (look, see)


@dataclass
class Host:
    """One session, and the runners that have it talk to one model or another."""

    service: Any = field(default_factory=InMemorySessionService)

    def runner(
        self,
        model: Any,
        *,
        door: str = "plugin",
        tools: Sequence[Any] = TOOLS,
        **knobs: Any,
    ) -> Runner:
        """Make a runner with the guard at one door or the other, or at none."""
        if door == "model":
            model = guard_model(model, **knobs)
        agent = LlmAgent(name="root", model=model, tools=list(tools))
        return guarded(
            agent,
            guard=door == "plugin",
            session_service=self.service,
            **(knobs if door == "plugin" else {}),
        )

    async def hold(self, events: Sequence[Event]) -> None:
        """Store a history before the first run."""
        session = await self.service.create_session(
            app_name="app", user_id="user", session_id="session"
        )
        for event in events:
            await self.service.append_event(session, event)

    async def events(self) -> list[Event]:
        """The events as they are stored."""
        session = await self.service.get_session(
            app_name="app", user_id="user", session_id="session"
        )
        return session.events

    async def ask(
        self, model: Any, *messages: Any, stream: bool = False, **options: Any
    ) -> list[Event]:
        """Send messages to a model, one run each; the events of the last one."""
        runner = self.runner(model, **options)
        events: list[Event] = []
        for message in messages:
            events = await say(runner, message, stream=stream)
        return events


def messages_of(server: Any, role: str, index: int = -1) -> list[dict]:
    """The messages of one role in a request, by default in the newest."""
    return [m for m in server.requests[index].contents if m["role"] == role]
