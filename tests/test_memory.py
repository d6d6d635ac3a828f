# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A history that was found whole is not walked again, unless somebody touched it."""

from __future__ import annotations

from operator import is_

import pytest
from google.adk.auth import AuthConfig
from google.adk.events import Event
from google.adk.events.event_actions import EventActions
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

from adk_history_guard.adk import memory as memory_module
from adk_history_guard.adk.memory import Memory
from adk_history_guard.adk.quick import BLOCK, MANY, look


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


def replace_content(events):
    events[2].content = types.Content(role="user", parts=[response("other")])


def take_content_away(events):
    events[2].content = None


def fill_silent_event(events):
    events[3].content = types.Content(role="user", parts=[response("other")])


def replace_event(events):
    events[2] = event("root", response("other"), role="user")


def remove_event(events):
    del events[2]


def swap_events(events):
    events[1], events[2] = events[2], events[1]


def cut_short(events):
    del events[2:]


def rewrite_whole_history(events):
    events[:] = [event("root", call("other")), *history()]


@pytest.mark.parametrize(
    "fool",
    [
        replace_content,
        take_content_away,
        fill_silent_event,
        replace_event,
        remove_event,
        swap_events,
        cut_short,
        rewrite_whole_history,
    ],
)
def test_memory_is_not_fooled_by(fool):
    """Whatever is done to an event that was found whole, the look sees it."""
    events = history()
    memory = Memory(events)
    assert memory.is_whole(events)

    fool(events)

    assert look(events) is None
    assert not memory.is_whole(events)


def test_only_new_events_are_walked(monkeypatch):
    """The look goes over what was appended since, and over nothing again."""
    events = history()
    memory = Memory(events)
    walked = []

    def counted(events):
        walked.append(len(events))
        return look(events)

    monkeypatch.setattr(memory_module, "look", counted)
    events += history(1)
    assert memory.is_whole(events)
    assert memory.is_whole(events)

    assert walked == [5, 0]


def test_open_round_is_whole_once_it_is_answered():
    """A call without its response is not whole; with it the look goes on there."""
    events = history()
    memory = Memory(events)
    events.append(event("root", call("new")))
    assert not memory.is_whole(events)

    events.append(event("root", response("new"), role="user"))

    assert memory.is_whole(events)


def test_rewound_history_stays_whole():
    """A rewind is an event like others: ADK leaves whole rounds out."""
    events = history()
    memory = Memory(events)
    back = EventActions(rewind_before_invocation_id="one")
    events.append(Event(author="user", invocation_id="two", actions=back))

    assert memory.is_whole(events)


def test_history_that_was_mended_is_whole_again():
    """After somebody broke and mended the history all of it is looked at anew."""
    events = history()
    memory = Memory(events)
    spoiled = events.pop(2)
    assert not memory.is_whole(events)

    events.insert(2, spoiled)

    assert memory.is_whole(events)


def test_look_leaves_repeats_with_a_rewind_to_the_full_reading():
    """A rewind and a repeated id together are not for the quick look."""
    events = history()
    back = EventActions(rewind_before_invocation_id="one")
    events.append(Event(author="user", invocation_id="two", actions=back))
    events += [event("root", call("c0")), event("root", response("c0"), role="user")]

    assert look(events) is None


def repeated_round(name="look"):
    """A round that takes the id of the first one again."""
    asked, said = call("c0"), response("c0")
    asked.function_call.name = said.function_response.name = name
    return [event("root", asked), event("root", said, role="user")]


def ask_to_confirm(asked, said):
    said.actions.requested_tool_confirmations["c0"] = ToolConfirmation()


def ask_to_sign_in(asked, said):
    scheme = {"type": "apiKey", "in": "header", "name": "k"}
    said.actions.requested_auth_configs["c0"] = AuthConfig(auth_scheme=scheme)


def run_long(asked, said):
    asked.long_running_tool_ids = {"c0"}


def come_from_a_node(asked, said):
    asked.author = "flow"
    asked.node_info.path = "flow@1/step@1"


@pytest.mark.parametrize(
    "hold",
    [
        ask_to_confirm,
        ask_to_sign_in,
        run_long,
        pytest.param(
            come_from_a_node,
            marks=pytest.mark.skipif(
                "node_info" not in Event.model_fields, reason="no workflows before 2.0"
            ),
        ),
    ],
)
def test_look_renames_no_id_that_somebody_outside_holds(hold):
    """A repeated id that a client or a node knows is for the full reading."""
    asked, said = repeated_round()
    assert look([*history(), asked, said]) is not None

    hold(asked, said)

    assert look([*history(), asked, said]) is None


def test_look_leaves_repeats_beside_a_question_of_adk_to_the_full_reading():
    """A confirmation that repeats an id may name any other call."""
    question = repeated_round("adk_request_confirmation")

    assert look([*history(), *question]) is None


def test_look_copies_a_repeated_round_and_no_other():
    """Both events of the round are copies under one new id; the rest are the same."""
    events = history()
    events += [event("root", call("c0")), event("root", response("c0"), role="user")]

    found = look(events)

    renamed = found.renames.events
    assert all(map(is_, renamed[:15], events))
    (asked,) = renamed[15].get_function_calls()
    (said,) = renamed[16].get_function_responses()
    assert asked.id == said.id
    assert asked.id in found.ids
    assert asked.id.startswith("adk-")
    assert [str(change.place) for change in found.renames.changes] == [
        "events[15].parts[0]"
    ]
    assert events[15].get_function_calls()[0].id == "c0"


EMPTY = types.Content(role="model", parts=None)


@pytest.mark.parametrize("ahead", range(5))
@pytest.mark.parametrize("size", [BLOCK, MANY - 1, MANY, 2 * MANY])
def test_look_at_many_events_finds_what_it_finds_at_few(size, ahead):
    """Wherever blocks end: between a call and its response, or at empty events."""
    events = [Event(author="root", content=EMPTY)] * ahead + history(size // 5)
    count = len(events)
    repeated = [event("root", call("c0")), event("root", response("c0"), role="user")]
    wrong = [event("root", call("c1")), event("root", response("c2"), role="user")]

    clean = look(events)

    assert clean == ({f"c{n}" for n in range(size // 5)}, set(), None)
    (change,) = look([*events, *repeated]).renames.changes
    assert str(change.place) == f"events[{count}].parts[0]"
    assert look([*events, *wrong]) is None
    assert look([*events, repeated[0]]) is None
    for n in range(0, count, 97):
        if events[n].get_function_calls():
            assert look([*events[:n], *events[n + 1 :]]) is None
