# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from parts: which are empty, which ids carry data; how it prints."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_history_guard import repair_contents, validate_contents
from adk_history_guard.core.turns import is_empty
from tests.builders import call, media, model, response, text, user
from tests.rounds import part

pytestmark = pytest.mark.once

ABOUT_DATA = {
    "thought": True,
    "video_metadata": {"fps": 1.0},
    "media_resolution": {"level": "MEDIA_RESOLUTION_LOW"},
    "media_processing": "STATIC",
    "speech_metadata": {},
    "part_metadata": {"a": 1},
}
"""Fields of a part that say something about its data; older SDKs lack some."""


@pytest.mark.parametrize(
    "field", [n for n in ABOUT_DATA if n in types.Part.model_fields]
)
def test_a_part_that_only_says_something_about_data_is_empty(field):
    """A provider wants a data field in each part."""
    made = part(**{field: ABOUT_DATA[field]})
    assert getattr(made, field) is not None

    outcome = repair_contents([user("a", made)], "gemini-3")

    assert [str(change) for change in outcome.changes] == [
        "contents[0].parts[1]: HG301 drop: an empty part"
    ]


@pytest.mark.parametrize(
    "call_id",
    [
        f"call_1__thought__{'x' * 60}",
        f"call_1||thought_signature||{'x' * 60}",
        f"look::sig::{'x' * 60}",
    ],
)
def test_an_id_with_data_inside_may_break_the_format(call_id):
    """It stays byte for byte, since the provider's adapter reads it."""
    contents = [
        user("a"),
        model(call("look", id=call_id)),
        user(response("look", id=call_id)),
    ]

    assert validate_contents(contents, "openai-chat") == []
    assert repair_contents(contents, "openai-chat").contents is contents


def test_violations_are_json_ready():
    """What is wrong, where, and the way out, all as strings."""
    contents = [user("a"), model(call("look", id="c1")), user("b")]

    [violation] = validate_contents(contents, "gemini-2")

    assert violation.to_dict() == {
        "code": "HG101",
        "name": "unanswered-call",
        "severity": "error",
        "place": "contents[1].parts[0]",
        "message": "'look' (id 'c1') has no response.",
        "fix": "Allow the 'placeholder' repair (unanswered='placeholder'), or append "
        "the call's response before the request.",
    }


@pytest.mark.parametrize(
    ("made", "empty"),
    [
        (types.Part(), True),
        (text(""), True),
        (types.Part(thought=True), True),
        (text("a"), False),
        (text(" "), False),
        (text("", signature=b"signed"), False),
        (media(), False),
        (call("look"), False),
        (response("look"), False),
    ],
)
def test_what_is_empty(made, empty):
    """Words, data and signatures are something; a flag and an empty text are not."""
    assert is_empty(made) is empty
