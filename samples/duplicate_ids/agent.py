# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""An agent whose model gives each call the same id."""

from __future__ import annotations

from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App

from adk_history_guard import HistoryGuardPlugin

from .offline import choose_model

_WEATHER = {"Lima": "19 degrees", "Oslo": "4 degrees", "Rome": "21 degrees"}
_RIVERS = {"Lima": "Rimac", "Oslo": "Akerselva", "Rome": "Tiber"}


def get_weather(city: str) -> dict[str, Any]:
    """Tell the weather of a city."""
    return {"weather": _WEATHER.get(city, "no report")}


def get_river(city: str) -> dict[str, Any]:
    """Tell which river runs through a city."""
    return {"river": _RIVERS.get(city, "none")}


root_agent = LlmAgent(
    name="guide",
    model=choose_model("gemini-3.5-flash"),
    instruction="Tell travellers about cities. Use the tools for each city.",
    tools=[get_weather, get_river],
)
app = App(name="duplicate_ids", root_agent=root_agent, plugins=[HistoryGuardPlugin()])
