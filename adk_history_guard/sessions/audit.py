# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The audit of stored sessions: which are poisoned, by what, and since when.

A session is poisoned where a repair would change it. Nothing is written: a
database is opened read-only, a page of sessions at a time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import Violation
from adk_history_guard.sessions.look import is_clean
from adk_history_guard.sessions.model import Filters, Key, RowError
from adk_history_guard.sessions.sources import close_source, open_source
from adk_history_guard.sessions.walk import pages, run_pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from google.adk.events import Event
    from google.adk.sessions.base_session_service import BaseSessionService

    from adk_history_guard.core.turns import Change
    from adk_history_guard.sessions.model import Head
    from adk_history_guard.sessions.sources import Source


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """What an audit found in one session.

    Attributes:
      key: App, user and session.
      events: How many events it has.
      changes: What a repair would do; places read `events[7].parts[0]`.
      violations: The rules that are broken, by place.
      seen: The time of the event that each violation stands in, in seconds.
      stamped: Whether `ToolCallIntegrityPlugin` has stamped its calls.
      error: Why it could not be read, None where it could.
    """

    key: Key
    events: int = 0
    changes: Sequence[Change] = ()
    violations: Sequence[Violation] = ()
    seen: Sequence[float] = field(default=())
    stamped: bool = False
    error: str | None = None

    @property
    def poisoned(self) -> bool:
        """Whether a repair would change the session."""
        return bool(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-ready values."""
        out: dict[str, Any] = {
            **self.key._asdict(),
            "events": self.events,
            "violations": [violation.to_dict() for violation in self.violations],
            "changes": [change.to_dict() for change in self.changes],
        }
        if self.stamped:
            out["stamped"] = True
        if self.error is not None:
            out["error"] = self.error
        return out


def audit_events(
    key: Key, events: list[Event], *, running: bool = False, agents: Sequence[str] = ()
) -> SessionAudit:
    """Audit the events of one session.

    Args:
      key: App, user and session.
      events: The events in stored order.
      running: Whether the newest invocation may still be going on.
      agents: Names of agents that other agents call as tasks.
    """
    from adk_history_guard.sessions.plan import is_stamped, make_plan, scene_of

    plan = make_plan(events, scene_of(events, agents=agents, running=running))
    if not plan.changes:
        return SessionAudit(key, len(events))
    violations = [_violation(change) for change in plan.changes]
    seen = [events[change.place.turn].timestamp for change in plan.changes]
    return SessionAudit(
        key, len(events), plan.changes, violations, seen, is_stamped(events)
    )


def _violation(change: Change) -> Violation:
    rule = RULES[change.code]
    return Violation(
        rule.code, rule.name, rule.severity, change.place, rule.summary, rule.fix
    )


def is_running(head: Head, filters: Filters) -> bool:
    """Tell whether a session was updated so lately that a run may go on in it."""
    if filters.idle <= 0 or head.updated is None:
        return False
    return time.time() - head.updated < filters.idle


def audit_page(
    source: Source, heads: Sequence[Head], filters: Filters
) -> list[SessionAudit]:
    """Audit some sessions of a store; a session that cannot be read is an error."""
    out: list[SessionAudit] = []
    try:
        for head, texts in source.contents(heads, whole=filters.contiguous):
            out.append(_audit(source, head, texts, filters))
    except Exception as error:  # noqa: BLE001 - reported, the rest goes on
        if len(heads) == 1:
            return [SessionAudit(heads[0].key, error=source.why(error))]
    # One by one, so that the others of the page are not lost.
    rest = heads[len(out) :]
    return out + [done for head in rest for done in audit_page(source, [head], filters)]


def _audit(
    source: Source, head: Head, texts: Sequence[str | None] | None, filters: Filters
) -> SessionAudit:
    if texts is not None and is_clean(texts, whole=source.whole_events):
        return SessionAudit(head.key, len(texts))
    try:
        stored = source.load(head)
    except RowError as error:
        return SessionAudit(head.key, len(texts or ()), error=str(error))
    return audit_events(
        head.key,
        stored.events,
        running=is_running(head, filters),
        agents=tuple(filters.agents),
    )


def audit_store(
    where: str, filters: Filters | None = None, *, jobs: int = 1
) -> Iterator[SessionAudit]:
    """Audit a store, a session at a time; nothing is written.

    Args:
      where: The URL of a database, or the path of an SQLite file, of a session
        file (`.json`, `.jsonl`), or of a folder of such.
      filters: Which sessions; all of them where None.
      jobs: How many processes share the work.

    Yields:
      What was found in each session, in the order of their keys.

    Raises:
      StoreError: The store cannot be read.
    """
    filters = filters or Filters()
    source = open_source(where)
    try:
        for _, found in run_pages(
            source, audit_page, pages(source, filters), filters, jobs
        ):
            yield from found
    finally:
        close_source(source)


async def audit_service(
    service: BaseSessionService,
    *,
    app_name: str,
    user_id: str | None = None,
    filters: Filters | None = None,
) -> AsyncIterator[SessionAudit]:
    """Audit the sessions of any session service of ADK.

    Args:
      service: The service.
      app_name: The app whose sessions are audited.
      user_id: Only this user's sessions; all where None, if the service can.
      filters: Share, limit, time and agents; `app` and `user` do not count here.

    Yields:
      What was found in each session.
    """
    filters = filters or Filters()
    listed = await service.list_sessions(app_name=app_name, user_id=user_id)  # type: ignore[arg-type, unused-ignore]
    done = 0
    for entry in listed.sessions:
        key = Key(app_name, entry.user_id, entry.id)
        late = filters.since is not None and entry.last_update_time < filters.since
        if late or not filters.takes(key):
            continue
        if filters.limit is not None and done >= filters.limit:
            return
        done += 1
        try:
            session = await service.get_session(
                app_name=app_name, user_id=entry.user_id, session_id=entry.id
            )
        except Exception as error:  # noqa: BLE001 - one session, not the audit
            yield SessionAudit(key, error=f"{type(error).__name__}: {error}")
            continue
        if session is not None:
            yield audit_events(key, session.events, agents=tuple(filters.agents))
