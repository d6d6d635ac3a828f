# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Whose answer stands beside which call: what no provider would report.

A provider counts and compares ids; it cannot tell that an answer belongs to another
call. A test can, when each call carries a token of its own in `args["n"]` and its tool
returns `{"n": n}`. This module reads the tokens out of a request of any wire form.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Tokens", "tokens"]

_N = re.compile(r"""["']n["']\s*:\s*(\d+)""")


@dataclass(frozen=True, slots=True)
class _Item:
    """A call or a response of one turn: its id and its token."""

    id: str | None
    n: int | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one request.

    Attributes:
        calls: The tokens of the calls, in order.
        responses: The tokens of the responses, in order; placeholders have none.
        pairs: Each call's token with the token of the response beside it, if any.
    """

    calls: tuple[int, ...]
    responses: tuple[int, ...]
    pairs: tuple[tuple[int, int | None], ...]

    def misplaced(self, answered: Iterable[int] | None = None) -> list[str]:
        """What is wrong; empty when each answer stands once, beside its own call.

        Args:
            answered: The tokens that have been answered so far. Each of them must then
                stand exactly once, and no other answer may stand anywhere.
        """
        out = [
            f"call n={call} got the answer n={answer}"
            for call, answer in self.pairs
            if answer is not None and answer != call
        ]
        counts = Counter(self.responses)
        expected = set(counts) if answered is None else set(answered)
        for n in sorted(expected | set(counts)):
            want = int(n in expected)
            if counts[n] != want:
                out.append(f"the answer n={n} stands {counts[n]} times, not {want}")
        beside = Counter(answer for _, answer in self.pairs if answer is not None)
        out += [f"the answer n={n} stands beside no call" for n in counts - beside]
        out += [
            f"call n={n} stands {count} times"
            for n, count in sorted(Counter(self.calls).items())
            if count > 1
        ]
        return out


def tokens(contents: Sequence[Any]) -> Tokens:
    """Read the tokens of a request.

    Args:
        contents: The `contents` of a Gemini request, as JSON or as
            `google.genai.types.Content`, or the `messages` of an OpenAI or Anthropic
            request.

    Example:
        >>> tokens(server.requests[-1].contents).misplaced(answered={1, 2})
        []
    """
    turns = [_turn(_plain(content)) for content in contents]
    calls: list[int] = []
    responses: list[int] = []
    pairs: list[tuple[int, int | None]] = []
    for i, (made, given) in enumerate(turns):
        calls += [call.n for call in made if call.n is not None]
        responses += [response.n for response in given if response.n is not None]
        if made:
            pairs += _pairs(made, _after(turns, i))
    return Tokens(tuple(calls), tuple(responses), tuple(pairs))


_Turn = tuple[list[_Item], list[_Item]]


def _after(turns: Sequence[_Turn], i: int) -> list[_Item]:
    """The responses directly after turn `i`: one turn, or a run of tool messages."""
    out: list[_Item] = []
    for made, given in turns[i + 1 :]:
        if made or not given:
            break
        out += given
    return out


def _pairs(
    calls: Sequence[_Item], responses: Sequence[_Item]
) -> list[tuple[int, int | None]]:
    left = list(responses)
    out = []
    for call in calls:
        mine = next((r for r in left if r.id and r.id == call.id), None)
        if mine is None:
            mine = next((r for r in left if not (r.id and call.id)), None)
        if mine is not None:
            left.remove(mine)
        if call.n is not None:
            out.append((call.n, mine.n if mine else None))
    return out


def _plain(content: Any) -> Mapping[str, Any]:
    if isinstance(content, Mapping):
        return content
    dumped = content.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped if isinstance(dumped, Mapping) else {}


def _turn(content: Mapping[str, Any]) -> _Turn:
    """The calls and the responses of one content or message."""
    made = [
        _Item(call.get("id"), _n(call["function"].get("arguments")))
        for call in content.get("tool_calls") or ()
    ]
    given: list[_Item] = []
    if content.get("role") == "tool":
        given.append(_Item(content.get("tool_call_id"), _n(content.get("content"))))
    body = content.get("content")
    blocks = content.get("parts") or (body if isinstance(body, list) else ())
    for block in blocks:
        call = block.get("functionCall") or block.get("function_call")
        response = block.get("functionResponse") or block.get("function_response")
        if call:
            made.append(_Item(call.get("id"), _n(call.get("args"))))
        elif response:
            given.append(_Item(response.get("id"), _n(response.get("response"))))
        elif block.get("type") == "tool_use":
            made.append(_Item(block.get("id"), _n(block.get("input"))))
        elif block.get("type") == "tool_result":
            given.append(_Item(block.get("tool_use_id"), _n(block.get("content"))))
    return made, given


def _n(value: Any) -> int | None:
    """The token in arguments, a response, or a text of either."""
    if isinstance(value, Mapping):
        n = value.get("n")
        if isinstance(n, int | float) and not isinstance(n, bool):
            return int(n)
        return _n(value.get("result")) if "result" in value else _n(value.get("text"))
    if isinstance(value, list):
        return next((n for item in value if (n := _n(item)) is not None), None)
    if isinstance(value, str):
        try:
            return _n(json.loads(value))
        except ValueError:
            found = _N.search(value)
            return int(found[1]) if found else None
    return None
