# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Counters, a histogram and span events, over OpenTelemetry's API alone.

Without an SDK every call here does nothing. Names and units are part of the
documented interface; attributes hold codes and words of this library, never text of
the user, ids or names of tools.

==================================== =========== ==============================
name                                 unit        attributes
==================================== =========== ==============================
`adk_history_guard.changes`          {change}    rule, action, applied
`adk_history_guard.violations`       {violation} rule, severity
`adk_history_guard.rejected_requests` {request}  kind, status, rule
`adk_history_guard.ids_minted`       {id}        (none)
`adk_history_guard.faults`           {fault}     where
`adk_history_guard.duration`         s           where
==================================== =========== ==============================

Events on the current span: `adk_history_guard.repaired`, `.violations`,
`.rejected`, `.fault`.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry import metrics

    from adk_history_guard.core.turns import Change, Violation
    from adk_history_guard.diagnostics.record import RejectedRequest

SCOPE = "adk_history_guard"

COUNTERS = {
    "changes": ("{change}", "Changes that the guard made to events or contents."),
    "violations": ("{violation}", "Violations that were left in a request."),
    "rejected_requests": ("{request}", "Requests that a provider refused."),
    "ids_minted": ("{id}", "Ids that the guard gave to function calls."),
    "faults": ("{fault}", "Faults inside the guard; the run went on without it."),
}
"""Every counter: unit and description."""

DURATION = f"{SCOPE}.duration"
_BOUNDARIES = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]


@cache
def counter(name: str) -> metrics.Counter:
    """Return a counter, made when it is first used."""
    # Imported late, here and below: `import adk_history_guard` shall stay cheap.
    from opentelemetry import metrics

    unit, description = COUNTERS[name]
    return metrics.get_meter(SCOPE).create_counter(
        f"{SCOPE}.{name}", unit=unit, description=description
    )


@cache
def duration() -> metrics.Histogram:
    """Return the histogram of the guard's own time, made when it is first used."""
    from opentelemetry import metrics

    return metrics.get_meter(SCOPE).create_histogram(
        DURATION,
        unit="s",
        description="Time that the guard itself took.",
        explicit_bucket_boundaries_advisory=_BOUNDARIES,
    )


def took(where: str, seconds: float) -> None:
    """Record the guard's own time in one callback."""
    duration().record(seconds, {"where": where})


def changed(changes: Sequence[Change], *, applied: bool) -> None:
    """Count changes, and tell the current span of them."""
    counts = Counter((change.code, str(change.action)) for change in changes)
    for (rule, action), number in counts.items():
        told = {"rule": rule, "action": action}
        counter("changes").add(number, {**told, "applied": applied})
    _event("repaired", {"changes": len(changes), "rules": _codes(changes)})


def left(violations: Sequence[Violation]) -> None:
    """Count violations that are left, and tell the current span of them."""
    counts = Counter((v.code, str(v.severity)) for v in violations)
    for (rule, severity), number in counts.items():
        counter("violations").add(number, {"rule": rule, "severity": severity})
    _event("violations", {"count": len(violations), "rules": _codes(violations)})


def rejected(request: RejectedRequest) -> None:
    """Count a rejected request, and tell the current span of it."""
    error = request.error
    status = (error.finish_reason or error.code or 0) if error is not None else 0
    causes = request.causes
    rule = causes[0].code if causes and causes[0].rank != "suspected" else "unknown"
    attributes = {"kind": request.kind, "status": str(status), "rule": rule}
    counter("rejected_requests").add(1, attributes)
    _event("rejected", attributes)


def minted(number: int) -> None:
    """Count ids that the guard gave."""
    counter("ids_minted").add(number)


def fault(where: str) -> None:
    """Count a fault of the guard's own."""
    counter("faults").add(1, {"where": where})
    _event("fault", {"where": where})


def _codes(found: Sequence[Change] | Sequence[Violation]) -> list[str]:
    return sorted({item.code for item in found})


def _event(name: str, attributes: Mapping[str, str | int | Sequence[str]]) -> None:
    from opentelemetry import trace

    span = trace.get_current_span()
    if span.is_recording():
        span.add_event(f"{SCOPE}.{name}", attributes)
