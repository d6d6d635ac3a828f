# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the model where no key is set: the strict emulator, in this process.

It refuses what Gemini refuses, and gives each of its calls the id `call_1`.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")
_CITY = re.compile("Lima|Oslo|Rome")


def choose_model(name: str) -> str | BaseLlm:
    """The model of this name, or the emulator where no key is set."""
    if any(os.environ.get(key) for key in _KEYS):
        return name
    from adk_history_guard.testing import StrictGemini

    return StrictGemini(Guide()).start().model(name)


class Guide:
    """A model that calls a tool for each city, then tells what came of it."""

    def reply(self, contents: list[Any], step: int) -> list[Any]:
        """Answer a request: with calls first, then with words."""
        from adk_history_guard.testing import call, text

        if step:
            return [text(_told(contents))]
        asked = contents[-1]["parts"][-1].get("text", "")
        tool = "get_river" if "river" in asked else "get_weather"
        cities = _CITY.findall(asked)
        if not cities:
            return [text("I know Lima, Oslo and Rome.")]
        return [call(tool, {"city": city}, id="call_1") for city in cities]


def _told(contents: list[Any]) -> str:
    """Each call of the conversation with the response that stands beside it."""
    found = []
    for content, following in pairwise(contents):
        calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
        said = [p.get("functionResponse", {}) for p in following["parts"]]
        for call, response in zip(calls, said, strict=False):
            body = " ".join(str(v) for v in response.get("response", {}).values())
            found.append(f"{call['args']['city']}: {body}")
    return "; ".join(found) + "."
