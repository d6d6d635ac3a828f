# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The laws of a repaired request: each profile, all knobs, everything wrong at once.

`HISTORY_LAWS=deep` looks at many more examples, at random ones.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_history_guard import PROFILES, RULES, GuardOptions
from adk_history_guard.core.guard import guard
from adk_history_guard.core.origins import NO_ORIGINS
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import read_contents
from tests.builders import dumped
from tests.property.mixed import knobs, mixed, pictures, told, without_places
from tests.property.test_laws import DEEP, LAW

if TYPE_CHECKING:
    from adk_history_guard import Outcome, Profile
    from tests.property.mixed import Mixed

pytestmark = pytest.mark.once

NAMED = pytest.mark.parametrize(
    "profile", PROFILES.values(), ids=[p.name for p in PROFILES.values()]
)
LAW = settings(LAW, max_examples=1000 if DEEP else 30)
KNOBS = knobs()
DATA = st.data()
GATEWAY = knobs(unsigned="auto")
"""A placeholder signature stands in a part, which no gateway looks at."""


def repaired(made: Mixed, profile: Profile, chosen: dict[str, Any]) -> Outcome:
    """Repair a history with all that is known of it."""
    return guard(
        made.contents,
        profile=profile,
        options=GuardOptions(**chosen),
        pending=made.pending,
        origins=made.origins,
    )


def drawn(data: Any, profile: Profile) -> tuple[Mixed, dict[str, Any]]:
    """Draw a history, and the knobs that mean something to the profile."""
    return data.draw(mixed()), data.draw(GATEWAY if profile.signed_ids else KNOBS)


@NAMED
@given(data=DATA)
@LAW
def test_a_second_repair_hands_on_the_same_objects(profile, data):
    """The plugin and the model behind it do nothing twice, known origins or not."""
    made, chosen = drawn(data, profile)
    once = repaired(made, profile, chosen)

    for origins in (without_places(made.origins), NO_ORIGINS):
        twice = guard(
            once.contents,
            profile=profile,
            options=GuardOptions(**chosen),
            origins=origins,
        )
        assert [str(change) for change in twice.changes] == []
        assert twice.contents is once.contents


@NAMED
@given(data=DATA)
@LAW
def test_the_profiles_checks_find_nothing_to_repair(profile, data):
    """What is left has no repair, and the input stays as it was."""
    made, chosen = drawn(data, profile)
    before = dumped(made.contents)

    left = {v.code for v in repaired(made, profile, chosen).violations}

    assert {code for code in left if RULES[code].action is not None} == set()
    assert dumped(made.contents) == before


@NAMED
@given(data=DATA)
@LAW
def test_each_answer_stands_beside_its_call(profile, data):
    """Every call with its own answer: sent, told as text, or in another answer.

    Which response is whose is decided before the repair, and no pass changes it.
    Media of a response is sent once, inside of it or behind.
    """
    made, chosen = drawn(data, profile)
    pairs = pair(read_contents(made.contents))
    finals = {call: pairs.final(call) for call in pairs.answers if call.name}
    wanted = [
        ((call.args or {})["n"], None if said is None else (said.body or {})["n"])
        for call, said in finals.items()
    ]

    contents = repaired(made, profile, chosen).contents

    found = told(contents)
    if chosen["unanswered"] == "drop":  # but where a signature would go with it
        wanted = [pair for pair in wanted if pair[1] is not None]
        found = [pair for pair in found if pair[1] is not None]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    parts = [p for c in made.contents for p in c.parts or () if p.inline_data]
    parts += [said.raw for said in finals.values() if said is not None]
    shown = pictures([types.Content(role="user", parts=parts)])
    assert shown - pictures(contents) == Counter()
    if chosen["orphans"] == "drop":  # but for one that the user has just posted
        newest = pictures(made.contents[-1:])
        assert pictures(contents) - shown - newest == Counter()
