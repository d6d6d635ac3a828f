# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What an emulator reads, finds and records: requests and breaches of the contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .models import Call, Finish, Part, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "JSON",
    "Breach",
    "OnBreach",
    "Query",
    "RecordedRequest",
    "calls_of",
    "finish_of",
    "pieces_of",
    "texts_of",
]

JSON: TypeAlias = dict[str, Any]
OnBreach: TypeAlias = Literal["error", "empty", "ignore"]


@dataclass(frozen=True, slots=True)
class Breach:
    """One way in which a request breaks the provider's contract.

    Attributes:
        rule: The rule, such as `G5`.
        place: Where in the request, such as `contents[4].parts[0]`.
        detail: What is wrong there, in our words.
        message: What the provider answers. It may be bare or misleading.
        info: Further fields of the provider's error body.
    """

    rule: str
    place: str
    detail: str
    message: str
    info: JSON = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.rule} {self.place}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Query:
    """One request as an emulator reads it.

    Attributes:
        path: The path of the URL.
        model: The model that is asked.
        stream: Whether the answer is to be streamed.
        body: The JSON body as it came.
        contents: Its `contents` or `messages`.
    """

    path: str
    model: str
    stream: bool
    body: JSON
    contents: list[Any]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request that an emulator has received, with its verdict.

    Attributes:
        index: Its number, from 0.
        model: The model that was asked.
        stream: Whether the answer was to be streamed.
        body: The JSON body as it came. Do not change it.
        contents: Its `contents` or `messages`.
        problems: The breaches of the contract, in our words; empty for a good request.
        status: The HTTP status of the answer.
        reply: The parts that were answered, with the ids and signatures they got.
        path: The path of the URL.
    """

    index: int
    model: str
    stream: bool
    body: JSON
    contents: list[Any]
    problems: list[str]
    status: int
    reply: tuple[Part, ...] = ()
    path: str = ""


def calls_of(parts: Iterable[Part]) -> list[Call]:
    """The calls among the parts of a reply."""
    return [part for part in parts if isinstance(part, Call)]


def texts_of(parts: Iterable[Part]) -> list[Text]:
    """The visible texts among the parts of a reply."""
    return [part for part in parts if isinstance(part, Text) and not part.thought]


def finish_of(parts: Iterable[Part], otherwise: str) -> str:
    """The reason for which a reply ends."""
    reasons = [part.reason for part in parts if isinstance(part, Finish)]
    return reasons[-1] if reasons else otherwise


def pieces_of(value: str, count: int = 3) -> list[str]:
    """Cut a text into at most `count` pieces, none of them empty."""
    size = max(1, -(-len(value) // max(1, count)))
    return [value[i : i + size] for i in range(0, len(value), size)]
