# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Signatures that stay, and calls that are never dropped out of a signed turn."""

from __future__ import annotations

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from adk_history_guard import GuardOptions, guard_model, repair_contents
from adk_history_guard.core.guard import guard
from adk_history_guard.core.origins import Origins
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.core.signatures import PLACEHOLDER_SIGNATURE
from adk_history_guard.testing import StrictAnthropic, StrictGemini
from adk_history_guard.testing import call as says
from tests.builders import call, calls_of, event, model, response, text, user
from tests.providers.hosts import Host

SIGNED_ID = "c1||thought_signature||c2ln"
INTERRUPTED = [
    user("go"),
    model(call("look", id="c1", signature=b"sig", n=1), call("see", id="c2", n=2)),
    user(response("see", id="c2", n=2)),
    user("never mind"),
]


@pytest.mark.parametrize("unanswered", ["placeholder", "drop"])
def test_a_signed_call_without_a_response_is_answered(unanswered):
    """Dropped, it would take the signature of its turn away (G14)."""
    outcome = repair_contents(
        INTERRUPTED, "gemini-3", GuardOptions(unanswered=unanswered)
    )

    assert outcome.contents[1] is INTERRUPTED[1]
    said = [part.function_response for part in outcome.contents[2].parts]
    assert [r.name for r in said] == ["look", "see"]
    assert said[0].response["adk_history_guard"] == "placeholder"
    assert list(outcome.violations) == []


def test_a_call_signed_by_its_id_is_answered_too():
    """Behind a gateway the signature is the id; the call stays for it."""
    contents = [
        user("go"),
        model(call("look", id=SIGNED_ID)),
        user("never mind"),
    ]

    outcome = repair_contents(
        contents, "gemini-gateway", GuardOptions(unanswered="drop")
    )

    assert outcome.contents[1] is contents[1]
    assert outcome.contents[2].parts[0].function_response.id == SIGNED_ID


async def test_an_interrupted_signed_turn_goes_on_with_gemini():
    """The session ends behind a call; the next request still passes (G14).

    The plugin alone can do it: newer ADKs take such calls out of the contents.
    """
    with StrictGemini(
        [[says("look", {"n": 1}), says("see", {"n": 2})], "done"]
    ) as server:
        host = Host()
        await host.ask(server.model(), "go")
        session = await host.service.get_session(
            app_name="app", user_id="user", session_id="session"
        )
        cut = Host()
        await cut.hold(session.events[:2])
        server.play(["fine"])
        await cut.ask(server.model(), "never mind")

        calls = server.requests[-1].contents[1]["parts"]
        signed = server.requests[0].reply[0].signature
        assert [p.get("thoughtSignature") for p in calls] == [signed, None]
        assert server.problems == []


@pytest.mark.parametrize("profile", ["openai-chat", "mistral", "bedrock", "anthropic"])
def test_signatures_come_off_where_the_provider_has_none(profile):
    """The call stays, its signature goes, and the caller's objects keep theirs."""
    contents = [
        user("go"),
        model(call("look", id="abcdefghi", signature=b"\xff")),
        user(response("look", id="abcdefghi")),
    ]

    outcome = repair_contents(contents, profile)

    assert outcome.contents[1].parts[0].thought_signature is None
    assert [change.code for change in outcome.changes] == ["HG403"]
    assert contents[1].parts[0].thought_signature == b"\xff"
    assert list(outcome.violations) == []


def test_a_part_that_was_only_a_foreign_signature_goes():
    """A redacted thought of another model has nothing left to send."""
    redacted = types.Part(thought=True, thought_signature=b"theirs")
    contents = [user("go"), model(redacted, "Hello."), user("on")]

    outcome = guard(
        contents,
        profile=PROFILES["gemini-3"],
        options=GuardOptions(),
        origins=Origins(signatures={b"theirs"}),
    )

    assert [part.text for part in outcome.contents[1].parts] == ["Hello."]


def test_own_signatures_stay_beside_foreign_ones():
    """What is on record as another model's comes off, nothing else."""
    contents = [
        user("go"),
        model(text("a", signature=b"theirs"), text("b", signature=b"mine")),
        user("on"),
    ]

    outcome = guard(
        contents,
        profile=PROFILES["gemini-3"],
        options=GuardOptions(),
        origins=Origins(signatures={b"theirs"}),
    )

    signatures = [part.thought_signature for part in outcome.contents[1].parts]
    assert signatures == [None, b"mine"]
    assert outcome.contents[1].parts[1] is contents[1].parts[1]


@pytest.mark.parametrize(
    ("profile", "signature"),
    [
        ("gemini-3", PLACEHOLDER_SIGNATURE),
        ("gemini-2", None),
        ("openai-chat", None),
        ("anthropic", None),
    ],
)
def test_the_placeholder_goes_only_where_signatures_are_demanded(profile, signature):
    """A knob that asks for it says nothing to a provider that knows none."""
    contents = [
        user("go"),
        model(call("look", id="c1")),
        user(response("look", id="c1")),
    ]

    outcome = repair_contents(
        contents, profile, GuardOptions(unsigned="placeholder_signature")
    )

    assert outcome.contents[1].parts[0].thought_signature == signature


def test_unsigned_turns_are_told_where_asked_to():
    """`unsigned="narrate"` tells every unsigned step, and leaves signed ones."""
    contents = [
        user("go"),
        model(call("look", id="c1", n=1)),
        user(response("look", id="c1", n=1)),
        model(call("look", id="c2", signature=b"sig", n=2)),
        user(response("look", id="c2", n=2)),
    ]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(unsigned="narrate"))

    assert outcome.contents[1].parts[0].text == "[Called tool 'look' with {\"n\": 1}]"
    assert outcome.contents[2].parts[0].text == (
        '[Tool \'look\' with {"n": 1} responded: {"n": 1}]'
    )
    assert outcome.contents[3] is contents[3]
    assert outcome.contents[4] is contents[4]


async def test_a_late_answer_to_a_signed_call_keeps_the_signature(stream):
    """A job answered later: its turn moves whole, with the model's signature."""
    host = Host()
    with StrictGemini("fine", signatures="off") as server:
        await host.hold(
            [
                event("user", "go"),
                event("root", call("look", id="j1", signature=b"sig", n=1)),
                event("root", "Started."),
                event("user", "and?"),
                event("root", "Not yet."),
            ]
        )
        late = types.Content(role="user", parts=[response("look", id="j1", n=1)])
        await host.ask(server.model(), late, stream=stream)

        parts = [p for c in server.requests[0].contents for p in c["parts"]]
        signed = [p["thoughtSignature"] for p in parts if "functionCall" in p]
        assert signed == ["c2ln"]
        assert server.problems == []


def test_parallel_calls_that_no_model_signed_are_not_collapsed():
    """A placeholder signature signs no call, so the answers keep their calls."""
    options = GuardOptions(parallel="collapse")
    contents = [
        user("go"),
        model(call("look", n=1), call("see", n=2)),
        user(response("look", n=1), response("see", n=2)),
    ]

    once = repair_contents(contents, "gemini-3", options)

    assert [c.args for c in calls_of(once.contents)] == [{"n": 1}, {"n": 2}]
    assert once.contents[1].parts[0].thought_signature == PLACEHOLDER_SIGNATURE
    assert repair_contents(once.contents, "gemini-3", options).contents is once.contents


@pytest.mark.parametrize("signature", [None, b"c2ln"], ids=["bare", "signed"])
async def test_a_call_that_is_marked_as_a_thought_reaches_claude(signature):
    """ADK would send the thought alone, and the result would answer nothing."""
    part = call("look", id="c1", signature=signature, n=1)
    part.thought = True
    contents = [user("go"), model(part), user(response("look", id="c1", n=1))]
    with StrictAnthropic("fine") as server:
        request = LlmRequest(model="claude-x", contents=contents)
        made = guard_model(server.model())
        async for _ in made.generate_content_async(request):
            pass

        assert server.answers().pairs == ((1, 1),)
        assert server.problems == []
    assert part.thought


@pytest.mark.parametrize(
    "origins",
    [Origins(signatures=frozenset({PLACEHOLDER_SIGNATURE})), Origins(distrust=True)],
    ids=["on-record", "distrusted"],
)
def test_a_placeholder_is_nobodys_signature(origins):
    """It is not taken off and put back, and a turn that has nothing else is told."""
    contents = [
        user("go"),
        model(call("look", signature=PLACEHOLDER_SIGNATURE, n=1)),
        user(response("look", n=1)),
    ]

    kept = guard(
        contents,
        profile=PROFILES["gemini-3"],
        options=GuardOptions(),
        origins=origins,
    )
    told = guard(
        contents,
        profile=PROFILES["gemini-3"],
        options=GuardOptions(unsigned="narrate"),
        origins=origins,
    )

    assert kept.contents is contents
    assert [part.text for part in told.contents[1].parts] == [
        "[Called tool 'look' with {\"n\": 1}]"
    ]
