# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The plugin in a real Runner: what it does where, and what it leaves to others."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.plugins import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from adk_history_guard import (
    ConfigurationError,
    HistoryGuardPlugin,
    InvalidHistoryError,
)
from adk_history_guard.adk.targets import target_of
from adk_history_guard.options import GuardOptions
from adk_history_guard.testing import StrictGemini
from adk_history_guard.testing import call as answer_call
from tests.agents import Scripted, final, make_runner, poison, say, stored
from tests.builders import call, dumped
from tests.judge import faults
from tests.notation import read_history, read_message

REPEATED = [
    ["user", "'one"], ["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "'ok"],
    ["user", "'two"], ["root", "seek#c1(2)"], ["root", "seek#c1=2"], ["root", "'ok"],
]  # fmt: skip


def look(n: int = 0) -> dict[str, int]:
    """Echo."""
    return {"n": n}


class Watcher(BasePlugin):
    """Notes what reaches a plugin that stands behind the guard."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__(name="watcher")
        self.seen: list[str] = []
        self.sessions: list[Any] = []
        self.requests: list[Any] = []

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Note the call."""
        self.seen.append("before_run")
        self.sessions.append(invocation_context.session)

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> None:
        """Note the call and the request."""
        self.seen.append("before_model")
        self.requests.append(list(llm_request.contents))

    async def after_model_callback(
        self, *, callback_context: Any, llm_response: Any
    ) -> None:
        """Note the call."""
        self.seen.append("after_model")

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Note the call."""
        self.seen.append("on_event")

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Note the call."""
        self.seen.append("after_run")


async def test_later_plugins_see_every_callback_and_the_repaired_request():
    """No callback of the guard returns a value, so nobody behind it is cut off."""
    watcher = Watcher()
    runner = make_runner(Scripted(), plugins=[watcher])
    await poison(runner, read_history(REPEATED))

    await say(runner, "go on")

    alone = Watcher()
    bare = make_runner(Scripted(), door=None, plugins=[alone])
    await say(bare, "hello")  # ADK 2.0.0 has no last callback here
    assert watcher.seen == alone.seen
    assert watcher.seen[:3] == ["before_run", "before_model", "after_model"]
    assert faults(watcher.requests[0], answered=[1, 2]) == []


async def test_session_has_its_own_events_again_after_the_run():
    """The repaired copies are gone: the list holds the stored objects and the new."""
    watcher = Watcher()
    runner = make_runner(Scripted(), plugins=[watcher])
    await poison(runner, read_history(REPEATED))
    before = dumped(await stored(runner))

    await say(runner, "go on")

    kept = dumped(watcher.sessions[0].events)
    if "after_run" in watcher.seen:  # ADK 2.0.0 gives no such callback here
        assert kept[: len(before)] == before
    assert len(kept) == len(before) + 2


@pytest.mark.trap("faults-come-wrapped")
async def test_strict_mode_raises_what_adk_wraps():
    """A breach that is left ends the run; the violations hang on the cause."""
    llm = Scripted()
    runner = make_runner(llm, mode="strict", unsigned="keep")
    await poison(
        runner, read_history([["user", "'one"], ["root long=j1", "job#j1(1)"]])
    )

    with pytest.raises(RuntimeError) as caught:
        await say(runner, read_message(["job#j1=1"]))

    assert isinstance(caught.value.__cause__, InvalidHistoryError)
    assert [v.code for v in caught.value.__cause__.violations] == ["HG401"]
    assert llm.seen == []


async def test_observing_sends_what_adk_made_and_reports(caplog):
    """`mode="observe"` logs what it would do; request and ids are ADK's."""
    caplog.set_level(logging.INFO, logger="adk_history_guard")
    plain, watched = Scripted(), Scripted()
    bare = make_runner(plain, door=None)
    observed = make_runner(watched, mode="observe")
    for runner in (bare, observed):
        await poison(
            runner,
            read_history([["user", "'one"], ["root", "look(1)"], ["user", "'two"]]),
        )
        await say(runner, "go on")

    assert dumped(watched.seen[0]) == dumped(plain.seen[0])
    assert "would repair" in caplog.text


async def test_logs_say_what_was_done_without_the_users_words(caplog):
    """One line at INFO for a repaired request; codes and names, no text."""
    caplog.set_level(logging.DEBUG, logger="adk_history_guard")
    runner = make_runner(Scripted())
    await poison(
        runner,
        read_history(
            [["user", "'my secret"], ["root", "look#c1(1)"], ["user", "'two"]]
        ),
    )

    await say(runner, "another secret")

    lines = [
        r.getMessage() for r in caplog.records if r.name.startswith("adk_history_guard")
    ]
    assert any("HG101 add" in line for line in lines)
    assert not any("secret" in line for line in lines)


async def test_a_clean_session_costs_no_log_line(caplog):
    """Where nothing is done nothing is said."""
    caplog.set_level(logging.INFO, logger="adk_history_guard")
    runner = make_runner(Scripted(replies=[[call("look", n=1)]]), tools=[look])

    await say(runner, "go")
    await say(runner, "on")

    words = [r.getMessage() for r in caplog.records if r.name == "adk_history_guard"]
    assert [w for w in words if "repaired" in w and "events" in w] == []


async def test_a_fault_of_the_guard_does_not_end_the_run(monkeypatch, caplog):
    """A bug inside the guard is logged and counted; the run finishes without it."""
    from adk_history_guard.adk import plugin as room

    def broken(*args: Any, **kwargs: Any) -> None:
        message = "a bug of ours"
        raise ZeroDivisionError(message)

    for name in ("repair_events", "guard", "bring_late_round"):
        monkeypatch.setattr(room, name, broken)
    runner = make_runner(Scripted(replies=[[call("look", n=1)]]), tools=[look])
    guard = runner.plugin_manager.get_plugin("history_guard")

    events = await say(runner, "go")

    assert events[-1].content.parts[0].text == "done"
    assert guard.reporter.faults >= 3
    assert "ZeroDivisionError" in caplog.text


async def test_a_fault_of_the_guard_ends_a_strict_run(monkeypatch):
    """`mode="strict"` hides nothing."""
    from adk_history_guard.adk import plugin as room

    def broken(*args: Any, **kwargs: Any) -> None:
        message = "a bug of ours"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(room, "guard", broken)
    runner = make_runner(Scripted(), mode="strict")

    with pytest.raises(RuntimeError) as caught:
        await say(runner, "go")

    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_plugin_is_constructed_by_name_alone(monkeypatch):
    """`adk web --extra_plugins` constructs it so; knobs come from the environment."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_MODE", "observe")

    made = HistoryGuardPlugin(name="history_guard_from_cli")

    assert (made.name, made.options.mode) == ("history_guard_from_cli", "observe")


def test_a_wrong_knob_is_refused_with_what_is_allowed():
    """A typo does not pass in silence."""
    with pytest.raises(ConfigurationError, match="mode"):
        HistoryGuardPlugin(moed="strict")


@pytest.mark.trap("live")
@pytest.mark.parametrize(
    ("knobs", "live", "expected"),
    [
        ({}, False, "always"),
        ({}, True, "never"),
        ({"mint": "always"}, True, "never"),
        ({"mint": "never"}, False, "never"),
        ({"mint": "on_repeat"}, False, "on_repeat"),
    ],
)
def test_ids_of_a_live_run_belong_to_the_server(knobs, live, expected):
    """Live wins over every knob; then the knob; then the kind of model."""
    found = target_of(Scripted(), "gemini-3.5-flash", GuardOptions(**knobs), live=live)

    assert str(found.mint) == expected
    assert found.hands_off is live


async def test_answers_of_another_plugin_get_ids_at_the_event():
    """A plugin before the guard that answers for the model cannot repeat an id."""

    class Cache(BasePlugin):
        async def before_model_callback(
            self, *, callback_context: Any, llm_request: Any
        ) -> Any:
            if any(p.text == "go" for p in llm_request.contents[-1].parts):
                return final(call("look", id="c1", n=len(llm_request.contents)))
            return None

    runner = make_runner(
        Scripted(),
        door=None,
        plugins=[Cache(name="cache"), HistoryGuardPlugin()],
        tools=[look],
    )
    await say(runner, "go")
    await say(runner, "go")

    calls = [c for e in await stored(runner) for c in e.get_function_calls()]
    answers = [r for e in await stored(runner) for r in e.get_function_responses()]
    assert len(calls) == 2
    assert len({c.id for c in calls}) == 2
    assert [(r.id, r.response["n"]) for r in answers] == [
        (c.id, c.args["n"]) for c in calls
    ]


async def test_agent_as_tool_has_a_guarded_history_of_its_own():
    """The inner run of an `AgentTool` does not disturb the outer one."""
    inner = LlmAgent(
        name="helper",
        description="helps",
        model=Scripted(replies=[[call("look", id="c1", n=5)], "found"]),
        tools=[look],
    )
    llm = Scripted(
        replies=[
            [call("look", id="c1", n=1)],
            [call("helper", id="c1", request="look it up")],
            [call("look", id="c1", n=2)],
        ]
    )
    runner = make_runner(llm, tools=[look, AgentTool(inner)])

    await say(runner, "go")
    await say(runner, "and on")

    ids = [c.id for e in await stored(runner) for c in e.get_function_calls()]
    assert len(set(ids)) == len(ids) == 3
    assert faults(llm.seen[-1], answered=[1, 2]) == []


async def test_transfer_to_a_sub_agent_keeps_each_answer():
    """A transfer is a call like any other; both agents send whole requests."""
    helper_llm = Scripted(replies=[[call("look", id="c1", n=2)], "helped"])
    helper = LlmAgent(
        name="helper", description="helps", model=helper_llm, tools=[look]
    )
    llm = Scripted(
        replies=[
            [call("look", id="c1", n=1)],
            [call("transfer_to_agent", id="c1", agent_name="helper")],
        ]
    )
    root = LlmAgent(name="root", model=llm, tools=[look], sub_agents=[helper])
    runner = make_runner(llm, agent=root)

    await say(runner, "go")
    await say(runner, "and on")

    assert all(faults(sent) == [] for sent in [*llm.seen, *helper_llm.seen])
    ids = [c.id for e in await stored(runner) for c in e.get_function_calls()]
    assert len(set(ids)) == len(ids) == 3


async def test_concurrent_runs_of_one_plugin_do_not_mix():
    """Ten poisoned sessions at once: each request holds its own answers."""
    llm = Scripted()
    runner = make_runner(llm)
    for n in range(10):
        lines = [
            ["user", f"'session {n}"],
            ["root", f"look#c1({n})"], ["root", f"look#c1={n}"],
            ["root", f"look#c1({n + 100})"], ["root", f"look#c1={n + 100}"],
        ]  # fmt: skip
        await poison(runner, read_history(lines), session=f"s{n}")

    await asyncio.gather(*(say(runner, "go on", session=f"s{n}") for n in range(10)))

    assert len(llm.seen) == 10
    for sent in llm.seen:
        n = int(sent[0].parts[0].text.removeprefix("session "))
        assert faults(sent, answered=[n, n + 100]) == []


@pytest.mark.trap("shared-with-the-session")
async def test_untouched_contents_are_the_objects_that_adk_made():
    """The guard replaces what it repairs and hands the rest on as it is."""
    first, last = Watcher(), Watcher()
    last.name = "last"
    runner = make_runner(
        Scripted(), door=None, plugins=[first, HistoryGuardPlugin(), last]
    )
    lines = [
        ["user", "'one"],
        ["root", "'let me look"],
        ["root", "look#c1(1)"],
        ["root", "look#c1=1"],
        ["root", "'ok"],
    ]
    await poison(runner, read_history(lines))

    await say(runner, "go on")

    old, new = first.requests[0], last.requests[0]
    assert len(new) == len(old) - 1
    assert new[0] is old[0]
    assert all(a is b for a, b in zip(new[2:], old[3:], strict=True))


async def test_rejected_by_a_strict_server_without_the_guard_and_not_with_it():
    """An interrupted round over a real client: a 400 before, an answer after."""
    from google.genai.errors import ClientError

    torn = [
        ["user", "'one"],
        ["root", "'let me look"],
        ["root", "look#c1(1)"],
        ["root", "look#c1=1"],
    ]
    with StrictGemini(["done", "done"]) as server:
        bare = make_runner(server.model(), door=None, tools=[look])
        await poison(bare, read_history(torn))
        with pytest.raises(ClientError) as caught:
            await say(bare, "go on")
        guarded = make_runner(server.model(), tools=[look])
        await poison(guarded, read_history(torn))
        before = len(server.problems)

        events = await say(guarded, "go on")

        assert len(server.problems) == before
    assert caught.value.code == 400
    assert events[-1].content.parts[0].text == "done"


@pytest.mark.trap("filter-cuts-a-round", "filter-sees-no-ids")
async def test_context_filter_cannot_leave_an_orphan_in_front():
    """What a filter cuts in front of the guard, by whatever count, is mended."""
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin

    lines = [
        ["user inv=1", "'one"], ["root inv=1", "look#adk-1(1)"],
        ["root inv=1", "look#adk-1=1"], ["root inv=1", "'ok"],
        ["user inv=2", "'two"], ["root inv=2", "'fine"],
    ]  # fmt: skip
    cut = ContextFilterPlugin(custom_filter=lambda contents: contents[-5:])
    llm = Scripted()
    runner = make_runner(llm, door=None, plugins=[cut, HistoryGuardPlugin()])
    await poison(runner, read_history(lines))

    await say(runner, "go on")

    assert faults(llm.seen[0]) == []
    assert [p.text for c in llm.seen[0] for p in c.parts][-3:] == [
        "two",
        "fine",
        "go on",
    ]


async def test_wrapped_model_mends_what_a_filter_behind_the_plugin_cuts():
    """The last gate stands behind every plugin."""

    class Cutter(BasePlugin):
        async def before_model_callback(
            self, *, callback_context: Any, llm_request: Any
        ) -> None:
            llm_request.contents = llm_request.contents[2:]

    llm = Scripted()
    runner = make_runner(llm, door="both", plugins=[Cutter(name="cutter")])
    await poison(runner, read_history(REPEATED))

    await say(runner, "go on")

    assert faults(llm.seen[0], answered=[2]) == []


async def test_many_rounds_under_one_id_keep_their_answers():
    """Two hundred rounds under one id reach the model, each with its own answer."""
    lines = [["user", "'start"]]
    for n in range(200):
        lines += [["root", f"look#c1({n})"], ["root", f"look#c1={n}"]]
    llm = Scripted()
    runner = make_runner(llm)
    await poison(runner, read_history(lines))

    await say(runner, "go on")

    assert faults(llm.seen[0], answered=range(200)) == []


async def test_call_script_of_the_emulator_runs_through_both_doors(door):
    """Ids from the provider repeat turn after turn; every answer stays in place."""
    script: list[Any] = []
    for n in range(6):
        script += [[answer_call("look", {"n": n}, id="c1")], f"answer {n}"]
    with StrictGemini(script, ids="unique") as server:
        runner = make_runner(server.model(), door=door, tools=[look])
        for n in range(6):
            await say(runner, f"turn {n}", stream=bool(n % 2))

        assert server.problems == []
        last = [types.Content.model_validate(c) for c in server.requests[-1].contents]
    assert faults(last, answered=range(6), signed=True) == []
