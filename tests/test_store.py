# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard never writes a session store: SQLite, read back byte for byte."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.sessions import DatabaseSessionService

from tests.agents import Scripted, make_runner, poison, say, stored
from tests.builders import call
from tests.judge import faults
from tests.notation import read_history, read_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CORPUS = Path(__file__).parent / "histories"


def rows(path: Path) -> dict[str, Any]:
    """Return each stored event's row by its id, exactly as SQLite holds it."""
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute("pragma table_info(events)")]
        key = columns.index("id")
        found = database.execute("select * from events").fetchall()
    database.close()
    return {row[key]: row for row in found}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[DatabaseSessionService]:
    """A session service over a SQLite file."""
    made = DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{tmp_path / 's.db'}")
    yield made
    close = getattr(made, "close", None)
    if close is not None:
        await close()
    else:
        await made.db_engine.dispose()


def case(name: str) -> dict[str, Any]:
    """Return a case of the corpus by its name."""
    found = [c for path in CORPUS.glob("*.json") for c in json.loads(path.read_text())]
    return next(c for c in found if c["name"] == name)


def look(n: int = 0) -> dict[str, int]:
    """Echo."""
    return {"n": n}


NAMES = [
    "four-rounds-of-a-counter-that-starts-anew",
    "two-tools-one-turn-two-answers-reversed",
    "two-jobs-one-id-older-ends",
    "first-use-never-answered",
    "response-before-its-call",
    "answered-twice-in-one-event",
    "final-answer-after-talk",
    "confirmed-late-after-talk",
    "orphan-in-the-middle",
]


@pytest.mark.trap("store-not-written")
@pytest.mark.parametrize("name", NAMES)
async def test_stored_events_stay_byte_for_byte(name, service, tmp_path):
    """A run on a poisoned session appends ADK's events and touches no other row."""
    found = case(name)
    llm = Scripted(replies=[[call("look", id="c1", n=7)], "done"])
    runner = make_runner(llm, service=service, tools=[look])
    await poison(runner, read_history(found["history"]))
    before = rows(tmp_path / "s.db")

    events = await say(runner, read_message(found.get("message", ["'go on"])))

    after = rows(tmp_path / "s.db")
    new = after.keys() - before.keys()
    assert {key: after[key] for key in before} == before
    assert {event.id for event in events} <= new
    assert len(new) == len(events) + 1  # and the message of the user


async def test_a_second_process_finds_and_mends_the_same_history(service, tmp_path):
    """What is stored stays poisoned; each new run repairs it to the same request."""
    found = case("four-rounds-of-a-counter-that-starts-anew")
    first = Scripted()
    runner = make_runner(first, service=service)
    await poison(runner, read_history(found["history"]))
    await say(runner, "go on")
    second = Scripted()
    other = DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{tmp_path / 's.db'}")

    await say(make_runner(second, service=other), "and on")

    if hasattr(other, "close"):
        await other.close()
    else:
        await other.db_engine.dispose()
    start = len(first.seen[0])
    assert faults(second.seen[0], answered=found["answers"]) == []
    assert second.seen[0][: start - 1] == first.seen[0][: start - 1]


async def test_calls_of_a_run_are_stored_under_their_new_ids(service):
    """What ADK stores are the minted ids, the same as in the events handed out."""
    replies = [[call("look", id="c1", n=1)], [call("look", id="c1", n=2)]]
    runner = make_runner(Scripted(replies=replies), service=service, tools=[look])

    events = await say(runner, "go")

    shown = [c.id for e in events for c in e.get_function_calls()]
    kept = [c.id for e in await stored(runner) for c in e.get_function_calls()]
    assert shown == kept
    assert len(set(kept)) == 2
