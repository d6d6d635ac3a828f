# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`StrictGateway`: a Gemini behind an OpenAI-compatible gateway (rules W1 to W6).

The gateway speaks chat completions. It hides the thought signature inside the id of
the first call of a turn; on replay it rebuilds the turn for Gemini from the signed
calls alone, and then Gemini counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .contract import COUNT
from .models import Call, Part
from .openai_chat import StrictOpenAI
from .openai_contract import CallTurn, call_turns, judge_openai
from .records import JSON, Breach, OnBreach, Query
from .signatures import SignatureBook

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .models import Model, ScriptItem

__all__ = ["MARKER", "StrictGateway"]

MARKER = "||thought_signature||"
_MISSING = (
    "Function call is missing a thought_signature in functionCall parts. This is "
    "required for tools to work correctly, and missing thought_signature may lead to "
    "degraded model performance. Additional data, function call `default_api:{name}` "
    ", position {position}. Please refer to "
    "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)


class StrictGateway(StrictOpenAI):
    """A Gemini behind an OpenAI-compatible gateway, with the rules W1 to W6.

    The first call of a reply gets the id `call_<hex>||thought_signature||<signature>`,
    its siblings bare ids. A replayed turn is rebuilt from its signed calls, whose ids
    must come back byte for byte; then as many responses must follow.

    Args:
        model: What answers. Ids that it gives are used in front of the marker.
        on_breach: See `StrictOpenAI`.
        marker: What stands between id and signature.
        misreport: Whether a turn with no signed call is reported as a count mismatch,
            as some gateways do, and not as the missing signature.
    """

    def __init__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        *,
        on_breach: OnBreach = "error",
        marker: str = MARKER,
        misreport: bool = False,
    ) -> None:
        super().__init__(
            model, on_breach=on_breach, max_id_length=None, unique_ids=False
        )
        self._marker = marker
        self._misreport = misreport
        self._book = SignatureBook()

    def _issue(self, query: Query, parts: list[Part]) -> list[Part]:
        out: list[Part] = []
        unsigned = True
        for part in super()._issue(query, parts):
            if isinstance(part, Call) and unsigned and part.signature is not False:
                unsigned = False
                signature = self._book.issue(part.name, part.args)
                id_ = f"{part.id}{self._marker}{signature}"
                self._book.note(id_, part.name, part.args)
                out.append(replace(part, id=id_, signature=signature))
            else:
                out.append(part)
        return out

    def _judge(self, query: Query) -> list[Breach]:
        turns = call_turns(query.contents)
        breaches = [breach for turn in turns for breach in self._turn(turn)]
        if breaches:
            return breaches
        return judge_openai(query.contents, max_id_length=None, unique_ids=False)

    def _turn(self, turn: CallTurn) -> Iterator[Breach]:
        place = f"messages[{turn.index}]"
        signed = [call for call in turn.calls if self._marker in str(call.get("id"))]
        if not signed:
            name = _function(turn.calls[0]).get("name")
            missing = _MISSING.format(name=name, position=turn.index + 1)
            message = COUNT if self._misreport else missing
            yield Breach("W6", place, "no signed call in the turn", message)
            return
        yield from self._replayed(place, signed)
        if len(signed) != len(turn.answers):
            detail = f"{len(signed)} signed calls, {len(turn.answers)} responses"
            yield Breach("W3", place, detail, COUNT)
            return
        ids = {call.get("id") for call in signed}
        for i, answer in turn.answers:
            if answer.get("tool_call_id") not in ids:
                detail = "the response has not the whole id of a signed call"
                yield Breach("W1", f"messages[{i}]", detail, COUNT)

    def _replayed(self, place: str, signed: Sequence[JSON]) -> Iterator[Breach]:
        for call in signed:
            function = _function(call)
            fault = self._book.fault(
                call["id"], function.get("name"), _arguments(function)
            )
            if fault:
                detail = "a signed id that was not issued for this call"
                yield Breach("W1", place, detail, fault)


def _function(call: JSON) -> Mapping[str, Any]:
    value = call.get("function")
    return value if isinstance(value, Mapping) else {}


def _arguments(function: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        value = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, Mapping) else {}
