# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Every request of `tests/contents`: what the repair makes of it, and what it tells.

Requests are written in the notation of `tests.notation`, one list for each turn,
its role first; a part that it has no sign for is an object. A case without
`expected` must come back as the same list. `changes` are turn, part, code and
action of each change, with its message where that matters; `left` the codes of the
violations after the repair.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_history_guard import GuardOptions
from adk_history_guard.core.guard import Outcome, guard
from adk_history_guard.core.origins import Origins
from adk_history_guard.core.profiles import PROFILES
from tests.builders import dumped
from tests.notation import read_part

FOLDER = Path(__file__).parent / "contents"
Lines = list[list[Any]]


@dataclass(frozen=True)
class Case:
    """One request and what must become of it."""

    name: str
    given: Lines
    expected: Lines | None = None
    profile: str = "gemini-3"
    options: dict[str, str] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    origins: dict[str, Any] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def repair(self, contents: list[types.Content]) -> Outcome:
        """Repair contents as the case says."""
        return guard(
            contents,
            profile=PROFILES[self.profile],
            options=GuardOptions(**self.options),
            pending=self.pending,
            origins=read_origins(self.origins),
        )


CASES = [
    Case(**found)
    for path in sorted(FOLDER.glob("*.json"))
    for found in json.loads(path.read_text("utf-8"))
]
ALL = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def read_contents(lines: Lines) -> list[types.Content]:
    """Read the turns of a request."""
    return [
        types.Content(role=role, parts=[_part(part) for part in parts])
        for role, *parts in lines
    ]


def _part(written: str | dict[str, Any]) -> types.Part:
    if isinstance(written, str):
        return read_part(written)
    fields = dict(written)
    signature = fields.pop("thought_signature", None)  # plain, as in `look()~words`
    part = types.Part.model_validate(fields)
    if signature is not None:
        part.thought_signature = signature.encode()
    return part


def read_origins(given: dict[str, Any]) -> Origins:
    """Read who wrote what; a place is written as `1.0`."""
    fields = dict(given)
    if "signatures" in fields:
        fields["signatures"] = {found.encode() for found in fields["signatures"]}
    for name in ("wire_ids", "known_ids"):
        found = {_place(place): i for place, i in fields.get(name, {}).items()}
        fields[name] = found
    return Origins(**fields)


def _place(written: str) -> tuple[int, int]:
    turn, part = map(int, written.split("."))
    return turn, part


def told(outcome: Outcome) -> list[str]:
    """Return turn, part, code, action and message of each change."""
    found = []
    for change in outcome.changes:
        where = ".".join(str(n) for n in change.place[:2] if n is not None)
        found.append(f"{where} {change.code} {change.action}: {change.message}")
    return found


def told_as(outcome: Outcome, expected: list[str]) -> list[str]:
    """Return the changes, without their messages where none are expected."""
    return [
        line if ":" in wanted else line.partition(":")[0]
        for line, wanted in itertools.zip_longest(told(outcome), expected, fillvalue="")
    ]


def parts_of(contents: list[types.Content]) -> list[types.Part]:
    """Return all parts."""
    return [part for content in contents for part in content.parts or ()]


def copied(given: list[Any], made: list[Any]) -> list[Any]:
    """Return what equals something that was given, and is another object."""
    known = {id(item) for item in given}
    return [item for item in made if item in given and id(item) not in known]


@ALL
def test_request_is_repaired_as_written_down(case):
    """Contents, changes and what is left are the expected ones; the input stays."""
    contents = read_contents(case.given)
    before = dumped(contents)

    outcome = case.repair(contents)

    assert dumped(contents) == before
    if case.expected is None:
        assert outcome.contents is contents
    else:
        assert dumped(outcome.contents) == dumped(read_contents(case.expected))
    assert told_as(outcome, case.changes) == case.changes
    assert [violation.code for violation in outcome.violations] == case.left


@ALL
def test_what_stays_as_it_is_stays_the_same_object(case):
    """No turn and no part is copied but those that differ."""
    contents = read_contents(case.given)

    made = case.repair(contents).contents

    assert copied(contents, made) == []
    assert copied(parts_of(contents), parts_of(made)) == []


@ALL
def test_a_repaired_request_is_not_repaired_again(case):
    """The second repair of the same request changes nothing."""
    once = case.repair(read_contents(case.given))
    if case.origins:  # places and signatures on record are of the first request
        return

    twice = case.repair(once.contents)

    assert told(twice) == []
    assert twice.contents is once.contents


def test_names_of_cases_are_unique():
    """Each case can be called by its name."""
    names = [case.name for case in CASES]

    assert sorted(set(names)) == sorted(names)
