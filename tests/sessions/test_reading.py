# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The audit leaves no trace, reads every kind of source, and names what it cannot."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil

import pytest
from click.testing import CliRunner
from google.adk.sessions import InMemorySessionService

from adk_history_guard.cli import main
from adk_history_guard.errors import ConfigurationError
from adk_history_guard.sessions import (
    Filters,
    Key,
    StoreError,
    audit_service,
    audit_store,
)
from adk_history_guard.sessions.shards import read_shard
from adk_history_guard.sessions.tables import TableReader
from tests.sessions.histories import HEALTHY, POISONED, interrupted, plain
from tests.sessions.stores import APP, USER, Store, fill, opened, snapshot


def run(*args):
    """Run the command line."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def lines(result):
    """Return the JSON lines that a command has printed."""
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A file with two poisoned sessions among twelve, which nobody changes."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    fill(Store("v1", f"sqlite+aiosqlite:///{path}"), healthy=10, poisoned=2)
    return path


@pytest.fixture
def store(make_store, filled, tmp_path):
    """A store of its own with two poisoned sessions among twelve."""
    shutil.copyfile(filled, tmp_path / "store.db")
    return make_store("v1-sqlite")


def set_journal(path, mode):
    """Set the journal mode of an SQLite file, and close it."""
    with opened(path) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_audit_leaves_no_trace(store, tmp_path, mode):
    """No file is made, none is touched, whatever the journal mode."""
    set_journal(tmp_path / "store.db", mode)
    before = snapshot(tmp_path)

    found = list(audit_store(store.url))

    assert sum(one.poisoned for one in found) == 2
    assert list(before) == ["store.db"]
    assert snapshot(tmp_path) == before


def test_audit_sees_what_a_live_writer_has_not_checkpointed(store, tmp_path):
    """An application has the store open in write-ahead mode."""
    set_journal(tmp_path / "store.db", "WAL")
    with opened(tmp_path / "store.db") as writer:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("UPDATE sessions SET id = 'renamed' WHERE id = 's00000'")
        writer.execute(
            "UPDATE events SET session_id='renamed' WHERE session_id='s00000'"
        )
        writer.commit()

        found = [one.key.session_id for one in audit_store(store.url)]

    assert "renamed" in found
    assert "s00000" not in found


def test_audit_does_not_hold_a_writer_up(store, tmp_path):
    """Between two sessions of an audit ADK can write."""
    audit = audit_store(store.url)
    next(audit)

    with opened(tmp_path / "store.db") as writer:
        writer.execute("PRAGMA busy_timeout=0")
        writer.execute("UPDATE sessions SET state = '{\"new\": 1}'")
        writer.commit()

    assert len(list(audit)) == 11


def test_audit_writes_a_line_of_json_for_each_session(store):
    """Each line has the key, the number of events, violations and changes."""
    result = run("audit", store.url, "--format", "json")
    found = lines(result)

    assert result.exit_code == 0
    assert [sorted(line) for line in found] == [
        ["app_name", "changes", "events", "session_id", "user_id", "violations"]
    ] * 12
    poisoned = [line for line in found if line["violations"]]
    assert [(p["session_id"], p["violations"][0]["code"]) for p in poisoned] == [
        ("s00005", "HG501"),
        ("s00011", "HG101"),
    ]
    assert poisoned[1]["changes"] == [
        {
            "code": "HG101",
            "action": "add",
            "place": "events[1].parts[0]",
            "message": "a placeholder response to 'look' (id 'call-1')",
        }
    ]
    assert "12 sessions, 2 poisoned" in result.stderr


def test_closing_table_sums_up_by_rule(store):
    """A rule, how many sessions, first and last seen, and the apps."""
    result = run("audit", store.url, "--quiet")
    seen = ("2026-09-21", "14:13")
    table = [line.split() for line in result.stdout.splitlines() if "  HG" in line]

    assert table == [
        ["HG101", "unanswered-call", "1", *seen, *seen, "travel"],
        ["HG501", "repeated-id", "1", *seen, *seen, "travel"],
    ]
    assert result.stdout.splitlines()[-1] == "12 sessions, 2 poisoned"


def test_filters_choose_sessions(make_store):
    """By app, by user, by time, and so many."""
    store = make_store("v1-sqlite")
    for n, (app, user) in enumerate([("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")]):
        asyncio.run(store.put(f"s{n}", plain(n), app=app, user=user))

    def chosen(**filters):
        return [f.key.session_id for f in audit_store(store.url, Filters(**filters))]

    assert chosen() == ["s0", "s1", "s2", "s3"]
    assert chosen(app="a") == ["s0", "s1"]
    assert chosen(user="x") == ["s0", "s2", "s3"]
    assert chosen(app="b", limit=1) == ["s2"]
    assert chosen(since=1_790_000_003.0) == ["s0", "s1", "s2", "s3"]
    assert chosen(since=1_790_000_003.5) == []


def test_shards_cover_every_session_once(store):
    """Four shares, counted from 0 as job runners do, and each session in one."""
    shares = [
        [line["session_id"] for line in lines(result)]
        for result in (
            run("audit", store.url, "--format", "json", "--shard", f"{n}/4")
            for n in range(4)
        )
    ]

    assert sorted(itertools.chain(*shares)) == [f"s{n:05}" for n in range(12)]


def test_shares_are_about_the_same_size():
    """A thousand sessions over four shares, each in one."""
    keys = [Key("app", f"user-{n % 7}", f"session-{n}") for n in range(1000)]

    sizes = [
        sum(Filters(shard=(share, 4)).takes(key) for key in keys) for share in range(4)
    ]

    assert sizes == [226, 251, 254, 269]


@pytest.mark.parametrize(
    ("value", "environment", "expected"),
    [
        pytest.param("1/4", {}, (1, 4), id="argument"),
        pytest.param("4/4", {}, (0, 4), id="counted from one"),
        pytest.param(None, {}, None, id="nothing"),
        pytest.param(
            None,
            {"CLOUD_RUN_TASK_INDEX": "2", "CLOUD_RUN_TASK_COUNT": "5"},
            (2, 5),
            id="cloud run",
        ),
        pytest.param("/3", {"JOB_COMPLETION_INDEX": "2"}, (2, 3), id="kubernetes"),
    ],
)
def test_share_comes_from_argument_or_job_runner(value, environment, expected):
    """Cloud Run tells index and count, Kubernetes the index alone."""
    assert read_shard(value, environment) == expected


@pytest.mark.parametrize(
    ("value", "environment"),
    [
        ("5/4", {}),
        ("1", {}),
        ("a/b", {}),
        ("0/0", {}),
        (None, {"JOB_COMPLETION_INDEX": "2"}),
    ],
)
def test_wrong_share_is_refused(value, environment):
    """A share that is none would silently leave sessions out."""
    with pytest.raises(ConfigurationError):
        read_shard(value, environment)


def test_audit_goes_on_where_it_stopped(store, tmp_path, monkeypatch):
    """What was seen before the stop is not read again, but is in the table."""
    monkeypatch.setattr("adk_history_guard.sessions.walk.pages.__defaults__", (4,))
    point = tmp_path / "point.json"
    monkeypatch.setattr(
        "adk_history_guard.sessions.progress.Progress.add", _stop_at_second()
    )
    stopped = run("audit", store.url, "--format", "json", "--resume", point)
    monkeypatch.undo()

    rest = run("audit", store.url, "--format", "json", "--resume", point)
    again = run("audit", store.url, "--format", "json", "--resume", point)

    assert isinstance(stopped.exception, StoppedError)
    assert [line["session_id"] for line in lines(rest)] == [
        f"s{n:05}" for n in range(4, 12)
    ]
    assert "12 sessions, 2 poisoned" in rest.stderr
    assert lines(again) == []
    assert "12 sessions, 2 poisoned" in again.stderr


class StoppedError(Exception):
    """The audit was stopped."""


def _stop_at_second():
    """Make an `add` that stops the audit at its second page."""
    seen = []

    def add(self, sessions, poisoned):
        del self, sessions, poisoned
        seen.append(1)
        if len(seen) == 2:
            raise StoppedError

    return add


@pytest.mark.once
def test_processes_find_what_one_finds(store):
    """Two processes give the same lines in the same order."""
    one = [found.to_dict() for found in audit_store(store.url)]

    two = [found.to_dict() for found in audit_store(store.url, jobs=2)]

    assert two == one


@pytest.mark.parametrize("kind", ["v1-sqlite", "v1-postgres"])
@pytest.mark.parametrize("filters", [Filters(), Filters(user=USER)], ids=["all", "one"])
def test_many_events_are_read_a_part_at_a_time(make_store, kind, filters, monkeypatch):
    """Memory does not depend on how many events the sessions of a page have."""
    store = make_store(kind)
    fill(store, healthy=10, poisoned=2)
    whole = [found.to_dict() for found in audit_store(store.url, filters)]
    read, sizes = TableReader._texts, []

    def spied(self, *args, **options):
        counts, texts = read(self, *args, **options)
        sizes.append(None if texts is None else len(texts))
        return counts, texts

    monkeypatch.setattr(TableReader, "_texts", spied)
    monkeypatch.setattr("adk_history_guard.sessions.tables.EVENTS_AT_ONCE", 10)
    parts = [found.to_dict() for found in audit_store(store.url, filters)]

    assert parts == whole
    assert len(parts) == 12
    assert sizes[0] is None
    assert sum(sizes[1:]) == sum(found["events"] for found in whole)
    assert max(sizes[1:]) <= 10


def test_row_that_is_no_event_is_named_and_the_rest_goes_on(store, tmp_path):
    """One clear line with the key of the session, and exit status 1."""
    with opened(tmp_path / "store.db") as connection:
        for session, data in [("s00000", "no json"), ("s00001", '{"author": 1}')]:
            connection.execute(
                "UPDATE events SET event_data = ? WHERE session_id = ?", (data, session)
            )

    result = run("audit", store.url, "--format", "json")

    assert result.exit_code == 1
    assert len(lines(result)) == 12
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    assert errors == [
        (
            "error: travel/ada/s00000: event 'event-000' is no event: ValueError: "
            "expected ident at line 1 column 2"
        ),
        "error: travel/ada/s00001: event 'event-000' is no event: author: string_type",
    ]
    assert "2 not readable" in result.stderr


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (
            "CREATE TABLE other (id)",
            "there are no tables 'sessions' and 'events' of ADK",
        ),
        (
            "CREATE TABLE sessions (id); CREATE TABLE events (id)",
            "the table 'events' has not the columns of ADK",
        ),
        (
            (
                "CREATE TABLE sessions (id); CREATE TABLE events (id);"
                "CREATE TABLE adk_internal_metadata (key, value);"
                "INSERT INTO adk_internal_metadata VALUES ('schema_version', '7')"
            ),
            "version '7' of ADK's tables",
        ),
    ],
)
def test_unknown_schema_is_one_clear_line(tmp_path, tables, reason):
    """A store that is not ADK's, or of a later ADK, is not guessed at."""
    with opened(tmp_path / "other.db") as connection:
        connection.executescript(tables)

    result = run("audit", tmp_path / "other.db")

    assert result.exit_code == 2
    assert result.stderr == f"Error: unknown schema: {reason}\n"


def test_missing_store_is_one_clear_line(tmp_path):
    """A path that leads nowhere makes no new database."""
    result = run("audit", f"sqlite:///{tmp_path / 'none.db'}")

    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert result.stderr == f"Error: there is no file '{tmp_path / 'none.db'}'\n"


def test_missing_rights_are_one_clear_line(postgres, monkeypatch):
    """A user of the database who may not read the events."""
    url = postgres()
    Store("v1", url)
    asyncio.run(Store("v1", url).put("s", []))
    name = url.split("@/")[1].split("?")[0]
    postgres.psql(
        f"DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN;\n\\c {name}\n"
        "GRANT SELECT ON sessions TO guest;"
    )

    result = run("audit", url.replace("postgres@", "guest:secret@"))

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "permission denied" in result.stderr
    assert "secret" not in result.stderr


def test_lost_connection_is_one_clear_line():
    """A server that is not there."""
    result = run("audit", "postgresql+asyncpg://ada:secret@127.0.0.1:9/none")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "127.0.0.1" in result.stderr
    assert "secret" not in result.stderr


def test_any_session_service_can_be_audited():
    """What ADK keeps in memory is audited through the service itself."""

    async def audit():
        service = InMemorySessionService()
        for name, events in [("good", plain(1)), ("bad", interrupted(1))]:
            session = await service.create_session(
                app_name=APP, user_id=USER, session_id=name
            )
            for event in events:
                await service.append_event(session, event)
        return [
            (found.key.session_id, found.events, found.poisoned)
            async for found in audit_service(service, app_name=APP)
        ]

    assert sorted(asyncio.run(audit())) == [("bad", 4, True), ("good", 4, False)]


@pytest.mark.parametrize("make", HEALTHY, ids=lambda make: make.__name__)
def test_quick_look_and_full_reading_agree_on_health(make_store, make, monkeypatch):
    """A session that the quick look passes is clean in the full reading too."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("s", make(1)))
    monkeypatch.setattr(
        "adk_history_guard.sessions.audit.is_clean", lambda *a, **k: False
    )

    assert [found.poisoned for found in audit_store(store.url)] == [False]


@pytest.mark.parametrize("name", POISONED)
def test_quick_look_lets_no_poison_pass(make_store, name):
    """Every way to poison a session is seen by the quick look."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("s", POISONED[name][0](1)))

    assert [found.poisoned for found in audit_store(store.url)] == [True]


def test_other_databases_are_refused():
    """Only what is tested is promised."""
    with pytest.raises(StoreError, match="mysql is not supported"):
        list(audit_store("mysql+pymysql://root@localhost/x"))


def test_write_ahead_log_without_index_is_refused(store, tmp_path):
    """Reading it would make the index; so it is left to its application."""
    set_journal(tmp_path / "store.db", "WAL")
    (tmp_path / "store.db-wal").write_bytes(b"\0" * 64)

    with pytest.raises(StoreError, match="write-ahead log without its index"):
        list(audit_store(store.url))
