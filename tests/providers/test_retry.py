# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`retry="once"`: one more try under a stricter policy, and never otherwise."""

from __future__ import annotations

import logging

import pytest

from adk_history_guard.testing import StrictGateway, StrictGemini, call, failure
from adk_history_guard.testing.contract import COUNT
from tests.builders import call as call_part
from tests.builders import event, response
from tests.providers.hosts import Host

FOREIGN = [
    event("user", "go"),
    event("root", call_part("look", id="call_1", n=1)),
    event("root", response("look", id="call_1", n=1)),
    event("root", "Seen."),
]
CORRUPTED = "Corrupted thought signature."
MISSING = "Function call is missing a thought_signature in functionCall parts."


async def ask(server, host, *, stream=False, retry="once", **knobs):
    """Send one message through the guarded model."""
    return await host.ask(
        server.model(), "next", door="model", stream=stream, retry=retry, **knobs
    )


def retries(caplog):
    """What was logged of retries."""
    return [
        record.getMessage()
        for record in caplog.records
        if "sent once more" in record.getMessage()
    ]


@pytest.mark.parametrize("misreport", [False, True], ids=["named", "misreported"])
async def test_an_unknown_gateway_is_answered_in_words(misreport, stream, caplog):
    """Nothing tells that this is a gateway until it refuses; then it is told."""
    caplog.set_level(logging.WARNING, logger="adk_history_guard")
    with StrictGateway("fine", misreport=misreport) as server:
        host = Host()
        await host.hold(FOREIGN)
        events = await ask(server, host, stream=stream)

        assert [r.status for r in server.requests] == [400, 200]
        assert events[-1].content.parts[0].text == "fine"
        code = "HG101" if misreport else "HG401"
        told = (
            f"a request to 'openai/gpt-x' was refused ({code}); sent once more under "
            "the policy 'narrate'"
        )
        assert retries(caplog) == [told]


async def test_a_corrupted_signature_is_replaced_by_the_placeholder(stream):
    """The mildest policy that changes something: every signature is distrusted."""
    with StrictGemini([call("look", {"n": 1}), failure(400, CORRUPTED), "fine"]) as s:
        events = await ask(s, Host(), stream=stream)

        sent = [
            request.contents[1]["parts"][0]["thoughtSignature"]
            for request in s.requests[1:]
        ]
        assert len(s.requests) == 3
        assert sent[0] == s.requests[0].reply[0].signature
        assert sent[1] == "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
        assert events[-1].content.parts[0].text == "fine"


async def test_a_placeholder_that_is_refused_is_followed_by_words():
    """Behind the placeholder comes narration: no call is left in the request."""
    with StrictGemini(
        [call("look", {"n": 1}, signature=False), failure(400, MISSING), "fine"]
    ) as s:
        await ask(s, Host())

        kept, told = s.requests[1].contents[1], s.requests[2].contents[1]
        assert "functionCall" in kept["parts"][0]
        assert told["parts"] == [{"text": "[Called tool 'look' with {\"n\": 1}]"}]


async def test_a_count_mismatch_is_followed_by_one_call():
    """Native Gemini that counts signed calls only: the turn is collapsed."""
    turn = [call("look", {"n": 1}), call("see", {"n": 2})]
    with StrictGemini([turn, failure(400, COUNT), "fine"]) as s:
        await ask(s, Host())

        shapes = [
            [sum("functionCall" in p for p in c["parts"]) for c in r.contents]
            for r in s.requests[1:]
        ]
        assert shapes == [[0, 2, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    "refusal",
    [
        failure(400, "Request contains an invalid argument."),
        failure(400, "* GenerateContentRequest.model: unexpected model name format"),
        failure(404, "models/gemini-9 is not found"),
        failure(429, "Resource has been exhausted: thought signature is not valid"),
    ],
    ids=["bare", "model", "missing", "quota"],
)
async def test_other_errors_are_not_answered(refusal):
    """Only signatures and counts are; the error goes on as it came."""
    with StrictGemini([call("look", {"n": 1}), refusal, "fine"]) as server:
        with pytest.raises(Exception, match=refusal.message[:20].replace("*", r"\*")):
            await ask(server, Host())

        assert len(server.requests) == 2


async def test_a_second_rejection_is_not_answered():
    """Once means once."""
    refusal = failure(400, CORRUPTED)
    with StrictGemini([call("look", {"n": 1}), refusal, refusal, "fine"]) as server:
        with pytest.raises(Exception, match="Corrupted"):
            await ask(server, Host())

        assert len(server.requests) == 3


async def test_a_second_rejection_is_reported_with_what_was_sent_second(stream, caplog):
    """The hook gets the request that was refused last; the first one is logged."""
    caplog.set_level(logging.WARNING, logger="adk_history_guard")
    heard: list = []
    script = [
        call("look", {"n": 1}),
        failure(400, CORRUPTED),
        failure(400, "Thought signature is not valid."),
    ]
    with StrictGemini(script) as server, pytest.raises(Exception, match="not valid"):
        await ask(server, Host(), stream=stream, on_rejected=heard.append)

    (rejected,) = heard
    parts = rejected.contents[1].parts
    assert rejected.error.text == "Thought signature is not valid."
    assert [p.thought_signature for p in parts] == [b"skip_thought_signature_validator"]
    assert [(c.code, str(c.action), str(c.place)) for c in rejected.changes] == [
        ("HG403", "drop", "contents[1].parts[0]"),
        ("HG401", "add", "contents[1].parts[0]"),
    ]
    assert retries(caplog) == [
        (
            "a request to 'gemini-3.5-flash' was refused (HG403); sent once more under "
            "the policy 'placeholder_signature'"
        )
    ]


async def test_a_silent_answer_to_the_second_request_is_reported_with_it():
    """What comes with nothing in it after a retry is held against the second one."""
    heard: list = []
    script = [call("look", {"n": 1}), failure(400, CORRUPTED), []]
    with StrictGemini(script) as server:
        await ask(server, Host(), on_rejected=heard.append)

    (rejected,) = heard
    (part,) = rejected.contents[1].parts
    assert (rejected.kind, rejected.error.finish_reason) == ("silent", "STOP")
    assert part.thought_signature == b"skip_thought_signature_validator"
    assert [c.code for c in rejected.changes] == ["HG403", "HG401"]


async def test_a_retry_that_is_taken_is_no_rejection():
    """The caller saw no error: nothing is dumped or handed to the hook."""
    heard: list = []
    with StrictGemini([call("look", {"n": 1}), failure(400, CORRUPTED), "fine"]) as s:
        await ask(s, Host(), on_rejected=heard.append, dump=heard.append)

    assert heard == []


async def test_a_second_rejection_names_the_contract_of_the_second_request():
    """A gateway is known from its first rejection on, and the report says why."""
    heard: list = []
    with StrictGateway([failure(400, MISSING), failure(400, MISSING)]) as server:
        host = Host()
        await host.hold(FOREIGN)
        with pytest.raises(Exception, match="thought_signature"):
            await ask(server, host, on_rejected=heard.append)

    (rejected,) = heard
    assert rejected.profile.name == "gemini-gateway"
    assert rejected.profile_reason == (
        "LiteLlm with 'openai/gpt-x' at an address of its own, "
        "and a rejection for what a Gemini asks (HG401)"
    )


async def test_nothing_is_sent_again_without_the_knob():
    """The default is never."""
    refusal = failure(400, CORRUPTED)
    with StrictGemini([call("look", {"n": 1}), refusal, "fine"]) as server:
        with pytest.raises(Exception, match="Corrupted"):
            await ask(server, Host(), retry="never")

        assert len(server.requests) == 2


async def test_nothing_is_sent_again_after_a_first_chunk():
    """What somebody has seen of an answer is not taken back."""
    from google.adk.models import BaseLlm
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    from adk_history_guard import guard_model
    from tests.builders import model, user

    class Breaks(BaseLlm):
        """Says one word, then is refused."""

        model: str = "gemini-3.5-flash"
        tries: list = []  # noqa: RUF012 - pydantic copies it

        async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002
            self.tries.append(llm_request)
            content = types.Content(role="model", parts=[types.Part(text="I")])
            yield LlmResponse(content=content, partial=True)
            raise Refused(400, CORRUPTED)

    class Refused(Exception):  # noqa: N818 - as a client's error looks
        """An error with a status, as clients raise it."""

        def __init__(self, code, message):
            super().__init__(message)
            self.code, self.message = code, message

    guarded = guard_model(Breaks(), retry="once")
    request = LlmRequest(
        model="gemini-3.5-flash",
        contents=[
            user("go"),
            model(call_part("look", signature=b"sig")),
            user(response("look", n=1)),
        ],
    )
    with pytest.raises(Refused):
        [found async for found in guarded.generate_content_async(request, stream=True)]

    assert len(guarded.tries) == 1
