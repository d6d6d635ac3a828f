# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Contents as JSON: whole, or in shape only.

A shape is itself a contents JSON of the provider's form, in which every value of the
user is replaced by a stand-in that says how large it was, and carries a hash. So all
that reads contents (checks, repairs, the provider) reads a shape as well.

The hashes are keyed with random bytes of the one dump: equal values in it are
recognised, and nobody can guess a value by hashing what it might have been.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.answers import PENDING, UNANSWERED
from adk_history_guard.core.shape import OPENING
from adk_history_guard.core.signatures import PLACEHOLDER_SIGNATURES
from adk_history_guard.core.turns import DATA_MARKERS, is_request_for_client
from adk_history_guard.diagnostics.redaction import (
    CREDENTIAL,
    is_secret_key,
    make_redactor,
    without_credentials,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from google.genai import types

STAND_IN = "shape:"
"""What a stand-in for a signature or for media bytes begins with."""

TOKENS = 32
"""How many values of one call or response get a hash."""

_DEPTH = 60


class Shaper:
    """Writes contents as JSON, with everything taken out that must not be in it."""

    def __init__(
        self,
        content: str = "shape",
        redact: Callable[..., object] | None = None,
        key: bytes | None = None,
        *,
        markers: tuple[str, ...] = DATA_MARKERS,
    ) -> None:
        """Make a shaper for one dump.

        Args:
            content: `"shape"` or `"full"`.
            redact: The user's redactor, see `redaction`.
            key: The key of the hashes; random where None.
            markers: What stands in an id before its data.
        """
        self._markers = markers
        self.full = content == "full"
        self._redact = make_redactor(redact)
        self._key = secrets.token_bytes(16) if key is None else key
        self._texts: set[str] = set()
        self._ids: dict[str, str] = {}

    def contents(self, contents: Iterable[types.Content]) -> list[dict[str, Any]]:
        """Return contents as JSON in the provider's form."""
        return [self.content(content) for content in contents]

    def content(self, content: types.Content) -> dict[str, Any]:
        """Return one content as JSON."""
        out: dict[str, Any] = {}
        if content.role is not None:
            out["role"] = content.role
        if content.parts is not None:
            out["parts"] = [self.part(part) for part in content.parts]
        return out

    def part(self, part: types.Part) -> dict[str, Any]:
        """Return one part as JSON."""
        out: dict[str, Any] = {}
        for name in type(part).model_fields:
            value = getattr(part, name)
            if value is not None:
                kind = _camel(name)
                out[kind] = _WRITERS.get(kind, Shaper._other)(self, value)
        return out

    def error(self, text: str) -> str:
        """Return an error text without credentials, and in shape without user text.

        Call it after `contents`: only then the user's texts are known.
        """
        text = without_credentials(text)
        if not self.full:
            for said in sorted(self._texts, key=len, reverse=True):
                text = text.replace(said, self._stand_in(said))
        return self._redact(self.ids(text), "error")

    def ids(self, text: str) -> str:
        """Return a sentence with its ids as they stand in the dump."""
        for known in sorted(self._ids, key=len, reverse=True):
            text = text.replace(known, self._ids[known])
        return text

    def id(self, value: str) -> str:
        """Return an id as it goes into the dump: no signature in it, or a pseudonym."""
        out = self._redact(value, "id")
        if out == value and not self.full:
            for marker in self._markers:
                head, found, data = value.partition(marker)
                if found:
                    out = f"{head}{marker}{self.hash(data)}"
        if out != value:
            self._ids[value] = out
        return out

    def hash(self, value: object) -> str:
        """Return a short keyed hash of a JSON value."""
        if isinstance(value, bytes):
            data = value
        elif isinstance(value, str):
            data = b"s" + value.encode("utf-8", "surrogatepass")
        else:
            data = json.dumps(value, sort_keys=True, default=str).encode()
        return hashlib.blake2b(data, key=self._key, digest_size=5).hexdigest()

    def _stand_in(self, text: str) -> str:
        return f"[{len(text)} characters #{self.hash(text)}]"

    def _text(self, text: str) -> str:
        if text == OPENING:
            return text
        if self.full:
            return self._redact(without_credentials(text), "text")
        self._note(text)
        if not text.strip():
            return text
        # White space at the end says nothing, and a rule asks for it (HG211).
        return self._stand_in(text) + (" " if text != text.rstrip() else "")

    def _note(self, text: str) -> None:
        """Remember a text, and its lines, that an error may quote."""
        if len(text) < _QUOTED or len(self._texts) >= _NOTED:
            return
        self._texts.add(text)
        self._texts.update(
            line for line in text.splitlines()[:200] if len(line) >= _QUOTED
        )

    def _data(self, data: bytes) -> str:
        """Return base64 for bytes that say how many bytes there were."""
        if is_stand_in(data):
            return base64.b64encode(data).decode("ascii")
        said = f"{STAND_IN}{len(data)} bytes #{self.hash(data)}"
        return base64.b64encode(said.encode()).decode("ascii")

    def _signature(self, signature: bytes) -> str:
        if self.full or signature in PLACEHOLDER_SIGNATURES:
            return base64.b64encode(signature).decode("ascii")
        return self._data(signature)

    def _call(self, call: types.FunctionCall) -> dict[str, Any]:
        out = self._plain(call, {"id", "name", "args"})
        if call.id is not None:
            out["id"] = self.id(call.id)
        if call.name is not None:
            out["name"] = call.name
        if call.args is not None:
            out["args"] = self._body(call.args)
            if not self.full and is_request_for_client(call.name):
                out["args"] |= self._named_calls(call.args)
        return out

    def _named_calls(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return which call a question of ADK's own is about: it decides pairs."""
        out: dict[str, Any] = {}
        original = args.get("originalFunctionCall")
        if isinstance(original, dict):
            found = {k: original[k] for k in ("id", "name") if original.get(k)}
            out["originalFunctionCall"] = {
                key: self.id(value) if key == "id" else value
                for key, value in found.items()
                if isinstance(value, str)
            }
        for key in ("functionCallId", "function_call_id"):
            if isinstance(args.get(key), str):
                out[key] = self.id(args[key])
        return out

    def _response(self, response: types.FunctionResponse) -> dict[str, Any]:
        out = self._plain(response, {"id", "name", "response", "parts"})
        if response.id is not None:
            out["id"] = self.id(response.id)
        if response.name is not None:
            out["name"] = response.name
        if response.response is not None:
            out["response"] = self._body(response.response)
        nested = getattr(response, "parts", None)
        if nested is not None:
            out["parts"] = [self._nested(part) for part in nested]
        return out

    def _plain(self, value: Any, known: set[str]) -> dict[str, Any]:
        """Return the flags of a call or response; texts in them are the user's."""
        out: dict[str, Any] = {}
        for name in type(value).model_fields:
            found = getattr(value, name)
            if found is None or name in known:
                continue
            if isinstance(found, bool):
                out[_camel(name)] = found
            elif isinstance(found, str):  # an enum such as `scheduling`
                out[_camel(name)] = str(getattr(found, "value", found))
            elif isinstance(found, list):
                out[_camel(name)] = [{} for _ in found]
        return out

    def _nested(self, part: types.FunctionResponsePart) -> dict[str, Any]:
        out = {}
        for name in ("inline_data", "file_data"):
            media = getattr(part, name, None)
            if media is not None:
                out[_camel(name)] = self._media(media)
        return out

    def _media(self, media: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if media.mime_type is not None:
            out["mimeType"] = media.mime_type
        name = getattr(media, "display_name", None)
        if name is not None:
            out["displayName"] = self._text(name)
        data = getattr(media, "data", None)
        if data is not None:
            out["data"] = self._data(data)
        uri = getattr(media, "file_uri", None)
        if uri is not None:
            scheme = uri.partition(":")[0] if "://" in uri else "file"
            hashed = f"{scheme}://shape/{self.hash(uri)}"
            out["fileUri"] = self._text(uri) if self.full else hashed
        return out

    def _body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return arguments or the body of a response; an empty one stays empty."""
        if self.full:
            return {str(k): self._value(str(k), v, 0) for k, v in body.items()}
        if not body or body in (UNANSWERED, PENDING):
            return dict(body)
        leaves = list(_leaves(body))
        for _, leaf in leaves:
            if isinstance(leaf, str):
                self._note(leaf)
        size = len(json.dumps(body, ensure_ascii=False, default=str))
        tokens = [self.hash(leaf) for _, leaf in leaves[:TOKENS]]
        return {"shape": f"{len(leaves)} values, {size} characters", "tokens": tokens}

    def _value(  # noqa: PLR0911 - one line for each kind of value
        self,
        key: str,
        value: Any,
        depth: int,
    ) -> Any:
        if isinstance(value, str):
            if value and is_secret_key(key):
                return CREDENTIAL
            return self._redact(without_credentials(value), "argument")
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, bytes):
            return self._data(value)
        if depth > _DEPTH:
            return "<too deep>"
        if isinstance(value, dict):
            return {str(k): self._value(str(k), v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._value(key, inner, depth + 1) for inner in value]
        return self._redact(without_credentials(str(value)), "argument")

    def _other(self, value: Any) -> Any:
        """Return a field that the library knows nothing of."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if hasattr(value, "model_dump"):
            value = value.model_dump(mode="python", exclude_none=True, by_alias=True)
        if isinstance(value, dict):
            # Required enums of the field stay, so that the part can be read again.
            return {
                str(k): self._value(str(k), v, 0) if self.full else self._bare(v)
                for k, v in value.items()
            }
        return {}

    def _bare(self, value: Any) -> Any:
        enum = getattr(value, "value", None)
        if isinstance(enum, str):
            return enum
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {}
        if isinstance(value, bytes):
            return self._data(value)
        return [] if isinstance(value, (list, tuple)) else value


_QUOTED = 6  # a shorter text is found in any error by chance
_NOTED = 5_000

_WRITERS: dict[str, Callable[[Shaper, Any], Any]] = {
    "text": Shaper._text,  # noqa: SLF001 - its own table
    "thought": lambda _, value: value,
    "thoughtSignature": Shaper._signature,  # noqa: SLF001 - its own table
    "functionCall": Shaper._call,  # noqa: SLF001 - its own table
    "functionResponse": Shaper._response,  # noqa: SLF001 - its own table
    "inlineData": Shaper._media,  # noqa: SLF001 - its own table
    "fileData": Shaper._media,  # noqa: SLF001 - its own table
}
"""How each field of a part is written; every other one goes through `_other`."""


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _leaves(value: Any, depth: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the scalar values of a JSON value, in order."""
    if isinstance(value, dict) and depth < _DEPTH:
        for inner in value.values():
            yield from _leaves(inner, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < _DEPTH:
        for inner in value:
            yield from _leaves(inner, depth + 1)
    else:
        yield depth, value


def is_stand_in(data: bytes | None) -> bool:
    """Tell whether a signature or media bytes are a stand-in of a shape."""
    return data is not None and data.startswith(STAND_IN.encode())
