# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""An agent whose jobs are answered late, in any order, or not at all."""

from __future__ import annotations

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.tools.long_running_tool import LongRunningFunctionTool

from adk_history_guard import HistoryGuardPlugin

from .offline import choose_model


def write_report(topic: str) -> None:
    """Have a report written; a person sends it later."""


root_agent = LlmAgent(
    name="desk",
    model=choose_model("gemini-3.5-flash"),
    instruction="Order a report for each topic, and tell which ones have come.",
    tools=[LongRunningFunctionTool(write_report)],
)
app = App(name="long_running", root_agent=root_agent, plugins=[HistoryGuardPlugin()])
