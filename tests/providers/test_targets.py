# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which contract is chosen for which model, and that it is said once."""

from __future__ import annotations

import logging

import pytest
from google.adk.models import Gemini
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.models.lite_llm import LiteLlm

from adk_history_guard import GuardOptions
from adk_history_guard.adk.ids import Mint
from adk_history_guard.adk.routes import Origin, family_of, is_foreign
from adk_history_guard.adk.targets import origin_of, target_of
from adk_history_guard.core.guard import guard
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.testing import StrictOpenAI
from tests.builders import call, calls_of, model, user
from tests.providers.hosts import Host

pytestmark = pytest.mark.filterwarnings(r"ignore:\[GEMINI_VIA_LITELLM\]")

MARKED = [user("go"), model(call("look", id="c1||thought_signature||c2ln"))]
PLAIN = [user("go"), model(call("look", id="c1"))]
LOCAL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def no_addresses(monkeypatch):
    """Keep addresses of OpenAI's clients out of the environment."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)


def lite(name, base=None):
    """A LiteLlm, with an address of its own or without."""
    given = {} if base is None else {"api_base": base}
    return LiteLlm(model=name, api_key="no-key", **given)


@pytest.mark.parametrize(
    ("cls", "name", "base", "profile", "mint"),
    [
        (Gemini, "gemini-3.5-flash", None, "gemini-3", Mint.ALWAYS),
        (Gemini, "gemini-flash-latest", None, "gemini-3", Mint.ALWAYS),
        (Gemini, "gemini-2.5-pro", None, "gemini-2", Mint.ALWAYS),
        (AnthropicLlm, "claude-sonnet-4", None, "anthropic", Mint.ON_REPEAT),
        (LiteLlm, "openai/gpt-4o", None, "openai-chat", Mint.ON_REPEAT),
        (LiteLlm, "azure/prod", None, "openai-chat", Mint.ON_REPEAT),
        (LiteLlm, "openai/responses/gpt-5", None, "openai-responses", Mint.ON_REPEAT),
        (LiteLlm, "mistral/mistral-large", None, "mistral", Mint.ON_REPEAT),
        (LiteLlm, "anthropic/claude-opus-4", None, "anthropic", Mint.ON_REPEAT),
        (LiteLlm, "bedrock/anthropic.claude-v2", None, "bedrock", Mint.ON_REPEAT),
        (LiteLlm, "gemini/gemini-3-pro", None, "gemini-3", Mint.ON_REPEAT),
        (LiteLlm, "vertex_ai/gemini-2.5-pro", None, "gemini-2", Mint.ON_REPEAT),
        (LiteLlm, "openai/gemini-3-pro", LOCAL, "gemini-gateway", Mint.ON_REPEAT),
        (
            LiteLlm,
            "openrouter/google/gemini-3-pro",
            None,
            "gemini-gateway",
            Mint.ON_REPEAT,
        ),
    ],
)
def test_the_profile_is_read_from_class_name_and_address(
    cls, name, base, profile, mint
):
    """Each model is held to its own provider's contract without any option."""
    made = lite(name, base) if cls is LiteLlm else cls(model=name)

    target = target_of(made, None, GuardOptions(), contents=PLAIN)

    assert (target.profile.name, target.mint) == (profile, mint)


@pytest.mark.parametrize(
    ("name", "base", "profile"),
    [
        ("openai/gpt-x", LOCAL, "gemini-gateway"),
        ("litellm_proxy/prod", None, "gemini-gateway"),
        ("openai/gpt-x", None, "openai-chat"),
        ("openai/gpt-x", "https://api.openai.com/v1", "openai-chat"),
        ("azure/prod", "https://me.openai.azure.com", "openai-chat"),
        ("mistral/mistral-large", LOCAL, "mistral"),
    ],
)
def test_a_marker_tells_a_gateway_where_one_can_stand(name, base, profile):
    """OpenAI's own endpoints are none, whatever ids the history holds."""
    target = target_of(lite(name, base), None, GuardOptions(), contents=MARKED)

    assert target.profile.name == profile


@pytest.mark.parametrize(
    ("name", "base", "data"),
    [
        ("openai/gpt-x", None, False),
        ("azure/prod", "https://me.openai.azure.com", False),
        ("openai/responses/gpt-5", None, False),
        ("openai/gpt-x", LOCAL, True),
        ("openrouter/gpt-x", None, True),
    ],
)
def test_openai_itself_reads_no_signature_in_an_id(name, base, data):
    """An id of a gateway is too long for it, also where nobody is on record for it."""
    target = target_of(lite(name, base), None, GuardOptions(), contents=PLAIN)

    outcome = guard(MARKED, profile=target.profile, options=GuardOptions())

    kept = [said.id for said in calls_of(outcome.contents)]
    assert (kept == ["c1||thought_signature||c2ln"]) is data


def test_a_marker_that_another_model_is_on_record_for_tells_nothing():
    """The gateway wrote it; the model now asked is not the gateway."""
    known = {"c1||thought_signature||c2ln"}

    target = target_of(
        lite("openai/gpt-x", LOCAL),
        None,
        GuardOptions(),
        contents=MARKED,
        foreign_ids=known,
    )

    assert target.profile.name == "openai-chat"


def test_a_profile_set_by_the_user_wins():
    """The option is the last word, and the reason says so."""
    target = target_of(
        lite("openai/gpt-x", LOCAL), None, GuardOptions(profile="mistral")
    )

    assert (target.profile.name, target.reason) == (
        "mistral",
        "set by the option 'profile'",
    )


def test_an_address_in_the_environment_counts(monkeypatch):
    """LiteLLM reads OPENAI_BASE_URL, and so does the choice."""
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)

    target = target_of(lite("openai/gpt-x"), None, GuardOptions(), contents=MARKED)

    assert target.profile.name == "gemini-gateway"


def test_gemini_through_litellm_pairs_by_id():
    """LiteLlm finds the call of a tool message by its id: each must carry one."""
    target = target_of(lite("gemini/gemini-3-pro"), None, GuardOptions())

    assert target.profile.ids.required
    assert not target.profile.nested_media


def test_the_address_is_kept_as_a_digest():
    """A session store learns nothing of hosts and credentials."""
    route = origin_of(lite("openai/gpt-x", "http://key@host:1/v1"), None).route

    assert route.startswith("litellm:openai:")
    assert "key" not in route
    assert "host" not in route


async def test_the_choice_is_logged_once_with_its_reason(caplog):
    """One line a model, however many requests."""
    caplog.set_level(logging.INFO, logger="adk_history_guard")
    with StrictOpenAI("fine") as server:
        await Host().ask(server.model(), "one", "two", "three")

    lines = [r.getMessage() for r in caplog.records if "held to" in r.getMessage()]
    told = (
        "model 'openai/gpt-x' is held to the profile 'openai-chat': LiteLlm with "
        "'openai/gpt-x' at an address of its own"
    )
    assert lines == [told]


@pytest.mark.parametrize(
    ("origin", "target", "foreign"),
    [
        (Origin("gemini-3-pro"), Origin("gemini-3.5-flash", "gemini"), False),
        (Origin("gemini-2.5-pro"), Origin("gemini-3.5-flash", "gemini"), True),
        (Origin("claude-4"), Origin("gemini-3.5-flash", "gemini"), True),
        (Origin("gemini-3-pro", "gemini"), Origin("x/gemini-3-pro", "litellm:x"), True),
        (Origin("gpt-4o-2024", "litellm:a"), Origin("azure/prod", "litellm:a"), False),
        (Origin("gpt-4o-2024"), Origin("azure/prod", "litellm:azure"), None),
        (Origin(), Origin("gemini-3.5-flash", "gemini"), None),
        (Origin("prod"), Origin("openai/prod", "litellm:openai"), False),
        (Origin("gpt-4o"), Origin("my-tuned", "gemini"), True),
        (
            Origin("gemini-3-pro", "litellm:a", "openai/gpt-alias"),
            Origin("openai/gpt-alias", "litellm:a"),
            False,
        ),
    ],
)
def test_a_turn_is_foreign_by_what_is_on_record_of_it(origin, target, foreign):
    """Route first, then the family of the name; None where neither tells."""
    assert is_foreign(origin, target) is foreign


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gemini-3.5-flash", "gemini-3"),
        ("gemini-10-pro", "gemini-3"),
        ("gemini-flash-latest", "gemini-3"),
        ("models/gemini-2.5-flash-lite", "gemini-2"),
        ("gemini-2.0-flash-001", "gemini-2"),
        ("gemini-02-flash", "gemini-2"),
        ("gemini-exp-1206", "gemini-2"),
        ("gemini-live-2.5-flash-preview", "gemini-2"),
    ],
)
def test_the_generation_of_a_gemini_is_judged_once(name, kind):
    """The contract, the family of a signature and an offline file agree."""
    target = target_of(Gemini(model=name), None, GuardOptions())
    offline = load({"model": name, "contents": []})

    assert target.profile.name == kind
    assert family_of(name) == kind
    assert offline.profile.name == kind


def test_capitals_in_a_name_change_neither_contract_nor_route():
    """LiteLlm's prefix is read alike for the contract and for the origin."""
    plain, loud = lite("gemini/gemini-3-pro"), lite("Gemini/gemini-3-pro")

    assert origin_of(plain, None).route == origin_of(loud, None).route == "gemini"
    assert target_of(loud, None, GuardOptions()).profile.name == "gemini-3"
