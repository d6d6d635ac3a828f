# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S105 - a made-up secret
"""Telemetry in a real run, read by the SDK's in-memory exporters."""

from __future__ import annotations

import contextlib
import json

import pytest
from google.adk.agents import LlmAgent
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adk_history_guard import HistoryGuardPlugin
from adk_history_guard.diagnostics import telemetry
from adk_history_guard.testing import StrictGemini, call, guarded, say

SECRET = "the patient is called Ada Byron"


def tracer_provider():
    """Return the process's tracer provider; it can be set once, ADK's spans use it."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    return trace.get_tracer_provider()


class Telemetry:
    """What the guard has told so far."""

    def __init__(self, monkeypatch):
        """Let the guard speak to exporters of this test's own."""
        self._reader = InMemoryMetricReader()
        meters = MeterProvider([self._reader])
        monkeypatch.setattr(metrics, "get_meter", meters.get_meter)
        self.spans = InMemorySpanExporter()
        tracer_provider().add_span_processor(SimpleSpanProcessor(self.spans))
        telemetry.counter.cache_clear()
        telemetry.duration.cache_clear()

    def points(self):
        """Return every metric's unit and points, by its name."""
        data = self._reader.get_metrics_data()
        out = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    out[metric.name] = (metric.unit, list(metric.data.data_points))
        return out

    def counts(self, name):
        """Return the value of a counter by its attributes, as sorted pairs."""
        _, points = self.points().get(f"adk_history_guard.{name}", ("", []))
        return {tuple(sorted(p.attributes.items())): p.value for p in points}

    def events(self):
        """Return the guard's events on all spans, as names and attributes."""
        return [
            (event.name, dict(event.attributes))
            for span in self.spans.get_finished_spans()
            # ADK's own span of the model call or of the run.
            for event in span.events
            if event.name.startswith("adk_history_guard.")
        ]


@pytest.fixture
def told(monkeypatch):
    """Return the telemetry of one test; the next one starts anew."""
    yield Telemetry(monkeypatch)
    telemetry.counter.cache_clear()
    telemetry.duration.cache_clear()


def look(n: int) -> dict[str, object]:
    """Look something up."""
    return {"n": n, "note": SECRET}


async def run(told, replies, *, poison=False, **knobs):
    """Run an agent whose request may lack its responses."""
    from google.genai import types

    def forget(callback_context, llm_request):
        """Leave the responses out, as a careless filter does."""
        if poison:
            llm_request.contents = [
                c
                for c in llm_request.contents
                if not any(p.function_response for p in c.parts)
            ] + [types.Content(role="user", parts=[types.Part(text="go on")])]

    from adk_history_guard import guard_model

    with StrictGemini(replies) as server:
        agent = LlmAgent(
            name="root",
            model=guard_model(server.model("gemini-2.5-flash"), **knobs),
            tools=[look],
            before_model_callback=forget,
        )
        runner = guarded(agent, guard=False)
        with contextlib.suppress(Exception):
            await say(runner, f"Look! {SECRET}")
    return server


async def test_changes_are_counted_by_rule_and_action(told):
    """A placeholder that the guard put in is one change of HG101."""
    server = await run(told, [call("look", {"n": 1}), "fine"], poison=True)

    assert server.problems == []
    assert told.counts("changes") == {
        (("action", "add"), ("applied", True), ("rule", "HG101")): 1
    }
    assert told.counts("violations") == {}
    assert told.counts("rejected_requests") == {}


async def test_a_rejection_is_counted_with_its_rule(told):
    """In observe mode the violation, the rejection and the would-be change count."""
    await run(told, [call("look", {"n": 1}), "no"], poison=True, mode="observe")

    assert told.counts("violations") == {(("rule", "HG101"), ("severity", "error")): 1}
    assert told.counts("rejected_requests") == {
        (("kind", "rejected"), ("rule", "HG101"), ("status", "400")): 1
    }
    assert told.counts("changes") == {}


async def test_minted_ids_are_counted(told):
    """Two calls of one answer are two ids."""
    await run(told, [[call("look", {"n": 1}), call("look", {"n": 2})], "fine"])

    assert told.counts("ids_minted") == {(): 2}


async def test_the_guard_s_own_time_is_measured(told):
    """Each request adds a duration in seconds."""
    await run(told, [call("look", {"n": 1}), "fine"])

    unit, points = told.points()["adk_history_guard.duration"]
    assert unit == "s"
    assert [(dict(p.attributes), p.count) for p in points] == [({"where": "model"}, 2)]
    assert 0 < points[0].sum < 10


async def test_the_plugin_measures_history_and_requests(told):
    """The plugin tells its repair of the history from that of a request."""
    with StrictGemini([call("look", {"n": 1}), "fine"]) as server:
        agent = LlmAgent(name="root", model=server.model(), tools=[look])
        await say(guarded(agent), "Look!")

    _, points = told.points()["adk_history_guard.duration"]
    counts = {p.attributes["where"]: p.count for p in points}
    assert (counts["history"], counts["request"]) == (1, 2)


async def test_the_chunks_of_a_stream_are_not_measured(told):
    """A stream has many partial events, and nothing is done to them: no points."""
    with StrictGemini([["one ", "two ", "three"]]) as server:
        agent = LlmAgent(name="root", model=server.model())
        events = await say(guarded(agent), "Count!", stream=True)

    whole = [e for e in events if not e.partial]
    assert len(events) > len(whole) > 0
    _, points = told.points()["adk_history_guard.duration"]
    counts = {p.attributes["where"]: p.count for p in points}
    # ADK asks plugins about the user's message, too.
    assert counts["event"] <= len(whole) + 1


async def test_a_fault_of_the_guard_is_counted(told, monkeypatch):
    """A broken guard shows in telemetry, with the callback that failed."""

    def fail(*args, **kwargs):
        msg = "broken"
        raise RuntimeError(msg)

    monkeypatch.setattr("adk_history_guard.adk.plugin.guard", fail)
    with StrictGemini(["fine"]) as server:
        agent = LlmAgent(name="root", model=server.model())
        await say(guarded(agent), "Hello!")

    assert told.counts("faults") == {(("where", "before_model_callback"),): 1}


async def test_events_stand_on_the_current_span(told):
    """What was repaired and what was refused is told where it happened."""
    await run(told, [call("look", {"n": 1}), "no"], poison=True, mode="observe")

    assert told.events() == [
        ("adk_history_guard.violations", {"count": 1, "rules": ("HG101",)}),
        (
            "adk_history_guard.rejected",
            {"kind": "rejected", "status": "400", "rule": "HG101"},
        ),
    ]


async def test_no_attribute_holds_text_of_the_user(told):
    """Attributes are codes and words of ours: no name of a tool, no id, no text."""
    await run(
        told, [call("look", {"n": 1}, id="c1"), "no"], poison=True, mode="observe"
    )
    await run(told, [call("look", {"n": 1}, id="c1"), "fine"], poison=True)

    values = [
        str(value)
        for _, points in told.points().values()
        for point in points
        for value in point.attributes.values()
    ]
    written = json.dumps([values, told.events()], default=str)
    assert values
    for word in ("Ada", "patient", "look", "c1", "root", "session"):
        assert word not in written


def test_names_and_units_are_those_of_the_documentation():
    """The names are an interface: dashboards are built on them."""
    assert {name: unit for name, (unit, _) in telemetry.COUNTERS.items()} == {
        "changes": "{change}",
        "violations": "{violation}",
        "rejected_requests": "{request}",
        "ids_minted": "{id}",
        "faults": "{fault}",
    }
    assert telemetry.DURATION == "adk_history_guard.duration"


def test_without_an_sdk_nothing_happens():
    """The API alone is enough: every instrument is a no-op."""
    telemetry.counter.cache_clear()
    HistoryGuardPlugin().reporter.minted(3)
    telemetry.took("request", 0.1)
    telemetry.counter.cache_clear()

    assert trace.get_current_span().is_recording() is False
