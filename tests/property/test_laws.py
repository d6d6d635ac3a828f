# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The laws of the repair, over histories that nobody wrote by hand.

For contents and for events alike: no input of valid types raises; what is clean
comes back as the same objects; repairing twice equals repairing once; inputs are
not mutated; what a rule can repair is not left; nothing that was said is lost.
`HISTORY_LAWS=deep` looks at many more examples, at random ones.
"""

from __future__ import annotations

import copy
import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_history_guard import (
    PROFILES,
    RULES,
    GuardOptions,
    repair_contents,
    repair_events,
    validate_contents,
)
from adk_history_guard.core.screen import is_clean
from tests.builders import calls_of, dumped, responses_of
from tests.judge import faults
from tests.property.strategies import (
    BREAKAGES,
    any_contents,
    any_events,
    clean_contents,
)

DEEP = os.environ.get("HISTORY_LAWS") == "deep"
LAW = settings(
    max_examples=1000 if DEEP else 100,
    derandomize=not DEEP,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FEW = settings(LAW, max_examples=100 if DEEP else 15)
profiles = st.sampled_from(list(PROFILES.values()))
NAMED = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.name)


def words(contents) -> Counter[str]:
    """Return every text that is not a thought, and every media, counted.

    White space at the end does not count; some providers refuse it (HG211).
    """
    found: Counter[str] = Counter()
    for content in contents:
        for part in content.parts or ():
            if part.text and part.text.strip() and not part.thought:
                found[part.text.rstrip()] += 1
            if part.inline_data is not None:
                found[f"media {part.inline_data.mime_type}"] += 1
    return found


@pytest.mark.once
@NAMED
@given(data=st.data())
@LAW
def test_clean_contents_come_back_as_the_same_object(profile, data):
    """A request that keeps the contract is not touched, and nothing is reported."""
    contents = data.draw(clean_contents(profile))

    outcome = repair_contents(contents, profile)

    assert validate_contents(contents, profile) == []
    assert outcome.contents is contents
    assert [*outcome.changes, *outcome.violations] == []


@pytest.mark.once
@NAMED
@given(data=st.data())
@FEW
def test_clean_contents_pass_the_screen(profile, data):
    """The quick look knows what is clean, so that the full walk is rare."""
    contents = data.draw(clean_contents(profile))

    # Where parallel calls are collapsed the walk looks at every id.
    assert is_clean(contents, profile) or profile.parallel == "collapse"


@pytest.mark.once
@pytest.mark.trap("shared-with-the-session")
@given(any_contents(), profiles)
@LAW
def test_any_contents_are_repaired_without_raising_or_mutating(contents, profile):
    """Whatever types allow is taken, in every mode, and stays as it was."""
    before = copy.deepcopy(contents)

    for mode in ("repair", "observe"):
        repair_contents(contents, profile, GuardOptions(mode=mode))
        validate_contents(contents, profile)

    assert dumped(contents) == dumped(before)


@given(any_contents(), profiles)
@LAW
def test_repairing_contents_twice_equals_once(contents, profile):
    """The repair of a repaired request changes nothing."""
    once = repair_contents(contents, profile)

    twice = repair_contents(once.contents, profile)

    assert [str(change) for change in twice.changes] == []
    assert twice.contents is once.contents


@given(any_contents(), profiles)
@LAW
def test_nothing_repairable_is_left(contents, profile):
    """What is left are breaches of rules without a repair."""
    outcome = repair_contents(contents, profile)

    left = {v.code for v in outcome.violations if RULES[v.code].action is not None}

    assert left == set()


@given(any_contents(), profiles)
@LAW
def test_no_words_and_no_media_are_lost(contents, profile):
    """Text and media of the input stand in the request, wherever they stood."""
    outcome = repair_contents(contents, profile)

    assert words(contents) - words(outcome.contents) == Counter()


@pytest.mark.once
@given(any_contents(), profiles)
@LAW
def test_what_passes_the_screen_is_clean(contents, profile):
    """The screen never lets a breach or a needed repair pass."""
    if is_clean(contents, profile):
        outcome = repair_contents([*contents, *contents[:0]], profile)

        assert validate_contents(contents, profile) == []
        assert [*outcome.changes, *outcome.violations] == []


@pytest.mark.once
@given(any_contents(), profiles)
@LAW
def test_every_change_and_violation_names_a_known_rule_and_no_words(contents, profile):
    """Reports carry codes of the catalogue and never what the user said."""
    outcome = repair_contents(contents, profile)

    for found in (*outcome.changes, *outcome.violations):
        assert found.code in RULES
        assert "hello" not in str(found)


@pytest.mark.once
@pytest.mark.parametrize("code", BREAKAGES)
@given(data=st.data())
@FEW
def test_each_breakage_makes_its_rule_fire(code, data):
    """A rule sees its breach in any history, and its repair takes it away."""
    breakage = BREAKAGES[code]
    profile = PROFILES[breakage.profile]
    clean = data.draw(clean_contents(profile, rich=True))
    broken = breakage.run(copy.deepcopy(clean))

    outcome = repair_contents(broken, profile)

    assert code in {v.code for v in validate_contents(broken, profile)}
    left = {v.code for v in outcome.violations}
    assert left <= ({code} if RULES[code].action is None else set())


LOSSLESS = {code for code in BREAKAGES if code not in {"HG101", "HG200", "HG304"}}


@pytest.mark.once
@pytest.mark.parametrize("code", sorted(LOSSLESS))
@given(data=st.data())
@FEW
def test_no_breakage_costs_an_answer(code, data):
    """Each answer of the clean history stands beside its call after the repair."""
    breakage = BREAKAGES[code]
    profile = PROFILES[breakage.profile]
    clean = data.draw(clean_contents(profile, rich=True))
    broken = breakage.run(copy.deepcopy(clean))

    outcome = repair_contents(broken, profile)

    if profile.parallel != "collapse":
        asked = Counter((c.args or {}).get("n") for c in calls_of(outcome.contents))
        told = Counter(
            (r.response or {}).get("n") for r in responses_of(outcome.contents)
        )
        before = Counter((r.response or {})["n"] for r in responses_of(clean))
        if code == "HG306":
            before -= Counter([max(before)])
        assert before - told == Counter()
        assert before - asked == Counter()
    swapped = [f for f in faults(outcome.contents) if "has the answer" in f]
    assert swapped == []


@given(any_events())
@LAW
def test_any_events_are_repaired_without_raising_or_mutating(events):
    """Whatever a store may hold is taken, and stays as it was."""
    before = dumped(events)

    repair_events(events)

    assert dumped(events) == before


@given(any_events())
@LAW
def test_repairing_events_twice_equals_once(events):
    """The repair of repaired events changes nothing and hands the same list on."""
    once = repair_events(events)

    twice = repair_events(once.events)

    assert [str(change) for change in twice.changes] == []
    assert twice.events is once.events


@given(any_events())
@LAW
def test_the_same_events_give_the_same_bytes(events):
    """Copies of a history are repaired alike, ids and all."""
    first = repair_events(events)
    second = repair_events(copy.deepcopy(events))

    assert dumped(first.events) == dumped(second.events)
    assert [str(c) for c in first.changes] == [str(c) for c in second.changes]


@given(any_events())
@LAW
def test_events_that_are_not_told_of_stay_the_same_objects(events):
    """No change: the same list. Else each event is an old one or a new copy."""
    done = repair_events(events)

    if not done.changes:
        assert done.events is events
    else:
        known = {event.id for event in events}
        old = {id(event) for event in events}
        for event in done.events:
            if event.id in known and id(event) not in old:
                source = next(e for e in events if e.id == event.id)
                assert dumped([event]) != dumped([source])


@given(any_events())
@LAW
def test_no_words_of_events_are_lost(events):
    """Text and media of the session stand in the repaired one."""
    done = repair_events(events)

    before = words([e.content for e in events if e.content])
    after = words([e.content for e in done.events if e.content])
    assert before - after == Counter()


@NAMED
@given(data=st.data())
@FEW
def test_a_clean_session_comes_back_as_the_same_list(profile, data):
    """Events whose rounds stand as they should are not even copied."""
    from tests.builders import event

    contents = data.draw(clean_contents(profile, rich=True))
    events = [
        event(
            "user" if c.role == "user" and c.parts[0].text else "root",
            *c.parts,
            number=n,
            role=c.role,
        )
        for n, c in enumerate(contents)
    ]

    done = repair_events(events)

    assert done.events is events
    assert list(done.changes) == []


def test_each_rule_has_a_breakage():
    """The table of breakages is as long as the catalogue."""
    assert sorted(BREAKAGES) == sorted(RULES)
