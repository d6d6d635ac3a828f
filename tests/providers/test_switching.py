# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One session, several models: each provider gets what it can replay."""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from google.genai import types

from adk_history_guard import GuardOptions
from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.adk.routes import Origin
from adk_history_guard.core.guard import guard
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.testing import (
    StrictAnthropic,
    StrictGateway,
    StrictGemini,
    StrictMistral,
    StrictOpenAI,
    call,
)
from tests.builders import call as call_part
from tests.builders import event, response
from tests.providers.hosts import Host


@dataclass(frozen=True)
class Provider:
    """An emulator, and the name of the model behind it."""

    server: Any
    names: dict = field(default_factory=dict)


SERVERS = {
    "gemini-3": Provider(StrictGemini),
    "gemini-2": Provider(StrictGemini, {"name": "gemini-2.5-flash"}),
    "openai": Provider(StrictOpenAI),
    "gateway": Provider(StrictGateway, {"name": "gemini-3.5-flash"}),
    "anthropic": Provider(StrictAnthropic),
    "mistral": Provider(StrictMistral),
}


@pytest.fixture(scope="module")
def servers():
    """Every emulator, running; the older hosted API of Mistral with them."""
    made = {name: provider.server() for name, provider in SERVERS.items()}
    made["mistral-old"] = StrictMistral(tool_then_user=False)
    with ExitStack() as stack:
        yield {name: stack.enter_context(server) for name, server in made.items()}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(*pair, id="+".join(pair))
        for pair in itertools.combinations(SERVERS, 2)
    ],
)
async def test_a_session_of_two_providers_passes_both(one, other, servers):
    """There, back and there again: no rejection, nothing lost or swapped."""
    host = Host()
    n = 1
    for name in (one, other, one, other):
        server = servers[name]
        server.play([[call("look", {"n": n}), call("see", {"n": n + 1})], "done"])
        events = await host.ask(server.model(**SERVERS[name].names), f"turn {n}")
        n += 2
        assert [e.error_message for e in events if e.error_code] == []
        assert server.problems == []
        assert server.answers().misplaced() == []
        sent = json.dumps(server.requests[-1].contents)
        for k in range(1, n):
            seen = f"sight {k}" if k % 2 else f"view {k}"
            assert sent.count(seen) == 1, seen


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(*pair, id="+".join(pair))
        for pair in itertools.permutations(SERVERS, 2)
    ],
)
async def test_what_two_providers_wrote_is_replayed_to_each(one, other, servers):
    """Half by one, half by the other, in this order; then each provider is asked."""
    host = Host()
    n = 1
    for name in (one, other):
        script = [[call("look", {"n": n}), call("see", {"n": n + 1})], "done"]
        servers[name].play(script)
        await host.ask(servers[name].model(**SERVERS[name].names), f"turn {n}")
        n += 2
    written = await host.events()

    for name, server in servers.items():
        server.play("fine")
        reader = Host()
        await reader.hold(written)
        model = server.model(**SERVERS[name.removesuffix("-old")].names)
        events = await reader.ask(model, "on")

        assert server.problems == [], name
        assert events[-1].content.parts[0].text == "fine", name
        assert server.answers().misplaced() == [], name
        sent = json.dumps(server.requests[-1].contents)
        for seen in ("sight 1", "view 2", "sight 3", "view 4"):
            assert sent.count(seen) == 1, (name, seen)


async def test_gemini_keeps_its_own_signatures_over_a_visit_to_claude():
    """The model's own signed turns come back byte for byte (G17)."""
    host = Host()
    with (
        StrictGemini([call("look", {"n": 1}), "done"], signatures="history") as gemini,
        StrictAnthropic([call("see", {"n": 2}), "done"]) as claude,
    ):
        await host.ask(gemini.model(), "one")
        await host.ask(claude.model(), "two")
        gemini.play([call("look", {"n": 3}), "done"])
        await host.ask(gemini.model(), "three")

        signed = [
            part.get("thoughtSignature")
            for turn in gemini.requests[-1].contents
            for part in turn["parts"]
            if "functionCall" in part
        ]
        given = [gemini.requests[k].reply[0].signature for k in (0, 2)]
        assert signed == [given[0], None, given[1]]
        assert gemini.problems == []


THINKING = [
    event("user", "hello"),
    event(
        "root",
        types.Part(text="hm", thought=True, thought_signature=b"Q2xhdWRl"),
        call_part("look", id="toolu_1", n=1),
        model_version="claude-sonnet-4",
    ),
    event("root", response("look", id="toolu_1", n=1, seen="sight 1")),
    event("root", "Seen.", model_version="claude-sonnet-4"),
]


async def test_the_signature_of_another_model_comes_off_on_record():
    """Claude's signature on a thought does not reach Gemini; the event keeps it."""
    host = Host()
    with StrictGemini("fine", signatures="history") as server:
        await host.hold(THINKING)
        await host.ask(server.model(), "on")

        parts = [p for turn in server.requests[0].contents for p in turn["parts"]]
        assert [p for p in parts if "thoughtSignature" in p] == []
        assert server.problems == []
    stored = await host.events()
    assert stored[1].content.parts[0].thought_signature == b"Q2xhdWRl"


GEMINI_THOUGHT = event(
    "root",
    types.Part(text="ha", thought=True, thought_signature=b"\xff\xfe"),
    "Said Gemini.",
    model_version="gemini-3.5-flash",
)


async def test_claude_gets_no_thought_of_another_model(door):
    """A Gemini's thought goes with its signature, which ADK could not even read."""
    host = Host()
    with StrictAnthropic("fine") as server:
        await host.hold([*THINKING, event("user", "again"), GEMINI_THOUGHT])
        await host.ask(server.model("claude-sonnet-4"), "on", door=door)

        thoughts = [
            block["thinking"]
            for message in server.requests[0].contents
            for block in message["content"]
            if block["type"] == "thinking"
        ]
        # ADK before 2.6 sends Claude no thoughts at all.
        assert thoughts in ([], ["hm"])
        assert "Said Gemini." in json.dumps(server.requests[0].contents)
        assert server.problems == []


def test_claude_gets_its_own_thought_back():
    """The thought that Claude signed stays the same object in the request."""
    contents = [item.content for item in [*THINKING, event("user", "on")]]
    ledger = Ledger()
    ledger.read([*THINKING, GEMINI_THOUGHT])

    outcome = guard(
        contents,
        profile=PROFILES["anthropic"],
        options=GuardOptions(),
        origins=ledger.origins(Origin("claude-sonnet-4", "anthropic")),
    )

    assert outcome.contents[1].parts[0] is contents[1].parts[0]


async def test_a_foreign_step_of_the_current_turn_gets_the_placeholder():
    """Native Gemini 3: the first call of the step is signed by the placeholder."""
    host = Host()
    job = event(
        "root",
        call_part("look", id="toolu_1", n=1),
        call_part("see", id="toolu_2", n=2),
        model_version="claude-sonnet-4",
    )
    with StrictGemini("fine") as server:
        await host.hold(
            [
                event("user", "hello"),
                job,
                event("root", response("look", id="toolu_1", n=1)),
            ]
        )
        late = types.Content(role="user", parts=[response("see", id="toolu_2", n=2)])
        await host.ask(server.model(), late)

        parts = server.requests[0].contents[1]["parts"]
        assert [p.get("thoughtSignature") for p in parts] == [
            "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
            None,
        ]
        assert server.problems == []
