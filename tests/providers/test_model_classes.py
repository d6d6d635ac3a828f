# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Model classes that are a Gemini by class or name, and speak another language.

ADK takes `adk-` ids off the requests of every class that it does not know to pair by
id. Where the other end needs ids, none may be minted that nobody puts back.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.adk import models
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, Gemini
from google.adk.models.apigee_llm import ApigeeLlm
from google.genai import errors

from adk_history_guard import GuardOptions, guard_model
from adk_history_guard.adk.ids import Mint
from adk_history_guard.adk.targets import target_of
from adk_history_guard.testing import StrictOpenAI, call
from tests.agents import make_runner, say


def look(n: int) -> dict[str, int]:
    """Look something up."""
    return {"n": n}


class Down(Gemini):
    """A Gemini that is out of order."""

    async def generate_content_async(self, llm_request: Any, stream: Any = None):
        """Fail."""
        raise errors.ServerError(503, {"error": {"code": 503, "message": "down"}})
        yield


class OpenAILlm(BaseLlm):
    """Named as ADK's own, of an optional package."""

    base_url: str | None = None

    async def generate_content_async(self, llm_request: Any, stream: Any = None):
        """Answer nothing."""
        yield


def fallback(*inner: Any) -> Any:
    """Return ADK's `FallbackModel`, or its like where ADK has none yet."""
    known = getattr(models, "FallbackModel", None)
    if known is not None:
        return known(models=list(inner))
    return FallbackModel(model="gemini-3.5-flash", models=list(inner))


class FallbackModel(BaseLlm):
    """Named as ADK's own, which came with 2.13: the first that does not fail."""

    models: list[Any]

    async def generate_content_async(self, llm_request: Any, stream: Any = None):
        """Ask one after the other."""
        for inner in self.models:
            request = llm_request.model_copy(update={"model": inner.model})
            try:
                found = [r async for r in inner.generate_content_async(request, stream)]
            except errors.ServerError:
                continue
            for response in found:
                yield response
            return


CLASSES = {
    "apigee/openai": lambda server: ApigeeLlm(
        model="apigee/openai/gpt-4o", proxy_url=f"{server.url}/v1"
    ),
    "apigee told so": lambda server: ApigeeLlm(
        model="apigee/gpt-4o",
        proxy_url=f"{server.url}/v1",
        api_type="chat_completions",
    ),
    "fallback": lambda server: fallback(Down(model="gemini-3.5-flash"), server.model()),
}


@pytest.mark.parametrize("ids", ["unique", "repeat"])
@pytest.mark.parametrize("door", ["plugin", "model", "both"])
@pytest.mark.parametrize("kind", CLASSES)
async def test_a_healthy_session_stays_healthy(kind, door, ids):
    """The provider finds nothing to complain of in three runs of parallel calls."""
    same = {"id": "call_1"} if ids == "repeat" else {}
    round_ = [call("look", {"n": 1}, **same), call("look", {"n": 2})]
    with StrictOpenAI([round_, "done", round_, "done"]) as server:
        llm = CLASSES[kind](server)
        if door in ("model", "both"):
            llm = guard_model(llm)
        agent = LlmAgent(name="root", model=llm, tools=[look])
        plugin = "plugin" if door in ("plugin", "both") else None
        runner = make_runner(llm, door=plugin, agent=agent)
        for message in ("go", "again"):
            await say(runner, message)

        assert server.problems == []
        assert len(server.requests) == 4


APIGEE = {"cls": ApigeeLlm, "proxy_url": "http://x"}
OPENAI = {"cls": OpenAILlm, "base_url": "http://x"}
VERTEX = "projects/p/locations/l/publishers/google/models/gemini-2.5-flash"


@pytest.mark.parametrize(
    ("made", "name", "profile", "mint"),
    [
        (APIGEE, "apigee/openai/gpt-4o", "openai-chat", "on_repeat"),
        (APIGEE, "apigee/gemini/gemini-3.5-flash", "gemini-3", "always"),
        (OPENAI, "gpt-4o", "openai-chat", "on_repeat"),
        (OPENAI, "google/gemini-2.5-flash", "gemini-gateway", "on_repeat"),
        (OPENAI, "gemini-2.5-flash", "gemini-gateway", "on_repeat"),
        (None, "apigee/openai/gpt-4o", "openai-chat", "on_repeat"),
        (None, "gpt-4o", "openai-chat", "on_repeat"),
        (None, "google/gemini-2.5-flash", "gemini-gateway", "on_repeat"),
        (None, "models/gemini-2.5-flash", "gemini-2", "always"),
        (None, VERTEX, "gemini-2", "always"),
    ],
)
def test_the_contract_is_that_of_the_other_end(made, name, profile, mint):
    """By class, address and name; ids are minted only where they cannot get lost."""
    fields = dict(made or {})
    model = fields.pop("cls")(model=name, **fields) if made else None
    target = target_of(model, name, GuardOptions())

    assert (target.profile.name, target.mint) == (profile, Mint(mint))


def test_a_fallback_of_geminis_is_a_gemini():
    """The first one's contract, and new ids for all."""
    inner = (Gemini(model="gemini-2.5-flash"), Gemini(model="gemini-3.5-flash"))
    target = target_of(fallback(*inner), None, GuardOptions())

    assert (target.profile.name, target.mint) == ("gemini-2", Mint.ALWAYS)


def test_a_fallback_needs_what_any_of_its_models_needs():
    """A Gemini first, then one that pairs by id: the Gemini's contract, with ids."""
    inner = (Gemini(model="gemini-3.5-flash"), OpenAILlm(model="gpt-4o"))
    target = target_of(fallback(*inner), None, GuardOptions())

    assert target.profile.name == "gemini-3"
    assert target.profile.ids.required
    assert target.mint is Mint.ON_REPEAT
    assert "gemini-3.5-flash" in target.reason
    assert "gpt-4o" in target.reason
