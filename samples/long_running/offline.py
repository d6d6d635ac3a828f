# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the model where no key is set: the strict emulator, in this process.

It refuses what Gemini refuses, such as a call without a response.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.adk.models.base_llm import BaseLlm

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")
_TOPIC = re.compile("bees|owls|whales")


def choose_model(name: str) -> str | BaseLlm:
    """The model of this name, or the emulator where no key is set."""
    if any(os.environ.get(key) for key in _KEYS):
        return name
    from adk_history_guard.testing import StrictGemini

    return StrictGemini(Desk()).start().model(name)


class Desk:
    """A model that orders a report for each topic, then tells which have come."""

    def reply(self, contents: list[Any], step: int) -> list[Any]:
        """Answer a request: with calls for new topics, else with words."""
        from adk_history_guard.testing import call, text

        topics = _TOPIC.findall(contents[-1]["parts"][-1].get("text", ""))
        if topics and not step:
            return [call("write_report", {"topic": topic}) for topic in topics]
        return [text(_told(contents))]


def _told(contents: list[Any]) -> str:
    """Each report of the conversation with the response that stands beside it."""
    found = []
    for content, following in pairwise(contents):
        calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
        said = [p.get("functionResponse", {}) for p in following["parts"]]
        for call, response in zip(calls, said, strict=False):
            come = response.get("response", {}).get("result", "not here yet")
            found.append(f"{call['args']['topic']}: {come}")
    return "; ".join(found or ["No report was ordered"]) + "."
