# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the session has on record of who wrote what, for one request.

Contents carry no model's name. But a thought signature occurs once, and an id
of a call mostly does: both lead from a part of the request to the event it came
from, and so to the model and route on record there (the guard's own metadata,
else `model_version`). The session is read once in a run, and then what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.ids import METADATA_KEY
from adk_history_guard.adk.keys import FEW, key_of
from adk_history_guard.adk.routes import Origin, is_foreign
from adk_history_guard.core.origins import NO_ORIGINS, Origins

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from google.adk.events import Event
    from google.genai import types


@dataclass(slots=True)
class _Written:
    """What one model has written."""

    signatures: set[bytes] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)


class Ledger:
    """Who wrote what in a session."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._events: list[Event] = []
        self._by_origin: dict[Origin, _Written] = {}
        self._provider_ids: dict[str, str] = {}
        self._known: tuple[Origin, int, Origins] | None = None

    def read(self, events: Sequence[Event]) -> None:
        """Read what has been added; where a known event is missing, all is read anew.

        An event that is removed, moved, or replaced by one not equal to it is seen.
        What is changed inside of an event that was read (its content, its metadata)
        is not: plugins do that before it is stored.
        """
        known = self._events
        n = len(known)
        # Lists compare by identity first; the last one tells copies at once.
        if known and (
            len(events) < n or events[n - 1] is not known[-1] or events[:n] != known
        ):
            known = self._events = []
            self._by_origin, self._provider_ids = {}, {}
            self._known = None
        fresh = events[len(known) :]
        for event in fresh:
            content = event.content
            if content is None:
                continue
            written: _Written | None = None
            for part in content.parts or ():
                call, signature = part.function_call, part.thought_signature
                if call is None and signature is None:
                    continue
                if written is None:
                    if event.author == "user":
                        break
                    written = self._written(event)
                if signature is not None:
                    written.signatures.add(signature)
                if call is not None and call.id:
                    written.ids.add(call.id)
        known += fresh

    def _written(self, event: Event) -> _Written:
        """What is known of the model that wrote an event."""
        if not event.custom_metadata:
            origin = Origin(event.model_version, None, None)
        else:
            origin, ids = on_record(event)
            self._provider_ids.update(ids)
        written = self._by_origin.get(origin)
        if written is None:
            written = self._by_origin[origin] = _Written()
        return written

    def origins(self, target: Origin) -> Origins:
        """Return what is foreign to a target, by signature and by id."""
        known = self._known
        if known is not None and known[0] == target and known[1] == len(self._events):
            return known[2]
        foreign, own = _Written(), _Written()
        for origin, written in self._by_origin.items():
            verdict = is_foreign(origin, target)
            kept = foreign if verdict else own
            kept.signatures |= written.signatures
            kept.ids |= written.ids
            if verdict is None and target.route == "anthropic":
                # Claude's are text (ADK decodes them); bytes that are none, and
                # of which nothing else is known, would end the run there.
                strange = {s for s in written.signatures if not _is_text(s)}
                foreign.signatures |= strange
                own.signatures -= strange
        found = NO_ORIGINS
        if foreign.signatures or foreign.ids:
            # One id under two models tells nothing.
            found = Origins(foreign.signatures - own.signatures, foreign.ids - own.ids)
        self._known = (target, len(self._events), found)
        return found

    def provider_ids(
        self, contents: Sequence[types.Content]
    ) -> dict[tuple[int, int], str]:
        """Return the provider's own id of each call that the guard has renamed."""
        known = self._provider_ids
        if not known:
            return {}
        found = self._session_ids(contents)
        return {place: known[i] for place, i in found.items() if i in known}

    def places(
        self, contents: Sequence[types.Content], origins: Origins
    ) -> frozenset[tuple[int, int]]:
        """Return the places of foreign calls, where ADK has left the ids off."""
        if not origins.ids:
            return frozenset()
        found = self._session_ids(contents)
        return frozenset(place for place, i in found.items() if i in origins.ids)

    def _session_ids(
        self, contents: Sequence[types.Content]
    ) -> dict[tuple[int, int], str]:
        """Return the session's id of each call of a request, by turn and part.

        Where ADK has left the ids off, a turn is found by the names and arguments
        of its calls. From the end: what is left out of a request is old.
        """
        calls = [calls for e in self._events if (calls := e.get_function_calls())]
        turns = _Turns(calls)
        out: dict[tuple[int, int], str] = {}
        last = len(calls)
        for n in range(len(contents) - 1, -1, -1):
            parts = enumerate(contents[n].parts or ())
            places = [(k, p.function_call) for k, p in parts if p.function_call]
            if not places:
                continue
            said = [call for _, call in places]
            found = turns.newest(said, before=last)
            if found is not None:
                last = found
            for j, (k, call) in enumerate(places):
                call_id = call.id
                if call_id is None and found is not None:
                    call_id = calls[found][j].id
                if call_id is not None:
                    out[n, k] = call_id
        return out


class _Turns:
    """The call turns of a session, to look those of a request up."""

    def __init__(self, turns: Sequence[Sequence[types.FunctionCall]]) -> None:
        self._turns = turns
        self._known: dict[tuple[bool, ...], dict[Hashable, list[int]]] = {}

    def newest(self, said: Sequence[types.FunctionCall], *, before: int) -> int | None:
        """Return the newest turn with these calls; `before` never rises."""
        if before and _is_same(said, self._turns[before - 1]):
            return before - 1  # As it is where nobody has changed the request.
        numbered = tuple([call.id is not None for call in said])
        known = self._known.get(numbered)
        if known is None:
            known = self._known[numbered] = {}
            for n, turn in enumerate(self._turns):
                if len(turn) == len(numbered):
                    known.setdefault(_key(turn, numbered), []).append(n)
        found = known.get(_key(said, numbered), [])
        while found and found[-1] >= before:
            found.pop()
        few = islice(reversed(found), FEW)
        return next((n for n in few if _is_same(said, self._turns[n])), None)


def _key(calls: Sequence[types.FunctionCall], numbered: tuple[bool, ...]) -> Hashable:
    """Names and arguments of calls, and the ids of those that have one."""
    return tuple(
        [
            (call.name, key_of(call.args or {}), call.id if has_id else None)
            for call, has_id in zip(calls, numbered, strict=True)
        ]
    )


def _is_same(
    one: Sequence[types.FunctionCall], other: Sequence[types.FunctionCall]
) -> bool:
    return len(one) == len(other) and all(
        a.name == b.name
        and (a.args or {}) == (b.args or {})
        and (a.id is None or a.id == b.id)
        for a, b in zip(one, other, strict=True)
    )


def on_record(event: Event) -> tuple[Origin, Mapping[str, str]]:
    """Return who wrote an event, and the provider's ids by the session's."""
    kept: Any = (event.custom_metadata or {}).get(METADATA_KEY)
    kept = kept if isinstance(kept, dict) else {}
    words = {k: v for k, v in kept.items() if isinstance(v, str)}
    origin = Origin(
        event.model_version or words.get("model"),
        words.get("route"),
        words.get("asked"),
    )
    ids = kept.get("provider_ids")
    known = ids if isinstance(ids, dict) else {}
    return origin, {k: v for k, v in known.items() if isinstance(v, str)}


def strange_signatures(contents: Sequence[types.Content], target: Origin) -> Origins:
    """Return signatures that a target cannot have made, from the contents alone."""
    if target.route != "anthropic":
        return NO_ORIGINS
    found = {
        part.thought_signature
        for content in contents
        for part in content.parts or ()
        if part.thought_signature is not None and not _is_text(part.thought_signature)
    }
    return Origins(found) if found else NO_ORIGINS


def _is_text(signature: bytes) -> bool:
    try:
        signature.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
