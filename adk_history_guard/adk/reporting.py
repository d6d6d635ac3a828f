# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""How the guard speaks of what it did: one log line a request, never user text."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adk_history_guard.core.turns import Change, Violation

logger = logging.getLogger("adk_history_guard")


class Reporter:
    """Logs and counts for one plugin or one model."""

    def __init__(self) -> None:
        """Start with empty counts."""
        self.faults = 0

    def changed(self, where: str, changes: Sequence[Change], *, done: bool) -> None:
        """Log what a repair did, in one line at INFO."""
        if changes and logger.isEnabledFor(logging.INFO):
            counts = Counter(f"{c.code} {c.action}" for c in changes)
            told = ", ".join(f"{what} x{n}" for what, n in sorted(counts.items()))
            verb = "repaired" if done else "would repair"
            logger.info("%s %s: %s", verb, where, told)
            if logger.isEnabledFor(logging.DEBUG):
                for change in changes:
                    logger.debug("%s", change)

    def left(self, where: str, violations: Sequence[Violation]) -> None:
        """Log each violation that is left, at WARNING."""
        for violation in violations:
            logger.warning("%s: %s", where, violation)

    def fault(self, where: str) -> None:
        """Log an exception of the guard's own, with its traceback, and count it."""
        self.faults += 1
        logger.exception(
            "adk-history-guard failed in %s; the run goes on without it. Please "
            "report this with the traceback.",
            where,
        )
