# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Parallel calls where only the signed ones are replayed.

Facts
-----
Some gateways hide the thought signature inside the id of the first call of a
turn (W1, W2). On replay they rebuild the turn from its signed calls alone and
then count: one call, several responses, refused (W3). Splitting the turn does
not help, since a turn that the model did not make cannot be signed (W4). What
works is one signed call whose response holds the responses of its siblings,
each beside the call it answers (W5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_history_guard.core import media
from adk_history_guard.core.copies import changed
from adk_history_guard.core.signatures import signed_calls
from adk_history_guard.core.turns import Action, Call, Place, Response, Turn

if TYPE_CHECKING:
    from adk_history_guard.core.repair import Job

SIBLINGS = "parallel_calls"
"""The key of the siblings' calls and responses in the body of the signed call."""


def collapse_parallel(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE the responses of unsigned siblings into that of the signed call (W5).

    A turn without a signed call is left alone (W7), and so are one whose calls
    are all signed and one without any response.
    """
    if "collapse" not in (job.profile.parallel, job.options.parallel):
        return turns
    every = signed_calls(turns, job.profile, job.markers, job.origins)
    out: list[Turn] = []
    for turn in turns:
        if turn.responses and _is_mixed(out[-1], every):  # its calls, by now
            before = out.pop()
            kept = before.remade(
                (part, record)
                for part, record in before.items()
                if not isinstance(record, Call) or record in every
            )
            out += kept, _joined(turn, before.calls, kept, job)
        else:
            out.append(turn)
    return out


def _is_mixed(turn: Turn, signed: set[Call]) -> bool:
    """Whether some calls of a turn are signed, and some are not."""
    return not (signed.isdisjoint(turn.calls) or signed.issuperset(turn.calls))


def _joined(home: Turn, calls: list[Call], kept: Turn, job: Job) -> Turn:
    """The response turn of a collapsed call turn."""
    by_call = {job.pairs.owner.get(r): r for r in home.responses}
    parts = {record: part for part, record in home.items() if record is not None}
    first = kept.calls[0]
    told = []
    nested: list[types.FunctionResponsePart] = []
    for call in calls:
        if call in kept.calls:
            continue
        response = by_call.get(call)
        if response is not None:
            nested += media.nested(parts[response])
        body = None if response is None else response.body or {}
        label = {"name": call.name, "args": call.args or {}}
        told.append({"call": label, "response": body})
        job.note(
            "HG404",
            Action.MOVE,
            Place(call.turn, call.part),
            f"the call {call} and its response into the response to {first}",
        )
    items: list[tuple[types.Part, Call | Response | None]] = []
    for call in kept.calls:
        response = by_call.get(call)
        if response is None and call is first:
            response = Response(call.turn, call.part, call.id, call.name, {}, call.raw)
            parts[response] = types.Part(
                function_response=types.FunctionResponse(id=call.id, name=call.name)
            )
            job.pairs.owner[response] = call
        if response is None:
            continue
        part = parts[response]
        if call is first:
            part = _holding(part, _labelled(response.body, told), nested)
        items.append((part, response))
    items += [(part, record) for part, record in home.items() if record is None]
    return home.remade(items)


def _labelled(body: dict[str, Any] | None, told: list[Any]) -> dict[str, Any]:
    key = SIBLINGS
    while body and key in body:  # the tool's own word stays what it is
        key += "_"
    return {**(body or {}), key: told}


def _holding(
    part: types.Part, body: dict[str, Any], nested: list[types.FunctionResponsePart]
) -> types.Part:
    update: dict[str, Any] = {"response": body}
    if nested:
        update["parts"] = media.under_own_names([*media.nested(part), *nested])
    said = part.function_response or types.FunctionResponse()
    return changed(part, {"function_response": changed(said, update)})
