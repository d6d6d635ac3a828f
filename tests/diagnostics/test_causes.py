# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ISC004 - texts of providers, each in one place
"""From a provider's words to rules: the table, and its ranking."""

from __future__ import annotations

import re

import pytest

from adk_history_guard import PROFILES, RULES
from adk_history_guard.diagnostics.causes import find_clues, rank_causes
from adk_history_guard.diagnostics.clues import CLUES, FINISH_REASONS
from adk_history_guard.diagnostics.failures import SILENT_REASONS, ProviderError
from adk_history_guard.diagnostics.sayings import BY_PROFILE, GEMINI, saying
from adk_history_guard.diagnostics.sources import load
from tests.builders import SIGNATURE, call, model, response, user

pytestmark = pytest.mark.once


def said(text, **fields):
    """Return a provider's error."""
    return ProviderError("ClientError", 400, None, text, **fields)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "Please ensure that the number of function response parts is equal to the "
            "number of function call parts of the function call turn.",
            "HG101",
        ),
        (
            "Please ensure that function call turn comes immediately after a user turn "
            "or after a function response turn.",
            "HG204",
        ),
        (
            "Please ensure that function response turn comes immediately after a "
            "function call turn.",
            "HG102",
        ),
        ("Unable to submit request because it must include at least one parts field, "
         "which describes the prompt input.", "HG201"),
        ("* GenerateContentRequest.contents[1].parts: contents.parts must not be "
         "empty.", "HG201"),
        ("* GenerateContentRequest.contents: contents is not specified", "HG200"),
        ("contents[1].parts[0].data: required oneof field 'data' must have one "
         "initialized field", "HG301"),
        ("it has an empty text parameter. Add a value to the parameter", "HG301"),
        ("Please use a valid role: user, model.", "HG202"),
        ("Function call is missing a thought_signature in functionCall parts.",
         "HG401"),
        ("Thought signature is not valid.", "HG403"),
        ("Corrupted thought signature.", "HG403"),
        ("Requests ending with a model turn are not supported.", "HG206"),
        ("Please ensure that multiturn requests ends with a user role or a function "
         "response.", "HG206"),
        ("Please ensure that multiturn requests alternate between user and model.",
         "HG209"),
        ("function_response.name: Name cannot be empty.", "HG304"),
        ("Invalid function name. Must start with a letter or an underscore.", "HG305"),
        ('Unknown name "willContinue" at \'contents[1]\': Cannot find field.',
         "HG307"),
        ('Unknown name "id" at \'contents[1].parts[0].function_call\'', "HG107"),
        ("An assistant message with 'tool_calls' must be followed by tool messages "
         "responding to each 'tool_call_id'.", "HG101"),
        ("The following tool_call_ids did not have response messages: call_1",
         "HG101"),
        ("No tool output found for function call call_1.", "HG101"),
        ("No tool call found for function call output with call_id call_1.", "HG102"),
        ("messages with role 'tool' must be a response to a preceeding message",
         "HG102"),
        ("messages.1: `tool_use` ids were found without `tool_result` blocks "
         "immediately after: d1.", "HG101"),
        ("unexpected `tool_use_id` found in `tool_result` blocks: x", "HG102"),
        ("messages.3: `tool_use` ids must be unique", "HG501"),
        ("each tool_use must have a single result. Found multiple", "HG103"),
        ("text content blocks must be non-empty", "HG301"),
        ("messages: final assistant content cannot end with trailing whitespace",
         "HG211"),
        ("messages.1.content.0.tool_use.id: String should match pattern "
         "'^[a-zA-Z0-9_-]+$'", "HG504"),
        ("Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string "
         "with maximum length 40", "HG504"),
        ("Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.",
         "HG504"),
        ("Invalid type for 'messages[1].tool_calls[0].id': expected a string, but got "
         "null instead.", "HG505"),
        ("Not the same number of function calls and responses", "HG101"),
        ("Expected last role User or Tool (or Assistant with prefix True)", "HG206"),
        ("Request contains an invalid argument.", "HG106"),
    ],
)  # fmt: skip
def test_a_known_text_leads_to_its_rule(text, code):
    """The first clue to a text of a provider names the likeliest rule."""
    assert find_clues(said(text))[0].codes[0] == code


def test_the_tables_name_rules_that_exist():
    """A misspelt code would silently never be a cause."""
    named = {code for clue in (*CLUES, *FINISH_REASONS.values()) for code in clue.codes}

    assert named <= set(RULES)
    assert set(FINISH_REASONS) == set(SILENT_REASONS)
    assert {code for table in BY_PROFILE.values() for code in table} <= set(RULES)
    assert set(BY_PROFILE) == set(PROFILES)


def test_every_clue_is_lower_case_and_has_a_source():
    """Texts are compared in lower case; a clue without source is a guess."""
    for clue in CLUES:
        assert clue.pattern == re.sub(r"[A-Z]", lambda m: m[0].lower(), clue.pattern)
        assert clue.source


def test_what_gemini_says_is_known_for_its_rules():
    """Each rule says what the provider answers; what is only ours may lack it."""
    assert set(RULES) - set(GEMINI) <= {"HG210", "HG211"}
    assert saying("HG101", "a profile of my own") is None


def test_a_certain_cause_is_broken_and_spoken_of():
    """Causes are ranked: spoken of and broken, broken only, spoken of only."""
    request = load(
        [
            user("q"),
            model(call("look", id="c1", signature=SIGNATURE)),
            model("words"),
            user("more"),
        ],
        "gemini-3",
    )
    error = said("Please use a valid role: user, model.")

    causes = rank_causes(error, request.violations)

    assert [(c.code, c.rank) for c in causes] == [
        ("HG101", "found"),
        ("HG209", "found"),
        ("HG202", "suspected"),
    ]
    assert causes[0].reason == "the provider speaks of something else"
    assert [str(place) for place in causes[0].places] == ["contents[1].parts[0]"]


@pytest.mark.trap("texts-mislead")
def test_the_bare_text_says_that_it_misleads():
    """'Invalid argument' speaks of nothing, and the table says so."""
    (clue,) = find_clues(said("Request contains an invalid argument."))

    assert clue.misleads.startswith("a bare text; a response under another name")


def test_the_body_of_an_error_is_read_as_well():
    """Some clients put the sentence into the body only."""
    error = said("Error code: 400", raw='{"message": "Name cannot be empty."}')

    assert find_clues(error)[0].codes == ("HG304",)


def test_a_broken_pair_with_the_bare_text_is_certain():
    """The report behind the clue: another name than the call's, a bare 400."""
    request = load(
        [
            user("q"),
            model(call("look", id="c1", signature=SIGNATURE)),
            user(response("see", id="c1")),
        ],
        "gemini-3",
    )

    causes = rank_causes(
        said("Request contains an invalid argument."), request.violations
    )

    assert [(c.code, c.rank) for c in causes[:1]] == [("HG106", "certain")]
