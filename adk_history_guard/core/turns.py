# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of the core: turns, calls, responses, places, and the doors.

A *turn* is one content of a request or one event of a session. The `read_*`
doors look at google-genai objects once and hand out plain records; the
`write_*` doors give the untouched objects back where nothing changed. Nothing
in between mutates a google-genai object: they are shared with the session.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from google.genai import types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

T = TypeVar("T")

_ABOUT_DATA = frozenset(
    {
        "text",
        "thought",
        "thought_signature",
        "video_metadata",
        "media_resolution",
        "media_processing",
        "speech_metadata",
        "part_metadata",
    }
)
DATA_FIELDS = tuple(n for n in types.Part.model_fields if n not in _ABOUT_DATA)
"""The data fields of a part other than text; a new one of a later SDK counts."""

REQUEST_PREFIX = "adk_request_"
"""Calls with this prefix are ADK's own questions to the client."""

CONFIRMATION = "adk_request_confirmation"
CREDENTIAL = "adk_request_credential"

CLIENT_ID_PREFIX = "adk-"
"""Ids with this prefix were minted by ADK or the guard; ADK strips them."""


class Place(NamedTuple):
    """Where something stands; prints as `contents[4].parts[0]`."""

    turn: int
    part: int | None = None
    root: str = "contents"

    def __str__(self) -> str:
        """Return the place as an expression over the list it points into."""
        where = f"{self.root}[{self.turn}]"
        return where if self.part is None else f"{where}.parts[{self.part}]"


class Action(enum.StrEnum):
    """What a repair did with a part or a turn."""

    ADD = "add"
    DROP = "drop"
    MOVE = "move"
    RENAME = "rename"


class Severity(enum.StrEnum):
    """How sure a rejection is: documented or seen, or only reported."""

    ERROR = "error"
    WARNING = "warning"
    OFF = "off"


class Change(NamedTuple):
    """One thing that a repair did.

    Attributes:
      code: The rule whose breach made it necessary, such as `HG101`.
      action: ADD, DROP, MOVE or RENAME.
      place: Where it stood before the repair.
      message: What was done, with names and ids, never the user's text.
    """

    code: str
    action: Action
    place: Place
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return the change as JSON-ready strings."""
        return {
            "code": self.code,
            "action": str(self.action),
            "place": str(self.place),
            "message": self.message,
        }

    def __str__(self) -> str:
        """Return one line: place, code, action and message."""
        return f"{self.place}: {self.code} {self.action}: {self.message}"


class Violation(NamedTuple):
    """One breach of a provider's contract that stands in a request.

    Attributes:
      code: The rule's code, such as `HG101`.
      name: The rule's name, such as `unanswered-call`.
      severity: `error` or `warning`, by the profile.
      place: Where the breach stands.
      message: What is wrong, with names and ids, never the user's text.
      fix: The way out.
    """

    code: str
    name: str
    severity: Severity
    place: Place
    message: str
    fix: str

    def to_dict(self) -> dict[str, str]:
        """Return the violation as JSON-ready strings."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": str(self.severity),
            "place": str(self.place),
            "message": self.message,
            "fix": self.fix,
        }

    def __str__(self) -> str:
        """Return two lines: what is wrong and where, then the fix."""
        head = f"{self.place}: {self.code} {self.name}: {self.message}"
        return f"{head}\n  Fix: {self.fix}"


@dataclass(slots=True, eq=False)
class Call:
    """A function call part as read, by identity.

    Attributes:
      turn: Index of its turn in the list that was read.
      part: Index of its part in the turn.
      id: Its id; None where missing or empty.
      name: Its name; None where missing or empty.
      args: Its arguments; the object itself, not a copy.
      raw: The part itself.
      signed: Whether the part carries a thought signature.
      waits: Whether it is unanswered on purpose until somebody outside acts:
        long-running, or held up by a confirmation or a credential request.
      scope: Branch and isolation scope of its event; None in a request.
      run: The invocation of its event; None in a request.
    """

    turn: int
    part: int
    id: str | None
    name: str | None
    args: dict[str, Any] | None
    raw: types.Part
    signed: bool = False
    waits: bool = False
    scope: Any = None
    run: str | None = None

    def __str__(self) -> str:
        """Return the call's name and id, as messages show them."""
        return f"{self.name!r} (id {self.id!r})" if self.id else f"{self.name!r}"


@dataclass(slots=True, eq=False)
class Response:
    """A function response part as read, by identity.

    Attributes:
      turn: Index of its turn in the list that was read.
      part: Index of its part in the turn.
      id: Its id; None where missing or empty.
      name: Its name; None where missing or empty.
      body: The response object itself, not a copy.
      raw: The part itself.
      client: Whether the client posted it, not a tool of the run.
      scope: Branch and isolation scope of its event; None in a request.
      run: The invocation of its event; None in a request.
    """

    turn: int
    part: int
    id: str | None
    name: str | None
    body: dict[str, Any] | None
    raw: types.Part
    client: bool = False
    scope: Any = None
    run: str | None = None

    def __str__(self) -> str:
        """Return the response's name and id, as messages show them."""
        return f"{self.name!r} (id {self.id!r})" if self.id else f"{self.name!r}"


Record = Call | Response
"""What a call or response part was read into."""


@dataclass(slots=True, eq=False)
class Turn:
    """One turn on its way through the repair.

    Attributes:
      index: Where it stood in the input; -1 for a turn that a repair made.
      role: The role as it came; None where missing.
      parts: Its parts; a list of its own, the parts are the input's objects.
      calls: Its calls, in order.
      responses: Its responses, in order.
      source: The content it was read from; None once the turn differs.
    """

    index: int
    role: str | None
    parts: list[types.Part]
    calls: list[Call] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    source: types.Content | None = None

    def place(self, part: int | None = None) -> Place:
        """Return the place of this turn, or of one of its parts."""
        return Place(self.index, part)

    def items(self) -> Iterator[tuple[types.Part, Record | None]]:
        """Yield each part with its record; None for a part of another kind."""
        calls, responses = iter(self.calls), iter(self.responses)
        for part in self.parts:
            if part.function_call is not None:
                yield part, next(calls)
            elif part.function_response is not None:
                yield part, next(responses)
            else:
                yield part, None

    def remade(
        self,
        items: Iterable[tuple[types.Part, Record | None]],
        role: str | None = None,
    ) -> Turn:
        """Return a turn in place of this one, with other parts or another role."""
        turn = Turn(self.index, role or self.role, [])
        for part, record in items:
            turn.parts.append(part)
            if isinstance(record, Call):
                turn.calls.append(record)
            elif record is not None:
                turn.responses.append(record)
        return turn


def read_parts(
    turn: Turn,
    *,
    scope: Any = None,
    run: str | None = None,
    client: bool = False,
    waiting: Any = (),
) -> Turn:
    """Fill in the calls and responses of a turn from its parts."""
    calls, responses = turn.calls, turn.responses
    for n, part in enumerate(turn.parts):
        call = part.function_call
        if call is not None:
            calls.append(
                Call(
                    turn.index,
                    n,
                    call.id or None,
                    call.name or None,
                    call.args,
                    part,
                    bool(part.thought_signature),
                    call.id in waiting,
                    scope,
                    run,
                )
            )
            continue
        response = part.function_response
        if response is not None:
            responses.append(
                Response(
                    turn.index,
                    n,
                    response.id or None,
                    response.name or None,
                    response.response,
                    part,
                    client,
                    scope,
                    run,
                )
            )
    return turn


def read_contents(contents: Iterable[types.Content]) -> list[Turn]:
    """Read the contents of a request into turns, one for each content."""
    return [
        read_parts(Turn(n, content.role, list(content.parts or ()), source=content))
        for n, content in enumerate(contents)
    ]


def reread(turns: Sequence[Turn]) -> list[Turn]:
    """Number turns anew and read their calls and responses from their parts."""
    return [
        read_parts(Turn(n, turn.role, turn.parts, source=turn.source))
        for n, turn in enumerate(turns)
    ]


def records(turns: Iterable[Turn]) -> Iterator[Record]:
    """Yield the calls and responses of turns, turn by turn."""
    for turn in turns:
        yield from turn.calls
        yield from turn.responses


def write_contents(turns: Iterable[Turn]) -> list[types.Content]:
    """Write turns as contents; an untouched content stays the same object."""
    return [
        types.Content(role=turn.role, parts=turn.parts)
        if turn.source is None
        else turn.source
        for turn in turns
    ]


def by_speaker(
    items: Iterable[T], parts: Iterable[types.Part], role: str
) -> list[tuple[str, list[T]]]:
    """Cut what stands for parts, or the parts themselves, where the speaker changes.

    Args:
      items: One for each part.
      parts: The parts of a turn.
      role: The role of the turn, whose words and media are said in it.
    """
    told = zip(_speakers(parts, role), items, strict=True)
    return [
        (speaker, [item for _, item in run])
        for speaker, run in groupby(told, itemgetter(0))
    ]


def _speakers(parts: Iterable[types.Part], role: str) -> Iterator[str]:
    """Yield who says each part: the model its calls, the user the responses.

    Media behind a response came with it; the rest is said in the turn's own role.
    """
    before = ""
    for part in parts:
        if part.function_call is not None:
            before = "model"
        elif part.function_response is not None:
            before = "user"
        elif before != "user" or not is_media(part):
            before = role
        yield before


def has_data(part: types.Part) -> bool:
    """Tell whether a part has a data field other than text."""
    return any(getattr(part, name) is not None for name in DATA_FIELDS)


def is_media(part: types.Part) -> bool:
    """Tell whether a part is media and nothing else."""
    return part.inline_data is not None or part.file_data is not None


def is_empty(part: types.Part) -> bool:
    """Tell whether a part holds nothing at all, not even a signature."""
    return not (part.text or part.thought_signature or has_data(part))


def is_request_for_client(name: str | None) -> bool:
    """Tell whether a call is one of ADK's own questions to the client."""
    return name is not None and name.startswith(REQUEST_PREFIX)


DATA_MARKERS = ("__thought__", "||thought_signature||", "::sig::")
"""An id with one of these inside carries a signature and is never touched."""


def carries_data(call_id: str | None, markers: Iterable[str] = DATA_MARKERS) -> bool:
    """Tell whether an id carries data, so that it must stay byte for byte."""
    return call_id is not None and any(marker in call_id for marker in markers)
