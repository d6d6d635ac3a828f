# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Media of responses: behind the last response, or inside the response."""

from __future__ import annotations

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from adk_history_guard import GuardOptions, guard_model, repair_contents
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.testing import StrictAnthropic, StrictGemini, StrictOpenAI
from adk_history_guard.testing.wire import get
from tests.builders import call, event, media, model, response, text, user
from tests.providers.hosts import Host

HALVES = [
    event("user", "draw two"),
    event("root", call("draw", id="c1", n=1), call("draw", id="c2", n=2)),
    event("root", response("draw", id="c2", n=2), media("image/png")),
    event("root", response("draw", id="c1", n=1), media("image/jpeg")),
]
"""Two parallel calls that both return an image; the second is answered first."""


def kind_of(part):
    """The type of a medium on the wire."""
    return get(get(part, "inlineData", "inline_data"), "mimeType", "mime_type")


def nested(kind, name=None):
    """A medium inside a response."""
    blob = types.FunctionResponseBlob(data=b"x", mime_type=kind, display_name=name)
    return types.FunctionResponsePart(inline_data=blob)


def holding(name, *parts, id=None, **body):  # noqa: A002
    """A response part with media inside."""
    said = types.FunctionResponse(id=id, name=name, response=body, parts=list(parts))
    return types.Part(function_response=said)


async def test_both_tool_messages_reach_openai_before_each_image(door):
    """`tool, tool, user(image), user(image)`: the batch is not split."""
    with StrictOpenAI("fine") as server:
        host = Host()
        await host.hold(HALVES)
        await host.ask(server.model(), "and?", door=door)

        messages = server.requests[0].contents
        assert [m["role"] for m in messages[1:7]] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "user",
        ]
        kinds = [[block["type"] for block in m["content"]] for m in messages[5:7]]
        assert kinds == [["image_url"], ["image_url"]]
        assert [m["tool_call_id"] for m in messages[3:5]] == ["c1", "c2"]
        assert server.problems == []


async def test_one_turn_of_responses_then_one_of_media_reaches_gemini(door):
    """Both responses stand in one user turn, both images in the next."""
    with StrictGemini("fine") as server:
        host = Host()
        await host.hold(HALVES)
        await host.ask(server.model("gemini-2.5-flash"), "and?", door=door)

        turns = server.requests[0].contents
        assert [p["functionResponse"]["response"] for p in turns[2]["parts"]] == [
            {"n": 1},
            {"n": 2},
        ]
        assert {kind_of(p) for p in turns[3]["parts"]} == {"image/png", "image/jpeg"}
        assert len(turns[3]["parts"]) == 2
        assert server.problems == []


async def test_an_image_in_one_turn_with_call_and_response_is_the_tools():
    """Claude takes no image of the assistant: ADK would leave it out."""
    job = types.Content(
        role="model",
        parts=[call("look", id="c1"), response("look", id="c1"), media()],
    )
    with StrictAnthropic("fine") as server:
        request = LlmRequest(model="claude-x", contents=[user("go"), job])
        made = guard_model(server.model())
        async for _ in made.generate_content_async(request):
            pass

        kinds = [
            (message["role"], [block["type"] for block in message["content"]])
            for message in server.requests[0].contents
        ]
        assert kinds[1] == ("assistant", ["tool_use"])
        assert [kind for _, of in kinds[2:] for kind in of] == ["tool_result", "image"]
        assert server.problems == []


async def test_results_reach_anthropic_before_the_images(door):
    """All results stand in the next user message; the images follow."""
    with StrictAnthropic("fine") as server:
        host = Host()
        await host.hold(HALVES)
        await host.ask(server.model(), "and?", door=door)

        blocks = [
            block["type"]
            for message in server.requests[0].contents[2:]
            if message["role"] == "user"
            for block in message["content"]
        ]
        assert blocks == ["tool_result", "tool_result", "image", "image", "text"]
        assert server.problems == []


async def test_nested_media_reaches_gemini_3_inside_each_response(door):
    """`media="nested"`: each image inside the response that it came with."""
    events = [
        event("user", "draw"),
        event("root", call("draw", id="c1", n=1), call("draw", id="c2", n=2)),
        event(
            "root",
            response("draw", id="c1", n=1),
            media("image/png"),
            response("draw", id="c2", n=2),
            media("image/webp"),
        ),
        event("root", "Drawn."),
    ]
    with StrictGemini("fine") as server:
        host = Host()
        await host.hold(events)
        await host.ask(server.model(), "and?", door=door, media="nested")

        responses = [
            p["functionResponse"] for p in server.requests[0].contents[2]["parts"]
        ]
        assert [kind_of(r["parts"][0]) for r in responses] == [
            "image/png",
            "image/webp",
        ]
        assert server.problems == []


def test_media_of_a_kind_that_gemini_3_does_not_nest_stays_outside():
    """A sound has no place in a response; it gets a turn behind it (G25)."""
    contents = [
        user("go"),
        model(call("sing")),
        user(response("sing", ok=1), media("audio/wav")),
        model("Sung."),
        user("on"),
    ]

    outcome = repair_contents(contents, "gemini-3", GuardOptions(media="nested"))

    assert [len(content.parts) for content in outcome.contents] == [1, 1, 1, 1, 1, 1]
    assert outcome.contents[3].parts[0].inline_data.mime_type == "audio/wav"


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"gemini-3"}))
def test_nested_media_is_brought_out_where_it_is_not_taken(profile):
    """Nothing is lost: the media stands in a user turn behind the responses."""
    contents = [
        user("go"),
        model(call("draw", id="abcdefghi")),
        user(holding("draw", nested("image/png", "a"), id="abcdefghi", ok=1)),
    ]

    outcome = repair_contents(contents, profile)

    said = outcome.contents[2].parts[0].function_response
    assert (said.parts or [], said.response) == ([], {"ok": 1})
    assert outcome.contents[-1].parts[0].inline_data.mime_type == "image/png"
    assert next(change.code for change in outcome.changes) == "HG309"
    assert contents[2].parts[0].function_response.parts is not None


def test_nested_media_stays_inside_for_gemini_3():
    """A request that is right comes back as the same objects."""
    contents = [
        user("go"),
        model(call("draw", signature=b"sig")),
        user(holding("draw", nested("image/png", "a"), ok=1)),
    ]

    outcome = repair_contents(contents, "gemini-3")

    assert all(new is old for new, old in zip(outcome.contents, contents, strict=True))
    assert list(outcome.violations) == []


def test_a_sound_inside_a_response_is_left_where_anthropic_could_not_send_it():
    """ADK raises on a sound of its own and drops a nested one: it stays nested."""
    contents = [
        user("go"),
        model(call("sing", id="c1")),
        user(holding("sing", nested("audio/wav"), id="c1", ok=1)),
    ]

    outcome = repair_contents(contents, "anthropic")

    assert outcome.contents[2] is contents[2]
    assert [violation.code for violation in outcome.violations] == ["HG309"]


def test_display_names_are_unique_within_a_response():
    """The second of two equal names gets a number (G25)."""
    contents = [
        user("go"),
        model(call("draw", signature=b"sig")),
        user(holding("draw", nested("image/png", "a"), nested("image/png", "a"))),
    ]

    outcome = repair_contents(contents, "gemini-3")

    parts = outcome.contents[2].parts[0].function_response.parts
    assert [p.inline_data.display_name for p in parts] == ["a", "2-a"]
    assert list(outcome.violations) == []


def test_text_beside_responses_stays_behind_the_media_it_came_with():
    """What the user wrote beside a response is kept, in its order."""
    contents = [
        user("go"),
        model(call("draw", id="c1"), call("draw", id="c2", n=2)),
        user(
            response("draw", id="c1"),
            media(),
            text("look at this"),
            response("draw", id="c2"),
            media(),
        ),
    ]

    outcome = repair_contents(contents, "openai-chat")

    shapes = [
        [p.text or (p.inline_data and "image") or "response" for p in c.parts]
        for c in outcome.contents[2:]
    ]
    assert shapes == [["response"] * 2, ["image", "look at this"], ["image"]]
