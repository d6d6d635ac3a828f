# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The other side of the session: a person who talks and confirms, jobs that end late.

It knows nothing but the events of its runs, and answers under the ids it saw there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from google.genai import types

from benchmarks.simulation.ledger import Kind, State, answer, update

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from google.adk.events import Event

    from benchmarks.simulation.ledger import Ledger

_TAKES_WORDS = version("google-adk").startswith("1.")
"""Whether ADK takes words beside responses; ADK 2 refuses such a message itself."""

CONFIRMATION = "adk_request_confirmation"

ANSWERS_JOBS = 0.4
ANSWERS_QUESTIONS = 0.4
ADDS_WORDS = 0.05
MIXES = 0.1
ONLY_PROGRESS = 0.25
CONFIRMS = 0.75
"""How likely the client does what, when it can."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that waits for the client: its tool, its id and its invocation."""

    name: str
    id: str
    invocation: str


@dataclass(slots=True)
class Client:
    """Reads the events of runs, and says the next thing.

    Attributes:
        rng: Where its choices come from.
        ledger: Is told what it answers.
        jobs: The jobs that are not done, by token.
        questions: The open confirmation requests, by token of the call in question.
        late: How many answers it gave.
    """

    rng: Random
    ledger: Ledger
    jobs: dict[int, _Open] = field(default_factory=dict)
    questions: dict[int, _Open] = field(default_factory=dict)
    late: int = 0
    _partial: list[types.FunctionCall] = field(default_factory=list)

    # What it reads.

    def read(self, events: Iterable[Event]) -> None:
        """Read the events of a run."""
        self._partial.clear()
        for event in events:
            if event.error_code:
                text = f"{event.error_code}: {event.error_message}"
                self.ledger.note(Kind.FAULT, text)
            calls = event.get_function_calls()
            if event.partial:
                self._partial += [c.model_copy() for c in calls]
                continue
            if not calls:
                continue
            waiting = event.long_running_tool_ids or ()
            for call in calls:
                known = _Open(str(call.name), str(call.id), event.invocation_id)
                args = call.args or {}
                if call.name == CONFIRMATION:
                    token = int(args["originalFunctionCall"]["args"]["n"])
                    self.questions[token] = known
                elif call.id in waiting:
                    self.jobs[int(args["n"])] = known
            if calls[0].name != CONFIRMATION:
                self._compare(calls)

    def _compare(self, calls: list[types.FunctionCall]) -> None:
        """Compare the calls of the partial events with those of the final one."""
        by_id = {call.id: call for call in calls}
        for early in self._partial:
            final = by_id.get(early.id)
            if final is None or early.name not in (None, "", final.name):
                text = f"{early.name} {early.id!r} is none of {sorted(map(str, by_id))}"
                self.ledger.note(Kind.PARTIAL_ID, text)
            elif early.args and final.args and early.args["n"] != final.args["n"]:
                text = f"{early.id!r} was n={early.args['n']}, is n={final.args['n']}"
                self.ledger.note(Kind.PARTIAL_ID, text)
        self._partial.clear()

    # What it says.

    def speak(self) -> types.Content:
        """Return the next message of the session."""
        roll = self.rng.random()
        if self.jobs and roll < ANSWERS_JOBS:
            parts = self._finish_jobs(self._some(self.jobs))
            if _TAKES_WORDS and roll < ADDS_WORDS:
                parts.append(types.Part(text=f"beside {self.ledger.turn}"))
            return self._content(parts)
        if self.questions and roll > 1 - ANSWERS_QUESTIONS:
            chosen = self._some(self.questions)
            beside = self._beside(chosen[0]) if roll > 1 - MIXES else []
            parts = self._confirm(chosen) + self._finish_jobs(beside)
            self.rng.shuffle(parts)
            return self._content(parts)
        return self._content([types.Part(text=f"message {self.ledger.turn}")])

    def _content(self, parts: list[types.Part]) -> types.Content:
        return types.Content(role="user", parts=parts)

    def _some(self, waiting: dict[int, _Open]) -> list[int]:
        """Some tokens of one invocation: ADK 2 takes no others in one message."""
        chosen = waiting[self.rng.choice(list(waiting))].invocation
        found = [n for n, known in waiting.items() if known.invocation == chosen]
        return self.rng.sample(found, self.rng.randint(1, min(3, len(found))))

    def _beside(self, question: int) -> list[int]:
        """Jobs of the same invocation as a question."""
        invocation = self.questions[question].invocation
        return [n for n, job in self.jobs.items() if job.invocation == invocation][:2]

    def _finish_jobs(self, chosen: list[int]) -> list[types.Part]:
        """Answer some jobs, in any order; some have only come further."""
        parts = []
        for n in chosen:
            job = self.jobs[n]
            if self.rng.random() < ONLY_PROGRESS:
                self.ledger.calls[n].state = State.PROGRESS
                parts.append(_response(job.name, job.id, update(n)))
                continue
            del self.jobs[n]
            self.late += 1
            self.ledger.calls[n].state = State.ANSWERED
            parts.append(_response(job.name, job.id, answer(n)))
        return parts

    def _confirm(self, chosen: list[int]) -> list[types.Part]:
        """Confirm or reject some calls; the confirmed ones must run now."""
        parts = []
        for n in chosen:
            confirmed = self.rng.random() < CONFIRMS
            self.late += 1
            if confirmed:
                self.ledger.calls[n].wanted = 1
            else:
                self.ledger.calls[n].state = State.REJECTED
            said = {"confirmed": confirmed}
            parts.append(_response(CONFIRMATION, self.questions.pop(n).id, said))
        return parts


def _response(name: str, call_id: str, body: dict[str, Any]) -> types.Part:
    return types.Part(
        function_response=types.FunctionResponse(id=call_id, name=name, response=body)
    )
