# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of session services (row 9) and of ways to install the guard (10)."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import httpx
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from adk_history_guard import HistoryGuardPlugin
from adk_history_guard.testing import RandomModel, StrictGemini
from tests.agents import Scripted, poison, say, stored
from tests.builders import call, dumped, event, events, response, user
from tests.conformance.neighbours import repeating
from tests.conformance.runs import JOB, calls, find, look  # noqa: F401 - the served agent
from tests.conformance.stage import expect, judged, must, scenario, talk
from tests.judge import written

if TYPE_CHECKING:
    from google.adk.events import Event

    from tests.conformance.stage import Stage

MESSAGES = ("go", "again", "and again", "go on")


class Shared(InMemorySessionService):
    """A service that hands out its own events, as a cache would."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: Any = None

    async def get_session(self, **options: Any) -> Any:
        """Return the same session object each time."""
        if self.kept is None:
            self.kept = await super().get_session(**options)
        return self.kept


class Copies(InMemorySessionService):
    """A service that shares nothing with its caller, as one over a network."""

    async def get_session(self, **options: Any) -> Any:
        """Return a deep copy."""
        found = await super().get_session(**options)
        return None if found is None else found.model_copy(deep=True)

    async def append_event(self, session: Any, event: Event) -> Event:
        """Store a copy and return another one."""
        stored = await super().append_event(session, event.model_copy(deep=True))
        return stored.model_copy(deep=True)


@scenario(9, "The in-memory service, ids repeat")
async def in_memory(stage: Stage) -> list[str]:
    llm = repeating()
    await talk(stage.runner(llm, tools=[look]), *MESSAGES)
    return judged(llm, [1, 2, 3])


@scenario(9, "SQLite, a new process for each run, ids repeat")
async def sqlite(stage: Stage) -> list[str]:
    llm = repeating()
    for message in MESSAGES:
        runner = stage.runner(llm, tools=[look], service=stage.database())
        await say(runner, message)
    return judged(llm, [1, 2, 3])


@scenario(9, "SQLite through `SqliteSessionService`, ids repeat")
async def sqlite_service(stage: Stage) -> list[str]:
    llm = repeating()
    for message in MESSAGES:
        service = SqliteSessionService(str(stage.folder / f"s-{stage.guard}.db"))
        await say(stage.runner(llm, tools=[look], service=service), message)
    return judged(llm, [1, 2, 3])


@scenario(9, "PostgreSQL, a new process for each run, ids repeat")
async def postgresql(stage: Stage) -> list[str]:
    llm = repeating()
    for message in MESSAGES:
        service = stage.database(stage.postgres)
        await say(stage.runner(llm, tools=[look], service=service), message)
    return judged(llm, [1, 2, 3])


@scenario(9, "PostgreSQL, jobs in reverse over restarts, with talk in between")
async def postgresql_jobs(stage: Stage) -> list[str]:
    llm = Scripted(replies=[[call("job", id="j", n=1), call("job", id="j", n=2)]])
    waiting: list[Any] = []
    for step in ("go", "By the way", 2, "hm", 1, "go on"):
        service = stage.database(stage.postgres)
        runner = stage.runner(llm, tools=[JOB], service=service)
        message: Any = step
        if isinstance(step, int):
            done = response("job", id=waiting[step - 1].id, n=step)
            message = user(done)
        waiting += calls(await say(runner, message))
    lost = [w for w in ("By the way", "hm") if w not in written(llm.seen[-1])]
    return judged(llm, [1, 2]) + [f"{words!r} is lost" for words in lost]


@scenario(9, "A service that returns its events as copies, ids repeat")
async def copies(stage: Stage) -> list[str]:
    llm = repeating()
    await talk(stage.runner(llm, tools=[look], service=Copies()), *MESSAGES)
    return judged(llm, [1, 2, 3])


@scenario(9, "A service whose appended event is a copy, job answered late")
async def copies_with_a_job(stage: Stage) -> list[str]:
    llm = Scripted(
        replies=[[call("job", id="j", n=1)], "x", [call("job", id="j", n=2)]]
    )
    runner = stage.runner(llm, tools=[JOB], service=Copies())
    waiting = calls(await talk(runner, "go", "again", "and again"))
    for n in (2, 1):
        await say(runner, user(response("job", id=waiting[n - 1].id, n=n)))
    await say(runner, "go on")
    return judged(llm, [1, 2])


@scenario(9, "A service that hands out its own objects, ids repeat")
async def shared_objects(stage: Stage) -> list[str]:
    llm = repeating()
    await talk(stage.runner(llm, tools=[look], service=Shared()), *MESSAGES)
    return judged(llm, [1, 2, 3])


@scenario(9, "The store keeps a damaged history as it was")
async def store_is_not_written(stage: Stage) -> list[str]:
    llm = Scripted()
    runner = stage.runner(llm, tools=[look])
    history = events(
        event("user", "go"),
        event("root", call("look", id="c", n=1), call("look", id="c", n=2)),
        event("root", response("look", id="c", n=1), response("look", id="c", n=2)),
        event("root", "ok"),
    )
    await poison(runner, history)
    before = dumped(await stored(runner))
    await say(runner, "go on")
    after = dumped((await stored(runner))[: len(before)])
    return expect(before, after, "the stored events")


@scenario(10, "`Runner(plugins=...)`")
async def runner_plugins(stage: Stage) -> list[str]:
    llm = repeating()
    runner = Runner(
        app_name="app",
        agent=LlmAgent(name="root", model=llm, tools=[look]),
        session_service=InMemorySessionService(),
        plugins=[HistoryGuardPlugin()] if stage.guard else [],
    )
    await talk(runner, *MESSAGES)
    return judged(llm, [1, 2, 3])


@scenario(10, "`InMemoryRunner(plugins=...)`")
async def in_memory_runner(stage: Stage) -> list[str]:
    llm = repeating()
    runner = InMemoryRunner(
        agent=LlmAgent(name="root", model=llm, tools=[look]),
        app_name="app",
        plugins=[HistoryGuardPlugin()] if stage.guard else [],
    )
    await talk(runner, *MESSAGES)
    return judged(llm, [1, 2, 3])


AGENT = """
    import sys

    from google.adk.agents import LlmAgent

    served = sys.modules["tests.conformance.services"]
    root_agent = LlmAgent(
        name="root", model=served.MODEL, tools=[served.look, served.find]
    )
"""
MODEL: Any = None


@scenario(10, "`get_fast_api_app(extra_plugins=...)`, `/run_sse`, ids repeat")
async def api_server(stage: Stage) -> list[str]:
    # Its dependencies warn of Python versions that they will not support one day.
    from google.adk.cli.fast_api import get_fast_api_app

    home = stage.folder / f"agents-{stage.guard}" / "shop"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text("from . import agent\n")
    (home / "agent.py").write_text(textwrap.dedent(AGENT))
    sys.modules.pop("shop", None)
    sys.modules.pop("shop.agent", None)
    model = RandomModel(3, ["look", "find"], id_pool=8)
    with StrictGemini(model) as server:
        globals()["MODEL"] = server.model()
        plugins = ["adk_history_guard.HistoryGuardPlugin"] if stage.guard else []
        app = get_fast_api_app(
            agents_dir=str(home.parent), web=False, extra_plugins=plugins
        )
        wire = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=wire, base_url="http://test") as client:
            where = {"appName": "shop", "userId": "u", "sessionId": "s"}
            await client.post("/apps/shop/users/u/sessions/s", json={})
            for _ in range(6):
                said = {"role": "user", "parts": [{"text": "go"}]}
                body = {**where, "newMessage": said, "streaming": True}
                answer = await client.post("/run_sse", json=body)
                answer.raise_for_status()
        return server.problems + must(server.requests, "the model was asked")
