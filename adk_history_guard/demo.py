# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: two agents that fail without the guard, and finish with it.

Everything is real but the model: ADK's Runner and `Gemini`, the google-genai client,
and the strict emulator on the loopback interface in place of Google's servers. What
is shown was read from the requests that the emulator received.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from google.adk.events import Event
    from google.genai import types
    from rich.console import Console

    from adk_history_guard.testing import RecordedRequest

__all__ = ["run_demo"]


@dataclass(frozen=True, slots=True)
class _Late:
    """A message of the client that ends jobs: their cities, in this order."""

    cities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scene:
    """An agent's script and what is said to it."""

    name: str
    title: str
    story: str
    script: Callable[[], list[Any]]
    messages: tuple[str | _Late, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A call of the last request with the response that stood beside it.

    Attributes:
        call: The call, such as `get_weather(Oslo)`.
        id: Its id on the wire, if it has one.
        response: What stood beside it, such as `get_weather(Oslo)`.
        right: Whether that is the call's own.
    """

    call: str
    id: str | None
    response: str | None
    right: bool


@dataclass(slots=True)
class Act:
    """How a scene went.

    Attributes:
        guard: Whether the guard was there.
        requests: How many requests the provider got.
        error: What the provider refused the last one with, if it did.
        pairs: The calls of the last request.
        said: The agent's last words.
        finished: Whether every message was answered.
    """

    guard: bool
    requests: int = 0
    error: str | None = None
    pairs: list[Pair] = field(default_factory=list)
    said: str = ""
    finished: bool = False


# The agents' tools.


def get_weather(city: str) -> dict[str, Any]:
    """Tell the weather of a city."""
    return {"city": city, "weather": "rain"}


def order_taxi(city: str) -> dict[str, Any]:
    """Order a taxi in a city; the driver answers later."""
    del city
    return {"status": "ordered"}


def book_train(city: str) -> None:
    """Book a train to a city; a clerk answers later."""


def _booked(city: str) -> dict[str, Any]:
    return {"city": city, "booking": f"{city[:1]}-{len(city)}"}


# The models: scripts of replies.


def _restarting_ids() -> list[Any]:
    """A model whose ids start again with each reply, as many servers' do."""
    from adk_history_guard.testing import call

    return [
        call("order_taxi", {"city": "Rome"}, id="call_1"),
        "The taxi is ordered.",
        call("get_weather", {"city": "Oslo"}, id="call_1"),
        "It rains in Oslo.",
        _tell,
    ]


def _two_jobs() -> list[Any]:
    from adk_history_guard.testing import call

    return [
        [call("book_train", {"city": "Oslo"}), call("book_train", {"city": "Rome"})],
        _tell,
    ]


def _tell(contents: Sequence[Mapping[str, Any]]) -> str:
    """Say which bookings the request tells of: what a model would make of it."""
    found = []
    for call, response in _beside(contents):
        booking = (response or {}).get("response", {}).get("booking")
        if booking:
            found.append(f"{call['args']['city']}: booking {booking}")
    return ", ".join(found) or "There are no bookings yet."


_SCENES = (
    _Scene(
        "rejected",
        "A call id comes up again while a job runs",
        "The model calls 'order_taxi', a long-running job, under the id 'call_1'. "
        "Asked for the weather, it gives that call the same id. Then the driver "
        "answers.",
        _restarting_ids,
        ("A taxi in Rome, please.", "How is Oslo?", _Late(("Rome",))),
    ),
    _Scene(
        "swapped",
        "Two parallel jobs are answered in reverse",
        "The model books two trains at once. The clerk answers for Rome first, then "
        "for Oslo. Nothing is refused: the model is told the wrong bookings.",
        _two_jobs,
        ("Trains to Oslo and to Rome, please.", _Late(("Rome", "Oslo"))),
    ),
)


def _beside(
    contents: Sequence[Mapping[str, Any]],
) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Each call with the response that stands beside it, by id, else by order."""
    out = []
    turns = [content.get("parts", []) for content in contents]
    for parts, following in zip(turns, [*turns[1:], []], strict=True):
        left = [p["functionResponse"] for p in following if "functionResponse" in p]
        for call in (p["functionCall"] for p in parts if "functionCall" in p):
            mine = next((r for r in left if r.get("id") == call.get("id")), None)
            if mine is not None:
                left.remove(mine)
            out.append((call, mine))
    return out


def _pairs(request: RecordedRequest) -> list[Pair]:
    pairs = []
    for call, response in _beside(request.contents):
        body = (response or {}).get("response", {})
        city = body.get("city")
        shown = None
        if response is not None:
            shown = f"{response['name']}({city})" if city else "not answered yet"
        wanted = f"{call['name']}({call['args']['city']})"
        right = shown in (wanted, "not answered yet")
        pairs.append(Pair(wanted, call.get("id"), shown, right))
    return pairs


def _late(message: _Late, events: Sequence[Event]) -> types.Content:
    """Answer the jobs of some cities, under the ids that the client has seen."""
    from google.genai import types

    jobs = {
        (call.args or {})["city"]: call
        for event in events
        for call in event.get_function_calls()
        if call.name in ("book_train", "order_taxi")
    }
    parts = [
        types.Part(
            function_response=types.FunctionResponse(
                id=jobs[city].id, name=jobs[city].name, response=_booked(city)
            )
        )
        for city in message.cities
    ]
    return types.Content(role="user", parts=parts)


async def _play(scene: _Scene, *, guard: bool) -> Act:
    from google.adk.agents import LlmAgent
    from google.adk.tools.long_running_tool import LongRunningFunctionTool
    from google.genai.errors import ClientError

    from adk_history_guard.options import GuardOptions
    from adk_history_guard.testing import StrictGemini, guarded, say

    act = Act(guard)
    seen: list[Event] = []
    with StrictGemini(scene.script()) as server:
        agent = LlmAgent(
            name="agent",
            model=server.model(),
            tools=[
                get_weather,
                LongRunningFunctionTool(order_taxi),
                LongRunningFunctionTool(book_train),
            ],
        )
        # The defaults, whatever the environment says.
        knobs: dict[str, Any] = {"options": GuardOptions()} if guard else {}
        runner = guarded(agent, guard=guard, **knobs)
        try:
            for message in scene.messages:
                what = _late(message, seen) if isinstance(message, _Late) else message
                seen += await say(runner, what)
            act.finished = True
        except ClientError as error:
            act.error = f"{error.code} {error.status}: {error.message}"
        act.requests = len(server.requests)
        act.pairs = _pairs(server.requests[-1])
    if act.finished:
        words = [p.text for e in seen if e.content for p in e.content.parts or ()]
        act.said = next((text for text in reversed(words) if text), "")
    return act


# What is shown.


def run_demo(
    format: Literal["text", "json"] = "text",  # noqa: A002 - the option's own name
    console: Console | None = None,
) -> int:
    """Run the demo; it needs no key and no network, and takes a few seconds.

    Args:
        format: `text` to read, or `json` with all that was found.
        console: Where it goes; standard output by default.

    Returns:
        The exit code: 0 when every scene finished with the guard, with each response
        beside its own call; else 1.
    """
    from rich.console import Console

    from adk_history_guard.testing.quiet import quiet

    out = console or Console(soft_wrap=True, highlight=False)
    report: list[dict[str, Any]] = []
    good = True
    if format == "text":
        _say_opening(out)
    with quiet():  # of ADK's tracebacks of the refused request, and its warnings
        for number, scene in enumerate(_SCENES, 1):
            acts = [asyncio.run(_play(scene, guard=guard)) for guard in (False, True)]
            good &= acts[1].finished and all(pair.right for pair in acts[1].pairs)
            report.append(
                {
                    "name": scene.name,
                    "title": scene.title,
                    "without": asdict(acts[0]),
                    "with": asdict(acts[1]),
                }
            )
            if format == "text":
                _say_scene(out, number, scene, acts)
    if format == "json":
        found = {"google_adk": version("google-adk"), "ok": good, "scenes": report}
        out.print(json.dumps(found, indent=2), markup=False, soft_wrap=True)
    return 0 if good else 1


def _say_opening(out: Console) -> None:
    out.print(
        f"adk-history-guard on google-adk {version('google-adk')}: a scripted model, "
        "everything else is real.\n"
    )


def _say_scene(out: Console, number: int, scene: _Scene, acts: Sequence[Act]) -> None:
    from rich.markup import escape

    out.print(f"[bold]{number}. {scene.title}[/bold]")
    out.print(scene.story + "\n")
    for act in acts:
        out.print(f"  [bold]{'With' if act.guard else 'Without'} the guard[/bold]")
        width = max(len(pair.call) for pair in act.pairs)
        for pair in act.pairs:
            given = pair.response or "nothing"
            mark = "" if pair.right else "  [red]<- not its own[/red]"
            call_id = f" {pair.id}" if pair.id else ""
            out.print(f"    call {pair.call:{width}}{call_id}  got  {given}{mark}")
        if act.error:
            refused = f"[red]Request {act.requests} was refused.[/red]"
            out.print(f"    {refused} {escape(act.error)}")
        else:
            right = all(pair.right for pair in act.pairs)
            colour = "green" if right else "red"
            out.print(f'    The agent says: [{colour}]"{escape(act.said)}"[/{colour}]')
            if not right:
                out.print("    Nothing was refused: nobody would have noticed.")
        out.print()
