# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`repair_events`: events in, repaired events out, and what it leaves alone."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import textwrap

import pytest
from google.adk.events import Event
from google.genai import types

from adk_history_guard import repair_events
from adk_history_guard.adk.history import Scene
from tests import builders
from tests.builders import dumped
from tests.notation import read_history

CONFIRM = (
    'adk_request_confirmation#k1({"originalFunctionCall":'
    ' {"id": "c1", "name": "pay", "args": {"n": 1}}})'
)


def repaired(*lines, scene=None):
    """Repair a history of events in the notation of the corpus."""
    return repair_events(read_history(lines), scene=scene)


def rounds(events):
    """Return (author, calls, responses) of each event as name, id and token."""
    found = []
    for event in events:
        calls = [
            (c.name, c.id, (c.args or {}).get("n")) for c in event.get_function_calls()
        ]
        said = [
            (r.name, r.id, (r.response or {}).get("n"))
            for r in event.get_function_responses()
        ]
        if calls or said:
            found.append((calls, said))
    return found


def codes(done):
    """Return code and action of each change."""
    return [(change.code, str(change.action)) for change in done.changes]


def test_first_of_repeated_calls_keeps_its_id():
    """Only the later call and its response are renamed, together."""
    done = repaired(
        ["root", "look#c1(1)"], ["root", "look#c1=1"],
        ["root", "seek#c1(2)"], ["root", "seek#c1=2"],
    )  # fmt: skip

    (first, _), (_, answer), (second, _), (_, other) = rounds(done.events)
    assert (first, answer) == ([("look", "c1", 1)], [("look", "c1", 1)])
    assert second == other
    assert second[0][1].startswith("adk-")
    assert codes(done) == [("HG501", "rename")]


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(
            [["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "look#c1(2)"]],
            id="unanswered",
        ),
        pytest.param(
            [["root", "look#c1(1)"], ["root", "look#c1=1"],
             ["root long=c1", "job#c1(2)"], ["root", 'job#c1={"status": "pending"}']],
            id="pending-job",
        ),
        pytest.param(
            [["root", "look#c1(1)"], ["root", "look#c1=1"], ["root", "pay#c1(2)"],
             ["root long=k1", CONFIRM], ["root", 'pay#c1={"error": "confirm"}']],
            id="held-by-a-confirmation",
        ),
    ],
)  # fmt: skip
def test_an_open_call_keeps_its_id_and_the_closed_one_is_renamed(history):
    """Clients and runners hold the id of an open call; the closed one gives way."""
    done = repaired(*history, scene=Scene(invocation_id="inv-1"))

    found = {n: i for calls, _ in rounds(done.events) for _, i, n in calls if n}
    assert found[2] == "c1"
    assert found[1].startswith("adk-")


def test_questions_of_adk_keep_their_ids():
    """Two confirmations under one id stay: a node may ask again under its own id."""
    ask = ["root long=k1", CONFIRM]
    answer = ["user", 'adk_request_confirmation#k1={"confirmed": true}']

    done = repaired(
        ["root", "pay#c1(1)"], ask, answer, ask, answer, ["root", "pay#c1=1"]
    )

    assert [c.id for e in done.events for c in e.get_function_calls()] == [
        "c1",
        "k1",
        "k1",
    ]


def test_new_ids_of_a_job_are_long_running_too():
    """The mark of a long-running call follows its new id."""
    done = repaired(
        ["root long=c1", "job#c1(1)"], ["user", "job#c1=1"],
        ["root long=c1", "job#c1(2)"], ["user", "job#c1=2"],
    )  # fmt: skip

    for event in done.events:
        for call in event.get_function_calls():
            assert event.long_running_tool_ids == {call.id}


def test_responses_that_are_dropped_are_dropped_alone():
    """The text and the media beside an orphan stay where they were."""
    done = repaired(
        ["user", "'hi"], ["user", "look#c9=9", "'words", "<image/png>"], ["root", "'ok"]
    )

    assert len(done.events[1].content.parts) == 2
    assert codes(done) == [("HG102", "drop")]


def test_orphans_are_told_where_asked_to():
    """`orphans="narrate"` keeps an orphan as text of the user."""
    done = repaired(
        ["root", "look#c9=9"], ["root", "'ok"], scene=Scene(orphans="narrate")
    )

    assert "'look'" in done.events[0].content.parts[0].text
    assert codes(done) == [("HG102", "move")]


@pytest.mark.parametrize(
    ("scene", "answered"),
    [
        pytest.param(Scene(), True, id="finished-invocation"),
        pytest.param(Scene(invocation_id="inv-1"), False, id="current-invocation"),
        pytest.param(Scene(resumable=True), False, id="resumable-app"),
        pytest.param(Scene(agents={"look"}), False, id="call-to-an-agent"),
        pytest.param(Scene(unanswered="drop"), False, id="another-policy"),
    ],
)
def test_who_answers_what_an_interrupted_run_left_behind(scene, answered):
    """A placeholder only where ADK would prune the call and nobody else acts."""
    done = repaired(["user", "'hi"], ["root", "look#c1(1)"], scene=scene)

    said = [r for e in done.events for r in e.get_function_responses()]
    assert [r.id for r in said] == (["c1"] if answered else [])
    assert codes(done) == ([("HG101", "add")] if answered else [])


@pytest.mark.trap("answered-later-after-all")
def test_waiting_calls_get_no_placeholder_in_the_history():
    """A stub would make the real answer look like a second one."""
    done = repaired(["root long=c1", "job#c1(1)"], ["user", "'hi"])

    assert codes(done) == []


def test_split_responses_come_home_in_call_order():
    """Responses of one round stand in one event behind the calls."""
    done = repaired(
        ["root", "look#c1(1)", "look#c2(2)"], ["root", "look#c2=2"],
        ["user", "'hurry"], ["root", "look#c1=1"],
    )  # fmt: skip

    assert rounds(done.events) == [
        ([("look", "c1", 1), ("look", "c2", 2)], []),
        ([], [("look", "c1", 1), ("look", "c2", 2)]),
    ]


def test_a_late_answer_brings_its_round_to_its_side():
    """The round moves to just before the answer; nothing between is lost."""
    done = repaired(
        ["user", "'one"], ["root long=c1", "job#c1(1)"],
        ["root", 'job#c1={"status": "busy"}'], ["root", "'started"],
        ["user", "'two"], ["root", "'yes"], ["user", "job#c1=1"],
    )  # fmt: skip

    texts = [p.text for e in done.events for p in e.content.parts if p.text]
    assert texts == ["one", "started", "two", "yes"]
    assert [bool(e.get_function_calls()) for e in done.events[-3:]] == [
        True,
        False,
        False,
    ]
    assert codes(done) == [("HG104", "move")]


def test_new_ids_are_legal_everywhere():
    """At most 40 characters of letters, digits, dash: OpenAI's oldest limit."""
    done = repaired(
        ["root", "look#c1(1)"],
        ["root", "look#c1=1"],
        ["root", "look#c1(2)"],
        ["root", "look#c1=2"],
    )

    new = rounds(done.events)[2][0][0][1]
    assert len(new) <= 40
    assert new.replace("-", "").isalnum()


def test_ids_and_closed_ids_are_told():
    """What the run must know of ids comes with the repair."""
    done = repaired(
        ["root", "look#c1(1)"],
        ["root", "look#c1=1"],
        ["root long=c2", "job#c2(2)"],
        ["root", 'job#c2={"status": "busy"}'],
        ["root", "look#c3(3)"],
        scene=Scene(invocation_id="inv-1"),
    )

    assert set(done.ids) == {"c1", "c2", "c3"}
    assert set(done.closed) == {"c1"}


@pytest.mark.parametrize("extra", [[], ["root", "seek(9)"]], ids=["quick", "in-full"])
def test_new_ids_differ_where_events_share_an_id(extra):
    """A copied history may hold an event's id twice; no two calls end under one id."""
    history = read_history(
        [
            ["root", "look#x(1)"], ["root", "look#x=1"],
            ["root", "look#x(2)"], ["root", "look#x=2"],
            ["root", "look#x(3)"], ["root", "look#x=3"],
            *([extra] if extra else []),
        ]
    )  # fmt: skip
    for event in history:
        event.id = "copied"

    done = repair_events(history)

    ids = [c.id for event in done.events for c in event.get_function_calls()]
    assert len(set(ids)) == len(ids) == 3 + len(extra) // 2
    assert repair_events(done.events).events is done.events


@pytest.mark.parametrize("extra", [[], ["root", "seek(9)"]], ids=["quick", "in-full"])
def test_ids_that_no_text_can_hold_are_renamed_like_others(extra):
    """A lone surrogate is a string to pydantic and to no encoding."""
    history = read_history(
        [
            ["root", "look#x(1)"], ["root", "look#x=1"],
            ["root", "look#x(2)"], ["root", "look#x=2"],
            *([extra] if extra else []),
        ]
    )  # fmt: skip
    for event in history[:4]:
        for said in (*event.get_function_calls(), *event.get_function_responses()):
            said.id = "\ud800"

    done = repair_events(history)

    ids = [c.id for event in done.events for c in event.get_function_calls()]
    assert ids[0] == "\ud800"
    assert ids[1].startswith("adk-")


def test_open_call_under_a_new_id_is_not_closed():
    """The id that it was given is the one that its answer will come under."""
    done = repaired(
        ["root long=x", "job#x(1)"], ["root", "'started"], ["root long=x", "job#x(2)"]
    )

    first, second = (c.id for e in done.events for c in e.get_function_calls())
    assert first == "x"
    assert done.ids == {first, second}
    assert done.closed == set()


def test_rewound_events_are_left_alone():
    """ADK does not send what a rewind took back, so it is not repaired."""
    call, response = builders.call, builders.response
    history = builders.events(
        builders.event("user", "one", invocation="a"),
        builders.event("root", call("look", id="c1", n=1), invocation="b"),
        builders.event("root", response("look", id="c1", n=1), invocation="b"),
        builders.event("user", invocation="c"),
        builders.event("root", call("look", id="c1", n=2), invocation="d"),
        builders.event("root", response("look", id="c1", n=2), invocation="d"),
    )
    history[3].actions.rewind_before_invocation_id = "b"

    done = repair_events(history)

    assert codes(done) == []
    assert done.events is history


def test_words_beside_a_gathered_response_are_not_left_out():
    """The round moves behind what the client said with its first answer."""
    once = repaired(
        ["user", "'one"],
        ["root inv=1", "job#j1(1)", "job#j2(2)"],
        ["user", 'job#j2={"status": "pending"}', "'how far"],
        ["user", "job#j2=2"],
    )

    assert codes(once) == [("HG101", "add"), ("HG104", "move")]
    texts = [part.text for event in once.events for part in event.content.parts]
    assert texts == ["one", "how far", None, None, None, None, None]
    assert repair_events(once.events).events is once.events


def test_message_that_answers_a_question_by_a_wrong_name_too_stays_as_it_is():
    """What stands beside the late answer is not the round's to put in order."""
    done = repaired(
        ["root", "see#c1(1)"],
        ["root", "other#c1=1"],
        ["root", "adk_request_confirmation#k1(2)"],
        ["root inv=1", "job#j1(3)"],
        ["user", "look#k1=2", "job#j1=3"],
    )

    assert codes(done) == [("HG106", "rename")]
    assert len(done.events) == 5


def test_response_that_goes_home_is_no_place_to_rewind_to():
    """A rewind takes back from the first event of a run: none comes first."""
    call, response = builders.call, builders.response
    history = builders.events(
        builders.event("root", call("look", id="c1", n=1), call("see", id="c2", n=2)),
        builders.event("user", "what now", invocation="a"),
        builders.event("user", "away with it", invocation="b"),
        builders.event("user", invocation="c"),
        builders.event("root", response("see", id="c2", n=2), invocation="b"),
        builders.event("root", response("look", id="c1", n=1), invocation="b"),
        builders.event("user", "go on", invocation="d"),
    )
    history[3].actions.rewind_before_invocation_id = "b"

    once = repair_events(history)

    home = once.events[1]
    assert [r.id for r in home.get_function_responses()] == ["c1", "c2"]
    assert home.invocation_id == once.events[0].invocation_id
    assert repair_events(once.events).events is once.events


def test_changes_print_place_code_action_and_names():
    """One line for each change, as logs and the command line show it."""
    done = repaired(["user", "'hi"], ["root", "look#c1(1)"])

    assert str(done.changes[0]) == (
        "events[1].parts[0]: HG101 add: a placeholder response to 'look' (id 'c1')"
    )
    assert done.changes[0].to_dict()["place"] == "events[1].parts[0]"


def test_inputs_are_not_mutated():
    """The events handed in are those of the session; copies are changed."""
    history = read_history(
        [
            ["root", "look#c1(1)"],
            ["root", "seek=1"],
            ["root", "look#c1(2)"],
            ["root", "look#c1=2"],
        ]
    )
    before = copy.deepcopy(history)

    repair_events(history)

    assert dumped(history) == dumped(before)


SCRIPT = """
    import json, sys
    from pathlib import Path
    from adk_history_guard import repair_contents, repair_events
    from google.genai import types
    from tests.builders import dumped
    from tests.notation import read_history

    out = []
    for path in sorted(Path("tests/histories").glob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            done = repair_events(read_history(case["history"]))
            out.append([dumped(done.events), [str(c) for c in done.changes]])
    for path in sorted(Path("tests/cases").glob("*/bad.json")):
        case = json.loads(path.read_text("utf-8"))
        contents = [types.Content.model_validate(c) for c in case["contents"]]
        done = repair_contents(contents, case["profile"])
        out.append([dumped(done.contents), [str(c) for c in done.changes]])
    sys.stdout.write(json.dumps(out))
"""


@pytest.mark.once
def test_every_process_repairs_to_the_same_bytes():
    """Neither the hash seed nor the process shows in what is made."""
    outputs = set()
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            check=True,
            capture_output=True,
            text=True,
        )
        outputs.add(found.stdout)

    assert len(outputs) == 1
    assert len(outputs.pop()) > 10_000


def test_job_that_said_no_more_than_pending_is_not_closed():
    """A long-running call keeps waiting after its first response."""
    asked = Event(
        author="root",
        content=types.Content(
            role="model",
            parts=[types.Part(function_call=types.FunctionCall(id="j1", name="job"))],
        ),
        long_running_tool_ids={"j1"},
    )
    said = types.FunctionResponse(id="j1", name="job", response={"status": "pending"})
    pending = Event(
        author="root",
        content=types.Content(role="user", parts=[types.Part(function_response=said)]),
    )

    found = repair_events([asked, pending])

    assert (set(found.ids), set(found.closed)) == ({"j1"}, set())
