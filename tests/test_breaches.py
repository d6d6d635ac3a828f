# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the quick look must not let pass, since it breaks a rule or needs a repair."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_history_guard import repair_contents, validate_contents
from adk_history_guard.core.screen import is_clean
from tests.builders import PLACEHOLDER, call, media, model, response, text, user
from tests.rounds import (
    ANY_ID_BUT_ONE,
    COLLAPSING,
    DIGITS,
    MARKED,
    ONE,
    ONE_SAID,
    PNG_BLOB,
    REPORTED,
    SHORT_IDS,
    SIG,
    SIGNED_IDS,
    SILENCED,
    TWO,
    TWO_SAID,
    asked,
    part,
    resolved,
    round_of,
    said,
)

pytestmark = pytest.mark.once

FILE = types.Part.from_uri(file_uri="gs://bucket/a.png", mime_type="image/png")
UNCLEAN = {
    "nothing": ("gemini-2", [], {"HG200"}),
    "parts that are None": (
        "gemini-2",
        [types.Content(role="user", parts=None), user("a")],
        {"HG201"},
    ),
    "no parts": ("gemini-2", [user("a"), user()], {"HG201"}),
    "an empty part of the user": ("gemini-2", [user("a", "")], {"HG301"}),
    "an empty part of the model": (
        "gemini-2",
        round_of(["", *ONE], ONE_SAID),
        {"HG301"},
    ),
    "nothing but a signature": (
        "gemini-2",
        [user("a", part(thought_signature=SIG))],
        {"HG302"},
    ),
    "text and media in one part": (
        "gemini-2",
        [user(part(text="a", inline_data=PNG_BLOB))],
        {"HG303"},
    ),
    "two media in one part": (
        "gemini-2",
        [user(part(inline_data=PNG_BLOB, file_data=FILE.file_data))],
        {"HG303"},
    ),
    "words and a call in one part": (
        "gemini-2",
        round_of([part(text="a", function_call=ONE[0].function_call)], ONE_SAID),
        {"HG303"},
    ),
    "words and a response in one part": (
        "gemini-2",
        round_of(
            ONE, [part(text="a", function_response=ONE_SAID[0].function_response)]
        ),
        {"HG303"},
    ),
    "another role": (
        "gemini-2",
        [user("a"), types.Content(role="assistant", parts=[text("b")]), user("c")],
        {"HG202"},
    ),
    "responses in a turn of another role": (
        "gemini-2",
        [
            *round_of(ONE, ())[:2],
            types.Content(role="tool", parts=ONE_SAID),
            model("b"),
            user("c"),
        ],
        {"HG202"},
    ),
    "the model first": ("gemini-2", [model("a"), user("b")], {"HG203"}),
    "the model last": ("gemini-2", [user("a"), model("b")], {"HG206"}),
    "the model twice": (
        "gemini-2",
        [user("a"), model("b"), model("c"), user("d")],
        {"HG209"},
    ),
    "a call of the user": (
        "gemini-2",
        [user("a"), user(*ONE), user("b")],
        {"HG101", "HG208"},
    ),
    "a response without a call": ("gemini-2", [user("a"), user(*ONE_SAID)], {"HG102"}),
    "a call without a response": (
        "gemini-2",
        [user("a"), model(*ONE)],
        {"HG101", "HG206"},
    ),
    "words instead of a response": (
        "gemini-2",
        [user("a"), model(*ONE), user("b")],
        {"HG101"},
    ),
    "one response too few": ("gemini-2", round_of(TWO, TWO_SAID[:1]), {"HG101"}),
    "one response too many": (
        "gemini-2",
        round_of(ONE, [*ONE_SAID, *ONE_SAID]),
        {"HG103"},
    ),
    "media beside a response": (
        "gemini-2",
        round_of(ONE, [*ONE_SAID, media()]),
        {"HG205"},
    ),
    "responses in another order": (
        "gemini-2",
        round_of(TWO, TWO_SAID[::-1]),
        {"HG105"},
    ),
    "a response of another name": (
        "gemini-2",
        round_of(ONE, [said(name="see")]),
        {"HG106"},
    ),
    "a response of another name, to the newer of two calls of its id": (
        "gemini-2",
        [*round_of(ONE, ["b"]), model(call("seek", id="c1")), user(said(name="see"))],
        {"HG101", "HG106", "HG501"},
    ),
    "a response of another id": (
        "gemini-2",
        round_of(ONE, [said(id="c2")]),
        {"HG101", "HG102"},
    ),
    "a response without the id of its call": (
        "gemini-2",
        round_of(ONE, [said(id=None)]),
        {"HG107"},
    ),
    "a response without a body": (
        "gemini-2",
        round_of(ONE, [said(response=None)]),
        {"HG306"},
    ),
    "a response with a field that is not for requests": (
        "gemini-2",
        round_of(ONE, [said(will_continue=True)]),
        {"HG307"},
    ),
    "a call with a field that is not for requests": (
        "gemini-2",
        round_of([asked(will_continue=True)], ONE_SAID),
        {"HG307"},
    ),
    "a call without a name": (
        "gemini-2",
        [user("a"), model(call(None)), user(response(None))],
        {"HG304"},
    ),
    "a call whose name is empty": (
        "gemini-2",
        [user("a"), model(call("")), user("b")],
        {"HG101", "HG304"},
    ),
    "a response whose name is empty": (
        "gemini-2",
        round_of(ONE, [said(name="")]),
        {"HG106", "HG304"},
    ),
    "a name that cannot be declared": (
        "gemini-2",
        round_of([call("look up")], [response("look up")]),
        {"HG305"},
    ),
    "an unsigned round": ("gemini-3", round_of(ONE, ONE_SAID), {"HG401"}),
    "an unsigned round that is only reported": (
        REPORTED,
        round_of(ONE, ONE_SAID),
        {"HG401"},
    ),
    "an unsigned round whose report is off": (
        SILENCED,
        round_of(ONE, ONE_SAID),
        {"HG401"},
    ),
    "an unsigned first call": (
        "gemini-3",
        round_of(
            [call("look", id="c1"), call("seek", id="c2", signature=SIG)], TWO_SAID
        ),
        {"HG401"},
    ),
    "a placeholder signature on a sibling": (
        "gemini-3",
        round_of([TWO[0], call("seek", id="c2", signature=PLACEHOLDER)], TWO_SAID),
        {"HG402"},
    ),
    "signed words of the user, where none are known": (
        "openai-chat",
        [user(text("a", signature=SIG))],
        {"HG403"},
    ),
    "signed words of the model, where none are known": (
        "openai-chat",
        [user("a"), model(text("b", signature=SIG)), user("c")],
        {"HG403"},
    ),
    "an unsigned thought of the user, where thoughts are signed": (
        "anthropic",
        [user("a", part(text="b", thought=True))],
        {"HG403"},
    ),
    "an unsigned thought of the model, where thoughts are signed": (
        "anthropic",
        [user("a"), model("b", part(text="c", thought=True)), user("d")],
        {"HG403"},
    ),
    "an id in two rounds": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), model(*ONE), user(*ONE_SAID)],
        {"HG501"},
    ),
    "an id twice in a round": (
        "gemini-2",
        round_of(
            [call("look", id="c1"), call("seek", id="c1")],
            [response("look", id="c1"), response("seek", id="c1")],
        ),
        {"HG501"},
    ),
    "ids on some calls": (
        "gemini-2",
        round_of(
            [call("look", id="c1"), call("seek")],
            [response("look", id="c1"), response("seek")],
        ),
        {"HG502"},
    ),
    "an id that is empty beside one that is not": (
        "gemini-2",
        round_of(
            [call("look", id="c1"), call("seek", id="")],
            [response("look", id="c1"), response("seek", id="")],
        ),
        {"HG502"},
    ),
    "an id with a sign that is not allowed": (
        "openai-chat",
        round_of([call("look", id="c.1")], [response("look", id="c.1")]),
        {"HG504"},
    ),
    "an id that is too long": (
        SHORT_IDS,
        round_of([call("look", id="1234")], [response("look", id="1234")]),
        {"HG504"},
    ),
    "an id of another format, where none is required": (
        DIGITS,
        round_of(ONE, ONE_SAID),
        {"HG504"},
    ),
    "no id, where any is required": (
        ANY_ID_BUT_ONE,
        round_of([call("look")], [response("look")]),
        {"HG505"},
    ),
    "two calls without an id, where one is required": (
        "openai-chat",
        round_of([call("look"), call("seek")], [response("look"), response("seek")]),
        {"HG505"},
    ),
    "an id of another round, where one is required": (
        "openai-chat",
        [*round_of(ONE, ONE_SAID), model(*ONE), user(*ONE_SAID)],
        {"HG501"},
    ),
    "the user behind responses, where the model must speak": (
        "mistral",
        [
            user("a"),
            model(call("look", id="abcdefghi")),
            user(response("look", id="abcdefghi")),
            user("b"),
        ],
        {"HG210"},
    ),
    "two turns of media behind responses": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user(media()), user(media())],
        {"HG205"},
    ),
    "two turns of files behind responses": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user(FILE), user(FILE)],
        {"HG205"},
    ),
    "a round without a signed id behind one with it": (
        SIGNED_IDS,
        [
            *round_of(
                [call("look", id=MARKED, signature=SIG)], [response("look", id=MARKED)]
            ),
            model(call("look", id="c2", signature=SIG)),
            user(response("look", id="c2")),
        ],
        {"HG401"},
    ),
    "an unsigned call beside a signed one": (
        COLLAPSING,
        round_of(TWO, TWO_SAID),
        {"HG404"},
    ),
}
"""Contents that break a rule or need a repair: code by code, what the walk finds."""


@pytest.mark.parametrize(
    ("profile", "contents", "codes"), UNCLEAN.values(), ids=UNCLEAN
)
def test_what_breaks_a_rule_or_needs_a_repair_does_not_pass(profile, contents, codes):
    """The full walk gets it, and reports or repairs it under these codes."""
    assert not is_clean(contents, resolved(profile))
    found = {violation.code for violation in validate_contents(contents, profile)}
    done = {change.code for change in repair_contents(contents, profile).changes}
    assert found | done == codes
