# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Play sessions over other providers than Gemini: `python -m benchmarks.providers`.

Real `LiteLlm` and `AnthropicLlm` clients talk to the strict emulators over HTTP. Ids
repeat from a pool of 20 or are missing, calls are parallel, jobs are answered late or
never. Every request is checked: nothing refused, each answer once beside its own call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.genai import types

from adk_history_guard.testing import (
    RandomModel,
    StrictAnthropic,
    StrictGateway,
    StrictMistral,
    StrictOpenAI,
    guarded,
    say,
)
from adk_history_guard.testing.quiet import quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adk_history_guard.testing import Emulator, Model
    from adk_history_guard.testing.models import Reply

ANSWERS_JOBS = 0.4
"""How likely a turn of the client is the answer of a job, when one is open."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One emulator and the ids of its model."""

    server: Callable[[Model], Emulator]
    id_pool: Any = 20


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(StrictOpenAI),
    "openai-index": Provider(
        lambda model: StrictOpenAI(model, assign_ids=False), "missing"
    ),
    "gateway": Provider(StrictGateway),
    "gateway-misreports": Provider(
        lambda model: StrictGateway(model, misreport=True), "missing"
    ),
    "anthropic": Provider(StrictAnthropic),
    "mistral": Provider(StrictMistral, "missing"),
    "mistral-old": Provider(
        lambda model: StrictMistral(model, tool_then_user=False), "missing"
    ),
}
"""What is played; calls without an id get one of the emulator's, but for index."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One session to play."""

    provider: str
    seed: int = 1
    turns: int = 20
    stream: bool = False
    guard: bool = True


@dataclass(slots=True)
class Outcome:
    """What came of a session; `faults` is empty when all went well."""

    plan: Plan
    turns: int = 0
    requests: int = 0
    calls: int = 0
    late: int = 0
    faults: list[str] = field(default_factory=list)


class _Watched:
    """A model that has each request checked before it answers."""

    def __init__(self, inner: RandomModel, session: _Session) -> None:
        self._inner = inner
        self._session = session

    def reply(self, contents: list[Any], step: int) -> Reply:
        """Check the request, then answer it."""
        self._session.check(contents)
        known = len(self._inner.calls)
        reply = self._inner.reply(contents, step)
        self._session.calls.update(call.n for call in self._inner.calls[known:])
        return reply


@dataclass(slots=True)
class _Session:
    """The calls made and answered so far, by their tokens."""

    calls: set[int] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def check(self, messages: Sequence[Any]) -> None:
        """Check that each call stands once, with its own answer if it has one."""
        pairs = list(read_pairs(messages))
        counts = Counter(call for call, _ in pairs)
        for n in self.calls:
            if counts[n] != 1:
                self.faults.append(f"call n={n} stands {counts[n]} times")
        for call, answer in pairs:
            wanted = call if call in self.answered else None
            if answer != wanted:
                self.faults.append(f"call n={call} has the answer {answer}")


def read_pairs(messages: Sequence[Any]) -> Iterator[tuple[int, int | None]]:
    """Read the token of each call with that of the answer beside it.

    Calls and answers that the guard has put into the answer of a signed call count
    as beside each other.

    Args:
        messages: The messages of an OpenAI or Anthropic request.
    """
    for i, message in enumerate(messages):
        calls = list(_calls(message))
        if not calls:
            continue
        answers: dict[str, Any] = {}
        for after in messages[i + 1 :]:
            found = dict(_answers(after))
            if not found:
                break
            answers.update(found)
        for call_id, args in calls:
            body = answers.get(call_id) or {}
            yield args["n"], body.get("n")
            for other in body.get("parallel_calls") or ():
                yield other["call"]["args"]["n"], (other["response"] or {}).get("n")


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for call in message.get("tool_calls") or ():
        yield call["id"], json.loads(call["function"]["arguments"])
    for block in _blocks(message, "tool_use"):
        yield block["id"], block["input"]


def _answers(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if message.get("role") == "tool":
        yield message["tool_call_id"], _body(message["content"])
    for block in _blocks(message, "tool_result"):
        yield block["tool_use_id"], _body(block.get("content"))


def _blocks(message: Mapping[str, Any], kind: str) -> list[Any]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") == kind]


def _body(content: Any) -> Mapping[str, Any]:
    if isinstance(content, list):
        content = content[0].get("text")
    try:
        value = json.loads(content)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _tools(session: _Session) -> list[Any]:
    def look(n: int, words: str) -> dict[str, Any]:
        """Look something up."""
        session.answered.add(n)
        return {"n": n, "of": words}

    def see(n: int) -> dict[str, Any]:
        """See something."""
        session.answered.add(n)
        return {"n": n}

    def start_job(n: int) -> dict[str, Any]:
        """Start a job that says that it has started."""
        return {"status": f"started {n}"}

    def fetch(n: int) -> None:
        """Start a job that says nothing yet."""

    return [
        FunctionTool(look),
        FunctionTool(see),
        LongRunningFunctionTool(start_job),
        LongRunningFunctionTool(fetch),
    ]


_SPECS: Mapping[str, Mapping[str, Any]] = {
    "look": {"words": "str"},
    "see": {},
    "start_job": {},
    "fetch": {},
}


async def _play(plan: Plan) -> Outcome:
    provider, session, rng = PROVIDERS[plan.provider], _Session(), Random(plan.seed)
    inner = RandomModel(plan.seed, _SPECS, id_pool=provider.id_pool)
    outcome = Outcome(plan)
    jobs: list[types.FunctionCall] = []
    with provider.server(_Watched(inner, session)) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=_tools(session))  # type: ignore[attr-defined]
        runner = guarded(agent, guard=plan.guard)
        for turn in range(plan.turns):
            message: str | types.Content = f"turn {turn}"
            if jobs and rng.random() < ANSWERS_JOBS:
                job = jobs.pop(rng.randrange(len(jobs)))
                message = _answer(job)
                session.answered.add(int((job.args or {})["n"]))
                outcome.late += 1
            try:
                events = await say(runner, message, stream=plan.stream)
            except Exception as error:  # noqa: BLE001 - whatever a run may raise
                session.faults.append(f"{type(error).__name__}: {error}"[:300])
                break
            finally:
                session.faults += server.problems
            errors = [e.error_message for e in events if e.error_code]
            session.faults += [f"an event says {text}" for text in errors]
            if session.faults:
                break
            outcome.turns += 1
            jobs += _jobs(events)
        outcome.requests = len(server.requests)
        await runner.close()
    outcome.calls = len(session.calls)
    outcome.faults = session.faults
    return outcome


def _jobs(events: Sequence[Any]) -> list[types.FunctionCall]:
    return [
        call
        for event in events
        if not event.partial
        for call in event.get_function_calls()
        if call.id in (event.long_running_tool_ids or ())
    ]


def _answer(job: types.FunctionCall) -> types.Content:
    response = types.FunctionResponse(
        id=job.id, name=job.name, response={"n": int((job.args or {})["n"])}
    )
    return types.Content(role="user", parts=[types.Part(function_response=response)])


def play(plan: Plan) -> Outcome:
    """Play one session in an event loop of its own; it ends at its first fault."""
    return asyncio.run(_play(plan))


@quiet()
def main(argv: Sequence[str] | None = None) -> int:
    """Play the sessions that the arguments ask for, print a line for each provider."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--providers", nargs="+", default=list(PROVIDERS))
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-guard", dest="guard", action="store_false")
    args = parser.parse_args(argv)
    bad = 0
    for name in args.providers:
        for stream in (False, True):
            done = [
                play(Plan(name, args.seed + n, args.turns, stream, args.guard))
                for n in range(args.sessions)
            ]
            whole = [o for o in done if not o.faults]
            bad += len(done) - len(whole)
            print(
                f"{name} {'streamed' if stream else 'whole'}: {len(whole)} of "
                f"{len(done)} sessions without a fault; {sum(o.turns for o in done)} "
                f"turns, {sum(o.requests for o in done)} requests, "
                f"{sum(o.calls for o in done)} calls, {sum(o.late for o in done)} late"
            )
            for outcome in done:
                if outcome.faults:
                    print(f"  seed {outcome.plan.seed}: {outcome.faults[0]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
