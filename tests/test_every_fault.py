# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Each function that the guard calls in a run fails once: the run goes on.

`tests/test_faults.py` breaks chosen calls for good and looks at what is sent. Here
the interpreter itself makes every function of the package raise in its turn, at its
first call and at its last, so that none is forgotten.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest
from google.genai import errors

from tests.agents import Scripted, final, make_runner, partial, poison, say, stored
from tests.builders import call
from tests.notation import read_history
from tests.test_faults import (
    BROKEN,
    InjectedError,
    look,
    reporter_of,
    tracebacks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "adk_history_guard"
FRAME = {
    # They hold the handlers, and do nothing before they are inside.
    "_harmless.<locals>.run",
    "HistoryGuardPlugin.on_event_callback",
    "_Guarded.generate_content_async",
    "_Guarded._prepare",
    "_Guarded._safely",
    "_Guarded._again",
    "Reporter.fault",
    "Reporter.refused",
    "Reporter.silent",
    "Reporter._hand",
    "_count_fault",
    # The garbage collector calls it, at a time of its own; nothing it raises goes on.
    "IdentityMap.put.<locals>.forget",
    # Assignments of a field or two.
    "Watch.__init__",
    "Attempt.__init__",
    "Attempt.again",
    "Attempt.goes_on",
    "Attempt.yielded",
}
"""What is not made to fail: the frame that the rest stands in."""


class Injector:
    """Counts the calls of the package's functions, and lets one of them fail.

    Attributes:
      calls: How often each function was called, by module and name.
      failed: Whether the fault was put in.
    """

    def __init__(self, name: str = "", at: int = 0) -> None:
        self.calls: dict[str, int] = {}
        self.failed = False
        self._name, self._at = name, at

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        """Look at a call; the interpreter hands on what this raises."""
        if event != "call":
            return
        module = frame.f_globals.get("__name__", "")
        code = frame.f_code
        if not module.startswith(PACKAGE) or code.co_qualname in FRAME:
            return
        if code.co_name.startswith("<"):  # a comprehension is no call of its own
            return
        name = f"{module}:{code.co_qualname}"
        if name in self.calls and code.co_flags & inspect.CO_GENERATOR:
            return  # it only goes on
        self.calls[name] = self.calls.get(name, 0) + 1
        if name == self._name and self.calls[name] == self._at:
            self.failed = True
            raise InjectedError

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Look at every call within the block."""
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)


async def play(
    injector: Injector, door: str, *, refused: bool = False, mode: str = "repair"
) -> tuple[Any, Scripted]:
    """Go on with a broken history, under a fault; return the runner and its model."""
    error = errors.ClientError(400, {"error": {"code": 400, "message": "bad"}})
    end: Any = error if refused else "done"
    made = [partial(call("look", id="c1", n=4)), final(call("look", id="c1", n=4))]
    llm = Scripted(replies=[made, end])
    runner = make_runner(llm, door=door, tools=[look], mode=mode)
    await poison(runner, read_history(BROKEN))
    with injector.watch():
        if refused:
            with pytest.raises(errors.ClientError):
                await say(runner, "go on", stream=True)
        else:
            await say(runner, "go on", stream=True)
    return runner, llm


async def calls_of_a_run(door: str, **options: Any) -> dict[str, int]:
    """Return how often each function is called where caches are warm."""
    for _ in range(2):
        known = Injector()
        await play(known, door, **options)
    return known.calls


@pytest.mark.slow
@pytest.mark.parametrize("refused", [False, True], ids=["answered", "refused"])
async def test_no_function_of_the_guard_can_end_a_run(door, refused, caplog):
    """One traceback, one count, both requests sent, and the end is the model's own."""
    caplog.set_level(logging.CRITICAL, logger="google_adk")
    caplog.handler.setLevel(logging.NOTSET)
    known = await calls_of_a_run(door, refused=refused)
    faults = [(n, at) for n, times in known.items() for at in {1, times}]
    wrong: dict[str, Any] = {}

    for name, at in faults:
        caplog.clear()
        injector = Injector(name, at)
        try:
            runner, llm = await play(injector, door, refused=refused)
        except Exception as error:  # noqa: BLE001 - whatever came out is wrong
            wrong[f"{name} #{at}"] = repr(error)
            continue
        last = (await stored(runner))[-1]
        found = (
            injector.failed,
            len(llm.seen),
            reporter_of(runner).faults,
            tracebacks(caplog),
            refused or last.content.parts[0].text,
        )
        if found != (True, 2, 1, ["InjectedError"], refused or "done"):
            wrong[f"{name} #{at}"] = found

    assert len(faults) > 200
    assert wrong == {}


@pytest.mark.slow
async def test_each_function_of_the_guard_ends_a_strict_run(door, caplog):
    """ADK wraps what the plugin raises; what the guarded model raises comes bare."""
    caplog.set_level(logging.CRITICAL, logger="google_adk")
    hidden = []

    for name in await calls_of_a_run(door, mode="strict"):
        try:
            await play(Injector(name, 1), door, mode="strict")
        except Exception as error:  # noqa: BLE001 - looked at just below
            if not isinstance(error.__cause__ or error, InjectedError):
                hidden.append(f"{name}: {error!r}")
        else:
            hidden.append(name)

    assert hidden == []
