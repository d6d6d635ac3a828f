# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A client that sends two reports in reverse; started with `python -m`, see README."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from google.adk.runners import InMemoryRunner
from google.genai import types

from .agent import app

if TYPE_CHECKING:
    from google.adk.events import Event


async def say(runner: InMemoryRunner, *parts: types.Part) -> list[Event]:
    """Send one message, print what the agent says, and return the events."""
    events = [
        event
        async for event in runner.run_async(
            user_id="user",
            session_id="session",
            new_message=types.Content(role="user", parts=list(parts)),
        )
    ]
    for event in events:
        for part in (event.content.parts if event.content else None) or ():
            if part.text:
                print(f"[{event.author}]: {part.text}")  # noqa: T201
    return events


async def main() -> None:
    """Order two reports, talk on, then send them in reverse."""
    runner = InMemoryRunner(app=app)
    await runner.session_service.create_session(
        app_name=runner.app_name, user_id="user", session_id="session"
    )
    events = await say(runner, types.Part(text="Reports on bees and whales, please."))
    calls = [call for event in events for call in event.get_function_calls()]
    await say(runner, types.Part(text="Have they come?"))
    await say(
        runner,
        *(
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id,
                    name=call.name,
                    response={"result": f"{len((call.args or {})['topic'])} pages"},
                )
            )
            for call in reversed(calls)
        ),
    )
    await runner.close()


if __name__ == "__main__":
    asyncio.run(main())
