# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Histories in which everything goes wrong at once, sent to each provider's emulator.

`HISTORY_LAWS=deep` sends many more.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from google.adk.models.llm_request import LlmRequest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_history_guard import GuardOptions, repair_contents
from adk_history_guard.adk.targets import target_of
from adk_history_guard.core.guard import guard
from adk_history_guard.core.signatures import is_marked
from adk_history_guard.core.turns import read_contents
from adk_history_guard.testing import (
    StrictAnthropic,
    StrictGateway,
    StrictGemini,
    StrictMistral,
    StrictOpenAI,
    tokens,
)
from adk_history_guard.testing.signatures import SignatureBook
from tests.property.mixed import MARKER, knobs, mixed
from tests.property.test_laws import DEEP, LAW

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.property.mixed import Mixed

pytestmark = pytest.mark.once

FEW = settings(LAW, max_examples=500 if DEEP else 20)


@dataclass(frozen=True)
class Provider:
    """An emulator, the model behind it, and the contract where it is not found."""

    server: Callable[[], Any]
    name: str
    profile: str = "auto"


PROVIDERS = {
    "gemini-3": Provider(
        lambda: StrictGemini("ok", ids="unique", signatures="history"),
        "gemini-3.5-flash",
    ),
    "gemini-2": Provider(
        lambda: StrictGemini("ok", ids="unique", signatures="history"),
        "gemini-2.5-flash",
    ),
    "gemini-gateway": Provider(lambda: StrictGateway("ok"), "gemini-3.5-flash"),
    "openai-chat": Provider(lambda: StrictOpenAI("ok"), "gpt-x", "openai-chat"),
    "anthropic": Provider(lambda: StrictAnthropic("ok"), "claude-x"),
    "mistral": Provider(lambda: StrictMistral("ok"), "mistral-x"),
    "mistral-old": Provider(
        lambda: StrictMistral("ok", tool_then_user=False), "mistral-x"
    ),
}


def open_book(made: Mixed) -> SignatureBook:
    """Write down what each signature of a history was issued for."""
    book = SignatureBook()
    for signature, (name, n) in made.signatures.items():
        if isinstance(signature, bytes):
            book.note(base64.b64encode(signature).decode(), name, {"n": n})
        elif signature is not None:
            book.note(signature, name, {"n": n})
    book.note(base64.b64encode(b"of a text").decode(), None)
    return book


async def send(made: Any, contents: Any) -> Any:
    """Send contents with the provider's own client; the last response."""
    request = LlmRequest(model=made.model, contents=contents)
    return [found async for found in made.generate_content_async(request)][-1]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_whatever_it_was_the_provider_takes_it(provider):
    """Nothing is refused, whatever the knobs; what is paired arrives so."""
    known = PROVIDERS[provider]
    with asyncio.Runner() as runner, known.server() as server:
        model = server.model(known.name)
        target = target_of(model, None, GuardOptions(profile=known.profile))
        profile = target.profile
        if provider == "openai-chat":  # OpenAI itself, which reads no data in ids
            profile = replace(profile, ids=replace(profile.ids, data=False))

        @given(made=mixed(), chosen=knobs(unsigned="auto"))
        @FEW
        def law(made, chosen):
            if profile.signed_ids and not is_marked(
                read_contents(made.contents), [MARKER]
            ):
                return  # W7: nothing tells a gateway
            server._book = open_book(made)
            outcome = guard(
                made.contents,
                profile=profile,
                options=GuardOptions(**chosen),
                pending=made.pending,
                origins=made.origins,
            )
            if not outcome.contents:
                return
            answer = runner.run(send(model, outcome.contents))
            assert server.requests[-1].problems == []
            assert answer.content.parts[0].text == "ok"
            assert server.answers() == tokens(outcome.contents)

        law()
        assert server.requests


@pytest.mark.parametrize("profile", ["gemini-3", "gemini-gateway", "mistral"])
@given(data=st.data())
@FEW
def test_the_same_history_gives_the_same_bytes(profile, data):
    """No clock and no randomness: two repairs are equal."""
    contents = data.draw(mixed()).contents

    one, other = (
        [c.model_dump_json(exclude_none=True) for c in done.contents]
        for done in (repair_contents(contents, profile) for _ in range(2))
    )

    assert one == other
