# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Thought signatures as a provider sees them: issued once, bound to one part.

Rules G14 to G17, G21 and G23 of the contract. A signature comes back in the part it was
issued for, byte for byte, or it is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .records import Breach
from .wire import Turn, current_turn, get

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["PLACEHOLDERS", "CheckSignatures", "SignatureBook", "judge_signatures"]

CheckSignatures: TypeAlias = Literal["turn", "history", "off"]

PLACEHOLDERS = (
    b"skip_thought_signature_validator",
    b"context_engineering_is_the_way_to_go",
)

CORRUPTED = "Corrupted thought signature."
NOT_VALID = "Thought signature is not valid."
_MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is "
    "required for tools to work correctly, and missing thought_signature may lead to "
    "degraded model performance. Additional data, function call `default_api:{name}` "
    ", position {position}. Please refer to "
    "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)
_MISSING_VERTEX = (
    "Unable to submit request because function call `default_api:{name}` in the "
    "{position}. content block is missing a `thought_signature`. Learn more: "
    "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
)
_PREFIX = "adkhg"


@dataclass(frozen=True, slots=True)
class _Issued:
    """What a signature was issued for: a call's name and arguments, or a text."""

    name: str | None
    args: Mapping[str, Any]


class SignatureBook:
    """Issues signatures and remembers the part that each was issued for.

    The same parts in the same order get the same signatures, in every process.
    """

    def __init__(self) -> None:
        self._issued: dict[str, _Issued] = {}

    def issue(self, name: str | None, args: Mapping[str, Any] | None = None) -> str:
        """Issue a signature for a call, or for a text when `name` is `None`.

        Returns:
            The signature as it stands on the wire: base64.
        """
        number = len(self._issued)
        known = json.dumps([number, name, args], sort_keys=True, default=str)
        digest = hashlib.sha256(known.encode()).hexdigest()[:32]
        raw = f"{_PREFIX}-{number}-{digest}".encode()
        return self.note(base64.b64encode(raw).decode(), name, args)

    def note(
        self, signature: str, name: str | None, args: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a signature that was made elsewhere, and return it."""
        self._issued[signature] = _Issued(name, dict(args or {}))
        return signature

    def fault(
        self, signature: str, name: str | None, args: Mapping[str, Any] | None = None
    ) -> str | None:
        """What is wrong with a signature on this part: a message, or `None`."""
        issued = self._issued.get(signature)
        if issued is None:
            ours = base64.b64encode(_PREFIX.encode()).decode()[:6]
            return CORRUPTED if signature.startswith(ours) else NOT_VALID
        if issued.name != name or (name and issued.args != dict(args or {})):
            return CORRUPTED
        return None


def decode(signature: Any) -> bytes | None:
    """The bytes of a signature on the wire, or `None` when it is not base64."""
    if not isinstance(signature, str):
        return None
    text = signature.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def judge_signatures(
    turns: Sequence[Turn],
    book: SignatureBook,
    *,
    required: bool,
    vertex: bool = False,
    check: CheckSignatures = "turn",
) -> list[Breach]:
    """Every breach of the rules of signatures.

    Args:
        turns: The contents of the request.
        book: The signatures that were issued.
        required: Whether the model demands a signature on the first call of each step.
        vertex: Whether the model is asked through Vertex AI.
        check: `"turn"` looks at the current turn alone, as the API does; `"history"`
            compares the signatures of all turns, `"off"` none.
    """
    out = list(_undecodable(turns))
    if check == "off" or not turns:
        return out
    start = current_turn(turns)
    for turn in turns:
        if turn.index >= start or check == "history":
            out += _compare(turn, book)
        if turn.index >= start and required and turn.calls:
            out += _missing(turn, vertex=vertex)
    return out


def _undecodable(turns: Sequence[Turn]) -> Iterator[Breach]:
    for turn in turns:
        for k, part in enumerate(turn.parts):
            signature = get(part, "thoughtSignature", "thought_signature")
            if signature is not None and decode(signature) is None:
                place = f"{turn.place(k)}.thought_signature"
                message = f"Invalid value at '{place}' (TYPE_BYTES), Base64 decoding "
                message += f'failed for "{signature}"'
                yield Breach("G22", place, "not base64", message)


def _compare(turn: Turn, book: SignatureBook) -> Iterator[Breach]:
    calls = dict(turn.calls)
    for k, part in enumerate(turn.parts):
        signature = get(part, "thoughtSignature", "thought_signature")
        raw = decode(signature)
        if not raw or raw in PLACEHOLDERS:
            continue
        # The wire takes both alphabets of base64; the book holds one.
        wire = base64.b64encode(raw).decode()
        call = calls.get(k)
        name = get(call, "name") if call is not None else None
        fault = book.fault(wire, name, get(call, "args"))
        if fault:
            where = f"on the call {name!r}" if name else "on a part that is no call"
            rule = "G17" if fault == CORRUPTED else "G23"
            yield Breach(rule, turn.place(k), f"foreign signature {where}", fault)


def _missing(turn: Turn, *, vertex: bool) -> Iterator[Breach]:
    k, call = turn.calls[0]
    if get(turn.parts[k], "thoughtSignature", "thought_signature"):
        return
    words = _MISSING_VERTEX if vertex else _MISSING
    name = get(call, "name")
    message = words.format(name=name, position=turn.index + 1)
    detail = f"the first call {name!r} of the step has no signature"
    yield Breach("G14", turn.place(k), detail, message)
