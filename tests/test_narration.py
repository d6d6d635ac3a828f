# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Calls and responses told as text: the words, and which ones are told."""

from __future__ import annotations

import datetime as dt

import pytest
from google.genai import types

from adk_history_guard import PROFILES, GuardOptions, repair_contents
from adk_history_guard.core.guard import guard
from adk_history_guard.core.origins import Origins
from tests.builders import PNG, call, media, model, response, text, user
from tests.rounds import MARKED, PNG_BLOB, SIG, part, round_of

pytestmark = pytest.mark.once

TOLD = "[Called tool 'look' with {}]"
NARRATE = GuardOptions(unsigned="narrate")
LOOP = {"n": 1}
LOOP["again"] = LOOP


def told(body):
    """Return what a user turn says of an orphan with a body."""
    orphan = response("look", id="c9")
    orphan.function_response.response = body
    contents = [user("a"), user(orphan), user("b")]
    outcome = repair_contents(contents, "gemini-2", GuardOptions(orphans="narrate"))
    return outcome.contents[1].parts[0].text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "{}"),
        ({}, "{}"),
        ({"b": 1, "a": {"d": [], "c": None}}, '{"a": {"c": null, "d": []}, "b": 1}'),
        ({"sight": "Zürich"}, '{"sight": "Zürich"}'),
        ({"at": dt.date(2026, 1, 2)}, '{"at": "2026-01-02"}'),
        ({"a": 1, 2: 3}, "{'a': 1, 2: 3}"),
        (LOOP, "{'n': 1, 'again': {...}}"),
    ],
)
def test_a_body_is_told_as_json_in_order_of_its_keys(body, words):
    """Equal bodies give equal words, and no body, however odd, raises."""
    assert told(body) == f"[Tool 'look' responded: {words}]"


def test_media_of_a_told_response_stay_media():
    """Inline data and files stand behind the words, as parts of their own."""
    orphan = response("look", id="c9")
    orphan.function_response.parts = [
        types.FunctionResponsePart(
            inline_data=types.FunctionResponseBlob(
                data=PNG, mime_type="image/png", display_name="a"
            )
        ),
        types.FunctionResponsePart(),
        types.FunctionResponsePart(
            file_data=types.FunctionResponseFileData(
                file_uri="gs://b/c", mime_type="image/png", display_name="d"
            )
        ),
    ]
    contents = [user("a"), user(orphan), user("b")]

    outcome = repair_contents(contents, "gemini-2", GuardOptions(orphans="narrate"))

    assert outcome.contents[1].parts == [
        part(text="[Tool 'look' responded: {}]"),
        part(inline_data=PNG_BLOB),
        part(file_data=types.FileData(file_uri="gs://b/c", mime_type="image/png")),
    ]


def plain(n):
    """Return a round whose id says nothing of a signature."""
    return [model(call("see", id=f"p{n}")), user(response("see", id=f"p{n}"))]


GATEWAY = [
    user("go"),
    model(call("look", id=MARKED)),
    user(response("look", id=MARKED)),
    *plain(1),
]
BARE = [user("go"), *plain(1), *plain(2)]
SIGNED = [
    user("go"),
    model(call("see", id="p1", signature=SIG)),
    user(response("see", id="p1")),
]
FIRST_SIGNED = [call("look", signature=SIG), call("look")]
LAST_SIGNED = [call("look"), call("look", signature=SIG)]
BOTH_SAID = [response("look"), response("look")]


@pytest.mark.parametrize(
    ("profile", "contents", "origins", "turns"),
    [
        pytest.param("gemini-2", BARE, Origins(), [], id="none-demanded"),
        pytest.param("gemini-3", BARE, Origins(), [1, 3], id="all-unsigned"),
        pytest.param("gemini-3", SIGNED, Origins(), [], id="signed"),
        pytest.param(
            "gemini-3", round_of(FIRST_SIGNED, BOTH_SAID), Origins(), [], id="first"
        ),
        pytest.param(
            "gemini-3", round_of(LAST_SIGNED, BOTH_SAID), Origins(), [1], id="last"
        ),
        pytest.param("gemini-gateway", GATEWAY, Origins(), [3], id="beside-signed-id"),
        pytest.param("gemini-gateway", BARE, Origins(), [], id="no-signed-id"),
        pytest.param(
            "gemini-gateway", BARE, Origins(ids={"p1"}), [1], id="another-models-id"
        ),
        pytest.param(
            "gemini-gateway",
            BARE,
            Origins(ids={"p9"}, places={(3, 0)}),
            [3],
            id="another-models-place",
        ),
        pytest.param(
            "gemini-gateway", SIGNED, Origins(ids={"p1"}), [], id="signed-in-the-part"
        ),
        pytest.param(
            "gemini-gateway", GATEWAY, Origins(distrust=True), [1, 3], id="distrusted"
        ),
        pytest.param(
            "gemini-gateway", BARE, Origins(distrust=True), [1, 3], id="none-trusted"
        ),
    ],
)
def test_which_turns_are_told(profile, contents, origins, turns):
    """Those that cannot be replayed, with their responses; others stay as they are."""
    outcome = guard(
        contents, profile=PROFILES[profile], options=NARRATE, origins=origins
    )

    found = [n for n, c in enumerate(outcome.contents) if c is not contents[n]]
    assert found == [k for n in turns for k in (n, n + 1)]
    assert all(p.text for n in found for p in outcome.contents[n].parts)
    assert {change.code for change in outcome.changes} <= {"HG401"}


def test_a_round_is_told_with_its_arguments_and_its_answer():
    """The answer names its call, and each change says what stood where."""
    contents = round_of(
        ["so", call("look", id="c1", at=1)], [response("look", id="c1", n=2)]
    )

    outcome = repair_contents(contents, "gemini-3", NARRATE)

    assert [[p.text for p in content.parts] for content in outcome.contents] == [
        ["a"],
        ["so\n[Called tool 'look' with {\"at\": 1}]"],
        ['[Tool \'look\' with {"at": 1} responded: {"n": 2}]'],
    ]
    assert [str(change) for change in outcome.changes] == [
        (
            "contents[1].parts[1]: HG401 move: "
            "the call 'look' (id 'c1') into text: its turn is not signed"
        ),
        (
            "contents[2].parts[0]: HG401 move: "
            "the response 'look' (id 'c1') into text: its call's turn is not signed"
        ),
    ]


THOUGHT = part(text="hm", thought=True)
CROWDED = part(text="a", inline_data=PNG_BLOB)


@pytest.mark.parametrize(
    ("profile", "beside", "parts"),
    [
        ("gemini-3", [text("so")], [text(f"so\n{TOLD}")]),
        ("gemini-3", [text("so"), text("far")], [text(f"so\nfar\n{TOLD}")]),
        (
            "gemini-3",
            [text("so", signature=SIG)],
            [text("so", signature=SIG), text(TOLD)],
        ),
        ("gemini-gateway", [text("so", signature=SIG)], [text(f"so\n{TOLD}")]),
        (
            "gemini-gateway",
            [text("", signature=SIG)],
            [text("", signature=SIG), text(TOLD)],
        ),
        ("gemini-3", [THOUGHT], [THOUGHT, text(TOLD)]),
        ("gemini-3", [CROWDED], [CROWDED, text(TOLD)]),
        ("gemini-3", [text("so"), media()], [text("so"), media(), text(TOLD)]),
    ],
)
def test_words_and_a_told_call_are_one_text(profile, beside, parts):
    """Some adapters send one text of a turn; what is no mere text stays apart."""
    contents = [
        user("go"),
        model(*beside, call("look", id="p1")),
        user(response("look", id="p1")),
    ]

    outcome = guard(
        contents,
        profile=PROFILES[profile],
        options=NARRATE,
        origins=Origins(ids={"p1"}),
    )

    assert outcome.contents[1].parts == parts
