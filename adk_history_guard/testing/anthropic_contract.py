# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The judge of Anthropic Messages requests.

It reads the JSON as it came over the wire and shares no code with the guard. A breach
carries the API's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .records import JSON, Breach

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["judge_anthropic", "read_messages", "steps"]

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its role, its blocks, and where its tool blocks stand."""

    index: int
    role: Any
    blocks: list[JSON]

    def of(self, kind: str) -> list[tuple[int, JSON]]:
        """Number and block of each block of a type."""
        return [(k, b) for k, b in enumerate(self.blocks) if b.get("type") == kind]

    @property
    def result_ids(self) -> list[Any]:
        """The ids of its tool results, in order."""
        return [block.get("tool_use_id") for _, block in self.of("tool_result")]


def read_messages(messages: Sequence[Any]) -> list[Message]:
    """Read raw messages; text as content counts as one text block."""
    out = []
    for i, message in enumerate(messages):
        raw = message if isinstance(message, Mapping) else {}
        content = raw.get("content")
        blocks: list[Any] = content if isinstance(content, list) else []
        if isinstance(content, str) and content:
            blocks = [{"type": "text", "text": content}]
        known = [block if isinstance(block, dict) else {} for block in blocks]
        out.append(Message(i, raw.get("role"), known))
    return out


def steps(messages: Sequence[Any]) -> int:
    """How many call turns stand behind the last words of the user."""
    read = read_messages(messages)
    last = max(
        (m.index for m in read if m.role == "user" and not m.of("tool_result")),
        default=-1,
    )
    return sum(1 for m in read if m.index > last and m.of("tool_use"))


def judge_anthropic(messages: Sequence[Any]) -> list[Breach]:
    """Every breach of the rules of the Messages API, the first reported in front."""
    read = read_messages(messages)
    if not read:
        text = "messages: at least one message is required"
        return [Breach("messages", "messages", "no messages", text)]
    checks = (_shape, _tool_blocks, _answers, _results, _ends)
    return [breach for check in checks for breach in check(read)]


def _shape(messages: Sequence[Message]) -> Iterator[Breach]:
    for message in messages:
        place = f"messages.{message.index}"
        last = message.index == len(messages) - 1
        if message.role not in ("user", "assistant"):
            text = f"{place}.role: Input should be 'user' or 'assistant'"
            yield Breach("role", place, f"role {message.role!r}", text)
        if not message.blocks and not (last and message.role == "assistant"):
            text = f"{place}: all messages must have non-empty content except for the "
            text += "optional final assistant message"
            yield Breach("content", place, "no content", text)
        for k, block in message.of("text"):
            if not block.get("text"):
                text = "messages: text content blocks must be non-empty"
                yield Breach("text", f"{place}.content.{k}", "empty text", text)


def _tool_blocks(messages: Sequence[Message]) -> Iterator[Breach]:
    """Format and uniqueness of ids, names and input, and who may say what."""
    seen: set[Any] = set()
    for message in messages:
        for k, block in message.of("tool_use"):
            place = f"messages.{message.index}.content.{k}"
            if message.role != "assistant":
                text = f"messages.{message.index}: `tool_use` blocks can only be in "
                text += "`assistant` messages"
                yield Breach("role", place, "tool_use of the user", text)
            yield from _pattern(f"{place}.tool_use.id", block.get("id"), _ID)
            yield from _pattern(f"{place}.tool_use.name", block.get("name"), _NAME)
            if not isinstance(block.get("input"), Mapping):
                text = f"{place}.tool_use.input: Input should be a valid dictionary"
                yield Breach("input", place, "input is no object", text)
            if block.get("id") in seen:
                text = f"{place}: `tool_use` ids must be unique"
                yield Breach("unique", place, f"id {block.get('id')!r} repeats", text)
            seen.add(block.get("id"))
        for k, block in message.of("tool_result"):
            place = f"messages.{message.index}.content.{k}"
            if message.role != "user":
                text = f"messages.{message.index}: `tool_result` blocks can only be in "
                text += "`user` messages"
                yield Breach("role", place, "tool_result of the assistant", text)
            where = f"{place}.tool_result.tool_use_id"
            yield from _pattern(where, block.get("tool_use_id"), _ID)


def _pattern(place: str, value: Any, pattern: re.Pattern[str]) -> Iterator[Breach]:
    if not isinstance(value, str):
        text = f"{place}: Input should be a valid string"
        yield Breach("format", place, f"illegal value {value!r}", text)
    elif not pattern.fullmatch(value):
        text = f"{place}: String should match pattern '^{pattern.pattern}$'"
        yield Breach("format", place, f"illegal value {value!r}", text)


def _answers(messages: Sequence[Message]) -> Iterator[Breach]:
    """Each call is answered in the next message, in front of everything else."""
    for message in messages:
        ids = [block.get("id") for _, block in message.of("tool_use")]
        if not ids:
            continue
        after = messages[message.index + 1 : message.index + 2]
        answered: list[Any] = []
        late = False
        for block in after[0].blocks if after else []:
            late = late or block.get("type") != "tool_result"
            if not late:
                answered.append(block.get("tool_use_id"))
        missing = [str(id_) for id_ in ids if id_ not in answered]
        if missing:
            place = f"messages.{message.index}"
            text = f"{place}: `tool_use` ids were found without `tool_result` blocks "
            text += f"immediately after: {', '.join(missing)}. Each `tool_use` block "
            text += "must have a corresponding `tool_result` block in the next message."
            behind = after and set(missing) & set(map(str, after[0].result_ids))
            detail = "results behind other blocks" if behind else "unanswered"
            yield Breach("adjacency", place, f"{detail}: {', '.join(missing)}", text)


def _results(messages: Sequence[Message]) -> Iterator[Breach]:
    """Each result answers a call of the message before, once."""
    for message in messages:
        before = messages[message.index - 1] if message.index else None
        ids = [b.get("id") for _, b in before.of("tool_use")] if before else []
        given: set[Any] = set()
        for k, block in message.of("tool_result"):
            id_ = block.get("tool_use_id")
            place = f"messages.{message.index}.content.{k}"
            if id_ not in ids:
                text = f"{place}: unexpected `tool_use_id` found in `tool_result` "
                text += f"blocks: {id_}. Each `tool_result` block must have a "
                text += "corresponding `tool_use` block in the previous message."
                yield Breach("orphan", place, f"unknown id {id_!r}", text)
            elif id_ in given:
                text = f"{place}: each tool_use must have a single result. Found "
                text += f"multiple `tool_result` blocks with id: {id_}"
                yield Breach("double", place, f"second result of {id_!r}", text)
            given.add(id_)


def _ends(messages: Sequence[Message]) -> Iterator[Breach]:
    first, last = messages[0], messages[-1]
    if first.role != "user":
        text = 'messages: first message must use the "user" role'
        yield Breach("first", "messages.0", "the assistant speaks first", text)
    words = [str(block.get("text") or "") for _, block in last.of("text")]
    if last.role == "assistant" and words and words[-1] != words[-1].rstrip():
        text = "messages: final assistant content cannot end with trailing whitespace"
        place = f"messages.{last.index}"
        yield Breach("whitespace", place, "white space at the end", text)
