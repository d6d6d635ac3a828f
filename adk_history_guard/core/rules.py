# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of rules. Data only; read by checks, command line and docs.

Codes are `HG1xx` pairing, `HG2xx` turns, `HG3xx` parts, `HG4xx` signatures,
`HG5xx` ids. A code is never used again for something else. The evidence behind
a rule is its level: `documented`, `seen` in an error message, or `reported` by
third parties only; a rule that is only reported is a warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from adk_history_guard.core.turns import Action, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_FC = "https://ai.google.dev/gemini-api/docs/function-calling"
_TS = "https://ai.google.dev/gemini-api/docs/thought-signatures"
_G35 = "https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.5"
_REST = (
    "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/"
    "v1beta1/Content"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the contract.

    Attributes:
      code: `HG` and three digits.
      name: The fault; reads well after "allow".
      summary: What is wrong, in one sentence.
      why: What it leads to.
      fix: The way out, for somebody who builds requests by hand.
      action: What the repair does, None where no repair is safe.
      level: `documented`, `seen` or `reported`.
      source: Where it is documented or was reported.
    """

    code: str
    name: str
    summary: str
    why: str
    fix: str
    action: Action | None
    level: str
    source: str

    @property
    def severity(self) -> Severity:
        """The severity where a profile says nothing else."""
        return Severity.WARNING if self.level == "reported" else Severity.ERROR


_ALL = (
    Rule(
        "HG101",
        "unanswered-call",
        "A function call has no response.",
        "The provider counts calls and responses of a turn and answers 400, "
        "or with an empty reply and finish reason STOP.",
        "Allow the 'placeholder' repair (unanswered='placeholder'), or append "
        "the call's response before the request.",
        Action.ADD,
        "documented",
        f"{_G35}; google/adk-python#3971, #5856",
    ),
    Rule(
        "HG102",
        "orphan-response",
        "A function response answers no call.",
        "The response turn does not follow its call turn, which is a 400.",
        "Send the call turn that it answers right before it, or remove the response.",
        Action.DROP,
        "seen",
        "google/adk-python#6582, #6751",
    ),
    Rule(
        "HG103",
        "repeated-response",
        "A call has more than one response in the request.",
        "The counts of calls and responses differ, which is a 400.",
        "Keep the last response of each call.",
        Action.DROP,
        "documented",
        f"{_FC}; strands-agents/harness-sdk#2296",
    ),
    Rule(
        "HG104",
        "stray-response",
        "A response does not stand in the turn right after its call turn.",
        "The provider looks for it there only and answers 400.",
        "Put all responses of a call turn into one user turn right behind it.",
        Action.MOVE,
        "documented",
        f"{_TS}; google/adk-python#3971, agentscope-ai/agentscope#2628",
    ),
    Rule(
        "HG105",
        "shuffled-responses",
        "The responses of a turn are not in the order of their calls.",
        "Without ids, order and name are all that tells two calls of one tool "
        "apart: the model takes one answer for the other, and nobody notices.",
        "Put the responses into the order of their calls.",
        Action.MOVE,
        "documented",
        _FC,
    ),
    Rule(
        "HG106",
        "mismatched-name",
        "A response carries another name than its call.",
        "Strict models answer 400, some with no more than 'invalid argument'.",
        "Give the response the name of its call.",
        Action.RENAME,
        "documented",
        f"{_G35}; archestra-ai/archestra#7583, router-for-me/CLIProxyAPI#5098",
    ),
    Rule(
        "HG107",
        "mismatched-id",
        "A response carries another id than its call, or only one of them has one.",
        "Strict models answer 400, or with an empty reply.",
        "Give the response the id of its call, or leave the id off on both sides.",
        Action.RENAME,
        "documented",
        f"{_G35}; google-gemini/gemini-cli#6974, router-for-me/CLIProxyAPI#5199",
    ),
    Rule(
        "HG108",
        "doubtful-response",
        "Several calls fit a response, and nothing tells which is meant.",
        "The answer may stand beside the wrong call.",
        "Keep the id of the call on its response when you store it.",
        None,
        "reported",
        "google/adk-python#6764, NVIDIA/NeMo-Relay#878",
    ),
    Rule(
        "HG109",
        "pending-call",
        "A call that waits for somebody outside has no response yet.",
        "The provider does not know of waiting: to it the response is missing.",
        "Allow the 'placeholder' repair (pending='placeholder'), or store a "
        "pending response for the call.",
        Action.ADD,
        "documented",
        f"{_G35}; ag-ui-protocol/ag-ui#1935",
    ),
    Rule(
        "HG200",
        "empty-contents",
        "The request has no contents.",
        "The provider answers 400: contents must not be empty.",
        "Send at least one user turn.",
        None,
        "seen",
        "google-gemini/gemini-cli#4217, google/adk-python#2404",
    ),
    Rule(
        "HG201",
        "empty-turn",
        "A turn has no parts.",
        "'must include at least one parts field', a 400.",
        "Leave the turn out.",
        Action.DROP,
        "seen",
        "google-gemini/gemini-cli#4217, google/adk-python#3525",
    ),
    Rule(
        "HG202",
        "unknown-role",
        "A turn has a role other than user or model.",
        "'Please use a valid role: user, model.', a 400.",
        "Use the role 'user' for users and responses, 'model' for the model.",
        Action.RENAME,
        "documented",
        f"{_REST}; langchain-ai/langchainjs#11269",
    ),
    Rule(
        "HG203",
        "leading-model-turn",
        "The history starts with a turn of the model.",
        "Providers want the user first; a call turn in front is a 400.",
        "Start with a user turn.",
        Action.ADD,
        "seen",
        "google-gemini/gemini-cli#11814, strands-agents/sdk-typescript#727",
    ),
    Rule(
        "HG204",
        "call-after-model-turn",
        "A call turn follows a turn of the model.",
        "'function call turn comes immediately after a user turn or after a "
        "function response turn', a 400.",
        "Join the two model turns into one.",
        Action.MOVE,
        "seen",
        "google/adk-python#1581, #3971, router-for-me/CLIProxyAPI#4959",
    ),
    Rule(
        "HG205",
        "shared-response-turn",
        "Text or media stands in the turn of the responses.",
        "Gemini 3.x answers 400, with an empty reply, or worse than it could.",
        "Put the other parts into a user turn of their own right behind it.",
        Action.MOVE,
        "documented",
        f"{_G35}; langchain-ai/langchain-google#1995, pydantic/pydantic-ai#4210",
    ),
    Rule(
        "HG206",
        "trailing-model-turn",
        "The request ends with a turn of the model.",
        "'Requests ending with a model turn are not supported' on newer models.",
        "End with a user turn; ADK's Gemini appends one by itself.",
        None,
        "reported",
        "langchain-google-genai 4.4.3 model table; langchain-ai/langchainjs#11444",
    ),
    Rule(
        "HG208",
        "misplaced-speaker",
        "Calls stand in a user turn, or responses in a turn of the model.",
        "Calls and responses of a step must be one model and one user turn; "
        "interleaved ones are a 400.",
        "Put calls into a model turn and their responses into a user turn.",
        Action.MOVE,
        "documented",
        f"{_TS}; mozilla-ai/any-llm#1420",
    ),
    Rule(
        "HG209",
        "repeated-model-turn",
        "Two turns of the model follow each other.",
        "Older models insist that user and model alternate.",
        "Join the two turns.",
        Action.MOVE,
        "reported",
        "lidge-jun/opencodex#5079; alternation messages of older models",
    ),
    Rule(
        "HG210",
        "user-after-responses",
        "The user speaks right behind the responses of tools.",
        "Mistral's older hosted API wants the model to speak first: \"Unexpected "
        "role 'user' after role 'tool'\", a 400.",
        "Put a turn of the model between them.",
        Action.ADD,
        "reported",
        "mistral-common 1.13.1 protocol/instruct/validator.py; opencode's filler turn",
    ),
    Rule(
        "HG211",
        "trailing-white-space",
        "The model speaks last, and its words end in white space.",
        "'final assistant content cannot end with trailing whitespace', a 400.",
        "Strip the end of the last text.",
        Action.DROP,
        "seen",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/"
        "handle-tool-calls; error text of the Messages API",
    ),
    Rule(
        "HG301",
        "empty-part",
        "A part holds nothing, or an empty text.",
        "'required oneof field data must have one initialized field', a 400.",
        "Leave the part out.",
        Action.DROP,
        "seen",
        "google/adk-python#338",
    ),
    Rule(
        "HG302",
        "bare-signature",
        "A part is nothing but a thought signature.",
        "Each part must have one data field; the 400 does not name the part.",
        "Send the signature with an empty text.",
        Action.ADD,
        "documented",
        f"{_TS}; google-genai types.Part",
    ),
    Rule(
        "HG303",
        "crowded-part",
        "A part has more than one data field.",
        "A part is a oneof: the provider refuses it or takes one field only.",
        "Make a part of each field.",
        None,
        "documented",
        "google-genai types.Part",
    ),
    Rule(
        "HG304",
        "nameless-call",
        "A call or a response has no name.",
        "'Name cannot be empty', a 400.",
        "Leave the call and its response out; nothing tells which tool was meant.",
        Action.DROP,
        "documented",
        f"{_FC}; google/adk-python#2289, router-for-me/CLIProxyAPI#2104",
    ),
    Rule(
        "HG305",
        "illegal-name",
        "A function name has characters or a length that no declaration may have.",
        "A name that cannot be declared cannot be matched with a tool.",
        "Start with a letter or underscore, go on with letters, digits, '_.:-', "
        "at most 64 characters.",
        None,
        "reported",
        _REST,
    ),
    Rule(
        "HG306",
        "missing-body",
        "A response has no body.",
        "The body of a response is a required JSON object; an empty one will do.",
        "Send an empty object.",
        Action.ADD,
        "documented",
        "google-genai types.FunctionResponse; langchain-ai/langchain-google#1722",
    ),
    Rule(
        "HG307",
        "output-only-field",
        "A field stands in the request that only the provider sends, or only Live.",
        "The Gemini API refuses partial_args and will_continue in a request.",
        "Clear the field before the request.",
        Action.DROP,
        "documented",
        "google-genai types.FunctionCall, types.FunctionResponse",
    ),
    Rule(
        "HG309",
        "nested-media",
        "Media stands inside a response where the model takes none of it.",
        "Gemini 2.x refuses the field; Gemini 3 takes png, jpeg, webp, pdf and "
        "plain text as inline data.",
        "Send the media in a user turn behind the responses.",
        Action.MOVE,
        "documented",
        f"{_FC}; UKGovernmentBEIS/inspect_ai#3451",
    ),
    Rule(
        "HG310",
        "repeated-display-name",
        "Two media of one response carry the same display name.",
        "A reference in the response then names neither.",
        "Give each its own display name.",
        Action.RENAME,
        "documented",
        f"{_FC}; googleapis/python-genai#2268",
    ),
    Rule(
        "HG401",
        "unsigned-step",
        "The first call of a step of the current turn has no thought signature.",
        "'Function call is missing a thought_signature in functionCall parts', "
        "a 400 of Gemini 3.",
        "Keep the signature in the part it came in; for a step that another model "
        "wrote, allow the 'placeholder_signature' repair.",
        Action.ADD,
        "documented",
        f"{_TS}; google/adk-python#3705, pipecat-ai/pipecat#5809",
    ),
    Rule(
        "HG402",
        "signed-sibling",
        "A placeholder signature stands on a call that is not the first of its turn.",
        "gemini-3.5 then answers with empty text.",
        "Leave the placeholder on the first call only.",
        Action.DROP,
        "reported",
        "BerriAI/litellm#37541, vercel/ai#16298",
    ),
    Rule(
        "HG403",
        "foreign-signature",
        "A turn carries the thought signature of another provider or model.",
        "Signatures are bound to backend and model: 'Corrupted thought signature'.",
        "Take foreign signatures off in the request.",
        Action.DROP,
        "seen",
        "BerriAI/litellm#42201, badrisnarayanan/antigravity-claude-proxy#18",
    ),
    Rule(
        "HG404",
        "unsigned-sibling",
        "A signed turn holds calls beside its signed one, on a path that replays "
        "the signed call alone.",
        "The gateway counts one call against several responses and answers with "
        "the count mismatch.",
        "Allow the 'collapse' repair (parallel='collapse').",
        Action.MOVE,
        "reported",
        "reports on OpenAI-compatible gateways, W1 to W5 of the contract",
    ),
    Rule(
        "HG501",
        "repeated-id",
        "Two calls of the request carry the same id.",
        "Providers that pair by id refuse it; Gemini may pair the wrong ones.",
        "Give every call its own id, and its response the same.",
        Action.RENAME,
        "reported",
        "google/adk-python#6761, openclaw/openclaw#87596",
    ),
    Rule(
        "HG502",
        "partial-ids",
        "Some calls of a turn carry an id and some do not.",
        "Responses are then matched partly by id and partly by order.",
        "Carry ids on all calls of a turn and their responses, or on none.",
        Action.RENAME,
        "documented",
        f"{_FC}; google-gemini/gemini-cli#6974",
    ),
    Rule(
        "HG504",
        "illegal-id",
        "An id breaks the provider's format.",
        "The provider names a pattern or a length and answers 400.",
        "Map it to a legal id on both sides.",
        Action.RENAME,
        "seen",
        "google/adk-python#5074, agno-agi/agno#5382",
    ),
    Rule(
        "HG505",
        "missing-id",
        "A call has no id where the provider requires one.",
        "'expected a string, but got null instead', a 400.",
        "Give the call and its response an id.",
        Action.RENAME,
        "seen",
        "google/adk-python#2621, #951",
    ),
)

RULES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _ALL})
"""Every rule by its code."""
