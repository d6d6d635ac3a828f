# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A scripted model that records what it receives, and real Runners around it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from pydantic import Field

from adk_history_guard import HistoryGuardPlugin, guard_model
from tests.builders import model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from google.adk.events import Event
    from google.adk.models import LlmRequest


class Scripted(BaseLlm):
    """Says what it was told to, and keeps a copy of each request.

    Attributes:
      replies: One entry for each request: parts, or the responses to yield.
        "done" when they run out.
      seen: The contents of each request.
      closed: How many of its generators were closed or came to their end.
    """

    model: str = "gemini-3.5-flash"
    replies: list[Any] = Field(default_factory=list)
    seen: list[list[types.Content]] = Field(default_factory=list)
    closed: list[int] = Field(default_factory=list)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Record the request and yield the next reply."""
        step = len(self.seen)
        self.seen.append(copy.deepcopy(llm_request.contents))
        reply = self.replies[step] if step < len(self.replies) else "done"
        if isinstance(reply, Exception):
            raise reply
        try:
            for answer in _responses(reply):
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        finally:
            self.closed.append(step)


def _responses(reply: Any) -> Iterable[Any]:
    if isinstance(reply, list) and isinstance(reply[0], (LlmResponse, Exception)):
        return reply
    if isinstance(reply, LlmResponse):
        return [reply]
    return [
        LlmResponse(content=model(*(reply if isinstance(reply, list) else [reply])))
    ]


def partial(*parts: Any) -> LlmResponse:
    """Return a partial response of a stream."""
    return LlmResponse(content=model(*parts), partial=True)


def final(*parts: Any) -> LlmResponse:
    """Return a final response of a stream."""
    return LlmResponse(content=model(*parts), partial=False)


def make_runner(
    llm: BaseLlm,
    *,
    door: str | None = "plugin",
    tools: Iterable[Any] = (),
    service: Any = None,
    plugins: Iterable[Any] = (),
    app: dict[str, Any] | None = None,
    agent: Any = None,
    **knobs: Any,
) -> Runner:
    """Return a Runner with the guard at a door: plugin, model, both or None."""
    ours = [HistoryGuardPlugin(**knobs)] if door in ("plugin", "both") else []
    if door in ("model", "both"):
        llm = guard_model(llm, **knobs)
    root = agent or LlmAgent(name="root", model=llm, tools=list(tools))
    made = App(name="app", root_agent=root, plugins=[*ours, *plugins], **(app or {}))
    return Runner(app=made, session_service=service or InMemorySessionService())


async def say(
    runner: Runner, message: Any, *, stream: bool = False, session: str = "s"
) -> list[Event]:
    """Send a message to a session, which is made where missing; return the events."""
    if isinstance(message, str):
        message = types.Content(role="user", parts=[types.Part(text=message)])
    where = {"app_name": runner.app_name, "user_id": "u", "session_id": session}
    if await runner.session_service.get_session(**where) is None:
        await runner.session_service.create_session(**where)
    mode = StreamingMode.SSE if stream else StreamingMode.NONE
    run = runner.run_async(
        user_id="u",
        session_id=session,
        new_message=message,
        run_config=RunConfig(streaming_mode=mode),
    )
    return [found async for found in run]


async def stored(runner: Runner, session: str = "s") -> list[Event]:
    """Return the stored events of a session."""
    found = await runner.session_service.get_session(
        app_name=runner.app_name, user_id="u", session_id=session
    )
    return [] if found is None else found.events


async def poison(runner: Runner, events: Iterable[Event], session: str = "s") -> None:
    """Store a history as another process would have left it."""
    service = runner.session_service
    made = await service.create_session(
        app_name=runner.app_name, user_id="u", session_id=session
    )
    for found in events:
        await service.append_event(made, found)
