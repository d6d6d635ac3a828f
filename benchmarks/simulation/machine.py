# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A state machine that plays user, model, tools, clients and restarts at random.

Runner, plugin, tools and session services are the real ones; only the model is a
script. Hypothesis chooses each step and shrinks what breaks. After each step the
laws are checked: `tests.judge` finds nothing in a request, each request holds the
newest word on each call once and beside it, no id repeats in the stored session,
partial and final ids agree, each tool ran once with its own arguments, and the
guard had no fault.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING, Any

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from pydantic import Field

from adk_history_guard import guard_model
from benchmarks.simulation.client import CONFIRMATION, Client
from benchmarks.simulation.ledger import (
    PENDING,
    Entry,
    Kind,
    Ledger,
    State,
    answer,
    update,
)
from benchmarks.simulation.process import Process, as_tools, check_ids, open_store
from tests.judge import faults

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google.adk.events import Event
    from google.adk.models import LlmRequest

TOOLS = ("look", "measure", "start_job", "fetch_file", "pay")
IDS = (None, "call_0", "call_1", "call_2", "0", "own")
"""Where a call's id comes from: none, a small pool, an index, one of its own."""

SHAPES = ("whole", "shared", "fresh", "early")
"""How a streamed reply comes: at once; a partial one of the same parts, of parts
of its own, or of parts whose ids the final one lacks."""

STORES = ("memory", "memory", "memory", "memory", "sqlite", "database")
ANSWERS = (answer, update)
FAILS = "fails"

ROUND = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(IDS)), min_size=1, max_size=3
)
REPLIES = st.builds(
    lambda rounds, end: rounds + end,
    st.lists(ROUND, max_size=3),
    st.sampled_from([[], [], [], [], [], [[FAILS]]]),
)
STEP = st.fixed_dictionaries(
    {
        "replies": REPLIES,
        "shape": st.sampled_from(SHAPES),
        "stream": st.booleans(),
        "leave": st.sampled_from([None, None, None, None, 1, 2, 3, 5, 8]),
    }
)
"""A run: what the model replies, how, and after how many events the client leaves."""


class ModelDownError(Exception):
    """The model's own failure, which the script asks for."""


class LawBrokenError(AssertionError):
    """What the play found to be wrong."""


class _Model(BaseLlm):
    """Has each request judged, and replies by the script of the play."""

    model: str = "gemini-3.5-flash"
    play: Any = Field(default=None, exclude=True)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        for response in self.play.reply(llm_request.contents, stream=stream):
            yield response


def make_tools(ledger: Ledger) -> list[Any]:
    """Return two plain tools, two jobs and one that is confirmed first."""

    async def look(n: int, word: str) -> dict[str, Any]:
        """Look something up."""
        await asyncio.sleep(0)
        ledger.ran("look", {"n": n, "word": word}, State.ANSWERED)
        return answer(n)

    def measure(n: int, word: str) -> dict[str, Any]:
        """Measure something."""
        ledger.ran("measure", {"n": n, "word": word}, State.ANSWERED)
        return answer(n)

    def start_job(n: int, word: str) -> dict[str, Any]:
        """Start a job that says that it has started."""
        ledger.ran("start_job", {"n": n, "word": word}, State.PENDING)
        return dict(PENDING)

    def fetch_file(n: int, word: str) -> None:
        """Start a job that says nothing yet."""
        ledger.ran("fetch_file", {"n": n, "word": word}, State.PENDING)

    async def pay(n: int, word: str) -> dict[str, Any]:
        """Pay, once a person has confirmed it."""
        ledger.ran("pay", {"n": n, "word": word}, State.ANSWERED)
        return answer(n)

    return as_tools(look, measure, jobs=(start_job, fetch_file), confirmed=pay)


class Conversation(RuleBasedStateMachine):
    """One session from its first message to the end; see the module."""

    steps = 0
    """How many steps all plays of this class have taken."""

    guarded = True
    """Whether the guard is there; without it the laws do not hold."""

    process: Process | None = None
    """What runs now; a play begins with starting it."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.client = Client(Random(0), self.ledger)
        self.tools = make_tools(self.ledger)
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.script: list[Any] = []
        self.shape = "whole"
        self.down = False
        self.made = 0
        self.loose: set[int] = set()  # calls that ADK may run later, or never

    # Steps.

    @initialize(
        store=st.sampled_from(STORES),
        door=st.sampled_from(("plugin", "plugin", "both")),
    )
    def opens(self, store: str, door: str) -> None:
        """A session begins, in one of ADK's stores."""
        self.store, self.door = store, door
        self.starts()
        self.loop.run(self._now.begin())

    @rule()
    def starts(self) -> None:
        """The process is made anew: agent, plugin, runner, and the store's door."""
        type(self).steps += 1
        self.loop.run(self._open())

    @rule(step=STEP)
    def speaks(self, step: dict[str, Any]) -> None:
        """The user says something."""
        self._send([types.Part(text=f"message {self.ledger.turn}")], step)

    @precondition(lambda self: self.client.jobs)
    @rule(step=STEP, data=st.data())
    def finishes_jobs(self, step: dict[str, Any], data: st.DataObject) -> None:
        """Jobs of one run come to an end or further on, in any order."""
        self._send(self._finish(self._some(self.client.jobs, data), data), step)

    @precondition(lambda self: self.client.questions)
    @rule(step=STEP, data=st.data())
    def confirms(self, step: dict[str, Any], data: st.DataObject) -> None:
        """The user confirms or rejects calls; jobs may end at the same time."""
        questions, jobs = self.client.questions, self.client.jobs
        chosen = self._some(questions, data)
        invocation = questions[chosen[0]].invocation
        beside = [n for n, job in jobs.items() if job.invocation == invocation]
        parts = []
        for n in chosen:
            confirmed = data.draw(st.booleans(), label=f"n={n} is confirmed")
            entry = self.ledger.calls[n]
            if confirmed:
                entry.wanted = 1
            else:
                entry.state = State.REJECTED
            said = {"confirmed": confirmed}
            parts.append(_response(CONFIRMATION, questions.pop(n).id, said))
        if data.draw(st.booleans(), label="jobs beside"):
            parts += self._finish(beside[:2], data)
        self._send(parts, step)

    def teardown(self) -> None:
        """The session ends."""
        try:
            if self.process is not None:
                self.loop.run(self.process.close())
        finally:
            self.loop.close()
            self.folder.cleanup()

    # The client's side.

    def _some(self, waiting: dict[int, Any], data: st.DataObject) -> list[int]:
        """Some tokens of one invocation: ADK 2 takes no others in one message."""
        first = data.draw(st.sampled_from(list(waiting)), label="first")
        same = [
            n
            for n, known in waiting.items()
            if known.invocation == waiting[first].invocation and n != first
        ]
        more = st.lists(st.sampled_from(same), unique=True) if same else st.just([])
        return [first, *data.draw(more, label="more")]

    def _finish(self, chosen: list[int], data: st.DataObject) -> list[types.Part]:
        parts = []
        for n in chosen:
            say = data.draw(st.sampled_from(ANSWERS), label=f"job n={n}")
            job = self.client.jobs[n]
            done = say is answer
            self.ledger.calls[n].state = State.ANSWERED if done else State.PROGRESS
            if done:
                del self.client.jobs[n]
            parts.append(_response(job.name, job.id, say(n)))
        return parts

    def _send(self, parts: list[types.Part], step: dict[str, Any]) -> None:
        type(self).steps += 1
        self.ledger.turn += 1
        self.script, self.shape = list(step["replies"]), step["shape"]
        self.down = False
        message = types.Content(role="user", parts=parts)
        run = self._now.run(message, stream=step["stream"])
        self.loop.run(self._run(run, step["leave"]))
        if self.ledger.breaches:
            raise LawBrokenError(*map(str, self.ledger.breaches))

    async def _run(self, run: AsyncGenerator[Event, None], leave: int | None) -> None:
        events: list[Event] = []
        left = False
        try:
            async with aclosing(run):
                async for event in run:
                    events.append(event)
                    if len(events) == leave:
                        left = True
                        break
        except Exception as error:  # noqa: BLE001 - whatever a run may raise
            if not self.down:
                self.ledger.note(Kind.FAULT, f"{type(error).__name__}: {error}"[:300])
        self.client.read(e for e in events if not (self.down and e.error_code))
        session = await self._now.session()
        if left or self.down:
            _settle(self.ledger, session.events if session is not None else [])
            self.loose |= {n for n, e in self.ledger.calls.items() if not e.runs}
        for n in self.loose & self.ledger.calls.keys():
            entry = self.ledger.calls[n]
            entry.wanted = min(1, len(entry.runs))
        self.ledger.check_runs()
        check_ids(self.ledger, session)
        if self._now.plugin.reporter.faults:
            self.ledger.note(Kind.FAULT, "the guard failed; see its log")

    # The model's side.

    def reply(self, contents: list[Any], *, stream: bool) -> list[LlmResponse]:
        """Judge a request, and return the responses to it."""
        self._judge(contents)
        calls = self.script.pop(0) if self.script else []
        if calls == [FAILS]:
            self.down = True
            raise ModelDownError
        if not calls:
            return [_say([types.Part(text="done")])]
        parts = [self._call(*call) for call in calls]
        parts[0].thought_signature = b"signed"
        if not stream or self.shape == "whole":
            return [_say(parts)]
        if self.shape == "shared":
            return [_say(parts, partial=True), _say(parts, partial=False)]
        fresh = [part.model_copy(deep=True) for part in parts]
        if self.shape == "early":
            for part in parts:
                part.function_call.id = None  # type: ignore[union-attr]
        return [_say(fresh, partial=True), _say(parts, partial=False)]

    def _judge(self, contents: list[Any]) -> None:
        sent = [
            content.model_dump(mode="json", by_alias=True, exclude_none=True)
            for content in contents
        ]
        self._expected(sent).check_request(sent)
        for fault in faults(contents, signed=True):
            self.ledger.note(Kind.REJECTED, fault)

    def _call(self, name: str, source: str | None) -> types.Part:
        self.made += 1
        n = self.made
        args = {"n": n, "word": f"word {n}"}
        wanted = 0 if name == "pay" else 1
        self.ledger.calls[n] = Entry(name, args, wanted=wanted)
        call_id = f"own_{n}" if source == "own" else source
        said = types.FunctionCall(id=call_id, name=name, args=dict(args))
        return types.Part(function_call=said)

    def _expected(self, sent: list[dict[str, Any]]) -> Ledger:
        """What a request must hold; a call that never ran may be gone from it.

        ADK 2.10 and later leaves such a call out when its invocation goes on.
        """
        shown = {
            part["functionCall"]["args"]["n"]
            for content in sent
            for part in content["parts"]
            if "functionCall" in part
        }
        calls = {
            n: entry
            for n, entry in self.ledger.calls.items()
            if n in shown or n not in self.loose or entry.state != State.PENDING
        }
        return Ledger(calls, self.ledger.breaches, self.ledger.turn)

    # The process.

    @property
    def _now(self) -> Process:
        """The process, which is there from the first step on."""
        if self.process is None:
            msg = "no process has been started"
            raise RuntimeError(msg)
        return self.process

    async def _open(self) -> None:
        before = self.process
        if before is not None:
            await before.close()
        if before is not None and self.store == "memory":
            service = before.service  # else nothing would be left of the session
        else:
            service = open_store(self.store, self.folder.name)
        llm: BaseLlm = _Model(play=self)
        if self.guarded and self.door == "both":
            llm = guard_model(llm)
        self.process = Process(llm, self.tools, service, guard=self.guarded)


def _say(parts: list[types.Part], **flags: Any) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=parts), **flags)


def _response(name: str, call_id: str, body: dict[str, Any]) -> types.Part:
    said = types.FunctionResponse(id=call_id, name=name, response=body)
    return types.Part(function_response=said)


def _settle(ledger: Ledger, events: list[Event]) -> None:
    """Take the word of the store after a run that broke off: what it lacks is lost."""
    tokens = {
        call.id: int((call.args or {})["n"])
        for event in events
        for call in event.get_function_calls()
        if call.name in TOOLS
    }
    said = {
        tokens[response.id]: response.response or {}
        for event in events
        for response in event.get_function_responses()
        if response.id in tokens
    }
    for n in set(ledger.calls) - set(tokens.values()):
        del ledger.calls[n]
    for n, entry in ledger.calls.items():
        entry.wanted = min(1, len(entry.runs))
        entry.state = _state(said.get(n, {}), n)


def _state(body: dict[str, Any], n: int) -> State:
    if body == answer(n):
        return State.ANSWERED
    if body == update(n):
        return State.PROGRESS
    return State.REJECTED if "rejected" in str(body) else State.PENDING
