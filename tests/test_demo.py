# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The demo shows the two failures on every ADK, and both healed."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

from adk_history_guard.demo import run_demo

pytestmark = pytest.mark.once

ROME = {"call": "order_taxi(Rome)", "id": None, "response": "order_taxi(Rome)"}
OSLO = {"call": "get_weather(Oslo)", "id": None, "response": "get_weather(Oslo)"}


@pytest.fixture(scope="module")
def shown():
    """What the demo prints as JSON, with its exit code."""
    out = io.StringIO()
    code = run_demo("json", Console(file=out))
    return code, {
        scene["name"]: scene for scene in json.loads(out.getvalue())["scenes"]
    }


def test_demo_ends_well(shown):
    """The demo ends with 0 and shows its two scenes."""
    code, scenes = shown

    assert code == 0
    assert list(scenes) == ["rejected", "swapped"]


def test_repeated_id_is_refused_without_the_guard(shown):
    """Without the guard the provider refuses a pair that ADK mixed up."""
    act = shown[1]["rejected"]["without"]

    assert act["error"] == "400 INVALID_ARGUMENT: Request contains an invalid argument."
    assert not act["finished"]
    assert [pair["id"] for pair in act["pairs"]] == ["call_1", "call_1"]
    assert [pair["right"] for pair in act["pairs"]].count(False) == 1


def test_repeated_id_is_healed_with_the_guard(shown):
    """With the guard each call has its own response, and the agent finishes."""
    act = shown[1]["rejected"]["with"]

    assert act["error"] is None
    assert act["finished"]
    assert act["pairs"] == [{**OSLO, "right": True}, {**ROME, "right": True}]
    assert act["said"] == "Rome: booking R-4"


def test_swapped_jobs_go_unnoticed_without_the_guard(shown):
    """Without the guard the agent tells the wrong bookings, and nothing is refused."""
    act = shown[1]["swapped"]["without"]

    assert act["error"] is None
    assert [pair["right"] for pair in act["pairs"]] == [False, False]
    assert act["said"] == "Oslo: booking R-4, Rome: booking O-4"


def test_swapped_jobs_are_healed_with_the_guard(shown):
    """With the guard the agent tells the right bookings."""
    act = shown[1]["swapped"]["with"]

    assert [pair["right"] for pair in act["pairs"]] == [True, True]
    assert act["said"] == "Oslo: booking O-4, Rome: booking R-4"


def test_piped_text_is_plain():
    """Piped, the demo is plain text, and no traceback of the refused request shows."""
    done = subprocess.run(
        [sys.executable, "-m", "adk_history_guard", "demo"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stderr.count("Traceback") == 0
    assert "\x1b" not in done.stdout
    assert "was refused. 400 INVALID_ARGUMENT" in done.stdout
    assert 'The agent says: "Oslo: booking O-4, Rome: booking R-4"' in done.stdout
