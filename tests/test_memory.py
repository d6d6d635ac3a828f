# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A history that was found clean is not walked again, unless somebody touched it."""

from __future__ import annotations

import pytest
from google.adk.events import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from adk_history_guard.adk import memory as memory_module
from adk_history_guard.adk.memory import Memory
from adk_history_guard.adk.survey import look


def event(author, *parts, role="model"):
    return Event(
        author=author,
        invocation_id="one",
        content=types.Content(role=role, parts=list(parts)) if parts else None,
    )


def call(call_id):
    said = types.FunctionCall(id=call_id, name="look", args={})
    return types.Part(function_call=said)


def response(call_id):
    said = types.FunctionResponse(id=call_id, name="look", response={})
    return types.Part(function_response=said)


def history(rounds=3):
    events = []
    for n in range(rounds):
        events += [
            event("user", types.Part(text=f"go {n}"), role="user"),
            event("root", call(f"c{n}")),
            event("root", response(f"c{n}"), role="user"),
            event("root"),
            event("root", types.Part(text="done")),
        ]
    return events


def edit_id(events):
    events[1].content.parts[0].function_call.id = "other"


def edit_response_id(events):
    events[2].content.parts[0].function_response.id = "other"


def edit_name(events):
    events[2].content.parts[0].function_response.name = "other"


def replace_content(events):
    events[2].content = types.Content(role="user", parts=[response("other")])


def replace_part(events):
    events[2].content.parts[0] = response("other")


def append_part(events):
    events[0].content.parts.append(response("other"))


def drop_parts(events):
    events[2].content.parts = None


def fill_silent_event(events):
    events[3].content = types.Content(role="user", parts=[response("other")])


def turn_text_into_call(events):
    events[0].content.parts[0].function_call = types.FunctionCall(id="x", name="y")


def replace_event(events):
    events[2] = event("root", response("other"), role="user")


def remove_event(events):
    del events[2]


def swap_events(events):
    events[1], events[2] = events[2], events[1]


def cut_short(events):
    del events[2:]


@pytest.mark.parametrize(
    "fool",
    [
        edit_id,
        edit_response_id,
        edit_name,
        replace_content,
        replace_part,
        append_part,
        drop_parts,
        fill_silent_event,
        turn_text_into_call,
        replace_event,
        remove_event,
        swap_events,
        cut_short,
    ],
)
def test_memory_is_not_fooled_by(fool):
    """Whatever is done to an event that was found clean, the look sees it."""
    events = history()
    memory = Memory()
    assert memory.look(events) == look(events)

    fool(events)

    assert look(events) is None
    assert memory.look(events) is None


def test_untouched_history_is_not_walked_again(monkeypatch):
    """Only the events behind the clean ones are looked at."""
    events = history()
    memory = Memory()
    memory.look(events)
    walked = []
    original = memory_module.look

    def counted(events, known=None):
        walked.append(len(events))
        return original(events, known)

    monkeypatch.setattr(memory_module, "look", counted)
    events += history(1)[:1]

    found = memory.look(events)

    assert walked == [1]
    assert found.ids == {"c0", "c1", "c2"}


def test_repeat_behind_the_clean_beginning_is_placed_from_the_start():
    """An id that comes up again later is found at its true index."""
    events = history()
    memory = Memory()
    memory.look(events)
    events += [event("root", call("c0")), event("root", response("c0"), role="user")]

    found = memory.look(events)

    assert found.repeats == [(15, 16, [0])]


def test_rewind_behind_the_clean_beginning_is_read_in_full_with_repeats():
    """A rewind and a repeated id together are not for the quick look."""
    events = history()
    memory = Memory()
    memory.look(events)
    back = EventActions(rewind_before_invocation_id="one")
    events.append(Event(author="user", invocation_id="two", actions=back))
    events += [event("root", call("c0")), event("root", response("c0"), role="user")]

    assert memory.look(events) is None


def test_clean_look_after_a_broken_one_learns_again():
    """A history that was broken and is clean again is remembered."""
    events = history()
    memory = Memory()
    memory.look(events)
    spoiled = events.pop(2)
    assert memory.look(events) is None

    events.insert(2, spoiled)

    assert memory.look(events) == look(events)
