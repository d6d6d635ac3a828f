# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Ids with a signature inside that stand twice: one signature signs one call."""

from __future__ import annotations

import pytest
from google.adk.models.llm_request import LlmRequest

from adk_history_guard import GuardOptions, guard_model, repair_contents
from adk_history_guard.core.guard import guard
from adk_history_guard.core.ids import derived_id
from adk_history_guard.core.origins import Origins
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.testing import StrictAnthropic, StrictGateway, StrictGemini
from tests.builders import call, calls_of, model, response, responses_of, user
from tests.providers.hosts import messages_of

SIGNED = "call_1||thought_signature||c2ln"
TWICE = [
    user("go"),
    model(call("look", id=SIGNED, n=1)),
    user(response("look", id=SIGNED, n=1)),
    model("Seen."),
    user("again"),
    model(call("look", id=SIGNED, n=2)),
    user(response("look", id=SIGNED, n=2)),
]


async def send(made, contents):
    """Send contents with the provider's own client, behind the guard."""
    request = LlmRequest(model=made.model, contents=contents)
    answers = [found async for found in made.generate_content_async(request)]
    return answers[-1].content.parts[0].text


def test_a_derived_id_depends_on_nothing_but_its_seed():
    """Nine letters and digits, the same in every process and version."""
    assert derived_id("a", 1) == "iXaczNlHd"
    assert derived_id("a", 1, length=3) == "iXa"


async def test_a_gateway_is_told_the_second_turn_of_a_signed_id_in_words():
    """W1, W4: the signature belongs to the first turn; the second has none."""
    with StrictGateway("fine") as server:
        server._book.note(SIGNED, "look", {"n": 1})
        assert await send(guard_model(server.model()), TWICE) == "fine"

        sent = server.requests[0].contents
        calls = [made["id"] for m in sent for made in m.get("tool_calls") or ()]
        assert calls == [SIGNED]
        assert [m["tool_call_id"] for m in messages_of(server, "tool")] == [SIGNED]
        assert [(m["role"], m["content"]) for m in sent[-2:]] == [
            ("assistant", "[Called tool 'look' with {\"n\": 2}]"),
            ("user", '[Tool \'look\' with {"n": 2} responded: {"n": 2}]'),
        ]
        assert server.problems == []


def test_without_narration_a_gateway_gets_another_id_for_the_second_call():
    """`unsigned="keep"`: the first call keeps the id, the two stay apart."""
    options = GuardOptions(unsigned="keep")

    once = repair_contents(TWICE, "gemini-gateway", options)

    ids = [said.id for said in calls_of(once.contents)]
    assert ids[0] == SIGNED
    assert ids[1].startswith("call_")
    assert "||" not in ids[1]
    assert [said.id for said in responses_of(once.contents)] == ids
    twice = repair_contents(once.contents, "gemini-gateway", options)
    assert twice.contents is once.contents


def test_the_signed_id_of_another_model_is_not_sent_to_a_gateway():
    """G23: without narration too, a signature on record as another's goes."""
    options = GuardOptions(unsigned="keep")

    outcome = guard(
        TWICE[:3],
        profile=PROFILES["gemini-gateway"],
        options=options,
        origins=Origins(ids=frozenset({SIGNED})),
    )

    ids = [said.id for said in calls_of(outcome.contents)]
    assert len(ids) == 1
    assert "||" not in ids[0]


@pytest.mark.parametrize("sibling", [SIGNED, None], ids=["repeated", "missing"])
async def test_gemini_gets_no_ids_where_a_turn_has_not_one_for_each_call(sibling):
    """G8: nothing reads the signature in the id there, and half the ids is worse."""
    contents = [
        user("go"),
        model(call("look", id=SIGNED, n=1), call("look", id=sibling, n=2)),
        user(response("look", id=SIGNED, n=1), response("look", id=sibling, n=2)),
    ]
    with StrictGemini("fine") as server:
        assert await send(guard_model(server.model()), contents) == "fine"

        calls, responses = server.requests[0].contents[1:]
        assert [p["functionCall"] for p in calls["parts"]] == [
            {"name": "look", "args": {"n": 1}},
            {"name": "look", "args": {"n": 2}},
        ]
        assert [p["functionResponse"] for p in responses["parts"]] == [
            {"name": "look", "response": {"n": 1}},
            {"name": "look", "response": {"n": 2}},
        ]
        assert server.problems == []


async def test_claude_gets_an_id_of_its_own_for_each_call():
    """It reads no signature in an id, and takes none of this form nor one twice."""
    with StrictAnthropic("fine") as server:
        assert await send(guard_model(server.model()), TWICE) == "fine"

        ids = [
            block["id"]
            for message in server.requests[0].contents
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        assert len(set(ids)) == 2
        assert server.problems == []
