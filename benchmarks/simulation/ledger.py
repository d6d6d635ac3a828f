# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What was called, what ran, what was answered, and so what a request must hold.

Every call of the simulated model has a token of its own, `args["n"]`, and its answer
repeats it. The ledger is told of each call, run and answer by those who make them; it
reads nothing from ADK, so it can judge what ADK and the guard made of it.
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Kind(enum.StrEnum):
    """What can go wrong in a simulated session."""

    REJECTED = "rejected"  # the provider refused a request
    MISPLACED = "misplaced"  # an answer is lost, doubled or beside another call
    LOST_CALL = "lost-call"  # a call is gone from a request, doubled, or changed
    STORED_ID = "stored-id"  # an id stands at two calls of the stored session
    PARTIAL_ID = "partial-id"  # a partial event has another id than the final one
    RUNS = "runs"  # a tool did not run once with the arguments of its call
    FAULT = "fault"  # the run raised, or an event carries an error


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that went wrong: its kind, the turn of the session, and what."""

    kind: Kind
    turn: int
    what: str


class State(enum.StrEnum):
    """What the newest word on a call is."""

    PENDING = "pending"
    PROGRESS = "progress"
    ANSWERED = "answered"
    REJECTED = "rejected"


PENDING = {"status": "started"}
"""What a job says when it starts."""


def update(n: int) -> dict[str, Any]:
    """What a job says while it goes on."""
    return {"progress": n}


def answer(n: int) -> dict[str, Any]:
    """What a tool or a job says when it is done."""
    return {"n": n}


def _is_placeholder(response: Mapping[str, Any], n: int) -> bool:
    del n
    known = {"n", "progress"} & set(response)
    return not known and "rejected" not in str(response)


_EXPECTED: Mapping[State, Callable[[Mapping[str, Any], int], bool]] = {
    State.PENDING: _is_placeholder,
    State.PROGRESS: lambda response, n: response == update(n),
    State.ANSWERED: lambda response, n: response == answer(n),
    State.REJECTED: lambda response, _: "rejected" in str(response.get("error")),
}


@dataclass(slots=True)
class Entry:
    """A call of the model and what has become of it.

    Attributes:
        name: The tool.
        args: The arguments as the model gave them.
        runs: The arguments of each run of the tool.
        wanted: How often the tool must have run by now.
        state: The newest word on the call.
    """

    name: str
    args: Mapping[str, Any]
    runs: list[Mapping[str, Any]] = field(default_factory=list)
    wanted: int = 1
    state: State = State.PENDING


@dataclass(slots=True)
class Ledger:
    """All calls of one session by their tokens, and the breaches found so far."""

    calls: dict[int, Entry] = field(default_factory=dict)
    breaches: list[Breach] = field(default_factory=list)
    turn: int = 0

    def note(self, kind: Kind, what: str) -> None:
        """Record a breach."""
        self.breaches.append(Breach(kind, self.turn, what))

    def ran(self, name: str, args: Mapping[str, Any], state: State) -> None:
        """Record a run of a tool, and the word on its call that comes of it."""
        entry = self.calls.get(int(args["n"]))
        if entry is None or entry.name != name:
            self.note(Kind.RUNS, f"{name} ran for no call of its own: {args}")
            return
        entry.runs.append(args)
        entry.state = state

    def check_runs(self) -> None:
        """Check that each tool ran as often as it should, with its own arguments."""
        for n, entry in self.calls.items():
            if len(entry.runs) != entry.wanted:
                self.note(
                    Kind.RUNS,
                    f"{entry.name} n={n} ran {len(entry.runs)} times, "
                    f"not {entry.wanted}",
                )
                entry.wanted = len(entry.runs)
            if any(run != entry.args for run in entry.runs):
                self.note(Kind.RUNS, f"{entry.name} n={n} ran with {entry.runs[-1]}")
                entry.runs[:] = [entry.args] * len(entry.runs)

    def check_request(self, contents: Sequence[Mapping[str, Any]]) -> None:
        """Check that a request holds the newest word on each call, once, beside it."""
        beside, strays = read_pairs(contents)
        counts = Counter(call["args"].get("n") for call, _ in beside)
        for n, entry in self.calls.items():
            if counts[n] != 1:
                self.note(
                    Kind.LOST_CALL,
                    f"{entry.name} n={n} ({entry.state}) stands {counts[n]} times",
                )
        for call, response in beside:
            n = call["args"].get("n")
            known = self.calls.get(n)
            if known is None or (known.name, known.args) != (
                call["name"],
                call["args"],
            ):
                self.note(Kind.LOST_CALL, f"{call} stands for {known}")
            elif response is None or not _EXPECTED[known.state](response, n):
                self.note(
                    Kind.MISPLACED,
                    f"{known.name} n={n} ({known.state}) has {response}",
                )
        for stray in strays:
            self.note(Kind.MISPLACED, f"{stray} stands beside no call")


Pair = tuple[dict[str, Any], dict[str, Any] | None]


def read_pairs(contents: Sequence[Mapping[str, Any]]) -> tuple[list[Pair], list[Any]]:
    """Read each call of a request with the response beside it.

    Args:
        contents: The contents as JSON.

    Returns:
        The calls (name, args) with the bodies of the responses in the next turn, by
        id, else by order; and the responses that stand beside no call.
    """
    turns = [
        (
            [p["functionCall"] for p in c["parts"] if "functionCall" in p],
            [p["functionResponse"] for p in c["parts"] if "functionResponse" in p],
        )
        for c in contents
    ]
    pairs: list[Pair] = []
    strays: list[Any] = []
    open_calls: list[dict[str, Any]] = []
    for calls, responses in [*turns, ([], [])]:
        left = list(responses)
        for call in open_calls:
            mine = next(
                (r for r in left if r.get("id") == call.get("id")),
                None,
            )
            if mine is not None:
                left.remove(mine)
            said = {"name": call["name"], "args": call.get("args", {})}
            pairs.append((said, None if mine is None else mine.get("response", {})))
        strays += left
        open_calls = calls
    return pairs, strays
