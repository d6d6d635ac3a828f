# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the model where no key is set: the strict emulator, in this process.

It refuses what Gemini refuses, such as a response whose call was cut off.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")
_ITEM = re.compile("apples|bread|cheese")


def choose_model(name: str) -> str | BaseLlm:
    """The model of this name, or the emulator where no key is set."""
    if any(os.environ.get(key) for key in _KEYS):
        return name
    from adk_history_guard.testing import StrictGemini

    return StrictGemini(Shop()).start().model(name)


class Shop:
    """A model that asks for one price after the other, then tells the newest."""

    def reply(self, contents: list[Any], step: int) -> list[Any]:
        """Answer a request: with a call first, then with words."""
        from adk_history_guard.testing import call, text

        del step
        newest = contents[-1]["parts"][-1]
        items = _ITEM.findall(newest.get("text", ""))
        if items:
            return [call("get_price", {"item": item}) for item in items]
        if "functionResponse" in newest:
            return [text(_told(contents))]
        return [text("We have apples, bread and cheese.")]


def _told(contents: list[Any]) -> str:
    """The newest calls with the responses that stand beside them."""
    calls = [p["functionCall"] for p in contents[-2]["parts"] if "functionCall" in p]
    said = [p["functionResponse"]["response"] for p in contents[-1]["parts"]]
    found = [
        f"{call['args']['item']}: {response.get('price')}"
        for call, response in zip(calls, said, strict=True)
    ]
    return f"{'; '.join(found)} ({len(contents)} turns)."
