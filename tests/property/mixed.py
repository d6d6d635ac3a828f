# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Histories in which everything goes wrong at once, and how to read what came of them.

Each call carries a number in `args["n"]`, and each response echoes the number of the
call it was made for: so a lost or swapped answer shows, also where calls were told as
text or put into the response of another call.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from google.genai import types
from hypothesis import strategies as st

from adk_history_guard.core.origins import Origins
from tests.builders import PLACEHOLDER, PNG, call, media, model, response, text, user

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("look", "see")
IDS = (None, None, "c1", "c1", "c2", "0", "a.b c", "toolu_" + "x" * 70, "abcdefghi")
MARKER = "||thought_signature||"
ANSWERED = 8
"""Of ten calls, how many have a response."""


def without_places(origins: Origins) -> Origins:
    """Return what is known of a request in which turns have moved."""
    return replace(origins, places=frozenset(), wire_ids={})


@dataclass
class Mixed:
    """A history, and what is known of it.

    Attributes:
      contents: The history.
      origins: Who wrote what, as far as it is on record.
      pending: Ids of calls that are unanswered on purpose.
      signatures: Each signature, or id with a signature inside, with the name and
        number of the first call that it was made for.
    """

    contents: list[types.Content] = field(default_factory=list)
    origins: Origins = field(default_factory=Origins)
    pending: tuple[str, ...] = ()
    signatures: dict[Any, tuple[str, int]] = field(default_factory=dict)


class _Writer:
    """Writes one history, choice by choice."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.made = Mixed()
        self.number = 0
        self.ids: list[str] = []
        self.foreign_ids: set[str] = set()
        self.foreign_signatures: set[bytes] = set()
        self.late: list[types.Part] = []

    def chance(self, of_ten: int) -> bool:
        return bool(self.draw(st.integers(0, 9)) >= 10 - of_ten)

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def write(self, turns: int) -> Mixed:
        out = self.made.contents
        for turn in range(turns):
            if self.chance(9):
                extra = [media()] if self.chance(2) else []
                out.append(user(f"words {turn}", *extra))
            for _ in range(self.draw(st.integers(0, 3))):
                self.round()
            if self.chance(7):
                signed = b"of a text" if self.chance(2) else None
                out.append(model(text(f"said {turn} ", signature=signed)))
                if self.chance(1):
                    out[-1].parts = [*(out[-1].parts or ()), *code()]
            if self.late and self.chance(5):
                out.append(user(*self.late, *([text("at last")] * self.chance(2))))
                self.late = []
            if self.chance(1):
                out.append(types.Content(role="user", parts=self.one(None, [])))
        if self.chance(5):
            out.append(user("and now?"))
        places, wire_ids = self.places()
        self.made.origins = Origins(
            signatures=frozenset(self.foreign_signatures),
            ids=frozenset(self.foreign_ids),
            places=places,
            wire_ids=wire_ids,
            distrust=self.chance(1),
        )
        return self.made

    def places(self) -> tuple[frozenset[tuple[int, int]], dict[tuple[int, int], str]]:
        """What is on record by turn and part: foreign calls, the provider's ids."""
        places: set[tuple[int, int]] = set()
        wire_ids: dict[tuple[int, int], str] = {}
        for turn, content in enumerate(self.made.contents):
            for k, part in enumerate(content.parts or ()):
                if part.function_call is None or not self.chance(2):
                    continue
                if part.function_call.id is None:
                    places.add((turn, k))
                wire_ids[turn, k] = self.one("given1", "given2", f"given{turn}.{k}")
        return frozenset(places), wire_ids

    def round(self) -> None:
        """A call turn and the responses to it, or some of them."""
        foreign = self.chance(2)
        calls = [self.call(k, foreign=foreign) for k in range(self.one(1, 1, 2, 3))]
        words: list[types.Part] = []
        if self.chance(3):
            words = [text("so")]
        if self.chance(1):
            words.append(types.Part(text="hm", thought=True))
        out = self.made.contents
        answers = self.answers(calls)
        if answers and self.chance(1):
            self.late.append(answers.pop())
        if answers and self.chance(1):
            mixed = types.Content(role="model", parts=[*words, *calls, *answers])
            out.append(mixed)
            return
        out.append(model(*words, *calls))
        if self.chance(1):
            out.append(model("wait"))
        if len(answers) > 1 and self.chance(2):
            out += [user(*answers[:1]), user("meanwhile"), user(*answers[1:])]
        elif answers:
            out.append(user(*answers))
            if self.chance(1):
                out[-1].role = self.one("function", "tool", None)

    def call(self, position: int, *, foreign: bool) -> types.Part:
        self.number += 1
        n, name = self.number, self.one(*NAMES)
        signature: bytes | None = None
        if self.chance(6 if position == 0 else 1):
            signature = self.one(*[b"made-for-%d" % n] * 3, PLACEHOLDER)
        call_id = self.one(*IDS)
        if self.chance(6 if position == 0 else 1):
            call_id = f"call_{n}{MARKER}c2ln{n}"
            if self.ids and self.chance(2):
                call_id = self.one(*self.ids)
            self.ids.append(call_id)
        for key in (signature, call_id):
            self.made.signatures.setdefault(key, (name, n))
        if foreign:
            self.foreign_signatures |= {signature} if signature else set()
            self.foreign_ids |= {call_id} if call_id else set()
        if call_id and self.chance(1):
            self.made.pending += (call_id,)
        made = call(name, id=call_id, signature=signature, n=n)
        if not self.draw(st.integers(0, 30)):
            made.thought = True
        if made.function_call is not None and not self.draw(st.integers(0, 40)):
            made.function_call.name = self.one(None, "")
        return made

    def answers(self, calls: Sequence[types.Part]) -> list[types.Part]:
        """Responses: shuffled, doubled, misnamed, without ids, beside media."""
        parts: list[types.Part] = []
        for made in calls:
            said = made.function_call
            if said is None or not self.chance(ANSWERED):
                continue
            n = (said.args or {})["n"]
            for _ in range(self.one(1, 1, 1, 1, 2)):
                name = "other" if self.chance(1) else said.name
                call_id = None if self.chance(1) else said.id
                part = response(name, id=call_id, n=n)
                if self.chance(1) and part.function_response is not None:
                    part.function_response.parts = self.nested(n)
                parts.append(part)
            if self.chance(2):
                parts.append(media(self.one("image/png", "image/gif")))
        if self.chance(2):
            parts = self.draw(st.permutations(parts))
        if self.chance(1):
            parts.append(response("nobody", id="orphan", n=0))
        if self.chance(1):
            beside = self.one("beside", "", None)
            parts.append(types.Part() if beside is None else text(beside))
        return list(parts)

    def nested(self, n: int) -> list[types.FunctionResponsePart]:
        kinds = self.one(("image/png",), ("image/png", "image/png"), ("image/gif",))
        blob = types.FunctionResponseBlob
        return [
            types.FunctionResponsePart(
                inline_data=blob(data=PNG + b"%d" % n, mime_type=kind, display_name="a")
            )
            for kind in kinds
        ]


def code() -> list[types.Part]:
    """What a model ran by itself, and what came of it."""
    ran = types.ExecutableCode(code="1", language=types.Language.PYTHON)
    came = types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="1")
    return [types.Part(executable_code=ran), types.Part(code_execution_result=came)]


@st.composite
def mixed(draw: st.DrawFn) -> Mixed:
    """Histories of every kind mixed."""
    return _Writer(draw).write(draw(st.integers(1, 4)))


def knobs(**always: Any) -> st.SearchStrategy[dict[str, Any]]:
    """The knobs that decide how a request is repaired, by name."""
    choices: dict[str, Sequence[str]] = {
        "parallel": ("keep", "collapse"),
        "orphans": ("drop", "narrate"),
        "unanswered": ("placeholder", "drop"),
        "media": ("separate", "nested"),
        "unsigned": ("auto", "narrate", "placeholder_signature"),
    }
    free = {k: st.sampled_from(v) for k, v in choices.items() if k not in always}
    return st.fixed_dictionaries({**free, **{k: st.just(v) for k, v in always.items()}})


_CALLED = re.compile(r"\[Called tool '\w+' with (\{.*?\})\]")
_TOLD = re.compile(r"\[Tool '\w+' with (\{.*?\}) responded: (\{.*?\})\]", re.DOTALL)


def told(contents: Sequence[types.Content]) -> list[tuple[int, int | None]]:
    """Return the number of each call with that of the response beside it.

    None for no response, or a placeholder. A call told as text, or inside of the
    response of another call, counts as the others do.
    """
    found: list[tuple[int, int | None]] = []
    for k, content in enumerate(contents):
        parts = content.parts or []
        calls = [p.function_call for p in parts if p.function_call]
        after = contents[k + 1].parts or [] if k + 1 < len(contents) else []
        said = [p.function_response for p in after if p.function_response]
        for position, made in enumerate(calls):
            body = (said[position].response or {}) if position < len(said) else {}
            found.append(((made.args or {})["n"], body.get("n")))
            for other in body.get("parallel_calls", ()):
                inner = other["response"] or {}
                found.append((other["call"]["args"]["n"], inner.get("n")))
        words = "\n".join(p.text for p in parts if p.text)
        answers = "\n".join(p.text for p in after if p.text)
        told = {json.loads(a)["n"]: json.loads(b) for a, b in _TOLD.findall(answers)}
        for args in _CALLED.findall(words):
            n = json.loads(args)["n"]
            found.append((n, told.get(n, {}).get("n")))
    return found


def pictures(contents: Sequence[types.Content]) -> Counter[bytes]:
    """Return all media, wherever they stand, counted."""
    found: Counter[bytes] = Counter()
    for content in contents:
        for part in content.parts or ():
            blobs: list[Any] = [part.inline_data]
            if part.function_response is not None:
                nested = part.function_response.parts or ()
                blobs += [inner.inline_data for inner in nested]
            found.update(blob.data for blob in blobs if blob is not None)
    return found
