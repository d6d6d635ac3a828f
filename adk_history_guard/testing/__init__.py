# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Strict emulators of providers, for tests of agents and of the guard itself.

Usage::

    from adk_history_guard.testing import StrictGemini, call

    async def test_weather():
        replies = [call("get_weather", {"city": "Oslo"}), "It rains."]
        with StrictGemini(replies) as server:
            agent = LlmAgent(name="root", model=server.model(), tools=[get_weather])
            await say(InMemoryRunner(agent=agent), "How is the weather?")
            assert server.problems == []

Each emulator is an HTTP server that the provider's real client talks to. It judges
every request by the provider's documented contract, with no code of the guard, and
refuses a breach in the provider's words. What answers is a script or a seeded random
model. The pytest fixtures `strict_gemini` and `guarded_runner` come with the package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._server import Emulator
    from .answers import Tokens, tokens
    from .anthropic_messages import StrictAnthropic
    from .gateway import StrictGateway
    from .gemini import StrictGemini
    from .models import (
        Call,
        Failure,
        Finish,
        IssuedCall,
        Model,
        RandomModel,
        Script,
        Text,
        call,
        failure,
        finish,
        text,
    )
    from .openai_chat import StrictMistral, StrictOpenAI
    from .records import Breach, Query, RecordedRequest
    from .runs import guarded, say

__all__ = [
    "Breach",
    "Call",
    "Emulator",
    "Failure",
    "Finish",
    "IssuedCall",
    "Model",
    "Query",
    "RandomModel",
    "RecordedRequest",
    "Script",
    "StrictAnthropic",
    "StrictGateway",
    "StrictGemini",
    "StrictMistral",
    "StrictOpenAI",
    "Text",
    "Tokens",
    "call",
    "failure",
    "finish",
    "guarded",
    "say",
    "text",
    "tokens",
]

_ROOMS = {
    "_server": ("Emulator",),
    "answers": ("Tokens", "tokens"),
    "anthropic_messages": ("StrictAnthropic",),
    "gateway": ("StrictGateway",),
    "gemini": ("StrictGemini",),
    "models": (
        "Call",
        "Failure",
        "Finish",
        "IssuedCall",
        "Model",
        "RandomModel",
        "Script",
        "Text",
        "call",
        "failure",
        "finish",
        "text",
    ),
    "openai_chat": ("StrictMistral", "StrictOpenAI"),
    "records": ("Breach", "Query", "RecordedRequest"),
    "runs": ("guarded", "say"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name from its room when it is first asked for.

    pytest imports this package in every run, by the entry point of the fixtures; so it
    must cost next to nothing.
    """
    room = _HOME.get(name)
    if room is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(importlib.import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
