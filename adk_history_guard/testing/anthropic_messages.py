# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""`StrictAnthropic`: the Messages API, over HTTP."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ._server import Emulator
from .anthropic_contract import judge_anthropic, steps
from .models import Call, Part, Text
from .records import JSON, Breach, Query, calls_of, finish_of, pieces_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from google.adk.models.anthropic_llm import AnthropicLlm

__all__ = ["StrictAnthropic"]

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class StrictAnthropic(Emulator):
    """A strict `POST /v1/messages`, for the real Anthropic client.

    Usage::

        with StrictAnthropic([call("look", {"n": 1}), "done"]) as server:
            agent = LlmAgent(name="root", model=server.model(), tools=[look])

    Calls that the model gives no id get one. See `Emulator` for the arguments.
    """

    paths: ClassVar[tuple[str, ...]] = ("/{path:path}",)
    _ids = 0

    def client(self) -> AsyncAnthropic:
        """A real `anthropic.AsyncAnthropic` bound to this server, with no retries."""
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(base_url=self.url, api_key="no-key", max_retries=0)

    def model(
        self,
        name: str = "claude-x",
        cls: type[AnthropicLlm] | None = None,
        **kwargs: Any,
    ) -> AnthropicLlm:
        """A real ADK `AnthropicLlm` that talks to this server.

        Args:
            name: The name of the model.
            cls: The class to make it of, `AnthropicLlm` or a subclass.
            **kwargs: Further fields of the class.
        """
        from google.adk.models.anthropic_llm import AnthropicLlm

        base = cls or AnthropicLlm
        client = self.client()
        if "client" in base.model_fields:
            return base(model=name, client=client, **kwargs)
        # Older ADKs know no other way than this property, or variables of the
        # environment, which all other models of the process would see.
        body = {
            "_anthropic_client": property(lambda _: client),
            "__module__": base.__module__,
            "__doc__": base.__doc__,
        }
        bound = type(base.__name__, (base,), body)
        made: AnthropicLlm = bound(model=name, **kwargs)
        return made

    # The wire form.

    def _read(self, path: str, body: JSON) -> Query | None:
        messages = body.get("messages")
        if not path.endswith("/v1/messages") or not isinstance(messages, list):
            return None
        stream = bool(body.get("stream"))
        return Query(path, str(body.get("model")), stream, body, messages)

    def _judge(self, query: Query) -> list[Breach]:
        return judge_anthropic(query.contents)

    def _steps(self, query: Query) -> int:
        return steps(query.contents)

    def _issue(self, query: Query, parts: list[Part]) -> list[Part]:
        del query
        return [self._with_id(p) if isinstance(p, Call) else p for p in parts]

    def _with_id(self, part: Call) -> Call:
        if part.id is not None:
            return part
        self._ids += 1
        digest = hashlib.sha256(f"anthropic:{self._ids}".encode()).hexdigest()
        return replace(part, id=f"toolu_{digest[:24]}")

    def _whole(self, query: Query, parts: tuple[Part, ...], index: int) -> JSON:
        blocks = [_block(part) for part in _spoken(parts)]
        reason = finish_of(parts, "tool_use" if calls_of(parts) else "end_turn")
        usage = {"input_tokens": 8 * len(query.contents), "output_tokens": 8}
        return _message(query, index, blocks, reason, usage)

    def _stream(self, query: Query, parts: tuple[Part, ...], index: int) -> list[str]:
        usage = {"input_tokens": 8 * len(query.contents), "output_tokens": 1}
        start = _message(query, index, [], None, usage)
        events: list[JSON] = [{"type": "message_start", "message": start}]
        for k, part in enumerate(_spoken(parts)):
            block, deltas = _deltas(part)
            events.append(
                {"type": "content_block_start", "index": k, "content_block": block}
            )
            events += [
                {"type": "content_block_delta", "index": k, "delta": delta}
                for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": k})
        reason = finish_of(parts, "tool_use" if calls_of(parts) else "end_turn")
        end = {"stop_reason": reason, "stop_sequence": None}
        events.append(
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 8}}
        )
        events.append({"type": "message_stop"})
        return [
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
        ]

    def _error(self, status: int, message: str, info: JSON) -> JSON:
        kind = _KINDS.get(status, "invalid_request_error")
        error = {"type": kind, "message": message, **info}
        number = len(self._requests)
        return {"type": "error", "error": error, "request_id": f"req_{number:024d}"}


def _message(
    query: Query, index: int, blocks: list[JSON], reason: str | None, usage: JSON
) -> JSON:
    return {
        "id": f"msg_{index:024d}",
        "type": "message",
        "role": "assistant",
        "model": query.model,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _spoken(parts: tuple[Part, ...]) -> list[Text | Call]:
    """The parts that the Messages API can express: calls, and words that are some."""
    return [
        part
        for part in parts
        if isinstance(part, Call)
        or (isinstance(part, Text) and part.text and not part.thought)
    ]


def _block(part: Text | Call) -> JSON:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    inputs = dict(part.args)
    return {"type": "tool_use", "id": part.id, "name": part.name, "input": inputs}


def _deltas(part: Text | Call) -> tuple[JSON, list[JSON]]:
    """The block as it starts, and what is added to it."""
    block = _block(part)
    if isinstance(part, Text):
        deltas = [{"type": "text_delta", "text": p} for p in pieces_of(part.text)]
        return {**block, "text": ""}, deltas
    pieces = pieces_of(json.dumps(block["input"]), part.pieces or 1)
    deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces]
    return {**block, "input": {}}, deltas
