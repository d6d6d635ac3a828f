# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Looking a request up in its session: what is found, and at what price.

What other plugins have changed in a request (redaction, truncation) is not found in
the session. That must cost no more than finding it: it is asked at each model call.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass

import pytest

from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.adk.routes import Origin
from adk_history_guard.adk.stripped import find_ids
from tests.builders import call, event, model, response, user

pytestmark = pytest.mark.once


def book(n, call_id=None):
    """A call of the tool `book` with the token `n`."""
    return call("book", id=call_id, n=n)


def booked(n, call_id=None):
    """A response of the tool `book` with the token `n`."""
    return response("book", id=call_id, n=n)


def session(rounds, *, args=book, bodies=booked, more=()):
    """Rounds of two calls, whose responses are stored in reverse."""
    made = []
    for n in range(rounds):
        first, second = f"adk-{2 * n}", f"adk-{2 * n + 1}"
        made += [
            event("agent", args(2 * n, first), args(2 * n + 1, second), *more),
            event("user", bodies(2 * n + 1, second), bodies(2 * n, first)),
        ]
    return made


def request(rounds, *, args=book, bodies=booked):
    """The contents of such a session, as ADK sends them: without ids."""
    made = []
    for n in range(rounds):
        made += [
            model(args(2 * n), args(2 * n + 1)),
            user(bodies(2 * n + 1), bodies(2 * n)),
        ]
    return made


def poll(_, call_id=None):
    """A call without arguments, as of a tool that is asked again and again."""
    return call("poll", id=call_id)


def polled(n, call_id=None):
    """A response to it."""
    return response("poll", id=call_id, n=n)


def redacted(_, call_id=None):
    """A response whose body another plugin has changed."""
    return response("book", id=call_id, n="[redacted]")


def misnamed(n, call_id=None):
    """A response under a name that is not its call's."""
    return response("boook", id=call_id, n=n)


def poll_or_book(n, call_id=None):
    """One of two calls without arguments, in turns."""
    return call("poll" if n % 2 else "book", id=call_id)


def book_or_poll(n, call_id=None):
    """The same two, the other way round."""
    return poll_or_book(n + 1, call_id)


def parallel(count):
    """One turn of many calls, whose responses stand in reverse."""
    numbers = range(count)
    back = list(reversed(numbers))
    return [
        event("agent", *(book(n, f"adk-{n}") for n in numbers)),
        event("user", *(booked(n, f"adk-{n}") for n in back)),
    ], [model(*map(book, numbers)), user(*map(booked, back))]


LOOKUPS = {
    "found": lambda n: (session(n), request(n)),
    "bodies-changed": lambda n: (session(n), request(n, bodies=redacted)),
    "arguments-changed": lambda n: (
        session(n),
        request(n, args=lambda _, i=None: book("[redacted]", i)),
    ),
    "equal-calls": lambda n: (
        session(n, args=poll, bodies=polled),
        request(n, args=poll, bodies=polled),
    ),
    "equal-calls-with-bodies-changed": lambda n: (
        session(n, args=poll, bodies=polled),
        request(n, args=poll, bodies=redacted),
    ),
    "calls-left-out": lambda n: (session(n, more=[call("see")]), request(n)),
    "calls-left-out-and-bodies-changed": lambda n: (
        session(n, more=[call("see")]),
        request(n, bodies=redacted),
    ),
    "newest-turn-changed": lambda n: (
        session(n, args=poll, bodies=polled, more=[call("see")]),
        request(n - 1, args=poll, bodies=polled),
    ),
    "other-order": lambda n: (
        session(n, args=poll_or_book),
        request(n, args=book_or_poll),
    ),
    "names-changed": lambda n: (session(n), request(n, bodies=misnamed)),
    "misnamed": lambda n: (
        session(n, args=poll, bodies=misnamed),
        request(n, args=poll, bodies=lambda _, i=None: misnamed(0, i)),
    ),
    "parallel": lambda n: parallel(2 * n),
}


def growth(few, many):
    """How many times as long one piece of work takes as the other.

    Both are timed in turns and without the collector; the least time of each counts.
    """
    times = {few: [], many: []}
    gc.disable()
    try:
        for _ in range(7):
            for work, taken in times.items():
                start = time.process_time()
                work()
                taken.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(times[many]) / min(times[few])


@pytest.mark.parametrize("make", LOOKUPS.values(), ids=LOOKUPS)
def test_ids_are_looked_up_in_linear_time(make):
    """Five times the rounds take about five times the time, not twenty-five."""

    def looked_up(rounds):
        events, contents = make(rounds)
        return lambda: find_ids(contents, events)

    assert growth(looked_up(100), looked_up(500)) < 13


def numbered(contents):
    """The contents with ids that are not the session's on every second call."""
    return [
        model(content.parts[0], call("poll", id="other")) if n % 2 == 0 else content
        for n, content in enumerate(contents)
    ]


GEMINI = Origin("gemini-3.5-flash", "google")

PLACES = {
    "found": lambda n: (session(n), request(n)),
    "arguments-changed": lambda n: (
        session(n),
        request(n, args=lambda _, i=None: book("[redacted]", i)),
    ),
    "equal-calls-and-other-ids": lambda n: (
        session(n, args=poll),
        numbered(request(n, args=poll)),
    ),
}


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_foreign_calls_are_placed_in_linear_time(make):
    """Five times the rounds of another model take about five times the time."""

    def placed(rounds):
        events, contents = make(rounds)
        ledger = Ledger()
        for made in events:
            made.model_version = "claude-sonnet-4"
        ledger.read(events)
        origins = ledger.origins(GEMINI)
        assert len(origins.ids) == 2 * rounds
        return lambda: ledger.places(contents, origins)

    assert growth(placed(100), placed(500)) < 13


@dataclass
class Table:
    """A value that has equality and no hash, as tools may return it."""

    rows: list[int]


NESTED = {
    "numbers that a store has made floats": ({"n": 1}, {"n": 1.0}),
    "keys in another order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "lists of objects": ({"n": [{"a": [1]}]}, {"n": [{"a": [1]}]}),
    "a value without a hash": ({"n": Table([1])}, {"n": Table([1])}),
}


@pytest.mark.parametrize(("stored", "sent"), NESTED.values(), ids=NESTED)
def test_equal_arguments_and_bodies_are_found(stored, sent):
    """Arguments and bodies are compared by value, whatever they hold."""
    events = [
        event("agent", call("book", id="adk-0", **stored), book(2, "adk-1")),
        event("user", booked(2, "adk-1"), response("book", id="adk-0", **stored)),
        event("agent", book(3, "adk-2"), book(4, "adk-3")),
        event("user", booked(4, "adk-3"), booked(3, "adk-2")),
    ]
    contents = [
        model(call("book", **sent), book(2)),
        user(booked(2), response("book", **sent)),
    ]

    assert find_ids(contents, events) == {
        (0, 0): "adk-0",
        (0, 1): "adk-1",
        (1, 0): "adk-1",
        (1, 1): "adk-0",
    }


def test_values_without_a_hash_are_told_apart():
    """Two bodies that no hash tells apart go to the calls that have them."""
    one, two = Table([1]), Table([2])
    events = [
        event("agent", book(one, "adk-0"), book(two, "adk-1")),
        event("user", booked(two, "adk-1"), booked(one, "adk-0")),
    ]
    contents = [
        model(book(Table([1])), book(Table([2]))),
        user(booked(Table([2])), booked(Table([1]))),
    ]

    assert find_ids(contents, events) == {
        (0, 0): "adk-0",
        (0, 1): "adk-1",
        (1, 0): "adk-1",
        (1, 1): "adk-0",
    }


def test_deep_bodies_are_looked_up():
    """A body nested beyond what recursion takes does not end the look-up."""
    deep: dict = {}
    for _ in range(5000):
        deep = {"in": deep}
    events = [
        event("agent", book(1, "adk-0"), book(2, "adk-1")),
        event("user", booked(2, "adk-1"), booked(1, "adk-0")),
    ]
    for made, n in ((events[1], 1), (events[1], 0)):
        made.content.parts[n].function_response.response["deep"] = deep
    contents = [
        model(book(1), book(2)),
        user(booked(2), booked(1)),
    ]
    for part in contents[1].parts:
        part.function_response.response["deep"] = deep

    assert find_ids(contents, events)[1, 0] == "adk-1"


def test_equal_calls_in_one_turn_are_counted():
    """A turn with three equal calls is not one with two of them."""
    events = [
        event("agent", poll(0, "adk-0"), poll(0, "adk-1"), poll(0, "adk-2")),
        event("user", polled(3, "adk-2"), polled(2, "adk-1"), polled(1, "adk-0")),
        event("agent", poll(0, "adk-3"), poll(0, "adk-4"), call("see", id="adk-5")),
        event("user", polled(2, "adk-4"), polled(1, "adk-3")),
    ]
    contents = [model(poll(0), poll(0), poll(0)), user(polled(3), polled(1))]

    assert find_ids(contents, events) == {
        (0, 0): "adk-0",
        (0, 1): "adk-1",
        (0, 2): "adk-2",
        (1, 0): "adk-2",
        (1, 1): "adk-0",
    }


FAR = 100
"""So many newer turns stand behind the one that is looked up."""

ARGUMENTS = {
    "numbers": lambda n: n,
    "lists": lambda n: [n],
    "objects in lists": lambda n: [{"a": {"b": n}}],
}


@pytest.mark.parametrize("wrap", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("more", [(), (call("see"),)], ids=["whole", "thinned-out"])
def test_turn_is_found_however_far_up_it_stands(wrap, more):
    """A request that begins with an old turn and lacks all newer ones gets its ids."""

    def wrapped(n, call_id=None):
        return book(wrap(n), call_id)

    contents = [model(wrapped(0), wrapped(1)), user(booked(1), booked(0))]

    assert find_ids(contents, session(FAR, args=wrapped, more=more)) == {
        (0, 0): "adk-0",
        (0, 1): "adk-1",
        (1, 0): "adk-1",
        (1, 1): "adk-0",
    }


def test_turn_with_more_of_one_call_is_found_however_far_up():
    """Three equal calls are looked up among turns of three, not of two."""
    see = call("see")
    events = [
        event("agent", *(poll(0, f"old-{n}") for n in range(3)), see),
        event("user", *(polled(n, f"old-{n}") for n in (2, 1, 0))),
        *session(FAR, args=poll, bodies=polled, more=[see]),
    ]
    contents = [model(poll(0), poll(0), poll(0)), user(polled(2), polled(1), polled(0))]

    found = find_ids(contents, events)

    assert [found[0, n] for n in range(3)] == ["old-0", "old-1", "old-2"]


def test_turns_that_are_equal_throughout_are_each_found_once():
    """Of two turns with the same calls and bodies, each has the ids of its own."""
    events = [
        event("agent", book(1, "adk-0"), book(2, "adk-1")),
        event("user", booked(2, "adk-1"), booked(1, "adk-0")),
        event("agent", book(1, "adk-2"), book(2, "adk-3")),
        event("user", booked(2, "adk-3"), booked(1, "adk-2")),
    ]
    contents = [model(book(1), book(2)), user(booked(2), booked(1))] * 2

    found = find_ids(contents, events)

    assert [found[n, 0] for n in range(4)] == ["adk-0", "adk-1", "adk-2", "adk-3"]


def test_changed_turn_leaves_its_neighbours_theirs():
    """Where one turn of three is changed by another plugin, two are still found."""
    contents = request(3)
    contents[3] = user(redacted(3), redacted(2))

    found = find_ids(contents, session(3))

    assert sorted({n for n, _ in found}) == [0, 1, 4, 5]
    assert found[5, 0] == "adk-5"
    assert found[1, 0] == "adk-1"
