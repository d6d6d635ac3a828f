# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Every rule with its bad case and its near-miss, and the tables held together.

A folder of `tests/cases` is named by the code of a rule and holds

* `bad.json`: contents that break the rule, and the profile they are sent under,
* `near_miss.json`: contents close to them that must stay silent,
* `expected.txt`: the violations, the changes, and the violations left, as shown,
* `repaired.json`: the contents after the repair.

`pytest --regen` writes the last two anew, to be read as a diff.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from adk_history_guard import (
    PROFILES,
    RULES,
    GuardOptions,
    repair_contents,
    validate_contents,
)
from adk_history_guard.core.checks import CHECKS, severity
from adk_history_guard.core.turns import Severity
from tests.builders import dumped

FOLDER = Path(__file__).parent / "cases"
CODES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
LEVELS = {"documented", "seen", "reported"}


def read(code: str, name: str) -> tuple[list[types.Content], str, GuardOptions]:
    """Return the contents, the profile and the options of a case."""
    case = json.loads((FOLDER / code / f"{name}.json").read_text("utf-8"))
    contents = [types.Content.model_validate(found) for found in case["contents"]]
    return contents, case["profile"], GuardOptions(**case.get("options", {}))


def rendered(code: str) -> tuple[str, list[dict[str, Any]]]:
    """Return what is shown of a bad case, and its repaired form."""
    contents, profile, options = read(code, "bad")
    violations = validate_contents(contents, profile)
    outcome = repair_contents(contents, profile, options)
    sections = [
        ("violations", violations),
        ("changes", outcome.changes),
        ("left", outcome.violations),
    ]
    lines: list[str] = []
    for title, found in sections:
        lines += [f"{title}:", *map(str, found)] if found else [f"{title}: none"]
    return "\n".join(lines) + "\n", dumped(outcome.contents)


@pytest.mark.parametrize("code", CODES)
def test_bad_case_is_found_shown_and_repaired(code, regen):
    """The codes, the rendering and the repaired form are exactly as written down."""
    shown, repaired = rendered(code)
    expected, form = FOLDER / code / "expected.txt", FOLDER / code / "repaired.json"
    if regen:
        expected.write_text(shown, "utf-8")
        form.write_text(json.dumps(repaired, indent=2) + "\n", "utf-8")

    assert shown == expected.read_text("utf-8")
    assert repaired == json.loads(form.read_text("utf-8"))


@pytest.mark.parametrize("code", CODES)
def test_bad_case_breaks_the_rule_of_its_folder(code):
    """Nobody can regenerate a case into one that does not show its rule."""
    contents, profile, _ = read(code, "bad")

    assert code in {
        violation.code for violation in validate_contents(contents, profile)
    }


@pytest.mark.parametrize("code", CODES)
def test_near_miss_is_silent_and_stays_the_same_object(code):
    """What comes close to the breach is neither reported nor touched."""
    contents, profile, options = read(code, "near_miss")

    outcome = repair_contents(contents, profile, options)

    assert validate_contents(contents, profile) == []
    assert outcome.contents is contents
    assert [*outcome.changes, *outcome.violations] == []


@pytest.mark.parametrize("code", CODES)
def test_repair_is_told_by_the_rule(code):
    """A rule with an action is repaired by it; one without is left and reported."""
    contents, profile, options = read(code, "bad")
    outcome = repair_contents(contents, profile, options)
    done = {str(change.action) for change in outcome.changes if change.code == code}
    left = code in {violation.code for violation in outcome.violations}

    action = RULES[code].action

    assert done == (set() if action is None else {str(action)})
    assert left == (action is None)


@pytest.mark.parametrize("name", ["bad", "near_miss"])
@pytest.mark.parametrize("code", CODES)
def test_inputs_are_not_mutated(code, name):
    """Neither check nor repair changes what it was given, in any nested field."""
    contents, profile, options = read(code, name)
    before = copy.deepcopy(contents)
    parts = [list(content.parts or ()) for content in contents]

    validate_contents(contents, profile)
    repair_contents(contents, profile, options)

    assert contents == before
    for content, old in zip(contents, parts, strict=True):
        assert all(a is b for a, b in zip(content.parts or (), old, strict=True))


@pytest.mark.parametrize("code", CODES)
def test_observing_reports_and_changes_nothing(code):
    """`mode="observe"` hands the same list on, with the violations of a check."""
    contents, profile, _ = read(code, "bad")

    outcome = repair_contents(contents, profile, GuardOptions(mode="observe"))

    assert outcome.contents is contents
    assert list(outcome.violations) == validate_contents(contents, profile)


def test_each_rule_has_a_check_and_a_case():
    """No rule without a check, a bad case and a near-miss; none beside the table."""
    files = {"bad.json", "near_miss.json", "expected.txt", "repaired.json"}

    assert list(RULES) == list(CHECKS)
    assert sorted(RULES) == CODES
    for code in CODES:
        assert {path.name for path in (FOLDER / code).iterdir()} == files


def test_rules_are_complete_records():
    """Each rule has its code, a name of its own, its texts, a level and a source."""
    names = [rule.name for rule in RULES.values()]

    assert sorted(names) == sorted(set(names))
    for code, rule in RULES.items():
        assert rule.code == code
        assert rule.level in LEVELS
        assert all((rule.summary, rule.why, rule.fix, rule.source))
        assert not rule.name.startswith(("no-", "disallow-"))


def test_what_is_only_reported_is_a_warning():
    """A rule that no provider has documented or shown is never an error."""
    found = {rule.code for rule in RULES.values() if rule.severity is Severity.WARNING}

    assert found == {code for code, rule in RULES.items() if rule.level == "reported"}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.name)
def test_profiles_name_rules_that_exist(profile):
    """A profile cannot set the severity of a rule that is not there."""
    assert set(profile.rules) <= set(RULES)


@pytest.mark.parametrize("code", CODES)
def test_each_rule_holds_under_some_profile(code):
    """A rule that is off everywhere would be dead."""
    levels = {severity(code, profile) for profile in PROFILES.values()}

    assert levels - {Severity.OFF}
