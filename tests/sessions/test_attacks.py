# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with a store or a folder is one clear line, and nothing is lost."""

from __future__ import annotations

import asyncio
import errno
import os

import pytest
from click.testing import CliRunner

from adk_history_guard.cli import main
from adk_history_guard.sessions import (
    Filters,
    audit_store,
    repair_store,
    restore_store,
)
from adk_history_guard.sessions.tables import TableReader
from adk_history_guard.sessions.tablewrites import TableStore
from tests.sessions.histories import interrupted, plain, reused_id
from tests.sessions.stores import APP, USER, fill, opened, snapshot

pytestmark = pytest.mark.once

STRANGE = [
    "it's; DROP TABLE events; --",
    "naïve-日本",
    "two\nlines",
    "red\x1b[31m\x1b]0;title\x07",
    "right-to-left\u202e",
    'quote"back\\slash/%/_',
    "../../etc/passwd",
    "[/bold]",
]
"""Ids that act on SQL, on a terminal, on a file system or on markup."""


def run(*args):
    """Run the command line."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def errors(result):
    """Return the lines of a command that report an error."""
    return [line for line in result.stderr.splitlines() if "rror:" in line]


@pytest.mark.parametrize("kind", ["v1-sqlite", "v1-postgres"])
def test_strange_ids_are_healed_and_brought_back(make_store, kind, tmp_path):
    """App, user and session of any name; each is found, healed and restored."""
    store = make_store(kind)
    for name in STRANGE:
        asyncio.run(store.put(name, interrupted(1), app=name, user=name))
    before = store.rows()
    keys = [(name, name, name) for name in STRANGE]

    done = list(repair_store(store.url, write=True, backup=tmp_path / "b"))
    again = [found.poisoned for found in audit_store(store.url)]
    undone = list(restore_store(store.url, tmp_path / "b"))

    assert sorted((tuple(d.key), d.status) for d in done) == sorted(
        (key, "repaired") for key in keys
    )
    assert again == [False] * len(STRANGE)
    assert {(u.status, u.error) for u in undone} == {("restored", None)}
    assert store.rows() == before


def test_strange_ids_cannot_act_on_a_terminal(make_store, tmp_path):
    """Every command prints them on one line each, with all that is hidden escaped."""
    store = make_store("v1-sqlite")
    for name in STRANGE:
        events = reused_id(1)
        events[1].id = f"event {name}"
        asyncio.run(store.put(name, events, app=name, user=name))

    results = [
        run("audit", store.url),
        run("repair", store.url),
        run("repair", store.url, "--write", "--backup", tmp_path / "b"),
        run("restore", store.url, "--backup", tmp_path / "b"),
    ]

    assert [(r.exit_code, r.exception) for r in results] == [(0, None)] * 4
    for result in results:
        assert all(line.isprintable() for line in result.output.split("\n"))
    lines = results[0].stdout.splitlines()
    assert "two\\nlines/two\\nlines/two\\nlines: 8 events, HG501" in lines
    assert any(line.startswith("red\\x1b[31m\\x1b]0;title\\x07/") for line in lines)
    assert any("[/bold]" in line for line in lines if "  HG501" in line)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["audit", "none.db"], "there is no file or folder 'none.db'"),
        (["audit", "sqlite:///none.db"], "there is no file 'none.db'"),
        (["audit", "://"], "this is no URL of a database"),
        (["audit", "{store}", "--resume", "none/r.json"], "No such file or directory"),
        (["repair", "{store}", "--write", "--backup", "{file}/b"], "Not a directory"),
        (["restore", "{store}", "--backup", "none"], "there is no folder 'none'"),
    ],
)
def test_wrong_argument_is_one_clear_line(make_store, tmp_path, args, reason):
    """No traceback, and the store is as it was."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("bad", interrupted(1)))
    (tmp_path / "file").write_text("")
    before = snapshot(tmp_path)
    names = {"store": tmp_path / "store.db", "file": tmp_path / "file"}

    result = run(*(arg.format(**names) for arg in args))

    assert result.exit_code == 2
    assert len(errors(result)) == 1
    assert reason in result.stderr
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, "No space left on device"), (errno.EACCES, "Permission denied")],
)
def test_session_without_a_backup_is_not_written(
    make_store, tmp_path, monkeypatch, number, reason
):
    """The disk is full at the second backup: that session stays, the others do not."""
    store = make_store("v1-sqlite")
    for name in ("a", "b", "c"):
        asyncio.run(store.put(name, interrupted(1)))
    sync, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) == 3:  # A file and its folder for each session.
            raise OSError(number, os.strerror(number))
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    result = run("repair", store.url, "--write", "--backup", tmp_path / "b")
    monkeypatch.undo()

    assert result.exit_code == 1
    assert errors(result) == [f"error: travel/ada/b: [Errno {number}] {reason}"]
    poisoned = [f.key.session_id for f in audit_store(store.url) if f.poisoned]
    assert poisoned == ["b"]
    files = [path.name for path in (tmp_path / "b").rglob("*") if path.is_file()]
    assert len(files) == 2
    assert not any(name.startswith(".") for name in files)


def test_session_deleted_before_it_is_written_stays_deleted(make_store, tmp_path):
    """Between reading and writing somebody deletes it; no row comes back."""
    store = make_store("v1-sqlite")
    for name in ("bad", "gone"):
        asyncio.run(store.put(name, interrupted(1)))
    read = TableStore.load

    def load(self, head):
        stored = read(self, head)
        if head.key.session_id == "gone":
            asyncio.run(
                store.service().delete_session(
                    app_name=APP, user_id=USER, session_id="gone"
                )
            )
        return stored

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableStore, "load", load)
        done = list(repair_store(store.url, write=True, backup=tmp_path / "b"))
    undone = list(restore_store(store.url, tmp_path / "b"))

    assert [(d.key.session_id, d.status) for d in done] == [
        ("bad", "repaired"),
        ("gone", "changed"),
    ]
    assert {(u.key.session_id, u.status, u.error) for u in undone} == {
        ("bad", "restored", None),
        ("gone", "error", "the session is gone"),
    }
    assert {key[3] for key in store.rows() if key[0] == "events"} == {"bad"}


def test_damaged_backup_does_not_stop_the_others(make_store, tmp_path):
    """It is named; strange files beside the backups are none of restore's business."""
    store = make_store("v1-sqlite")
    for name in ("a", "b"):
        asyncio.run(store.put(name, interrupted(1)))
    before = store.rows()
    list(repair_store(store.url, write=True, backup=tmp_path / "b"))
    home = next((tmp_path / "b").iterdir())
    (home / f"{'0' * 32}.1.json").write_text("{")
    (home / "notes.json").write_text("{}")

    result = run("restore", store.url, "--backup", tmp_path / "b")

    assert result.exit_code == 1
    assert len(errors(result)) == 1
    assert "is no backup: JSONDecodeError" in result.stderr
    assert store.rows() == before


def test_store_locked_for_good_is_one_clear_line(make_store, tmp_path, monkeypatch):
    """A write that does not end: the session is left alone, and is healed later."""
    monkeypatch.setattr("adk_history_guard.sessions.engines.SQLITE_WAIT", 0.2)
    store = make_store("v1-sqlite")
    asyncio.run(store.put("bad", interrupted(1)))
    with opened(tmp_path / "store.db") as writer:
        writer.execute("BEGIN IMMEDIATE")

        audit = run("audit", store.url)
        repair = run("repair", store.url, "--write", "--backup", tmp_path / "b")

    assert "1 sessions, 1 poisoned" in audit.stdout
    assert errors(repair) == ["error: travel/ada/bad: database is locked"]
    again = run("repair", store.url, "--write", "--backup", tmp_path / "b")
    assert again.stdout.splitlines()[-1] == "1 repaired"


def test_user_who_may_only_read_can_audit_and_not_write(make_store, postgres, tmp_path):
    """PostgreSQL says so for the session, and the store is as it was."""
    store = make_store("v1-postgres")
    asyncio.run(store.put("bad", interrupted(1)))
    name = store.url.split("@/")[1].split("?")[0]
    postgres.psql(
        f"DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;\n\\c {name}\n"
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;"
    )
    url = store.url.replace("postgres@", "reader@")
    before = store.rows()

    audit = run("audit", url)
    repair = run("repair", url, "--write", "--backup", tmp_path / "b")

    assert "1 sessions, 1 poisoned" in audit.stdout
    assert errors(repair) == [
        "error: travel/ada/bad: permission denied for table sessions"
    ]
    assert store.rows() == before


def test_connection_lost_half_way_is_one_clear_line(make_store, postgres, monkeypatch):
    """What was found before is printed; the end is no traceback."""
    monkeypatch.setattr("adk_history_guard.sessions.walk.pages.__defaults__", (4,))
    store = make_store("v1-postgres")
    fill(store, healthy=6, poisoned=2)
    name = store.url.split("@/")[1].split("?")[0]

    def lose(self, sessions, poisoned):
        del self, sessions, poisoned
        postgres.psql(f"DROP DATABASE {name} WITH (FORCE);")

    monkeypatch.setattr("adk_history_guard.sessions.progress.Progress.add", lose)
    result = run("audit", store.url)

    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 4
    assert len(errors(result)) == 1
    assert f'database "{name}" does not exist' in result.stderr
    assert "Traceback" not in result.output


def test_connection_lost_for_a_moment_costs_nothing(make_store, postgres):
    """The server ends our connection in the middle of a page; it is read again."""
    store = make_store("v1-postgres")
    poison = fill(store, healthy=6, poisoned=2)
    read, ended = TableReader._texts, []

    def texts(self, *args, **options):
        if not ended:
            ended.append(1)
            postgres.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname LIKE 'store%';"
            )
        return read(self, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableReader, "_texts", texts)
        found = list(audit_store(store.url))

    assert ended == [1]
    assert [f.error for f in found] == [None] * 8
    assert {f.key.session_id for f in found if f.poisoned} == set(poison)


def test_large_session_is_healed(make_store, tmp_path):
    """A session of 4,000 events beside a small one."""
    store = make_store("v1-sqlite")
    asyncio.run(store.put("small", plain(1)))
    asyncio.run(store.put("large", interrupted(1)))
    with opened(tmp_path / "store.db") as connection:
        connection.executescript(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
            "WHERE i < 4000) INSERT INTO events SELECT 'more-' || i, app_name, "
            "user_id, session_id, invocation_id, "
            "strftime('%Y-%m-%d %H:%M:%f000', timestamp, '+' || i || ' seconds'), "
            "json_remove(event_data, '$.timestamp') FROM events, n "
            "WHERE session_id = 'large' AND id = 'event-003'"
        )

    done = list(repair_store(store.url, write=True, backup=tmp_path / "b"))
    again = list(audit_store(store.url, Filters(user=USER)))

    assert [(d.key.session_id, d.status, d.error) for d in done] == [
        ("large", "repaired", None),
        ("small", "clean", None),
    ]
    assert [(f.events, f.poisoned) for f in again] == [(4005, False), (4, False)]
