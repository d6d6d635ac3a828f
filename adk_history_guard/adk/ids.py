# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One id per call, over all responses of one model call.

Theory of operation
-------------------
A model call yields partial responses and a final one. The same logical call may
show up in several of them: as streamed pieces (later ones without name or id),
as the same object again (ADK's aggregator), or as a fresh part with no id at
all (custom adapters). A `Stream` lives as long as one model call and keeps the
logical calls that it has seen, so that each has one id everywhere.

Facts it rests on
-----------------
* Parts of a partial response are the aggregator's own objects: an id set on
  them in place is the id in the final response, and keeps ADK 2.10 and later
  from dropping a second call under the provider's same id.
* Parts of a final response may belong to the model (a script, a cache): there a
  changed copy of the content is set on the response.
* Streamed pieces are copied into a new part before anybody sees them, so a
  second streamed call under one provider id is dropped all the same; it is
  put back from its pieces.
* An adapter may give the id only with a later showing of a call; the id shown
  first stays, and the later one is the provider's.
* A chunk of several calls that begins with all calls so far is a snapshot. One
  call alone, shown twice without an id, may be two calls: the aggregator would
  drop one of two under one id, so each showing gets its own, and the final
  response tells how many there are.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.adk.platform import uuid as platform_uuid
from google.genai import types

from adk_history_guard.adk.pieces import set_piece
from adk_history_guard.core.copies import changed
from adk_history_guard.core.ids import with_id
from adk_history_guard.core.turns import CLIENT_ID_PREFIX, carries_data

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container

    from google.adk.models.llm_response import LlmResponse

METADATA_KEY = "adk_history_guard"
"""Where provider ids and the model's name are kept in `custom_metadata`."""


class Mint(enum.StrEnum):
    """When a call gets an id of the guard's."""

    ALWAYS = "always"
    SHORT = "short"  # in place of ids that may come again; the long ones stay
    ON_REPEAT = "on_repeat"
    NEVER = "never"


_INDEX = re.compile(r"\d{1,3}")
"""What LiteLlm calls a streamed call without an id: its number in the turn."""


_LONG = re.compile(r".*?(?=[0-9A-Za-z]*\d[0-9A-Za-z]*\d)[0-9A-Za-z]{8,}")
"""An id that ends in so many characters, digits among them, is no counter."""


def new_id() -> str:
    """Return a new id: `adk-` and a uuid from ADK's own, replaceable source."""
    return f"{CLIENT_ID_PREFIX}{platform_uuid.new_uuid()}"


@dataclass(slots=True, eq=False)
class _Logical:
    """A call as the stream has shown it so far."""

    name: str | None
    provider_id: str | None
    id: str
    open: bool = False  # more pieces are to come
    pieces: bool = False
    args: dict[str, Any] = field(default_factory=dict)
    signature: bytes | None = None
    chunk: int = 0
    echo: bool = False  # maybe an earlier call, shown again
    final: bool = False  # found in the final response

    def take_id(self, call_id: str | None) -> None:
        """Learn the provider's id, where the call was shown without one before."""
        if self.provider_id is None and call_id and call_id != self.id:
            self.provider_id = call_id


@dataclass(slots=True)
class Known:
    """What the session knows of ids when a model call starts.

    Attributes:
      ids: Every id of a call in the session.
      closed: Those whose call is answered; under such an id a call is a new one.
      minted: Those that model calls of this run got; under such an id another
        model call's call is a new one. It grows.
    """

    ids: Container[str] = frozenset()
    closed: Container[str] = frozenset()
    minted: set[str] = field(default_factory=set)


class Stream:
    """The calls of one model call, from its first partial to its final response."""

    def __init__(
        self,
        mint: Mint,
        known: Known,
        markers: Collection[str],
        model: str | None = None,
        *,
        route: str | None = None,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        """Start a stream; see the module for what it does.

        Args:
          mint: When a call gets a new id.
          known: The ids of the session.
          markers: An id with one of these inside is never touched.
          model: The model's name, kept as provenance.
          route: The way to the model, kept likewise where it is known.
          make_id: Where new ids come from.
        """
        self._mint = mint
        self._known = known
        self._markers = tuple(markers)
        self._model = model
        self._route = route
        self._make_id = make_id
        self._calls: list[_Logical] = []
        self._by_id: dict[str, _Logical] = {}
        self._chunk = 0
        self.minted = 0

    def see(self, response: LlmResponse) -> None:
        """Give the calls of a response their ids; partial or final."""
        if self._mint is Mint.NEVER:
            return
        content = response.content
        if content is None or not content.parts:
            return
        self._chunk += 1
        if response.partial:
            for part in content.parts:  # most chunks are words
                if part.function_call is not None:
                    break
            else:
                return
            calls = [p.function_call for p in content.parts if p.function_call]
            again = iter(self._snapshot(calls))
            for part in content.parts:
                if part.function_call is not None:
                    self._see_piece(part, part.function_call, next(again, None))
        else:
            self._see_final(response, content, content.parts)

    # Partial responses: in place, on the aggregator's own parts.

    def _see_piece(
        self, part: types.Part, call: types.FunctionCall, again: _Logical | None
    ) -> None:
        logical = again or self._continued(call)
        if logical is None:
            whole = _is_whole(call)
            echo = whole and not call.id and any(map(self._shows(call), self._calls))
            logical = self._add(call)
            logical.pieces, logical.echo = not whole, echo
            logical.args = dict(call.args or {}) if whole else {}
        elif call.name and _is_whole(call):
            logical.take_id(call.id)
        if part.thought_signature is not None and logical.signature is None:
            logical.signature = part.thought_signature
        if call.name:
            logical.name = call.name
        for piece in call.partial_args or ():
            set_piece(logical.args, piece)
        logical.open = bool(call.will_continue)
        logical.chunk = self._chunk
        call.id = logical.id

    def _continued(self, call: types.FunctionCall) -> _Logical | None:
        """The call that a piece belongs to; None where it starts a new one."""
        mine = self._by_id.get(call.id) if call.id else None
        if mine is not None and not self._is_another(mine, call):
            return mine
        last = self._calls[-1] if self._calls else None
        if (
            last is not None
            and last.open
            and call.name in (None, "", last.name)
            and (not call.id or call.id == last.provider_id)
        ):
            return last
        if last is not None and not call.name:
            return self._open_under(call.id) or last
        if call.id and _is_whole(call):
            return self._sent_again(call)
        return None

    def _snapshot(self, calls: list[types.FunctionCall]) -> list[_Logical]:
        """The calls so far, where a chunk of several calls begins with them all."""
        if len(calls) <= 1 or any(logical.open for logical in self._calls):
            return []
        sure = [logical for logical in self._calls if not logical.echo]
        for known in (self._calls, sure):
            if len(known) <= len(calls) and all(
                _is_whole(call) and self._shows(call)(logical)
                for logical, call in zip(known, calls, strict=False)
            ):
                return list(known)
        return []

    def _shows(self, call: types.FunctionCall) -> Callable[[_Logical], bool]:
        """A test for the calls of earlier chunks that a call may be again."""
        # An id that carries data must stay on its call, so it is never a later one.
        late = not carries_data(call.id or "", self._markers)

        def test(logical: _Logical) -> bool:
            return (
                logical.chunk < self._chunk
                and logical.name == call.name
                and logical.args == (call.args or {})
                and (
                    not call.id
                    or call.id in (logical.id, logical.provider_id)
                    or (late and logical.provider_id is None)
                )
            )

        return test

    def _is_another(self, mine: _Logical, call: types.FunctionCall) -> bool:
        """Whether an id that was kept as the provider gave it names a second call."""
        if mine.id != mine.provider_id or mine.open or not call.name:
            return False
        starts = mine.pieces and bool(call.partial_args or call.will_continue)
        return starts or mine.chunk == self._chunk or call.name != mine.name

    def _open_under(self, call_id: str | None) -> _Logical | None:
        """The newest call under a provider's id that more pieces are to come for."""
        for logical in reversed(self._calls):
            if logical.open and logical.provider_id == (call_id or None):
                return logical
        return None

    def _sent_again(self, call: types.FunctionCall) -> _Logical | None:
        """The same call (name and arguments, no other id) in an earlier chunk."""
        found = list(filter(self._shows(call), self._calls))
        exact = [logical for logical in found if logical.provider_id == call.id]
        return next(iter(exact or found), None)

    def _add(self, call: types.FunctionCall) -> _Logical:
        provider_id = call.id or None
        logical = _Logical(
            call.name, provider_id, self._id_for(provider_id), chunk=self._chunk
        )
        self._calls.append(logical)
        self._by_id.setdefault(logical.id, logical)
        return logical

    def _id_for(self, provider_id: str | None) -> str:
        """The id of a new call: the provider's own, or a new one."""
        if provider_id is not None:
            if carries_data(provider_id, self._markers):
                return provider_id
            mine = provider_id.startswith(CLIENT_ID_PREFIX)
            known = self._known
            taken = (
                provider_id in self._by_id
                or provider_id in known.minted
                or provider_id in (known.closed if mine else known.ids)
            )
            kept = mine or self._keeps(provider_id)
            if kept and not taken and not _INDEX.fullmatch(provider_id):
                return provider_id
        self.minted += 1
        made = self._make_id()
        self._known.minted.add(made)
        return made

    def _keeps(self, provider_id: str) -> bool:
        if self._mint is Mint.SHORT:
            return _LONG.fullmatch(provider_id) is not None
        return self._mint is not Mint.ALWAYS

    # The final response: a changed copy of its content.

    def _see_final(
        self, response: LlmResponse, content: types.Content, parts: list[types.Part]
    ) -> None:
        if not any(part.function_call is not None for part in parts):
            if any(part.thought_signature is not None for part in parts):
                self._remember(response, [])
            return
        out: list[types.Part] = []
        found: list[_Logical] = []
        for part in parts:
            call = part.function_call
            if call is None:
                out.append(part)
                continue
            logical = self._match(call)
            if logical is None:
                continue  # the same call twice, sent again by the provider
            found.append(logical)
            out.append(part if call.id == logical.id else with_id(part, logical.id))
        lost = self._lost()
        if lost:
            out = self._with_lost(out, found, lost)
            found += lost
        if len(out) != len(parts) or any(
            new is not old for new, old in zip(out, parts, strict=True)
        ):
            response.content = content.model_copy(update={"parts": out})
        self._remember(response, found)

    def _match(self, call: types.FunctionCall) -> _Logical | None:
        """The logical call of a final part; None where it was matched before."""
        mine = self._by_id.get(call.id) if call.id else None
        if mine is not None and mine.id != mine.provider_id:
            if mine.final:
                return None
            mine.final = True
            return mine
        candidates = [
            logical
            for logical in self._calls
            if not logical.final
            and logical.name == call.name
            and (call.id or None) in (None, logical.provider_id)
        ]
        same = [c for c in candidates if c.args == (call.args or {})]
        late = [c for c in filter(self._shows(call), self._calls) if not c.final]
        logical = next(iter(same or candidates or late), None)
        if logical is None:
            logical = self._add(call)
        logical.take_id(call.id)
        logical.final = True
        return logical

    def _lost(self) -> list[_Logical]:
        """Streamed calls that were dropped since another one had their id."""
        kept = {logical.provider_id for logical in self._calls if logical.final}
        return [
            logical
            for logical in self._calls
            if not logical.final
            and logical.pieces
            and not logical.open
            and logical.name
            and logical.provider_id is not None
            and logical.provider_id in kept
        ]

    def _with_lost(
        self, parts: list[types.Part], found: list[_Logical], lost: list[_Logical]
    ) -> list[types.Part]:
        """Put lost calls back where the stream showed them.

        ADK may have handed a lost call's signature to the call after it, where the
        provider refuses it.
        """
        moved = {logical.signature for logical in lost} - {None}
        made = {id(logical): _rebuilt(logical) for logical in lost}
        slots = [n for n, part in enumerate(parts) if part.function_call is not None]
        for n, logical in zip(slots, found, strict=True):
            part = parts[n]
            if part.thought_signature in moved:
                part = changed(part, {"thought_signature": logical.signature})
            made[id(logical)] = part
        ordered = [made[id(each)] for each in self._calls if id(each) in made]
        out = list(parts)
        for n, part in zip(slots, ordered, strict=False):
            out[n] = part
        end = slots[-1] + 1 if slots else len(parts)
        return [*out[:end], *ordered[len(slots) :], *out[end:]]

    def _remember(self, response: LlmResponse, found: list[_Logical]) -> None:
        """Keep the provider's ids, the model and the way to it with the event."""
        given = {
            logical.id: logical.provider_id
            for logical in found
            if logical.provider_id is not None and logical.provider_id != logical.id
        }
        if not given and self._route is None:
            return
        record: dict[str, Any] = {"provider_ids": given} if given else {}
        model = response.model_version or self._model
        if model:
            record["model"] = model
        if self._route is not None:
            record["route"] = self._route
            if self._model and self._model != model:
                record["asked"] = self._model
        metadata = response.custom_metadata or {}
        before = metadata.get(METADATA_KEY)
        if isinstance(before, dict):  # the guard around the model was here first
            record = {**before, **record}
            ids = {**before.get("provider_ids", {}), **given}
            if ids:
                record["provider_ids"] = ids
        if before != record:
            response.custom_metadata = {**metadata, METADATA_KEY: record}


def _is_whole(call: types.FunctionCall) -> bool:
    return not call.partial_args and not call.will_continue


def _rebuilt(logical: _Logical) -> types.Part:
    return types.Part(
        function_call=types.FunctionCall(
            id=logical.id, name=logical.name, args=logical.args
        ),
        thought_signature=logical.signature,
    )
