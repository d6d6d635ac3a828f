# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Put small faults into modules of the guard: `python -m benchmarks.mutation`.

Each mutant is judged by the tests of its module in `TESTS`. Those that survive are
listed; exit 1 where one of them is not explained in `benchmarks.mutation.known`,
or where something is explained there that is no mutant any more.
It needs `os.fork`, and takes minutes for a module: it is no part of CI.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.mutation.harness import PACKAGE, SURVIVED, UNREACHED, Session
from benchmarks.mutation.known import KNOWN
from benchmarks.mutation.mutants import mutants_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
REQUESTS = ("tests/test_contents.py", "tests/test_repair.py", "tests/test_rules.py")
HISTORIES = (
    "tests/test_pairing.py",
    "tests/test_pairing_corners.py",
    "tests/test_history.py",
    "tests/test_histories.py",
    "tests/property/test_laws.py",
)
BREACHES = ("tests/test_screen.py", "tests/test_breaches.py", "tests/test_rules.py")
TESTS = {
    "core/pairing.py": HISTORIES,
    "core/repair.py": (*BREACHES, "tests/test_repair.py"),
    "core/answers.py": REQUESTS,
    "core/signatures.py": (*REQUESTS, "tests/providers/test_signatures.py"),
    "core/collapse.py": REQUESTS[:1],
    "core/shape.py": REQUESTS,
    "core/media.py": (*REQUESTS, "tests/providers/test_media_wire.py"),
    "core/ids.py": (*REQUESTS, "tests/providers/test_data_ids.py"),
    "core/screen.py": BREACHES,
    "core/guard.py": ("tests/test_guard.py", *BREACHES, "tests/test_repair.py"),
    "core/origins.py": ("tests/test_guard.py", "tests/test_narration.py"),
    "core/narration.py": ("tests/test_narration.py", *BREACHES, "tests/test_repair.py"),
    "core/profiles.py": ("tests/test_profiles.py", *BREACHES),
    "core/rules.py": BREACHES,
    "core/turns.py": (
        *BREACHES,
        "tests/test_turns.py",
        "tests/test_repair.py",
        "tests/test_errors.py",
        "tests/test_pairing.py",
        "tests/test_history.py",
    ),
    "core/checks.py": (*BREACHES, "tests/test_checks.py", "tests/test_turns.py"),
    "adk/rounds.py": (*HISTORIES, "tests/test_adk_manners.py"),
    "adk/history.py": (*HISTORIES, "tests/test_adk_manners.py"),
}
"""The tests that judge a module."""


SPEED = " and ".join(
    f"not {word}"
    for word in ("linear", "many", "processes", "every_process", "second_process")
)
"""Tests of speed and of other processes judge no mutant."""


def _judge(
    module: str, *, only: str, limit: int | None, tests: Sequence[str] | None
) -> int:
    path = ROOT / PACKAGE / module
    explained = KNOWN.get(module, {})
    left: list[str] = []
    counts: Counter[str] = Counter()

    def work(session: Session) -> None:
        print(f"{module}: {session.told}", flush=True)
        found = list(mutants_of(path.read_text("utf-8"), str(path)))
        for name in explained.keys() - {mutant.name for mutant in found}:
            left.append(name)
            print(f"explained, but no mutant: {module} {name}", flush=True)
        for mutant in found:
            if only not in mutant.name:
                continue
            if limit is not None and counts.total() >= limit:
                break
            came, test = session.judge(mutant)
            if came in (SURVIVED, UNREACHED) and mutant.name in explained:
                came = "explained"
            counts[came] += 1
            if came in (SURVIVED, UNREACHED):
                left.append(mutant.name)
                print(f"{came}: {module}:{mutant.line} {mutant.name}", flush=True)
            elif only:
                print(f"{came}: {module}:{mutant.line} {mutant.name}: {test}")

    began = time.monotonic()
    name = f"{PACKAGE}.{module.removesuffix('.py').replace('/', '.')}"
    options = ["-qqs", "-p", "no:cacheprovider", "-m", "not slow", "-k", SPEED]
    status = pytest.main(
        [*options, *(tests or TESTS[module])], plugins=[Session(name, work)]
    )
    told = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    took = time.monotonic() - began
    print(f"{module}: {counts.total()} mutants: {told}, {took:.0f} s", flush=True)
    return 1 if left or status not in (0, 5) else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutation", description=__doc__
    )
    parser.add_argument("--module", action="append", choices=sorted(TESTS))
    parser.add_argument("--limit", type=int, help="no more mutants of a module")
    parser.add_argument("--only", default="", help="those whose name holds this")
    parser.add_argument("--tests", nargs="+", help="instead of those of the module")
    args = parser.parse_args(argv)
    return max(
        _judge(module, only=args.only, limit=args.limit, tests=args.tests)
        for module in args.module or TESTS
    )


if __name__ == "__main__":
    sys.exit(main())
