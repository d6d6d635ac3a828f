# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A Gemini behind a gateway: rules W1 to W7, in what the server received."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from adk_history_guard import repair_contents
from adk_history_guard.testing import StrictGateway, StrictOpenAI, call
from tests.builders import call as call_part
from tests.builders import event, model, response, user
from tests.providers.hosts import Host, messages_of

MARKER = "||thought_signature||"
PAIR = [call("look", {"n": 1}), call("see", {"n": 2})]


def calls_in(messages):
    """Every tool call of a request, in order."""
    return [made for m in messages for made in m.get("tool_calls") or ()]


@pytest.mark.trap("id-holds-a-signature")
async def test_a_signed_id_comes_back_byte_for_byte(door, stream):
    """W1: both ids of the replayed pair are the one that the gateway gave."""
    with StrictGateway([call("look", {"n": 1}), "done"]) as server:
        await Host().ask(server.model(), "go", door=door, stream=stream)

        given = server.requests[0].reply[0].id
        assert MARKER in given
        assert [made["id"] for made in calls_in(server.requests[1].contents)] == [given]
        assert messages_of(server, "tool")[0]["tool_call_id"] == given
        assert server.problems == []


@pytest.mark.trap("gateway-siblings")
async def test_siblings_of_a_signed_call_are_not_replayed(door, stream):
    """W2, W3, W5: one call and one response are what the gateway can count."""
    with StrictGateway([PAIR, "done"]) as server:
        await Host().ask(server.model(), "go", door=door, stream=stream)

        signed, bare = (part.id for part in server.requests[0].reply)
        assert MARKER in signed
        assert MARKER not in bare
        assert [made["id"] for made in calls_in(server.requests[1].contents)] == [
            signed
        ]
        assert len(messages_of(server, "tool")) == 1
        assert server.problems == []


async def test_responses_of_siblings_stand_labelled_in_the_signed_one(door, stream):
    """W5: name and arguments of each sibling stand beside its response."""
    with StrictGateway([PAIR, "done"]) as server:
        await Host().ask(server.model(), "go", door=door, stream=stream)

        body = json.loads(messages_of(server, "tool")[0]["content"])
        assert body == {
            "n": 1,
            "seen": "sight 1",
            "parallel_calls": [
                {
                    "call": {"name": "see", "args": {"n": 2}},
                    "response": {"n": 2, "seen": "view 2"},
                }
            ],
        }


async def test_a_parallel_turn_is_not_split(door):
    """W4: the calls of one turn stay in one turn."""
    with StrictGateway([PAIR, "done", "and on"]) as server:
        await Host().ask(server.model(), "go", "on", door=door)

        turns = [m for m in messages_of(server, "assistant") if m.get("tool_calls")]
        assert len(turns) == 1
        assert server.problems == []


async def test_a_collapsed_turn_is_the_same_in_every_request(door):
    """W5: the prefix of a later request is the earlier request, so caches hold."""
    with StrictGateway([PAIR, "done", PAIR, "done"]) as server:
        await Host().ask(server.model(), "go", "on", door=door)

        bodies = [request.contents for request in server.requests]
        assert [len(body) for body in bodies] == [2, 4, 6, 8]
        for earlier, later in pairwise(bodies):
            assert later[: len(earlier)] == earlier


FOREIGN = [
    event("user", "go"),
    event("root", call_part("look", id="call_1", n=1), call_part("see", id="c2", n=2)),
    event(
        "root",
        response("look", id="call_1", n=1),
        response("see", id="c2", n=2),
    ),
    event("root", "Both seen."),
]


@pytest.mark.parametrize("misreport", [False, True], ids=["named", "misreported"])
async def test_an_unsigned_turn_is_told_in_words(door, misreport):
    """W6: calls become words of the model, responses words of the user."""
    signed = [
        event("user", "again"),
        event("root", call_part("look", id=f"c3{MARKER}c2lnbmVk", n=3)),
        event("root", response("look", id=f"c3{MARKER}c2lnbmVk", n=3)),
        event("root", "Seen."),
    ]
    with StrictGateway("fine", misreport=misreport) as server:
        server._book.note(f"c3{MARKER}c2lnbmVk", "look", {"n": 3})
        host = Host()
        await host.hold([*FOREIGN, *signed])
        await host.ask(server.model(), "next", door=door)

        told = [
            (message["role"], message["content"])
            for message in server.requests[0].contents[1:5]
        ]
        assert told == [
            ("user", "go"),
            (
                "assistant",
                (
                    "[Called tool 'look' with {\"n\": 1}]\n"
                    "[Called tool 'see' with {\"n\": 2}]"
                ),
            ),
            (
                "user",
                (
                    '[Tool \'look\' with {"n": 1} responded: {"n": 1}]\n'
                    '[Tool \'see\' with {"n": 2} responded: {"n": 2}]'
                ),
            ),
            ("assistant", "Both seen."),
        ]
        assert server.problems == []


async def test_parallel_calls_without_a_marker_are_replayed_as_they_came(door):
    """W7: an OpenAI endpoint gets both calls and both responses."""
    with StrictOpenAI([PAIR, "done"]) as server:
        await Host().ask(server.model(), "go", door=door)

        given = [part.id for part in server.requests[0].reply]
        assert [made["id"] for made in calls_in(server.requests[1].contents)] == given
        assert [m["tool_call_id"] for m in messages_of(server, "tool")] == given


@pytest.mark.parametrize("profile", ["gemini-gateway", "openai-chat"])
def test_a_history_without_a_marker_comes_back_as_the_same_objects(profile):
    """W7: no marker, no rewrite, and nothing to complain of."""
    contents = [
        user("go"),
        model(call_part("look", id="call_1", n=1), call_part("see", id="call_2", n=2)),
        user(response("look", id="call_1", n=1), response("see", id="call_2", n=2)),
        model("Seen."),
        user("on"),
    ]

    outcome = repair_contents(contents, profile)

    assert outcome.contents is contents or all(
        new is old for new, old in zip(outcome.contents, contents, strict=True)
    )
    assert list(outcome.changes) == []
    assert list(outcome.violations) == []


async def test_the_marker_is_a_knob(door, stream):
    """A gateway with a marker of its own is known by the knob, and its ids stay."""
    with StrictGateway([PAIR, "done"], marker="~~sig~~") as server:
        await Host().ask(
            server.model(), "go", door=door, stream=stream, signature_marker="~~sig~~"
        )

        signed = server.requests[0].reply[0].id
        assert "~~sig~~" in signed
        assert [made["id"] for made in calls_in(server.requests[1].contents)] == [
            signed
        ]
        assert server.problems == []
