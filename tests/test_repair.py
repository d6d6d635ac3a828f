# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The repair of a request: what each knob does, and what stays as it came."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_history_guard import GuardOptions, repair_contents
from tests.builders import (
    PLACEHOLDER,
    SIGNATURE,
    call,
    calls_of,
    dumped,
    media,
    model,
    response,
    responses_of,
    text,
    user,
)
from tests.judge import faults


def signed(name, **fields):
    """Return a call part with a signature of the model."""
    return call(name, signature=SIGNATURE, **fields)


def shape(contents):
    """Return role and kinds of each turn, as one string each."""
    return [f"{c.role}: {' '.join(_kind(p) for p in c.parts)}" for c in contents]


def _kind(part):
    if part.function_call:
        return f"call {part.function_call.name}"
    if part.function_response:
        return f"response {part.function_response.name}"
    return repr(part.text) if part.text is not None else "media"


def codes(outcome):
    """Return code and action of each change."""
    return [(change.code, str(change.action)) for change in outcome.changes]


@pytest.mark.parametrize(
    ("knob", "expected"),
    [
        (
            "placeholder",
            ["user: 'a'", "model: 'hm' call look", "user: response look", "user: 'b'"],
        ),
        ("drop", ["user: 'a'", "model: 'hm'", "user: 'b'"]),
        ("keep", ["user: 'a'", "model: 'hm' call look", "user: 'b'"]),
    ],
)
def test_knob_unanswered(knob, expected):
    """An unanswered call is answered, dropped or kept."""
    contents = [user("a"), model("hm", call("look", id="c1")), user("b")]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(unanswered=knob))

    assert shape(outcome.contents) == expected
    assert bool(outcome.violations) is (knob == "keep")


def test_a_signed_call_is_answered_even_where_calls_are_dropped():
    """With the call its turn's signature would go: a placeholder instead."""
    contents = [
        user("a"),
        model(signed("look", id="c1"), call("seek", id="c2")),
        user("b"),
    ]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(unanswered="drop"))

    assert shape(outcome.contents) == [
        "user: 'a'", "model: call look", "user: response look", "user: 'b'"
    ]  # fmt: skip
    assert codes(outcome) == [("HG101", "add"), ("HG101", "drop")]


@pytest.mark.parametrize(("knob", "left"), [("placeholder", []), ("keep", ["HG109"])])
def test_knob_pending(knob, left):
    """A pending call gets a placeholder in the request, or stays and is reported."""
    contents = [user("a"), model(signed("job", id="j1")), user("b")]

    outcome = repair_contents(
        contents, "gemini-3", GuardOptions(pending=knob), pending={"j1"}
    )

    assert [v.code for v in outcome.violations] == left
    bodies = [r.response for r in responses_of(outcome.contents)]
    assert bodies == (
        []
        if left
        else [
            {
                "status": "pending",
                "message": "This call has not been answered yet.",
                "adk_history_guard": "placeholder",
            }
        ]
    )


def test_a_pending_call_without_an_id_is_told_by_its_name():
    """ADK leaves its own ids off, so the plugin can only say which tool waits."""
    contents = [user("a"), model(signed("job"), call("look")), user("b")]

    outcome = repair_contents(contents, "gemini-3", pending={"job"})

    [job, look] = responses_of(outcome.contents)
    assert job.response["message"] == "This call has not been answered yet."
    assert "may have run or not" in look.response["error"]


@pytest.mark.trap("tool-may-have-run", "mark-in-the-body")
def test_placeholder_says_that_nothing_is_known():
    """A missing response does not mean that the tool did not run."""
    outcome = repair_contents([user("a"), model(signed("look", id="c1")), user("b")])

    [answer] = responses_of(outcome.contents)
    assert (answer.name, answer.id) == ("look", "c1")
    assert answer.response["adk_history_guard"] == "placeholder"
    assert "may have run or not" in answer.response["error"]


def test_placeholders_are_not_shared():
    """Two placeholders have bodies of their own: who edits one edits one."""
    outcome = repair_contents(
        [user("a"), model(signed("look", id="c1"), call("look", id="c2")), user("b")]
    )

    first, second = responses_of(outcome.contents)
    assert first.response == second.response
    assert first.response is not second.response


@pytest.mark.parametrize(
    ("knob", "told"),
    [("drop", []), ("narrate", ["""[Tool 'look' responded: {"n": 9}]"""])],
)
def test_knob_orphans(knob, told):
    """An orphan goes, or is told as text of the user."""
    contents = [user("a"), user(response("look", id="c9", n=9)), model("ok"), user("b")]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(orphans=knob))

    words = [p.text for c in outcome.contents for p in c.parts]
    assert words == ["a", *told, "ok", "b"]


def test_an_orphan_that_is_the_users_last_word_is_told():
    """Dropped, the request would end with the model and say nothing new."""
    contents = [user("a"), model("ok"), user(response("look", id="c9", n=9))]

    outcome = repair_contents(contents)

    assert outcome.contents[-1].role == "user"
    assert "look" in outcome.contents[-1].parts[0].text
    assert outcome.violations == []


@pytest.mark.parametrize(
    ("knob", "signature", "left"),
    [
        ("auto", PLACEHOLDER, []),
        ("placeholder_signature", PLACEHOLDER, []),
        ("keep", None, ["HG401"]),
    ],
)
def test_knob_unsigned(knob, signature, left):
    """The documented placeholder goes on the first call of the step, no other."""
    contents = [
        user("a"),
        model(call("look", id="c1"), call("seek", id="c2")),
        user(response("look", id="c1"), response("seek", id="c2")),
    ]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(unsigned=knob))

    assert [p.thought_signature for p in outcome.contents[1].parts] == [signature, None]
    assert [v.code for v in outcome.violations] == left
    assert contents[1].parts[0].thought_signature is None


def test_unsigned_calls_of_earlier_turns_stay_unsigned():
    """Only the current turn is validated; a placeholder lowers quality."""
    contents = [
        user("a"),
        model(call("look", id="c1")),
        user(response("look", id="c1")),
        model("ok"),
        user("b"),
    ]

    assert repair_contents(contents, "gemini-3").contents is contents


@pytest.mark.trap("signatures-stay-in-place")
def test_signatures_stay_in_the_parts_they_came_in():
    """Joining turns joins no parts; each keeps its signature and its place."""
    first, second = text("a", signature=b"one"), text("b", signature=b"two")
    action = call("look", id="c1", signature=b"three")
    contents = [
        user("go"),
        model(first),
        model(second),
        model(action),
        user(response("look", id="c1")),
    ]

    outcome = repair_contents(contents, "gemini-3")

    assert len(outcome.contents) == 3
    parts = outcome.contents[1].parts
    assert all(a is b for a, b in zip(parts, [first, second, action], strict=True))
    assert codes(outcome) == [("HG209", "move"), ("HG204", "move")]


def test_untouched_contents_are_the_same_objects_of_their_own_class():
    """A `UserContent` is not equal to a `Content`: it is handed on as it is."""
    kept = types.UserContent(parts=[text("a")])
    contents = [kept, model(signed("look", id="c1")), user("b")]

    outcome = repair_contents(contents)

    assert outcome.contents[0] is kept
    assert outcome.contents[1] is contents[1]
    assert outcome.contents[-1] is contents[2]


def test_responses_of_a_round_come_home_and_media_stand_behind_them():
    """All responses in one turn in call order, then what stood beside them."""
    contents = [
        user("a"),
        model(signed("look", id="c1", n=1), call("seek", id="c2", n=2)),
        user(response("seek", id="c2", n=2), media()),
        user("quick"),
        user(response("look", id="c1", n=1), media("image/webp")),
        model("ok"),
        user("b"),
    ]

    outcome = repair_contents(contents)

    assert shape(outcome.contents) == [
        "user: 'a'",
        "model: call look call seek",
        "user: response look response seek",
        "user: media",
        "user: 'quick'",
        "user: media",
        "model: 'ok'",
        "user: 'b'",
    ]
    assert faults(outcome.contents) == []


@pytest.mark.trap("rounds-stay-apart")
def test_rounds_stay_apart():
    """Responses of two rounds are never put into one turn."""
    contents = [
        user("a"),
        model(signed("look", id="c1")),
        model(signed("seek", id="c2")),
        user(response("look", id="c1", n=1), response("seek", id="c2", n=2)),
    ]

    outcome = repair_contents(contents)

    assert shape(outcome.contents) == [
        "user: 'a'",
        "model: call look",
        "user: response look",
        "model: call seek",
        "user: response seek",
    ]


def test_a_user_turn_is_put_in_front_and_none_behind():
    """ADK's `Gemini` appends the last user turn itself; the first is ours."""
    outcome = repair_contents([model("hello")])

    assert shape(outcome.contents) == [
        "user: '(The conversation goes on.)'",
        "model: 'hello'",
    ]
    assert [v.code for v in outcome.violations] == ["HG206"]


def test_ids_that_repeat_are_left_off_on_both_sides():
    """Gemini matches by order then; one side alone would be a 400."""
    contents = [
        user("a"),
        model(signed("look", id="c1", n=1), call("seek", id="c1", n=2)),
        user(response("look", id="c1", n=1), response("seek", id="c1", n=2)),
    ]

    outcome = repair_contents(contents)

    assert [c.id for c in calls_of(outcome.contents)] == [None, None]
    assert [r.id for r in responses_of(outcome.contents)] == [None, None]
    assert faults(outcome.contents, answered=[1, 2]) == []


def test_changes_print_place_code_action_and_message():
    """One line each; JSON-ready as a dict."""
    outcome = repair_contents([user("a"), model(signed("look", id="c1")), user("b")])

    [change] = outcome.changes
    assert str(change) == (
        "contents[1].parts[0]: HG101 add: a placeholder response to 'look' (id 'c1')"
    )
    assert change.to_dict() == {
        "code": "HG101",
        "action": "add",
        "place": "contents[1].parts[0]",
        "message": "a placeholder response to 'look' (id 'c1')",
    }


def test_many_parallel_calls_are_repaired_in_linear_time():
    """A thousand parallel calls, answered in reverse, one by one."""
    size = 1_000
    contents = [
        user("a"),
        model(*(signed("look", id=f"c{n}", n=n) for n in range(size))),
        *(user(response("look", id=f"c{n}", n=n)) for n in reversed(range(size))),
        user("b"),
    ]

    outcome = repair_contents(contents)

    assert faults(outcome.contents, answered=range(size)) == []
    assert len(outcome.contents) == 4


@pytest.mark.trap("same-prefix")
def test_a_repaired_request_keeps_its_beginning_from_turn_to_turn():
    """ADK fingerprints a prefix for context caching: what was sent stays as sent."""
    start = [
        user("a"),
        model(signed("look", id="c1", n=1)),
        user("b"),
        model("ok"),
        user("c"),
    ]
    longer = [*start, model("well"), user("d")]

    first, second = repair_contents(start).contents, repair_contents(longer).contents

    assert dumped(second[: len(first)]) == dumped(first)
