# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The quick look in front of the full walk: what passes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adk_history_guard import GuardOptions, validate_contents
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.repair import repair
from adk_history_guard.core.screen import is_clean
from adk_history_guard.core.turns import read_contents
from tests.builders import PLACEHOLDER, call, media, model, response, text, user
from tests.rounds import (
    ANY_ID_BUT_ONE,
    DIGITS,
    GEMINI_2,
    ONE,
    ONE_SAID,
    SHORT_IDS,
    SIG,
    TWO,
    TWO_SAID,
    asked,
    part,
    resolved,
    round_of,
    said,
    thoughtless,
)

pytestmark = pytest.mark.once

CLEAN = {
    "words of the user": ("gemini-3", [user("a")]),
    "a conversation": ("gemini-3", [user("a"), model("b"), user("c"), user("d")]),
    "a round": ("gemini-2", round_of(ONE, ONE_SAID)),
    "a round without ids": (
        "gemini-2",
        round_of([call("look"), call("look")], [response("look"), response("look")]),
    ),
    "a signed round, its sibling unsigned": ("gemini-3", round_of(TWO, TWO_SAID)),
    "siblings that are both signed": (
        "gemini-3",
        round_of([TWO[0], call("seek", id="c2", signature=SIG)], TWO_SAID),
    ),
    "a placeholder signature on the first call": (
        "gemini-3",
        round_of([call("look", id="c1", signature=PLACEHOLDER)], ONE_SAID),
    ),
    "an unsigned round of an earlier turn": (
        "gemini-3",
        [*round_of(ONE, ONE_SAID), model("b"), user("c")],
    ),
    "two rounds": (
        "gemini-2",
        [
            *round_of(ONE, ONE_SAID),
            model(call("look", id="c2")),
            user(response("look", id="c2")),
        ],
    ),
    "words and a call in one turn": ("gemini-2", round_of(["hm", *ONE], ONE_SAID)),
    "a name as long as may be": (
        "gemini-2",
        round_of([call("x" * 64)], [response("x" * 64)]),
    ),
    "signed words of model and user, a thought": (
        "gemini-3",
        [
            user(text("a", signature=SIG), part(text="b", thought=True)),
            model(text("c", signature=SIG), part(text="d", thought=True)),
            user("e"),
        ],
    ),
    "fields that were set to None": (
        "gemini-2",
        round_of(
            [thoughtless(text("hm")), thoughtless(asked(partial_args=None))],
            [thoughtless(said(scheduling=None))],
        ),
    ),
    "media": ("gemini-2", [user(media(), media()), model(media()), user("b")]),
    "media turns that follow no response": (
        "gemini-2",
        [user(media()), user(media()), user(media())],
    ),
    "one turn of media behind responses": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user(media())],
    ),
    "media, words and media behind responses": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user(media()), user("b"), user(media())],
    ),
    "words and media, twice, behind responses": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user("b"), user(media()), user(media())],
    ),
    "media behind responses, and media later": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), user(media()), model("b"), user(media())],
    ),
    "media behind an answer of the model": (
        "gemini-2",
        [*round_of(ONE, ONE_SAID), model("b"), user(media()), user(media())],
    ),
    "media turn by turn, where each response has its own": (
        "openai-chat",
        [*round_of(ONE, ONE_SAID), user(media()), user(media())],
    ),
    "a call turn in front, where that is allowed": (
        "openai-chat",
        [model(*ONE), user(*ONE_SAID)],
    ),
    "a signed call in front, where that is allowed": (
        replace(GEMINI_2, leading_user=False),
        [model(call("look", signature=SIG)), user(response("look"))],
    ),
    "the model speaks between responses and user": (
        "mistral",
        [
            user("a"),
            model(call("look", id="abcdefghi")),
            user(response("look", id="abcdefghi")),
            model("b"),
            user("c"),
        ],
    ),
    "responses at the end, where the model must speak next": (
        "mistral",
        round_of(
            [call("look", id="abcdefghi"), call("look", id="abcdefghk")],
            [response("look", id="abcdefghi"), response("look", id="abcdefghk")],
        ),
    ),
    "an id of the longest length": (
        SHORT_IDS,
        round_of([call("look", id="123")], [response("look", id="123")]),
    ),
    "no id, where none is required": (
        DIGITS,
        round_of([call("look")], [said(id=None)]),
    ),
    "any id, where one is required": (ANY_ID_BUT_ONE, round_of(ONE, ONE_SAID)),
    "nothing called, where signatures are in ids": (
        "gemini-gateway",
        [user("a"), model("b"), user("c")],
    ),
}
"""Contents that break no rule of a profile and that no repair changes."""


@pytest.mark.parametrize(("profile", "contents"), CLEAN.values(), ids=CLEAN)
def test_clean_contents_pass(profile, contents):
    """Nothing is built for them, and the full walk would find nothing either."""
    assert is_clean(contents, resolved(profile))
    assert validate_contents(contents, profile) == []
    turns = read_contents(contents)
    assert repair(turns, pair(turns), resolved(profile), GuardOptions()) == (turns, [])
