# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest request that still shows the fault."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from adk_history_guard import ConfigurationError, minimize, validate_contents
from adk_history_guard.diagnostics.sources import load
from tests.builders import SIGNATURE, call, media, model, response, user

pytestmark = pytest.mark.once

CASES = Path(__file__).parents[1] / "cases"
CODES = sorted(path.parent.name for path in CASES.glob("*/bad.json"))


def conversation(rounds, *, without=()):
    """Return a conversation of three contents a round, some responses left out."""
    out = []
    for n in range(rounds):
        answers = [response("look", id=f"c{n}", n=n)]
        if n not in without:
            answers.append(response("see", id=f"d{n}", n=n))
        out += [
            user(f"question {n}", media()),
            model(
                f"answer {n}",
                call("look", id=f"c{n}", n=n, signature=SIGNATURE),
                call("see", id=f"d{n}", n=n),
            ),
            user(*answers),
        ]
    return [*out, user("go on")]


def codes(contents, profile="gemini-3"):
    """Return which rules contents break."""
    return sorted({v.code for v in validate_contents(contents, profile)})


def test_a_hundred_contents_become_three():
    """A missing response in the middle: its question, its call, and no more."""
    contents = conversation(33, without={16})
    assert len(contents) == 100
    began = time.monotonic()

    done = minimize(contents)

    assert time.monotonic() - began < 10
    assert (done.code, done.before, done.complete) == ("HG101", 100, True)
    assert done.after <= 4
    small = list(done.request.contents)
    assert codes(small) == ["HG101"]
    # The unsigned call alone would break the rule of signatures as well.
    assert [len(content.parts) for content in small] == [1, 2, 1]


def test_ten_thousand_contents_stay_within_the_time():
    """A long history is first cut to the turns around the fault."""
    contents = conversation(3_333, without={3_000})
    began = time.monotonic()

    done = minimize(contents, seconds=60)

    assert done.after <= 4
    assert time.monotonic() - began < 30


def test_what_is_left_is_a_part_of_the_whole():
    """Nothing is invented: every part that is left is one of the request's objects."""
    contents = conversation(5, without={2})
    known = {id(part) for content in contents for part in content.parts}

    done = minimize(contents)

    kept = [part for content in done.request.contents for part in content.parts]
    assert {id(part) for part in kept} <= known
    assert done.request.contents[0].role == "user"


def test_the_request_itself_stays_as_it_is():
    """Shrinking looks at contents and changes none."""
    contents = conversation(4, without={1})
    before = [content.model_dump() for content in contents]

    minimize(contents)

    assert [content.model_dump() for content in contents] == before


@pytest.mark.parametrize("code", CODES)
def test_every_rule_can_be_kept(code):
    """The bad case of each rule shrinks to one that shows it, and no other rule."""
    request = load(CASES / code / "bad.json")
    broken = {violation.code for violation in request.violations}

    done = minimize(request, code=code)

    left = {v.code for v in done.request.violations}
    assert code in left
    assert left <= broken
    assert done.after <= done.before
    again = minimize(done.request, code=code)
    assert again.after == done.after


def test_a_repeated_id_keeps_both_of_its_calls():
    """Two rounds far apart that share an id: both stay, all between them goes."""
    contents = conversation(20)
    for n, k in ((3, 1), (51, 1)):
        contents[n + 1].parts[k].function_call.id = "same"
        contents[n + 2].parts[0].function_response.id = "same"

    done = minimize(contents, code="HG501")

    assert codes(done.request.contents) == ["HG501"]
    assert done.after <= 6


def test_a_call_goes_together_with_its_response():
    """Alone neither can go: what is left would break another rule."""
    contents = [
        user("q"),
        model(
            call("look", id="c1", signature=SIGNATURE),
            call("see", id="c2"),
            call("hear", id="c3"),
        ),
        user(response("look", id="c1"), response("see", id="c2")),
        user("go on"),
    ]

    done = minimize(contents)

    _, calls, answers = done.request.contents
    assert [part.function_call.name for part in calls.parts] == ["look", "hear"]
    assert [part.function_response.name for part in answers.parts] == ["look"]


def test_a_test_of_ones_own_is_asked_once_for_each_request():
    """`shows` may be a provider: the same request is never sent twice."""
    contents = conversation(6)
    asked = []

    def shows(candidate):
        asked.append(json.dumps([c.model_dump(mode="json") for c in candidate]))
        texts = {p.text for c in candidate for p in c.parts}
        return {"question 1", "question 4"} <= texts

    done = minimize(contents, shows=shows)

    assert [p.text for c in done.request.contents for p in c.parts] == [
        "question 1",
        "question 4",
    ]
    assert len(asked) - 1 <= done.tried
    assert len(set(asked)) == len(asked)


def test_it_stops_when_the_time_is_over():
    """What was reached is given back, and said not to be the end."""

    def shows(candidate):
        time.sleep(0.02)
        return len(candidate) > 20

    done = minimize(conversation(30), shows=shows, seconds=0.1)

    assert not done.complete
    assert done.after > 20


@pytest.mark.parametrize(
    ("contents", "code", "message"),
    [
        (conversation(2), None, "The request breaks no rule"),
        (
            conversation(2, without={0}),
            "HG999",
            "does not show 'HG999'; it shows: HG101",
        ),
        (
            conversation(2, without={0}),
            "HG301",
            "does not show 'HG301'; it shows: HG101",
        ),
    ],
    ids=["clean", "unknown", "another"],
)
def test_a_fault_that_is_not_there_cannot_be_kept(contents, code, message):
    """The error says what the request does show."""
    with pytest.raises(ConfigurationError, match=message):
        minimize(contents, code=code)
