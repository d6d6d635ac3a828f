# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: a table of ratios, and the same as JSON."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from adk_history_guard.testing.quiet import quiet

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


@quiet(logging.WARNING)
def main() -> int:
    """Measure, print the table and write JSON; exit 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and few")
    parser.add_argument("--json", type=Path, help="write the rows here")
    options = parser.parse_args()

    from rich.console import Console
    from rich.table import Table

    from benchmarks import speed, turns

    rounds = 3 if options.quick else 9
    sizes = (2_500, 10_000) if options.quick else (25_000, 100_000)
    rows: list[speed.Row] = []
    for size in (100, 1_000, 10_000) if options.quick else (10, 100, 1_000, 10_000):
        rows += speed.history_rows(size, rounds)
    rows.append(speed.memory_row(10_000))
    rows.append(speed.import_row(rounds))
    rows += speed.growth_rows(sizes, 3)
    rows += turns.turn_rows(20 if options.quick else 200)

    adk = importlib.metadata.version("google-adk")
    title = f"google-adk {adk}, Python {platform.python_version()}"
    table = Table("what", "ratio", "at most", "held", "", title=title)
    for row in rows:
        bound = "" if row.bound is None else f"{row.bound:g}"
        held = "yes" if row.held else "NO"
        table.add_row(row.name, f"{row.ratio:.4f}", bound, held, row.note)
    Console(width=110).print(table)
    if options.json:
        found = {"google-adk": adk, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(found, indent=2), encoding="utf-8")
    return 0 if all(row.held for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
