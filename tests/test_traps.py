# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Each trap of `tests/traps.py` has a test that names it; here are those left over.

Most traps are looked at where their subject is tested. What stands here needs a
part of ADK that no other test has: its own plugins, its source of ids, its way with
a message that answers nothing.
"""

from __future__ import annotations

import ast
import itertools
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from google.adk import models, plugins
from google.adk.platform import uuid as adk_uuid
from google.adk.plugins.multimodal_tool_results_plugin import (
    MultimodalToolResultsPlugin,
)
from google.genai import errors, types

from adk_history_guard import HistoryGuardPlugin, guard_model
from tests.agents import Scripted, final, make_runner, partial, poison, say, stored
from tests.builders import (
    PLACEHOLDER,
    call,
    calls_of,
    event,
    events,
    media,
    response,
    text,
    user,
)
from tests.judge import faults, written
from tests.notation import read_history
from tests.traps import HISTORY, MANNERS, TRAPS

HERE = Path(__file__).parent
ADK_TAKES_ORPHANS = version("google-adk").startswith("1.")


def look(n: int) -> dict[str, int]:
    """Look something up."""
    return {"n": n}


def needs(room: Any, name: str) -> Any:
    """Leave a test out where this ADK lacks what it looks at."""
    return pytest.mark.skipif(not hasattr(room, name), reason=f"this ADK has no {name}")


# The list.


def named_in_tests() -> set[str]:
    """Return every name that a marker `trap` has in the source of a test."""
    return {
        arg.value
        for path in HERE.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "trap"
        for arg in node.args
        if isinstance(arg, ast.Constant)
    }


def named_in_histories() -> set[str]:
    """Return every name under the key `traps` of a history."""
    return {
        name
        for path in (HERE / "histories").glob("*.json")
        for case in json.loads(path.read_text("utf-8"))
        for name in case.get("traps", ())
    }


@pytest.mark.once
def test_every_trap_has_a_test_that_names_it():
    """No trap without a test, no test of a trap that is not on the list."""
    assert named_in_tests() | named_in_histories() == set(TRAPS)


def test_no_trap_is_listed_twice():
    """A name means one trap."""
    assert len(TRAPS) == len(HISTORY) + len(MANNERS)


# A message that answers nothing.


@pytest.mark.trap("orphan-as-new-message")
async def test_an_orphan_as_the_new_message_is_told_or_is_adks_own_error(caplog):
    """ADK 1.x lets it reach the guard, which tells it; ADK 2 refuses it before."""
    llm = Scripted()
    runner = make_runner(llm)
    await poison(runner, read_history([["user", "'one"], ["root", "'ok"]]))
    orphan = user(response("look", id="gone", n=7))

    if ADK_TAKES_ORPHANS:
        await say(runner, orphan)

        assert faults(llm.seen[0]) == []
        assert "look" in written(llm.seen[0])
    else:
        with pytest.raises(ValueError, match="call not found"):
            await say(runner, orphan)

        assert llm.seen == []
    assert [r for r in caplog.records if r.exc_info] == []


# Signatures that the guard makes.


@pytest.mark.trap("siblings-unsigned", "made-signature-not-stored")
@pytest.mark.parametrize("stream", [False, True])
async def test_a_made_signature_goes_on_the_first_call_of_a_request_only(stream):
    """Neither a sibling nor the session has it; the next request has it again."""
    said = [call("look", id="a", n=1), call("look", id="b", n=2)]
    llm = Scripted(
        replies=[
            [partial(*said), final(*said)] if stream else said,
            [call("look", id="c", n=3)],
        ]
    )
    runner = make_runner(llm, tools=[look])

    await say(runner, "go", stream=stream)

    signed = [
        [p.thought_signature for p in content.parts]
        for content in llm.seen[2]
        if content.role == "model"
    ]
    assert signed == [[PLACEHOLDER, None], [PLACEHOLDER]]
    kept = [part for e in await stored(runner) for part in e.content.parts]
    assert {part.thought_signature for part in kept} == {None}


# ADK's source of ids.


@pytest.mark.trap("ids-from-adks-source")
async def test_ids_come_from_the_source_that_adk_was_given(door):
    """A durable runner that counts its ids finds the same ones at each replay."""

    async def play() -> list[str]:
        numbers = itertools.count()
        adk_uuid.set_id_provider(lambda: f"number-{next(numbers)}")
        try:
            llm = Scripted(replies=[[call("look", id="c1", n=1)], "x"] * 2)
            runner = make_runner(llm, door=door, tools=[look])
            await say(runner, "go")
            await say(runner, "on")
        finally:
            adk_uuid.reset_id_provider()
        contents = [e.content for e in await stored(runner)]
        return [found.id for found in calls_of(contents)]

    once, again = await play(), await play()

    assert once == again
    assert len(set(once)) == 2
    assert all(made.startswith("adk-number-") for made in once)


# ADK's own plugins.


@pytest.mark.trap("media-of-tools")
async def test_media_that_a_plugin_puts_behind_responses_get_a_turn_of_their_own():
    """The guarded model sees them, wherever the plugin stands."""

    async def draw(n: int) -> Any:
        """Draw."""
        return [text("a picture"), media()]

    llm = Scripted(replies=[[call("draw", id="c1", n=1)]])
    runner = make_runner(
        llm, door="both", tools=[draw], plugins=[MultimodalToolResultsPlugin()]
    )

    await say(runner, "go")

    assert faults(llm.seen[1]) == []
    assert "a picture" in written(llm.seen[1][3:])


@needs(plugins, "ReflectAndRetryModelPlugin")
@pytest.mark.trap("invented-call")
@pytest.mark.parametrize("first", ["guard", "retry"])
async def test_a_call_that_a_plugin_invents_is_answered_like_any_other(first):
    """A malformed call is followed by a made-up one, twice: two ids, two answers."""
    broken = models.LlmResponse(
        error_code="MALFORMED_FUNCTION_CALL",
        error_message="Malformed function call",
        finish_reason=types.FinishReason.MALFORMED_FUNCTION_CALL,
    )
    llm = Scripted(replies=[broken, [call("look", id="c1", n=1)], broken, "done"])
    both = [HistoryGuardPlugin(), plugins.ReflectAndRetryModelPlugin(max_retries=3)]
    runner = make_runner(
        llm,
        door=None,
        tools=[look],
        plugins=both if first == "guard" else reversed(both),
    )

    await say(runner, "go")

    assert len(llm.seen) == 4
    assert faults(llm.seen[-1], answered=[1], signed=True) == []
    made = calls_of([e.content for e in await stored(runner) if e.content])
    assert len({found.id for found in made}) == 3


@needs(plugins, "ToolCallIntegrityPlugin")
@pytest.mark.trap("stamped-and-broken-off")
@pytest.mark.parametrize("first", ["guard", "stamps"])
async def test_a_stamped_session_that_broke_off_goes_on(first):
    """What the guard adds in memory is no call, so nothing lacks its stamp."""

    def fail(n: int) -> dict[str, int]:
        """Break the run off."""
        raise ConnectionError

    llm = Scripted(replies=[[call("fail", id="c1", n=1)]])
    stamps = plugins.ToolCallIntegrityPlugin(b"key")
    both = [HistoryGuardPlugin(), stamps]
    runner = make_runner(
        llm,
        door=None,
        tools=[fail],
        plugins=both if first == "guard" else reversed(both),
    )
    with pytest.raises(ConnectionError):
        await say(runner, "go")

    await say(runner, "go on")

    assert faults(llm.seen[-1]) == []
    assert len(calls_of(llm.seen[-1])) == 1


# ADK's own models.


@needs(models, "FallbackModel")
@pytest.mark.trap("fallback-model")
@pytest.mark.parametrize("where", ["outside", "inside"])
async def test_a_request_that_falls_back_is_whole_for_the_next_model(where):
    """The guard may stand around the whole, or around each model of its own."""
    down = errors.ServerError(503, {"error": {"code": 503, "message": "down"}})
    main = Scripted(model="gemini-3.5-flash", replies=[down])
    backup = Scripted(model="gemini-2.5-flash")
    if where == "inside":
        found = [guard_model(main), guard_model(backup)]
        llm = models.FallbackModel(models=found)
    else:
        llm = guard_model(models.FallbackModel(models=[main, backup]))
    runner = make_runner(llm, door=None)
    history = events(
        event("user", "one"),
        event("root", call("look", id="c1", n=1), call("look", id="c1", n=2)),
        event("root", response("look", id="c1", n=1)),
    )
    await poison(runner, history)

    await say(runner, "go on")

    assert faults(main.seen[0], answered=[1]) == []
    assert faults(backup.seen[0], answered=[1]) == []
