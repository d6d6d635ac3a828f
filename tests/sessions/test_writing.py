# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Repair writes what it must and no more, and can be stopped, run again, undone."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from google.adk import plugins
from google.adk.events import Event
from google.adk.sessions import Session
from google.genai import types

from adk_history_guard.cli import main
from adk_history_guard.errors import ConfigurationError
from adk_history_guard.sessions import Filters, audit_store, repair_store, restore_store
from adk_history_guard.sessions.tablewrites import TableStore
from tests.sessions.conftest import KINDS
from tests.sessions.histories import (
    START,
    Story,
    call,
    half_answered,
    interrupted,
    plain,
    response,
    reused_id,
)
from tests.sessions.stores import APP, USER, fill, opened, snapshot


def run(*args):
    """Run the command line."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def statuses(done):
    """Return what was done, by session id."""
    return {one.key.session_id: one.status for one in done}


def event_data(store, session_id, event_id):
    """Return the stored JSON of an event."""
    row = store.rows()["events", APP, USER, session_id, event_id]
    return json.loads(row["event_data"])


@pytest.fixture
def store(make_store):
    """A store with one session that died in the middle of a call, and a good one."""
    made = make_store("v1-sqlite")
    asyncio.run(made.put("bad", interrupted(1)))
    asyncio.run(made.put("good", plain(1)))
    return made


def test_dry_run_shows_the_diff_and_writes_nothing(store, tmp_path):
    """The default: what would be done, and every line of JSON that would differ."""
    before = snapshot(tmp_path)

    result = run("repair", store.url)

    assert result.exit_code == 0
    assert snapshot(tmp_path) == before
    assert result.stdout.splitlines()[:4] == [
        "travel/ada/bad: planned",
        (
            "  events[1].parts[0]: HG101 add: a placeholder response to 'look' "
            "(id 'call-1')"
        ),
        "  --- no event",
        "  +++ event cfc4964148bf354e486f6ec4b321b1ca",
    ]
    assert result.stdout.count('"made_up": [') == 1
    assert result.stdout.splitlines()[-2:] == [
        "travel/ada/good: clean",
        "1 clean, 1 planned",
    ]
    assert result.stderr == "Dry run: write with --write --backup DIR.\n"


def test_writing_needs_a_backup(store):
    """Without a folder for the untouched events nothing is written."""
    result = run("repair", store.url, "--write")

    assert result.exit_code == 2
    assert "--write needs --backup DIR" in result.stderr
    with pytest.raises(ConfigurationError):
        list(repair_store(store.url, write=True))


@pytest.mark.parametrize("kind", KINDS)
def test_new_row_stands_where_adk_reads_it(make_store, kind, tmp_path):
    """A made-up response comes right after its call, marked; the rest is unmoved."""
    store = make_store(kind)
    asyncio.run(store.put("bad", interrupted(1)))
    before = asyncio.run(store.get("bad"))

    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    after = asyncio.run(store.get("bad"))

    assert [event.id for event in after.events] == [
        "event-000",
        "event-001",
        "cfc4964148bf354e486f6ec4b321b1ca",
        "event-002",
        "event-003",
    ]
    new = after.events.pop(2)
    assert after == before
    assert new.timestamp == pytest.approx(START + 1.001, abs=1e-5)
    assert (new.invocation_id, new.author, new.content.role) == (
        "run-1",
        "root",
        "user",
    )
    assert new.get_function_responses()[0].name == "look"
    assert new.custom_metadata == {
        "adk_history_guard": {"repaired": ["HG101"], "made_up": ["call-1"]}
    }


def test_repair_touches_only_the_fields_that_change(make_store, tmp_path):
    """Whatever else stands in an event's JSON stays, also what this ADK cannot read."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("bad", half_answered(1)))
    before = event_data(store, "bad", "event-002")

    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    after = event_data(store, "bad", "event-002")

    first, second = after["content"].pop("parts")
    assert first["function_response"]["id"] == "call-1"
    assert [second] == before["content"].pop("parts")
    assert after.pop("custom_metadata") == {
        "adk_history_guard": {"repaired": ["HG101"], "made_up": ["call-1"]}
    }
    assert after == before


def test_second_repair_finds_nothing_to_do(store, tmp_path):
    """Repair is idempotent: not a byte of the store changes."""
    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    before = store.rows()

    again = statuses(repair_store(store.url, write=True, backup=tmp_path / "backup"))

    assert again == {"bad": "clean", "good": "clean"}
    assert store.rows() == before


def test_backup_holds_the_untouched_events(store, tmp_path):
    """One file for each repaired session, with all its events as ADK writes them."""
    folder = tmp_path / "backup"

    list(repair_store(store.url, write=True, backup=folder))

    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 1
    document = json.loads(files[0].read_text())
    assert document["session_id"] == "bad"
    assert [Event.model_validate(event) for event in document["events"]] == interrupted(
        1
    )


@pytest.mark.parametrize("kind", KINDS)
def test_session_that_changed_meanwhile_is_left_alone(make_store, kind, tmp_path):
    """ADK appends between reading and writing; what it wrote stays, ours does not."""
    store = make_store(kind)
    asyncio.run(store.put("bad", interrupted(1)))
    read = TableStore.load

    def load(self, head):
        stored = read(self, head)
        asyncio.run(append(store, "bad", "meanwhile"))
        return stored

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableStore, "load", load)
        done = list(repair_store(store.url, write=True, backup=tmp_path / "backup"))

    assert [(one.status, one.error) for one in done] == [
        ("changed", "the session changed since it was read")
    ]
    events = asyncio.run(store.get("bad")).events
    assert [event.id for event in events][-1] == "meanwhile"
    assert len(events) == 5
    assert statuses(
        repair_store(store.url, write=True, backup=tmp_path / "backup")
    ) == {"bad": "repaired"}


async def append(store, session_id, event_id):
    """Append an event the way that a run of ADK does."""
    service = store.service()
    session = await service.get_session(
        app_name=APP, user_id=USER, session_id=session_id
    )
    event = Event(
        id=event_id,
        author="user",
        invocation_id="later",
        timestamp=session.last_update_time + 1,
        content=types.UserContent(event_id),
    )
    await service.append_event(session, event)


@pytest.mark.parametrize("kind", KINDS)
def test_run_that_has_the_session_loaded_goes_on(make_store, kind, tmp_path):
    """A repair between loading and appending is no stale session to ADK."""
    store = make_store(kind)
    asyncio.run(store.put("bad", interrupted(1)))

    async def go_on():
        service = store.service()
        session = await service.get_session(
            app_name=APP, user_id=USER, session_id="bad"
        )
        await asyncio.to_thread(
            lambda: list(
                repair_store(store.url, write=True, backup=tmp_path / "backup")
            )
        )
        event = Event(
            id="late",
            author="root",
            invocation_id="run-1",
            timestamp=session.last_update_time + 1,
            content=types.Content(role="user", parts=[response("look", "call-1", 1)]),
        )
        await service.append_event(session, event)

    asyncio.run(go_on())

    events = asyncio.run(store.get("bad")).events
    assert len(events) == 6
    assert [found.poisoned for found in audit_store(store.url)] == [False]


def test_restore_keeps_what_adk_appended_after_the_repair(store, tmp_path):
    """Only the rows of the repair go back."""
    before = store.rows()
    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    asyncio.run(append(store, "bad", "after"))

    result = run("restore", store.url, "--backup", tmp_path / "backup")

    after = store.rows()
    assert result.exit_code == 0
    assert ("events", APP, USER, "bad", "after") in after
    del after["events", APP, USER, "bad", "after"]
    after["sessions", APP, USER, "bad"] = before["sessions", APP, USER, "bad"]
    assert after == before


def test_restore_leaves_a_row_alone_that_changed_after_the_repair(store, tmp_path):
    """What somebody else wrote into a repaired row is not thrown away."""
    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    with opened(tmp_path / "store.db") as connection:
        connection.execute("UPDATE events SET event_data = '{}' WHERE id LIKE 'cfc49%'")
    before = store.rows()

    result = run("restore", store.url, "--backup", tmp_path / "backup")

    assert result.exit_code == 1
    assert "changed after the repair" in result.stderr
    assert store.rows() == before


def test_second_poison_gets_a_second_backup(store, tmp_path):
    """Restore goes back through both repairs to the first state."""
    folder = tmp_path / "backup"
    before = store.rows()
    list(repair_store(store.url, write=True, backup=folder))
    asyncio.run(append_call(store, "bad"))
    list(repair_store(store.url, write=True, backup=folder))

    undone = [one.status for one in restore_store(store.url, folder)]

    assert undone == ["restored", "restored"]
    left = store.rows().keys() - before.keys()
    assert left == {("events", APP, USER, "bad", "second")}


async def append_call(store, session_id):
    """Append a call that nobody answers."""
    service = store.service()
    session = await service.get_session(
        app_name=APP, user_id=USER, session_id=session_id
    )
    event = Event(
        id="second",
        author="root",
        invocation_id="run-9",
        timestamp=session.last_update_time + 1,
        content=types.Content(role="model", parts=[call("look", "call-9")]),
    )
    await service.append_event(session, event)


def test_newest_call_of_a_busy_session_is_left_alone(make_store, tmp_path):
    """With --idle, a call that may be running now is neither found nor answered."""
    store = make_store("v1-sqlite")
    story = Story().user().model(call("look", "call-1"))
    asyncio.run(store.put("busy", story.events))
    with opened(tmp_path / "store.db") as connection:
        connection.execute("UPDATE sessions SET update_time = datetime('now')")

    assert [f.poisoned for f in audit_store(store.url, Filters(idle=3600))] == [False]
    assert [f.poisoned for f in audit_store(store.url)] == [True]


@pytest.mark.parametrize(
    ("call_time", "next_time"),
    [(START, START), (START, START + 1e-6)],
    ids=["the same time", "a microsecond"],
)
def test_new_row_finds_room_where_there_is_none(
    make_store, tmp_path, call_time, next_time
):
    """Events of one time: the made-up response is still read after its call."""
    store = make_store("v1-sqlite")
    events = interrupted(1)
    for event, time in zip(
        events, (START - 1, call_time, next_time, START + 1), strict=True
    ):
        event.timestamp = time
    asyncio.run(store.put("bad", events))

    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))

    ids = [event.id for event in asyncio.run(store.get("bad")).events]
    new = ids.index("cfc4964148bf354e486f6ec4b321b1ca")
    assert len(ids) == 5
    assert ids.index("event-001") < new < ids.index("event-003")
    assert [found.poisoned for found in audit_store(store.url)] == [False]


def test_resumable_session_is_left_to_adk(make_store):
    """Where ADK keeps the state of agents, it answers open calls itself."""
    store = make_store("v1-sqlite")
    events = interrupted(1)
    events[1].actions.agent_state = {"step": 1}
    asyncio.run(store.put("resumable", events))

    assert [found.poisoned for found in audit_store(store.url)] == [False]


@pytest.mark.once
def test_processes_repair_what_one_repairs(make_store, tmp_path):
    """Two processes leave the same rows as one, in SQLite too."""
    store = make_store("v1-sqlite")
    poison = fill(store, healthy=6, poisoned=6)
    before = store.rows()
    one = tmp_path / "one"
    list(repair_store(store.url, write=True, backup=one))
    expected = store.rows()
    list(restore_store(store.url, one))
    assert store.rows() == before

    done = statuses(
        repair_store(store.url, write=True, backup=tmp_path / "two", jobs=2)
    )

    assert {s for s, status in done.items() if status == "repaired"} == set(poison)
    assert store.rows() == expected


SECRET = b"a key of thirty-two bytes or so."


def stamped(session_id, events, secret=SECRET):
    """Return events with the stamps of `ToolCallIntegrityPlugin`."""
    session = Session(id=session_id, app_name=APP, user_id=USER)
    scene = SimpleNamespace(session=session)
    plugin = plugins.ToolCallIntegrityPlugin(secret_key=secret)
    for event in events:
        asyncio.run(plugin.on_event_callback(invocation_context=scene, event=event))
    return events


needs_stamps = pytest.mark.skipif(
    not hasattr(plugins, "ToolCallIntegrityPlugin"),
    reason="this ADK has no ToolCallIntegrityPlugin",
)


@needs_stamps
def test_stamped_session_is_left_alone_without_the_key(make_store, tmp_path):
    """It is reported, with the way out."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("bad", stamped("bad", reused_id(1))))
    before = store.rows()

    result = run("repair", store.url, "--write", "--backup", tmp_path / "backup")

    assert result.exit_code == 0
    assert store.rows() == before
    assert result.stderr == (
        "error: travel/ada/bad: stamped by ToolCallIntegrityPlugin; "
        "--restamp repairs it\n"
    )


@needs_stamps
def test_stamped_session_is_stamped_anew_with_the_key(make_store, tmp_path):
    """Afterwards the plugin itself accepts every call."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("bad", stamped("bad", reused_id(1))))
    key = tmp_path / "key"
    key.write_bytes(SECRET + b"\n")

    result = run(
        *("repair", store.url, "--write", "--backup", tmp_path / "backup"),
        *("--restamp", key),
    )

    assert result.exit_code == 0, result.stderr
    assert [found.poisoned for found in audit_store(store.url)] == [False]
    scene = SimpleNamespace(session=asyncio.run(store.get("bad")))
    plugin = plugins.ToolCallIntegrityPlugin(secret_key=SECRET)
    asyncio.run(plugin.before_run_callback(invocation_context=scene))


@needs_stamps
def test_tampered_call_is_not_stamped_anew(make_store, tmp_path):
    """A stamp that the key did not make stays as it is, and is reported."""
    store = make_store("v1-sqlite")
    events = stamped("bad", reused_id(1), secret=b"another key")
    asyncio.run(store.put("bad", events))
    key = tmp_path / "key"
    key.write_bytes(SECRET)
    before = store.rows()

    result = run(
        *("repair", store.url, "--write", "--backup", tmp_path / "backup"),
        *("--restamp", key),
    )

    assert result.exit_code == 1
    assert "a stamp that is not good under this key" in result.stderr
    assert store.rows() == before


def test_pickled_code_is_not_run(make_store, tmp_path):
    """The old schema pickles actions; what is no data in a pickle is refused."""
    store = make_store("v0-sqlite")
    asyncio.run(store.put("bad", interrupted(1)))
    trap = tmp_path / "trap"
    code = f"cos\nsystem\n(S'touch {trap}'\ntR.".encode()
    with opened(tmp_path / "store.db") as connection:
        connection.execute("UPDATE events SET actions = ?", (code,))

    found = list(audit_store(store.url))

    assert not trap.exists()
    assert [one.error for one in found] == [
        (
            "event 'event-000' is no event: UnpicklingError: os.system is not data "
            "that ADK stores"
        )
    ]
