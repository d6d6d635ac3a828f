# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of what stands on top of ADK: a front end and evaluations (row 10)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.sessions import InMemorySessionService

from adk_history_guard import HistoryGuardPlugin
from adk_history_guard.testing import StrictGemini
from adk_history_guard.testing import call as emulated
from tests.conformance.runs import look
from tests.conformance.stage import expect, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google.adk.models import LlmRequest, LlmResponse

    from tests.conformance.stage import Stage

TOOLS = [
    {
        "name": name,
        "description": "Change something on the user's screen.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    for name in ("paint", "write")
]


class Fresh(Gemini):
    """Makes parts of its own for each response, without the provider's ids."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield copies."""
        async for said in super().generate_content_async(llm_request, stream):
            made = said.model_copy(deep=True)
            for part in (made.content.parts or ()) if made.content else ():
                if part.function_call:
                    part.function_call.id = None
            yield made


class Browser:
    """A client of the AG-UI protocol, with two tools of its own."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.messages: list[dict[str, Any]] = []
        self.answered: list[int] = []
        self.runs = 0

    async def say(self, words: str) -> None:
        """Say something, and answer each call by the id that came in the stream."""
        self._add({"role": "user", "content": words})
        asked = await self._run()
        while asked:
            shown = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                for i, (n, a) in asked.items()
            ]
            self._add({"role": "assistant", "toolCalls": shown})
            for call_id, (_, arguments) in asked.items():
                self.answered.append(json.loads(arguments)["n"])
                self._add({"role": "tool", "toolCallId": call_id, "content": arguments})
            asked = await self._run()

    def _add(self, message: dict[str, Any]) -> None:
        self.messages.append({"id": f"m{len(self.messages)}", **message})

    async def _run(self) -> dict[str, tuple[str, str]]:
        """Post the messages; return the calls that came, by id."""
        self.runs += 1
        body = {
            "threadId": "t",
            "runId": f"r{self.runs}",
            "state": {},
            "messages": self.messages,
            "tools": TOOLS,
            "context": [],
            "forwardedProps": {},
        }
        answer = await self.http.post("/", json=body)
        answer.raise_for_status()
        names: dict[str, str] = {}
        arguments: dict[str, str] = {}
        for line in answer.text.splitlines():
            if not line.startswith("data:"):
                continue
            event = json.loads(line.removeprefix("data:"))
            kind, call_id = event["type"], event.get("toolCallId", "")
            if kind == "RUN_ERROR":
                raise RuntimeError(event["message"])
            if kind == "TOOL_CALL_START":
                names[call_id] = event["toolCallName"]
            elif kind == "TOOL_CALL_ARGS":
                arguments[call_id] = arguments.get(call_id, "") + event["delta"]
        return {i: (name, arguments.get(i, "{}")) for i, name in names.items()}


async def browse(
    stage: Stage, model: type[Gemini], said: list[Any], *, shown: list[int]
) -> list[str]:
    """Let a browser have a tool called, over the front end's own server."""
    from ag_ui_adk import ADKAgent, AGUIToolset, add_adk_fastapi_endpoint
    from fastapi import FastAPI

    with StrictGemini(said) as server:
        agent = LlmAgent(
            name="root", model=server.model(cls=model), tools=[look, AGUIToolset()]
        )
        plugins = [HistoryGuardPlugin()] if stage.guard else []
        app = App(name="app", root_agent=agent, plugins=plugins)
        site = FastAPI()
        door = ADKAgent.from_app(
            app, user_id="u", session_service=InMemorySessionService()
        )
        add_adk_fastapi_endpoint(site, door)
        wire = httpx.ASGITransport(app=site)
        async with httpx.AsyncClient(transport=wire, base_url="http://test") as http:
            browser = Browser(http)
            for words in ("go", "again", "go on"):
                await browser.say(words)
        await door.close()
        return (
            server.problems
            + expect(shown, browser.answered, "what the browser was asked for")
            + server.answers().misplaced(shown)
        )


@scenario(10, "ag-ui-adk, a client-side tool over streamed runs, ids repeat")
async def front_end(stage: Stage) -> list[str]:
    asked = [emulated("paint", {"n": n}, id="c") for n in (1, 2, 3)]
    said = [asked[0], "painted", asked[1], "painted", asked[2]]
    return await browse(stage, Gemini, said, shown=[1, 2, 3])


@scenario(10, "ag-ui-adk, two client-side tools in one turn under one id")
async def front_end_in_parallel(stage: Stage) -> list[str]:
    both = [emulated("paint", {"n": 1}, id="c"), emulated("write", {"n": 2}, id="c")]
    return await browse(stage, Gemini, [both], shown=[1, 2])


@scenario(10, "ag-ui-adk, a client-side tool, an adapter that makes fresh parts")
async def front_end_of_fresh_parts(stage: Stage) -> list[str]:
    asked = [emulated("paint", {"n": n}) for n in (1, 2)]
    said = [asked[0], "painted", asked[1]]
    return await browse(stage, Fresh, said, shown=[1, 2])


@scenario(10, "ag-ui-adk shows one of two calls of one tool: the run goes on")
async def front_end_that_shows_one(stage: Stage) -> list[str]:
    both = [emulated("paint", {"n": n}, id=f"c{n}") for n in (1, 2)]
    return await browse(stage, Gemini, [both], shown=[1])
