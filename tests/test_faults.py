# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A fault inside the guard ends no run: one traceback, one count, ADK's own request.

Every call that the guard makes is made to fail in its turn, with real Runners; in
strict mode the fault comes out.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.events import Event
from google.adk.sessions import InMemorySessionService
from google.genai import errors, types

from adk_history_guard.adk import ids as ids_module
from adk_history_guard.adk import model as model_module
from adk_history_guard.adk import plugin as plugin_module
from adk_history_guard.adk import reporting
from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.core import guard as guard_module
from adk_history_guard.diagnostics import telemetry
from tests.agents import Scripted, final, make_runner, partial, poison, say, stored
from tests.builders import call, dumped
from tests.judge import faults
from tests.notation import read_history

BROKEN = [
    ["user", "'one"], ["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "'ok"],
    ["user", "'two"], ["root", "seek#c1(2)"], ["root", "seek#c1=2"], ["root", "'ok"],
    ["user", "'three"], ["root", "look#c3(3)"],
]  # fmt: skip
"""A repeated id and an unanswered call: work for history and request."""


class InjectedError(Exception):
    """The fault that a test puts in."""


def fail(*args: Any, **kwargs: Any) -> Any:
    """Stand in for a call of the guard."""
    raise InjectedError


def look(n: int) -> dict[str, int]:
    """Echo."""
    return {"n": n}


async def talk(llm: Scripted, **options: Any) -> Any:
    """Go on with a broken history, without the caller's own faults in the way."""
    runner = make_runner(llm, tools=[look], **options)
    await poison(runner, read_history(BROKEN))
    await say(runner, "go on", stream=True)
    return runner


def reporter_of(runner: Any) -> Any:
    """Return where the guard of a runner counts."""
    agent = (getattr(runner, "app", None) or runner).root_agent
    for found in runner.plugin_manager.plugins:
        if found.name == "history_guard":
            return found.reporter
    return agent.model._guard_reporter


def replies() -> list[Any]:
    """Return a streamed call and the words after it."""
    made = [partial(call("look", id="c1", n=4)), final(call("look", id="c1", n=4))]
    return [made, "done"]


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the kinds of exceptions in the log.

    A fault of the guard's own is written without its message: frames, then the type.
    """
    kinds = []
    for record in caplog.records:
        if record.name != "adk_history_guard":
            continue
        words = record.getMessage()
        if record.exc_info:
            kinds.append(record.exc_info[0].__name__)
        elif "Traceback (most recent call last):" in words:
            kinds.append(words.splitlines()[-1].rsplit(".", 1)[-1])
    return kinds


PLUGIN = {
    # what fails: its owner, its name, how often it is called in two requests
    "history": (plugin_module, "repair_events", 1),
    "names": (plugin_module, "agent_names", 1),
    "guard": (plugin_module, "guard", 2),
    "pairing": (guard_module, "pair", None),
    "ids-back": (plugin_module, "find_ids", 2),
    "ledger": (Ledger, "read", 2),
    "target": (plugin_module, "target_of", None),
    "stream": (ids_module.Stream, "see", 3),
    "late-round": (plugin_module, "bring_late_round", None),
    "repeats": (plugin_module.HistoryGuardPlugin, "_catch_repeats", None),
    "telemetry-changed": (telemetry, "changed", None),
    "telemetry-minted": (telemetry, "minted", None),
    "telemetry-took": (telemetry, "took", None),
    "chose": (reporting.Reporter, "chose", 2),
}


@pytest.mark.parametrize(("owner", "name", "times"), PLUGIN.values(), ids=PLUGIN)
async def test_fault_in_the_plugin_is_counted_and_the_run_goes_on(
    owner, name, times, monkeypatch, caplog
):
    """Each failing call leaves one traceback and one count; the model is asked."""
    monkeypatch.setattr(owner, name, fail)
    llm = Scripted(replies=replies())

    runner = await talk(llm)

    counted = reporter_of(runner).faults
    assert len(llm.seen) == 2
    assert counted >= 1
    assert tracebacks(caplog) == ["InjectedError"] * counted
    assert times in (None, counted)
    last = (await stored(runner))[-1]
    assert last.content.parts[0].text == "done"


@pytest.mark.parametrize(("owner", "name", "times"), PLUGIN.values(), ids=PLUGIN)
async def test_fault_in_the_plugin_comes_out_in_strict_mode(
    owner, name, times, monkeypatch
):
    """ADK wraps it in a RuntimeError."""
    monkeypatch.setattr(owner, name, fail)

    with pytest.raises(RuntimeError) as caught:
        await talk(Scripted(replies=replies()), mode="strict")

    assert isinstance(caught.value.__cause__, InjectedError)


async def test_request_is_what_adk_built_where_the_repair_fails(monkeypatch, caplog):
    """With history and request repair broken, each request is that of ADK alone."""
    bare = Scripted(replies=["done"])
    await talk(bare, door=None)
    for name in ("repair_events", "guard"):
        monkeypatch.setattr(plugin_module, name, fail)
    guarded = Scripted(replies=["done"])

    runner = await talk(guarded)

    assert dumped(guarded.seen[0]) == dumped(bare.seen[0])
    assert reporter_of(runner).faults == 2
    assert tracebacks(caplog) == ["InjectedError"] * 2


MODEL = {
    "guard": (model_module, "guard"),
    "origins": (model_module, "strange_signatures"),
    "target": (model_module, "target_of"),
    "stream": (ids_module.Stream, "see"),
    "watch": (model_module.Watch, "see"),
    "telemetry-took": (telemetry, "took"),
    "telemetry-minted": (telemetry, "minted"),
    "telemetry-changed": (telemetry, "changed"),
}


@pytest.mark.parametrize(("owner", "name"), MODEL.values(), ids=MODEL)
async def test_fault_around_the_model_is_counted_and_the_run_goes_on(
    owner, name, monkeypatch, caplog
):
    """The guarded model sends what it was handed."""
    monkeypatch.setattr(owner, name, fail)
    llm = Scripted(replies=replies())

    runner = await talk(llm, door="model")

    counted = reporter_of(runner).faults
    assert len(llm.seen) == 2
    assert counted >= 1
    assert tracebacks(caplog) == ["InjectedError"] * counted


@pytest.mark.parametrize(("owner", "name"), MODEL.values(), ids=MODEL)
async def test_fault_around_the_model_comes_out_in_strict_mode(
    owner, name, monkeypatch
):
    """It comes out as it is: no plugin stands between."""
    monkeypatch.setattr(owner, name, fail)

    with pytest.raises(InjectedError):
        await talk(Scripted(replies=replies()), door="model", mode="strict")


async def test_failing_id_source_leaves_the_id_to_adk(door, monkeypatch, caplog):
    """Where no id can be made, the call keeps what it came with and runs."""
    monkeypatch.setattr(ids_module, "platform_uuid", SimpleNamespace(new_uuid=fail))
    llm = Scripted(replies=[final(call("look", id="c9", n=4)), "done"])

    runner = await talk(llm, door=door)

    answers = [r for e in await stored(runner) for r in e.get_function_responses()]
    assert (answers[-1].id, answers[-1].response) == ("c9", {"n": 4})
    assert tracebacks(caplog) == ["InjectedError"] * reporter_of(runner).faults


async def test_fault_told_through_broken_telemetry_still_ends_nothing(
    door, monkeypatch, caplog
):
    """Even the count of the fault may fail."""
    monkeypatch.setattr(telemetry, "fault", fail)
    for module in (plugin_module, model_module):
        monkeypatch.setattr(module, "guard", fail)
    llm = Scripted(replies=["done"])

    runner = await talk(llm, door=door)

    assert len(llm.seen) == 1
    assert reporter_of(runner).faults == 1


SECRET = "the patient is called Ada Byron"  # noqa: S105 - nobody's password


def quote(*args: Any, **kwargs: Any) -> Any:
    """Fail as pydantic does, quoting a value of the user's, and then once more."""
    try:
        types.FunctionCall(name="look", args=SECRET)
    except ValueError as error:
        raise KeyError(SECRET) from error


async def test_fault_is_logged_without_what_it_quotes(door, monkeypatch, caplog):
    """Frames and types of a fault and of its cause are told, but no message."""
    for module in (plugin_module, model_module):
        monkeypatch.setattr(module, "guard", quote)

    await talk(Scripted(replies=["done"]), door=door)

    (told,) = [r for r in caplog.records if "failed in" in r.getMessage()]
    lines = told.getMessage().splitlines()
    assert SECRET not in caplog.text
    assert lines.count("Traceback (most recent call last):") == 2
    assert "pydantic_core._pydantic_core.ValidationError" in lines
    assert lines[-1] == "builtins.KeyError"
    assert '    types.FunctionCall(name="look", args=SECRET)' in lines
    assert told.exc_info is None


async def test_fault_of_the_dump_is_logged_without_what_it_quotes(
    door, monkeypatch, tmp_path, caplog
):
    """Our own writing of a dump tells no value; a folder's error names the folder."""
    monkeypatch.setattr("adk_history_guard.diagnostics.files.write_dump", quote)

    with pytest.raises(errors.ClientError):
        await talk(Scripted(replies=[refused()]), door=door, dump=tmp_path)

    assert SECRET not in caplog.text
    assert tracebacks(caplog) == ["KeyError"]


def complain(rejected: Any) -> None:
    """Fail as a callable of the user's, which may say what it likes."""
    message = f"no place for {SECRET}"
    raise InjectedError(message)


@pytest.mark.parametrize("what", ["dump", "on_rejected"])
async def test_what_a_listener_raises_is_logged_as_it_is(what, door, caplog):
    """It is the user's own code: its message is what helps."""
    with pytest.raises(errors.ClientError):
        await talk(Scripted(replies=[refused()]), door=door, **{what: complain})

    assert f"no place for {SECRET}" in caplog.text


def refused() -> errors.ClientError:
    """Return a provider's rejection."""
    body = {"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}}
    return errors.ClientError(400, body)


@pytest.mark.parametrize("what", ["dump", "on_rejected"])
async def test_failing_listener_leaves_the_original_error(what, door, caplog):
    """A dump that raises is logged; the provider's error goes on as it is."""
    error = refused()
    llm = Scripted(replies=[error])

    with pytest.raises(errors.ClientError) as caught:
        await talk(llm, door=door, **{what: fail})

    assert caught.value is error
    assert tracebacks(caplog) == ["InjectedError"]


@pytest.mark.parametrize("name", ["rejected", "fault"])
async def test_failing_telemetry_leaves_the_original_error(
    name, door, monkeypatch, caplog
):
    """A rejection that cannot be counted is still the provider's error."""
    monkeypatch.setattr(telemetry, name, fail)
    monkeypatch.setattr(reporting, "_log", fail)
    error = refused()

    with pytest.raises(errors.ClientError) as caught:
        await talk(Scripted(replies=[error]), door=door)

    assert caught.value is error
    assert "InjectedError" in tracebacks(caplog)


class HostileEvent(Event):
    """Raises at whoever of the guard reads it; ADK itself may."""

    def __getattribute__(self, name: str) -> Any:
        """Look at who asks."""
        asking = sys._getframe(1).f_globals.get("__name__", "")
        if asking.startswith("adk_history_guard") and name in HOSTILE:
            raise InjectedError
        return super().__getattribute__(name)


HOSTILE = ("content", "author", "invocation_id", "long_running_tool_ids", "actions")


class HostileStore(InMemorySessionService):
    """Returns events of a class of its own."""

    async def get_session(self, **kwargs: Any) -> Any:
        """Make each event hostile."""
        session = await super().get_session(**kwargs)
        if session is not None:
            for event in session.events:
                event.__class__ = HostileEvent
        return session


async def test_hostile_events_leave_the_request_to_adk(caplog):
    """Events that raise when read end no run."""
    llm = Scripted(replies=["done"])

    runner = await talk(llm, service=HostileStore())

    counted = reporter_of(runner).faults
    assert len(llm.seen) == 1
    assert counted >= 1
    assert set(tracebacks(caplog)) == {"InjectedError"}
    assert len(tracebacks(caplog)) == counted


async def test_hostile_events_come_out_in_strict_mode():
    """Strict mode hides no fault."""
    with pytest.raises(RuntimeError) as caught:
        await talk(Scripted(), service=HostileStore(), mode="strict")

    assert isinstance(caught.value.__cause__, InjectedError)


class FailingStore(InMemorySessionService):
    """Fails to store the n-th event."""

    def __init__(self, fails_at: int) -> None:
        """Start working."""
        super().__init__()
        self.left = fails_at
        self.armed = False

    async def append_event(self, session: Any, event: Event) -> Event:
        """Count down, once armed."""
        if self.armed and not event.partial:
            self.left -= 1
            if self.left < 0:
                self.armed = False
                raise InjectedError
        return await super().append_event(session, event)


@pytest.mark.parametrize("fails_at", range(4))
async def test_failing_store_is_no_fault_of_the_guard(fails_at, caplog):
    """The store's error goes on as it is, and the next run comes right."""
    service = FailingStore(fails_at)
    llm = Scripted(replies=[*replies(), "again"] if fails_at else ["again"])
    runner = make_runner(llm, tools=[look], service=service)
    await poison(runner, read_history(BROKEN))
    service.armed = True

    with pytest.raises(InjectedError):
        await say(runner, "go on", stream=True)
    await asyncio.sleep(0)
    await say(runner, "once more")

    assert reporter_of(runner).faults == 0
    assert tracebacks(caplog) == []
    wanted = [1, 2, 4] if fails_at == 3 else [1, 2]
    assert faults(llm.seen[-1], answered=wanted) == []


def test_nothing_is_logged_as_a_fault_by_these_tests_themselves():
    """The logger that the tests read is the package's."""
    assert reporting.logger is logging.getLogger("adk_history_guard")
