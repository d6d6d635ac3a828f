# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Stores, files and words that nobody meant: one clear line, and no secret told."""

from __future__ import annotations

import codecs
import json
import pickle

import pytest
from click.testing import CliRunner
from google.adk.events.event_actions import EventActions
from google.adk.tools.tool_confirmation import ToolConfirmation

from adk_history_guard.cli import main
from adk_history_guard.errors import ConfigurationError
from adk_history_guard.sessions import audit_store, repair_store, restore_store
from adk_history_guard.sessions.diffs import diff
from adk_history_guard.sessions.engines import hidden, why
from adk_history_guard.sessions.model import Key, RowChange, StoreError
from adk_history_guard.sessions.sources import open_source
from adk_history_guard.sessions.unpickling import loads
from tests.builders import call, event, response
from tests.sessions.histories import interrupted, plain
from tests.sessions.test_file_writing import document, repaired

SECRET = "s3cret"  # noqa: S105 - made up


def run(*args):
    """Run the command line."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql+asyncpg://bob:{SECRET}@localhost:1/x",
        f"postgresql+asyncpg://bob@localhost:1/x?password={SECRET}",
        f"postgresql+asyncpg://bob:{SECRET}@localhost:port/x",
        f"postgresql+asyncpg://bob:{SECRET}@localhost:1/x?sslmode=require",
        f"postgresql+asyncpg://bob:{SECRET}@localhost:1/x?{SECRET}",
    ],
)
@pytest.mark.parametrize("command", ["audit", "repair", "check", "explain"])
def test_a_url_that_does_not_work_is_one_line_without_its_secrets(command, url):
    """The user's password, the query's, and a URL where a file is wanted."""
    result = run(command, url)

    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert SECRET not in result.output
    assert SECRET not in hidden(url)


@pytest.mark.parametrize(
    "url",
    [f"ftp://bob:{SECRET}@host/x", f"http://?key={SECRET}", f"bob:{SECRET}@host"],
)
def test_an_address_that_is_none_is_not_said_again(url):
    """It may hold a key."""
    from adk_history_guard.diagnostics.replay import _address
    from adk_history_guard.diagnostics.wire import wire_of

    with pytest.raises(ConfigurationError) as caught:
        _address(wire_of("gemini-3"), url, "gemini-3.5-flash")
    assert SECRET not in str(caught.value)


def test_an_address_keeps_its_query_behind_its_path():
    """The provider's path goes before the query; what is shown has neither."""
    from adk_history_guard.diagnostics.replay import _address, _shown
    from adk_history_guard.diagnostics.wire import wire_of

    url = f"http://bob:{SECRET}@127.0.0.1:8080/base/?key={SECRET}"
    target, own = _address(wire_of("gemini-3"), url, "gemini-3.5-flash")

    path = "/base/v1beta/models/gemini-3.5-flash:generateContent"
    assert target == f"http://bob:{SECRET}@127.0.0.1:8080{path}?key={SECRET}"
    assert (_shown(target), own) == (f"http://127.0.0.1:8080{path}", False)


def test_what_sqlite_cannot_decode_is_not_quoted():
    """Its error holds the stored text."""

    class UndecodableError(Exception):
        orig = Exception(
            f"Could not decode to UTF-8 column 'event_data' with text '{SECRET}"
        )

    assert why(UndecodableError()) == "Could not decode to UTF-8 column 'event_data'"


@pytest.mark.parametrize("age", ["9999999d", "9" * 30 + "d", "0001-01-01T00:00:00+23"])
def test_a_time_out_of_reach_is_a_wrong_usage(age, tmp_path):
    """No traceback of the calendar's."""
    (tmp_path / "a.json").write_text(json.dumps(document("a", plain(1))))

    result = run("audit", tmp_path / "a.json", "--since", age)

    assert result.exit_code in (0, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("time", ["1e300", "NaN", "-1e300"])
def test_times_that_are_none_are_shown_as_unknown(tmp_path, time):
    """A poisoned session with nonsense for a time is still counted and told."""
    text = json.dumps(document("a", interrupted(1)))
    made = json.loads(text)
    for one in made["events"]:
        one["timestamp"] = "TIME"
    path = tmp_path / "a.json"
    path.write_text(json.dumps(made).replace('"TIME"', time))

    result = run("audit", path)

    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "1 sessions" in result.output


def test_a_file_nested_too_deep_is_named_and_stops_no_other(tmp_path):
    """One line for it; its neighbour is audited."""
    (tmp_path / "a.json").write_text("[" * 100_000 + "]" * 100_000)
    (tmp_path / "b.json").write_text(json.dumps(document("b", plain(1))))

    found = [(f.key.session_id, f.error) for f in audit_store(str(tmp_path))]

    assert found == [("a.json", "no JSON: nested too deep"), ("b", None)]


def test_an_empty_path_is_no_folder():
    """An unset variable must not mean the current folder."""
    with pytest.raises(StoreError, match="the path is empty"):
        open_source("")
    for command in ("audit", "check", "repair"):
        assert run(command, "").exit_code == 2
    result = run("repair", "", "--write", "--backup", "b")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: no store is named: the path is empty\n",
    )


def test_keys_of_any_kind_have_words_and_a_digest():
    """A store may hold bytes or numbers where ADK writes text."""
    key = Key("app", b"\xff", 3)

    assert str(key) == "app/b'\\xff'/3"
    assert len(key.digest) == 64
    assert len(Key("app", "\ud800", "s").digest) == 64


def test_backups_in_the_folder_of_sessions_are_no_sessions(tmp_path):
    """The guard knows its own files; a second repair finds nothing."""
    (tmp_path / "a.json").write_text(json.dumps(document("a", interrupted(1))))
    backup = tmp_path / "backup"

    assert repaired(tmp_path, backup) == [("a", "repaired")]

    found = [(f.key.session_id, f.poisoned) for f in audit_store(str(tmp_path))]
    assert found == [("a", False)]
    assert repaired(tmp_path, backup) == [("a", "clean")]


def test_a_link_stays_a_link(tmp_path):
    """What it leads to is repaired."""
    real, link = tmp_path / "real" / "a.json", tmp_path / "link.json"
    real.parent.mkdir()
    real.write_text(json.dumps(document("a", interrupted(1))))
    link.symlink_to(real)

    assert repaired(link, tmp_path / "backup") == [("a", "repaired")]

    assert link.is_symlink()
    assert [f.poisoned for f in audit_store(str(real))] == [False]


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8], ids=["bare", "mark"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("form", ["lines", "one", "indented"])
def test_a_restored_file_has_the_bytes_it_had(tmp_path, mark, end, form):
    """Line ends and the mark of Windows tools are kept."""
    made = document("a", interrupted(1))
    if form == "lines":
        path = tmp_path / "a.jsonl"
        other = document("b", plain(1))
        data = end.join([json.dumps(made).encode(), json.dumps(other).encode(), b""])
    else:
        path = tmp_path / "a.json"
        text = json.dumps(made, indent=2 if form == "indented" else None) + "\n"
        data = text.encode().replace(b"\n", end)
    path.write_bytes(mark + data)

    told = repaired(path, tmp_path / "backup")
    assert told[0] == ("a", "repaired")
    assert path.read_bytes().startswith(mark)
    assert [u.status for u in restore_store(str(path), tmp_path / "backup")] == [
        "restored"
    ]

    assert path.read_bytes() == mark + data


def test_a_line_that_is_no_text_is_one_error_and_its_neighbours_are_repaired(tmp_path):
    """Bytes that are no UTF-8 stay as they are."""
    path = tmp_path / "all.jsonl"
    good = [json.dumps(document(name, interrupted(1))).encode() for name in "ac"]
    broken = good[0].replace(b"ada", b"a\xff\xfea")
    path.write_bytes(b"\n".join([good[0], broken, good[1], b""]))

    done = list(repair_store(str(path), write=True, backup=tmp_path / "backup"))

    assert [d.status for d in done] == ["repaired", "error", "repaired"]
    assert path.read_bytes().split(b"\n")[1] == broken


def test_half_a_character_is_written_as_it_was_read(tmp_path):
    """A lone surrogate, which JSON can hold only as an escape."""
    made = document("a", interrupted(1))
    made["state"] = {"word": "é", "half": "HALF"}
    path = tmp_path / "a.json"
    text = json.dumps(made, ensure_ascii=False).replace("HALF", "\\ud83d")
    path.write_text(text, encoding="utf-8")

    assert repaired(path, tmp_path / "backup") == [("a", "repaired")]
    assert json.loads(path.read_text())["state"] == {"word": "é", "half": "\ud83d"}


def test_a_diff_shows_columns_that_are_no_json():
    """ADK's first tables hold plain text beside JSON."""
    new = {"author": "root", "content": '{"role": "user"}', "actions": b"\x80"}

    shown = diff(RowChange("e1", None, new))

    assert '+  "author": "root"' in shown
    assert '+    "role": "user"' in shown


@pytest.mark.parametrize(
    "name",
    [
        "google.adk.agents.llm_agent LlmAgent",
        "google.adk.models.google_llm Gemini",
        "google.adk.apps.app App",
        "google.adk.code_executors.unsafe_local_code_executor UnsafeLocalCodeExecutor",
        "os system",
        "builtins eval",
    ],
)
def test_a_pickle_of_what_acts_is_not_loaded(name):
    """Only data of an event's actions comes out of a stored pickle."""
    module, attribute = name.split()
    data = f"c{module}\n{attribute}\n.".encode()

    with pytest.raises(pickle.UnpicklingError, match="is not data that ADK stores"):
        loads(data)


def test_a_pickle_of_actions_is_loaded():
    """What ADK itself has stored."""
    actions = EventActions(
        state_delta={"a": [1, {"b": 2.5}]},
        requested_tool_confirmations={"c": ToolConfirmation(hint="sure?")},
    )

    assert loads(pickle.dumps(actions)) == actions


def test_a_repaired_copy_has_ids_of_one_kind(tmp_path):
    """ADK takes `adk-` ids off a request; half of a turn's would be left without."""
    events = [
        event("user", "weather?", role="user"),
        event("root", call("w", id="call_1", n=1), call("w", id="call_1", n=2)),
        event(
            "root",
            response("w", id="call_1", n=1),
            response("w", id="call_1", n=2),
            role="user",
        ),
        event("root", "fine"),
    ]
    for n, one in enumerate(events):
        one.id = f"e{n}"
    path, out = tmp_path / "a.json", tmp_path / "out.json"
    path.write_text(json.dumps(document("a", events)))

    assert run("repair", path, "-o", out).exit_code == 0

    made = json.loads(out.read_text())["events"]
    ids = [p["function_call"]["id"] for p in made[1]["content"]["parts"]]
    assert ids[0] == "call_1"
    assert len(set(ids)) == 2
    assert not any(name.startswith("adk-") for name in ids)


def test_the_help_of_a_store_s_repair_is_at_hand(tmp_path):
    """With a store, or what only a store takes, it lists what a store takes."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document("a", plain(1))))

    assert "--write" in run("repair", path, "--help").output
    assert "--write" in run("repair", "--write", "--help").output
    told = run("repair", "--help").output
    assert "--output" in told
    assert "\\b" not in told


@pytest.mark.parametrize("text", ["[1, 2]", '["events"]', "[null]"])
def test_a_list_of_anything_else_is_one_line(tmp_path, text):
    """Neither contents nor sessions, and no traceback."""
    path = tmp_path / "all.json"
    path.write_text(text)

    result = run("repair", path)

    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)


def test_a_list_of_sessions_is_a_store(tmp_path):
    """The dry run takes what `audit` and `--write` take."""
    path = tmp_path / "all.json"
    path.write_text(json.dumps([document(name, interrupted(1)) for name in "ab"]))

    result = run("repair", path)

    assert result.exit_code == 0
    assert "2 planned" in result.output
