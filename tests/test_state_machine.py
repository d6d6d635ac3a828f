# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A seeded part of the random plays, and proof that their laws can break.

A long run is `python -m benchmarks.state_machine`, or these tests with the steps in
the variable `STATE_MACHINE_STEPS`: then the plays are new ones each time.
"""

from __future__ import annotations

import logging
import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from benchmarks.simulation.machine import Conversation, LawBrokenError

STEPS_OF_A_PLAY = 25


def play(machine: type[Conversation], steps: int) -> None:
    """Play as many sessions as make up the steps."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=steps * 3 // 2 // STEPS_OF_A_PLAY,  # some plays are short
            stateful_step_count=STEPS_OF_A_PLAY,
            derandomize="STATE_MACHINE_STEPS" not in os.environ,
            database=None,
            deadline=None,
            phases=[Phase.generate],  # a play is too slow to shrink it here
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "steps",
    [pytest.param(400, id="few"), pytest.param(2_000, marks=pytest.mark.slow)],
)
def test_laws_hold_at_each_step(steps, caplog):
    """Whatever user, model, tools, clients and restarts do, every request is right."""
    caplog.set_level(logging.CRITICAL)
    machine = type("Played", (Conversation,), {})
    wanted = int(os.environ.get("STATE_MACHINE_STEPS", steps))

    play(machine, wanted)

    assert machine.steps >= wanted


def test_laws_break_without_the_guard(caplog):
    """The same plays find ADK's own mistakes where the guard is missing."""
    caplog.set_level(logging.CRITICAL)
    machine = type("Unguarded", (Conversation,), {"guarded": False})

    with pytest.raises(LawBrokenError):
        play(machine, 250)
