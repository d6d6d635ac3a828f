# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Every history of `tests/histories` through a real Runner, judged independently.

A case is stored as another process would have left it, a message is sent, and
the request that reaches the model is judged. `door: both` marks the cases in
which the wrapped model alone must do as well: the request tells it enough.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.tools import FunctionTool, LongRunningFunctionTool

from tests.agents import Scripted, make_runner, poison, say, stored
from tests.builders import dumped
from tests.judge import faults, written
from tests.notation import read_history, read_message

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.genai import types

FOLDER = Path(__file__).parent / "histories"


@dataclass(frozen=True)
class Case:
    """One history and what must become of it."""

    name: str
    source: str
    history: list[list[str]]
    answers: list[int] | None
    message: list[str] = field(default_factory=lambda: ["'go on"])
    door: str = "plugin"
    signed: bool = False
    says: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    traps: list[str] = field(default_factory=list)

    def judge(self, contents: list[types.Content]) -> list[str]:
        """Return what is wrong with the request that was sent."""
        found = faults(contents, answered=self.answers, signed=self.signed)
        whole = written(contents)
        found += [f"{words!r} is lost" for words in self.says if words not in whole]
        found += [f"{words!r} is sent" for words in self.never if words in whole]
        return found


CASES = [
    Case(**found)
    for path in sorted(FOLDER.glob("*.json"))
    for found in json.loads(path.read_text("utf-8"))
]


def tools_of(history: list[Event]) -> list[Any]:
    """Return a tool for each name that a history calls."""
    long_running: dict[str, bool] = {}
    for event in history:
        for call in event.get_function_calls():
            waits = call.id in (event.long_running_tool_ids or ())
            if call.name and not call.name.startswith("adk_request_"):
                long_running[call.name] = long_running.get(call.name, False) or waits
    tools = []
    for name, waits in sorted(long_running.items()):

        def tool(n: int = 0) -> dict[str, int]:
            return {"n": n}

        tool.__name__ = name
        tools.append((LongRunningFunctionTool if waits else FunctionTool)(tool))
    return tools


async def request_of(
    case: Case, door: str | None
) -> tuple[list[types.Content], list[Any], list[Any]]:
    """Run a case; return the request, and the stored history before and after."""
    history = read_history(case.history)
    llm = Scripted()
    runner = make_runner(llm, door=door, tools=tools_of(history))
    await poison(runner, history)
    before = dumped(await stored(runner))
    await say(runner, read_message(case.message))
    after = dumped(await stored(runner))
    return llm.seen[0], before, after


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_request_of_a_broken_history_is_whole(case):
    """With the plugin the model receives each answer beside its call."""
    contents, before, after = await request_of(case, "plugin")

    assert case.judge(contents) == []
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.door == "both"], ids=lambda case: case.name
)
async def test_wrapped_model_alone_mends_the_request(case):
    """The wrapped model does as well where the session need not be known."""
    contents, before, after = await request_of(case, "model")

    assert case.judge(contents) == []
    assert after[: len(before)] == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_both_doors_together_do_nothing_twice(case):
    """What the plugin made is clean, so the wrapped model sends the same."""
    alone, _, _ = await request_of(case, "plugin")

    together, _, _ = await request_of(case, "both")

    assert dumped(together) == dumped(alone)


def test_names_of_cases_are_unique():
    """Each case can be called by its name."""
    names = [case.name for case in CASES]

    assert sorted(set(names)) == sorted(names)


async def test_most_histories_break_without_the_guard():
    """The corpus is worth its place: without the guard most requests are broken."""
    broken = 0
    for case in CASES:
        try:
            contents, _, _ = await request_of(case, None)
        except Exception:  # noqa: BLE001 - whatever ADK raises is a failed run
            broken += 1
        else:
            broken += bool(case.judge(contents))

    assert broken > len(CASES) / 2
