# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the plugin keeps of a run: whose model it is, and nothing longer than needed."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.models import Gemini, LlmResponse
from google.adk.plugins import BasePlugin
from google.genai import types
from pydantic import Field, PrivateAttr

from adk_history_guard.adk.scenery import model_of
from tests.agents import Scripted, final, make_runner, partial, say, stored
from tests.builders import call

SIGNED_ID = "call_1__thought__c2lnbmVkLWJ5LXRoZS1wcm92aWRlcg" * 2


def look(n: int = 0) -> dict[str, int]:
    """Echo."""
    return {"n": n}


class LiteLlm(Scripted):
    """A model known by the name of its class, its prefix and its address."""

    model: str = "openai/pro"
    _additional_args: dict[str, str] = PrivateAttr({"api_base": "http://gateway/v1"})


class Modelled(BaseAgent):
    """An agent of the user's own with a model of its own."""

    model: str = "mine"


class Requests(BasePlugin):
    """Counts the requests of a run that are still alive at its last one."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__(name="requests")
        self.made: list[weakref.ref[Any]] = []

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> None:
        """Note the request."""
        self.made.append(weakref.ref(llm_request))

    def alive(self) -> int:
        """Return how many there are."""
        gc.collect()
        return sum(made() is not None for made in self.made)


class Counting(Scripted):
    """Asks at each request how many there are."""

    requests: Any = None
    alive: list[int] = Field(default_factory=list)

    async def generate_content_async(
        self,
        llm_request: Any,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ):
        """Count, then reply."""
        self.alive.append(self.requests.alive())
        async for answer in super().generate_content_async(llm_request, stream):
            yield answer


def test_model_of_an_agent_is_its_own_or_the_one_it_inherits():
    """As ADK has it: the nearest agent with a model above, through workflow agents."""
    own, above = Gemini(model="gemini-2.5-pro"), Gemini(model="gemini-3.5-flash")
    heir = LlmAgent(name="heir")
    named = LlmAgent(name="named", model="gemini-2.5-flash")
    owner = LlmAgent(name="owner", model=own)
    steps = BaseAgent(name="steps", sub_agents=[heir, named, owner])
    LlmAgent(name="root", model=above, sub_agents=[steps])

    assert model_of(heir) is above
    assert model_of(named) == "gemini-2.5-flash"
    assert model_of(owner) is own
    assert model_of(Modelled(name="mine")) == "mine"
    assert (
        model_of(LlmAgent(name="alone")).model
        == LlmAgent(name="a").canonical_model.model
    )
    assert model_of(None) is None


async def test_sub_agent_that_inherits_a_gateway_keeps_its_signed_ids():
    """That ids may carry data is known by the model's address, the parent's too."""
    go = call("transfer_to_agent", id="t1")
    go.function_call.args = {"agent_name": "heir"}
    llm = LiteLlm(replies=[[go], [call("look", id=SIGNED_ID, n=1)], "done"])
    heir = LlmAgent(name="heir", tools=[look])
    root = LlmAgent(name="root", model=llm, sub_agents=[heir])
    runner = make_runner(llm, agent=root)

    await say(runner, "go")

    ids = [c.id for e in await stored(runner) for c in e.get_function_calls()]
    assert SIGNED_ID in ids
    parts = [part for content in llm.seen[-1] for part in content.parts]
    said = [part.function_response for part in parts if part.function_response]
    assert said[-1].id == SIGNED_ID


@pytest.mark.once  # older ones than ADK 2.11 let go by themselves; it takes long
async def test_requests_of_a_run_are_let_go_of_as_it_goes_on():
    """A run of many model calls holds the newest requests, not all of them."""
    requests = Requests()
    replies = [[call("look", id="c1", n=n)] for n in range(12)]
    llm = Counting(replies=[*replies, "done"], requests=requests)
    runner = make_runner(llm, tools=[look], plugins=[requests])

    await say(runner, "go")

    assert len(llm.alive) == 13
    assert max(llm.alive) <= 3


async def test_answer_in_two_final_responses_is_not_taken_for_silent(caplog):
    """The words came with the first one; the second says why the stream ended."""
    end = LlmResponse(finish_reason=types.FinishReason.STOP, partial=False)
    replies = [
        [call("look", id="c1", n=1)],
        [partial("he"), final("hello"), end],
    ]
    runner = make_runner(Scripted(replies=replies), tools=[look])

    with caplog.at_level(logging.WARNING, logger="adk_history_guard"):
        await say(runner, "go", stream=True)

    mine = [r.message for r in caplog.records if r.name.startswith("adk_history")]
    assert mine == []


@pytest.mark.parametrize("before", ["hello", None], ids=["words-first", "calls-alone"])
async def test_call_in_a_second_final_response_has_the_id_of_its_partial(before):
    """All responses of a model call share one account of its calls."""
    asked = [partial(call("look", id="c1", n=1))]
    asked += [final(before)] if before else []
    asked += [final(call("look", id="c1", n=1))]
    runner = make_runner(Scripted(replies=[asked, "done"]), tools=[look])

    events = await say(runner, "go", stream=True)

    ids = [c.id for e in events for c in e.get_function_calls()]
    assert len(ids) == 2
    assert len(set(ids)) == 1
