# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of ADK's own commands, each a real process (row 10)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

import adk_history_guard
from adk_history_guard.testing import RandomModel, StrictGemini
from adk_history_guard.testing import call as emulated
from tests.builders import dumped, response, user
from tests.conformance.stage import expect, must, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.stage import Stage

PLUGIN = "adk_history_guard.HistoryGuardPlugin"
START_SECONDS = 60
AGENT = """
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.models.google_llm import Gemini
    from google.adk.tools import LongRunningFunctionTool


    class Fresh(Gemini):
        '''Makes a part of its own for each response, without the provider's id.'''

        async def generate_content_async(self, llm_request, stream=False):
            async for said in super().generate_content_async(llm_request, stream):
                made = said.model_copy(deep=True)
                for part in (made.content.parts or ()) if made.content else ():
                    if part.function_call:
                        part.function_call.id = None
                yield made


    def look(n: int) -> dict:
        '''Look something up.'''
        return {{"n": n}}


    def find(n: int) -> dict:
        '''Find something.'''
        return {{"n": n}}


    def job(n: int) -> dict:
        '''Start something that takes long.'''
        return {{"status": "pending"}}


    root_agent = LlmAgent(
        name="root",
        model={model}(model="gemini-3.5-flash"),
        tools=[look, find, LongRunningFunctionTool(job)],
    )
    app = App(name="{name}", root_agent=root_agent, plugins=[{plugin}])
"""


def agents(folder: Path, *, plugin: bool = False) -> Path:
    """Write the agents `plain` and `fresh`, and return their folder."""
    plugin_code = "__import__('adk_history_guard').HistoryGuardPlugin()"
    for name, model in (("plain", "Gemini"), ("fresh", "Fresh")):
        home = folder / "agents" / name
        home.mkdir(parents=True, exist_ok=True)
        (home / "__init__.py").write_text("from . import agent\n")
        code = textwrap.dedent(AGENT).format(
            model=model, name=name, plugin=plugin_code if plugin else ""
        )
        (home / "agent.py").write_text(code)
    return folder / "agents"


def environment(server: StrictGemini) -> dict[str, str]:
    """Return the environment of a process whose Gemini is the emulator."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GOOGLE_")}
    home = str(Path(adk_history_guard.__file__).parent.parent)
    return {
        **kept,
        "GOOGLE_API_KEY": "no-key",
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": home,
        "PYTHONWARNINGS": "ignore",
    }


@contextlib.contextmanager
def served(
    stage: Stage, server: StrictGemini, command: str = "api_server"
) -> Iterator[httpx.Client]:
    """Serve the agents over HTTP by one of ADK's commands, as its own process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = agents(stage.folder)
    arguments = [command, "--port", str(port), "--session_service_uri", stage.store]
    if stage.guard:
        arguments += ["--extra_plugins", PLUGIN]
    log = (stage.folder / "served.log").open("ab")
    process = subprocess.Popen(
        [sys.executable, "-m", "google.adk.cli", *arguments, str(folder)],
        env=environment(server),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            _wait(client, process)
            yield client
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(httpx.TransportError):
            if client.get("/list-apps").is_success:
                return
        time.sleep(0.1)
    message = f"the server did not start (exit code {process.poll()})"
    raise RuntimeError(message)


def run_sse(
    client: httpx.Client, app: str, message: Any, session: str = "s"
) -> list[dict[str, Any]]:
    """Post a message to `/run_sse` with streaming, and return the events."""
    if isinstance(message, str):
        message = user(message)
    client.post(f"/apps/{app}/users/u/sessions/{session}", json={})
    (said,) = dumped([message])
    body = {
        "appName": app,
        "userId": "u",
        "sessionId": session,
        "newMessage": said,
        "streaming": True,
    }
    answer = client.post("/run_sse", json=body)
    answer.raise_for_status()
    lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
    made = [json.loads(line.removeprefix("data: ")) for line in lines]
    errors = [e["error"] for e in made if "error" in e]
    if errors:
        raise RuntimeError(errors[0])
    return made


def called(made: list[dict[str, Any]], *, partial: bool) -> list[dict[str, Any]]:
    """Return the calls of the partial events, or of the final ones."""
    return [
        part["functionCall"]
        for found in made
        if bool(found.get("partial")) is partial
        for part in (found.get("content") or {}).get("parts") or ()
        if "functionCall" in part
    ]


@scenario(
    10,
    "`adk api_server --extra_plugins`, then `adk web` on the same SQLite store: ids "
    "repeat; a job is answered over `/run_sse` with the id of a partial event",
    heavy=True,
)
async def commands_that_serve(stage: Stage) -> list[str]:
    repeating = RandomModel(3, ["look", "find"], id_pool=8, first=100)
    jobs = [emulated("job", {"n": n}) for n in (1, 2)]
    with StrictGemini() as server:
        with served(stage, server) as client:
            server.play([jobs, "started"])
            made = run_sse(client, "fresh", "go")
            shown = called(made, partial=True)
            server.play(repeating)
            for _ in range(4):
                run_sse(client, "plain", "go")
        with served(stage, server, "web") as client:
            for _ in range(2):
                run_sse(client, "plain", "go")
            server.play("done")
            for asked in reversed(shown):
                n = asked["args"]["n"]
                run_sse(client, "fresh", user(response("job", id=asked["id"], n=n)))
            run_sse(client, "fresh", "go on")
        found = server.answers()
        return (
            server.problems
            + expect([1, 2], [asked["args"]["n"] for asked in shown], "partial calls")
            + found.misplaced([1, 2])
        )


@scenario(10, "`adk run --replay` of an app with the plugin, ids repeat", heavy=True)
async def command_that_runs(stage: Stage) -> list[str]:
    model = RandomModel(3, ["look", "find"], id_pool=8)
    folder = agents(stage.folder, plugin=stage.guard)
    replay = stage.folder / "replay.json"
    replay.write_text(json.dumps({"state": {}, "queries": ["go"] * 6}))
    options = ["--replay", str(replay), "--session_service_uri", "memory://"]
    options.append(str(folder / "plain"))
    with StrictGemini(model) as server:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "google.adk.cli", "run", *options],
            env=environment(server),
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        asked = len([r for r in server.requests if r.status == 200])
        return server.problems + must(asked >= 6, done.stderr[-150:] or "it answered")
