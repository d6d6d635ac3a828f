# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What each provider takes, at a glance: one row a breach, one column a profile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from google.genai import types

from adk_history_guard import PROFILES, repair_contents, validate_contents
from adk_history_guard.core.profiles import gemini_profile, resolve_profile
from adk_history_guard.errors import ConfigurationError
from tests.builders import (
    PLACEHOLDER,
    call,
    calls_of,
    media,
    model,
    response,
    responses_of,
    text,
    user,
)
from tests.rounds import MARKED, SIG, part, round_of, said

pytestmark = pytest.mark.once

COLUMNS = [
    "gemini-3",
    "gemini-2",
    "gemini-gateway",
    "openai-chat",
    "openai-responses",
    "anthropic",
    "mistral",
    "bedrock",
]
LETTERS = {"error": "E", "warning": "W"}
THOUGHT = part(text="hm", thought=True)


def one(call_id, **fields):
    """Return a round of one call under an id; fields are those of the response."""
    return round_of([call("look", id=call_id)], [said(id=call_id, **fields)])


def two(*ids, answers=None):
    """Return a round of several calls; answers are their ids in another order."""
    return round_of(
        [call("look", id=call_id) for call_id in ids],
        [response("look", id=call_id) for call_id in answers or ids],
    )


def holding(*kinds):
    """Return a round whose response holds media."""
    blobs = [types.FunctionResponseBlob(data=b"a", mime_type=kind) for kind in kinds]
    nested = [types.FunctionResponsePart(inline_data=blob) for blob in blobs]
    return one("abcdefghi", parts=nested)


GRID = {
    "responses in another order": (
        two("abcdefghi", "abcdefghj", answers=["abcdefghj", "abcdefghi"]),
        "HG105",
        "EE......",
    ),
    "media beside a response": (
        round_of([call("look", id="c1")], [response("look", id="c1"), media()]),
        "HG205",
        "EWEEEEEE",
    ),
    "the model first": ([model("a"), user("b")], "HG203", "EE...EEE"),
    "the model last": ([user("a"), model("b")], "HG206", "WW......"),
    "the user behind responses": ([*one("abcdefghi"), user("b")], "HG210", "......W."),
    "white space at the end": ([user("a"), model("b ")], "HG211", ".....E.E"),
    "nothing but a signature": (
        [user("a"), model("b", part(thought_signature=SIG)), user("c")],
        "HG302",
        "EEWWWEWE",
    ),
    "a field of a stream": (one("abcdefghi", will_continue=True), "HG307", "EE......"),
    "a picture inside a response": (holding("image/png"), "HG309", ".EEEEEEE"),
    "an unsigned call": (one("abcdefghi"), "HG401", "E......."),
    "an unsigned call behind a signed id": (
        [*one(MARKED), model(call("see", id="c2")), user(response("see", id="c2"))],
        "HG401",
        "E.E.....",
    ),
    "a placeholder signature on a second call": (
        round_of(
            [call("look", id="c1"), call("see", id="c2", signature=PLACEHOLDER)],
            [response("look", id="c1"), response("see", id="c2")],
        ),
        "HG402",
        "WW......",
    ),
    "signed words": (
        [user("a"), model(text("b", signature=SIG)), user("c")],
        "HG403",
        "...EEEEE",
    ),
    "an unsigned thought": (
        [user("a"), model(THOUGHT, "b"), user("c")],
        "HG403",
        ".....E..",
    ),
    "an unsigned call beside a signed id": (two(MARKED, "c2"), "HG404", "..W....."),
    "an id that repeats": (two("abcdefghi", "abcdefghi"), "HG501", "WWEEEEEE"),
    "ids on some calls": (two("abcdefghi", None), "HG502", "EEEEEEEE"),
    "an id with a dot": (one("abcdefg.i"), "HG504", "...EEEEE"),
    "an id with a dash": (one("abcdefg-i"), "HG504", "......E."),
    "an id of 8 letters": (one("x" * 8), "HG504", "......E."),
    "an id of 9 letters": (one("x" * 9), "HG504", "........"),
    "an id of 10 letters": (one("x" * 10), "HG504", "......E."),
    "an id of 40 letters": (one("x" * 40), "HG504", "......E."),
    "an id of 41 letters": (one("x" * 41), "HG504", "...E..E."),
    "an id of 64 letters": (one("x" * 64), "HG504", "...E..E."),
    "an id of 65 letters": (one("x" * 65), "HG504", "...EEEEE"),
    "an id with a signature inside": (one(MARKED), "HG504", ".....EEE"),
    "no id": (one(None), "HG505", "..EEEEEE"),
}
"""A request, a rule, and how severe its breach is for each profile, in their order."""


def test_the_columns_are_the_profiles():
    """No profile is left out."""
    assert list(PROFILES) == COLUMNS


@pytest.mark.parametrize(("contents", "code", "row"), GRID.values(), ids=GRID)
def test_how_severe_a_breach_is(contents, code, row):
    """`E`: the provider refuses it; `W`: it may; a dot: it takes it."""
    found = [
        {v.code: LETTERS[v.severity] for v in validate_contents(contents, profile)}
        for profile in COLUMNS
    ]

    assert "".join(letters.get(code, ".") for letters in found) == row


def media_turns(contents):
    """Return how many turns hold media."""
    return sum(any(p.inline_data for p in c.parts) for c in contents)


def nested(contents):
    """Return how many media stand inside responses."""
    return sum(len(r.parts or ()) for r in responses_of(contents))


def signed(contents):
    """Return how many calls carry a placeholder signature."""
    return sum(p.thought_signature == PLACEHOLDER for c in contents for p in c.parts)


def calls(contents):
    """Return how many calls are left."""
    return len(calls_of(contents))


PICTURES = round_of(
    [call("look", id="c1"), call("see", id="c2")],
    [response("look", id="c1"), media(), response("see", id="c2"), media()],
)
REPAIRED = {
    "pictures of two responses, in turns": (PICTURES, media_turns, "11222121"),
    "a picture that stays inside": (holding("image/png"), nested, "10000000"),
    "an animation that stays inside": (holding("image/gif"), nested, "00000000"),
    "an archive that stays inside": (holding("application/zip"), nested, "00000100"),
    "unsigned calls that get a placeholder": (one("c1"), signed, "10000000"),
    "calls beside a signed id that are left": (two(MARKED, "c2"), calls, "22122222"),
    "calls behind a signed id that are left": (
        [*one(MARKED), model(call("see", id="c2")), user(response("see", id="c2"))],
        calls,
        "22122222",
    ),
    "model turns between responses and user": (
        [*one("abcdefghi"), user("b")],
        lambda contents: sum(c.role == "model" for c in contents),
        "11111121",
    ),
}
"""A request, what is counted in the repaired one, and the count for each profile."""


@pytest.mark.parametrize(("contents", "count", "row"), REPAIRED.values(), ids=REPAIRED)
def test_what_the_repair_makes_of_it(contents, count, row):
    """Each provider gets the form that it takes."""
    made = [repair_contents(contents, profile).contents for profile in COLUMNS]

    assert "".join(str(count(found)) for found in made) == row


def test_an_unknown_profile_is_refused_with_those_there_are():
    """A typing error must not fall back to another provider's contract."""
    with pytest.raises(ConfigurationError) as caught:
        resolve_profile("gemini")

    assert str(caught.value) == (
        "Unknown profile 'gemini'. Use one of: gemini-3, gemini-2, gemini-gateway, "
        "openai-chat, openai-responses, anthropic, mistral, bedrock."
    )


def test_a_profile_is_its_own():
    """Who has a contract of their own hands it in."""
    own = replace(PROFILES["gemini-2"], leading_user=False)

    assert resolve_profile(own) is own
    assert validate_contents([model("a"), user("b")], own) == []


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("gemini-3-pro", "gemini-3"),
        ("GEMINI-3.5-Flash", "gemini-3"),
        ("vertex_ai/gemini-12", "gemini-3"),
        ("gemini-latest", "gemini-3"),
        ("gemini-flash-lite-latest", "gemini-3"),
        ("Gemini-Flash-Latest", "gemini-3"),
        ("gemini-2.5-flash", "gemini-2"),
        ("gemini-2.5-flash-latest", "gemini-2"),
        ("gemini-exp-1206", "gemini-2"),
        ("latest", "gemini-2"),
    ],
)
def test_a_gemini_is_told_by_its_version_and_an_alias_is_new(name, profile):
    """From the third generation on signatures are demanded; a name without is old."""
    assert gemini_profile(name) == profile
