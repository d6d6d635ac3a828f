# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A repair that is killed, and one beside runs of ADK, lose nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import threading
import time
from collections import defaultdict

import pytest
from google.adk.agents import LlmAgent

from adk_history_guard.sessions import audit_store, repair_store, restore_store
from adk_history_guard.sessions.walk import pages
from adk_history_guard.testing import StrictGemini, guarded, say
from tests.sessions.conftest import KINDS
from tests.sessions.histories import POISONED
from tests.sessions.stores import APP, USER, fill

MOMENTS = 50
"""How many times a repair is killed."""

PRELOADED = (
    "adk_history_guard.sessions.plan",
    "adk_history_guard.sessions.repair",
    "adk_history_guard.sessions.tablewrites",
    "sqlalchemy.ext.asyncio",
)
"""What a process that is going to be killed has no need to import itself."""


def repair(url, backup, told=None):
    """Repair a store for good; in a process of its own it tells of each session."""
    if told is not None:
        pages.__defaults__ = (1,)
    for _ in repair_store(url, write=True, backup=backup):
        if told is not None:
            told.send_bytes(b".")


def kill_at(context, url, backup, sessions, seconds):
    """Start a repair, and kill it so long after so many sessions."""
    heard, told = context.Pipe(duplex=False)
    process = context.Process(target=repair, args=(url, backup, told))
    process.start()
    for _ in range(sessions):
        heard.recv_bytes()
    time.sleep(seconds)
    process.kill()
    process.join()
    heard.close()
    told.close()


def by_session(rows):
    """Sort rows by the session that they belong to."""
    out = defaultdict(dict)
    for key, row in rows.items():
        if key[0] in {"sessions", "events"}:
            out[key[3]][key] = row
    return out


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["v1-sqlite", "v1-postgres"])
def test_killed_repair_leaves_no_session_half_written(make_store, kind, tmp_path):
    """Kill -9 at 50 random moments; then a run to the end, and back to the start."""
    store = make_store(kind)
    poison = fill(store, healthy=0, poisoned=40)
    folder = tmp_path / "backup"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    before = store.rows()
    start = time.monotonic()
    repair(store.url, folder)
    each = (time.monotonic() - start) / len(poison)
    healed = by_session(store.rows())
    assert {r.status for r in restore_store(store.url, folder)} == {"restored"}
    poisoned = by_session(before)
    rng = random.Random(5)  # noqa: S311 - seeded on purpose
    partly = 0

    for _ in range(MOMENTS):
        sessions, share = rng.randrange(len(poison)), rng.random()
        kill_at(context, store.url, folder, sessions, 2 * share * each)
        now = by_session(store.rows())
        states = {
            session: (
                now[session] == poisoned[session],
                now[session] == healed[session],
            )
            for session in poison
        }
        assert all(sum(state) == 1 for state in states.values()), states
        count = sum(is_healed for _, is_healed in states.values())
        partly += 0 < count < len(poison)
        if count > len(poison) // 2:
            list(restore_store(store.url, folder))

    assert partly > MOMENTS // 2
    repair(store.url, folder)
    assert by_session(store.rows()) == healed
    assert {r.status for r in restore_store(store.url, folder)} == {"restored"}
    assert store.rows() == before


def look(n: int) -> dict:
    """Look something up."""
    return {"n": n}


async def talk(store, sessions, turns):
    """Run an agent in several sessions at once; the words that were stored."""
    with StrictGemini("fine", on_breach="ignore") as provider:
        agent = LlmAgent(name="root", model=provider.model(), tools=[look])
        runner = guarded(agent, session_service=store.service(), guard=False)
        runner.app_name = APP

        async def some(mine):
            for session in mine:
                for turn in range(turns):
                    words = f"{session} {turn}"
                    await say(runner, words, session_id=session, user_id=USER)

        # More of ADK's own writers at once get in each other's way in SQLite.
        names = list(sessions)
        await asyncio.gather(some(names[::2]), some(names[1::2]))
    return {f"{session} {turn}" for session in sessions for turn in range(turns)}


@pytest.mark.parametrize("kind", ["v1-sqlite", "v1-postgres"])
def test_runs_beside_a_repair_lose_nothing(make_store, kind, tmp_path):
    """ADK appends to the sessions while they are repaired, over and over."""
    store = make_store(kind)
    poison = fill(store, healthy=0, poisoned=len(POISONED))
    before = set(store.rows())
    stop = threading.Event()
    statuses = []

    def repair_on():
        while not stop.is_set():
            done = repair_store(store.url, write=True, backup=tmp_path / "b")
            statuses.extend((one.status, one.error) for one in done)

    thread = threading.Thread(target=repair_on)
    thread.start()
    try:
        words = asyncio.run(talk(store, poison, turns=2))
    finally:
        stop.set()
        thread.join()
    list(repair_store(store.url, write=True, backup=tmp_path / "b"))

    assert {status for status, _ in statuses} <= {"clean", "repaired", "changed"}
    assert [one.poisoned for one in audit_store(store.url)] == [False] * len(poison)
    assert before <= set(store.rows())
    stored = {
        part.text
        for session in poison
        for event in asyncio.run(store.get(session)).events
        if event.content and event.author == "user"
        for part in event.content.parts
    }
    assert words <= stored


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS)
def test_thousand_sessions(make_store, kind, tmp_path):
    """Of 1,000 sessions 143 are poisoned: found, healed, and no other one touched."""
    store = make_store(kind)
    poison = fill(store, healthy=857, poisoned=143)
    before = store.rows()

    found = {f.key.session_id for f in audit_store(store.url) if f.poisoned}
    done = list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    left = [f for f in audit_store(store.url) if f.poisoned or f.error]

    after = store.rows()
    changed = {key[3] for key in before | after if before.get(key) != after.get(key)}
    problems = {session: asyncio.run(_problems(store, session)) for session in poison}
    assert len(poison) == 143
    assert found == set(poison)
    assert {d.key.session_id for d in done if d.status == "repaired"} == set(poison)
    assert left == []
    assert changed == set(poison)
    assert {session: p for session, p in problems.items() if p} == {}


async def _problems(store, session_id):
    with StrictGemini("fine") as provider:
        agent = LlmAgent(name="root", model=provider.model(), tools=[look])
        runner = guarded(agent, session_service=store.service(), guard=False)
        runner.app_name = APP
        await say(runner, "And now?", session_id=session_id, user_id=USER)
        return provider.problems
