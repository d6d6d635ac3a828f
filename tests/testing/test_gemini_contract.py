# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - one case a line
"""Every rule of the Gemini contract: a breach is refused, a near-miss passes."""

from __future__ import annotations

import httpx
import pytest

from adk_history_guard.testing import StrictGemini

pytestmark = pytest.mark.once

BARE = "Request contains an invalid argument."
COUNT = "number of function response parts is equal to the number of function call"
CALL_TURN = "function call turn comes immediately after a user turn or after a"
RESPONSE_TURN = "function response turn comes immediately after a function call turn"
GEMINI = "/v1beta/models/gemini-2.5-flash:generateContent"
GEMINI_3 = "/v1beta/models/gemini-3.5-flash:generateContent"
VERTEX = (
    "/v1beta1/projects/p/locations/l/publishers/google/models/"
    "gemini-2.5-flash:generateContent"
)
VERTEX_3 = VERTEX.replace("2.5", "3.5")
SKIP = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
MISSING = object()


def user(*parts, role="user"):
    """A content of the user; texts become parts."""
    parts = [{"text": part} if isinstance(part, str) else part for part in parts]
    content = {"role": role, "parts": parts}
    if role is MISSING:
        del content["role"]
    return content


def model(*parts):
    """A content of the model."""
    return user(*parts, role="model")


def fc(name="look", id_=None, **more):
    """A function call part."""
    inner = {"name": name, "args": {"n": 1}, **more}
    return {"functionCall": inner | ({"id": id_} if id_ else {})}


def fr(name="look", id_=None, **more):
    """A function response part."""
    inner = {"name": name, "response": {"n": 1}, **more}
    return {"functionResponse": inner | ({"id": id_} if id_ else {})}


def media(mime="image/png", name="a.png"):
    """A media part."""
    return {"inlineData": {"mimeType": mime, "data": "iVBORw==", "displayName": name}}


ASK = user("go")
CALL = model(fc())
ANSWER = user(fr())


@pytest.fixture(scope="module")
def server():
    """One server for all cases: they do not meet."""
    with StrictGemini() as server:
        yield server


@pytest.fixture
def post(server):
    """Post contents to a path of the server."""

    def post(path, contents, **body):
        return httpx.post(server.url + path, json={"contents": contents, **body})

    return post


BREACHES = [
    pytest.param(("G1", GEMINI, [user("go", role="function")], "use a valid role"), id="role"),
    pytest.param(("G1", VERTEX, [user("go", role=MISSING)], "use a valid role"), id="no-role-vertex"),
    pytest.param(("G2", GEMINI, [], "contents is not specified"), id="no-contents"),
    pytest.param(("G2", GEMINI, [ASK, user()], "contents[1].parts: contents.parts must not be empty"), id="no-parts"),
    pytest.param(("G2", VERTEX, [ASK, user()], "must include at least one parts field"), id="no-parts-vertex"),
    pytest.param(("G3", GEMINI, [user({})], "contents[0].parts[0].data: required oneof field 'data'"), id="no-data"),
    pytest.param(("G3", GEMINI, [user({"thoughtSignature": SKIP})], "required oneof field 'data'"), id="signature-alone"),
    pytest.param(("G3", GEMINI, [user({"text": "a", **media()})], "oneof field 'data' is already set"), id="two-data"),
    pytest.param(("G4", GEMINI, [user("")], "required oneof field 'data'"), id="empty-text"),
    pytest.param(("G4", VERTEX, [user("")], "has an empty text parameter"), id="empty-text-vertex"),
    pytest.param(("G5", GEMINI, [ASK, model(fc(), fc("see")), ANSWER], COUNT), id="too-few"),
    pytest.param(("G5", GEMINI, [ASK, CALL, user(fr(), fr())], COUNT), id="too-many"),
    pytest.param(("G5", GEMINI, [ASK, CALL, user("late")], COUNT), id="unanswered"),
    pytest.param(("G5", GEMINI, [ASK, model(fc(), fc("see")), user(fr()), user(fr("see"))], COUNT), id="split"),
    pytest.param(("G6", GEMINI, [ASK, model(fc(id_="a")), user(fr(id_="b"))], BARE), id="other-id"),
    pytest.param(("G6", GEMINI, [ASK, model(fc(id_="a")), ANSWER], BARE), id="id-on-the-call-only"),
    pytest.param(("G6", GEMINI, [ASK, CALL, user(fr(id_="a"))], BARE), id="id-on-the-response-only"),
    pytest.param(("G7", GEMINI, [ASK, CALL, user(fr("see"))], BARE), id="other-name"),
    pytest.param(("G7", GEMINI, [ASK, model(fc(id_="a"), fc("see", id_="b")), user(fr("see", id_="a"), fr("look", id_="b"))], BARE), id="swapped-ids"),
    pytest.param(("G7", GEMINI, [ASK, model(fc(), fc("see")), user(fr("see"), fr())], BARE), id="other-order-without-ids"),
    pytest.param(("G8", GEMINI, [ASK, model(fc(id_="a"), fc(id_="a")), user(fr(id_="a"), fr(id_="a"))], BARE), id="id-twice-in-turn"),
    pytest.param(("G8", GEMINI, [ASK, model(fc(id_="a"), fc()), user(fr(id_="a"), fr())], BARE), id="some-ids"),
    pytest.param(("G9", GEMINI, [ASK, model("x"), CALL, ANSWER], CALL_TURN), id="call-after-model"),
    pytest.param(("G9", GEMINI, [CALL, ANSWER], CALL_TURN), id="call-first"),
    pytest.param(("G9", GEMINI, [user(fc()), ANSWER], CALL_TURN), id="call-of-the-user"),
    pytest.param(("G10", GEMINI, [ASK, ANSWER], RESPONSE_TURN), id="orphan"),
    pytest.param(("G10", GEMINI, [ANSWER], RESPONSE_TURN), id="response-first"),
    pytest.param(("G10", GEMINI, [ASK, CALL, model(fr()), ASK], RESPONSE_TURN), id="response-of-the-model"),
    pytest.param(("G12", GEMINI, [ASK, model(fc(), fr(), fc(), fr()), user(fr(), fr())], RESPONSE_TURN), id="interleaved"),
    pytest.param(("G25", GEMINI, [ASK, CALL, user(fr(parts=[media()]))], 'Unknown name "parts"'), id="nested-media-on-2.5"),
    pytest.param(("G25", GEMINI_3, [ASK, model(fc() | {"thoughtSignature": SKIP}), user(fr(parts=[media("video/mp4")]))], BARE), id="nested-type"),
    pytest.param(("G25", GEMINI_3, [ASK, model(fc() | {"thoughtSignature": SKIP}), user(fr(parts=[media(), media()]))], BARE), id="nested-name"),
    pytest.param(("G27", GEMINI_3, [ASK, model(fc() | {"thoughtSignature": SKIP}), user(fr(), "and?")], BARE), id="text-beside"),
    pytest.param(("G27", VERTEX_3, [ASK, model(fc() | {"thoughtSignature": SKIP}), user(fr(), media())], "Requests ending with a model turn"), id="media-beside-vertex"),
    pytest.param(("G28", GEMINI, [ASK, CALL, user(fr(""))], "function_response.name: Name cannot be empty"), id="no-name"),
    pytest.param(("G28", GEMINI, [ASK, model(fc("1 look")), user(fr("1 look"))], "Invalid function name"), id="bad-name"),
    pytest.param(("G28", GEMINI, [ASK, model(fc("x" * 65)), user(fr("x" * 65))], "Invalid function name"), id="long-name"),
    pytest.param(("G29", GEMINI, [ASK, CALL, user(fr(response="ok"))], "google.protobuf.Struct"), id="response-text"),
    pytest.param(("G29", GEMINI, [ASK, model(fc(args=[1])), ANSWER], "google.protobuf.Struct"), id="args-list"),
    pytest.param(("G30", GEMINI, [ASK, model(fc(willContinue=True)), ANSWER], 'Unknown name "willContinue"'), id="call-continues"),
    pytest.param(("G30", GEMINI, [ASK, CALL, user(fr(scheduling="SILENT"))], 'Unknown name "scheduling"'), id="scheduling"),
    pytest.param(("G31", GEMINI, [ASK, model("x")], "ends with a user role or a function response"), id="model-last"),
    pytest.param(("G31", GEMINI_3, [ASK, model("x")], "Requests ending with a model turn"), id="model-last-3"),
    pytest.param(("G33", GEMINI, [model("hello"), ASK], "alternate between user and model"), id="model-first"),
]  # fmt: skip


@pytest.mark.parametrize("case", BREACHES)
def test_breach_is_refused_in_the_providers_words(server, post, case):
    """A breach of a rule is a 400 with the API's own text, and is recorded."""
    rule, path, contents, words = case
    response = post(path, contents)
    error = response.json()["error"]
    assert response.status_code == error["code"] == 400
    assert error["status"] == "INVALID_ARGUMENT"
    assert words in error["message"]
    recorded = server.requests[-1]
    assert recorded.status == 400
    assert rule in {problem.split()[0] for problem in recorded.problems}
    assert recorded == server.rejections[-1]


NEAR_MISSES = [
    pytest.param(GEMINI, [user("go", role=MISSING)], id="no-role"),
    pytest.param(GEMINI, [ASK, user("and")], id="two-user-turns"),
    pytest.param(GEMINI, [ASK, model("x"), model("y"), ASK], id="two-model-turns"),
    pytest.param(GEMINI, [ASK, CALL, ANSWER], id="no-ids"),
    pytest.param(GEMINI, [ASK, model("x", fc()), ANSWER], id="text-before-call"),
    pytest.param(GEMINI, [ASK, CALL, ANSWER, CALL, ANSWER, ASK], id="two-steps"),
    pytest.param(GEMINI, [ASK, model(fc(id_="a"), fc("see", id_="b")), user(fr("see", id_="b"), fr(id_="a"))], id="other-order-with-ids"),
    pytest.param(GEMINI, [ASK, model(fc(id_="a")), user(fr(id_="a")), model(fc(id_="a")), user(fr(id_="a"))], id="id-in-two-turns"),
    pytest.param(GEMINI, [ASK, CALL, user(fr(), "and?")], id="text-beside-on-2.5"),
    pytest.param(GEMINI, [user({"text": "", "thoughtSignature": SKIP})], id="signed-empty-text"),
    pytest.param(GEMINI, [user("go", media())], id="media"),
    pytest.param(GEMINI, [ASK, model({"executableCode": {"code": "1"}}), ASK], id="code"),
    pytest.param(GEMINI, [ASK, model({"toolCall": {"id": "1"}}, {"toolResponse": {"id": "1"}}), ASK], id="server-side-tool"),
    pytest.param(GEMINI, [ASK, model(fc("_a.b:c-d")), user(fr("_a.b:c-d"))], id="odd-name"),
    pytest.param(GEMINI, [ASK, model({"function_call": {"name": "look"}}), user({"function_response": {"name": "look"}})], id="snake-case"),
    pytest.param(VERTEX, [ASK, model(fc(willContinue=False)), ANSWER], id="call-continues-vertex"),
    pytest.param(GEMINI_3, [ASK, model(fc() | {"thoughtSignature": SKIP}), user(fr(parts=[media(), media(name="b.png")]))], id="nested-media"),
    pytest.param(GEMINI_3, [ASK, CALL, ANSWER, ASK], id="unsigned-earlier-turn"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "contents"), NEAR_MISSES)
def test_near_miss_passes(server, post, path, contents):
    """What looks like a breach and is none gets a reply."""
    response = post(path, contents)
    assert server.requests[-1].problems == []
    assert response.status_code == 200
    assert response.json()["candidates"][0]["finishReason"] == "STOP"


def test_declared_names_and_thinking_are_judged(post):
    """G28 and G35 look at what stands beside the contents."""
    tools = [{"functionDeclarations": [{"name": "2nd"}]}]
    assert "Invalid function name" in post(GEMINI, [ASK], tools=tools).text
    thinking = {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}
    both = post(GEMINI, [ASK], generationConfig=thinking)
    assert "only one of thinking budget and thinking level" in both.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"ids": "unique"}, BARE, id="unique"),
        pytest.param({"ids": "refused"}, 'Unknown name "id"', id="refused"),
        pytest.param({"alternate": True}, "alternate between user and", id="alternate"),
    ],
)
def test_stricter_paths_are_options(options, words):
    """Ids unique in the request, no ids at all, and strict alternation are options."""
    answered = [model(fc(id_="a")), user(fr(id_="a"))]
    contents = [ASK, *answered, *answered, ASK]
    with StrictGemini(**options) as server:
        url = server.url + GEMINI
        error = httpx.post(url, json={"contents": contents}).json()["error"]
        assert words in error["message"]


def test_a_breach_can_be_answered_with_silence_or_ignored():
    """The breach is recorded, whether the reply is empty or an ordinary one."""
    body = {"contents": [ASK, CALL, ASK]}
    with StrictGemini("fine", on_breach="empty") as server:
        empty = httpx.post(server.url + GEMINI, json=body)
        assert empty.json()["candidates"][0]["content"] == {"role": "model"}
        server.on_breach = "ignore"
        ignored = httpx.post(server.url + GEMINI, json=body)
        parts = ignored.json()["candidates"][0]["content"]["parts"]
        assert parts == [{"text": "fine"}]
        assert [r.status for r in server.rejections] == [200, 200]


def test_other_methods_are_not_found():
    """A method that is not emulated is a 404 in the API's words, and not recorded."""
    with StrictGemini() as server:
        response = httpx.post(
            f"{server.url}/v1beta/models/gemini-2.5-flash:countTokens", json={}
        )
        assert response.status_code == 404
        assert response.json()["error"]["status"] == "NOT_FOUND"
        assert server.requests == []
