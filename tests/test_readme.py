# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The README says what is so: its tables, its message, its examples, its commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from adk_history_guard import PROFILES, RULES, validate_contents
from adk_history_guard.cli import main
from adk_history_guard.options import list_knobs
from tests.builders import call, model, user

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text("utf-8")

FAMILIES = {
    "1": "pairing",
    "2": "turns",
    "3": "parts",
    "4": "signatures",
    "5": "ids",
}


def rules_table():
    """Render the rules as the README shows them: a line for each family."""
    rows = ["| family | rules |", "| --- | --- |"]
    for digit, family in FAMILIES.items():
        found = [r for r in RULES.values() if r.code[2] == digit]
        told = ", ".join(
            f"{r.code[2:]} `{r.name}`" + ("" if r.action else " (no repair)")
            for r in found
        )
        rows.append(f"| HG{digit}xx {family} | {told} |")
    return "\n".join(rows)


def knobs_table():
    """Render the knobs as the README shows them."""
    rows = ["| knob | values | what it decides |", "| --- | --- | --- |"]
    for knob in list_knobs():
        words = re.findall(r"'([^']+)'", knob.allowed)
        first = [str(knob.default)] + [w for w in words if w != knob.default]
        values = ", ".join(f"`{word}`" for word in first)
        if not words or "Profile" in knob.allowed:
            default = f"`{knob.default}`"
            rest = knob.allowed.replace("None, ", "").replace("None or ", "")
            rest = rest.replace("'auto', ", "").replace("|", "\\|")
            default = default.replace("|", "\\|")
            values = default if default[1:-1] in rest else f"{default}, {rest}"
        rows.append(f"| `{knob.name}` | {values} | {knob.meaning} |")
    return "\n".join(rows)


@pytest.mark.parametrize("table", [rules_table, knobs_table])
def test_table_is_the_catalogue(table):
    """The README's tables are rendered from the code's own."""
    assert table() in TEXT


def test_knobs_without_a_variable_are_named():
    """The README says which knobs the environment cannot hold."""
    code_only = [f"`{knob.name}`" for knob in list_knobs() if knob.variable is None]
    told = TEXT.split("## Knobs")[1].split("|")[0].replace("\n", " ")

    assert f"all but {' and '.join(code_only)} also as" in told


def test_profiles_are_all_named():
    """The README names every profile."""
    assert ", ".join(f"`{name}`" for name in PROFILES) in TEXT


def test_message_is_what_the_guard_prints():
    """The message shown is the message of the rule, word for word."""
    contents = [user("Will it rain?"), model(call("get_weather", id="call_1"))]
    found = [str(v) for v in validate_contents(contents) if v.code == "HG101"]

    shown = re.search(r"<!-- message -->\n```text\n(.*?)\n```", TEXT, re.DOTALL)

    assert found == [shown[1]]


def test_examples_run():
    """Every Python example runs as it stands, one after the other."""
    examples = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    code = "\n".join(examples)

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )

    assert len(examples) == 2
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_named_exist():
    """Every command that the README names is one of the command line's."""
    named = set(re.findall(r"`([a-z]+)(?: HG101)?`", TEXT.split("## Command line")[1]))
    named |= set(re.findall(r"adk-history-guard ([a-z]+)", TEXT))
    known = set(main.list_commands(click.Context(main)))

    assert known <= named


def test_first_screen_holds_the_two_commands():
    """A newcomer finds the demo and the tests without scrolling."""
    first = "\n".join(TEXT.splitlines()[:25])

    assert "<!-- command: demo -->" in first
    assert "<!-- command: tests -->" in first


def test_length_is_that_of_one_sitting():
    """The README stays between 120 and 160 lines."""
    assert 120 <= len(TEXT.splitlines()) <= 160
