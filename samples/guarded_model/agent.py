# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""An agent without plugins: the model itself is guarded, behind every callback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent

from adk_history_guard import guard_model

from .offline import choose_model

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest

_PRICES = {"apples": 3, "bread": 5, "cheese": 8}


def get_price(item: str) -> dict[str, Any]:
    """Tell the price of an item."""
    return {"price": _PRICES.get(item, 0)}


def keep_the_newest(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Send only the three newest turns, wherever that cuts."""
    del callback_context
    llm_request.contents = llm_request.contents[-3:]


root_agent = LlmAgent(
    name="shop",
    model=guard_model(choose_model("gemini-3.5-flash")),
    instruction="Tell prices. Use the tool for each item.",
    tools=[get_price],
    before_model_callback=keep_the_newest,
)
