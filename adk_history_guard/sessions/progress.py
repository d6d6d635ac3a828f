# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of an audit on standard error: how many, how fast, how long still."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from types import TracebackType

    from adk_history_guard.sessions.model import Filters

_PLAIN_EVERY = 10.0
"""Seconds between two lines where standard error is no terminal."""


class Progress:
    """One line that is written over, or a line now and then in a log.

    Args:
      total: How many sessions there are, None where that is not known.
      filters: What makes this audit look at fewer of them.
    """

    def __init__(self, total: int | None, filters: Filters) -> None:
        if total is not None and filters.shard is not None:
            total = -(-total // filters.shard[1])
        if total is not None and filters.limit is not None:
            total = min(total, filters.limit)
        self._total = total
        self._start = self._said = time.monotonic()
        self._done = 0
        self._live = sys.stderr.isatty()

    def add(self, sessions: int, poisoned: int) -> None:
        """Count sessions and say so, if it is time to."""
        self._done += sessions
        now = time.monotonic()
        if now - self._said < (0.2 if self._live else _PLAIN_EVERY):
            return
        self._said = now
        line = say(self._done, self._total, now - self._start, poisoned)
        click.echo(
            f"\r\x1b[K{line}" if self._live else line, nl=not self._live, err=True
        )

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the line."""
        if self._live:
            click.echo("\r\x1b[K", nl=False, err=True)


def say(done: int, total: int | None, seconds: float, poisoned: int) -> str:
    """Word the progress.

    Args:
      done: How many sessions were looked at.
      total: How many there are, None where that is not known.
      seconds: How long it took.
      poisoned: How many of them are poisoned.
    """
    rate = done / seconds if seconds > 0 else 0.0
    if total is None:
        return f"{done:,} sessions, {rate:,.0f}/s, {poisoned:,} poisoned"
    rest = max(0, total - done) / rate if rate else 0.0
    minutes, left = divmod(round(rest), 60)
    return (
        f"{done:,} of {total:,} sessions, {rate:,.0f}/s, "
        f"{minutes}:{left:02} left, {poisoned:,} poisoned"
    )
