# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The judges of chat completion requests: OpenAI's rules, and Mistral's.

They read the JSON as it came over the wire and share no code with the guard. A breach
carries the provider's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .records import JSON, Breach

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CallTurn", "call_turns", "judge_mistral", "judge_openai", "steps"]

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_ORDER = ("invalid_request_message_order", "3230")


@dataclass(frozen=True, slots=True)
class CallTurn:
    """An assistant message with calls, and the tool messages directly after it.

    Attributes:
        index: The number of the assistant message.
        calls: Its tool calls, raw.
        answers: Number and raw message of each tool message that follows.
    """

    index: int
    calls: list[JSON]
    answers: list[tuple[int, JSON]]

    @property
    def ids(self) -> list[Any]:
        """The ids of the calls, in order."""
        return [call.get("id") for call in self.calls]


def call_turns(messages: Sequence[Any]) -> list[CallTurn]:
    """The call turns of a request, each with the run of tool messages after it."""
    out = []
    for i, message in enumerate(messages):
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        if calls:
            answers = []
            for k in range(i + 1, len(messages)):
                if not _is_tool(messages[k]):
                    break
                answers.append((k, messages[k]))
            out.append(CallTurn(i, list(calls), answers))
    return out


def steps(messages: Sequence[Any]) -> int:
    """How many call turns stand behind the last message of the user."""
    last = max(
        (i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1
    )
    return sum(1 for turn in call_turns(messages) if turn.index > last)


def _is_tool(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "tool"


def _breach(
    rule: str,
    place: str,
    detail: str,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
) -> Breach:
    return Breach(rule, place, detail, message, {"param": param, "code": code})


def judge_openai(
    messages: Sequence[Any],
    *,
    max_id_length: int | None = 40,
    unique_ids: bool = True,
) -> list[Breach]:
    """Every breach of OpenAI's rules, the one that is reported first in front.

    Args:
        messages: The messages of the request.
        max_id_length: The longest id, in characters; `None` for no limit.
        unique_ids: Whether an id may stand in one call of the request only.
    """
    if not messages:
        message = "Invalid 'messages': empty array. Expected an array with minimum "
        message += "length 1, but got an empty array instead."
        place = "messages"
        return [
            _breach(place, place, "empty", message, param=place, code="empty_array")
        ]
    out = list(_roles(messages))
    for turn in call_turns(messages):
        for k, call in enumerate(turn.calls):
            place = f"messages[{turn.index}].tool_calls[{k}]"
            out += _id(f"{place}.id", call.get("id"), max_id_length)
            out += _function(f"{place}.function", call.get("function"))
        for k, answer in turn.answers:
            place = f"messages[{k}].tool_call_id"
            out += _id(place, answer.get("tool_call_id"), max_id_length)
    return out + list(_pairing(messages, unique_ids=unique_ids))


def _roles(messages: Sequence[Any]) -> Iterator[Breach]:
    for i, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        place = f"messages[{i}]"
        if role not in _ROLES:
            names = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            text = f"Invalid value: '{role}'. Supported values are: {names}, and "
            text += f"'{_ROLES[-1]}'."
            yield _breach(
                "role", place, f"role {role!r}", text, param=place, code="invalid_value"
            )
        elif message.get("content") is None and not message.get("tool_calls"):
            text = (
                f"Invalid value for 'content': expected a string, got null. ({place})"
            )
            yield _breach("content", place, "no content", text, param=place)


def _id(place: str, value: Any, limit: int | None) -> Iterator[Breach]:
    what: str | None = None
    code = "invalid_type"
    if not isinstance(value, str):
        kind = "null" if value is None else "an object"
        what = f"Invalid type for '{place}': expected a string, but got {kind} instead."
    elif not value:
        code = "empty_string"
        what = f"Invalid '{place}': empty string. Expected a string with minimum "
        what += "length 1, but got an empty string instead."
    elif limit is not None and len(value) > limit:
        code = "string_above_max_length"
        what = f"Invalid '{place}': string too long. Expected a string with maximum "
        what += f"length {limit}, but got a string with length {len(value)} instead."
    if what:
        yield _breach(
            "id", place, f"illegal id {value!r}", what, param=place, code=code
        )


def _function(place: str, value: Any) -> Iterator[Breach]:
    name = value.get("name") if isinstance(value, Mapping) else None
    arguments = value.get("arguments") if isinstance(value, Mapping) else None
    where = f"{place}.name"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        text = f"Invalid '{where}': string does not match pattern. Expected a string "
        text += "that matches the pattern '^[a-zA-Z0-9_-]+$'."
        detail = f"illegal name {name!r}"
        yield _breach("name", where, detail, text, param=where, code="invalid_value")
    where = f"{place}.arguments"
    if not isinstance(arguments, str):
        text = f"Invalid type for '{where}': expected a string, but got an object "
        text += "instead."
        detail = "arguments are no JSON string"
        yield _breach(
            "arguments", where, detail, text, param=where, code="invalid_type"
        )
    elif not _is_json(arguments):
        text = f"Invalid '{where}': expected a string that holds valid JSON."
        detail = "arguments are no valid JSON"
        yield _breach("arguments", where, detail, text, param=where)


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _pairing(messages: Sequence[Any], *, unique_ids: bool) -> Iterator[Breach]:
    """What must be answered, directly after the call and once; and nothing else."""
    answered: set[int] = set()
    seen: dict[str, str] = {}
    for turn in call_turns(messages):
        for k, id_ in enumerate(turn.ids):
            place = f"messages[{turn.index}].tool_calls[{k}]"
            first = seen.setdefault(str(id_), place)
            same_turn = first.startswith(f"messages[{turn.index}].")
            if first != place and (unique_ids or same_turn):
                text = (
                    f"Invalid parameter: Duplicate value for 'tool_call_id' of '{id_}'"
                )
                text += f", in {first} and {place}."
                detail = f"id {id_!r} stands in {first} already"
                yield _breach("unique", place, detail, text, param=place)
        left = {str(id_) for id_ in turn.ids}
        given: dict[str, int] = {}
        for i, answer in turn.answers:
            answered.add(i)
            yield from _answer(i, answer, left, given)
        missing = [str(id_) for id_ in turn.ids if str(id_) not in given]
        if missing:
            place = f"messages[{turn.index}]"
            text = "An assistant message with 'tool_calls' must be followed by tool "
            text += "messages responding to each 'tool_call_id'. The following "
            text += "tool_call_ids did not have response messages: "
            text += ", ".join(missing)
            detail = f"unanswered: {', '.join(missing)}"
            param = f"messages.[{turn.index + len(turn.answers) + 1}].role"
            yield _breach("adjacency", place, detail, text, param=param)
    for i, message in enumerate(messages):
        if _is_tool(message) and i not in answered:
            text = "Invalid parameter: messages with role 'tool' must be a response to "
            text += "a preceeding message with 'tool_calls'."
            detail = "a tool message with no call before it"
            param = f"messages.[{i}].role"
            yield _breach("orphan", f"messages[{i}]", detail, text, param=param)


def _answer(
    i: int, answer: JSON, left: set[str], given: dict[str, int]
) -> Iterator[Breach]:
    id_ = str(answer.get("tool_call_id"))
    place = f"messages[{i}]"
    param = f"messages.[{i}].tool_call_id"
    if id_ in given:
        text = f"Invalid parameter: Duplicate value for 'tool_call_id' of '{id_}', in "
        text += f"messages[{given[id_]}] and messages[{i}]."
        yield _breach("double", place, f"second answer of {id_!r}", text, param=param)
    elif id_ not in left:
        text = f"Invalid parameter: 'tool_call_id' of '{id_}' not found in 'tool_calls'"
        text += " of previous message."
        yield _breach("orphan", place, f"unknown id {id_!r}", text, param=param)
    given.setdefault(id_, i)


def judge_mistral(messages: Sequence[Any], *, tool_then_user: bool) -> list[Breach]:
    """Every breach of Mistral's rules.

    Args:
        messages: The messages of the request.
        tool_then_user: Whether a user message may follow a tool message; the older
            hosted API refuses it.
    """
    return [
        *_mistral_order(messages, tool_then_user=tool_then_user),
        *_mistral_ids(messages),
    ]


def _mistral_order(
    messages: Sequence[Any], *, tool_then_user: bool
) -> Iterator[Breach]:
    legal = {
        "user": {"user", "assistant", "system"},
        "assistant": {"user", "assistant", "tool"},
        "tool": {"assistant", "tool"} | ({"user"} if tool_then_user else set()),
    }
    for i, message in enumerate(messages):
        role = message.get("role")
        before = messages[i - 1].get("role") if i else None
        place = f"messages[{i}]"
        if i == 0 and role not in ("system", "user"):
            text = f"Expected first role to be one of: system, user; got {role}"
            yield _mistral("order", place, f"{role} comes first", text, _ORDER)
        if before in legal and role not in legal[before]:
            text = f"Unexpected role '{role}' after role '{before}'"
            yield _mistral("order", place, f"{role} after {before}", text, _ORDER)
        if (
            role == "assistant"
            and not message.get("content")
            and not message.get("tool_calls")
        ):
            text = "Assistant message must have either content or tool_calls, but not "
            text += "none."
            kind = ("invalid_assistant_message", "3240")
            yield _mistral("content", place, "empty assistant", text, kind)
    last = messages[-1] if messages else {}
    if last.get("role") not in ("user", "tool") and not last.get("prefix"):
        text = "Expected last role User or Tool (or Assistant with prefix True) for "
        text += f"serving but got {last.get('role')}"
        yield _mistral("last", "messages", "the last role", text, _ORDER)


def _mistral_ids(messages: Sequence[Any]) -> Iterator[Breach]:
    for turn in call_turns(messages):
        ids = [*turn.ids, *(answer.get("tool_call_id") for _, answer in turn.answers)]
        for id_ in dict.fromkeys(ids):
            if not isinstance(id_, str) or not _MISTRAL_ID.fullmatch(id_):
                text = f"Tool call id was {id_} but must be a-z, A-Z, 0-9, with a "
                text += "length of 9."
                place = f"messages[{turn.index}]"
                kind = ("invalid_function_call", "3280")
                yield _mistral("id", place, f"illegal id {id_!r}", text, kind)
        for call in turn.calls:
            name = (call.get("function") or {}).get("name")
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                text = (
                    f"Function name was {name} but must be a-z, A-Z, 0-9, or contain "
                )
                text += "underscores and dashes, with a maximum length of 64."
                place = f"messages[{turn.index}]"
                kind = ("invalid_function_call", "3280")
                yield _mistral("name", place, f"illegal name {name!r}", text, kind)
        if len(turn.answers) != len(turn.calls):
            text = "Not the same number of function calls and responses"
            detail = f"{len(turn.calls)} calls, {len(turn.answers)} responses"
            place = f"messages[{turn.index}]"
            yield _mistral("count", place, detail, text, _ORDER)
        given = [answer.get("tool_call_id") for _, answer in turn.answers]
        if sorted(map(str, given)) != sorted(set(map(str, turn.ids))):
            text = "Unexpected tool call id in tool results"
            place = f"messages[{turn.index}]"
            yield _mistral("pairing", place, "double or unknown ids", text, _ORDER)


def _mistral(
    rule: str, place: str, detail: str, message: str, kind: tuple[str, str]
) -> Breach:
    return Breach(rule, place, detail, message, {"type": kind[0], "code": kind[1]})
