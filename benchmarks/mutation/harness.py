# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Tests run against mutants, each in a forked child of a collected session.

Importing ADK and collecting takes seconds, a test milliseconds: so tests are
collected once, and each child exchanges the code of one function before it runs
them. Only tests that reach the changed line run, those first that have told most
mutants, and the first failure ends it. Of a name of the module all tests run.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import select
import signal
import sys
import time
import types
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.mutation.mutants import Mutant

PACKAGE = "adk_history_guard"
EXAMPLES = 25
"""How many examples of a law judge a mutant; the tests themselves take more."""

LONGEST = 2.5
"""Tests that take longer, in seconds, judge no mutant."""

SURVIVED, KILLED, TIMED_OUT, UNREACHED = "survived", "killed", "timeout", "unreached"


class Session:
    """A pytest plugin that runs its tests against mutants, instead of once."""

    def __init__(self, module: str, work: Callable[[Session], None]) -> None:
        self.told = ""
        self._name = module
        self._work = work
        self._lines: list[set[int]] = []
        self._times: list[float] = []
        self._told: Counter[int] = Counter()
        self._items: list[pytest.Item] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn what each test reaches, then do the work."""
        self._items = session.items
        self.module = sys.modules[self._name]
        for item in self._items:
            _make_brief(getattr(item, "obj", None))
        self._learn()
        self._work(self)
        return True

    def _learn(self) -> None:
        """Run every test once, as it is, and note the lines that it reaches."""
        gc.collect()
        gc.freeze()  # children need not look at what is there
        read, write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            os.close(read)
            _silence()
            with os.fdopen(write, "w") as out:
                for item, following in _pairwise(self._items):
                    lines: set[int] = set()
                    began = time.perf_counter()
                    with _traced(str(self.module.__file__), lines):
                        failed = _fails(item, following)
                    took = time.perf_counter() - began
                    reached = ",".join(map(str, sorted(lines)))
                    out.write(f"{int(failed)} {took:.4f} {reached}\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as told:
            rows = [line.rstrip("\n").split(" ") for line in told]
        os.waitpid(pid, 0)
        broken = [
            item.nodeid
            for item, (failed, _, _) in zip(self._items, rows, strict=True)
            if failed != "0"
        ]
        if broken:
            message = f"these fail without any mutant: {broken}"
            raise pytest.UsageError(message)
        self.told = f"{len(rows)} tests"
        self._times = [float(took) for _, took, _ in rows]
        self._lines = [set(map(int, r.split(","))) if r else set() for *_, r in rows]

    def judge(self, mutant: Mutant) -> tuple[str, str]:
        """Run the tests that reach a mutant; return what came of it, and of which."""
        lines = self._reach(mutant)
        chosen = [
            n
            for n, reached in enumerate(self._lines)
            if (mutant.values or reached & lines) and self._times[n] < LONGEST
        ]
        if not chosen:
            return UNREACHED, ""
        chosen.sort(key=lambda n: (-self._told[n], self._times[n]))
        limit = 10 + 5 * sum(self._times[n] for n in chosen)
        read, write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            os.close(read)
            self._child(mutant, chosen, write)
        os.close(write)
        with os.fdopen(read, "rb") as told:
            ready, _, _ = select.select([told], [], [], limit)
            word = told.read().decode() if ready else ""
        if not ready:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        if word == SURVIVED:
            return SURVIVED, ""
        if not ready:
            return TIMED_OUT, ""
        if word:
            self._told[int(word)] += 1
            return KILLED, self._items[int(word)].nodeid
        return KILLED, "the interpreter ended"

    def _child(self, mutant: Mutant, chosen: Sequence[int], write: int) -> None:
        word = ""  # where the mutant cannot even be put in
        try:
            _silence()
            apply(mutant, self.module)
            word = SURVIVED
            items = [self._items[n] for n in chosen]
            for n, (item, following) in zip(chosen, _pairwise(items), strict=True):
                if _fails(item, following):
                    word = str(n)
                    break
            else:
                word = SURVIVED
        finally:
            os.write(write, word.encode())
            os._exit(0)

    def _reach(self, mutant: Mutant) -> set[int]:
        """The lines of which a test must reach one to see a mutant in a function."""
        if mutant.function is None:
            return set()
        code = _code_of(mutant.code, mutant.function)
        whole = set(_lines(code))
        known = set().union(*self._lines)  # a bare `continue` is no line of its own
        return {mutant.line} if mutant.line in whole & known else whole


def apply(mutant: Mutant, module: types.ModuleType) -> None:
    """Change the imported module as a mutant says."""
    if mutant.values:
        for name, code in mutant.values:
            _give(module, name, eval(code, module.__dict__))  # noqa: S307 - our own
        return
    assert mutant.function is not None  # noqa: S101 - one of the two is set
    found = _function(vars(module), mutant.function)
    found.__code__ = _code_of(mutant.code, mutant.function)
    if mutant.defaults:  # they are no part of the code
        names = {"__name__": module.__name__}
        exec(mutant.code, names)  # noqa: S102 - our own
        new = _function(names, mutant.function)
        found.__defaults__, found.__kwdefaults__ = new.__defaults__, new.__kwdefaults__


def _function(names: Mapping[str, Any], path: str) -> Any:
    first, *rest = path.split(".")
    found = names[first]
    for name in rest:
        found = vars(found)[name]
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, functools.cached_property):
        found = found.func
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    while hasattr(found, "__wrapped__"):
        if hasattr(found, "cache_clear"):
            found.cache_clear()
        found = found.__wrapped__
    return found


def _give(module: types.ModuleType, name: str, new: Any) -> None:
    """Set a name of a module, wherever it was imported."""
    old = getattr(module, name)
    for known, held in list(sys.modules.items()):
        if known.startswith((PACKAGE, "tests")) and vars(held).get(name) is old:
            setattr(held, name, new)


def _code_of(code: types.CodeType, name: str) -> types.CodeType:
    for part in name.split("."):
        code = next(
            inner
            for inner in code.co_consts
            if isinstance(inner, types.CodeType) and inner.co_name == part
        )
    return code


def _lines(code: types.CodeType) -> Iterable[int]:
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _lines(inner)


def _make_brief(test: Any) -> None:
    """Let a law look at few examples."""
    from hypothesis import settings  # pytest wants to import it first

    name = "_hypothesis_internal_use_settings"
    old = getattr(test, name, None)
    if old is not None and old.max_examples > EXAMPLES:
        setattr(test, name, settings(old, max_examples=EXAMPLES))


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    before = item.session.testsfailed
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return item.session.testsfailed > before


def _pairwise(items: Sequence[pytest.Item]) -> Iterable[tuple[pytest.Item, Any]]:
    return zip(items, [*items[1:], None], strict=True)


@contextlib.contextmanager
def _traced(filename: str, lines: set[int]) -> Any:
    def local(frame: Any, event: str, arg: Any) -> Any:
        del arg
        if event == "line":
            lines.add(frame.f_lineno)
        return local

    def called(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != filename:
            return None
        return local(frame, event, arg)

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
