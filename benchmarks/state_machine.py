# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Random plays against a real Runner, for long: `python -m benchmarks.state_machine`.

Each batch of plays has a seed of its own; the seed of a batch that breaks a law is
printed, and plays it again. `--shrink` looks for the shortest play that breaks it.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from adk_history_guard.testing.quiet import quiet
from benchmarks.simulation.machine import Conversation

if TYPE_CHECKING:
    from collections.abc import Sequence


def play(number: int, plays: int, length: int, *, shrink: bool, guard: bool) -> int:
    """Play a batch.

    Args:
        number: The seed.
        plays: How many sessions.
        length: How many steps each may have.
        shrink: Whether to look for the shortest play that breaks a law.
        guard: Whether the guard is there.

    Returns:
        How many steps were taken.
    """

    class Played(Conversation):
        guarded = guard

    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
    run_state_machine_as_test(
        seed(number)(Played),
        settings=settings(
            max_examples=plays,
            stateful_step_count=length,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return Played.steps


@quiet()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; see the module. Exit 1 where a law was broken."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.state_machine", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1, help="seed of the first batch")
    parser.add_argument("--batches", type=int, help="how many; else by the clock")
    parser.add_argument("--plays", type=int, default=20, help="plays of a batch")
    parser.add_argument("--length", type=int, default=40, help="steps of a play")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--no-guard", dest="guard", action="store_false")
    args = parser.parse_args(argv)
    began, steps, broken, batch = time.monotonic(), 0, 0, 0
    while (
        batch < args.batches
        if args.batches is not None
        else time.monotonic() - began < args.minutes * 60
    ):
        number = args.seed + batch
        batch += 1
        try:
            steps += play(
                number,
                args.plays,
                args.length,
                shrink=args.shrink,
                guard=args.guard,
            )
        except (AssertionError, ExceptionGroup) as error:
            broken += 1
            print(f"seed {number}: {error}", *getattr(error, "__notes__", ()), sep="\n")
    print(
        f"google-adk {version('google-adk')}: {steps} steps in {batch} batches from "
        f"seed {args.seed}, {broken} broken, {time.monotonic() - began:.0f} s"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
