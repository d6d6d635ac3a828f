# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The fixtures that come with the package."""

from __future__ import annotations

import subprocess
import sys

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.plugins.base_plugin import BasePlugin

from adk_history_guard.testing import RandomModel, call, guarded, say


def look(n: int) -> dict:
    """Look around."""
    return {"n": n}


async def test_servers_and_runners_are_one_call_away(strict_gemini, guarded_runner):
    """Repeated ids pass the strictest server with the guard in front."""
    model = RandomModel(5, ["look"], id_pool=4)
    server = strict_gemini(model, ids="unique")
    agent = LlmAgent(name="root", model=server.model(), tools=[look])
    runner = guarded_runner(agent)
    for turn in range(4):
        await say(runner, f"turn {turn}", stream=bool(turn % 2))
    assert server.problems == []
    assert server.answers().misplaced(answered=[c.n for c in model.calls]) == []


def test_several_servers_run_side_by_side(strict_gemini):
    """Each call of the fixture starts a server of its own."""
    assert strict_gemini().url != strict_gemini([call("look")]).url


def test_an_app_keeps_its_own_plugins():
    """The guard goes in front of an app's plugins, and the app is left alone."""
    other = BasePlugin(name="other")
    app = App(name="mine", root_agent=LlmAgent(name="root", model="x"), plugins=[other])
    runner = guarded(app, mode="observe")
    assert runner.app_name == "mine"
    names = [plugin.name for plugin in runner.plugin_manager.plugins]
    assert names == ["history_guard", "other"]
    assert app.plugins == [other]
    with pytest.raises(ValueError, match="an app brings its own plugins"):
        guarded(app, plugins=[other])


@pytest.mark.once
def test_the_fixtures_cost_next_to_nothing():
    """Loading the fixtures, as every run does, brings neither ADK nor a server."""
    code = (
        "import sys, adk_history_guard.testing.fixtures;"
        "print([m for m in ('google.adk', 'google.genai', 'uvicorn', 'starlette')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
