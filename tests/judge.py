# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""An independent judge of a request; it shares no code with the guard.

`faults` walks the turns as a provider would: a model turn with calls must be
followed by a user turn with as many responses and nothing else. Beyond what a
provider can see, a call carries a token in `args["n"]` and its true response
echoes it, so that a swapped answer shows.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.genai import types


def faults(
    contents: list[types.Content],
    *,
    answered: Collection[int] | None = None,
    signed: bool = False,
    dialect: str = "gemini",
) -> list[str]:
    """Return what is wrong with a request.

    Args:
      contents: The contents as the model received them.
      answered: The tokens whose response was given; each must stand once, and
        no other call may show one. None where tokens are not judged.
      signed: Whether each step of the current turn must be signed.
      dialect: `gemini`, where ids may be left off, or `ids`, where each call
        must carry one.
    """
    found: list[str] = []
    if not contents:
        return ["nothing is sent"]
    found += _frame(contents)
    used: Counter[str] = Counter()
    waiting: list[types.FunctionCall] = []
    for n, content in enumerate(contents):
        parts = content.parts or []
        calls = [p.function_call for p in parts if p.function_call]
        said = [p.function_response for p in parts if p.function_response]
        if waiting or said:
            found += _round(n, waiting, said, len(parts), dialect)
        if calls and n and contents[n - 1].role != "user":
            found.append(f"turn {n}: calls behind a turn of the model")
        carried = [c.id for c in calls if c.id]
        if carried and len(carried) != len(calls):
            found.append(f"turn {n}: ids on some calls only")
        used.update(carried)
        waiting = calls
    if waiting:
        found.append(f"{len(waiting)} call(s) at the end without response")
    found += [f"id {i!r} on {times} calls" for i, times in used.items() if times > 1]
    if answered is not None:
        found += _tokens(contents, answered)
    return found + (_unsigned(contents) if signed else [])


def _frame(contents: list[types.Content]) -> list[str]:
    found = []
    if contents[0].role != "user":
        found.append("the model speaks first")
    if contents[-1].role != "user":
        found.append("the model speaks last")
    for n, content in enumerate(contents):
        if content.role not in ("user", "model"):
            found.append(f"turn {n}: role {content.role!r}")
        if not content.parts:
            found.append(f"turn {n}: no parts")
        for part in content.parts or ():
            data = part.model_dump(exclude_none=True, exclude={"thought"})
            data.pop("thought_signature", None)
            if not data or (data == {"text": ""} and not part.thought_signature):
                found.append(f"turn {n}: an empty part")
            if part.function_call and content.role != "model":
                found.append(f"turn {n}: a call of the user")
            if part.function_response and content.role != "user":
                found.append(f"turn {n}: a response of the model")
    return found


def _round(
    n: int,
    calls: list[types.FunctionCall],
    said: list[types.FunctionResponse],
    size: int,
    dialect: str,
) -> list[str]:
    found = []
    if len(calls) != len(said):
        found.append(f"turn {n}: {len(calls)} call(s), {len(said)} response(s)")
    elif size != len(said):
        found.append(f"turn {n}: something else beside the responses")
    for call, answer in zip(calls, said, strict=False):
        if call.name != answer.name:
            found.append(f"turn {n}: {call.name!r} answered as {answer.name!r}")
        if (call.id or None) != (answer.id or None):
            found.append(f"turn {n}: id {call.id!r} answered as {answer.id!r}")
        if dialect == "ids" and not call.id:
            found.append(f"turn {n}: {call.name!r} has no id")
        asked = (call.args or {}).get("n")
        told = (answer.response or {}).get("n")
        if told is not None and told != asked:
            found.append(f"turn {n}: call n={asked} has the answer n={told}")
    return found


def _tokens(contents: list[types.Content], answered: Collection[int]) -> list[str]:
    told: Counter[int] = Counter()
    for content in contents:
        for part in content.parts or ():
            said = part.function_response
            if said is not None and (said.response or {}).get("n") is not None:
                told[(said.response or {})["n"]] += 1
    wanted = Counter(answered)
    found = [f"the answer n={n} is lost" for n in wanted - told]
    return found + [f"the answer n={n} was never given" for n in told - wanted]


def _unsigned(contents: list[types.Content]) -> list[str]:
    found = []
    for n in range(len(contents) - 1, -1, -1):
        parts = contents[n].parts or []
        if contents[n].role == "user" and not any(p.function_response for p in parts):
            break
        calls = [part for part in parts if part.function_call]
        if calls and not calls[0].thought_signature:
            found.append(f"turn {n}: the first call is unsigned")
    return found


def written(contents: list[types.Content]) -> str:
    """Return the whole request as JSON text, to look for words in it."""
    return json.dumps([c.model_dump(mode="json", exclude_none=True) for c in contents])
