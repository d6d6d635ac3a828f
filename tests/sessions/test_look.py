# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The quick look passes no session in which the full reading finds something."""

from __future__ import annotations

from collections import Counter

import pytest

from adk_history_guard.sessions import Key, audit_events
from adk_history_guard.sessions.look import is_clean
from tests.sessions.histories import POISONED
from tests.sessions.mishaps import history


@pytest.mark.parametrize("whole", [True, False], ids=["event", "content"])
def test_quick_look_passes_nothing_that_the_full_reading_finds(whole):
    """Over 600 histories: what is passed has nothing to repair."""
    sums = Counter()
    for seed in range(600):
        events = history(seed)
        told = [event if whole else event.content for event in events]
        texts = [
            one and one.model_dump_json(exclude_none=True, exclude_defaults=False)
            for one in told
        ]

        passed = is_clean(texts, whole=whole)
        found = audit_events(Key("app", "user", str(seed)), events)

        assert not (passed and found.poisoned), (seed, found.changes)
        assert all(change.place.turn < len(events) for change in found.changes)
        sums[passed, found.poisoned] += 1

    # Enough of each for the comparison to mean something.
    assert sums[True, False] > 50
    assert sums[False, True] > 200


def test_places_are_those_of_the_stored_events():
    """Where an event is taken apart, what stands behind it keeps its number."""
    events = POISONED["mixed"][0](1) + POISONED["interrupted"][0](2)
    events = [e.model_copy(update={"id": f"event-{n}"}) for n, e in enumerate(events)]

    found = audit_events(Key("app", "user", "s"), events)

    assert [(str(c.place), c.code) for c in found.changes] == [
        ("events[2]", "HG208"),
        ("events[5].parts[0]", "HG501"),
        ("events[5].parts[0]", "HG101"),
    ]
