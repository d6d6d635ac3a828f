# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that wait for somebody, under an id that another tool has used before.

Two ways lead there: a session that grew up without the guard, and one that had
it from the start. Either way the tool runs once, with its own arguments, and the
model then sees each answer beside its call.
"""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_tool import AuthConfig
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

from tests.agents import Scripted, make_runner, say, stored
from tests.builders import call, calls_of, responses_of
from tests.judge import faults

AUTH = AuthConfig(
    auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "x-key"}),
    raw_auth_credential=AuthCredential(
        auth_type=AuthCredentialTypes.API_KEY, api_key="key"
    ),
)
GROWN = pytest.mark.parametrize("before", [None, "plugin"], ids=["found", "guarded"])
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


class Shop:
    """Tools that note what they were called with."""

    def __init__(self) -> None:
        """Start with nothing done."""
        self.done: list[tuple[str, int]] = []

    def tools(self) -> list[Any]:
        """Return an ordinary tool, and one of each kind that waits."""

        def look(n: int) -> dict[str, int]:
            self.done.append(("look", n))
            return {"n": n}

        def pay(n: int) -> dict[str, int]:
            self.done.append(("pay", n))
            return {"n": n}

        def mail(n: int, tool_context: ToolContext) -> dict[str, int] | None:
            if tool_context.get_auth_response(AUTH) is None:
                tool_context.request_credential(AUTH)
                return None
            self.done.append(("mail", n))
            return {"n": n}

        def job(n: int) -> None:
            self.done.append(("job", n))

        return [
            look,
            FunctionTool(pay, require_confirmation=True),
            mail,
            LongRunningFunctionTool(job),
        ]


def reply_to(events: list[Any], name: str, **body: Any) -> types.Content:
    """Return the client's answer to the newest call of a name."""
    said = [c for e in events for c in e.get_function_calls() if c.name == name][-1]
    part = types.Part(
        function_response=types.FunctionResponse(id=said.id, name=name, response=body)
    )
    return types.Content(role="user", parts=[part])


async def resumed(
    tool: str, before: str | None, *, talk: bool, stream: bool
) -> tuple[Shop, list[types.Content], list[Any]]:
    """Use an id for `look`, then for a tool that waits; answer it with the guard on."""
    question = {
        "pay": "adk_request_confirmation",
        "mail": "adk_request_credential",
        "job": "job",
    }[tool]
    key = AUTH.raw_auth_credential
    signed_in = AUTH.model_copy(update={"exchanged_auth_credential": key}).model_dump(
        mode="json", exclude_none=True, by_alias=True
    )
    body = {
        "pay": {"confirmed": True},
        "mail": signed_in,
        "job": {"n": 1},
    }[tool]
    shop, service = Shop(), InMemorySessionService()
    llm = Scripted(
        replies=[
            [call("look", id="c1", n=9)],
            "looked",
            [call(tool, id="c1", n=1), call("look", id="c2", n=2)],
        ]
    )
    early = make_runner(llm, door=before, tools=shop.tools(), service=service)
    await say(early, "look")
    events = await say(early, "do it", stream=stream)
    late = make_runner(llm, door="plugin", tools=shop.tools(), service=service)
    if talk:
        await say(late, "are you there")
    await say(late, reply_to(events, question, **body), stream=stream)
    return shop, llm.seen[-1], await stored(late)


@GROWN
@STREAMED
@pytest.mark.parametrize("talk", [False, True], ids=["at-once", "after-talk"])
@pytest.mark.parametrize("tool", ["pay", "mail", "job"])
async def test_waiting_call_under_a_used_id_runs_once(tool, talk, before, stream):
    """Confirmation, credential and job: once, own arguments, own answer."""
    shop, sent, _ = await resumed(tool, before, talk=talk, stream=stream)

    assert sorted(shop.done) == sorted([("look", 9), ("look", 2), (tool, 1)])
    assert faults(sent, answered=[9, 1, 2]) == []
    if talk:
        assert "are you there" in str(sent)


@pytest.mark.parametrize("tool", ["pay", "mail", "job"])
async def test_guarded_session_repeats_no_id(tool):
    """With the guard from the start each call of the session has its own id."""
    _, _, events = await resumed(tool, "plugin", talk=True, stream=False)

    ids = [c.id for e in events for c in e.get_function_calls()]
    assert len(set(ids)) == len(ids)


@GROWN
async def test_refused_confirmation_runs_nothing(before):
    """A call that the client refuses is answered, and the tool never runs."""
    shop, service = Shop(), InMemorySessionService()
    llm = Scripted(
        replies=[[call("look", id="c1", n=9)], "ok", [call("pay", id="c1", n=1)]]
    )
    early = make_runner(llm, door=before, tools=shop.tools(), service=service)
    await say(early, "look")
    events = await say(early, "pay")
    late = make_runner(llm, tools=shop.tools(), service=service)

    await say(late, reply_to(events, "adk_request_confirmation", confirmed=False))

    assert shop.done == [("look", 9)]
    assert faults(llm.seen[-1], answered=[9]) == []


@GROWN
async def test_two_confirmations_of_one_tool_each_run_their_own(before):
    """Parallel calls of one tool, confirmed in the other order, in two messages."""
    shop, service = Shop(), InMemorySessionService()
    twins = [call("pay", id="c1", n=1), call("pay", id="c2", n=2)]
    llm = Scripted(replies=[[call("look", id="c2", n=9)], "ok", twins])
    early = make_runner(llm, door=before, tools=shop.tools(), service=service)
    await say(early, "look")
    events = await say(early, "pay both")
    asked = [
        c
        for e in events
        for c in e.get_function_calls()
        if c.name == "adk_request_confirmation"
    ]
    late = make_runner(llm, tools=shop.tools(), service=service)

    for said in reversed(asked):
        answer = types.FunctionResponse(
            id=said.id, name=said.name, response={"confirmed": True}
        )
        part = types.Part(function_response=answer)
        await say(late, types.Content(role="user", parts=[part]))

    assert sorted(shop.done) == [("look", 9), ("pay", 1), ("pay", 2)]
    assert faults(llm.seen[-1], answered=[9, 1, 2]) == []


async def test_jobs_of_one_tool_answered_in_reverse_keep_their_answers(door):
    """Two parallel jobs, the second answered first: no swap, at either door."""
    shop = Shop()
    twins = [call("job", id="c1", n=1), call("job", id="c2", n=2)]
    llm = Scripted(replies=[twins])
    runner = make_runner(llm, door=door, tools=shop.tools())
    events = await say(runner, "go")
    ids = [c.id for e in events for c in e.get_function_calls()]

    for n in (2, 1):
        answer = types.FunctionResponse(id=ids[n - 1], name="job", response={"n": n})
        message = types.Content(
            role="user", parts=[types.Part(function_response=answer)]
        )
        await say(runner, message)

    # The session's order is known to the plugin alone.
    if door == "plugin":
        assert faults(llm.seen[-1], answered=[1, 2]) == []
    assert len(calls_of(llm.seen[-1])) == len(responses_of(llm.seen[-1])) == 2
