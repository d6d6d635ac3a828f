# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The judge of `generateContent` requests: the documented rules of Gemini.

It reads the JSON as it came over the wire and shares no code with the guard, so that
neither can hide a mistake of the other. A rule is named by its number in the
contract (G1 to G36); a breach carries the words in which Gemini reports it, which are
sometimes bare or misleading. Signatures have a file of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .records import Breach
from .wire import Turn, get, read_turns

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Ids", "judge"]

Ids: TypeAlias = Literal["optional", "unique", "refused"]

BARE = "Request contains an invalid argument."
COUNT = (
    "Please ensure that the number of function response parts is equal to the number "
    "of function call parts of the function call turn."
)
CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or "
    "after a function response turn."
)
RESPONSE_TURN = (
    "Please ensure that function response turn comes immediately after a function "
    "call turn."
)
ROLE = "Please use a valid role: user, model."
ALTERNATE = "Please ensure that multiturn requests alternate between user and model."
MODEL_LAST = "Requests ending with a model turn are not supported."
MODEL_LAST_2 = (
    "Please ensure that multiturn requests ends with a user role or a function "
    "response."
)
_LEARN_MORE = (
    " Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/"
    "model-reference/gemini"
)
NO_PARTS_VERTEX = (
    "Unable to submit request because it must include at least one parts field, which "
    "describes the prompt input." + _LEARN_MORE
)
EMPTY_TEXT_VERTEX = (
    "Unable to submit request because it has an empty text parameter. Add a value to "
    "the parameter and try again." + _LEARN_MORE
)
_NAME_RULE = (
    "Invalid function name. Must start with a letter or an underscore. Must be "
    "alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes "
    "(-), with a maximum length of 64."
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_DATA = {
    "text": "text",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}
_NESTED_MEDIA = {
    "image/png",
    "image/jpeg",
    "image/webp",
    "application/pdf",
    "text/plain",
}


@dataclass(frozen=True, slots=True)
class _Case:
    """A request under judgement."""

    turns: Sequence[Turn]
    body: Mapping[str, Any]
    gemini_3: bool
    vertex: bool
    ids: Ids
    alternate: bool


def judge(
    body: Mapping[str, Any],
    *,
    model: str,
    vertex: bool = False,
    ids: Ids = "optional",
    alternate: bool = False,
) -> list[Breach]:
    """Every breach of the structure, the one that the API reports first in front.

    Args:
        body: The JSON of the request.
        model: The model that is asked; Gemini 3 is stricter.
        vertex: Whether it is asked through Vertex AI.
        ids: `"unique"` refuses an id that stands in two turns, `"refused"` any id.
        alternate: Whether two turns of one role in a row are refused (older models).
    """
    contents = body.get("contents")
    turns = read_turns(contents if isinstance(contents, list) else [])
    if not turns:
        message = "* GenerateContentRequest.contents: contents is not specified\n"
        return [Breach("G2", "contents", "no contents", message)]
    case = _Case(turns, body, "gemini-3" in model, vertex, ids, alternate)
    checks = (_config, _parts, _functions, _roles, _counts, _order, _pairs, _ends)
    return [breach for check in checks for breach in check(case)]


def _config(case: _Case) -> Iterator[Breach]:
    """G28, G35: what stands beside the contents."""
    for t, tool in enumerate(case.body.get("tools") or []):
        declared = get(tool, "functionDeclarations", "function_declarations") or []
        for k, function in enumerate(declared):
            name = get(function, "name")
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                place = f"tools[{t}].function_declarations[{k}].name"
                message = f"* GenerateContentRequest.{place}: {_NAME_RULE}\n"
                yield Breach("G28", place, f"illegal name {name!r}", message)
    config = get(case.body, "generationConfig", "generation_config")
    thinking = get(config, "thinkingConfig", "thinking_config")
    budget = get(thinking, "thinkingBudget", "thinking_budget")
    level = get(thinking, "thinkingLevel", "thinking_level")
    if budget is not None and level is not None:
        message = "You can only set only one of thinking budget and thinking level."
        yield Breach("G35", "generationConfig", "budget and level are set", message)


def _parts(case: _Case) -> Iterator[Breach]:
    """G2, G3, G4: each content has parts, each part one data field."""
    for turn in case.turns:
        if not turn.parts:
            place = f"{turn.place()}.parts"
            message = f"* GenerateContentRequest.{place}: contents.parts must not be "
            message = NO_PARTS_VERTEX if case.vertex else f"{message}empty.\n"
            yield Breach("G2", place, "no parts", message)
        for k, part in enumerate(turn.parts):
            place = turn.place(k)
            fields = [c for c, s in _DATA.items() if get(part, c, s) is not None]
            message = f"* GenerateContentRequest.{place}.data: required oneof field "
            message += "'data' must have one initialized field\n"
            if len(fields) > 1:
                message = f"Invalid value at '{place}' (oneof), oneof field 'data' is "
                message += f"already set. Cannot set '{fields[1]}'"
                yield Breach("G3", place, f"several data fields: {fields}", message)
            elif not fields:
                message = NO_PARTS_VERTEX if case.vertex else message
                yield Breach("G3", place, "no data field", message)
            elif (
                fields == ["text"]
                and not part["text"]
                and not get(part, "thoughtSignature", "thought_signature")
            ):
                message = EMPTY_TEXT_VERTEX if case.vertex else message
                yield Breach("G4", place, "empty text", message)


def _functions(case: _Case) -> Iterator[Breach]:
    """G25, G28, G29, G30, G36: the fields of calls and responses."""
    for turn in case.turns:
        for k, call in turn.calls:
            place = f"{turn.place(k)}.function_call"
            yield from _common(case, place, call, "args")
            for camel, snake in _CALL_OUTPUT.items():
                if not case.vertex and get(call, camel, snake) is not None:
                    yield _unknown("G30", place, camel)
        for k, response in turn.responses:
            place = f"{turn.place(k)}.function_response"
            yield from _common(case, place, response, "response")
            for camel, snake in _NON_BLOCKING.items():
                if get(response, camel, snake) is not None:
                    yield _unknown("G30", place, camel)
            yield from _nested_media(case, place, get(response, "parts") or [])


_CALL_OUTPUT = {"partialArgs": "partial_args", "willContinue": "will_continue"}
_NON_BLOCKING = {"willContinue": "will_continue", "scheduling": "scheduling"}


def _unknown(rule: str, place: str, field: str) -> Breach:
    message = f"Invalid JSON payload received. Unknown name \"{field}\" at '{place}': "
    return Breach(rule, place, f"{field} is set", f"{message}Cannot find field.")


def _common(case: _Case, place: str, value: Any, data: str) -> Iterator[Breach]:
    name = get(value, "name")
    full = f"* GenerateContentRequest.{place}.name: "
    if not name:
        message = f"{full}Name cannot be empty.\n"
        yield Breach("G28", place, "no name", message)
    elif not isinstance(name, str) or not _NAME.fullmatch(name):
        message = f"{full}{_NAME_RULE}\n"
        yield Breach("G28", place, f"illegal name {name!r}", message)
    given = get(value, data)
    if given is not None and not isinstance(given, Mapping):
        message = f"Invalid value at '{place}.{data}' (type.googleapis.com/google."
        message += f'protobuf.Struct), "{given}"'
        yield Breach("G29", place, f"{data} is no JSON object", message)
    if case.ids == "refused" and get(value, "id") is not None:
        yield _unknown("G36", place, "id")


def _nested_media(case: _Case, place: str, parts: Sequence[Any]) -> Iterator[Breach]:
    if parts and not case.gemini_3:
        yield _unknown("G25", place, "parts")
        return
    names = Counter[str]()
    for part in parts:
        blob = get(part, "inlineData", "inline_data")
        mime = get(blob, "mimeType", "mime_type")
        if mime not in _NESTED_MEDIA:
            yield Breach("G25", place, f"media of type {mime!r}", BARE)
        names.update([get(blob, "displayName", "display_name") or ""])
    for name, count in names.items():
        if name and count > 1:
            yield Breach("G25", place, f"display name {name!r} is not unique", BARE)


def _roles(case: _Case) -> Iterator[Breach]:
    """G1, G33: the roles, and who may say what."""
    previous: Turn | None = None
    for turn in case.turns:
        if turn.role not in ("user", "model") and (turn.role or case.vertex):
            yield Breach("G1", turn.place(), f"role {turn.role!r}", ROLE)
        elif turn.calls and turn.is_user:
            yield Breach("G9", turn.place(), "calls in a user turn", CALL_TURN)
        elif turn.responses and not turn.is_user:
            detail = "responses in a model turn"
            yield Breach("G10", turn.place(), detail, RESPONSE_TURN)
        if case.alternate and previous and previous.is_user == turn.is_user:
            yield Breach("G33", turn.place(), "two turns of one role", ALTERNATE)
        previous = turn


def _counts(case: _Case) -> Iterator[Breach]:
    """G5: as many responses right after the call turn as it has calls."""
    for turn, after in _call_turns(case.turns):
        given = after.responses if after else []
        if len(given) != len(turn.calls):
            detail = f"{len(turn.calls)} calls, {len(given)} responses"
            yield Breach("G5", turn.place(), detail, COUNT)


def _call_turns(turns: Sequence[Turn]) -> Iterator[tuple[Turn, Turn | None]]:
    for turn in turns:
        if turn.calls:
            after = turn.index + 1
            yield turn, turns[after] if after < len(turns) else None


def _order(case: _Case) -> Iterator[Breach]:
    """G9 to G12, G26, G27: what stands before calls, and around responses."""
    for turn in case.turns:
        before = case.turns[turn.index - 1] if turn.index else None
        if turn.calls and not (before and before.is_user):
            detail = "a call turn after a model turn" if before else "calls come first"
            yield Breach("G9", turn.place(), detail, CALL_TURN)
        if turn.responses and not (before and before.calls):
            detail = "responses with no call turn right before"
            yield Breach("G10", turn.place(), detail, RESPONSE_TURN)
        if turn.responses and turn.calls:
            detail = "calls and responses share a turn"
            yield Breach("G12", turn.place(), detail, COUNT)
        elif (
            turn.responses and len(turn.responses) != len(turn.parts) and case.gemini_3
        ):
            # Vertex AI reports it as another fault.
            message = MODEL_LAST if case.vertex else BARE
            detail = "other parts beside the responses"
            yield Breach("G27", turn.place(), detail, message)


def _pairs(case: _Case) -> Iterator[Breach]:
    """G6, G7, G8: ids and names of a call turn and its responses."""
    seen: dict[str, int] = {}
    for turn, after in _call_turns(case.turns):
        ids = [get(call, "id") for _, call in turn.calls]
        if any(ids) and not all(ids):
            detail = "some calls of the turn have an id and some have none"
            yield Breach("G8", turn.place(), detail, BARE)
        for id_, count in Counter(filter(None, ids)).items():
            if count > 1:
                detail = f"id {id_!r} stands {count} times in the turn"
                yield Breach("G8", turn.place(), detail, BARE)
            if case.ids == "unique" and seen.setdefault(id_, turn.index) != turn.index:
                detail = f"id {id_!r} stands in contents[{seen[id_]}] already"
                yield Breach("G8", turn.place(), detail, BARE)
        if after and len(after.responses) == len(turn.calls):
            yield from _answers(turn, after)


def _answers(turn: Turn, after: Turn) -> Iterator[Breach]:
    left = list(after.responses)
    for k, (_, call) in enumerate(turn.calls):
        # By id where both have one, else by position: the order is all there is.
        found = next(
            (r for r in left if get(r[1], "id") and get(r[1], "id") == get(call, "id")),
            None,
        )
        part, response = found or after.responses[k]
        if found:
            left.remove(found)
        place = after.place(part)
        mine, its = get(call, "id"), get(response, "id")
        if (mine or its) and mine != its:
            detail = f"response id {its!r} for call id {mine!r}"
            yield Breach("G6", place, detail, BARE)
        elif get(call, "name") != get(response, "name"):
            detail = f"{get(response, 'name')!r} answers {get(call, 'name')!r}"
            yield Breach("G7", place, detail, BARE)


def _ends(case: _Case) -> Iterator[Breach]:
    """G31, G32, G33: the first content is the user's, and so is the last."""
    first, last = case.turns[0], case.turns[-1]
    if not first.is_user and not first.calls and not first.responses:
        yield Breach("G33", first.place(), "the model speaks first", ALTERNATE)
    if not last.is_user:
        message = MODEL_LAST if case.gemini_3 else MODEL_LAST_2
        yield Breach("G31", last.place(), "the model speaks last", message)
