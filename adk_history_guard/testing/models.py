# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The models behind the emulators: a script, or a seeded random model.

A model knows nothing of any provider's wire form. It answers with parts (`Text`,
`Call`, `Finish`) or with a `Failure`; the emulator gives them ids, signatures and the
provider's form.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

__all__ = [
    "Call",
    "Failure",
    "Finish",
    "IssuedCall",
    "Model",
    "Part",
    "RandomModel",
    "Reply",
    "Script",
    "Text",
    "as_model",
    "call",
    "failure",
    "finish",
    "text",
]

_WORDS = (
    *("amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbour"),
    *("indigo", "juniper", "kelp", "lagoon", "maple", "nectar", "onyx", "pollen"),
    *("quartz", "raven", "saffron", "tundra", "umber", "violet", "willow", "zephyr"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the model.

    Attributes:
        text: The words.
        signature: `True` has the emulator sign the part; a string is sent as it is.
        thought: Whether this is a thought summary, which only Gemini can express.
    """

    text: str
    signature: bool | str | None = None
    thought: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One function call of the model.

    Attributes:
        name: The function's name.
        args: The arguments.
        id: The id to give it. Gemini sends none for `None`; the other providers
            cannot, so their emulators make one up.
        signature: `None` signs as the real model would (the first call of a reply of
            a Gemini 3 model), `True` always, `False` never; a string is sent as it is.
        pieces: In how many pieces a stream sends the arguments; `None` sends the whole
            call at once.
        echo_id: Whether the later pieces of a stream repeat the id.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    signature: bool | str | None = None
    pieces: int | None = None
    echo_id: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """Ends a reply for another reason than the usual one, such as `MAX_TOKENS`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that is an error of the provider, whatever the request was.

    Attributes:
        status: The HTTP status, for example 429.
        message: The text of the error.
    """

    status: int
    message: str


Part: TypeAlias = Text | Call | Finish
Reply: TypeAlias = Sequence[Part] | Failure
ScriptItem: TypeAlias = (
    str
    | Part
    | Failure
    | Sequence[Part | str]
    | Callable[[list[Any]], "str | Part | Failure | Sequence[Part | str]"]
)


@runtime_checkable
class Model(Protocol):
    """What an emulator asks for its replies."""

    def reply(self, contents: list[Any], step: int) -> Reply:
        """Answer one accepted request.

        Args:
            contents: The `contents` or `messages` of the request, as they came.
            step: How many call turns the request holds since the user last spoke.
        """
        ...


def text(
    value: str, *, signature: bool | str | None = None, thought: bool = False
) -> Text:
    """Make a text part: `text("It rains.")`."""
    return Text(value, signature=signature, thought=thought)


def call(
    name: str,
    args: Mapping[str, Any] | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the provider's own word
    signature: bool | str | None = None,
    pieces: int | None = None,
    echo_id: bool = False,
) -> Call:
    """Make a function call: `call("get_weather", {"city": "Oslo"}, id="call_1")`.

    See `Call` for the arguments.
    """
    return Call(name, dict(args or {}), id, signature, pieces, echo_id)


def finish(reason: str) -> Finish:
    """End a reply for `reason`, in the provider's own word: `finish("MAX_TOKENS")`."""
    return Finish(reason)


def failure(status: int, message: str = "The service is unavailable.") -> Failure:
    """Refuse one request, whatever it is: `failure(429, "Quota exceeded.")`."""
    return Failure(status, message)


class Script:
    """A model that plays a list of replies, then repeats a last one.

    Each item is one reply: a text, a part, a list of them, a `failure(...)`, or a
    callable that is given the request's contents and returns one of these::

        Script([call("look", {"n": 1}), ["Wait.", call("look", {"n": 2})], "Fine."])

    Args:
        replies: The replies in order.
        otherwise: What is said when they are used up.
    """

    def __init__(
        self, replies: Iterable[ScriptItem] = (), *, otherwise: ScriptItem = "done"
    ) -> None:
        self._replies = list(replies)
        self._otherwise = otherwise
        self._next = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many replies have not been played yet."""
        return max(0, len(self._replies) - self._next)

    def reply(self, contents: list[Any], step: int) -> Reply:
        """Play the next reply."""
        del step
        with self._lock:
            item: Any = self._otherwise
            if self._next < len(self._replies):
                item = self._replies[self._next]
                self._next += 1
        return _normalise(item(contents) if callable(item) else item)


def _normalise(item: str | Part | Failure | Sequence[Part | str]) -> Reply:
    if isinstance(item, Failure):
        return item
    parts = [item] if isinstance(item, str | Text | Call | Finish) else list(item)
    return [Text(part) if isinstance(part, str) else part for part in parts]


def as_model(model: Model | Iterable[ScriptItem] | str | None) -> Model:
    """Turn what a caller may hand to an emulator into a model."""
    if isinstance(model, str):
        return Script(otherwise=model)
    return model if isinstance(model, Model) else Script(model or ())


@dataclass(frozen=True, slots=True)
class IssuedCall:
    """One call that a `RandomModel` has made: its token, name, id and arguments."""

    n: int
    name: str
    id: str | None
    args: Mapping[str, Any]


class RandomModel:
    """A seeded random model, the same for the same seed and order of requests.

    Every call has a token that no other call of this model has, in `args["n"]`. A tool
    that returns `{"n": n}` lets a test see answers that were swapped or lost, which no
    provider would report: see `tokens`.

    Args:
        seed: Seed of the choices.
        tools: The tools to call, by name, each with its further arguments: a kind
            (`"str"`, `"int"`, `"float"`, `"bool"`), a list to choose from, or a
            callable that is given the `random.Random`. A list of names will do.
        id_pool: The number of ids `call_<n>` to choose from, so that they repeat;
            `"unique"`: a new id for each call; `"missing"` or `None`: no ids.
        parallel: The least and the most calls of one reply.
        steps: The most call turns since the user last spoke; then comes text.
        call_rate: How likely a reply calls tools while it may.
        sign: `True` signs as the real model does, `False` never.
        sign_text: Whether text is signed now and then.
        stream_pieces: Whether streams send some of the arguments in pieces.
        repeat_in_turn: Whether an id may repeat within one turn.
        first: The first token.
    """

    def __init__(
        self,
        seed: int,
        tools: Mapping[str, Mapping[str, Any] | None] | Iterable[str],
        *,
        id_pool: int | Literal["unique", "missing"] | None = 20,
        parallel: tuple[int, int] = (1, 4),
        steps: int = 2,
        call_rate: float = 0.75,
        sign: bool = True,
        sign_text: bool = False,
        stream_pieces: bool = True,
        repeat_in_turn: bool = False,
        first: int = 1,
    ) -> None:
        self.calls: list[IssuedCall] = []
        self._random = Random(f"adk-history-guard:{seed}")  # noqa: S311 - seeded
        self._tools: dict[str, Mapping[str, Any]] = (
            {name: spec or {} for name, spec in tools.items()}
            if isinstance(tools, Mapping)
            else {name: {} for name in tools}
        )
        self._id_pool = id_pool
        self._parallel = parallel
        self._steps = steps
        self._call_rate = call_rate
        self._sign = None if sign else False
        self._sign_text = sign_text
        self._stream_pieces = stream_pieces
        self._repeat_in_turn = repeat_in_turn
        self._next = first
        self._said = 0
        self._lock = threading.Lock()

    def reply(self, contents: list[Any], step: int) -> Reply:
        """Answer with calls or with text."""
        del contents
        with self._lock:
            rng = self._random
            if step >= self._steps or not _chance(rng, self._call_rate):
                return [self._text(rng)]
            parts: list[Part] = []
            if _chance(rng, 0.2):
                parts.append(self._text(rng))
            ids: list[str | None] = []
            for _ in range(rng.randint(*self._parallel)):
                ids.append(self._id(rng, ids))
                parts.append(self._call(rng, ids[-1]))
            return parts

    def _text(self, rng: Random) -> Text:
        self._said += 1
        words = " ".join(rng.choice(_WORDS) for _ in range(rng.randint(2, 6)))
        signed = True if self._sign_text and _chance(rng, 0.5) else None
        return Text(f"[{self._said}] {words}", signature=signed)

    def _call(self, rng: Random, id_: str | None) -> Call:
        name = rng.choice(list(self._tools))
        n = self._next
        self._next += 1
        args: dict[str, Any] = {"n": n}
        for key, kind in self._tools[name].items():
            args[key] = _value(rng, kind)
        pieces, echo = None, False
        if self._stream_pieces:
            pieces = rng.choice((None, 1, 2, 3))
            echo = _chance(rng, 0.5)
        self.calls.append(IssuedCall(n, name, id_, args))
        return Call(name, args, id_, self._sign, pieces, echo)

    def _id(self, rng: Random, used: Sequence[str | None]) -> str | None:
        pool = self._id_pool
        if pool is None or pool == "missing":
            return None
        if pool == "unique":
            return f"call_{rng.getrandbits(64):016x}"
        if used and self._repeat_in_turn and _chance(rng, 0.5):
            return rng.choice(used)
        free = [k for k in range(pool) if f"call_{k}" not in used]
        return f"call_{rng.choice(free or range(pool))}"


def _chance(rng: Random, rate: float) -> bool:
    return rng.random() < rate


_KINDS: Mapping[str, Callable[[Random], Any]] = {
    "str": lambda rng: " ".join(rng.choice(_WORDS) for _ in range(3)),
    "int": lambda rng: rng.randint(0, 999),
    "float": lambda rng: rng.randint(0, 999) / 8,
    "bool": lambda rng: _chance(rng, 0.5),
}


def _value(rng: Random, kind: Any) -> Any:
    if isinstance(kind, list | tuple):
        return rng.choice(kind)
    if isinstance(kind, str):
        kind = _KINDS.get(kind, kind)
    return kind(rng) if callable(kind) else kind
