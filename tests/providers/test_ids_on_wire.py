# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Ids on the wire: legal, unique, the same on both sides, data untouched."""

from __future__ import annotations

import re

import pytest

from adk_history_guard import GuardOptions, repair_contents
from adk_history_guard.adk.ids import METADATA_KEY
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.testing import StrictGemini, StrictMistral, StrictOpenAI
from adk_history_guard.testing import call as says
from tests.builders import call, event, model, response, user
from tests.providers.hosts import Host, messages_of

LONG = "call_" + "x" * 60


def history(*ids):
    """A request with one round for each id."""
    contents = [user("go")]
    for n, call_id in enumerate(ids):
        contents.append(model(call("look", id=call_id, n=n)))
        contents.append(user(response("look", id=call_id, n=n)))
    return contents


def ids_of(contents):
    """The ids of calls and those of responses."""
    parts = [part for content in contents for part in content.parts]
    return (
        [p.function_call.id for p in parts if p.function_call],
        [p.function_response.id for p in parts if p.function_response],
    )


@pytest.mark.trap("provider-formats", "mapped-ids-collide")
@pytest.mark.parametrize(
    ("profile", "form"),
    [
        ("mistral", r"[a-zA-Z0-9]{9}"),
        ("openai-chat", r"[a-zA-Z0-9_-]{1,40}"),
        ("openai-responses", r"[a-zA-Z0-9_-]{1,64}"),
        ("anthropic", r"[a-zA-Z0-9_-]{1,64}"),
        ("bedrock", r"[a-zA-Z0-9_-]{1,64}"),
    ],
)
def test_ids_are_mapped_to_the_providers_format(profile, form):
    """Illegal, long, repeated and missing ids become legal and unique, as pairs."""
    outcome = repair_contents(history("a.b c", LONG, "c1", "c1", None, "äöü"), profile)

    calls, responses = ids_of(outcome.contents)
    assert calls == responses
    assert len(set(calls)) == 6
    assert [call_id for call_id in calls if not re.fullmatch(form, call_id)] == []
    assert list(outcome.violations) == []


@pytest.mark.parametrize("profile", ["mistral", "openai-chat", "anthropic"])
def test_the_mapping_depends_on_nothing_but_the_history(profile):
    """A longer history starts with the same ids, so a cached prefix stays."""
    short = ids_of(repair_contents(history(LONG, LONG, None), profile).contents)
    longer = ids_of(repair_contents(history(LONG, LONG, None, "x"), profile).contents)

    assert longer[0][:3] == short[0]


@pytest.mark.parametrize("profile", ["mistral", "openai-chat", "anthropic"])
def test_a_change_names_the_old_id_and_the_new_one(profile):
    """The mapping can be read back from the changes."""
    outcome = repair_contents(history("a.b c"), profile)

    fresh = ids_of(outcome.contents)[0][0]
    told = [c.message for c in outcome.changes if c.code == "HG504"]
    assert told == [f"the id of 'look' (id 'a.b c') to {fresh!r}, on both sides"]


@pytest.mark.trap("id-holds-a-signature")
@pytest.mark.parametrize(
    "profile", ["gemini-3", "gemini-2", "gemini-gateway", "openai-chat"]
)
@pytest.mark.parametrize(
    "call_id",
    [
        f"call_1__thought__{'s' * 80}",
        f"call_1||thought_signature||{'s' * 80}",
        f"look::sig::{'s' * 80}",
    ],
    ids=["litellm", "gateway", "dify"],
)
def test_an_id_that_carries_data_is_never_touched(profile, call_id):
    """Long and oddly written as it is, it stays byte for byte on both sides."""
    outcome = repair_contents(history(call_id), profile)

    assert ids_of(outcome.contents) == ([call_id], [call_id])


def test_an_id_with_the_users_own_marker_is_never_touched():
    """The knob counts wherever ids are mapped."""
    call_id = "call_1~~sig~~" + "s" * 80
    options = GuardOptions(signature_marker="~~sig~~")

    kept = repair_contents(history(call_id), "openai-chat", options)

    assert ids_of(kept.contents)[0] == [call_id]
    assert list(kept.violations) == []
    assert ids_of(repair_contents(history(call_id), "openai-chat").contents)[0] != [
        call_id
    ]


@pytest.mark.trap("responses-adapter-unpaired")
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_turn_carries_ids_on_all_its_calls_or_on_none(profile):
    """An id on one side or one call only is worse than none (gemini-cli#6974)."""
    contents = [
        user("go"),
        model(call("look", id="abcdefghi"), call("see")),
        user(response("look", id="abcdefghi"), response("see")),
    ]

    calls, responses = ids_of(repair_contents(contents, profile).contents)

    assert calls == responses
    assert len({call_id is None for call_id in calls}) == 1


async def test_mistral_gets_nine_letters_and_digits_on_both_sides(door):
    """The session's ids are others'; the request carries Mistral's form."""
    host = Host()
    with StrictMistral("fine") as server:
        await host.hold(
            [
                event("user", "go"),
                event("root", call("look", id="toolu_01", n=1)),
                event("root", response("look", id="toolu_01", n=1)),
                event("root", "Seen."),
            ]
        )
        await host.ask(server.model(), "on", door=door)

        assert re.fullmatch(
            r"[a-zA-Z0-9]{9}", messages_of(server, "tool")[0]["tool_call_id"]
        )
        assert server.problems == []
    stored = await host.events()
    assert stored[1].content.parts[0].function_call.id == "toolu_01"


@pytest.mark.trap("index-as-id")
async def test_index_ids_of_streams_are_minted(door):
    """LiteLlm numbers streamed calls without ids: 0, 1 and so on, in every turn."""
    host = Host()
    turn = [says("look", {"n": 1}), says("see", {"n": 2})]
    with StrictOpenAI([turn, turn, "done"], assign_ids=False) as server:
        events = await host.ask(server.model(), "go", door=door, stream=True)

        seen = {
            (call.args or {}).get("n", call.name): call.id
            for event in events
            for call in event.get_function_calls()
            if not event.partial
        }
        assert all(call_id.startswith("adk-") for call_id in seen.values())
        assert server.problems == []
    stored = await host.events()
    ids = [c.id for e in stored for c in e.get_function_calls()]
    assert len(set(ids)) == len(ids) == 4


async def test_the_providers_own_ids_are_kept_with_the_event():
    """What was minted over stays on record, with the model and the way to it."""
    host = Host()
    with StrictGemini([says("look", {"n": 1}, id="g1"), "done"]) as server:
        await host.ask(server.model(), "go")

    stored = await host.events()
    made = stored[1].get_function_calls()[0].id
    assert stored[1].custom_metadata[METADATA_KEY] == {
        "provider_ids": {made: "g1"},
        "model": "gemini-3.5-flash",
        "route": "gemini",
    }


@pytest.mark.parametrize(
    ("wire_ids", "ids"), [("provider", ["g1", "g2"]), ("strip", [None, None])]
)
async def test_gemini_gets_its_own_ids_back_where_asked_to(wire_ids, ids, stream):
    """Both sides of both calls carry the provider's id, or none does."""
    turn = [says("look", {"n": 1}, id="g1"), says("look", {"n": 2}, id="g2")]
    with StrictGemini([turn, "done"], ids="unique") as server:
        await Host().ask(server.model(), "go", stream=stream, wire_ids=wire_ids)

        calls, responses = server.requests[1].contents[1:3]
        assert [p["functionCall"].get("id") for p in calls["parts"]] == ids
        assert [p["functionResponse"].get("id") for p in responses["parts"]] == ids
        assert server.problems == []


async def test_provider_ids_that_repeat_stay_off(stream):
    """Where the provider used an id twice, the later turn carries none."""
    turn = [says("look", {"n": 1}, id="g1")]
    again = [says("look", {"n": 2}, id="g1"), says("see", {"n": 3}, id="g2")]
    with StrictGemini([turn, again, "done"], ids="unique") as server:
        await Host().ask(server.model(), "go", stream=stream, wire_ids="provider")

        sent = [
            p["functionCall"].get("id")
            for content in server.requests[-1].contents
            for p in content["parts"]
            if "functionCall" in p
        ]
        assert sent == ["g1", None, None]
        assert server.problems == []
