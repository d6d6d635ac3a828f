# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The pytest fixtures of the package: `strict_gemini` and `guarded_runner`.

pytest finds them by an entry point; nothing needs to be imported::

    async def test_answers_stay_with_their_calls(strict_gemini, guarded_runner):
        server = strict_gemini([call("look", {"n": 1}), "Found."])
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        await say(guarded_runner(agent), "Look!")
        assert server.problems == []
        assert server.answers().misplaced(answered={1}) == []
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.adk.agents.base_agent import BaseAgent
    from google.adk.apps.app import App
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import Runner
    from google.adk.sessions.base_session_service import BaseSessionService

    from .gemini import StrictGemini
    from .models import Model, ScriptItem

__all__ = ["GuardedRunner", "StrictGeminiFactory", "guarded_runner", "strict_gemini"]


class StrictGeminiFactory(Protocol):
    """Starts a `StrictGemini` that is stopped when the test ends."""

    def __call__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        **options: Any,
    ) -> StrictGemini:
        """Start a server; the arguments are those of `StrictGemini`."""
        ...


class GuardedRunner(Protocol):
    """Makes a runner with `HistoryGuardPlugin` in it."""

    def __call__(
        self,
        root: BaseAgent | App,
        *,
        plugins: Iterable[BasePlugin] = (),
        session_service: BaseSessionService | None = None,
        guard: bool = True,
        **knobs: Any,
    ) -> Runner:
        """Make a runner; the arguments are those of `guarded`."""
        ...


@pytest.fixture
def strict_gemini() -> Iterator[StrictGeminiFactory]:
    """Start strict Gemini servers that the end of the test stops.

    Usage: `server = strict_gemini([call("look"), "done"])`.
    """
    from .gemini import StrictGemini

    with ExitStack() as running:

        def start(
            model: Model | Iterable[ScriptItem] | str | None = None, **options: Any
        ) -> StrictGemini:
            return running.enter_context(StrictGemini(model, **options))

        yield start


@pytest.fixture
def guarded_runner() -> GuardedRunner:
    """Make runners with the guard in them.

    Usage: `runner = guarded_runner(agent)`.
    """
    from .runs import guarded

    return guarded
