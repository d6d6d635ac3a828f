# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Contents of `generateContent` as they stand on the wire, read without judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Turn", "current_turn", "get", "read_turns", "steps"]


def get(value: Any, camel: str, snake: str | None = None) -> Any:
    """A field by its JSON name, or by its proto name, which the API takes as well."""
    if not isinstance(value, Mapping):
        return None
    found = value.get(camel)
    return value.get(snake) if found is None and snake else found


@dataclass(frozen=True, slots=True)
class Turn:
    """One content of the request: its raw JSON, and its calls and responses by place.

    Attributes:
        index: Its number in the request.
        role: The role as it came, `None` when it is unset.
        parts: The raw parts.
        calls: Index of the part and call, for each call.
        responses: Index of the part and response, for each response.
    """

    index: int
    role: str | None
    parts: list[Any]
    calls: list[tuple[int, Any]]
    responses: list[tuple[int, Any]]

    @property
    def is_user(self) -> bool:
        """Whether this is a user turn; an unset role counts as user."""
        return self.role in ("user", None, "")

    def place(self, part: int | None = None) -> str:
        """Where it stands, as errors name it."""
        where = f"contents[{self.index}]"
        return where if part is None else f"{where}.parts[{part}]"


def read_turns(contents: Sequence[Any]) -> list[Turn]:
    """Read raw contents. Never fails: what is no content has no parts."""
    turns = []
    for i, content in enumerate(contents):
        parts = get(content, "parts")
        parts = parts if isinstance(parts, list) else []
        calls, responses = [], []
        for k, part in enumerate(parts):
            call = get(part, "functionCall", "function_call")
            response = get(part, "functionResponse", "function_response")
            if call is not None:
                calls.append((k, call))
            if response is not None:
                responses.append((k, response))
        turns.append(Turn(i, get(content, "role"), parts, calls, responses))
    return turns


def current_turn(turns: Sequence[Turn]) -> int:
    """Where the current turn starts: the newest user content that is no response."""
    return max((t.index for t in turns if t.is_user and not t.responses), default=0)


def steps(turns: Sequence[Turn]) -> int:
    """How many call turns the current turn has."""
    return sum(1 for turn in turns[current_turn(turns) :] if turn.calls)
