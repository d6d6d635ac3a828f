# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guarded model: its own class in all that ADK asks, and the last gate."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google.adk.models import BaseLlm, Gemini, LLMRegistry, LlmRequest
from pydantic import PrivateAttr

from adk_history_guard import (
    ConfigurationError,
    GuardedGemini,
    GuardOptions,
    HistoryGuardError,
    InvalidHistoryError,
    guard_model,
)
from adk_history_guard.testing import StrictGemini
from tests.agents import Scripted, final, make_runner, partial, say
from tests.builders import call, dumped, model, response, user
from tests.judge import faults

BROKEN = [user("one"), model(call("look", id="c1", n=1)), user("two")]


class Odd(Scripted):
    """A model with fields, private state and connections of its own."""

    temperature: float = 0.5
    _secret: list[int] = PrivateAttr(default_factory=lambda: [1])

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return a pattern of its own."""
        return [r"odd-.*"]

    def connect(self, llm_request: LlmRequest) -> Any:
        """Return what it was asked for."""
        return ("connected", llm_request)

    def shout(self) -> str:
        """Return its name in capitals."""
        return self.model.upper()


def classes() -> list[type[BaseLlm]]:
    """Return the model classes that ADK asks `isinstance` of."""
    from google.adk.models.anthropic_llm import AnthropicLlm, Claude
    from google.adk.models.lite_llm import LiteLlm

    return [Gemini, LiteLlm, AnthropicLlm, Claude, Odd]


@pytest.mark.trap("wrapper-hides-the-class")
@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_guarded_model_is_an_instance_of_its_own_class(cls):
    """ADK chooses by `isinstance` how it treats ids; the class is made once."""
    plain = cls(model="gemini-3.5-flash")

    guarded = guard_model(plain)

    assert isinstance(guarded, cls)
    assert type(guarded) is type(guard_model(cls(model="other")))
    assert type(guarded).__name__ == f"Guarded{cls.__name__}"
    assert type(plain) is cls
    assert guarded.model_dump(exclude={"seen", "replies"}) == plain.model_dump(
        exclude={"seen", "replies"}
    )
    assert type(guarded).supported_models() == cls.supported_models()


def test_fields_private_state_and_methods_are_those_of_the_model():
    """What a class brings along works as before, `connect` included."""
    plain = Odd(model="odd-1", temperature=0.25)
    plain._secret = [7]
    request = LlmRequest(contents=[user("hi")])

    guarded = guard_model(plain)

    assert (guarded.model, guarded.temperature, guarded._secret) == ("odd-1", 0.25, [7])
    assert guarded.connect(request) == ("connected", request)
    assert guarded.shout() == "ODD-1"


def test_capabilities_are_those_of_the_model():
    """Every public property of ADK's `Gemini` answers as on the plain one."""
    plain = Gemini(model="gemini-3.5-flash")
    guarded = guard_model(plain)
    names = [
        name
        for name in dir(Gemini)
        if isinstance(getattr(Gemini, name, None), property)
        and not name.startswith("_")
    ]

    for name in names:
        if name == "model_fields_set" or "client" in name:
            continue
        assert getattr(guarded, name) == getattr(plain, name), name


def test_fields_can_be_assigned_and_copies_are_guarded_too():
    """Pydantic's copies and `copy.deepcopy` keep class, fields and knobs."""
    guarded = guard_model(Odd(model="odd-1"), mode="observe")
    guarded.model = "odd-2"

    for other in (
        copy.copy(guarded),
        copy.deepcopy(guarded),
        guarded.model_copy(deep=True),
    ):
        assert type(other) is type(guarded)
        assert other.model == "odd-2"
        assert other._guard_options.mode == "observe"
        assert other._secret == [1]


def test_guarding_twice_wraps_once_and_takes_the_new_knobs():
    """A guarded model that is guarded again has one guard, with the new knobs."""
    once = guard_model(Odd(model="odd-1"), mode="strict")

    twice = guard_model(once, mode="observe")

    assert type(twice) is type(once)
    assert (once._guard_options.mode, twice._guard_options.mode) == (
        "strict",
        "observe",
    )


def test_a_name_becomes_the_registered_class():
    """`guard_model("gemini-...")` is what ADK's registry makes of the name."""
    guarded = guard_model("gemini-3.5-flash")

    assert isinstance(guarded, LLMRegistry.resolve("gemini-3.5-flash"))
    assert guarded.model == "gemini-3.5-flash"


def test_ready_made_class_reads_the_environment(monkeypatch):
    """`GuardedGemini` needs no code for its knobs."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_MODE", "strict")

    guarded = GuardedGemini(model="gemini-3.5-flash")

    assert isinstance(guarded, Gemini)
    assert guarded._guard_options.mode == "strict"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: guard_model(3), "a model's name or a BaseLlm, not int"),
        (lambda: guard_model(Odd(), mode="off"), "'repair', 'observe', 'strict'"),
        (lambda: guard_model(Odd(), moode="strict"), "mode"),
        (lambda: guard_model(Odd(), profile="gemini-9"), "gemini-3"),
    ],
)
def test_a_wrong_argument_says_what_is_allowed(make, words):
    """Names and values that are not known are refused with the way out."""
    with pytest.raises(ConfigurationError) as caught:
        make()

    assert words in str(caught.value)
    assert isinstance(caught.value, HistoryGuardError)


async def drained(
    guarded: BaseLlm, request: LlmRequest, *, stream: bool = False
) -> list[Any]:
    """Return all responses to a request."""
    return [r async for r in guarded.generate_content_async(request, stream)]


async def test_broken_request_is_mended_on_its_way():
    """The inner model receives a whole request; the one handed in stays as it was."""
    llm = Scripted()
    request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))
    before = dumped(request.contents)

    await drained(guard_model(llm), request)

    assert faults(llm.seen[0], answered=[], signed=True) == []
    assert dumped(request.contents) == before
    assert request.contents[1] is BROKEN[1]


async def test_request_is_not_left_changed_when_the_call_fails():
    """The error goes on as it is, and the request can be sent again by others."""
    error = RuntimeError("refused")
    request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))
    contents = request.contents

    with pytest.raises(RuntimeError) as caught:
        await drained(guard_model(Scripted(replies=[error])), request)

    assert caught.value is error
    assert request.contents is contents
    assert all(a is b for a, b in zip(contents, BROKEN, strict=True))


async def test_clean_request_goes_on_as_the_same_object():
    """Where nothing is to be done not even the request is copied."""
    seen: list[Any] = []

    class Keeper(Scripted):
        async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002
            seen.append(llm_request)
            yield final("done")

    request = LlmRequest(model="gemini-3.5-flash", contents=[user("hi")])

    await drained(guard_model(Keeper()), request)

    assert seen[0] is request


async def test_early_exit_closes_the_inner_generator():
    """Who stops reading stops the model, at once and not at collection."""
    llm = Scripted(replies=[[partial("one"), partial("two"), final("three")]])
    request = LlmRequest(model="gemini-3.5-flash", contents=[user("hi")])
    answers = guard_model(llm).generate_content_async(request, stream=True)

    async for _ in answers:
        break
    assert llm.closed == []
    await answers.aclose()

    assert llm.closed == [0]


async def test_strict_mode_raises_with_what_is_left():
    """A breach that no repair may mend is an error before the request."""
    llm = Scripted()
    request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))
    guarded = guard_model(llm, mode="strict", unanswered="keep")

    with pytest.raises(InvalidHistoryError) as caught:
        await drained(guarded, request)

    assert [v.code for v in caught.value.violations] == ["HG101"]
    assert llm.seen == []


async def test_observing_changes_neither_request_nor_ids():
    """`mode="observe"` looks on."""
    llm = Scripted(replies=[[call("look", id="c1")]])
    request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))

    [answer] = await drained(guard_model(llm, mode="observe"), request)

    assert dumped(llm.seen[0]) == dumped(BROKEN)
    assert answer.content.parts[0].function_call.id == "c1"


@pytest.mark.trap("interactions")
async def test_interactions_requests_are_left_alone():
    """With a previous interaction the call lives on the server: no orphan here."""
    llm = Scripted(replies=[[call("look", id="c1")]])
    contents = [user(response("look", id="c1", n=1))]
    request = LlmRequest(model="gemini-3.5-flash", contents=contents)
    request.previous_interaction_id = "i-1"

    [answer] = await drained(guard_model(llm), request)

    assert dumped(llm.seen[0]) == dumped(contents)
    assert answer.content.parts[0].function_call.id == "c1"


async def test_a_fault_of_the_guard_does_not_end_the_run(monkeypatch, caplog):
    """In repair mode the request goes on as it was; in strict mode it raises."""
    from adk_history_guard.adk import model as room

    def broken(*args: Any, **kwargs: Any) -> None:
        message = "a bug of ours"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(room, "guard", broken)
    llm = Scripted()
    request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))
    guarded = guard_model(llm)

    await drained(guarded, request)

    assert dumped(llm.seen[0]) == dumped(BROKEN)
    assert guarded._guard_reporter.faults == 1
    assert "ZeroDivisionError" in caplog.text
    with pytest.raises(ZeroDivisionError):
        await drained(guard_model(llm, mode="strict"), request)


async def test_real_gemini_client_is_guarded_over_loopback():
    """ADK's `Gemini` with the guard sends what a strict server takes."""
    with StrictGemini(["done"]) as server:
        guarded = guard_model(server.model())
        request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))

        answers = await drained(guarded, request)

        assert server.problems == []
    assert isinstance(guarded, Gemini)
    assert answers[-1].content.parts[0].text == "done"


async def test_real_gemini_client_without_the_guard_is_refused():
    """The same request is a 400 without it: the test above is worth its place."""
    from google.genai.errors import ClientError

    with StrictGemini(["done"]) as server:
        request = LlmRequest(model="gemini-3.5-flash", contents=list(BROKEN))

        with pytest.raises(ClientError) as caught:
            await drained(server.model(), request)

    assert caught.value.code == 400


@pytest.mark.trap("changes-behind-the-plugin")
async def test_guarded_model_works_inside_a_real_runner_with_other_changes(door):
    """What an agent callback breaks behind the plugin, the last gate mends."""
    from google.adk.agents import LlmAgent

    def tear(callback_context: Any, llm_request: Any) -> None:
        llm_request.contents.insert(1, model(call("look", id="x", n=5)))

    llm = Scripted()
    root = LlmAgent(
        name="root",
        model=llm if door == "plugin" else guard_model(llm),
        before_model_callback=tear,
    )
    runner = make_runner(llm, door="plugin" if door == "plugin" else None, agent=root)

    await say(runner, "hi")

    whole = faults(llm.seen[0], answered=[]) == []
    assert whole is (door == "model")


def test_options_are_taken_whole_and_singly():
    """A `GuardOptions` and single knobs, which win."""
    guarded = guard_model(
        Odd(), GuardOptions(mode="strict", orphans="narrate"), mode="repair"
    )

    assert guarded._guard_options == GuardOptions(mode="repair", orphans="narrate")
