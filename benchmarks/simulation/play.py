# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One simulated session, from its first message to the last check."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import asdict, dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from adk_history_guard.testing import RandomModel, StrictGemini
from benchmarks.simulation.client import Client
from benchmarks.simulation.ledger import PENDING, Entry, Kind, Ledger, State, answer
from benchmarks.simulation.process import Process, as_tools, check_ids, open_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.adk.events import Event

    from adk_history_guard.testing import Model
    from adk_history_guard.testing.models import Reply

Ids = Literal["pool20", "unique", "missing", "clashing"]

_POOLS: Mapping[Ids, dict[str, Any]] = {
    "pool20": {"id_pool": 20},
    "unique": {"id_pool": "unique"},
    "missing": {"id_pool": "missing"},
    # So few that they repeat within one reply.
    "clashing": {"id_pool": 3, "repeat_in_turn": True},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One session to simulate.

    Attributes:
        seed: Seed of the model and of the client.
        turns: How many messages the client sends.
        stream: Whether the model streams.
        ids: Where the model takes its ids from.
        guard: Whether the guard is there.
        resumable: Whether the app resumes invocations.
        restart: How likely runner, service and plugin are made anew before a turn.
    """

    seed: int = 1
    turns: int = 60
    stream: bool = False
    ids: Ids = "pool20"
    guard: bool = True
    resumable: bool = False
    restart: float = 0.3


@dataclass(slots=True)
class Outcome:
    """What came of a session; plain data, fit for JSON."""

    plan: dict[str, Any]
    turns: int = 0
    requests: int = 0
    calls: int = 0
    late: int = 0
    restarts: int = 0
    breaches: list[dict[str, Any]] = field(default_factory=list)


class _Watched:
    """A model that has each request checked before it answers."""

    def __init__(self, inner: RandomModel, ledger: Ledger) -> None:
        self._inner = inner
        self._ledger = ledger

    def reply(self, contents: list[Any], step: int) -> Reply:
        """Check the request, then answer it."""
        self._ledger.check_request(contents)
        known = len(self._inner.calls)
        reply = self._inner.reply(contents, step)
        for made in self._inner.calls[known:]:
            wanted = 0 if made.name == "pay" else 1
            entry = Entry(made.name, made.args, wanted=wanted)
            self._ledger.calls[made.n] = entry
        return reply


_SPECS: Mapping[str, Mapping[str, Any]] = {
    "look": {"words": "str"},
    "measure": {"size": "int", "exact": "bool"},
    "start_job": {"words": "str"},
    "fetch_file": {"size": "int"},
    "pay": {"amount": "float"},
}
"""The tools of the model with the kinds of their arguments beside the token."""


def _tools(ledger: Ledger, rng: Random) -> list[Any]:
    async def look(n: int, words: str) -> dict[str, Any]:
        """Look something up."""
        await asyncio.sleep(rng.random() / 500)
        ledger.ran("look", {"n": n, "words": words}, State.ANSWERED)
        return answer(n)

    def measure(n: int, size: int, exact: bool) -> dict[str, Any]:  # noqa: FBT001 - the model's arguments
        """Measure something."""
        args = {"n": n, "size": size, "exact": exact}
        ledger.ran("measure", args, State.ANSWERED)
        return answer(n)

    def start_job(n: int, words: str) -> dict[str, Any]:
        """Start a job that says that it has started."""
        ledger.ran("start_job", {"n": n, "words": words}, State.PENDING)
        return dict(PENDING)

    def fetch_file(n: int, size: int) -> None:
        """Start a job that says nothing yet."""
        ledger.ran("fetch_file", {"n": n, "size": size}, State.PENDING)

    async def pay(n: int, amount: float) -> dict[str, Any]:
        """Pay, once a person has confirmed it."""
        ledger.ran("pay", {"n": n, "amount": amount}, State.ANSWERED)
        return answer(n)

    return as_tools(look, measure, jobs=(start_job, fetch_file), confirmed=pay)


async def _play(plan: Plan, folder: str) -> Outcome:
    ledger = Ledger()
    rng = Random(f"client:{plan.seed}")
    client = Client(rng, ledger)
    inner = RandomModel(plan.seed, _SPECS, steps=3, **_POOLS[plan.ids])
    model: Model = _Watched(inner, ledger)
    outcome = Outcome(asdict(plan))
    tools = _tools(ledger, Random(plan.seed))
    store = "sqlite" if plan.seed % 2 else "database"
    with StrictGemini(model) as server:

        def start() -> Process:
            return Process(
                server.model(),
                tools,
                open_store(store, folder),
                guard=plan.guard,
                resumable=plan.resumable,
            )

        process = start()
        await process.begin()
        for turn in range(plan.turns):
            ledger.turn = turn
            if turn and rng.random() < plan.restart:
                await process.close()
                process = start()
                outcome.restarts += 1
            refused, failed = len(server.rejections), False
            events: list[Event] = []
            try:
                run = process.run(client.speak(), stream=plan.stream)
                events = [event async for event in run]
            except Exception as error:  # noqa: BLE001 - whatever a run may raise
                failed = True
                ledger.note(Kind.FAULT, f"{type(error).__name__}: {error}"[:300])
            for request in server.rejections[refused:]:
                failed = True
                ledger.note(Kind.REJECTED, "; ".join(request.problems))
            if process.plugin.reporter.faults:
                ledger.note(Kind.FAULT, "the guard failed; see its log")
                process.plugin.reporter.faults = 0
            outcome.turns += 1
            if failed:
                break
            client.read(events)
            ledger.check_runs()
        check_ids(ledger, await process.session())
        await process.close()
        outcome.requests = len(server.requests)
    outcome.calls = len(ledger.calls)
    outcome.late = client.late
    outcome.breaches = [
        {"kind": str(b.kind), "turn": b.turn, "what": b.what} for b in ledger.breaches
    ]
    return outcome


def play(plan: Plan) -> Outcome:
    """Play one session in an event loop and a folder of its own.

    Args:
        plan: The session.

    Returns:
        What came of it. A session ends at its first refused request.
    """
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_play(plan, folder))
