# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Histories for stores: healthy ones of several kinds, and ways to poison them."""

from __future__ import annotations

from google.adk.events import Event
from google.genai import types

START = 1_790_000_000.0
"""The time of the first event of every session, in seconds since the epoch."""


def said(text):
    """Make a part with text."""
    return types.Part(text=text)


def call(name, call_id, n=1):
    """Make a call part."""
    return types.Part(
        function_call=types.FunctionCall(id=call_id, name=name, args={"n": n})
    )


def response(name, call_id, n=1):
    """Make a response part."""
    return types.Part(
        function_response=types.FunctionResponse(
            id=call_id, name=name, response={"n": n}
        )
    )


class Story:
    """The events of a session, one after the other, a second apart."""

    def __init__(self):
        """Start before the first event."""
        self.events = []
        self.invocation = 0

    def add(self, author, role, *parts, **fields):
        """Append an event."""
        number = len(self.events)
        self.events.append(
            Event(
                id=f"event-{number:03}",
                invocation_id=f"run-{self.invocation}",
                author=author,
                timestamp=START + number,
                content=types.Content(role=role, parts=list(parts)),
                **fields,
            )
        )
        return self

    def user(self, *parts):
        """Append what the user says; it begins an invocation."""
        self.invocation += 1
        return self.add("user", "user", *(parts or (said("hello"),)))

    def model(self, *parts, **fields):
        """Append what the model says."""
        return self.add("root", "model", *(parts or (said("fine"),)), **fields)

    def tool(self, *parts):
        """Append what tools answer."""
        return self.add("root", "user", *parts)


def plain(n):
    """Two turns of text."""
    return Story().user(said(f"question {n}")).model().user().model().events


def called(n):
    """Two calls, each answered."""
    story = Story()
    for k in range(2):
        story.user().model(call("look", f"call-{k}", n)).tool(
            response("look", f"call-{k}", n)
        ).model()
    return story.events


def parallel(n):
    """Three calls at once, answered in one event."""
    ids = [f"adk-{n}-{k}" for k in range(3)]
    return (
        Story()
        .user()
        .model(*(call("look", i, k) for k, i in enumerate(ids)))
        .tool(*(response("look", i, k) for k, i in enumerate(ids)))
        .model()
        .events
    )


def waiting(n):
    """A long-running job that has begun and has not come to its end."""
    return (
        Story()
        .user()
        .model(call("job", "job-1", n), long_running_tool_ids={"job-1"})
        .tool(response("job", "job-1", n))
        .model(said("It runs."))
        .events
    )


def finished(n):
    """A long-running job whose result came later, with talk between."""
    return (
        Story()
        .user()
        .model(call("job", "job-1", n), long_running_tool_ids={"job-1"})
        .tool(response("job", "job-1", 0))
        .model(said("It runs."))
        .user(said("And?"))
        .model(said("Not yet."))
        .user(response("job", "job-1", n))
        .model(said("Done."))
        .events
    )


def empty(n):
    """A session without events."""
    del n
    return []


HEALTHY = (plain, called, parallel, waiting, finished, empty)


def reused_id(n):
    """One id for two calls of two tools."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n))
        .tool(response("look", "call-1", n))
        .model()
        .user()
        .model(call("find", "call-1", n + 1))
        .tool(response("find", "call-1", n + 1))
        .model()
        .events
    )


def interrupted(n):
    """A run that died before its tool had answered."""
    return Story().user().model(call("look", "call-1", n)).user().model().events


def half_answered(n):
    """Two calls at once, only the second of them answered."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n), call("find", "call-2", n))
        .tool(response("find", "call-2", n))
        .model()
        .events
    )


def orphaned(n):
    """A response without a call, with the user's words beside it."""
    return Story().user(response("look", "call-9", n), said("Go on.")).model().events


def misnamed(n):
    """A response under the name of another tool."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n))
        .tool(response("find", "call-1", n))
        .model()
        .events
    )


def unnumbered(n):
    """A response that has lost its id."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n))
        .tool(response("look", None, n))
        .model()
        .events
    )


def swapped(n):
    """Two calls of one tool, their responses in two events, the other way round."""
    return (
        Story()
        .user()
        .model(call("look", "adk-1", 1), call("look", "adk-2", 2))
        .tool(response("look", "adk-2", 2))
        .tool(response("look", "adk-1", 1))
        .model(said(f"Both {n}."))
        .events
    )


def early(n):
    """A response stored before its call."""
    return (
        Story()
        .user()
        .tool(response("look", "call-1", n))
        .model(call("look", "call-1", n))
        .model()
        .events
    )


def twins(n):
    """Two calls with one id in one event, answered in two events."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n), call("find", "call-1", n + 1))
        .tool(response("look", "call-1", n))
        .tool(response("find", "call-1", n + 1))
        .model()
        .events
    )


def nameless(n):
    """A call without a name beside one with a name."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n), call("", "call-2", n))
        .tool(response("look", "call-1", n))
        .model()
        .events
    )


def blank(n):
    """An empty text beside a text."""
    return Story().user().model(said(f"fine {n}"), said("")).events


def mixed(n):
    """A response, the next call and its response in one event."""
    return (
        Story()
        .user()
        .model(call("look", "call-1", n))
        .tool(
            response("look", "call-1", n),
            call("find", "call-2", n),
            response("find", "call-2", n),
        )
        .model()
        .events
    )


POISONED = {
    "reused_id": (reused_id, {"HG501"}),
    "interrupted": (interrupted, {"HG101"}),
    "half_answered": (half_answered, {"HG101"}),
    "orphaned": (orphaned, {"HG102"}),
    "misnamed": (misnamed, {"HG106"}),
    "unnumbered": (unnumbered, {"HG107"}),
    "swapped": (swapped, {"HG105"}),
    "early": (early, {"HG105"}),
    "twins": (twins, {"HG501"}),
    "nameless": (nameless, {"HG304"}),
    "blank": (blank, {"HG301"}),
    "mixed": (mixed, {"HG208"}),
}
"""Ways to poison a session, each with the rules that it breaks."""
