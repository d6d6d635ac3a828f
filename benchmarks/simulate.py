# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Play simulated sessions and check every request: `python -m benchmarks.simulate`.

Each session runs on a real ADK Runner with the guard, over the strict emulator, a
SQLite store and restarts. The command prints a line for each configuration, and ends
with 1 when anything was wrong. With `--no-guard` it shows what ADK does alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from adk_history_guard.testing.quiet import quiet
from benchmarks.simulation.play import Outcome, Plan, play

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STREAMS = {"off": (False,), "on": (True,), "both": (False, True)}
_IDS = ("pool20", "unique", "missing", "clashing")


def plans(args: argparse.Namespace) -> list[Plan]:
    """Spread the sessions evenly over the configurations, each with its own seed."""
    kinds = list(product(args.ids, _STREAMS[args.stream]))
    return [
        Plan(
            seed=args.seed + n,
            turns=args.turns,
            stream=kinds[n % len(kinds)][1],
            ids=kinds[n % len(kinds)][0],
            guard=args.guard,
            resumable=args.resumable,
        )
        for n in range(args.sessions)
    ]


@quiet()
def _quiet_play(plan: Plan) -> Outcome:
    return play(plan)


def run(todo: Sequence[Plan], jobs: int) -> Iterable[Outcome]:
    """Play sessions, in processes of their own when `jobs` is more than one."""
    if jobs < 2:  # noqa: PLR2004
        yield from map(_quiet_play, todo)
        return
    # A fresh interpreter each: threads of a server do not survive a fork.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_quiet_play, todo)


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each configuration."""
    lines = []
    groups: dict[tuple[str, bool], list[Outcome]] = {}
    for outcome in outcomes:
        key = (outcome.plan["ids"], outcome.plan["stream"])
        groups.setdefault(key, []).append(outcome)
    for (ids, stream), group in groups.items():
        total: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        for outcome in group:
            for name in ("turns", "requests", "calls", "late", "restarts"):
                total[name] += getattr(outcome, name)
            kinds.update(breach["kind"] for breach in outcome.breaches)
        clean = sum(not outcome.breaches for outcome in group)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        lines.append(
            f"ids={ids:8} stream={'on' if stream else 'off':3} "
            f"{len(group)} sessions, {clean} clean; {total['turns']} turns, "
            f"{total['requests']} requests, {total['calls']} calls, "
            f"{total['late']} late answers, {total['restarts']} restarts; "
            f"breaches: {found or '0'}"
        )
    return lines


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulate", description=__doc__
    )
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1, help="seed of the first session")
    parser.add_argument("--stream", choices=_STREAMS, default="both")
    parser.add_argument(
        "--ids",
        type=lambda text: text.split(","),
        default=["pool20", "unique"],
        help=f"where ids come from, with commas between: {', '.join(_IDS)}",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--no-guard", dest="guard", action="store_false")
    parser.add_argument(
        "--resumable",
        action="store_true",
        help="a resumable app; ADK 1 does not hear answers to an ended invocation",
    )
    parser.add_argument("--json", type=Path, help="file for all that was found")
    args = parser.parse_args(argv)
    for name in args.ids:
        if name not in _IDS:
            parser.error(f"--ids: {name!r} is none of {', '.join(_IDS)}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; see the module."""
    args = _arguments(argv)
    started = time.monotonic()
    outcomes = []
    for outcome in run(plans(args), args.jobs):
        outcomes.append(outcome)
        if outcome.breaches and args.guard:
            for breach in outcome.breaches[:3]:
                print(f"seed {outcome.plan['seed']}: {breach}", file=sys.stderr)
    adk = version("google-adk")
    lines = summary(outcomes)
    breaches = sum(len(outcome.breaches) for outcome in outcomes)
    print(f"google-adk {adk}, guard {'on' if args.guard else 'off'}")
    print("\n".join(lines))
    print(f"{breaches} breaches, {time.monotonic() - started:.0f} s")
    if args.json:
        report = {
            "google_adk": adk,
            "guard": args.guard,
            "breaches": breaches,
            "summary": lines,
            "sessions": [asdict(outcome) for outcome in outcomes],
        }
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
