# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Media of responses: behind the last response, or inside the response.

Facts
-----
Put after its own response, an image splits the batch and strict providers
answer 400 (agentscope-ai/agentscope#2613); beside the responses it costs
Gemini quality (G26; agentscope-ai/agentscope#2628). So media stands in a user
turn behind the turn of all responses. Gemini 3 also takes some kinds inside a
response, each under a display name of its own (G25); others refuse or drop
what is nested, so there it is brought out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_history_guard.core import narration
from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import (
    Action,
    Call,
    Place,
    Response,
    Turn,
    is_media,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adk_history_guard.core.repair import Job

    Item = tuple[types.Part, Call | Response | None]

MEDIA_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
)
"""What Gemini 3 takes inside a response (G25)."""


def nest_media(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE media beside responses into them: `media="nested"`, Gemini 3 (G25).

    It belongs to the response right before it in its turn.
    """
    if job.options.media != "nested" or not job.profile.nested_media:
        return turns
    return [_nested(turn, job) if turn.responses else turn for turn in turns]


def _nested(turn: Turn, job: Job) -> Turn:
    owner = turn.responses[0]
    given: dict[Response, list[types.Blob]] = {}
    rest: list[Item] = []
    for n, (part, record) in enumerate(turn.items()):
        blob = part.inline_data
        if isinstance(record, Response):
            owner = record
        elif blob is not None and blob.mime_type in MEDIA_TYPES:
            given.setdefault(owner, []).append(blob)
            text = f"media into the response {owner}"
            job.note("HG205", Action.MOVE, turn.place(n), text)
            continue
        rest.append((part, record))
    if not given:
        return turn
    items: list[Item] = []
    for part, record in rest:
        new = part
        if isinstance(record, Response) and record in given:
            new = record.raw = _holding(part, given[record])
        items.append((new, record))
    return turn.remade(items)


def _holding(part: types.Part, blobs: list[types.Blob]) -> types.Part:
    said = part.function_response or types.FunctionResponse()
    parts = nested(part)
    for blob in blobs:
        inside = types.FunctionResponseBlob(
            data=blob.data, mime_type=blob.mime_type, display_name=blob.display_name
        )
        parts.append(types.FunctionResponsePart(inline_data=inside))
    return changed(part, {"function_response": changed(said, {"parts": parts})})


def rest_of(turn: Turn, out: list[Turn], job: Job) -> list[Turn]:
    """Return what stood beside the responses of a turn, as turns of its own.

    One turn; or one for each response where the profile says so. Media of two
    response turns in a row goes into one turn where the profile wants one.

    Args:
      turn: A turn with responses.
      out: The turns before it; the last one may take the rest in.
      job: The repair.
    """
    groups: list[list[Item]] = [[]]
    for part, record in turn.items():
        if record is not None:
            groups.append([])
        else:
            groups[-1].append((part, record))
    groups = [group for group in groups if group]
    if not groups:
        return []
    if job.profile.media_turns == "each":
        rests = [turn.remade(group) for group in groups]
    else:
        items = [item for group in groups for item in group]
        if out and out[-1] in job.rests:
            before = out.pop()
            rests = [before.remade([*before.items(), *items])]
        else:
            rests = [turn.remade(items)]
    job.rests.update(rests)
    return rests


def bring_out_media(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE media out of responses where the provider takes none of it there.

    Media that stands behind the responses already, turn by turn, is joined where
    the profile wants one turn of it. RENAME display names that repeat (G25).
    """
    out: list[Turn] = []
    each = job.profile.media_turns == "each"
    behind = False  # whether the last turn is media right behind responses
    for turn in turns:
        if turn.responses:
            new, media = _brought_out(turn, job)
            out.append(new)
            groups = media if each else [[item for one in media for item in one]]
            made = [Turn(turn.index, "user", []).remade(g) for g in groups if g]
            out.extend(made)
            behind = bool(made)
            continue
        is_media = _is_media(turn)
        if not each and behind and (is_media or turn in job.rests):
            if turn not in job.rests:
                text = "media into the turn of the media before it"
                job.note("HG205", Action.MOVE, turn.place(), text)
            before = out.pop()
            out.append(before.remade([*before.items(), *turn.items()]))
        else:
            behind = bool(out) and bool(out[-1].responses)
            out.append(turn)
        behind = behind and is_media
    return out


def _is_media(turn: Turn) -> bool:
    return turn.role == "user" and all(is_media(part) for part in turn.parts)


def _brought_out(turn: Turn, job: Job) -> tuple[Turn, list[list[Item]]]:
    items: list[Item] = []
    media: list[list[Item]] = []
    changed = False
    for part, record in zip(turn.parts, turn.responses, strict=True):  # nothing else
        new, brought = _emptied(part, record, job)
        media.append([(medium, None) for medium in brought])
        changed = changed or new is not part
        items.append((new, record))
    return (turn.remade(items) if changed else turn), media


def _emptied(
    part: types.Part, record: Response, job: Job
) -> tuple[types.Part, list[types.Part]]:
    place = Place(record.turn, record.part)
    stay: list[types.FunctionResponsePart] = []
    brought: list[types.Part] = []
    for medium in nested(part):
        own = None if _may_stay(medium, job) else narration.own_part(medium)
        if own is not None and _may_go(own, job):
            brought.append(own)
        else:
            stay.append(medium)
    kept = under_own_names(stay)
    renamed = any(new is not old for new, old in zip(kept, stay, strict=True))
    if renamed:
        text = f"display names of the response {record} that repeat"
        job.note("HG310", Action.RENAME, place, text)
    if brought:
        text = f"{len(brought)} media of the response {record} to behind the responses"
        job.note("HG309", Action.MOVE, place, text)
    if not renamed and not brought:
        return part, []
    said = part.function_response or types.FunctionResponse()
    new = changed(said, {"parts": kept or None})
    return changed(part, {"function_response": new}), brought


def _may_stay(medium: types.FunctionResponsePart, job: Job) -> bool:
    blob = medium.inline_data
    kind = blob.mime_type if blob is not None else None
    return job.profile.nested_media and kind in MEDIA_TYPES


def _may_go(medium: types.Part, job: Job) -> bool:
    """Whether ADK can send the medium as a part of its own."""
    wanted = job.profile.media_types
    data: Any = medium.inline_data or medium.file_data
    return wanted is None or data.mime_type in wanted


def nested(part: types.Part) -> list[types.FunctionResponsePart]:
    """Return the media that stand inside a response part."""
    return list(getattr(part.function_response, "parts", None) or ())


def under_own_names(
    parts: Iterable[types.FunctionResponsePart],
) -> list[types.FunctionResponsePart]:
    """Return media of one response with no display name twice (G25)."""
    names: set[str] = set()
    return [_own_name(medium, names) for medium in parts]


def _own_name(
    medium: types.FunctionResponsePart, names: set[str]
) -> types.FunctionResponsePart:
    blob = medium.inline_data
    if blob is None or not blob.display_name:
        return medium
    name = fresh = blob.display_name
    n = 2
    while fresh in names:
        fresh, n = f"{n}-{name}", n + 1
    names.add(fresh)
    if fresh == name:
        return medium
    new = changed(blob, {"display_name": fresh})
    return changed(medium, {"inline_data": new})
