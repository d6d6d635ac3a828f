# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML page that needs nothing else and runs nothing.

Whatever stands in a dump is hostile. Every value goes through jinja2's autoescape, and
control and right-to-left characters are written out; the page has no script, and its
policy (CSP) forbids scripts, frames, forms and every load. The one style sheet is
allowed by its hash, so that no style of a dump's making counts.

The rows of a timeline have one height, so the arcs are drawn without a script.
"""

from __future__ import annotations

import base64
import hashlib
import math
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from adk_history_guard.core.pairing import pair
from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import read_contents
from adk_history_guard.diagnostics.explain import listed_causes
from adk_history_guard.diagnostics.sayings import saying
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.diagnostics.words import describe, visible

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from google.genai import types

    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.turns import Violation
    from adk_history_guard.diagnostics.record import RejectedRequest

ROW = 28
"""The height of a row in the units of the drawing; 1.75rem on the page."""

WIDTH = 64
"""The width of the drawing of arcs; 4rem on the page."""

MOST_ROWS = 800
"""Rows of a timeline that are drawn whole; of a longer one the ends and the faults."""

_ENDS, _NEAR = 15, 3
_EXCERPT = 160
_LISTED = 200


@dataclass(slots=True)
class Row:
    """One row of a timeline: a turn's head, a part, a fault, or a gap."""

    kind: str
    text: str
    note: str = ""
    bad: bool = False
    anchor: str = ""


@dataclass(slots=True)
class Timeline:
    """The rows of one request and the arcs between them."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    arcs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def height(self) -> int:
        """The height of the drawing."""
        return max(1, len(self.rows)) * ROW

    @property
    def rems(self) -> float:
        """The height of the drawing on the page."""
        return self.height / 16


def render_html(
    dump: RejectedRequest
    | str
    | os.PathLike[str]
    | dict[str, Any]
    | Sequence[types.Content],
    *,
    profile: str | Profile | None = None,
) -> str:
    """Return the report of a request as one HTML page.

    Args:
        dump: What `explain` takes.
        profile: The contract to judge by, in place of the dump's own.

    Returns:
        The page. It loads nothing, and nothing in it can run.

    Raises:
        DumpFormatError: The dump cannot be read.
    """
    request = load(dump, profile)
    outcome = request.repaired
    css = _read("report.css")
    before = _timeline("before", "As it was sent", request.contents, request.violations)
    after = _timeline(
        "after", "As mode='repair' sends it", outcome.contents, outcome.violations
    )
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            css=Markup(css),  # noqa: S704 - the package's own file
            policy=policy(css),
            facts=_facts(request),
            error=None if request.error is None else visible(str(request.error), 2_000),
            faults=[_fault(request, v) for v in request.violations[:_LISTED]],
            more_faults=max(0, len(request.violations) - _LISTED),
            causes=[_cause(cause.to_dict()) for cause in listed_causes(request)],
            changes=[visible(str(change), 400) for change in outcome.changes[:_LISTED]],
            more_changes=max(0, len(outcome.changes) - _LISTED),
            timelines=[before, after] if outcome.changes else [before],
            row=ROW,
            width=WIDTH,
        )
    )
    # A lone surrogate has no UTF-8; none is left in escaped text, be sure of it.
    return page.encode("utf-8", "replace").decode("utf-8")


def policy(css: str) -> str:
    """Return the page's Content-Security-Policy: one style sheet, nothing else."""
    digest = hashlib.sha256(css.encode()).digest()
    allowed = base64.b64encode(digest).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _read(name: str) -> str:
    folder = resources.files("adk_history_guard.diagnostics") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _facts(request: RejectedRequest) -> list[tuple[str, str]]:
    versions = ", ".join(f"{k} {v}" for k, v in request.versions.items())
    turns = request.omitted or len(request.contents)
    facts = [
        ("profile", f"{request.profile.name}: {request.profile_reason or 'as given'}"),
        ("model", request.model),
        ("agent", request.agent),
        ("session", request.session_id),
        ("invocation", request.invocation_id),
        ("contents", str(turns)),
        ("shown", "shape only, no text of the user" if request.shaped else "in full"),
        ("versions", versions),
    ]
    return [(name, visible(value, 300)) for name, value in facts if value]


def _fault(request: RejectedRequest, violation: Violation) -> dict[str, Any]:
    rule = RULES[violation.code]
    return {
        "code": violation.code,
        "name": violation.name,
        "severity": str(violation.severity),
        "place": str(violation.place),
        "anchor": f"before-{violation.place.turn}-{violation.place.part or 0}",
        "message": visible(violation.message, 400),
        "why": rule.why,
        "fix": violation.fix,
        "source": rule.source,
        "says": saying(violation.code, request.profile.name) or "",
    }


def _cause(cause: dict[str, Any]) -> dict[str, Any]:
    return cause | {"places": ", ".join(cause["places"][:6])}


def _timeline(
    name: str,
    title: str,
    contents: Sequence[types.Content],
    violations: Iterable[Violation],
) -> Timeline:
    out = Timeline(name, title)
    at: dict[tuple[int, int | None], list[Violation]] = {}
    for violation in violations:
        at.setdefault((violation.place.turn, violation.place.part), []).append(
            violation
        )
    rows: dict[tuple[int, int], int] = {}
    shown = _shown(contents, {turn for turn, _ in at})
    last = -1
    for n in shown:
        if n > last + 1:
            out.rows.append(Row("gap", f"{n - last - 1} turns are not shown"))
        last = n
        _add_turn(out, rows, n, contents[n], at)
    if contents and last < len(contents) - 1:
        out.rows.append(Row("gap", f"{len(contents) - 1 - last} turns are not shown"))
    if not contents:
        out.rows.append(Row("gap", "no contents"))
    _add_arcs(out, rows, contents)
    return out


def _add_turn(
    out: Timeline,
    rows: dict[tuple[int, int], int],
    n: int,
    content: types.Content,
    at: dict[tuple[int, int | None], list[Violation]],
) -> None:
    faults = at.get((n, None), [])
    role = visible(content.role or "no role", 40)
    out.rows.append(Row("turn", f"{n}", role, bad=bool(faults)))
    out.rows.extend(_fault_row(fault) for fault in faults)
    for k, part in enumerate(content.parts or ()):
        found = at.get((n, k), [])
        rows[n, k] = len(out.rows)
        anchor = f"{out.name}-{n}-{k}"
        out.rows.append(
            Row("part", describe(part), _excerpt(part), bool(found), anchor)
        )
        out.rows.extend(_fault_row(fault) for fault in found)
    if not content.parts:
        out.rows.append(Row("part", "no parts", anchor=f"{out.name}-{n}-0"))


def _fault_row(fault: Violation) -> Row:
    text = f"{fault.code} {fault.name}"
    return Row("fault", text, visible(fault.message, _EXCERPT), bad=True)


def _excerpt(part: types.Part) -> str:
    """Return the beginning of what a part says; in a shape it is a stand-in."""
    if part.text:
        return visible(part.text, _EXCERPT)
    call, response = part.function_call, part.function_response
    body = call.args if call is not None else None
    if response is not None:
        body = response.response
    return visible(repr(body)[: _EXCERPT * 4], _EXCERPT) if body else ""


def _shown(contents: Sequence[types.Content], faulty: set[int]) -> list[int]:
    size = len(contents)
    if sum(1 + len(c.parts or ()) for c in contents) + len(faulty) <= MOST_ROWS:
        return list(range(size))
    chosen = {*range(_ENDS), *range(size - _ENDS, size)}
    for turn in sorted(faulty)[:_ENDS]:
        chosen.update(range(turn - _NEAR, turn + _NEAR + 1))
    return sorted(n for n in chosen if 0 <= n < size)


def _add_arcs(
    out: Timeline,
    rows: dict[tuple[int, int], int],
    contents: Sequence[types.Content],
) -> None:
    for response, call in pair(read_contents(contents)).owner.items():
        start = rows.get((call.turn, call.part))
        end = rows.get((response.turn, response.part))
        if start is None or end is None:
            continue
        top, bottom = start * ROW + ROW // 2, end * ROW + ROW // 2
        reach = min(WIDTH - 6, 14 + int(9 * math.log2(1 + abs(end - start))))
        out.arcs.append(
            {
                "path": f"M{WIDTH} {top}C{WIDTH - reach} {top} {WIDTH - reach} "
                f"{bottom} {WIDTH} {bottom}",
                "bad": response.turn != call.turn + 1 or response.name != call.name,
                "end": bottom,
            }
        )
