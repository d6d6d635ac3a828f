# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What a provider says to the breach of a rule, as far as its texts are known. Data."""

from __future__ import annotations

_COUNT = (
    "400 INVALID_ARGUMENT: Please ensure that the number of function response parts "
    "is equal to the number of function call parts of the function call turn."
)
_AFTER_CALL = (
    "400 INVALID_ARGUMENT: Please ensure that function response turn comes "
    "immediately after a function call turn."
)
_CALL_AFTER = (
    "400 INVALID_ARGUMENT: Please ensure that function call turn comes immediately "
    "after a user turn or after a function response turn."
)
_BARE = "400 INVALID_ARGUMENT: Request contains an invalid argument."
_ONE_FIELD = (
    "400 INVALID_ARGUMENT: Unable to submit request because it must have one "
    "initialized field: required oneof field 'data' must have one initialized field."
)
_EMPTY = "an empty answer with finish reason STOP"

GEMINI: dict[str, str] = {
    "HG101": _COUNT,
    "HG102": _AFTER_CALL,
    "HG103": _COUNT,
    "HG104": _COUNT,
    "HG105": "nothing: the model takes one answer for the other",
    "HG106": _BARE,
    "HG107": f"{_BARE} Or {_EMPTY}.",
    "HG108": "nothing: the answer may stand beside the wrong call",
    "HG109": _COUNT,
    "HG200": "400 INVALID_ARGUMENT: contents is not specified.",
    "HG201": "400 INVALID_ARGUMENT: Unable to submit request because it must include "
    "at least one parts field.",
    "HG202": "400 INVALID_ARGUMENT: Please use a valid role: user, model.",
    "HG203": _CALL_AFTER,
    "HG204": _CALL_AFTER,
    "HG205": f"{_BARE} Or {_EMPTY}.",
    "HG206": "400 INVALID_ARGUMENT: Requests ending with a model turn are not "
    "supported.",
    "HG208": _COUNT,
    "HG209": "400 INVALID_ARGUMENT: Please ensure that multiturn requests alternate "
    "between user and model (older models).",
    "HG301": _ONE_FIELD,
    "HG302": _ONE_FIELD,
    "HG303": _ONE_FIELD,
    "HG304": "400 INVALID_ARGUMENT: Name cannot be empty.",
    "HG305": _BARE,
    "HG306": _BARE,
    "HG307": "400 INVALID_ARGUMENT: Unknown name: Cannot find field.",
    "HG309": _BARE,
    "HG310": _BARE,
    "HG401": "400 INVALID_ARGUMENT: Function call is missing a thought_signature in "
    "functionCall parts.",
    "HG402": _EMPTY,
    "HG403": "400 INVALID_ARGUMENT: Corrupted thought signature.",
    "HG404": _COUNT,
    "HG501": "nothing: the wrong calls and responses may be paired",
    "HG502": _BARE,
    "HG504": _BARE,
    "HG505": _BARE,
}
"""By rule, for `generateContent`; a text is shortened where it goes on."""

_UNANSWERED = (
    "400: An assistant message with 'tool_calls' must be followed by tool messages "
    "responding to each 'tool_call_id'."
)
_UNCALLED = (
    "400: messages with role 'tool' must be a response to a preceding message with "
    "'tool_calls'."
)
OPENAI: dict[str, str] = {
    "HG101": _UNANSWERED,
    "HG102": _UNCALLED,
    "HG103": _UNCALLED,
    "HG104": _UNANSWERED,
    "HG107": _UNANSWERED,
    "HG109": _UNANSWERED,
    "HG304": "400: Missing required parameter: name.",
    "HG504": "400: Invalid 'tool_calls[0].id': string too long.",
    "HG505": "400: Invalid type for 'tool_call_id': expected a string, but got null "
    "instead.",
}
"""By rule, for OpenAI Chat Completions and compatible servers."""

_NO_RESULT = (
    "400: `tool_use` ids were found without `tool_result` blocks immediately after."
)
_NO_USE = "400: unexpected `tool_use_id` found in `tool_result` blocks."
ANTHROPIC: dict[str, str] = {
    "HG101": _NO_RESULT,
    "HG102": _NO_USE,
    "HG103": "400: each tool_use must have a single result.",
    "HG104": _NO_RESULT,
    "HG107": _NO_USE,
    "HG109": _NO_RESULT,
    "HG211": "400: final assistant content cannot end with trailing whitespace.",
    "HG301": "400: text content blocks must be non-empty.",
    "HG501": "400: `tool_use` ids must be unique.",
    "HG504": "400: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'.",
}
"""By rule, for Anthropic Messages."""

MISTRAL: dict[str, str] = {
    "HG101": "400: Not the same number of function calls and responses.",
    "HG102": "400: Unexpected tool call id in tool results.",
    "HG109": "400: Not the same number of function calls and responses.",
    "HG504": "400: Tool call id has to match ^[a-zA-Z0-9]{9}$, with a length of 9.",
}
"""By rule, for Mistral chat completions."""

RESPONSES: dict[str, str] = {
    "HG101": "400: No tool output found for function call.",
    "HG102": "400: No tool call found for function call output.",
    "HG109": "400: No tool output found for function call.",
    "HG504": "400: Invalid 'input[0].call_id': string too long.",
}
"""By rule, for OpenAI Responses."""

BY_PROFILE: dict[str, dict[str, str]] = {
    "gemini-3": GEMINI,
    "gemini-2": GEMINI,
    "gemini-gateway": {**OPENAI, "HG101": _COUNT, "HG404": _COUNT},
    "openai-chat": OPENAI,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "mistral": {**OPENAI, **MISTRAL},
    "bedrock": ANTHROPIC,
}
"""Which table speaks for a profile; profiles of one's own have none."""


def saying(code: str, profile: str) -> str | None:
    """Return what the provider of a profile says to a breach, None if not known."""
    return BY_PROFILE.get(profile, {}).get(code)
