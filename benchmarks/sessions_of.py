# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of a given size and shape, made of plain ADK events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.events import Event
from google.genai import types

if TYPE_CHECKING:
    from collections.abc import Callable

AGENT = "root"
_MANY = 100


def _event(author: str, run: int, *parts: types.Part, role: str = "model") -> Event:
    return Event(
        author=author,
        invocation_id=f"run-{run}",
        content=types.Content(role=role, parts=list(parts)),
    )


def _call(call_id: str, n: int, *, signed: bool) -> types.Part:
    said = types.FunctionCall(id=call_id, name="look", args={"n": n})
    signature = b"signature" if signed else None
    return types.Part(function_call=said, thought_signature=signature)


def _response(call_id: str, n: int, text: str) -> types.Part:
    body = {"n": n, "text": text}
    said = types.FunctionResponse(id=call_id, name="look", response=body)
    return types.Part(function_response=said)


def make_events(
    size: int,
    *,
    id_of: Callable[[int], str] = "adk-{}".format,
    calls: int = 1,
    text: str = "what the tool has found",
    late: bool = False,
) -> list[Event]:
    """Make a session of rounds: question, calls, responses, answer.

    Args:
      size: How many events, about.
      id_of: The id of the n-th call.
      calls: How many calls a call turn has.
      text: What each response says.
      late: Whether every response comes after another question and answer.

    Returns:
      The events, in stored order.
    """
    events: list[Event] = []
    count = run = 0
    # A turn of many calls weighs what its calls weigh.
    while max(len(events), 2 * count if calls > _MANY else 0) < size:
        numbers = range(count, count + calls)
        count += calls
        events.append(_event("user", run, types.Part(text=f"go {run}"), role="user"))
        asked = [_call(id_of(n), n, signed=n == numbers[0]) for n in numbers]
        events.append(_event(AGENT, run, *asked))
        said = [_response(id_of(n), n, text) for n in numbers]
        if late:
            events.append(_event("user", run, types.Part(text="and?"), role="user"))
            events.append(_event(AGENT, run, types.Part(text="not yet")))
        events.append(_event(AGENT, run, *said, role="user"))
        events.append(_event(AGENT, run, types.Part(text=f"done {run}")))
        run += 1
    events.append(_event("user", run, types.Part(text="and now?"), role="user"))
    return events
