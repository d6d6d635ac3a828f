# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What every emulator shares: starting, stopping, recording, scripts that fail."""

from __future__ import annotations

import ast
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from adk_history_guard import testing
from adk_history_guard.testing import (
    RandomModel,
    StrictAnthropic,
    StrictGateway,
    StrictGemini,
    StrictMistral,
    StrictOpenAI,
    call,
    failure,
    finish,
)

pytestmark = pytest.mark.once

GEMINI = "/v1beta/models/gemini-3.5-flash:generateContent"
ASK = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
ALL = [StrictGemini, StrictOpenAI, StrictGateway, StrictMistral, StrictAnthropic]


def ask(server, body=None):
    """Send a request to the Gemini emulator."""
    return httpx.post(server.url + GEMINI, json=body or ASK)


@pytest.mark.parametrize("emulator", ALL)
def test_a_server_starts_fast_and_leaves_no_thread(emulator):
    """A server is up within a third of a second, and stops without a trace."""
    threads = set(threading.enumerate())
    begin = time.monotonic()
    with emulator() as server:
        assert time.monotonic() - begin < 0.3
        assert httpx.get(server.url).status_code in (404, 405)
    assert set(threading.enumerate()) == threads


async def test_a_server_is_an_asynchronous_context_manager_too():
    """It works inside a running event loop."""
    async with StrictGemini("hello") as server, httpx.AsyncClient() as client:
        response = await client.post(server.url + GEMINI, json=ASK)
    assert response.json()["candidates"][0]["content"]["parts"] == [{"text": "hello"}]


def test_a_stopped_server_says_so():
    """The URL of a server that does not run is an error that names the way out."""
    server = StrictGemini()
    with pytest.raises(RuntimeError, match="StrictGemini is not running; use it in a"):
        _ = server.url
    server.stop()
    assert server.start() is server.start()
    server.stop()
    assert server.start().url
    server.stop()


def test_requests_are_recorded():
    """A record holds the request as it came, the verdict and what was answered."""
    with StrictGemini([call("look", {"n": 1}, id="call_1")]) as server:
        ask(server)
        (record,) = server.requests
    assert (record.index, record.model, record.status) == (0, "gemini-3.5-flash", 200)
    assert not record.stream
    assert record.body == ASK
    assert record.contents == ASK["contents"]
    assert record.problems == []
    assert [(part.name, part.id) for part in record.reply] == [("look", "call_1")]
    assert record.path == GEMINI


def test_requests_from_many_threads_are_all_recorded():
    """Recording is thread-safe and numbers the requests without a gap."""
    with StrictGemini() as server, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ask(server), range(16)))
        assert [record.index for record in server.requests] == list(range(16))


def test_a_failure_is_an_error_of_the_provider():
    """A scripted failure has the provider's status and body, and is no breach."""
    with StrictGemini([failure(429, "Quota exceeded."), "fine"]) as server:
        response = ask(server)
        assert response.status_code == 429
        assert response.json()["error"] == {
            "code": 429,
            "message": "Quota exceeded.",
            "status": "RESOURCE_EXHAUSTED",
        }
        assert ask(server).status_code == 200
        assert server.rejections == []


def test_a_fault_of_the_script_reaches_the_client():
    """An exception in a script is a 422, which no client retries, with its text."""

    def broken(contents):
        raise KeyError(len(contents))

    with StrictGemini([broken]) as server:
        response = ask(server)
        assert response.status_code == 422
        assert "the emulator's script raised KeyError(1)" in response.text


def test_a_reply_may_end_for_another_reason():
    """A script may end a reply as the provider does when something is wrong."""
    with StrictGemini([[finish("MALFORMED_FUNCTION_CALL")]]) as server:
        candidate = ask(server).json()["candidates"][0]
    assert candidate["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert "parts" not in candidate["content"]


def test_what_is_no_json_is_not_found():
    """A body that is no JSON object is refused and not recorded."""
    with StrictGemini() as server:
        assert httpx.post(server.url + GEMINI, content=b"{").status_code == 404
        assert httpx.post(server.url + GEMINI, json=[]).status_code == 404
        assert server.requests == []


@pytest.mark.parametrize("stream", [False, True])
def test_one_seed_gives_the_same_bytes_on_every_port(stream):
    """Nothing in an answer depends on the port, the time or the process."""
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    path = f"/v1beta/models/gemini-3.5-flash:{verb}"

    def play():
        with StrictGemini(RandomModel(7, {"look": {"city": "str"}})) as server:
            return [httpx.post(server.url + path, json=ASK).text for _ in range(4)]

    assert play() == play()


def test_the_door_opens_to_every_name():
    """Every public name is there, and a wrong one is an AttributeError."""
    assert sorted(testing.__all__) == testing.__all__
    assert all(getattr(testing, name) for name in testing.__all__)
    assert set(testing.__all__) <= set(dir(testing))
    with pytest.raises(AttributeError, match="has no attribute 'StrictBard'"):
        _ = testing.StrictBard


def test_the_judges_know_nothing_of_the_guard():
    """No emulator imports the guard's own rules, so neither can hide a mistake."""
    for path in Path(testing.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                assert "core" not in (node.module or ""), path
