# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Plays every scenario on several ADK versions and writes `docs/conformance.md`.

Usage, from the top of the repository, with one interpreter for each version::

    python -m benchmarks.conformance --write VENV/bin/python OTHER/bin/python ...

Each interpreter plays the scenarios of `tests/conformance` without the guard and
with it. Without `--write` the table is printed. The exit code is 1 where the guard
leaves a fault that ADK alone does not have. Besides the test dependencies, each
environment needs what `google-adk[eval]` brings.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "conformance.md"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LIMIT = 300
"""Seconds until a scenario counts as hung."""

INTRODUCTION = """\
# ADK, feature by feature

What comes out wrong without the guard, and with it, on each version of Google ADK.
Real runners, session services, plugins and model classes are used; only the model at
the far end is scripted or emulated. `python -m benchmarks.conformance --write` writes
this page, and `tests/conformance` plays the scenarios again and demands the same.

`wrong → right` reads: wrong with ADK alone, right with the guard. `none`: this version
has no such feature. Wrong is what an emulated provider refuses or an independent judge
of the request finds: an answer that is lost, swapped or not the last one, an unpaired
call or response, a turn out of place, an id on two calls, a run that breaks off.
"""


async def measure() -> list[dict[str, Any]]:
    """Play all scenarios on the installed ADK, twice."""
    from tests.conformance.stage import load

    found = []
    for scenario in load():
        line: dict[str, Any] = {"row": scenario.row, "title": scenario.title}
        found.append(line)
        if not scenario.exists:
            continue
        line["limit"] = scenario.limit
        for key, guard in (("alone", False), ("guard", True)):
            with tempfile.TemporaryDirectory() as folder:
                play = scenario.measure(Path(folder), guard=guard)
                try:
                    line[key] = await asyncio.wait_for(play, LIMIT)
                except TimeoutError:
                    line[key] = [f"no end within {LIMIT} seconds"]
    return found


def played(python: str) -> dict[str, Any]:
    """Have another interpreter play the scenarios."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    done = subprocess.run(
        [python, __file__, "--measure"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def cell(line: dict[str, Any]) -> str:
    """Write one cell of the table."""
    if "alone" not in line:  # this ADK has no such feature
        return "none"
    words = ["wrong" if line[key] else "right" for key in ("alone", "guard")]
    return " → ".join(words)


def read(text: str) -> dict[tuple[int, str], dict[str, str]]:
    """Read the cells of a page: by row and title, then by version."""
    found: dict[tuple[int, str], dict[str, str]] = {}
    row, versions = 0, []
    for line in text.splitlines():
        if line.startswith("## "):
            row = int(line.split()[1].rstrip("."))
        elif line.startswith("| | "):
            versions = [name.strip() for name in line.strip("| ").split("|")]
        elif line.startswith("| "):
            title, *cells = (part.strip() for part in line.strip("| ").split(" | "))
            found[row, title] = dict(zip(versions, cells, strict=True))
    return found


def page(results: list[dict[str, Any]]) -> str:
    """Write the page."""
    from tests.conformance.stage import GROUPS

    versions = [result["version"] for result in results]
    columns = [result["lines"] for result in results]
    out = [INTRODUCTION]
    for row, title in GROUPS.items():
        numbers = [n for n, line in enumerate(columns[0]) if line["row"] == row]
        out += [f"## {row}. {title}", ""]
        out.append("| | " + " | ".join(versions) + " |")
        out.append("|---|" + "---|" * len(versions))
        for n in numbers:
            cells = " | ".join(cell(column[n]) for column in columns)
            out.append(f"| {columns[0][n]['title']} | {cells} |")
        faults = [
            f"- {columns[0][n]['title']}: {fault}"
            for n in numbers
            if (fault := first_fault(versions, columns, n)) is not None
        ]
        limits = {
            f"- {line['title']} ({version}): {line['limit']}."
            for version, column in zip(versions, columns, strict=True)
            for line in (column[n] for n in numbers)
            if line.get("limit")
        }
        if limits:
            out += ["", "What the guard cannot mend:", "", *sorted(limits)]
        if faults:
            out += ["", "What goes wrong with ADK alone, for example:", "", *faults]
        out.append("")
    return "\n".join(out)


def first_fault(
    versions: list[str], columns: list[list[dict[str, Any]]], n: int
) -> str | None:
    """Return the fault of the newest version that has one."""
    for version, column in reversed(list(zip(versions, columns, strict=True))):
        if column[n].get("alone"):
            fault = _UUID.sub("...", column[n]["alone"][0])
            return f"{fault} ({version})"
    return None


def worse(results: list[dict[str, Any]]) -> list[str]:
    """Return where the guard leaves what ADK alone does not have."""
    return [
        f"{result['version']}: {line['title']}: {line['guard'][0]}"
        for result in results
        for line in result["lines"]
        if line.get("guard") and not line["alone"]
    ]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.measure:
        from adk_history_guard.testing.quiet import quiet

        with quiet():
            lines = asyncio.run(measure())
        result = {"version": metadata.version("google-adk"), "lines": lines}
        print(json.dumps(result))
        return 0
    results = [played(python) for python in options.pythons]
    text = page(results)
    if options.write:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    for line in worse(results):
        print(line, file=sys.stderr)
    return 1 if worse(results) else 0


if __name__ == "__main__":
    sys.exit(main())
