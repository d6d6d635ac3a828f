# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds of calls and responses, and profiles of one trait each."""

from __future__ import annotations

import re
from dataclasses import replace

from google.genai import types

from adk_history_guard import PROFILES
from adk_history_guard.core.profiles import IdFormat
from adk_history_guard.core.turns import Severity
from tests.builders import PNG, call, model, response, user

SIG = b"signed"
GEMINI_2 = PROFILES["gemini-2"]
SHORT_IDS = replace(GEMINI_2, ids=IdFormat(length=3))
DIGITS = replace(GEMINI_2, ids=IdFormat(pattern=re.compile("[0-9]+")))
ANY_ID_BUT_ONE = replace(GEMINI_2, ids=IdFormat(required=True))
REPORTED = replace(GEMINI_2, rules={"HG401": Severity.WARNING})
SIGNED_IDS = replace(GEMINI_2, signed_ids=True, rules={"HG401": Severity.ERROR})
COLLAPSING = replace(GEMINI_2, parallel="collapse")
SILENCED = replace(PROFILES["gemini-3"], rules={"HG401": Severity.OFF})
ONE = [call("look", id="c1")]
ONE_SAID = [response("look", id="c1")]
TWO = [call("look", id="c1", signature=SIG), call("seek", id="c2")]
TWO_SAID = [response("look", id="c1"), response("seek", id="c2")]
PNG_BLOB = types.Blob(data=PNG, mime_type="image/png")
MARKED = "c1||thought_signature||QUJD"


def part(**fields):
    """Return a part with fields as given."""
    return types.Part(**fields)


def asked(**fields):
    """Return a call part with further fields of the call."""
    return part(function_call=types.FunctionCall(name="look", id="c1", **fields))


def said(**fields):
    """Return a response part with other fields of the response."""
    fields = {"name": "look", "id": "c1", "response": {"n": 1}, **fields}
    return part(function_response=types.FunctionResponse(**fields))


def thoughtless(made):
    """Return a part of which it was said that it is no thought."""
    made.thought = None
    return made


def round_of(calls, answers):
    """Return a user turn, a call turn and its response turn."""
    return [user("a"), model(*calls), user(*answers)]


def resolved(profile):
    """Return a profile by its name, or itself."""
    return PROFILES[profile] if isinstance(profile, str) else profile
