# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that should stand before the guard is warned of, once for each Runner."""

from __future__ import annotations

import logging

import pytest
from google.adk import plugins
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.logging_plugin import LoggingPlugin
from google.adk.plugins.multimodal_tool_results_plugin import (
    MultimodalToolResultsPlugin,
)

from adk_history_guard.adk.order import BEFORE_THE_GUARD
from tests.agents import Scripted, make_runner, say


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
