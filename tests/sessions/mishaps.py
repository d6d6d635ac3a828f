# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Histories in which several things went wrong, each made from a number."""

from __future__ import annotations

import random

from google.genai import types

from tests.sessions.histories import HEALTHY, POISONED, call, response, said

MADE = [*HEALTHY, *(make for make, _ in POISONED.values())]


def parts_of(events, rng):
    """Return a list of parts that has some, None where no event has any."""
    full = [event for event in events if event.content and event.content.parts]
    return rng.choice(full).content.parts if full else None


def drop_event(events, rng):
    """Lose an event."""
    del events[rng.randrange(len(events))]


def double_event(events, rng):
    """Store an event twice, under two ids."""
    n = rng.randrange(len(events))
    again = events[n].model_copy(deep=True, update={"id": f"again-{rng.random()}"})
    events.insert(rng.randint(n, len(events)), again)


def swap_events(events, rng):
    """Store two events the other way round."""
    a, b = rng.randrange(len(events)), rng.randrange(len(events))
    events[a], events[b] = events[b], events[a]


def lose_part(events, rng):
    """Lose a part."""
    if parts := parts_of(events, rng):
        del parts[rng.randrange(len(parts))]


def add_part(events, rng):
    """Put a further part into an event."""
    further = [
        said(""),
        said("aside"),
        types.Part(),
        types.Part(text="hm", thought=True),
        types.Part(thought_signature=b"alone"),
        call("look", rng.choice(["call-1", "new", None, ""])),
        response("look", rng.choice(["call-1", "adk-1", None])),
    ]
    if (parts := parts_of(events, rng)) is not None:
        parts.insert(rng.randint(0, len(parts)), rng.choice(further))


def rename(events, rng):
    """Give a call or a response another id or name."""
    bodies = [
        part.function_call or part.function_response
        for event in events
        for part in (event.content.parts if event.content else None) or ()
        if part.function_call or part.function_response
    ]
    if bodies:
        field = rng.choice(["id", "name"])
        setattr(rng.choice(bodies), field, rng.choice(["call-1", "find", "", None]))


def empty_event(events, rng):
    """Leave an event without content, or with content without parts."""
    content = rng.choice([None, types.Content(role="user"), types.Content(parts=[])])
    events[rng.randrange(len(events))].content = content


WAYS = (drop_event, double_event, swap_events, lose_part, add_part, rename, empty_event)


def history(seed):
    """Make a history: a story or two after one another, some things gone wrong."""
    rng = random.Random(seed)  # noqa: S311 - seeded on purpose
    events = [e for make in rng.sample(MADE, rng.randint(1, 2)) for e in make(seed)]
    for n, event in enumerate(events):
        event.id = f"event-{n}"
    for way in rng.choices(WAYS, k=rng.choice([0, 0, 1, 2, 3])):
        if events:
            way(events, rng)
    return events
