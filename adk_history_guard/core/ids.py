# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Ids on the wire: legal, unique, the same on both sides, or none at all.

Where a provider requires ids, an id that breaks its format, repeats or is
missing is mapped to one that is derived from the old id, the tool's name and
how often the two have come up: the same history gives the same ids in every
request, so a cached prefix stays. Where ids are optional (Gemini), an id that
would confuse is left off on both sides; ADK does that with its own.
"""

from __future__ import annotations

import hashlib
import string
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import (
    Action,
    Call,
    Place,
    Response,
    Turn,
    carries_data,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.genai import types

    from adk_history_guard.core.profiles import IdFormat
    from adk_history_guard.core.repair import Job

_ALPHABET = string.digits + string.ascii_letters


def derived_id(*seed: object, length: int = 9) -> str:
    """Return letters and digits that depend on nothing but the seed."""
    data = "\x1f".join(map(str, seed)).encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(data).digest(), "big")
    out = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        out.append(_ALPHABET[digit])
    return "".join(out)


def fit_ids(turns: list[Turn], job: Job) -> list[Turn]:
    """RENAME ids to the profile's format, on both sides of each pair.

    An id that carries data stays byte for byte on the first call under it, but
    where another model is on record for it or the provider can read no data in an
    id; a later call under it is another one. Sources: G6, G8, and the
    provider table of the contract; google-gemini/gemini-cli#6974 (ids on one
    side only).
    """
    form = job.profile.ids
    new = _required(turns, form, job) if form.required else _optional(turns, job)
    return [_renamed(turn, new, job) for turn in turns]


def _optional(turns: list[Turn], job: Job) -> dict[Call, str | None]:
    """Ids on all calls of a turn or on none; those that repeat go."""
    new: dict[Call, str | None] = {}
    seen: set[str] = set()
    for turn in turns:
        calls = turn.calls
        back = [job.origins.wire_ids.get((c.turn, c.part)) or c.id for c in calls]
        ids = [call_id for call_id in back if call_id]
        code = ""
        if len(ids) < len(calls):
            code = "HG502"
        elif len(set(ids)) < len(ids) or not seen.isdisjoint(ids):
            code = "HG501"
        if not code:
            seen.update(ids)
        for call, given in zip(calls, back, strict=True):
            wanted = None if code else given
            if call.id == wanted:
                continue
            new[call] = wanted
            how = "left off" if wanted is None else f"the provider's own, {wanted!r}"
            text = f"the id of {call} and of its response: {how}"
            place = Place(call.turn, call.part)
            job.note(code or "HG107", Action.RENAME, place, text)
    return new


def _required(turns: list[Turn], form: IdFormat, job: Job) -> dict[Call, str | None]:
    calls = [call for turn in turns for call in turn.calls]
    taken = {call.id for call in calls}
    new: dict[Call, str | None] = {}
    seen: set[str] = set()
    counts: dict[tuple[str | None, str | None], int] = {}
    for call in calls:
        back = job.origins.wire_ids.get((call.turn, call.part))
        if form.data and carries_data(call.id, job.markers):
            back = None  # the provider's own as it stands
        old = call.id
        known = job.origins.known_ids.get((call.turn, call.part))
        given = (
            (back, "HG107", "the provider's"),
            (known if old is None else None, "HG505", "the session's"),
        )
        for own, code, whose in given:
            if own and own not in taken and form.allows(own):
                taken.add(own)
                new[call] = own
                text = f"the id of {call} to {whose} own, {own!r}, on both sides"
                job.note(code, Action.RENAME, Place(call.turn, call.part), text)
                break
        if call in new:
            continue
        if old is not None and old not in seen and _is_legal(old, form, job):
            seen.add(old)
            continue
        code = "HG505" if old is None else "HG501" if old in seen else "HG504"
        count = counts[old, call.name] = counts.get((old, call.name), 0) + 1
        fresh = _fresh(old, call.name, count, form, taken)
        taken.add(fresh)
        new[call] = fresh
        text = f"the id of {call} to {fresh!r}, on both sides"
        job.note(code, Action.RENAME, Place(call.turn, call.part), text)
    return new


def _is_legal(call_id: str, form: IdFormat, job: Job) -> bool:
    """Whether an id may stay: data that the target may read, or its format."""
    if not form.data or not carries_data(call_id, job.markers):
        return form.allows(call_id)
    return call_id not in job.origins.ids


def _fresh(
    old: str | None,
    name: str | None,
    count: int,
    form: IdFormat,
    taken: Collection[str | None],
) -> str:
    length = (form.length if form.exact else None) or 16
    prefix = "" if form.exact else "call_"
    salt = 0
    while True:
        found = prefix + derived_id(old, name, count, salt, length=length)
        if found not in taken:
            return found
        salt += 1


def _renamed(turn: Turn, new: dict[Call, str | None], job: Job) -> Turn:
    items: list[tuple[types.Part, Call | Response | None]] = []
    changed = False
    for part, record in turn.items():
        call = job.pairs.owner.get(record) if isinstance(record, Response) else record
        if call in new:
            changed = True
            items.append((with_id(part, new[call]), record))
        else:
            items.append((part, record))
    return turn.remade(items) if changed else turn


def with_id(part: types.Part, call_id: str | None) -> types.Part:
    """Return a copy of a call or response part under another id."""
    update: dict[str, Any] = {}
    for name in ("function_call", "function_response"):
        value = getattr(part, name)
        if value is not None:
            update[name] = changed(value, {"id": call_id})
    return changed(part, update)
