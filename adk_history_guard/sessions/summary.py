# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The sum of an audit: by rule, how many sessions, since when, in which apps.

It can be written down with the place that the audit has come to, so that an
audit that was stopped goes on there and its closing table is still complete.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.rules import RULES
from adk_history_guard.sessions.model import StoreError, shown
from adk_history_guard.whole import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from adk_history_guard.sessions.audit import SessionAudit


_SHOWN_APPS = 3


@dataclass(slots=True)
class RuleSum:
    """What was seen of one rule.

    Attributes:
      sessions: How many sessions break it.
      first: The earliest time, in seconds since the epoch.
      last: The latest time.
      apps: The apps.
    """

    sessions: int = 0
    first: float = float("inf")
    last: float = float("-inf")
    apps: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Summary:
    """The sum of an audit.

    Attributes:
      sessions: How many sessions were looked at.
      events: How many events they have.
      poisoned: How many sessions a repair would change.
      errors: How many could not be read.
      rules: What was seen of each rule, by code.
    """

    sessions: int = 0
    events: int = 0
    poisoned: int = 0
    errors: int = 0
    rules: dict[str, RuleSum] = field(default_factory=dict)

    def add(self, found: SessionAudit) -> None:
        """Count one session."""
        self.sessions += 1
        self.events += found.events
        self.poisoned += found.poisoned
        self.errors += found.error is not None
        codes: set[str] = set()
        for violation, time in zip(found.violations, found.seen, strict=True):
            rule = self.rules.setdefault(violation.code, RuleSum())
            rule.sessions += violation.code not in codes
            codes.add(violation.code)
            rule.first, rule.last = min(rule.first, time), max(rule.last, time)
            rule.apps.add(found.key.app_name)

    def to_dict(self) -> dict[str, Any]:
        """Return the sum as JSON-ready values."""
        return {
            "sessions": self.sessions,
            "events": self.events,
            "poisoned": self.poisoned,
            "errors": self.errors,
            "rules": {
                code: {
                    "sessions": rule.sessions,
                    "first": rule.first,
                    "last": rule.last,
                    "apps": sorted(rule.apps),
                }
                for code, rule in sorted(self.rules.items())
            },
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Summary:
        """Read what `to_dict` returned."""
        rules = {
            code: RuleSum(r["sessions"], r["first"], r["last"], set(r["apps"]))
            for code, r in document["rules"].items()
        }
        names = ("sessions", "events", "poisoned", "errors")
        return cls(**{name: document[name] for name in names}, rules=rules)

    def table(self) -> Table:
        """Return the closing table."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE)
        for name in ("rule", "", "sessions", "first seen", "last seen", "apps"):
            table.add_column(name, justify="right" if name == "sessions" else "left")
        for code, rule in sorted(self.rules.items()):
            apps = sorted(rule.apps)
            more = len(apps) - _SHOWN_APPS
            named = ", ".join(map(shown, apps[:_SHOWN_APPS]))
            named += f" and {more} more" if more > 0 else ""
            table.add_row(
                code,
                RULES[code].name,
                f"{rule.sessions:,}",
                day(rule.first),
                day(rule.last),
                Text(named),
            )
        return table

    def __str__(self) -> str:
        """Return the sum in one line."""
        line = f"{self.sessions:,} sessions, {self.poisoned:,} poisoned"
        return line + (f", {self.errors:,} not readable" if self.errors else "")


def day(time: float) -> str:
    """Return a time as a day and a minute, UTC."""
    try:
        return dt.datetime.fromtimestamp(time, dt.UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # nonsense in the store
        return "?"


@dataclass(slots=True)
class Checkpoint:
    """How far an audit has come.

    Attributes:
      path: The file.
      task: What is audited; another task does not go on from this file.
      after: The last session that was looked at, None at the beginning.
      summary: The sum so far.
      done: Whether the audit has come to its end.
    """

    path: Path
    task: dict[str, Any]
    after: Any = None
    summary: Summary = field(default_factory=Summary)
    done: bool = False

    @classmethod
    def read(cls, path: Path, task: dict[str, Any]) -> Checkpoint:
        """Read a checkpoint; a new one where there is no file yet.

        Raises:
          StoreError: The file is no checkpoint, or of another task.
        """
        if not path.exists():
            return cls(path, task)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            found = cls(
                path,
                document["task"],
                document["after"],
                Summary.from_dict(document["summary"]),
                document["done"],
            )
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{path} is no file to resume from"
            raise StoreError(msg) from error
        if found.task != task:
            msg = f"{path} belongs to another audit: {found.task}"
            raise StoreError(msg)
        return found

    def write(self) -> None:
        """Write it in one step."""
        document = {
            "task": self.task,
            "after": self.after,
            "summary": self.summary.to_dict(),
            "done": self.done,
        }
        write_whole(self.path, [json.dumps(document).encode()])
