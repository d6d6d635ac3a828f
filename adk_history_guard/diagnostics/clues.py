# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What providers say, and the rules behind it. Data only.

Sources of the texts: the error families G24, G31 and G33 of the contract, and the
public issues named in each row. A row that is known to mislead says how.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clue:
    """One family of error texts.

    Attributes:
        pattern: What the text contains, in lower case.
        codes: The rules behind it, the likeliest first.
        says: What the text means, in one sentence.
        source: Where it was seen.
        misleads: How it is known to mislead; None where it is not.
    """

    pattern: str
    codes: tuple[str, ...]
    says: str
    source: str
    misleads: str | None = None


_COUNT = ("HG101", "HG109", "HG103", "HG102", "HG104", "HG208", "HG404")
_SILENT = ("HG101", "HG107", "HG106", "HG205", "HG402", "HG109", "HG401")

CLUES: tuple[Clue, ...] = (
    Clue(
        r"function response parts (should be|is|are|to)? ?equal to the number",
        _COUNT,
        "a call turn has more or fewer calls than the next turn has responses",
        "google/adk-python#1583",
        "a gateway that replays signed calls only says the same when unsigned calls "
        "stand beside a signed one, or when no call is signed",
    ),
    Clue(
        r"function call turn comes immediately after",
        ("HG204", "HG203", "HG209", "HG102", "HG208"),
        "a call turn follows something other than a user or a response turn",
        "google/adk-python#3971",
    ),
    Clue(
        r"function response turn comes immediately after",
        ("HG102", "HG104", "HG101", "HG205", "HG208"),
        "a response turn does not follow the turn of its calls",
        "google/adk-python#3971",
    ),
    Clue(
        r"must include at least one parts field|contents\.parts must not be empty",
        ("HG201",),
        "a turn has no parts",
        "google-gemini/gemini-cli#4217",
    ),
    Clue(
        r"contents (is|are|must) not (be )?(empty|specified)|contents is required",
        ("HG200", "HG201"),
        "the request has no contents",
        "google-gemini/gemini-cli#4217",
    ),
    Clue(
        r"oneof field '?data'?|must have one initialized field",
        ("HG301", "HG302", "HG303"),
        "a part has no data field, or more than one",
        "google/adk-python#338",
    ),
    Clue(
        r"empty text parameter|text content blocks must (be non-empty|contain non-w)",
        ("HG301",),
        "a text is empty",
        "google/adk-python#338",
    ),
    Clue(
        r"valid role: ?user, ?model|role .{0,40}(not supported|invalid)",
        ("HG202",),
        "a turn has a role that the provider does not know",
        "langchain-ai/langchainjs#11269",
    ),
    Clue(
        r"missing a .?thought_?signature|missing_thought_signature",
        ("HG401", "HG404"),
        "the first call of a step of the current turn is not signed",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "a turn that another model wrote has no signature to lose",
    ),
    Clue(
        r"thought signature is not valid|(corrupted|invalid) thought.?signature",
        ("HG403", "HG402"),
        "a signature was changed, or belongs to another model, backend or route",
        "BerriAI/litellm#42201",
        "it also comes when the signature of the Gemini API is sent to Vertex AI",
    ),
    Clue(
        r"base64 decod",
        ("HG403", "HG401"),
        "a signature or media is no base64",
        "BerriAI/litellm#42201",
    ),
    Clue(
        r"requests? ending with a model turn|requests ends with a user role",
        ("HG206", "HG205"),
        "the last turn is the model's",
        "langchain-ai/langchainjs#11444",
        "it also comes when text stands beside the responses in the last turn",
    ),
    Clue(
        r"alternate|roles must",
        ("HG209", "HG203", "HG204"),
        "two turns of one speaker follow each other",
        "messages of older Gemini models, G33 of the contract",
    ),
    Clue(
        r"name cannot be empty|name.{0,30}(is required|must not be empty)",
        ("HG304",),
        "a call or a response has no name",
        "google/adk-python#2289",
    ),
    Clue(
        r"invalid function name|function name.{0,60}(must|should)|tools\.\d+\.name",
        ("HG305", "HG304"),
        "a function name has characters or a length that are not allowed",
        "https://ai.google.dev/gemini-api/docs/function-calling",
    ),
    Clue(
        r"invalid value at .{0,80}(response|args)",
        ("HG306",),
        "the body of a response, or the arguments of a call, are no JSON object",
        "google-genai types.FunctionResponse",
    ),
    Clue(
        r"unknown name .?(partial_?args|will_?continue|scheduling)",
        ("HG307",),
        "a field stands in the request that only the provider sends",
        "google-genai types.FunctionCall",
    ),
    Clue(
        r"unknown name .?id.? at .contents",
        ("HG107", "HG502"),
        "this route knows no ids on calls and responses",
        "ding113/claude-code-hub#1308",
        "the ids are right; leave them off (wire_ids='strip')",
    ),
    Clue(
        r"display.?name",
        ("HG310", "HG309"),
        "two media of a response share a display name, or a reference names none",
        "googleapis/python-genai#2268",
    ),
    Clue(
        r"unsupported mime|mime.?type.{0,40}not supported|function_?response\.parts",
        ("HG309",),
        "the model does not take this media inside a response",
        "UKGovernmentBEIS/inspect_ai#3451",
    ),
    Clue(
        r"tool_call_ids? did not have response|must be followed by tool messages",
        ("HG101", "HG109", "HG104"),
        "a call has no tool message directly after its turn",
        "https://platform.openai.com/docs/guides/function-calling",
        "media of a response put between two tool messages gives the same text",
    ),
    Clue(
        r"no tool output found for function call",
        ("HG101", "HG109"),
        "a call has no output in the request",
        "openai/openai-agents-python#1797",
    ),
    Clue(
        r"no tool call found for function call output|role 'tool' must be a response",
        ("HG102", "HG107", "HG104"),
        "a response has no call before it",
        "openai/openai-agents-python#1797",
    ),
    Clue(
        r"tool_use. ids were found without .tool_result",
        ("HG101", "HG109", "HG104"),
        "a call has no result in the very next user turn",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    ),
    Clue(
        r"unexpected .?tool_use_id.? found in .?tool_result",
        ("HG102", "HG104", "HG107"),
        "a result names a call that is not in the turn before",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    ),
    Clue(
        r"cannot end with trailing whitespace",
        ("HG211",),
        "the last words of the model end in white space",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    ),
    Clue(
        r"tool_use. ids must be unique|duplicate (tool|call).?.?(use|call|id)",
        ("HG501",),
        "two calls carry one id",
        "openclaw/openclaw#87596",
    ),
    Clue(
        r"each tool_use must have a single result|multiple .?tool_result",
        ("HG103", "HG501"),
        "a call has more than one result",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/parallel-tool-use",
    ),
    Clue(
        r"(id|call_id).{0,60}(string too long|maximum length|should match pattern"
        r"|must be a-z|length of 9|pattern '\^)",
        ("HG504",),
        "an id breaks the provider's format",
        "google/adk-python#5074, agno-agi/agno#5382",
    ),
    Clue(
        r"expected a string, but got null|missing required parameter.{0,40}id",
        ("HG505", "HG304"),
        "an id or a name is missing where the provider requires one",
        "google/adk-python#2621",
    ),
    Clue(
        r"not the same number of function calls and responses",
        _COUNT,
        "there are more calls than tool messages, or fewer",
        "mistral-common 1.13.1, validator.py",
    ),
    Clue(
        r"unexpected tool call id|unexpected role 'tool'",
        ("HG102", "HG107", "HG104"),
        "a tool message answers no call of the turn before",
        "mistral-common 1.13.1, validator.py",
    ),
    Clue(
        r"expected last role user or tool",
        ("HG206",),
        "the last message is the assistant's",
        "mistral-common 1.13.1, validator.py",
    ),
    Clue(
        r"request contains an invalid argument",
        ("HG106", "HG107", "HG101", "HG401", "HG205", "HG301"),
        "the provider does not say what is wrong",
        "archestra-ai/archestra#7583",
        "a bare text; a response under another name or id than its call was behind it "
        "in public reports, and any other rule can be",
    ),
)
"""The table of error texts; the first rows are the most specific."""

FINISH_REASONS: dict[str, Clue] = {
    "STOP": Clue(
        "",
        _SILENT,
        "an empty answer: for some models that is how a broken pair is refused",
        "https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.5",
        "no error is raised; an unanswered sibling of an answered call is enough "
        "(google/adk-python#6732)",
    ),
    "MALFORMED_FUNCTION_CALL": Clue(
        "",
        ("HG305", "HG304", "HG307", "HG106"),
        "the model wrote a call that cannot be read",
        "google-genai types.FinishReason",
        "often the model's own slip; the request may be sound",
    ),
    "UNEXPECTED_TOOL_CALL": Clue(
        "",
        ("HG305", "HG304", "HG106"),
        "the model called a tool that is not declared, or none is",
        "google-genai types.FinishReason",
        "the history may show calls of tools that this agent does not have",
    ),
    "TOO_MANY_TOOL_CALLS": Clue(
        "",
        ("HG101", "HG105", "HG501"),
        "the model called tools too many times in a row",
        "google-genai types.FinishReason",
    ),
    "MISSING_THOUGHT_SIGNATURE": Clue(
        "",
        ("HG401",),
        "the first call of a step of the current turn is not signed",
        "google-genai types.FinishReason",
    ),
}
"""The same for answers that carry a finish reason in place of an error."""
