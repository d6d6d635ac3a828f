# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""`StrictOpenAI` and `StrictMistral`: chat completions, over HTTP."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ._server import Emulator
from .models import Call, Part
from .openai_contract import judge_mistral, judge_openai, steps
from .records import (
    JSON,
    Breach,
    OnBreach,
    Query,
    calls_of,
    finish_of,
    pieces_of,
    texts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.adk.models.lite_llm import LiteLlm

    from .models import Model, ScriptItem

__all__ = ["StrictMistral", "StrictOpenAI"]


class StrictOpenAI(Emulator):
    """A strict `POST /v1/chat/completions`, for the real LiteLLM and OpenAI clients.

    Usage::

        with StrictOpenAI([call("look", {"n": 1}), "done"]) as server:
            agent = LlmAgent(name="root", model=server.model(), tools=[look])

    Args:
        model: What answers: a `Model`, the items of a `Script`, or one text.
        on_breach: What a broken request gets: the provider's `"error"`, a silently
            `"empty"` reply, or, with `"ignore"`, a reply as if nothing had happened.
        max_id_length: The longest id: 40 on older and Azure paths, 64 elsewhere.
        unique_ids: Whether an id may stand in one call of the request only.
        assign_ids: Whether calls that the model gave no id get one. Without, they are
            streamed with none, which has LiteLlm fall back to the index of the call.
    """

    paths: ClassVar[tuple[str, ...]] = ("/{path:path}",)
    litellm_provider: ClassVar[str] = "openai"

    def __init__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        *,
        on_breach: OnBreach = "error",
        max_id_length: int | None = 40,
        unique_ids: bool = True,
        assign_ids: bool = True,
    ) -> None:
        super().__init__(model, on_breach=on_breach)
        self._max_id_length = max_id_length
        self._unique_ids = unique_ids
        self._assign_ids = assign_ids
        self._ids = 0

    @property
    def api_base(self) -> str:
        """The base URL as OpenAI clients want it, with the version."""
        return f"{self.url}/v1"

    def model(
        self, name: str = "gpt-x", cls: type[LiteLlm] | None = None, **kwargs: Any
    ) -> LiteLlm:
        """A real ADK `LiteLlm` that talks to this server.

        Args:
            name: The name of the model, without the provider.
            cls: The class to make it of, `LiteLlm` or a subclass.
            **kwargs: Further arguments of LiteLLM.
        """
        from google.adk.models.lite_llm import LiteLlm

        base = cls or LiteLlm
        return base(
            model=f"{self.litellm_provider}/{name}",
            api_base=self.api_base,
            api_key="no-key",
            **kwargs,
        )

    # The wire form.

    def _read(self, path: str, body: JSON) -> Query | None:
        messages = body.get("messages")
        if not path.endswith("/chat/completions") or not isinstance(messages, list):
            return None
        stream = bool(body.get("stream"))
        return Query(path, str(body.get("model")), stream, body, messages)

    def _judge(self, query: Query) -> list[Breach]:
        return judge_openai(
            query.contents,
            max_id_length=self._max_id_length,
            unique_ids=self._unique_ids,
        )

    def _steps(self, query: Query) -> int:
        return steps(query.contents)

    def _issue(self, query: Query, parts: list[Part]) -> list[Part]:
        del query
        return [self._with_id(p) if isinstance(p, Call) else p for p in parts]

    def _with_id(self, part: Call) -> Call:
        if part.id is not None or not self._assign_ids:
            return part
        return replace(part, id=self._new_id())

    def _new_id(self) -> str:
        return f"call_{self._digest()[:24]}"

    def _digest(self) -> str:
        self._ids += 1
        return hashlib.sha256(f"{type(self).__name__}:{self._ids}".encode()).hexdigest()

    def _whole(self, query: Query, parts: tuple[Part, ...], index: int) -> JSON:
        words = "".join(part.text for part in texts_of(parts))
        calls = calls_of(parts)
        message: JSON = {"role": "assistant", "content": words or None}
        if calls:
            message["tool_calls"] = [_tool_call(part) for part in calls]
        elif not words:
            message["content"] = ""
        choice = {"index": 0, "message": message, "finish_reason": _reason(parts)}
        head = _head(query, index, "chat.completion")
        return {**head, "choices": [choice], "usage": _usage(query, parts)}

    def _stream(self, query: Query, parts: tuple[Part, ...], index: int) -> list[str]:
        deltas: list[JSON] = [{"role": "assistant", "content": ""}]
        for part in texts_of(parts):
            deltas += [{"content": piece} for piece in pieces_of(part.text)]
        for k, made in enumerate(calls_of(parts)):
            deltas += [{"tool_calls": [piece]} for piece in _call_deltas(k, made)]
        choices: list[JSON] = [
            {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
        ]
        choices.append({"index": 0, "delta": {}, "finish_reason": _reason(parts)})
        head = _head(query, index, "chat.completion.chunk")
        chunks: list[JSON] = [{**head, "choices": [choice]} for choice in choices]
        if (query.body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**head, "choices": [], "usage": _usage(query, parts)})
        return [*(f"data: {json.dumps(c)}\n\n" for c in chunks), "data: [DONE]\n\n"]

    def _error(self, status: int, message: str, info: JSON) -> JSON:
        kind = "rate_limit_error" if status == 429 else "invalid_request_error"  # noqa: PLR2004 - HTTP
        body = {"message": message, "type": kind, "param": None, "code": None, **info}
        return {"error": body}


class StrictMistral(StrictOpenAI):
    """Chat completions with the rules of Mistral, in Mistral's words.

    Ids are nine letters and digits, there are as many tool messages as calls, and
    the roles follow one another in Mistral's order.

    Args:
        model: What answers. Let it give no ids: the server makes legal ones.
        on_breach: See `StrictOpenAI`.
        tool_then_user: Whether a user message may follow a tool message; the older
            hosted API refuses it.
    """

    litellm_provider: ClassVar[str] = "mistral"

    def __init__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        *,
        on_breach: OnBreach = "error",
        tool_then_user: bool = True,
    ) -> None:
        super().__init__(model, on_breach=on_breach)
        self._tool_then_user = tool_then_user

    def _judge(self, query: Query) -> list[Breach]:
        return judge_mistral(query.contents, tool_then_user=self._tool_then_user)

    def _new_id(self) -> str:
        return self._digest()[:9]

    def _error(self, status: int, message: str, info: JSON) -> JSON:
        known = {"type": "invalid_request_error", "param": None, "code": None}
        return {
            "object": "error",
            "message": message,
            **known,
            **info,
            "raw_status_code": status,
        }


def _head(query: Query, index: int, kind: str) -> JSON:
    return {
        "id": f"chatcmpl-{index}",
        "object": kind,
        "created": 1_700_000_000,
        "model": query.model,
    }


def _usage(query: Query, parts: tuple[Part, ...]) -> JSON:
    prompt, answer = 8 * len(query.contents), 8 * len(parts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def _reason(parts: tuple[Part, ...]) -> str:
    return finish_of(parts, "tool_calls" if calls_of(parts) else "stop")


def _tool_call(part: Call) -> JSON:
    function = {"name": part.name, "arguments": json.dumps(dict(part.args))}
    return {"id": part.id, "type": "function", "function": function}


def _call_deltas(index: int, part: Call) -> list[JSON]:
    """The call's head, then its arguments in pieces."""
    arguments = json.dumps(dict(part.args))
    head: JSON = {"index": index, "type": "function"}
    if part.id is not None:
        head["id"] = part.id
    if part.pieces is None:
        return [{**head, "function": {"name": part.name, "arguments": arguments}}]
    pieces = pieces_of(arguments, part.pieces)
    return [
        {**head, "function": {"name": part.name, "arguments": ""}},
        *({"index": index, "function": {"arguments": piece}} for piece in pieces),
    ]
