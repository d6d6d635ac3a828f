# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: every rule through every command, on the emulators.

`tests/diagnostics/golden` holds what `explain` prints for the bad case of each rule;
`pytest --regen` writes it anew, to be read as a diff.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import adk_history_guard
from adk_history_guard import PROFILES, RULES, RejectedRequest
from adk_history_guard.cli import COMMANDS, main
from adk_history_guard.diagnostics.failures import ProviderError
from adk_history_guard.diagnostics.files import write_dump
from adk_history_guard.diagnostics.schema import read_dump
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.testing import (
    StrictAnthropic,
    StrictGateway,
    StrictGemini,
    StrictMistral,
    StrictOpenAI,
)
from tests.builders import SIGNATURE, call, dumped, event, events, model, response, user

pytestmark = pytest.mark.once

CASES = Path(__file__).parent / "cases"
GOLDEN = Path(__file__).parent / "diagnostics" / "golden"
CODES = sorted(path.parent.name for path in CASES.glob("*/bad.json"))

EMULATORS = {
    "gemini-3": lambda: StrictGemini("ok", signatures="off"),
    "gemini-2": lambda: StrictGemini("ok", signatures="off"),
    "gemini-gateway": lambda: StrictGateway("ok"),
    "openai-chat": lambda: StrictOpenAI("ok"),
    "mistral": lambda: StrictMistral("ok"),
    "anthropic": lambda: StrictAnthropic("ok"),
}
"""The far end of a replay, by profile; the signatures of the cases are made up."""

TAKEN_ALL_THE_SAME = {
    "HG209": "only older models insist on it",
    "HG210": "only older servers insist on it",
    "HG306": "the emulator takes a response without a body",
    "HG401": "signatures are not compared here",
    "HG402": "the model answers, with empty text",
    "HG403": "the wire of this provider has no place for a signature",
    "HG501": "Gemini pairs the wrong ones and says nothing",
}
"""Rules whose breach an emulator takes, and why."""

STILL_REFUSED = {
    "HG200": "no repair is safe",
    "HG206": "no repair is safe",
    "HG303": "no repair is safe",
    "HG305": "no repair is safe",
    "HG404": "the gateway compares the made-up signature",
}
"""Rules whose repaired case is refused as well, and why."""


def invoke(*args, **options):
    """Run a command in this process and return its outcome."""
    found = CliRunner().invoke(main, [str(arg) for arg in args], **options)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def broken(**fields):
    """Return a rejected request of ten contents with a call that is not answered."""
    contents = [
        *[user("question"), model("answer")] * 3,
        user("How is the weather?"),
        model(
            call("weather", id="c1", city="Oslo", signature=SIGNATURE),
            call("time", id="c2"),
        ),
        user(response("weather", id="c1", rain=True)),
        user("Go on."),
    ]
    error = ProviderError(
        "ClientError",
        400,
        "INVALID_ARGUMENT",
        "Please ensure that the number of function response parts is equal to the "
        "number of function call parts of the function call turn.",
    )
    return RejectedRequest(
        **{"contents": contents, "profile": PROFILES["gemini-3"], "error": error}
        | fields
    )


@pytest.fixture
def dump(tmp_path):
    """Return the path of a dump in shape."""
    return write_dump(tmp_path / "dumps", broken(model="gemini-3.5-flash"))


# Every rule.


@pytest.mark.parametrize("code", CODES)
def test_explain_says_what_the_golden_text_says(code, regen):
    """The text of each rule, as it was read by eye."""
    found = invoke("explain", CASES / code / "bad.json")
    golden = GOLDEN / f"{code}.txt"
    if regen:
        golden.write_text(found.output, "utf-8")

    assert golden.read_text("utf-8") == found.output
    assert found.exit_code == 1
    assert f"{code} {RULES[code].name}" in found.output


def test_there_is_a_golden_text_for_every_rule():
    """No rule without its text, no text without its rule."""
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted(RULES)


@pytest.mark.parametrize("code", CODES)
def test_check_finds_the_bad_case_and_passes_the_near_miss(code):
    """Status 1 and the rule for the one, no mention of it for the other."""
    bad = invoke("check", CASES / code / "bad.json", "--format", "json")
    near = invoke("check", CASES / code / "near_miss.json", "--format", "json")

    assert bad.exit_code == 1
    assert code in {v["code"] for v in json.loads(bad.output)["files"][0]["violations"]}
    assert code not in {
        v["code"] for v in json.loads(near.output)["files"][0]["violations"]
    }


@pytest.mark.parametrize("code", CODES)
def test_a_bad_case_is_minimised_replayed_and_repaired(code, tmp_path):
    """Small it still shows the rule; the provider refuses it; repaired it is taken."""
    bad, small, mended = CASES / code / "bad.json", tmp_path / "s", tmp_path / "m"
    profile = load(bad).profile.name

    minimized = invoke("minimize", bad, "-o", small, "--rule", code)
    repaired = invoke("repair", bad, "-o", mended)
    with EMULATORS[profile]() as server:
        before = invoke("replay", small, "--url", server.url, "--yes")
        after = invoke("replay", mended, "--url", server.url, "--yes")

    assert minimized.exit_code == 0
    assert f"{code} still shows" in minimized.output
    assert code in {violation.code for violation in read_dump(small).violations}
    assert before.exit_code == (0 if code in TAKEN_ALL_THE_SAME else 1)
    assert after.exit_code == (1 if code in STILL_REFUSED else 0)
    left = load(bad).repaired.violations
    assert repaired.exit_code == (1 if left else 0)


# From a rejection to its end.


def test_the_way_of_a_rejection(dump, tmp_path):
    """A dump in shape: explained, shrunk, refused again, and taken when repaired."""
    small = tmp_path / "small.json"
    with StrictGemini("ok") as server:
        explained = invoke("explain", dump)
        minimized = invoke("minimize", dump, "-o", small)
        replayed = invoke("replay", small, "--url", server.url)
        repaired = invoke("replay", dump, "--url", server.url, "--repaired")

    assert (explained.exit_code, minimized.exit_code) == (1, 0)
    assert (
        "1. HG101 unanswered-call (certain): contents[7].parts[1]" in explained.output
    )
    assert minimized.output.startswith("10 contents became 3, HG101 still shows.")
    assert replayed.exit_code == 1
    assert "400\nPlease ensure that the number of function response" in replayed.output
    assert (repaired.exit_code, "200" in repaired.output) == (0, True)


def test_minimize_against_a_server_keeps_its_error(dump, tmp_path):
    """The provider is the judge: the same status and sentence, no rule needed."""
    small = tmp_path / "small.json"
    with StrictGemini("ok") as server:
        found = invoke("minimize", dump, "-o", small, "--against", server.url)
        answer = invoke("replay", small, "--url", server.url)

    assert found.exit_code == 0
    assert "the provider's error still shows" in found.output
    assert len(read_dump(small).contents) <= 3
    assert "number of function response parts" in answer.output


def test_minimize_against_a_server_that_takes_it_is_an_error(dump):
    """Nothing to keep: status 2 and a line that says so."""
    with StrictGemini("ok", on_breach="ignore") as server:
        found = invoke("minimize", dump, "--against", server.url)

    assert found.exit_code == 2
    assert "takes the whole request (200)" in found.output


def test_replay_sends_no_key_over_plain_http_to_others(monkeypatch):
    """A key goes over https or to this machine only."""
    from adk_history_guard.diagnostics import replay

    monkeypatch.setenv("GEMINI_API_KEY", "k" * 39)
    sent = {}

    class Client:
        def __init__(self, **options):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def post(self, url, content, headers):
            import httpx

            sent[url] = headers
            return httpx.Response(200, text="{}")

    monkeypatch.setattr(replay.httpx, "Client", Client)
    for url in ("http://example.org", "https://example.org", "http://127.0.0.1:1"):
        replay.replay(broken(), url=url)

    assert ["x-goog-api-key" in headers for headers in sent.values()] == [
        False,
        True,
        True,
    ]


def test_replay_asks_before_it_sends_text(tmp_path):
    """A full dump is not sent by accident; nobody at the keyboard means no."""
    path = write_dump(tmp_path, broken(), content="full")
    with StrictGemini("ok") as server:
        refused = invoke("replay", path, "--url", server.url)
        asked = len(server.requests)
        sent = invoke("replay", path, "--url", server.url, "--yes")

    assert (refused.exit_code, asked) == (2, 0)
    assert "say --yes" in refused.output
    assert sent.exit_code == 1


def test_replay_without_a_key_says_which_is_missing(dump, monkeypatch):
    """To the provider itself a key is needed; the variables are named."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    found = invoke("replay", dump)

    assert found.exit_code == 2
    assert "No key: set GEMINI_API_KEY or GOOGLE_API_KEY" in found.output


def test_replay_to_nobody_is_an_error_of_one_line(dump):
    """A server that does not answer is status 2, without a traceback."""
    found = invoke("replay", dump, "--url", "http://127.0.0.1:9")

    assert found.exit_code == 2
    assert "No answer from http://127.0.0.1:9/" in found.output


def test_the_html_report_is_written_for_its_owner(dump, tmp_path):
    """`--html` writes the page beside the text."""
    page = tmp_path / "report.html"

    found = invoke("explain", dump, "--html", page)

    assert found.exit_code == 1
    assert "HG101" in page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600


# Repairs.


def test_repair_shows_a_diff_and_leaves_the_file_alone(dump, tmp_path):
    """The diff is in words; the dump itself stays byte for byte."""
    before = dump.read_bytes()

    found = invoke("repair", dump, "-o", tmp_path / "out.json")

    assert found.exit_code == 0
    assert "+  response time (id 'c2')" in found.output
    assert "contents[7].parts[1]: HG101 add: a placeholder" in found.output
    assert dump.read_bytes() == before
    assert invoke("check", tmp_path / "out.json").exit_code == 0


def test_repair_of_contents_keeps_media_and_other_keys(tmp_path):
    """What is repaired is written with all it held."""
    path, out = tmp_path / "c.json", tmp_path / "o.json"
    body = {
        "contents": [
            {
                "role": "user",
                "parts": [{"inlineData": {"mimeType": "a/b", "data": "QUJD"}}],
            },
            {"role": "model", "parts": [{"functionCall": {"name": "look"}}]},
            {"role": "user", "parts": [{"text": "go"}]},
        ],
        "profile": "gemini-2",
        "note": "mine",
    }
    path.write_text(json.dumps(body))

    invoke("repair", path, "-o", out)
    written = json.loads(out.read_text())

    assert written["note"] == "mine"
    assert written["contents"][0] == body["contents"][0]
    assert len(written["contents"]) == 4


def test_repair_of_a_session_file_writes_a_session(tmp_path):
    """A repeated id of two tools is told apart, as the plugin does in memory."""
    path, out = tmp_path / "s.json", tmp_path / "o.json"
    history = events(
        event("user", "a"),
        event("root", call("look", id="c1", n=1)),
        event("root", response("look", id="c1", n=1)),
        event("user", "b"),
        event("root", call("see", id="c1", n=2)),
        event("root", response("see", id="c1", n=2)),
        event("root", "done"),
    )
    path.write_text(json.dumps({"id": "s", "events": dumped(history), "state": {}}))

    found = invoke("repair", path, "-o", out)
    ids = [
        part["function_call"]["id"]
        for one in json.loads(out.read_text())["events"]
        for part in (one.get("content") or {}).get("parts") or ()
        if part.get("function_call")
    ]

    assert found.exit_code == 0
    assert "HG501 rename" in found.output
    assert len(set(ids)) == 2
    assert json.loads(out.read_text())["state"] == {}


def test_a_finished_session_of_adk_is_clean(tmp_path):
    """Progress updates and late answers are normal: ADK arranges them itself."""
    path = tmp_path / "s.json"
    history = events(
        event("user", "a"),
        event("root", call("job", id="c1", n=1), long_running=("c1",)),
        event("root", response("job", id="c1", status="pending")),
        event("root", "It is on its way."),
        event("user", response("job", id="c1", n=1)),
        event("root", "done"),
        event("user", "thanks"),
    )
    path.write_text(json.dumps({"id": "s", "events": dumped(history)}))

    found = invoke("check", path)

    assert (found.exit_code, found.output) == (
        0,
        "1 file(s): 0 with violations, 0 unreadable\n",
    )


# The command line itself.


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_and_a_format(name):
    """`--help` is status 0 and names `--format`."""
    found = invoke(name, "--help")

    assert found.exit_code == 0
    assert "--format" in found.output


@pytest.mark.parametrize("name", ["rules", "profiles"])
def test_the_catalogue_is_whole_in_both_formats(name):
    """Text and JSON list every rule and every profile."""
    text = invoke(name).output
    listed = json.loads(invoke(name, "--format", "json").output)
    keys = {"rules": ("code", RULES), "profiles": ("name", PROFILES)}
    key, known = keys[name]

    assert [item[key] for item in listed] == list(known)
    assert all(item in text for item in known)


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_rule_is_found_by_code_and_by_name(code):
    """`rule HG101` and `rule unanswered-call` are the same."""
    by_code = invoke("rule", code.lower())
    by_name = invoke("rule", RULES[code].name)

    assert by_code.exit_code == 0
    assert by_code.output == by_name.output
    assert RULES[code].why in by_code.output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["rule", "HG999"], "'HG999' is no rule"),
        (["check"], "Missing argument 'PATH...'"),
        (["check", "--profile", "x", "y"], "'x' is not one of 'gemini-3'"),
        (["explain", "no/such/file.json"], "no/such/file.json: cannot be read"),
        (["check", "no/such/file.json"], "no/such/file.json: cannot be read"),
        (["minimize", "no/such/file.json"], "no/such/file.json: cannot be read"),
        (["replay", "no/such/file.json"], "no/such/file.json: cannot be read"),
        (["repair", "no/such/file.json", "-o", "x"], "cannot be read"),
    ],
)
def test_wrong_usage_is_status_2_and_one_clear_line(args, said):
    """The line says what is wrong; there is no traceback."""
    found = invoke(*args)

    assert found.exit_code == 2
    assert said in found.output
    assert "Traceback" not in found.output


def test_check_goes_on_after_an_unreadable_file(dump, tmp_path):
    """Every file is judged; one that cannot be read makes the status 2."""
    good = tmp_path / "good.json"
    good.write_text(json.dumps([{"role": "user", "parts": [{"text": "hi"}]}]))
    bad = tmp_path / "bad.json"
    bad.write_text("{")

    found = invoke("check", bad, good, dump, "--format", "json")
    report = json.loads(found.stdout)

    assert found.exit_code == 2
    assert [len(f.get("violations", "")) for f in report["files"]] == [0, 0, 1]
    assert report["clean"] is False


def test_check_of_a_folder_takes_its_dumps(dump):
    """A folder of dumps is judged whole."""
    found = invoke("check", dump.parent)

    assert found.exit_code == 1
    assert "1 file(s): 1 with violations" in found.output


def test_explain_as_json_holds_no_text_of_the_user(tmp_path):
    """Also of a full dump the explanation can be sent on."""
    path = write_dump(tmp_path, broken(), content="full")

    found = invoke("explain", path, "--format", "json")
    told = json.loads(found.output)

    assert "Oslo" not in found.output
    assert "weather?" not in found.output
    assert told["violations"][0]["code"] == "HG101"
    assert told["violations"][0]["provider_says"].startswith("400 INVALID_ARGUMENT")
    assert told["causes"][0]["rank"] == "certain"


def test_output_of_hostile_names_cannot_act_on_a_terminal(tmp_path):
    """Escape sequences and right-to-left marks are written out."""
    path = tmp_path / "c.json"
    evil = "\x1b]0;owned\x07\u202e\n\r"
    contents = [user("q"), model(call(f"look{evil}", id=evil)), user("go")]
    path.write_text(json.dumps(dumped(contents)))

    for command in ("check", "explain", "repair"):
        output = invoke(command, path).output
        assert not set(output) & set("\x1b\x07\u202e\r")


def test_starting_loads_no_adk():
    """The command line answers without importing Google ADK."""
    code = (
        "import sys, adk_history_guard.cli as c\n"
        "from click.testing import CliRunner\n"
        "for a in (['--help'], ['rules'], ['check', sys.argv[1]]):\n"
        "    CliRunner().invoke(c.main, a)\n"
        "print([m for m in sys.modules if m.startswith('google.adk')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(CASES / "HG101" / "bad.json")],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(adk_history_guard.__file__).parents[1],
    )

    assert done.stdout.strip() == "[]"


def test_piped_output_is_plain(dump):
    """Without a terminal there are no colours, no bars and no wrapped lines."""
    done = subprocess.run(
        [sys.executable, "-m", "adk_history_guard", "explain", str(dump)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={k: v for k, v in os.environ.items() if k != "FORCE_COLOR"},
        cwd=Path(adk_history_guard.__file__).parents[1],
    )

    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert (
        "  fix:    Allow the 'placeholder' repair (unanswered='placeholder'), or "
        in (done.stdout)
    )
