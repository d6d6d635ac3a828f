# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions in files: as ADK saves them, as lines, in folders."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from google.adk.events import Event
from google.adk.sessions import Session

from adk_history_guard.cli import main
from adk_history_guard.sessions import audit_store, repair_store, restore_store
from adk_history_guard.sessions.documents import event_document
from tests.sessions.histories import HEALTHY, POISONED, interrupted, plain
from tests.sessions.stores import snapshot


def session(name, events):
    """Make a session."""
    return Session(
        id=name, app_name="travel", user_id="ada", events=events, last_update_time=5.0
    )


def saved(one):
    """Return a session the way that `adk run --save_session` writes it."""
    return one.model_dump_json(indent=2, exclude_none=True, by_alias=True)


@pytest.fixture
def folder(tmp_path):
    """A folder with a session file, one of lines, and one that is no session."""
    place = tmp_path / "saved"
    (place / "deep").mkdir(parents=True)
    (place / "a.session.json").write_text(saved(session("a", interrupted(1))))
    (place / "b.session.json").write_text(saved(session("b", plain(1))))
    lines = [
        session(name, made(1)).model_dump_json(exclude_none=True)
        for name, made in [
            ("c", plain),
            *((name, made) for name, (made, _) in POISONED.items()),
            *((made.__name__, made) for made in HEALTHY),
        ]
    ]
    (place / "deep" / "all.jsonl").write_text("\n".join(lines) + "\n")
    return place


def test_folder_is_audited_file_by_file(folder):
    """Camel case and snake case, JSON and JSONL: the poisoned are found alone."""
    found = list(audit_store(str(folder)))

    assert [f.error for f in found if f.error] == []
    assert len(found) == 3 + len(POISONED) + len(HEALTHY)
    assert {f.key.session_id for f in found if f.poisoned} == {"a", *POISONED}


def test_folder_is_repaired_and_brought_back(folder, tmp_path):
    """Only files with poison are written, and restore brings them back."""
    before = {p: p.read_text() for p in folder.rglob("*.json*")}
    untouched = (folder / "b.session.json").stat().st_mtime_ns

    done = list(repair_store(str(folder), write=True, backup=tmp_path / "backup"))
    again = list(audit_store(str(folder)))

    assert {d.key.session_id for d in done if d.status == "repaired"} == {
        "a",
        *POISONED,
    }
    assert [(f.poisoned, f.error) for f in again] == [(False, None)] * len(again)
    assert (folder / "b.session.json").stat().st_mtime_ns == untouched
    assert sorted(p.name for p in folder.rglob("*") if p.is_file()) == [
        "a.session.json",
        "all.jsonl",
        "b.session.json",
    ]
    old, new = (
        before[folder / "deep" / "all.jsonl"].splitlines(),
        ((folder / "deep" / "all.jsonl").read_text().splitlines()),
    )
    assert [a for a, b in zip(old, new, strict=True) if a == b] == [
        line for line in old if json.loads(line)["id"] not in POISONED
    ]

    undone = list(restore_store(str(folder), tmp_path / "backup"))

    assert {(u.status, u.error) for u in undone} == {("restored", None)}
    after = {p: p.read_text() for p in folder.rglob("*.json*")}
    assert {p: _sessions(t) for p, t in after.items()} == {
        p: _sessions(t) for p, t in before.items()
    }


def _sessions(text):
    """Read the sessions of a file's text."""
    if text.startswith("{\n"):
        return [json.loads(text)]
    return [json.loads(line) for line in text.splitlines()]


def test_repaired_file_is_a_session_of_adk(folder, tmp_path):
    """ADK reads the file again, with one event more, in the file's own style."""
    list(repair_store(str(folder), write=True, backup=tmp_path / "backup"))

    text = (folder / "a.session.json").read_text()
    after = Session.model_validate_json(text)

    assert [event.id for event in after.events][:2] == ["event-000", "event-001"]
    assert len(after.events) == 5
    assert after.events[2].get_function_responses()[0].id == "call-1"
    assert '"invocationId"' in text
    assert '"invocation_id"' not in text


def test_dry_run_touches_no_file(folder):
    """Nothing is written without being asked for."""
    before = snapshot(folder / "deep")

    assert "planned" in {d.status for d in repair_store(str(folder))}
    assert snapshot(folder / "deep") == before


def test_file_that_is_no_session_is_named(tmp_path):
    """One clear line for each, the rest goes on, exit status 1."""
    (tmp_path / "a.json").write_text("no json")
    (tmp_path / "b.json").write_text('{"name": "package"}')
    (tmp_path / "c.jsonl").write_text(
        session("good", plain(1)).model_dump_json() + "\n[1]\n"
    )

    result = CliRunner().invoke(main, ["audit", str(tmp_path), "--format", "json"])

    assert result.exit_code == 1
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    assert errors == [
        "error: //a.json: no JSON: Expecting value: line 1 column 1 (char 0)",
        (
            "error: //b.json:1: no session: a JSON object with a list of events is "
            "expected"
        ),
        (
            "error: //c.jsonl:2: no session: a JSON object with a list of events is "
            "expected"
        ),
    ]
    assert '"session_id": "good"' in result.stdout


def test_waiting_ids_stand_in_order_in_every_document():
    """A set has another order in each process; older ADKs write it as it comes."""
    names = [f"job_{n}" for n in range(9)]
    one = Event(author="root", long_running_tool_ids=set(names))
    plain, camel = event_document(one), event_document(one, camel=True)

    assert plain["long_running_tool_ids"] == names
    assert camel["longRunningToolIds"] == names
