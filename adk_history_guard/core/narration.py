# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Calls and responses told as text, where they cannot be sent as such.

A gateway that rebuilds turns from signed calls refuses a turn that another
model wrote (W6). Told in words it passes: the call as text of the model, its
response as text of the user, media as media.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_history_guard.core.signatures import is_marked, signed_calls
from adk_history_guard.core.turns import Action, Call, Place, Response, has_data

if TYPE_CHECKING:
    from adk_history_guard.core.repair import Job
    from adk_history_guard.core.turns import Turn

    Item = tuple[types.Part, Call | Response | None]


def call(said: Call) -> list[types.Part]:
    """Tell a call as text of the model.

    Args:
      said: A call.

    Returns:
      One text part with the tool's name and its arguments as JSON.
    """
    return [types.Part(text=f"[Called tool {said.name!r} with {as_json(said.args)}]")]


def response(part: types.Part, of: str | None = None) -> list[types.Part]:
    """Tell a response as text of the user; media of the response stays media.

    Args:
      part: A function response part.
      of: How to name the call that it answers; the response's name by default.

    Returns:
      One text part, then the media that the response held.
    """
    said = part.function_response
    if said is None:
        return [part]
    label = of or f"Tool {said.name!r}"
    return [
        types.Part(text=f"[{label} responded: {as_json(said.response)}]"),
        *media(said),
    ]


def media(said: types.FunctionResponse) -> list[types.Part]:
    """Return the media nested in a response as parts of their own."""
    return [
        own
        for nested in getattr(said, "parts", None) or ()
        if (own := own_part(nested)) is not None
    ]


def own_part(nested: types.FunctionResponsePart) -> types.Part | None:
    """Return one nested medium as a part of its own; None where it holds none."""
    if nested.inline_data is not None:
        blob = types.Blob(
            data=nested.inline_data.data, mime_type=nested.inline_data.mime_type
        )
        return types.Part(inline_data=blob)
    if nested.file_data is not None:
        file = types.FileData(
            file_uri=nested.file_data.file_uri, mime_type=nested.file_data.mime_type
        )
        return types.Part(file_data=file)
    return None


def as_json(value: Any) -> str:
    """Return a value as JSON: the same text for equal values, whatever they hold."""
    try:
        return json.dumps(value or {}, ensure_ascii=False, sort_keys=True, default=str)
    except (TypeError, ValueError):  # keys of several kinds, a loop
        return str(value)


def narrate_unsigned(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE unsigned call turns and their responses into text (W6).

    Behind a gateway a turn is signed by the id of a call. A history without any
    such id is left alone (W7), but for turns on record as another model's.
    Elsewhere the first call decides (G14), and a placeholder signs nothing. All
    such turns are told, not those of the current turn only, so that the text is
    the same in every request.
    """
    if job.profile.signatures != "demanded" or job.unsigned != "narrate":
        return turns
    marked = is_marked(turns, job.markers)
    signed = signed_calls(turns, job.profile, job.markers, job.origins)
    told = {
        call
        for turn in turns
        if turn.calls and _is_foreign(turn, signed, job, marked=marked)
        for call in turn.calls
    }
    return [_told(turn, told, job) for turn in turns]


def _is_foreign(turn: Turn, signed: set[Call], job: Job, *, marked: bool) -> bool:
    if not job.profile.signed_ids:
        return turn.calls[0] not in signed
    if marked or job.origins.distrust:
        return signed.isdisjoint(turn.calls)
    origins = job.origins
    recorded = any(
        call.id in origins.ids or (call.turn, call.part) in origins.places
        for call in turn.calls
    )
    return recorded and not any(call.signed for call in turn.calls)


def _told(turn: Turn, told: set[Call], job: Job) -> Turn:
    items: list[Item] = []
    changed = False
    for part, record in turn.items():
        if isinstance(record, Call) and record in told:
            texts = call(record)
            job.note(
                "HG401",
                Action.MOVE,
                Place(record.turn, record.part),
                f"the call {record} into text: its turn is not signed",
            )
        elif isinstance(record, Response) and job.pairs.owner.get(record) in told:
            owner = job.pairs.owner[record]
            texts = response(part, f"Tool {owner.name!r} with {as_json(owner.args)}")
            job.note(
                "HG401",
                Action.MOVE,
                Place(record.turn, record.part),
                f"the response {record} into text: its call's turn is not signed",
            )
        else:
            items.append((part, record))
            continue
        changed = True
        items.extend((text, None) for text in texts)
    return turn.remade(_one_text(items, job)) if changed else turn


def _one_text(items: list[Item], job: Job) -> list[Item]:
    """Join neighbouring texts of a told turn into one part.

    LiteLlm of ADK before 2.13 sends the first text of a model turn only. A
    signed text stays apart (G17), but where signatures are looked for in ids.
    """
    out: list[Item] = []
    for part, record in items:
        before = out[-1][0] if out else None
        if before is not None and _is_text(before, job) and _is_text(part, job):
            out[-1] = (types.Part(text=f"{before.text}\n{part.text}"), None)
        else:
            out.append((part, record))
    return out


def _is_text(part: types.Part, job: Job) -> bool:
    bare = part.thought_signature is None or job.profile.signed_ids
    return bool(part.text) and bare and not part.thought and not has_data(part)
