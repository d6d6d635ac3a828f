# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What is told of a session in a file is what became of the file."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest
from click.testing import CliRunner
from google.adk.sessions import Session

from adk_history_guard.cli import main
from adk_history_guard.sessions import audit_store, repair_store, restore_store
from adk_history_guard.sessions.files import FileStore
from adk_history_guard.sessions.records import RecordFile
from tests.builders import call, event, response
from tests.sessions.histories import interrupted, plain


def document(name, events):
    """Return a session as the JSON that ADK writes."""
    made = Session(id=name, app_name="app", user_id="ada", events=events)
    return json.loads(made.model_dump_json(exclude_none=True))


def again(number):
    """Two more events: a call under an id that the session has had, answered."""
    told = event("root", call("look", id="call-1", n=number))
    heard = event("root", response("look", id="call-1", n=number), role="user")
    told.id, heard.id = f"late-{number}-0", f"late-{number}-1"
    dumped = document("x", [told, heard])["events"]
    return [{**one, "timestamp": 10.0 + number} for one in dumped]


def repaired(store, backup):
    """Repair a store for good; return the status of each session."""
    done = repair_store(str(store), write=True, backup=backup)
    return [(one.key.session_id, one.status) for one in done]


def test_two_repairs_of_one_session_are_both_undone(tmp_path):
    """Repaired, gone on with, repaired again, restored: every id is the old one."""
    path, backup = tmp_path / "a.json", tmp_path / "backup"
    session = document("a", interrupted(1))
    path.write_text(json.dumps(session))
    assert repaired(path, backup) == [("a", "repaired")]
    session = json.loads(path.read_text())
    session["events"] += again(1)
    path.write_text(json.dumps(session))
    assert repaired(path, backup) == [("a", "repaired")]

    undone = [(u.status, u.error) for u in restore_store(str(path), backup)]

    assert undone == [("restored", None)] * 2
    stored = json.loads(path.read_text())["events"]
    assert stored == document("a", interrupted(1))["events"] + again(1)


def three_files(store):
    """Make a folder with three files of one poisoned session each."""
    store.mkdir()
    for name in "abc":
        text = json.dumps(document(name, interrupted(1)))
        (store / f"{name}.json").write_text(text)
    return store


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_two_sessions_of_one_file_are_both_undone(tmp_path, form):
    """The second restore builds on the first, which still waits for its file."""
    path, backup = tmp_path / f"all.{form}", tmp_path / "backup"
    sessions = [document(name, interrupted(1)) for name in ("a", "b")]
    lines = "".join(json.dumps(s) + "\n" for s in sessions)
    path.write_text(lines if form == "jsonl" else json.dumps(sessions))
    before = path.read_text()
    assert repaired(path, backup) == [("a", "repaired"), ("b", "repaired")]
    assert path.read_text() != before

    undone = [u.status for u in restore_store(str(path), backup)]

    assert undone == ["restored", "restored"]
    assert path.read_text() == before


def test_a_file_that_changes_meanwhile_is_told_of_and_stops_no_other(tmp_path):
    """Its own session is `changed`; those of the other files are repaired."""
    store = three_files(tmp_path / "saved")
    before = (store / "a.json").read_text()

    flush = RecordFile.flush

    def touched(file):
        """Somebody else writes the first file just before the guard does."""
        if file.path.name == "a.json" and file.pending:
            file.path.write_text(before + "\n")
        flush(file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordFile, "flush", touched)
        done = repaired(store, tmp_path / "backup")

    assert done == [("a", "changed"), ("b", "repaired"), ("c", "repaired")]
    assert (store / "a.json").read_text() == before + "\n"
    found = {f.key.session_id: f.poisoned for f in audit_store(str(store))}
    assert found == {"a": True, "b": False, "c": False}


def test_a_restore_that_does_not_reach_its_file_ends_with_1(tmp_path, monkeypatch):
    """Somebody else writes the file just before; that is told, and in the status."""
    path, backup = tmp_path / "a.json", tmp_path / "backup"
    path.write_text(json.dumps(document("a", interrupted(1))))
    assert repaired(path, backup) == [("a", "repaired")]
    flush = RecordFile.flush

    def touched(file):
        """Add a line end, if anything is to be written."""
        if file.pending:
            file.path.write_text(file.path.read_text() + "\n")
        flush(file)

    monkeypatch.setattr(RecordFile, "flush", touched)
    result = CliRunner().invoke(main, ["restore", str(path), "--backup", str(backup)])

    assert result.exit_code == 1
    assert "1 changed" in result.output
    assert "restored" not in result.stdout


def test_a_file_that_cannot_be_written_is_an_error_of_its_own_sessions(tmp_path):
    """A full disk: nothing is called repaired, and no half file stays."""
    path = tmp_path / "saved" / "a.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document("a", interrupted(1))))

    def full(file):
        yield b"["
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RecordFile, "_pieces", full)
        done = list(
            repair_store(str(path.parent), write=True, backup=tmp_path / "backup")
        )

    assert [(d.status, d.error) for d in done] == [
        ("error", "[Errno 28] No space left on device")
    ]
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


def test_no_session_is_called_repaired_before_its_file_is(tmp_path):
    """What is told can be read: at each word the file already says so."""
    store = three_files(tmp_path / "saved")

    for done in repair_store(str(store), write=True, backup=tmp_path / "backup"):
        path = store / f"{done.key.session_id}.json"
        assert [f.poisoned for f in audit_store(str(path))] == [False]


def test_a_list_of_sessions_is_read_once(tmp_path, monkeypatch):
    """A file of many sessions is parsed a fixed number of times, however many."""
    path = tmp_path / "all.json"
    path.write_text(json.dumps([document(f"s{n}", plain(1)) for n in range(50)]))
    parsed = []
    loads = json.loads

    def counted(text, *args, **kwargs):
        parsed.append(len(text))
        return loads(text, *args, **kwargs)

    monkeypatch.setattr("adk_history_guard.sessions.records.json.loads", counted)
    found = list(audit_store(str(path)))

    assert [f.error for f in found] == [None] * 50
    whole = [size for size in parsed if size >= path.stat().st_size]
    assert len(whole) <= 2


def test_a_session_is_looked_for_in_its_own_file(tmp_path, monkeypatch):
    """A restore of many files opens each of them for itself, not all for each."""
    store, backup = tmp_path / "saved", tmp_path / "backup"
    store.mkdir()
    for n in range(12):
        text = json.dumps(document(f"s{n}", interrupted(1)))
        (store / f"s{n:02}.json").write_text(text)
    assert len(repaired(store, backup)) == 12
    opened = []
    records = RecordFile.records

    def counted(file):
        opened.append(file.path.name)
        return records(file)

    monkeypatch.setattr(RecordFile, "records", counted)
    undone = [u.status for u in restore_store(str(store), backup)]

    assert undone == ["restored"] * 12
    assert len(opened) <= 2 * 12


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_backups_are_for_the_owner_only(tmp_path):
    """They hold every word of every user: 0600 in folders of 0700."""
    path, backup = tmp_path / "a.json", tmp_path / "deep" / "backup"
    path.write_text(json.dumps(document("a", interrupted(1))))
    path.chmod(0o640)

    assert repaired(path, backup) == [("a", "repaired")]

    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in [backup, *backup.rglob("*")]}
    assert len(modes) == 3
    assert {m for p, m in modes.items() if p.is_dir()} == {0o700}
    assert {m for p, m in modes.items() if p.is_file()} == {0o600}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_files_are_audited_without_sqlalchemy(tmp_path, monkeypatch):
    """ADK 2 has it as an extra; plain files need none."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document("a", plain(1))))
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)

    result = CliRunner().invoke(main, ["audit", str(path)])

    assert (result.exit_code, result.exception) == (0, None)


def test_a_database_without_sqlalchemy_is_one_line(tmp_path, monkeypatch):
    """The way out is the extra that brings it."""
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)

    result = CliRunner().invoke(main, ["audit", f"sqlite:///{tmp_path}/a.db"])

    assert result.exit_code == 2
    assert result.stderr == (
        "Error: databases need SQLAlchemy: pip install 'adk-history-guard[db]'\n"
    )


def test_a_store_is_asked_whether_it_can_be_shared(tmp_path):
    """Files are rewritten by one process; no counting is needed to know that."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document("a", plain(1))))
    assert FileStore(str(path)).parallel is False
