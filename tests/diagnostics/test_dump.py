# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S105, S106, N818, TRY301 - made-up secrets and errors
"""What stands in a dump, what does not, and how it is written and read."""

from __future__ import annotations

import base64
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from google.genai import types

from adk_history_guard import PROFILES, DumpFormatError, RejectedRequest
from adk_history_guard.diagnostics import files
from adk_history_guard.diagnostics.failures import ProviderError, read_error
from adk_history_guard.diagnostics.files import write_dump
from adk_history_guard.diagnostics.redaction import CREDENTIAL, Pseudonyms
from adk_history_guard.diagnostics.schema import parse_dump, read_dump
from adk_history_guard.diagnostics.sources import load
from tests.builders import call, media, model, response, user

CASES = Path(__file__).parents[1] / "cases"
FILES = sorted(CASES.glob("*/bad.json")) + sorted(CASES.glob("*/near_miss.json"))
SECRET = "Ada Byron was here"
KEY = "AIzaSyA-1234567890123456789012345678901"


def rejected(*contents, error="Request contains an invalid argument.", **fields):
    """Return a rejected request of these contents."""
    said = ProviderError("ClientError", 400, "INVALID_ARGUMENT", error)
    return RejectedRequest(
        contents=contents, profile=PROFILES["gemini-3"], error=said, **fields
    )


def again(request, content="shape", redact=None):
    """Return a request as its dump reads."""
    return parse_dump(json.loads(json.dumps(request.to_dict(content, redact))))


def findings(request):
    """Return the violations and the changes of a request, by code and place."""
    return (
        [(v.code, str(v.place)) for v in request.violations],
        [(c.code, str(c.action), str(c.place)) for c in request.repaired.changes],
    )


@pytest.mark.once
@pytest.mark.parametrize("content", ["shape", "full"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_dump_is_judged_as_the_request_is(path, content):
    """Every rule sees in a dump, also in its shape, what it saw in the request."""
    request = load(path)

    assert findings(again(request, content)) == findings(request)


def test_a_shape_holds_no_value_of_the_user():
    """Text, arguments, responses, signatures, media and file names are stand-ins."""
    request = rejected(
        user(SECRET, media()),
        model(call("look", id="c1", who=SECRET, age=36, signature=b"signed by me")),
        user(response("look", id="c1", note=SECRET)),
        user(
            types.Part(file_data=types.FileData(file_uri=f"gs://b/{SECRET}")),
            types.Part(
                executable_code=types.ExecutableCode(code=SECRET, language="PYTHON")
            ),
        ),
        error=f"Cannot understand '{SECRET}'.",
    )

    written = json.dumps(request.to_dict())

    signature = base64.b64encode(b"signed by me").decode()
    for word in ("Ada", '"who"', '"age"', '"note"', signature, "iVBO", "gs://b"):
        assert word not in written
    assert '"name": "look"' in written
    assert '"id": "c1"' in written
    assert "[18 characters #" in written


def test_equal_values_are_recognised_within_one_dump_only():
    """A value has one hash in a dump, and another in the next."""
    request = rejected(
        user("q"),
        model(call("look", id="c1", n="token-7")),
        user(response("look", id="c1", n="token-7")),
    )

    first, second = request.to_dict(), request.to_dict()
    args, body = (
        first["contents"][1]["parts"][0]["functionCall"]["args"],
        first["contents"][2]["parts"][0]["functionResponse"]["response"],
    )
    other = second["contents"][1]["parts"][0]["functionCall"]["args"]

    assert args["tokens"] == body["tokens"]
    assert args["tokens"] != other["tokens"]


def test_full_holds_all_but_credentials_and_media():
    """Text stays; keys and tokens go by their look and by their name; bytes go."""
    request = rejected(
        user(f"{SECRET}, my key is {KEY}", media()),
        model(
            call(
                "login",
                id="c1",
                password="hunter2hunter2",
                header="Bearer abcdef123456",
                auth={"clientSecret": "s3cr3ts3cr3t", "city": "Oslo"},
            )
        ),
        user(response("login", id="c1", access_token="ya29.abcdefghijkl")),
        error=f"Bad key=abcdefghijk for {KEY}",
    )

    written = json.dumps(request.to_dict("full"))

    for word in (KEY, "hunter2", "abcdef123456", "s3cr3t", "ya29", "key=abc", "iVBO"):
        assert word not in written
    assert SECRET in written
    assert "Oslo" in written
    assert written.count(CREDENTIAL) >= 6


def test_headers_of_the_config_are_never_looked_at():
    """Of the config a dump keeps tools and thinking, not the HTTP options."""
    config = types.GenerateContentConfig(
        system_instruction="Be kind.",
        http_options=types.HttpOptions(headers={"x-goog-api-key": KEY}),
        tools=[
            types.Tool(function_declarations=[types.FunctionDeclaration(name="look")])
        ],
    )
    request = rejected(user("hi"), config=config)

    assert request.to_dict()["config"] == {"tools": [{"name": "look"}]}
    assert request.to_dict("full")["config"] == {
        "system_instruction": "Be kind.",
        "tools": [{"name": "look"}],
    }


def test_a_signature_inside_an_id_is_taken_out_and_kept_apart():
    """An id that carries a signature stays unique and says so, without the data."""
    one, two = (f"call_1||thought_signature||{x * 40}" for x in "ab")
    request = rejected(user("q"), model(call("look", id=one), call("look", id=two)))

    parts = request.to_dict()["contents"][1]["parts"]
    ids = [part["functionCall"]["id"] for part in parts]

    assert all(i.startswith("call_1||thought_signature||") for i in ids)
    assert ids[0] != ids[1]
    assert "aaaa" not in json.dumps(request.to_dict())


def test_a_redactor_of_one_argument_passes_every_text():
    """It is applied to text, arguments and the error, and not to ids."""
    request = rejected(
        user(SECRET), model(call("look", id="c1", q=SECRET)), error=f"bad {SECRET}"
    )

    dump = request.to_dict("full", lambda text: text.replace("Ada", "A."))

    assert "Ada" not in json.dumps(dump)
    assert dump["error"]["text"] == "bad A. Byron was here"
    assert dump["contents"][0]["parts"][0]["text"] == "A. Byron was here"
    assert dump["contents"][1]["parts"][0]["functionCall"] == {
        "id": "c1",
        "name": "look",
        "args": {"q": "A. Byron was here"},
    }


def test_pseudonyms_replace_ids_everywhere_and_consistently():
    """The same id has the same pseudonym, in messages and pairs as well."""
    request = rejected(
        user("q"),
        model(call("look", id="internal-7", signature=b"s"), call("see", id="other-8")),
        user(response("look", id="internal-7")),
    )

    dump = request.to_dict("shape", Pseudonyms())
    written = json.dumps(dump)

    assert "internal-7" not in written
    assert "other-8" not in written
    assert dump["pairs"]["calls"][0]["id"] == "id-1"
    assert dump["violations"][0]["message"] == "'see' (id 'id-2') has no response."
    assert findings(again(request, "shape", Pseudonyms())) == findings(request)


def test_the_name_of_a_file_is_safe(tmp_path):
    """Whatever a session is called, the file stays in its folder."""
    names = ("../../etc/passwd", "a/b", "x\x00y", "\u202e", "", "A" * 1000)
    paths = [write_dump(tmp_path, rejected(session_id=name)) for name in names]

    assert all(path.parent == tmp_path for path in paths)
    assert [path.name.split("-", 5)[5] for path in paths] == [
        "etcpasswd.json",
        "ab.json",
        "xy.json",
        "session.json",
        "session.json",
        f"{'A' * 40}.json",
    ]


def test_only_fifty_files_stay_and_the_oldest_go(tmp_path):
    """Dumps do not fill a disk; other files of the folder are left alone."""
    (tmp_path / "mine.json").write_text("{}")
    paths = [write_dump(tmp_path, rejected(user("q"))) for _ in range(53)]

    left = sorted(path for path in tmp_path.iterdir() if path.name != "mine.json")

    assert left == sorted(paths[3:])
    assert (tmp_path / "mine.json").exists()


def test_nothing_is_left_behind_when_writing_fails(tmp_path, monkeypatch):
    """A file appears whole or not at all."""

    def fail(*args):
        msg = "disk full"
        raise OSError(msg)

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_dump(tmp_path, rejected(user("q")))

    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_keeps_its_mode(tmp_path):
    """The guard does not change who may look into a folder of the user's."""
    tmp_path.chmod(0o750)
    path = write_dump(tmp_path, rejected(user("q")))

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.once
def test_a_large_request_falls_back_to_its_shape(tmp_path):
    """A full dump above 5 MB is written in shape."""
    request = rejected(user("word " * 1_200_000), model(call("look", id="c1")))

    path = write_dump(tmp_path, request, content="full")

    assert path.stat().st_size < 10_000
    assert read_dump(path).shaped
    assert findings(read_dump(path)) == findings(request)


def test_a_request_of_too_many_parts_keeps_its_violations(tmp_path, monkeypatch):
    """What cannot fit leaves the contents out, says so, and can still be explained."""
    monkeypatch.setattr(files, "LARGEST_FILE", 20_000)
    contents = [user("q"), model(call("look", id="lost")), *[user("more")] * 300]

    dump = read_dump(write_dump(tmp_path, rejected(*contents)))

    assert dump.omitted == 302
    assert list(dump.contents) == []
    assert [(v.code, str(v.place)) for v in dump.violations] == [
        ("HG101", "contents[1].parts[0]")
    ]


def test_lone_surrogates_and_controls_survive():
    """A text that is no Unicode text is dumped, read and judged all the same."""
    request = rejected(user("\ud800 \x00 \u202e"), model(call("lo\ud800ok", id="\x00")))

    assert findings(again(request)) == findings(request)
    assert findings(again(request, "full")) == findings(request)


def changed(path, value):
    """Return a dump with one field changed; DELETE takes it out."""
    dump = rejected(user("q"), model(call("look", id="c1"))).to_dict()
    holder = dump
    *way, last = path
    for step in way:
        holder = holder[step]
    if value is DELETE:
        del holder[last]
    else:
        holder[last] = value
    return dump


DELETE = object()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], "x", "schema: must be 'adk-history-guard/rejected-request'"),
        (["schema_version"], 2, "schema_version: version 2 is unknown; this release"),
        (["kind"], DELETE, "kind: is missing."),
        (["kind"], "odd", "kind: must be one of 'rejected', 'silent', 'given'"),
        (["content"], 1, "content: must be a string, not 1."),
        (["profile"], "gemini-3", "profile: must be an object, not 'gemini-3'."),
        (["profile", "name"], "x", "profile.name: 'x' is no profile; choose one of"),
        (["error"], [], "error: must be an object, not a list."),
        (["error", "code"], True, "error.code: must be a whole number, not True."),
        (["contents"], {}, "contents: must be a list, not an object."),
        (["contents", 1], 7, "contents[1]: must be an object, not 7."),
        (["contents", 1, "role"], 7, "contents[1].role: Input should be a valid str"),
        (
            ["contents", 1, "parts", 0, "functionCall", "name"],
            [],
            "contents[1].parts[0].functionCall.name: Input should be a valid string",
        ),
        (["changes"], [{}], "changes[0]: is no change."),
        (["violations"], [{"severity": "x"}], "violations[0]: is no violation."),
    ],
)
def test_a_damaged_dump_names_the_place(path, value, message):
    """The error says where in the dump the fault is, and what belongs there."""
    with pytest.raises(DumpFormatError) as caught:
        parse_dump(changed(path, value), path="d.json")

    assert str(caught.value).startswith(f"d.json: {message}")


def test_a_value_of_the_user_is_not_in_the_error():
    """A damaged full dump does not spill its text into a log."""
    with pytest.raises(DumpFormatError) as caught:
        parse_dump(changed(["contents", 0, "parts", 0, "text"], [SECRET]))

    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON: Expecting value at line 1, 1."),
        (b"\xff\xfe\xff", "is not UTF-8"),
        (b"[" * 200_000, "is nested deeper than 100 levels."),
        (b'{"schema": ' + b"9" * 5000 + b"}", "is not JSON: a number is too long."),
        (b"7", "is no dump: it must be a JSON object."),
    ],
    ids=["empty", "bytes", "deep", "number", "seven"],
)
def test_a_file_that_is_no_dump_says_so(data, message, tmp_path):
    """Every damaged file is a `DumpFormatError` that names the file."""
    path = tmp_path / "dump.json"
    path.write_bytes(data)

    with pytest.raises(DumpFormatError) as caught:
        read_dump(path)

    assert str(caught.value).startswith(f"{path}: {message}")


class Refused(Exception):
    """An error of a client, by its attributes."""

    def __init__(self, **fields):
        super().__init__("refused")
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"code": 400, "message": "m", "status": "S"}, (400, "S", "m")),
        ({"status_code": 422, "message": "m"}, (422, None, "m")),
        ({"code": "invalid", "status_code": 400}, (400, None, "refused")),
        ({"code": 429}, None),
        ({"code": 408}, None),
        ({"code": 500}, None),
        ({"status_code": 200}, None),
        ({}, None),
    ],
)
def test_an_error_is_a_rejection_by_its_status(fields, expected):
    """4xx but 408 and 429, wherever a client keeps the number."""
    found = read_error(Refused(**fields))

    assert expected == (found and (found.code, found.status, found.text))


def test_the_cause_of_an_error_is_looked_at():
    """An error that wraps the client's is read as the client's."""
    try:
        try:
            raise Refused(code=400, message="inner")
        except Refused as inner:
            msg = "outer"
            raise RuntimeError(msg) from inner
    except RuntimeError as outer:
        found = read_error(outer)

    assert (found.type, found.text) == ("Refused", "inner")


def test_what_is_dumped_can_be_dumped_again():
    """Reading a shape and writing it gives the same contents."""
    request = rejected(
        user(SECRET, media()), model(call("look", id="c1", signature=b"s", n=1))
    )
    first = request.to_dict()

    second = parse_dump(json.loads(json.dumps(first))).to_dict()

    assert second["contents"] == first["contents"]
    assert second["content"] == "shape"


def test_the_request_is_not_changed_by_its_dump():
    """Contents belong to the run: a dump reads them and no more."""
    contents = [user(SECRET, media()), model(call("look", id="c1", n={"a": [1]}))]
    before = [content.model_dump() for content in contents]
    request = rejected(*contents)

    for content in ("shape", "full"):
        replace(request).to_dict(content, lambda text: "x")

    assert [content.model_dump() for content in contents] == before
