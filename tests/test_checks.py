# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Corners of the rules: what exactly is reported, where, and what is not."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_history_guard import validate_contents
from tests.builders import call, model, response, text, user
from tests.rounds import (
    MARKED,
    ONE,
    ONE_SAID,
    SIG,
    TWO,
    TWO_SAID,
    asked,
    part,
    round_of,
    said,
)

pytestmark = pytest.mark.once

LONG = "x" * 60
THOUGHT = part(text="hm", thought=True)
SIGNED_THOUGHT = part(text="hm", thought=True, thought_signature=SIG)
CALL_THOUGHT = part(function_call=ONE[0].function_call, thought=True)


def holding(**medium):
    """Return a response part with one medium inside."""
    return said(parts=[types.FunctionResponsePart(**medium)])


INLINE = types.FunctionResponseBlob(data=b"a", mime_type="image/png", display_name="a")
FILE = types.FunctionResponseFileData(file_uri="gs://a/b", mime_type="image/png")

CASES = {
    "responses to two turns, in the order of their turns": (
        "gemini-2",
        [
            *round_of(TWO, TWO_SAID[:1]),
            model(call("look", id="c3")),
            user(TWO_SAID[1], response("look", id="c3")),
        ],
        ["4.0 HG104: the response to 'seek' (id 'c2') is not right behind it."],
    ),
    "an orphan between responses in order": (
        "gemini-2",
        round_of(TWO, [TWO_SAID[0], response("pay", id="c9"), TWO_SAID[1]]),
        ["2.1 HG102: 'pay' (id 'c9') answers no call."],
    ),
    "two turns of responses, where the model must speak behind them": (
        "mistral",
        [
            user("a"),
            model(call("look", id="abcdefgh1"), call("look", id="abcdefgh2")),
            user(response("look", id="abcdefgh1")),
            user(response("look", id="abcdefgh2")),
        ],
        ["3.0 HG104: the response to 'look' (id 'abcdefgh2') is not right behind it."],
    ),
    "white space at the end, where it may stand": (
        "gemini-2",
        [user("a"), model("b ")],
        ["1 HG206: the model speaks last."],
    ),
    "white space at the end, where it may not": (
        "anthropic",
        [user("a"), model("b ", SIGNED_THOUGHT)],
        ["1.0 HG211: the last words of the model end in white space."],
    ),
    "no white space at the end": ("anthropic", [user("a"), model("b")], []),
    "nothing, where white space may not stand at the end": (
        "anthropic",
        [],
        ["0 HG200: there is no turn."],
    ),
    "a call of the user": (
        "gemini-2",
        [user("a"), user(*ONE), user(*ONE_SAID)],
        ["1 HG208: 'look' (id 'c1') stands in a user turn."],
    ),
    "a response of the model": (
        "gemini-2",
        [*round_of(ONE, ["b"])[:2], model(*ONE_SAID), user("b")],
        [
            "2 HG208: the response 'look' (id 'c1') stands in a turn of the model.",
            "2 HG209: two turns of the model in a row.",
        ],
    ),
    "a part without anything": (
        "gemini-2",
        [user("a", part())],
        ["0.1 HG301: nothing in it."],
    ),
    "a signature beside nothing": (
        "gemini-2",
        [user("a", part(thought_signature=SIG))],
        ["0.1 HG302: a signature and nothing else."],
    ),
    "a call that is still streamed": (
        "gemini-2",
        round_of([asked(partial_args=[types.PartialArg(json_path="$.a")])], ONE_SAID),
        ["1.0 HG307: 'look' (id 'c1') carries 'partial_args'."],
    ),
    "a response with a schedule": (
        "gemini-2",
        round_of(ONE, [said(scheduling="SILENT")]),
        ["2.0 HG307: 'look' (id 'c1') carries 'scheduling'."],
    ),
    "a medium inside a response, where none may be": (
        "gemini-2",
        round_of(ONE, [holding(inline_data=INLINE)]),
        ["2.0 HG309: the response 'look' (id 'c1') holds media of type 'image/png'."],
    ),
    "a medium inside a response, where it may be": (
        "gemini-3",
        round_of(TWO[:1], [holding(inline_data=INLINE)]),
        [],
    ),
    "a file inside a response": (
        "gemini-3",
        round_of(TWO[:1], [holding(file_data=FILE)]),
        ["2.0 HG309: the response 'look' (id 'c1') holds media of type None."],
    ),
    "no signature in any id, where they are looked for": (
        "gemini-gateway",
        round_of(TWO, TWO_SAID),
        [],
    ),
    "signatures in the ids of some turns": (
        "gemini-gateway",
        [
            *round_of([call("look", id=MARKED)], [response("look", id=MARKED)]),
            model(call("see", id="c2"), call("seek", id="c3")),
            user(response("see", id="c2"), response("seek", id="c3")),
        ],
        ["3 HG401: 'see' (id 'c2') and its turn are not signed."],
    ),
    "a signed thought, where thoughts are signed": (
        "anthropic",
        [user("a"), model(SIGNED_THOUGHT, "b"), user("c")],
        [],
    ),
    "an unsigned thought, where thoughts are signed": (
        "anthropic",
        [user("a"), model(THOUGHT, "b"), user("c")],
        ["1.0 HG403: a thought that nobody signed."],
    ),
    "an unsigned thought, where own ones may be sent": (
        "bedrock",
        [user("a"), model(THOUGHT, "b"), user("c")],
        [],
    ),
    "a call that is a thought, where own ones may be sent": (
        "bedrock",
        round_of([CALL_THOUGHT], ONE_SAID),
        ["1.0 HG403: a thought that is a call, a response or media."],
    ),
    "a call that is a thought, where thoughts do not matter": (
        "openai-chat",
        round_of([CALL_THOUGHT], ONE_SAID),
        [],
    ),
    "signed words, where none are known": (
        "openai-chat",
        [user("a"), model(text("b", signature=SIG)), user("c")],
        ["1.0 HG403: a thought signature."],
    ),
    "an id that comes again behind a call without one": (
        "gemini-2",
        [
            *round_of(
                [call("see"), call("look", id="c1")],
                [response("see"), response("look", id="c1")],
            ),
            model(call("see"), call("look", id="c1")),
            user(response("see"), response("look", id="c1")),
        ],
        [
            "1 HG502: 1 of 2 calls carry an id.",
            "3 HG502: 1 of 2 calls carry an id.",
            "3.1 HG501: 'look' (id 'c1') repeats the id of contents[1].parts[1].",
        ],
    ),
    "ids on two of three calls": (
        "gemini-2",
        round_of(
            [call("see"), *TWO],
            [response("see"), *TWO_SAID],
        ),
        ["1 HG502: 2 of 3 calls carry an id."],
    ),
    "an id that is too long behind a good one": (
        "openai-chat",
        round_of(
            [call("see", id="c1"), call("look", id=LONG)],
            [response("see", id="c1"), response("look", id=LONG)],
        ),
        [f"1.1 HG504: 'look' (id '{LONG}'): not of the provider's format."],
    ),
    "an id with data inside, where none can be read": (
        "anthropic",
        round_of([call("look", id=MARKED)], [response("look", id=MARKED)]),
        [f"1.0 HG504: 'look' (id '{MARKED}'): not of the provider's format."],
    ),
}


@pytest.mark.parametrize(("profile", "contents", "told"), CASES.values(), ids=CASES)
def test_what_is_reported(profile, contents, told):
    """Turn and part, code and message of each violation, and no other."""
    found = validate_contents(contents, profile)

    assert [f"{_at(v.place)} {v.code}: {v.message}" for v in found] == told


def _at(place):
    return place.turn if place.part is None else f"{place.turn}.{place.part}"
