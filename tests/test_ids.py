# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One id per call: over partial and final responses, of every kind of model.

The first half drives a `Stream` by hand, one response after the other; ids are
`adk-1`, `adk-2`. The second half streams from a real client over loopback
through a real Runner.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import logging
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event
from google.genai import types

from adk_history_guard.adk.ids import METADATA_KEY, Known, Mint, Stream
from adk_history_guard.core.turns import DATA_MARKERS
from adk_history_guard.testing import StrictGemini
from adk_history_guard.testing import call as answer_call
from tests.agents import Scripted, final, make_runner, partial, say, stored
from tests.builders import call, model


def make_stream(mint: Mint = Mint.ALWAYS, **known: Any) -> Stream:
    """Return a stream whose new ids are `adk-1`, `adk-2` and so on."""
    numbers = itertools.count(1)
    return Stream(
        mint,
        Known(**known),
        DATA_MARKERS,
        model="m",
        make_id=lambda: f"adk-{next(numbers)}",
    )


def ids(response: Any) -> list[str | None]:
    """Return the ids of the calls of a response."""
    parts = response.content.parts
    return [p.function_call.id for p in parts if p.function_call]


def seen(stream: Stream, *responses: Any) -> list[list[str | None]]:
    """Let a stream see responses; return their ids as they are afterwards."""
    found = []
    for response in responses:
        stream.see(response)
        found.append(ids(response))
    return found


def piece(
    name: str | None = None,
    path: str | None = None,
    value: Any = None,
    *,
    goes_on: bool = True,
    call_id: str | None = None,
) -> types.Part:
    """Return a streamed piece of a call."""
    said = types.FunctionCall(id=call_id, name=name, will_continue=goes_on or None)
    if path is not None:
        field = "string_value" if isinstance(value, str) else "number_value"
        said.partial_args = [types.PartialArg(json_path=path, **{field: value})]
    return types.Part(function_call=said)


def test_partial_and_final_of_fresh_parts_share_an_id():
    """An adapter that builds a new part for the final response gets one id."""
    found = seen(make_stream(), partial(call("look", n=1)), final(call("look", n=1)))

    assert found == [["adk-1"], ["adk-1"]]


@pytest.mark.trap("aggregator-hands-on")
def test_the_same_part_in_the_final_response_keeps_its_id():
    """ADK's aggregator hands the very object of the partial on."""
    part = call("look", id="c1", n=1)

    assert seen(make_stream(), partial(part), final(part)) == [["adk-1"], ["adk-1"]]


@pytest.mark.trap("equal-calls-are-two")
def test_two_identical_parallel_calls_are_two_calls():
    """Equal name and arguments do not mean equal calls."""
    twins = [call("look", n=1), call("look", n=1)]
    again = [call("look", n=1), call("look", n=1)]

    found = seen(make_stream(), partial(*twins), final(*again))

    assert found == [["adk-1", "adk-2"], ["adk-1", "adk-2"]]


def test_identical_calls_in_two_chunks_are_two_calls():
    """Without an id nothing says that the second chunk repeats the first."""
    found = seen(
        make_stream(),
        partial(call("look", n=1)),
        partial(call("look", n=1)),
        final(call("look", n=1), call("look", n=1)),
    )

    assert found == [["adk-1"], ["adk-2"], ["adk-1", "adk-2"]]


def test_the_final_response_tells_whether_a_call_was_shown_twice():
    """Two chunks with one call, one call in the end: it has the id shown first."""
    found = seen(
        make_stream(),
        partial(call("look", n=1)),
        partial(call("look", n=1)),
        final(call("look", n=1)),
    )

    assert found == [["adk-1"], ["adk-2"], ["adk-1"]]


def test_cumulative_chunks_show_the_same_calls_again():
    """A chunk that begins with all calls so far adds only what comes after them."""
    found = seen(
        make_stream(),
        partial(call("look", n=1)),
        partial(call("look", n=1), call("look", n=2)),
        partial(call("look", n=1), call("look", n=2)),
        partial(call("look", n=1), call("look", n=2), call("seek", n=1)),
        final(call("look", n=1), call("look", n=2), call("seek", n=1)),
    )

    assert found == [
        ["adk-1"],
        ["adk-1", "adk-2"],
        ["adk-1", "adk-2"],
        ["adk-1", "adk-2", "adk-3"],
        ["adk-1", "adk-2", "adk-3"],
    ]


def test_a_cumulative_chunk_passes_over_a_call_that_may_be_a_repeat():
    """The second chunk said nothing new; the third counts from the first."""
    found = seen(
        make_stream(),
        partial(call("look", n=1)),
        partial(call("look", n=1)),
        partial(call("look", n=1), call("look", n=2)),
        final(call("look", n=1), call("look", n=2)),
    )

    assert found == [["adk-1"], ["adk-2"], ["adk-1", "adk-3"], ["adk-1", "adk-3"]]


def test_a_chunk_with_only_some_of_the_calls_is_no_snapshot():
    """Calls that differ in order or arguments are new ones."""
    found = seen(
        make_stream(),
        partial(call("look", n=1), call("look", n=2)),
        partial(call("look", n=2), call("look", n=1)),
        final(*(call("look", n=n) for n in (1, 2, 2, 1))),
    )

    assert found[:2] == [["adk-1", "adk-2"], ["adk-3", "adk-4"]]
    assert found[2] == ["adk-1", "adk-2", "adk-3", "adk-4"]


@pytest.mark.parametrize("mint", [Mint.ALWAYS, Mint.ON_REPEAT])
@pytest.mark.parametrize(
    "shown",
    [[None, "c1"], ["c1", None], [None, "c1", "c1"], [None, "c1", None]],
    ids=["only-the-last", "only-the-first", "all-but-the-first", "the-second"],
)
def test_a_call_keeps_the_id_shown_first_where_the_providers_comes_later(mint, shown):
    """The adapter gives an id on one side only; it is on record as the provider's."""
    *chunks, last = (call("look", id=i, n=1) for i in shown)
    response = final(last)

    found = seen(make_stream(mint), *map(partial, chunks), response)

    first = "c1" if shown[0] and mint is Mint.ON_REPEAT else "adk-1"
    assert found == [[first]] * len(shown)
    given = (response.custom_metadata or {}).get(METADATA_KEY, {})
    assert given.get("provider_ids", {}) == (
        {"adk-1": "c1"} if first == "adk-1" else {}
    )


def test_provider_ids_that_come_later_go_to_the_calls_by_their_arguments():
    """Two calls shown without ids, then with them and in the other order."""
    response = final(
        call("look", id="b", n=2), call("look", id="a", n=1), call("look", id="c", n=1)
    )

    found = seen(make_stream(), partial(call("look", n=1), call("look", n=2)), response)

    assert found == [["adk-1", "adk-2"], ["adk-2", "adk-1", "adk-3"]]
    assert response.custom_metadata[METADATA_KEY]["provider_ids"] == {
        "adk-1": "a",
        "adk-2": "b",
        "adk-3": "c",
    }


def test_an_id_that_carries_a_signature_stays_where_a_call_was_shown_without_one():
    """The id must come back byte for byte; that weighs more than the id shown."""
    late = "c1__thought__QUJD"

    found = seen(
        make_stream(), partial(call("look", n=1)), final(call("look", id=late, n=1))
    )

    assert found == [["adk-1"], [late]]


@pytest.mark.parametrize("mint", [Mint.ALWAYS, Mint.ON_REPEAT])
def test_two_calls_under_one_provider_id_are_two_calls(mint):
    """Both in the partial responses and in the final one, each under its own id."""
    first, second = [
        [call("look", id="c1", n=1), call("seek", id="c1", n=2)] for _ in range(2)
    ]

    partials, finals = seen(make_stream(mint), partial(*first), final(*second))

    assert len(set(partials)) == 2
    assert finals == partials


@pytest.mark.parametrize("mint", [Mint.ALWAYS, Mint.ON_REPEAT])
def test_two_calls_under_one_provider_id_in_two_chunks(mint):
    """The second chunk starts a call of its own where the name differs."""
    one, two, both = seen(
        make_stream(mint),
        partial(call("look", id="c1", n=1)),
        partial(call("seek", id="c1", n=2)),
        final(call("look", id="c1", n=1), call("seek", id="c1", n=2)),
    )

    assert one != two
    assert both == one + two


@pytest.mark.parametrize("mint", [Mint.ALWAYS, Mint.ON_REPEAT])
def test_a_call_sent_again_in_a_later_chunk_is_the_same_call(mint):
    """Id, name and arguments are those of a chunk before: a resent chunk."""
    one, two, last = seen(
        make_stream(mint),
        partial(call("look", id="c1", n=1)),
        partial(call("look", id="c1", n=1)),
        final(call("look", id="c1", n=1)),
    )

    assert one == two == last


@pytest.mark.trap("pieces-without-id")
def test_pieces_without_name_or_id_belong_to_the_call_before():
    """All pieces of streamed arguments carry the id of their head."""
    found = seen(
        make_stream(),
        partial(piece("look", call_id="c1")),
        partial(piece(None, "$.n", 1.0)),
        partial(piece(None, goes_on=False)),
        final(call("look", id="c1", n=1)),
    )

    assert found == [["adk-1"]] * 4


def test_pieces_of_a_second_call_get_the_second_id():
    """A named head behind a closed call starts the next one, also of one tool."""
    found = seen(
        make_stream(),
        partial(piece("look", "$.n", 1.0)),
        partial(piece(None, goes_on=False)),
        partial(piece("look", "$.n", 2.0)),
        partial(piece(None, goes_on=False)),
        final(call("look", n=1), call("look", n=2)),
    )

    assert found == [["adk-1"]] * 2 + [["adk-2"]] * 2 + [["adk-1", "adk-2"]]


def test_a_piece_that_names_an_earlier_call_by_id_belongs_to_it():
    """Pieces of two calls may come in turns where they carry the provider's id."""
    found = seen(
        make_stream(),
        partial(piece("look", call_id="a")),
        partial(piece("seek", call_id="b")),
        partial(piece(None, "$.n", 1.0, call_id="a")),
        partial(piece(None, "$.n", 2.0, call_id="b")),
    )

    assert found == [["adk-1"], ["adk-2"], ["adk-1"], ["adk-2"]]


@pytest.mark.trap("aggregator-drops")
def test_a_call_lost_by_the_aggregator_is_put_back_from_its_pieces():
    """ADK 2.13 drops the second streamed call under one id; its pieces are known."""
    stream = make_stream()
    text = '$["to"]["name"]'
    seen(
        stream,
        partial(piece("look", "$.n", 1.0, call_id="c1")),
        partial(piece(None, goes_on=False)),
        partial(piece("mail", text, "A", call_id="c1")),
        partial(piece(None, text, "da")),
        partial(piece(None, "$.list[1]", 2.0)),
        partial(piece(None, goes_on=False)),
    )
    last = final(call("look", id="c1", n=1))

    stream.see(last)

    assert [(p.function_call.id, p.function_call.name) for p in last.content.parts] == [
        ("adk-1", "look"),
        ("adk-2", "mail"),
    ]
    assert last.content.parts[1].function_call.args == {
        "to": {"name": "Ada"},
        "list": [None, 2.0],
    }


def test_a_lost_call_comes_back_to_its_place_with_its_own_signature():
    """ADK before 2.13 may drop the first call, and hand its signature to the next."""
    stream = make_stream()
    head = partial(piece("look", call_id="c1"))
    head.content.parts[0].thought_signature = b"of look"
    seen(
        stream,
        head,
        partial(piece(None, "$.n", 1.0)),
        partial(piece(None, goes_on=False)),
        partial(piece("mail", "$.n", 2.0, call_id="c1")),
        partial(piece(None, goes_on=False)),
    )
    last = final("Look:", call("mail", id="c1", signature=b"of look", n=2))

    stream.see(last)

    words, *calls = last.content.parts
    assert words.text == "Look:"
    assert [(p.function_call.name, p.thought_signature) for p in calls] == [
        ("look", b"of look"),
        ("mail", None),
    ]
    assert [p.function_call.args for p in calls] == [{"n": 1.0}, {"n": 2}]


def test_streamed_arguments_cannot_ask_for_endless_lists():
    """A path with a huge index is left out; nothing is raised."""
    stream = make_stream()
    seen(
        stream,
        partial(piece("look", "$.n", 1.0, call_id="c1", goes_on=False)),
        partial(piece("mail", "$.list[9999999]", 1.0, call_id="c1", goes_on=False)),
    )
    last = final(call("look", id="c1", n=1))

    stream.see(last)

    assert last.content.parts[1].function_call.args == {"list": []}


@pytest.mark.trap("id-holds-a-signature")
@pytest.mark.parametrize(
    "call_id",
    ["c1__thought__QUJD", "call_1||thought_signature||QUJD", "look::sig::QUJD"],
)
@pytest.mark.parametrize("mint", list(Mint))
def test_an_id_that_carries_a_signature_is_never_touched(mint, call_id):
    """Such an id must come back byte for byte, also where the session knows it."""
    stream = make_stream(mint, ids={call_id}, closed={call_id})

    assert seen(stream, final(call("look", id=call_id))) == [[call_id]]


@pytest.mark.parametrize(
    ("mint", "call_id", "known", "expected"),
    [
        (Mint.ALWAYS, "c1", {}, "adk-1"),
        (Mint.ALWAYS, None, {}, "adk-1"),
        (Mint.ON_REPEAT, "c1", {}, "c1"),
        (Mint.ON_REPEAT, None, {}, "adk-1"),
        (Mint.ON_REPEAT, "c1", {"ids": {"c1"}}, "adk-1"),
        (Mint.NEVER, "c1", {"ids": {"c1"}, "closed": {"c1"}}, "c1"),
        (Mint.NEVER, None, {}, None),
        (Mint.ALWAYS, "adk-open", {"ids": {"adk-open"}}, "adk-open"),
        (Mint.ALWAYS, "adk-done", {"closed": {"adk-done"}}, "adk-1"),
        (Mint.ON_REPEAT, "adk-done", {"closed": {"adk-done"}}, "adk-1"),
    ],
)
def test_when_a_call_gets_a_new_id(mint, call_id, known, expected):
    """The knob, the provider's id, and what the session knows decide."""
    stream = make_stream(mint, **known)

    assert seen(stream, final(call("look", id=call_id))) == [[expected]]


def test_the_final_content_of_the_model_stays_as_it_was():
    """A scripted or cached response is not changed; a copy takes its place."""
    content = model("let me see", call("look", id="c1", n=1))
    response = final()
    response.content = content
    before = content.model_copy(deep=True)

    make_stream().see(response)

    assert content == before
    assert ids(response) == ["adk-1"]
    assert response.content.parts[0] is content.parts[0]


def test_a_final_response_that_needs_no_id_keeps_its_content():
    """Where nothing changes the very same content goes on."""
    response = final("words", call("look", id="c1"))
    content = response.content

    make_stream(Mint.ON_REPEAT).see(response)

    assert response.content is content
    assert response.custom_metadata is None


def test_provenance_is_kept_beside_other_metadata():
    """The provider's id and the model's name survive in `custom_metadata`."""
    response = final(call("look", id="c1"), call("seek"))
    response.custom_metadata = {"mine": 1}

    make_stream().see(response)

    assert response.custom_metadata["mine"] == 1
    assert response.custom_metadata[METADATA_KEY] == {
        "provider_ids": {"adk-1": "c1"},
        "model": "m",
    }


def look(n: int) -> dict[str, int]:
    """Echo."""
    return {"n": n}


def seek(n: int) -> dict[str, int]:
    """Echo."""
    return {"n": n}


def script(*steps: list[tuple[str, int, str | None]], **options: Any) -> list[Any]:
    """Return the replies of a model: a list of calls for each step."""
    return [
        [answer_call(name, {"n": n}, id=i, **options) for name, n, i in step]
        for step in steps
    ]


SCRIPTS = {
    "whole": script([("look", 1, "c1"), ("seek", 2, "c1")]),
    "no-ids": script([("look", 1, None), ("look", 2, None)]),
    "next-step-same-id": script([("look", 1, "c1")], [("seek", 2, "c1")]),
    "pieces": script([("look", 1, "c1"), ("seek", 2, "c2")], pieces=2),
    "pieces-one-id": script([("look", 1, "c1"), ("seek", 2, "c1")], pieces=2),
    "pieces-no-ids": script([("look", 1, None), ("look", 2, None)], pieces=2),
}


def by_token(events: list[Any], *, partials: bool) -> dict[tuple[str, int], set[str]]:
    """Return the ids of each call by name and token."""
    found: dict[tuple[str, int], set[str]] = {}
    for event in events:
        if bool(event.partial) is partials:
            for said in event.get_function_calls():
                if said.name and said.args and "n" in said.args:
                    key = (said.name, int(said.args["n"]))
                    found.setdefault(key, set()).add(said.id)
    return found


MODES = [
    pytest.param(steps, progressive, id=f"{name}-{mode}")
    for name, steps in SCRIPTS.items()
    for mode, progressive in (("progressive", True), ("plain", False))
    # Without progressive streaming ADK takes no call in pieces at all.
    if progressive or not name.startswith("pieces")
]


@pytest.mark.trap("aggregator-drops")
@pytest.mark.parametrize(("steps", "progressive"), MODES)
async def test_streamed_calls_have_one_id_each(steps, progressive, door, monkeypatch):
    """Over a real client: ids are unique, partial ids are final ids, both calls run."""
    name = "ADK_ENABLE_" if progressive else "ADK_DISABLE_"
    monkeypatch.setenv(f"{name}PROGRESSIVE_SSE_STREAMING", "1")
    with StrictGemini([*steps, "done"]) as server:
        runner = make_runner(server.model(), door=door, tools=[look, seek])

        events = await say(runner, "go", stream=True)

        assert server.problems == []
    whole = by_token(events, partials=False)
    shown = {
        said.id
        for event in events
        if event.partial
        for said in event.get_function_calls()
    }
    assert sorted(n for _, n in whole) == [1, 2]
    assert all(len(found) == 1 for found in whole.values())
    final_ids = {i for found in whole.values() for i in found}
    assert len(final_ids) == 2
    assert shown <= final_ids
    answers = [r for e in events for r in e.get_function_responses()]
    assert sorted(r.response["n"] for r in answers) == [1, 2]
    assert {r.id for r in answers} == final_ids


@pytest.mark.trap("partial-and-final-id")
async def test_client_resolves_a_job_by_the_id_of_the_partial_event(door):
    """A client that saw only the partial event can post the answer of a job."""
    from google.adk.tools import LongRunningFunctionTool

    def job(n: int) -> None:
        """Start a job."""

    with StrictGemini(
        [answer_call("job", {"n": 1}, id="c1"), "started", "done"]
    ) as server:
        tools = [LongRunningFunctionTool(job)]
        runner = make_runner(server.model(), door=door, tools=tools)
        events = await say(runner, "go", stream=True)
        partial_ids = [
            said.id for e in events if e.partial for said in e.get_function_calls()
        ]
        posted = types.Part(
            function_response=types.FunctionResponse(
                id=partial_ids[0], name="job", response={"n": 1}
            )
        )

        await say(runner, types.Content(role="user", parts=[posted]), stream=True)

        assert server.problems == []
        last = [p for c in server.requests[-1].contents for p in c["parts"]]
    bodies = [
        p["functionResponse"]["response"] for p in last if "functionResponse" in p
    ]
    assert bodies == [{"n": 1}]


@pytest.mark.trap("fresh-parts")
async def test_custom_adapter_with_fresh_parts_has_one_id(door):
    """google/adk-python#4609: partial and final of a custom `BaseLlm` agree."""
    reply = [partial(call("look", n=1)), final(call("look", n=1))]
    runner = make_runner(Scripted(replies=[reply]), door=door, tools=[look])

    events = await say(runner, "go", stream=True)

    found = by_token(events, partials=True), by_token(events, partials=False)
    assert found[0] == found[1]
    assert len(found[0]["look", 1]) == 1


async def test_model_that_counts_anew_never_repeats_an_id_in_the_session(door):
    """Ten turns under `call_0`: the stored session holds ten ids."""
    replies: list[Any] = []
    for n in range(10):
        replies += [[call("look", id="call_0", n=n)], "done"]
    runner = make_runner(Scripted(replies=replies), door=door, tools=[look])

    for _ in range(10):
        await say(runner, "go")

    events = await stored(runner)
    found = [said.id for e in events for said in e.get_function_calls()]
    assert len(set(found)) == len(found) == 10


async def test_streams_of_concurrent_runs_do_not_mix():
    """One plugin, five sessions at once: ids are unique over all of them."""
    replies = [
        [
            partial(call("look", id="c1", n=1)),
            final(call("look", id="c1", n=1), call("look", id="c1", n=2)),
        ]
        for _ in range(5)
    ]
    runner = make_runner(Scripted(replies=replies), door="plugin", tools=[look])

    runs = await asyncio.gather(
        *(say(runner, "go", stream=True, session=f"s{n}") for n in range(5))
    )

    finals = [by_token(events, partials=False) for events in runs]
    found = [next(iter(i)) for whole in finals for i in whole.values()]
    assert len(set(found)) == len(found)
    for events, whole in zip(runs, finals, strict=True):
        assert by_token(events, partials=True).items() <= whole.items()


@pytest.mark.filterwarnings("ignore:ParallelAgent is deprecated:DeprecationWarning")
async def test_parallel_agents_under_one_id_keep_their_own():
    """Two agents of a `ParallelAgent` get `c1` at once; the session has two ids."""
    from google.adk.agents import ParallelAgent

    agents = [
        LlmAgent(
            name=name,
            model=Scripted(replies=[[call("look", id="c1", n=n)], "done"]),
            tools=[look],
        )
        for n, name in enumerate(["left", "right"])
    ]
    root = ParallelAgent(name="both", sub_agents=agents)
    runner = make_runner(Scripted(), agent=root)

    events = await say(runner, "go")

    whole = by_token(events, partials=False)
    assert len({i for found in whole.values() for i in found}) == 2
    answers = [r for e in events for r in e.get_function_responses()]
    assert {(r.response["n"], r.id) for r in answers} == {
        (n, next(iter(found))) for (_, n), found in whole.items()
    }


@pytest.mark.filterwarnings("ignore:ParallelAgent is deprecated:DeprecationWarning")
@pytest.mark.parametrize("call_id", ["c1", None, "adk-cached"])
async def test_parallel_agents_given_one_response_object_have_two_ids(call_id):
    """A cache hands the same object to both; each runs its own call."""
    from google.adk.agents import ParallelAgent

    cached = final(call("look", id=call_id, n=1))
    agents = [
        LlmAgent(name=name, model=Scripted(replies=[cached, "done"]), tools=[look])
        for name in ("left", "right")
    ]
    root = ParallelAgent(name="both", sub_agents=agents)
    runner = make_runner(Scripted(), agent=root)

    await say(runner, "go")

    events = await stored(runner)
    calls = {e.author: said.id for e in events for said in e.get_function_calls()}
    answers = {e.author: r.id for e in events for r in e.get_function_responses()}
    assert sorted(calls) == ["left", "right"]
    assert calls["left"] != calls["right"]
    assert answers == calls


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({}, True),
        ({"author": "other"}, False),
        ({"branch": "root.other"}, False),
        ({"author": "other", "long_running_tool_ids": {"adk-open"}}, True),
        ({"author": "other", "name": "adk_request_confirmation"}, True),
    ],
    ids=["itself", "author", "branch", "long-running", "question"],
)
async def test_an_open_id_is_kept_only_by_whom_it_belongs_to(second, expected):
    """The same author and branch may say an open call again, nobody else may."""
    again = {"author": "root", "branch": None, "name": "look", **second}
    said = [call(name, id="adk-open", n=1) for name in ("look", again.pop("name"))]

    class Echo(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> Any:
            first = {"author": "root", "branch": None}
            for part, fields in zip(said, (first, again), strict=True):
                content = model(part)
                yield Event(invocation_id=ctx.invocation_id, content=content, **fields)

    runner = make_runner(Scripted(), agent=Echo(name="root"))

    await say(runner, "go")

    events = await stored(runner)
    one, two = [c.id for e in events for c in e.get_function_calls()]
    assert one == "adk-open"
    assert (two == "adk-open") is expected
    assert two.startswith("adk-")


def state_of(runner: Any) -> Any:
    """Return the runs that a runner's guard remembers."""
    guards = [p for p in runner.plugin_manager.plugins if p.name == "history_guard"]
    return guards[0]._runs


async def test_nothing_is_remembered_after_a_run():
    """The run, its calls and its ids are forgotten with its last callback."""
    runner = make_runner(Scripted(replies=[[call("look", n=1)]]), tools=[look])

    await say(runner, "go")

    assert len(state_of(runner)) == 0


@pytest.mark.parametrize("ending", ["error", "cancelled"])
async def test_nothing_is_remembered_of_a_run_that_breaks_off(ending, monkeypatch):
    """A run that dies without its last callback leaves nothing either."""
    # pytest keeps log records, and a record of ADK's the traceback with the run.
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)
    reply: list[Any] = [partial(call("look", id="c1", n=1)), partial("and")]
    llm = Scripted(replies=[reply])
    runner = make_runner(llm, tools=[look])
    if ending == "error":
        reply.append(RuntimeError("broken"))
        with pytest.raises(RuntimeError, match="broken"):
            await say(runner, "go", stream=True)
        reply.pop()  # its traceback would keep the frames of the run alive
    else:
        service = runner.session_service
        await service.create_session(app_name="app", user_id="u", session_id="s")
        go = types.Content(role="user", parts=[types.Part(text="go")])
        run = runner.run_async(user_id="u", session_id="s", new_message=go)
        async with contextlib.aclosing(run):
            async for _ in run:
                break
        del run
    gc.collect()

    assert len(state_of(runner)) == 0


@pytest.mark.trap("interactions")
async def test_interactions_api_keeps_the_servers_ids():
    """Where the answer belongs to an interaction, its ids are the server's."""
    response = final(call("look", id="c1", n=1))
    if "interaction_id" not in type(response).model_fields:
        pytest.fail("LlmResponse has no interaction_id in this ADK")
    response.interaction_id = "i-1"
    runner = make_runner(Scripted(replies=[[response]]), tools=[look])

    events = await say(runner, "go")

    assert [said.id for e in events for said in e.get_function_calls()] == ["c1"]
