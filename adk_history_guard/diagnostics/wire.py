# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A request in the wire form of its provider, for one raw POST.

The forms are written from the providers' public documentation, as ADK's adapters send
them: one function for each form, and one row of data for each profile.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.signatures import PLACEHOLDER_SIGNATURE
from adk_history_guard.diagnostics.shape import is_stand_in
from adk_history_guard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from google.genai import types

    from adk_history_guard.diagnostics.record import RejectedRequest

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wire:
    """How a provider is asked.

    Attributes:
        base: The provider's address.
        path: The path; `{model}` stands for the model's name.
        model: The model that is asked where a dump names none.
        keys: Environment variables that may hold the key, in order.
        header: The header that carries the key, and what stands before the key.
        write: Makes the body.
        headers: Further headers.
    """

    base: str
    path: str
    model: str
    keys: tuple[str, ...]
    header: tuple[str, str]
    write: Callable[[RejectedRequest, Sequence[types.Content], str], JSON]
    headers: tuple[tuple[str, str], ...] = ()


def encode(body: JSON) -> str:
    """Return a body as JSON text; bytes as base64, as Google's APIs have them."""
    return json.dumps(body, default=_plain)


def as_json(content: types.Content) -> JSON:
    """Return a content as JSON values, with all that it holds."""
    value: JSON = json.loads(
        encode(content.model_dump(mode="python", exclude_none=True, by_alias=True))
    )
    return value


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def wire_of(profile: str) -> Wire:
    """Return how the provider of a profile is asked.

    Raises:
        ConfigurationError: A profile whose provider takes no plain POST.
    """
    found = WIRES.get(profile)
    if found is None:
        known = ", ".join(WIRES)
        msg = (
            f"A request of profile {profile!r} cannot be replayed; these can: {known}."
        )
        raise ConfigurationError(msg)
    return found


def _gemini(
    request: RejectedRequest, contents: Sequence[types.Content], model: str
) -> JSON:
    """`generateContent`; https://ai.google.dev/api/generate-content."""
    del model
    body: JSON = {"contents": [_gemini_content(content) for content in contents]}
    config = _config(request)
    if not request.shaped:
        instruction = config.get("system_instruction")
        if isinstance(instruction, str):
            body["systemInstruction"] = {"parts": [{"text": instruction}]}
        if config.get("tools"):
            body["tools"] = [{"functionDeclarations": config["tools"]}]
        if config.get("tool_config"):
            body["toolConfig"] = config["tool_config"]
        if config.get("thinking_config"):
            thinking = config["thinking_config"]
            body["generationConfig"] = {"thinkingConfig": thinking}
    return body


def _gemini_content(content: types.Content) -> JSON:
    out: JSON = content.model_dump(
        mode="python", exclude_none=True, by_alias=True, exclude={"parts"}
    )
    signed = False
    if content.parts is not None:
        out["parts"] = []
        for part in content.parts:
            said: JSON = part.model_dump(
                mode="python", exclude_none=True, by_alias=True
            )
            if part.thought_signature is not None:
                signature = part.thought_signature
                if is_stand_in(signature):
                    # The documented stand-in, on the first call only (G16, G21).
                    said.pop("thoughtSignature", None)
                    signature = PLACEHOLDER_SIGNATURE
                    if signed or part.function_call is None:
                        out["parts"].append(said)
                        continue
                signed = True
                said["thoughtSignature"] = base64.b64encode(signature).decode("ascii")
            out["parts"].append(said)
    return out


def _chat(
    request: RejectedRequest, contents: Sequence[types.Content], model: str
) -> JSON:
    """Chat Completions; https://platform.openai.com/docs/api-reference/chat."""
    messages: list[JSON] = []
    for content in contents:
        parts = content.parts or []
        for part in parts:
            response = part.function_response
            if response is not None:
                text = json.dumps(response.response, default=str)
                messages.append(
                    {"role": "tool", "tool_call_id": response.id, "content": text}
                )
        text = _text(parts)
        calls = [_chat_call(c) for p in parts if (c := p.function_call) is not None]
        if content.role == "model" or calls:
            message: JSON = {"role": "assistant", "content": text or None}
            if calls:
                message["tool_calls"] = calls
            messages.append(message)
        elif text or not any(p.function_response for p in parts):
            messages.append({"role": "user", "content": text})
    body: JSON = {"model": model, "messages": messages}
    tools = [{"type": "function", "function": t} for t in _tools(request, contents)]
    if tools:
        body["tools"] = tools
    return body


def _chat_call(call: types.FunctionCall) -> JSON:
    arguments = json.dumps(call.args or {}, default=str)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _responses(
    request: RejectedRequest, contents: Sequence[types.Content], model: str
) -> JSON:
    """Responses; https://platform.openai.com/docs/api-reference/responses."""
    items: list[JSON] = []
    for content in contents:
        parts = content.parts or []
        text = _text(parts)
        if text:
            role = "assistant" if content.role == "model" else "user"
            items.append({"role": role, "content": text})
        for part in parts:
            call, response = part.function_call, part.function_response
            if call is not None:
                items.append(
                    {
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": json.dumps(call.args or {}, default=str),
                    }
                )
            elif response is not None:
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": response.id,
                        "output": json.dumps(response.response, default=str),
                    }
                )
    body: JSON = {"model": model, "input": items}
    tools = [{"type": "function", **tool} for tool in _tools(request, contents)]
    if tools:
        body["tools"] = tools
    return body


def _messages(
    request: RejectedRequest, contents: Sequence[types.Content], model: str
) -> JSON:
    """Messages; https://docs.anthropic.com/en/api/messages."""
    messages = []
    for content in contents:
        role = "assistant" if content.role == "model" else "user"
        blocks = list(_blocks(content.parts or []))
        messages.append({"role": role, "content": blocks})
    body: JSON = {"model": model, "max_tokens": 256, "messages": messages}
    tools = [
        {
            "name": tool["name"],
            "description": tool["description"],
            "input_schema": tool["parameters"],
        }
        for tool in _tools(request, contents)
    ]
    if tools:
        body["tools"] = tools
    return body


def _blocks(parts: Sequence[types.Part]) -> Iterator[JSON]:
    for part in parts:
        call, response = part.function_call, part.function_response
        if call is not None:
            yield {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": call.args or {},
            }
        elif response is not None:
            yield {
                "type": "tool_result",
                "tool_use_id": response.id,
                "content": json.dumps(response.response, default=str),
            }
        elif part.text is not None and not part.thought:
            yield {"type": "text", "text": part.text}
        elif part.inline_data is not None:
            yield {"type": "text", "text": _media(part)}


def _text(parts: Sequence[types.Part]) -> str:
    said = [p.text for p in parts if p.text is not None and not p.thought]
    return "\n".join([*said, *(_media(p) for p in parts if p.inline_data is not None)])


def _media(part: types.Part) -> str:
    kind = part.inline_data.mime_type if part.inline_data is not None else None
    return f"[media of type {kind}]"


def _config(request: RejectedRequest) -> JSON:
    """Return the config of a request as a dump holds it."""
    if isinstance(request.config, dict):
        return request.config
    found = request.to_dict("full", repaired=False)["config"]
    return found if isinstance(found, dict) else {}


def _tools(request: RejectedRequest, contents: Sequence[types.Content]) -> list[JSON]:
    """Return declarations of the tools; made up from the calls where none is known."""
    known = _config(request).get("tools")
    declared = [t for t in known if isinstance(t, dict)] if known else []
    names = [t.get("name") for t in declared] or [
        part.function_call.name
        for content in contents
        for part in content.parts or ()
        if part.function_call is not None
    ]
    anything = {"type": "object", "properties": {}, "additionalProperties": True}
    return [
        {"name": name, "description": "A tool.", "parameters": anything}
        for name in dict.fromkeys(names)
        if isinstance(name, str)
    ]


_BEARER = ("Authorization", "Bearer ")
_OPENAI_KEYS = ("OPENAI_API_KEY",)
_GEMINI = Wire(
    "https://generativelanguage.googleapis.com",
    "/v1beta/models/{model}:generateContent",
    "gemini-3.5-flash",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ("x-goog-api-key", ""),
    _gemini,
)
_CHAT = Wire(
    "https://api.openai.com",
    "/v1/chat/completions",
    "gpt-5",
    _OPENAI_KEYS,
    _BEARER,
    _chat,
)

WIRES: dict[str, Wire] = {
    "gemini-3": _GEMINI,
    "gemini-2": Wire(
        _GEMINI.base,
        _GEMINI.path,
        "gemini-2.5-flash",
        _GEMINI.keys,
        _GEMINI.header,
        _gemini,
    ),
    "gemini-gateway": _CHAT,
    "openai-chat": _CHAT,
    "openai-responses": Wire(
        _CHAT.base, "/v1/responses", "gpt-5", _OPENAI_KEYS, _BEARER, _responses
    ),
    "anthropic": Wire(
        "https://api.anthropic.com",
        "/v1/messages",
        "claude-sonnet-4-5",
        ("ANTHROPIC_API_KEY",),
        ("x-api-key", ""),
        _messages,
        (("anthropic-version", "2023-06-01"),),
    ),
    "mistral": Wire(
        "https://api.mistral.ai",
        "/v1/chat/completions",
        "mistral-large-latest",
        ("MISTRAL_API_KEY",),
        _BEARER,
        _chat,
    ),
}
"""How each profile's provider is asked; Bedrock signs its requests and is not here."""
