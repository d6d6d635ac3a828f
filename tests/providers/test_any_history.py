# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S311 - seeded histories
"""Histories of all kinds mixed, held to each profile and sent to its emulator."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from google.adk.models.llm_request import LlmRequest

from adk_history_guard import GuardOptions, repair_contents
from adk_history_guard.adk.targets import target_of
from adk_history_guard.core.guard import guard
from adk_history_guard.testing import (
    StrictAnthropic,
    StrictGateway,
    StrictGemini,
    StrictMistral,
    StrictOpenAI,
)
from tests.builders import call, media, model, response, text, user

if TYPE_CHECKING:
    from google.genai import types

SERVERS = {
    "gemini-3": (lambda: StrictGemini("ok", signatures="off"), "gemini-3.5-flash"),
    "gemini-2": (lambda: StrictGemini("ok", signatures="off"), "gemini-2.5-flash"),
    "gemini-gateway": (lambda: StrictGateway("ok"), "gemini-3.5-flash"),
    "openai-chat": (lambda: StrictOpenAI("ok"), "gpt-x"),
    "anthropic": (lambda: StrictAnthropic("ok"), "claude-x"),
    "mistral": (lambda: StrictMistral("ok", tool_then_user=False), "mistral-x"),
}
IDS = ("c1", "c2", "0", "a.b c", "toolu_" + "x" * 50, "adk-1", None)
MARKED = "call_{n}||thought_signature||c2ln{n}"


def history(rng: Random, *, marked: bool) -> list[types.Content]:
    """A history that no provider would take: every breakage that pairing knows."""
    contents: list[types.Content] = []
    n = 0
    for turn in range(rng.randint(1, 5)):
        if rng.random() < 0.9:
            extra = [media()] if rng.random() < 0.2 else []
            contents.append(user(f"words {turn}", *extra))
        for _ in range(rng.randint(0, 3)):
            calls = []
            for k in range(rng.randint(1, 3)):
                n += 1
                signed = rng.random() < 0.4
                call_id = rng.choice(IDS)
                if marked and k == 0 and rng.random() < 0.7:
                    call_id = MARKED.format(n=n)
                name = rng.choice(("look", "see"))
                calls.append(
                    call(name, id=call_id, signature=b"\xff" if signed else None, n=n)
                )
            words = [text("so")] if rng.random() < 0.3 else []
            contents.append(model(*words, *calls))
            contents += _answers(rng, calls)
        if rng.random() < 0.8:
            contents.append(model("said", *([text("")] if rng.random() < 0.2 else [])))
    contents.append(user("and now?"))
    return contents


def _answers(rng: Random, calls: list[types.Part]) -> list[types.Content]:
    """Responses of some calls: shuffled, split, doubled, misnamed, beside media."""
    parts = []
    for made in calls:
        said = made.function_call
        if rng.random() < 0.15:
            continue
        name = "other" if rng.random() < 0.1 else said.name
        parts.append(response(name, id=said.id, n=said.args["n"]))
        if rng.random() < 0.1:
            parts.append(response(said.name, id=said.id, n=said.args["n"]))
        if rng.random() < 0.2:
            parts.append(media("image/png"))
    if rng.random() < 0.3:
        rng.shuffle(parts)
    if rng.random() < 0.1:
        parts.append(response("nobody", id="orphan"))
    if len(parts) > 1 and rng.random() < 0.3:
        return [user(*parts[:1]), user("meanwhile"), user(*parts[1:])]
    return [user(*parts)] if parts else []


async def send(server, name, contents):
    """Send contents with the provider's own client; the answer's text."""
    made = server.model(name)
    request = LlmRequest(model=made.model, contents=contents)
    answers = [found async for found in made.generate_content_async(request)]
    return answers[-1].content.parts[0].text


@pytest.mark.parametrize("profile", SERVERS)
async def test_whatever_it_was_the_provider_takes_it(profile):
    """Repaired contents keep the profile's rules and pass the emulator's."""
    make, name = SERVERS[profile]
    marked = profile == "gemini-gateway"
    with make() as server:
        if marked:
            for n in range(1, 60):
                for tool in ("look", "see"):
                    server._book.note(MARKED.format(n=n), tool, {"n": n})
            server._book.fault = lambda *_: None
        chosen = target_of(server.model(name), None, GuardOptions(profile="auto"))
        for seed in range(12):
            contents = history(Random(f"{profile}:{seed}"), marked=marked)
            if marked and not any("||" in (i or "") for i in _ids(contents)):
                continue

            outcome = guard(contents, profile=chosen.profile, options=GuardOptions())

            errors = [v for v in outcome.violations if v.severity == "error"]
            assert errors == [], seed
            assert await send(server, name, outcome.contents) == "ok", seed
            assert server.problems == [], seed
            twice = guard(
                outcome.contents, profile=chosen.profile, options=GuardOptions()
            )
            assert list(twice.changes) == [], seed


def _ids(contents):
    parts = [part for content in contents for part in content.parts or ()]
    return [part.function_call.id for part in parts if part.function_call]


@pytest.mark.parametrize("profile", SERVERS)
def test_the_same_history_gives_the_same_bytes(profile):
    """No clock and no randomness: two repairs are equal."""
    for seed in range(12):
        made = [
            repair_contents(history(Random(seed), marked=seed % 2 == 0), profile)
            for _ in range(2)
        ]
        one, other = (
            [c.model_dump_json(exclude_none=True) for c in outcome.contents]
            for outcome in made
        )
        assert one == other
