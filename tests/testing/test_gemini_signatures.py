# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Thought signatures: G14 to G17, G21 to G23 of the contract."""

from __future__ import annotations

import base64

import httpx
import pytest

from adk_history_guard.testing import StrictGemini, call, text

pytestmark = pytest.mark.once

URL = "/v1beta/models/{model}:generateContent"
VERTEX = "/v1beta1/publishers/google/models/{model}:generateContent"
ASK = {"role": "user", "parts": [{"text": "go"}]}


def ask(server, contents, model="gemini-3.5-flash", url=URL):
    """Send contents."""
    path = url.format(model=model)
    return httpx.post(server.url + path, json={"contents": contents})


def turn(server, contents, **kwargs):
    """Send contents and return the model's turn."""
    return ask(server, contents, **kwargs).json()["candidates"][0]["content"]


def answer(content):
    """Answer every call of a turn."""
    calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
    parts = [
        {"functionResponse": {"name": c["name"], "response": {"n": c["args"]["n"]}}}
        for c in calls
    ]
    return {"role": "user", "parts": parts}


@pytest.fixture
def server():
    """A model that takes two steps: two calls, then one."""
    two = [call("look", {"n": 1}), call("see", {"n": 2})]
    with StrictGemini([two, call("look", {"n": 3})]) as server:
        yield server


def test_the_first_call_of_each_step_is_signed(server):
    """A parallel turn signs its first call alone, the next step signs its own."""
    first = turn(server, [ASK])
    signed = ["thoughtSignature" in part for part in first["parts"]]
    assert signed == [True, False]
    second = turn(server, [ASK, first, answer(first)])
    assert "thoughtSignature" in second["parts"][0]
    turn(server, [ASK, first, answer(first), second, answer(second)])
    assert server.problems == []


def test_older_models_sign_nothing(server):
    """Gemini 2 neither gives nor demands signatures."""
    first = turn(server, [ASK], model="gemini-2.5-flash")
    assert not any("thoughtSignature" in part for part in first["parts"])
    turn(server, [ASK, first, answer(first)], model="gemini-2.5-flash")
    assert server.problems == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param(
            URL,
            "Function call is missing a thought_signature in functionCall parts. This "
            "is required for tools to work correctly, and missing thought_signature "
            "may lead to degraded model performance. Additional data, function call "
            "`default_api:look` , position 2.",
            id="gemini-api",
        ),
        pytest.param(
            VERTEX,
            "Unable to submit request because function call `default_api:look` in the "
            "2. content block is missing a `thought_signature`.",
            id="vertex",
        ),
    ],
)
def test_a_missing_signature_is_named(server, url, words):
    """The first call of a step without its signature is a 400 that names it."""
    first = turn(server, [ASK])
    del first["parts"][0]["thoughtSignature"]
    response = ask(server, [ASK, first, answer(first)], url=url)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


def test_earlier_turns_are_not_validated(server):
    """A signature that is missing or altered before the current turn is no breach."""
    first = turn(server, [ASK])
    del first["parts"][0]["thoughtSignature"]
    first["parts"][1]["thoughtSignature"] = "AAAA"
    ask(server, [ASK, first, answer(first), ASK])
    assert server.problems == []


@pytest.mark.parametrize(
    "placeholder",
    [b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"],
)
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_placeholders_pass(server, placeholder, encode):
    """The documented dummy strings stand for a signature, in either base64."""
    first = turn(server, [ASK])
    first["parts"][0]["thoughtSignature"] = encode(placeholder).decode()
    ask(server, [ASK, first, answer(first)])
    assert server.problems == []


def corrupt(first):
    """Change the end of the signature."""
    signature = first["parts"][0]["thoughtSignature"]
    first["parts"][0]["thoughtSignature"] = signature[:-4] + "AAAA"


def move(first):
    """Put the signature on the second call as well."""
    first["parts"][1]["thoughtSignature"] = first["parts"][0]["thoughtSignature"]


def change(first):
    """Change the arguments of the signed call."""
    first["parts"][0]["functionCall"]["args"] = {"n": 99}


def foreign(first):
    """Put another model's signature in its place."""
    first["parts"][0]["thoughtSignature"] = base64.b64encode(b"claude").decode()


def raw(first):
    """Put text in its place that is no base64."""
    first["parts"][0]["thoughtSignature"] = "no base64!"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(corrupt, "Corrupted thought signature.", id="altered"),
        pytest.param(move, "Corrupted thought signature.", id="moved"),
        pytest.param(change, "Corrupted thought signature.", id="call-changed"),
        pytest.param(foreign, "Thought signature is not valid.", id="foreign"),
        pytest.param(raw, "Base64 decoding failed", id="no-base64"),
    ],
)
def test_a_signature_out_of_its_part_is_refused(server, fault, words):
    """A signature comes back in the part it was issued for, byte for byte."""
    first = turn(server, [ASK])
    fault(first)
    response = ask(server, [ASK, first, answer(first)])
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


def test_history_is_compared_on_demand():
    """With signatures='history', an altered signature of an earlier turn shows."""
    with StrictGemini([call("look", {"n": 1})], signatures="history") as server:
        first = turn(server, [ASK])
        corrupt(first)
        ask(server, [ASK, first, answer(first), ASK])
        assert [p.split()[1] for p in server.problems] == ["G17"]


def test_signatures_can_be_off():
    """With signatures='off', neither missing nor foreign ones are a breach."""
    with StrictGemini([call("look", {"n": 1})], signatures="off") as server:
        first = turn(server, [ASK])
        foreign(first)
        ask(server, [ASK, first, answer(first)])
        del first["parts"][0]["thoughtSignature"]
        ask(server, [ASK, first, answer(first)])
        assert server.problems == []


def test_a_reply_decides_about_its_signatures():
    """Parts may be signed, unsigned or carry a signature of the test's own."""
    reply = [
        text("hm", signature=True),
        call("look", signature=False),
        call("see", signature="mine"),
    ]
    with StrictGemini([reply]) as server:
        parts = turn(server, [ASK])["parts"]
    assert "thoughtSignature" in parts[0]
    assert "thoughtSignature" not in parts[1]
    assert base64.b64decode(parts[2]["thoughtSignature"]) == b"mine"


def test_signed_text_may_be_joined(server):
    """A text's signature is known on any text, and is corrupt on a call."""
    server.play([text("a b c", signature=True)])
    said = turn(server, [ASK])
    signature = said["parts"][0]["thoughtSignature"]
    joined = {
        "role": "model",
        "parts": [{"text": "a b", "thoughtSignature": signature}],
    }
    ask(server, [ASK, joined, {"role": "user", "parts": [{"text": "and"}]}])
    assert server.problems == []
