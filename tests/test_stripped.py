# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Ids that ADK has left off a request, known from the session to pair by."""

from __future__ import annotations

from adk_history_guard import GuardOptions
from adk_history_guard.adk.history import Scene, bring_late_round, repair_events
from adk_history_guard.adk.stripped import find_ids
from adk_history_guard.core.guard import guard
from adk_history_guard.core.origins import Origins
from adk_history_guard.core.profiles import PROFILES
from tests.builders import call, event, events, model, response, user


def book(n, call_id=None):
    """A call of the tool `book` with the token `n`."""
    return call("book", id=call_id, n=n)


def booked(n, call_id=None):
    """A response of the tool `book` with the token `n`."""
    return response("book", id=call_id, n=n)


def sent(contents, stored):
    """Guard contents as the plugin does, and return what is sent."""
    outcome = guard(
        contents,
        profile=PROFILES["gemini-2"],
        options=GuardOptions(),
        pending=("adk-1", "adk-2", "adk-3", "book"),
        origins=Origins(known_ids=find_ids(contents, stored)),
    )
    return outcome.contents


def tokens(contents):
    """Return the ids and tokens of the calls and responses of each turn."""
    out = []
    for content in contents:
        said = [p.function_call or p.function_response for p in content.parts or ()]
        args = [
            (s.id, (getattr(s, "args", None) or getattr(s, "response", {})).get("n"))
            for s in said
            if s is not None
        ]
        if args:
            out.append(args)
    return out


def test_responses_in_reverse_come_into_call_order():
    """Two jobs of one tool, answered in reverse, are told apart by the session."""
    stored = events(
        event("user", "Two, please."),
        event("agent", book(1, "adk-1"), book(2, "adk-2")),
        event("user", booked(2, "adk-2"), booked(1, "adk-1")),
    )
    contents = [
        user("Two, please."),
        model(book(1), book(2)),
        user(booked(2), booked(1)),
    ]

    made = sent(contents, stored)

    assert tokens(made) == [[(None, 1), (None, 2)], [(None, 1), (None, 2)]]
    assert made[0] is contents[0]
    assert made[1] is contents[1]


def test_unanswered_call_keeps_its_place():
    """Where only the second job is answered, the placeholder stands for the first."""
    stored = events(
        event("user", "Two, please."),
        event("agent", book(1, "adk-1"), book(2, "adk-2"), long_running=("adk-1",)),
        event("user", booked(2, "adk-2")),
    )
    contents = [user("Two, please."), model(book(1), book(2)), user(booked(2))]

    made = sent(contents, stored)

    assert tokens(made)[1] == [(None, None), (None, 2)]


def test_turn_that_adk_has_thinned_out_is_still_found():
    """ADK leaves out a call that never ran; the jobs beside it keep their answers."""
    stored = events(
        event("user", "Three, please."),
        event(
            "agent",
            call("look", id="adk-9"),
            book(1, "adk-1"),
            book(2, "adk-2"),
            long_running=("adk-1", "adk-2"),
        ),
        event("user", booked(2, "adk-2")),
    )
    contents = [user("Three, please."), model(book(1), book(2)), user(booked(2))]

    made = sent(contents, stored)

    assert tokens(made)[1] == [(None, None), (None, 2)]


def test_whole_turn_is_found_before_a_larger_one():
    """Of two turns with the same calls, a newer one with more of them is not meant."""
    stored = events(
        event("user", "Two, please."),
        event("agent", book(1, "adk-1"), book(2, "adk-2")),
        event("user", booked(2, "adk-2"), booked(1, "adk-1")),
        event("agent", book(1, "adk-3"), call("look", id="adk-9"), book(2, "adk-4")),
        event("user", booked(2, "adk-4"), booked(1, "adk-3")),
    )
    contents = [user("Two, please."), model(book(1), book(2))]

    assert find_ids([*contents, user(booked(2), booked(1))], stored) == {
        (1, 0): "adk-1",
        (1, 1): "adk-2",
        (2, 0): "adk-2",
        (2, 1): "adk-1",
    }


def test_response_to_another_turn_is_sent_once():
    """ADK sends a message that answers two turns behind both; each keeps its own."""
    stored = events(
        event("user", "Go."),
        event("agent", book(1, "adk-1")),
        event("agent", book(2, "adk-2")),
        event("agent", booked(1, "adk-1"), booked(2, "adk-2")),
    )
    contents = [
        user("Go."),
        model(book(1)),
        user(booked(1), booked(2)),
        model(book(2)),
        user(booked(2), booked(1)),
    ]

    made = sent(contents, stored)

    assert tokens(made) == [[(None, 1)], [(None, 1)], [(None, 2)], [(None, 2)]]


def test_good_request_stays_the_same_object():
    """Where every response stands where it should, nothing is copied."""
    stored = events(
        event("user", "Two, please."),
        event("agent", book(1, "adk-1"), book(2, "adk-2")),
        event("agent", booked(1, "adk-1"), booked(2, "adk-2")),
    )
    contents = [
        user("Two, please."),
        model(book(1), book(2)),
        user(booked(1), booked(2)),
    ]

    assert sent(contents, stored) is contents


def test_turn_that_the_session_does_not_know_stays_as_it_is():
    """Contents that are not the session's get no ids."""
    contents = [user("Go."), model(book(1), book(2)), user(booked(2), booked(1))]

    found = find_ids(contents, events(event("user", "Go.")))

    assert found == {}


def test_equal_turns_are_found_from_the_newest_on():
    """The same calls twice, as in a session that is cut in front, keep their order."""
    stored = events(
        event("user", "Go."),
        event("agent", book(1, "adk-1"), book(1, "adk-2")),
        event("user", booked(11, "adk-1"), booked(12, "adk-2")),
        event("agent", book(1, "adk-3"), book(1, "adk-4")),
        event("user", booked(14, "adk-4"), booked(13, "adk-3")),
    )
    contents = [user("Go."), model(book(1), book(1)), user(booked(14), booked(13))]

    made = sent(contents, stored)

    assert tokens(made)[1] == [(None, 13), (None, 14)]


# Messages that answer more than one round.


def asked(number, call_id):
    """ADK's question whether a call may run."""
    original = {"name": "pay", "id": call_id, "args": {"n": number}}
    return event(
        "agent",
        call(
            "adk_request_confirmation", id=f"q{number}", originalFunctionCall=original
        ),
        long_running=(f"q{number}",),
    )


def test_rounds_that_run_together_are_joined():
    """Two confirmed calls of two turns that run together become one round."""
    stored = events(
        event("user", "Go."),
        event("agent", call("pay", id="adk-1", n=1), signed := call("look", id="c1")),
        event("agent", response("look", id="c1"), response("pay", id="adk-1", e=1)),
        asked(1, "adk-1"),
        event("agent", call("pay", id="adk-2", n=2)),
        event("agent", response("pay", id="adk-2", e=1)),
        asked(2, "adk-2"),
        event("user", response("adk_request_confirmation", id="q1", confirmed=True)),
    )
    ran = event(
        "agent", response("pay", id="adk-1", n=1), response("pay", id="adk-2", n=2)
    )

    done = bring_late_round(stored, ran, scene=Scene())

    assert done is not None
    joined, answers = done.events[-2:]
    assert [c.id for c in joined.get_function_calls()] == ["adk-1", "c1", "adk-2"]
    assert joined.content.parts[1] is signed
    assert [r.id for r in answers.get_function_responses()] == ["adk-1", "c1", "adk-2"]
    assert len(stored[1].get_function_calls()) == 2


def test_answer_beside_a_confirmation_is_not_lost():
    """ADK leaves out a message with a confirmation; a job's answer in it goes home."""
    stored = events(
        event("user", "Go."),
        event(
            "agent",
            call("pay", id="adk-1", n=1),
            call("job", id="adk-2", n=2),
            long_running=("adk-2",),
        ),
        event("agent", response("pay", id="adk-1", e=1)),
        asked(1, "adk-1"),
        event(
            "user",
            response("adk_request_confirmation", id="q1", confirmed=True),
            response("job", id="adk-2", n=2),
        ),
    )

    done = repair_events(stored)

    homes = [e for e in done.events if any(r.id == "adk-2" for r in said(e))]
    assert len(homes) == 1
    assert [(r.id, r.response) for r in said(homes[0])] == [
        ("adk-1", {"e": 1}),
        ("adk-2", {"n": 2}),
    ]
    assert [r.id for r in said(done.events[-1])] == ["q1"]


def said(found):
    """The responses of an event."""
    return found.get_function_responses()
