# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who wrote what: calls of a request without ids, and sessions that were edited."""

from __future__ import annotations

import pytest

from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.adk.routes import Origin
from tests.builders import call, event, model, text

CLAUDE = {"model_version": "claude-sonnet-4"}
GEMINI = Origin("gemini-3.5-flash", "google")
FAR = 100
"""So many newer turns stand behind the one that is looked up."""


def book(n, call_id=None):
    """A call of the tool `book` with the token `n`."""
    return call("book", id=call_id, n=n)


def poll(_, call_id=None):
    """A call without arguments, as of a tool that is asked again and again."""
    return call("poll", id=call_id)


def test_foreign_call_is_placed_behind_a_changed_one():
    """A call whose arguments were changed has no place; the older one has its own."""
    events = [event("agent", book(n, f"adk-{n}"), **CLAUDE) for n in range(3)]
    contents = [model(book(0)), model(book("[redacted]")), model(book(2))]
    ledger = Ledger()
    ledger.read(events)

    assert ledger.places(contents, ledger.origins(GEMINI)) == {(0, 0), (2, 0)}


def test_ids_of_a_request_tell_equal_calls_apart():
    """A call that kept its id is the session's of that id, and what is older is too."""
    events = [
        event("agent", poll(0, "adk-0"), **CLAUDE),
        event("agent", poll(0, "adk-1"), model_version="gemini-3.5-flash"),
        event("agent", poll(0, "c2"), model_version="gemini-3.5-flash"),
        event("agent", poll(0, "adk-3"), model_version="gemini-3.5-flash"),
    ]
    contents = [model(poll(0)), model(poll(0)), model(poll(0, "c2"))]
    ledger = Ledger()
    ledger.read(events)

    assert ledger.places(contents, ledger.origins(GEMINI)) == {(0, 0)}


def test_call_is_placed_by_the_newest_equal_one():
    """Of two equal calls of the session, the newer one is meant."""
    events = [
        event("agent", poll(0, "adk-0"), model_version="gemini-3.5-flash"),
        event("agent", poll(0, "adk-1"), **CLAUDE),
        event("agent", book(0, "adk-2"), model_version="gemini-3.5-flash"),
    ]
    ledger = Ledger()
    ledger.read(events)

    assert ledger.places([model(poll(0))], ledger.origins(GEMINI)) == {(0, 0)}


def test_id_of_a_request_leads_however_far_up():
    """A call with an id is found by it; the equal one before it is the one before."""
    gemini = {"model_version": "gemini-3.5-flash"}
    events = [
        event("agent", poll(0, "adk-0"), **CLAUDE),
        event("agent", poll(0, "c1"), **gemini),
        *(event("agent", poll(0, f"adk-{n}"), **gemini) for n in range(1, FAR)),
    ]
    ledger = Ledger()
    ledger.read(events)

    placed = ledger.places(
        [model(poll(0)), model(poll(0, "c1"))], ledger.origins(GEMINI)
    )

    assert placed == {(0, 0)}


# What a ledger sees of a session that was edited between two model calls.


def signed(mark, version):
    """An event of a model, whose text is signed."""
    return event(
        "agent", text("Hm.", signature=b"sig %d" % mark), model_version=version
    )


def replaced_end(events):
    events[1:] = [signed(3, "claude-sonnet-4"), signed(4, "gemini-3.5-flash")]


def replaced_one(events):
    events[0] = signed(3, "claude-sonnet-4")


def taken_out_and_added(events):
    del events[0]
    events += [signed(3, "claude-sonnet-4"), signed(4, "gemini-3.5-flash")]


def put_in_front(events):
    events.insert(0, signed(3, "claude-sonnet-4"))


def added(events):
    events.append(signed(3, "claude-sonnet-4"))


EDITS = [replaced_end, replaced_one, taken_out_and_added, put_in_front, added]


@pytest.mark.parametrize("edit", EDITS)
def test_ledger_reads_an_edited_session_anew(edit):
    """Whatever is replaced in place, the signature of another model is foreign."""
    events = [signed(n, "gemini-3.5-flash") for n in (1, 2)]
    ledger = Ledger()
    ledger.read(events)
    edit(events)

    ledger.read(events)

    assert ledger.origins(GEMINI).signatures == {b"sig 3"}


def test_ledger_forgets_what_was_taken_out():
    """A signature whose event is gone is nobody's any more, in the same list too."""
    events = [signed(1, "claude-sonnet-4"), signed(2, "gemini-3.5-flash")]
    ledger = Ledger()
    ledger.read(events)
    assert ledger.origins(GEMINI).signatures == {b"sig 1"}

    events[0] = event("user", "Hello.")
    ledger.read(events)

    assert ledger.origins(GEMINI).signatures == frozenset()


def test_ledger_reads_what_is_new_only():
    """Known events are not read again, in whichever list they stand."""
    events = [signed(1, "gemini-3.5-flash")]
    ledger = Ledger()
    ledger.read(events)
    events[0].content.parts = [text("Hm.", signature=b"sig 9")]

    ledger.read([*events, signed(2, "claude-sonnet-4")])

    assert ledger.origins(Origin("claude-sonnet-4", "anthropic")).signatures == {
        b"sig 1"
    }
