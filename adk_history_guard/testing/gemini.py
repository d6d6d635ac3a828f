# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""`StrictGemini`: `generateContent` as the Gemini API and Vertex AI speak it."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ._server import Emulator
from .contract import Ids, judge
from .models import Call, Part, Text
from .records import JSON, Breach, OnBreach, Query, finish_of, pieces_of
from .signatures import CheckSignatures, SignatureBook, judge_signatures
from .wire import read_turns, steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.adk.models.google_llm import Gemini
    from google.genai import Client

    from .models import Model, ScriptItem

__all__ = ["StrictGemini"]

_PATH = re.compile(
    r"/(?:v\w+/)?(?P<model>.+):(?P<verb>generateContent|streamGenerateContent)"
)
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class StrictGemini(Emulator):
    """A strict `generateContent` server for the real google-genai client.

    It answers requests that break the contract with the API's own 400::

        with StrictGemini([call("look", {"n": 1}), "done"]) as server:
            agent = LlmAgent(name="root", model=server.model(), tools=[look])
            ...
            assert not server.problems

    Both the Gemini API (`/v1beta/models/...`) and Vertex AI (`/v1beta1/projects/...`)
    are spoken; the path decides. A model is a Gemini 3 when its name says so.

    Args:
        model: What answers: a `Model`, the items of a `Script`, or one text.
        on_breach: What a broken request gets: the provider's `"error"`, a silently
            `"empty"` reply, or, with `"ignore"`, a reply as if nothing had happened.
        ids: `"optional"` as the API has it; `"unique"` also refuses an id that stands
            in two turns; `"refused"` knows no ids at all, as some proxies do.
        signatures: `"turn"` compares the signatures of the current turn, as the API
            does; `"history"` those of all turns; `"off"` none.
        alternate: Whether two turns of one role in a row are refused (older models).
        closing: How a stream ends arguments that it sends in pieces: with the
            `"last"` piece, or with an `"empty"` call.
    """

    paths: ClassVar[tuple[str, ...]] = ("/{path:path}",)

    def __init__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        *,
        on_breach: OnBreach = "error",
        ids: Ids = "optional",
        signatures: CheckSignatures = "turn",
        alternate: bool = False,
        closing: Literal["last", "empty"] = "last",
    ) -> None:
        super().__init__(model, on_breach=on_breach)
        self._ids: Ids = ids
        self._check: CheckSignatures = signatures
        self._alternate = alternate
        self._closing = closing
        self._book = SignatureBook()
        self._clients: dict[tuple[str, bool], Client] = {}

    def client(self, *, vertex: bool = False) -> Client:
        """A real `google.genai.Client` bound to this server, with a made-up key.

        Args:
            vertex: Whether it speaks as to Vertex AI (in express mode).
        """
        import httpx
        from google.genai import Client
        from google.genai.types import HttpOptions

        # A client closes itself when it goes, even while its `models` are in use.
        known = self._clients.get((self.url, vertex))
        if known:
            return known
        # A transport of our own keeps the client from building an SSL context, and
        # from aiohttp, whose sessions complain when an event loop is gone.
        options = HttpOptions(
            base_url=self.url,
            client_args={"transport": httpx.HTTPTransport(verify=False)},
            async_client_args={"transport": httpx.AsyncHTTPTransport(verify=False)},
        )
        made = Client(vertexai=vertex, api_key="no-key", http_options=options)
        return self._clients.setdefault((self.url, vertex), made)

    def model(
        self,
        name: str = "gemini-3.5-flash",
        cls: type[Gemini] | None = None,
        *,
        vertex: bool = False,
        **kwargs: Any,
    ) -> Gemini:
        """A real ADK `Gemini` that talks to this server.

        It is made the way that ADK documents for a client of one's own: by a subclass
        with an `api_client`.

        Args:
            name: The name of the model.
            cls: The class to make it of, `Gemini` or a subclass.
            vertex: Whether it speaks as to Vertex AI.
            **kwargs: Further fields of the class.
        """
        from google.adk.models.google_llm import Gemini

        base = cls or Gemini
        # Not cached in the model, so that it can be copied, and used in any loop.
        body = {
            "api_client": property(lambda _: self.client(vertex=vertex)),
            "__module__": base.__module__,
            "__doc__": base.__doc__,
        }
        bound = type(base.__name__, (base,), body)
        made: Gemini = bound(model=name, **kwargs)
        return made

    # The wire form.

    def _read(self, path: str, body: JSON) -> Query | None:
        found = _PATH.fullmatch(path)
        if not found:
            return None
        contents = body.get("contents")
        return Query(
            path=path,
            model=found["model"].rpartition("models/")[2],
            stream=found["verb"] == "streamGenerateContent",
            body=body,
            contents=contents if isinstance(contents, list) else [],
        )

    def _judge(self, query: Query) -> list[Breach]:
        vertex = _is_vertex(query.path)
        return judge(
            query.body,
            model=query.model,
            vertex=vertex,
            ids=self._ids,
            alternate=self._alternate,
        ) + judge_signatures(
            read_turns(query.contents),
            self._book,
            required="gemini-3" in query.model,
            vertex=vertex,
            check=self._check,
        )

    def _steps(self, query: Query) -> int:
        return steps(read_turns(query.contents))

    def _issue(self, query: Query, parts: list[Part]) -> list[Part]:
        signs = "gemini-3" in query.model
        out: list[Part] = []
        for part in parts:
            if not isinstance(part, Call | Text):
                out.append(part)
                continue
            signature = part.signature
            if isinstance(part, Call) and signature is None:
                signature = signs
                signs = False
            name, args = (
                (part.name, part.args) if isinstance(part, Call) else (None, {})
            )
            if signature is True:
                signature = self._book.issue(name, args)
            elif isinstance(signature, str):
                signature = base64.b64encode(signature.encode()).decode()
                self._book.note(signature, name, args)
            out.append(replace(part, signature=signature or None))
        return out

    def _whole(self, query: Query, parts: tuple[Part, ...], index: int) -> JSON:
        raw = [_part(part) for part in parts if isinstance(part, Call | Text)]
        return _response(query, raw, index, finish_of(parts, "STOP"))

    def _stream(self, query: Query, parts: tuple[Part, ...], index: int) -> list[str]:
        chunks: list[list[JSON]] = []
        for part in parts:
            if isinstance(part, Text):
                chunks += [[piece] for piece in _text_chunks(part)]
            elif isinstance(part, Call):
                chunks += [[piece] for piece in _call_chunks(part, self._closing)]
        chunks = chunks or [[]]
        out = [_response(query, raw, index, None) for raw in chunks[:-1]]
        out.append(_response(query, chunks[-1], index, finish_of(parts, "STOP")))
        return [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in out]

    def _error(self, status: int, message: str, info: JSON) -> JSON:
        kind = _STATUS.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": kind, **info}}


def _is_vertex(path: str) -> bool:
    return "/publishers/" in path or "/projects/" in path


def _response(query: Query, parts: list[JSON], index: int, reason: str | None) -> JSON:
    content: JSON = {"role": "model"}
    if parts:
        content["parts"] = parts
    candidate: JSON = {"content": content, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    prompt = 8 * len(query.contents)
    answer = 8 * len(parts)
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": answer,
            "totalTokenCount": prompt + answer,
        },
        "modelVersion": query.model,
        "responseId": f"response-{index}",
    }


def _part(part: Call | Text) -> JSON:
    out: JSON
    if isinstance(part, Text):
        out = {"text": part.text}
        if part.thought:
            out["thought"] = True
    else:
        inner: JSON = {"name": part.name, "args": dict(part.args)}
        if part.id is not None:
            inner["id"] = part.id
        out = {"functionCall": inner}
    if part.signature:
        out["thoughtSignature"] = part.signature
    return out


def _text_chunks(part: Text) -> list[JSON]:
    """Pieces of the words, then the signature in a part without words."""
    pieces = pieces_of(part.text) or [""]
    plain = replace(part, signature=None)
    out = [_part(replace(plain, text=piece)) for piece in pieces]
    if part.signature:
        out.append(_part(replace(part, text="")))
    return out


def _call_chunks(part: Call, closing: Literal["last", "empty"]) -> list[JSON]:
    """The call whole, or its head and then its arguments in pieces."""
    if part.pieces is None:
        return [_part(part)]
    head: JSON = {"name": part.name, "willContinue": True}
    echo: JSON = {}
    if part.id is not None:
        head["id"] = part.id
        echo = {"id": part.id} if part.echo_id else {}
    first: JSON = {"functionCall": head}
    if part.signature:
        first["thoughtSignature"] = part.signature
    partials = list(_partial_args("$", part.args, part.pieces))
    rest: list[JSON] = [
        {"functionCall": {**echo, "partialArgs": [piece], "willContinue": True}}
        for piece in partials
    ]
    if closing == "empty" or not rest:
        rest.append({"functionCall": {}})
    else:
        del rest[-1]["functionCall"]["willContinue"]
    return [first, *rest]


def _partial_args(path: str, value: Any, count: int) -> Iterable[Mapping[str, Any]]:
    """The scalars below `value`, each under its JSON path; texts in pieces."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _partial_args(f"{path}.{key}", inner, count)
    elif isinstance(value, list | tuple):
        for k, inner in enumerate(value):
            yield from _partial_args(f"{path}[{k}]", inner, count)
    elif isinstance(value, str):
        pieces = pieces_of(value, count) or [""]
        for piece in pieces[:-1]:
            yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
        yield {"jsonPath": path, "stringValue": pieces[-1]}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    elif isinstance(value, bool):
        yield {"jsonPath": path, "boolValue": value}
    else:
        yield {"jsonPath": path, "numberValue": value}
