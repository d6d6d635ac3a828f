# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Short ways to run an ADK agent in a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.adk.agents.base_agent import BaseAgent
    from google.adk.apps.app import App
    from google.adk.events.event import Event
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import Runner
    from google.adk.sessions.base_session_service import BaseSessionService
    from google.genai.types import Content

__all__ = ["guarded", "say"]


def guarded(
    root: BaseAgent | App,
    *,
    plugins: Iterable[BasePlugin] = (),
    session_service: BaseSessionService | None = None,
    guard: bool = True,
    **knobs: Any,
) -> Runner:
    """Make a runner with `HistoryGuardPlugin` in front of the other plugins.

    Those that must stand before the guard do; see `adk.order.BEFORE_THE_GUARD`.

    Args:
        root: The root agent, or an app that holds it.
        plugins: Further plugins. With an app, the app's own come with it instead.
        session_service: Where the sessions are kept; by default in memory.
        guard: Whether the guard is there at all, to see a run without it.
        **knobs: Options of the guard: see `GuardOptions`.

    Raises:
        ValueError: If plugins are given beside an app.
    """
    from google.adk.apps.app import App
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService

    def chained(others: Sequence[BasePlugin]) -> list[BasePlugin]:
        if not guard:
            return list(others)
        from adk_history_guard import HistoryGuardPlugin
        from adk_history_guard.adk.order import goes_before

        first = [plugin for plugin in others if goes_before(plugin)]
        rest = [plugin for plugin in others if not goes_before(plugin)]
        return [*first, HistoryGuardPlugin(**knobs), *rest]

    others = list(plugins)
    if isinstance(root, App):
        if others:
            message = "an app brings its own plugins; add further ones to the app"
            raise ValueError(message)
        app = root.model_copy(update={"plugins": chained(root.plugins)})
    else:
        app = App(name="app", root_agent=root, plugins=chained(others))
    return Runner(app=app, session_service=session_service or InMemorySessionService())


async def say(
    runner: Runner,
    message: str | Content,
    *,
    session_id: str = "session",
    user_id: str = "user",
    stream: bool = False,
    **run: Any,
) -> list[Event]:
    """Send one message to a runner and return the events of its answer.

    The session is made when it is not there yet.

    Args:
        runner: The runner.
        message: The user's words, or a content, such as a late function response.
        session_id: The session.
        user_id: The user.
        stream: Whether the model is to stream (SSE).
        **run: Further arguments of `Runner.run_async`.
    """
    from google.adk.agents.run_config import RunConfig
    from google.genai.types import Content, Part

    if isinstance(message, str):
        message = Content(role="user", parts=[Part(text=message)])
    service, app = runner.session_service, runner.app_name
    known = await service.get_session(
        app_name=app, user_id=user_id, session_id=session_id
    )
    if known is None:
        await service.create_session(
            app_name=app, user_id=user_id, session_id=session_id
        )
    mode = RunConfig.model_validate({"streaming_mode": "sse" if stream else None})
    events = runner.run_async(
        user_id=user_id,
        session_id=session_id,
        new_message=message,
        run_config=run.pop("run_config", None) or mode,
        **run,
    )
    return [event async for event in events]
