# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that should stand before the guard is warned of, once."""

from __future__ import annotations

import logging

import pytest
from google.adk import plugins
from google.adk.agents import LlmAgent
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.logging_plugin import LoggingPlugin
from google.adk.plugins.multimodal_tool_results_plugin import (
    MultimodalToolResultsPlugin,
)
from google.adk.tools.agent_tool import AgentTool

from adk_history_guard.adk.order import BEFORE_THE_GUARD
from tests.agents import Scripted, make_runner, say
from tests.builders import call


class Filter(ContextFilterPlugin):
    """A filter of a user's own."""


def first_plugins():
    """Return each plugin that must come first, as far as this ADK has it."""
    made = [
        ContextFilterPlugin(num_invocations_to_keep=2),
        MultimodalToolResultsPlugin(),
    ]
    if hasattr(plugins, "ToolCallIntegrityPlugin"):
        made.append(plugins.ToolCallIntegrityPlugin(b"key"))
    return made


def warned(caplog):
    """Return the guard's warnings."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "adk_history_guard" and record.levelno == logging.WARNING
    ]


@pytest.mark.parametrize("plugin", first_plugins(), ids=lambda p: type(p).__name__)
async def test_a_plugin_behind_the_guard_is_warned_of_once(plugin, caplog):
    """The warning names both plugins, says what to move and why; two runs, one line."""
    runner = make_runner(Scripted(), plugins=[plugin])

    await say(runner, "go")
    await say(runner, "again")

    why = BEFORE_THE_GUARD[type(plugin).__name__]
    said = f"plugin {plugin.name!r} stands behind 'history_guard'; move it in front"
    assert warned(caplog) == [f"{said}: {why}."]


@pytest.mark.parametrize("plugin", first_plugins(), ids=lambda p: type(p).__name__)
async def test_a_plugin_before_the_guard_is_right(plugin, caplog):
    """In the documented order nothing is said."""
    runner = make_runner(Scripted(), plugins=[plugin])
    found = runner.plugin_manager.plugins
    found.insert(0, found.pop())

    await say(runner, "go")

    assert warned(caplog) == []


async def test_a_subclass_counts_and_others_do_not(caplog):
    """What derives from a known plugin is known; others may stand anywhere."""
    behind = [LoggingPlugin(), Filter(num_invocations_to_keep=2, name="mine")]
    runner = make_runner(Scripted(), plugins=behind)

    await say(runner, "go")

    assert [words.split(" stands")[0] for words in warned(caplog)] == ["plugin 'mine'"]


async def test_a_tool_that_is_an_agent_adds_no_warning(caplog):
    """ADK makes a Runner for each call of an AgentTool; the order is told once."""
    helper = LlmAgent(name="helper", description="Helps.", model=Scripted())
    asks = [[call("helper", id=f"c{n}", request="?")] for n in range(3)]
    runner = make_runner(
        Scripted(replies=asks),
        tools=[AgentTool(helper)],
        plugins=[ContextFilterPlugin(num_invocations_to_keep=2)],
    )

    await say(runner, "go")

    assert [words.split(" stands")[0] for words in warned(caplog)] == [
        "plugin 'context_filter_plugin'"
    ]


async def test_another_runner_with_another_wrong_order_is_warned_of(caplog):
    """One guard may serve several Runners; each plugin behind it is told."""
    first = make_runner(Scripted(), plugins=[Filter(2, name="one")])
    other = make_runner(
        Scripted(), plugins=[Filter(2, name="two"), Filter(2, name="one")]
    )
    other.plugin_manager.plugins[0] = first.plugin_manager.plugins[0]

    await say(first, "go")
    await say(other, "go")

    assert [words.split(" stands")[0] for words in warned(caplog)] == [
        "plugin 'one'",
        "plugin 'two'",
    ]
