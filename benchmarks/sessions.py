# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""How fast a large store is audited, and how much memory that takes.

Usage::

    python benchmarks/sessions.py                       # 100,000 sessions, SQLite
    python benchmarks/sessions.py --sessions 2000
    python benchmarks/sessions.py --url postgresql+asyncpg://...

The tables are made by ADK; the rows are written straight into them, which ADK would
take hours for. Everything is measured in a process of its own. Plain reading is the
whole table through SQLAlchemy in the order of sessions, and nothing done with it:

========  ====================================================================
`rows`    all columns, the JSON left as text
`json`    the same, the JSON decoded with `json.loads`
`mapped`  as ADK maps the table: SQLAlchemy decodes the JSON
`adk`     ADK's own `get_session`, for some of the sessions
========  ====================================================================
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import create_async_engine

if TYPE_CHECKING:
    from google.adk.events import Event

START = 1_790_000_000.0
QUESTION, CALL, RESPONSE, ANSWER = range(4)
TEXT = "It rains all day; take an umbrella when you go out, and a coat. "


def make_events(number: int, count: int, *, poisoned: bool) -> list[Event]:
    """Make the events of one session: a question, a call, its response, an answer."""
    from google.adk.events import Event
    from google.genai import types

    out = []
    for n in range(count):
        turn, step = divmod(n, 4)
        call_id = f"call-{number}-{0 if poisoned else turn}"
        said: list[types.Part] = [types.Part(text=TEXT * (1 + step % 2))]
        if step == CALL:
            call = types.FunctionCall(id=call_id, name="look", args={"city": "Oslo"})
            said = [types.Part(function_call=call, thought_signature=b"s" * 60)]
        elif step == RESPONSE:
            answer = types.FunctionResponse(
                id=call_id, name="look", response={"result": TEXT, "turn": turn}
            )
            said = [types.Part(function_response=answer)]
        out.append(
            Event(
                invocation_id=f"run-{turn}",
                author="root" if step else "user",
                timestamp=START + number * 10 + n / 8,
                content=types.Content(role="model" if step % 2 else "user", parts=said),
            )
        )
    return out


async def fill(url: str, sessions: int, events: int, every: int) -> None:
    """Make a store; every so manieth session is poisoned."""
    from google.adk.sessions import DatabaseSessionService

    service = DatabaseSessionService(url)
    await service.create_session(app_name="warm", user_id="up", session_id="first")
    await service.close()
    engine = create_async_engine(url, json_serializer=str)  # It is JSON already.
    models = {
        poisoned: [
            e.model_dump(mode="json", exclude_none=True)
            for e in make_events(0, events, poisoned=poisoned)
        ]
        for poisoned in (False, True)
    }
    kind: Any = sa.Text() if url.startswith("sqlite") else JSONB()
    table = sa.table(
        "events",
        *(sa.column(n) for n in ("id", "app_name", "user_id", "session_id")),
        *(sa.column("invocation_id"), sa.column("timestamp", sa.DateTime)),
        sa.column("event_data", kind),
    )
    heads = sa.table(
        "sessions",
        *(sa.column(n) for n in ("app_name", "user_id", "id")),
        *(sa.column("state", kind), sa.column("create_time", sa.DateTime)),
        sa.column("update_time", sa.DateTime),
    )
    for first in range(0, sessions, 500):
        rows: list[dict[str, Any]] = []
        tops: list[dict[str, Any]] = []
        for number in range(first, min(first + 500, sessions)):
            key = {"app_name": f"app-{number % 3}", "user_id": f"user-{number % 997}"}
            session = f"{number:08}"
            for n, model in enumerate(models[number % every == 0]):
                when = START + number * 10 + n / 8
                data = json.dumps({**model, "id": f"{number}-{n}", "timestamp": when})
                data = data.replace("call-0-", f"call-{number}-")
                rows.append(
                    {
                        **key,
                        "session_id": session,
                        "id": f"{number}-{n}",
                        "invocation_id": model["invocation_id"],
                        "timestamp": moment(when),
                        "event_data": data,
                    }
                )
            top = {"state": "{}", "create_time": moment(START)}
            tops.append(
                {**key, "id": session, "update_time": rows[-1]["timestamp"], **top}
            )
        async with engine.begin() as connection:
            await connection.execute(sa.insert(heads), tops)
            await connection.execute(sa.insert(table), rows)
    await engine.dispose()


def moment(seconds: float) -> dt.datetime:
    """Return a time as ADK stores it."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).replace(tzinfo=None)


def plain_query(kind: str, *, postgres: bool) -> Any:
    """Select every event, in the order of sessions."""
    from google.adk.sessions.schemas.v1 import StorageEvent

    table: Any = StorageEvent.__table__
    columns = list(table.columns)
    if kind != "mapped":
        table = sa.table("events", *(sa.column(c.name) for c in columns))
        columns = [c for c in table.c if c.name != "event_data"]
        data = table.c.event_data
        columns.append(sa.cast(data, sa.Text).label(data.name) if postgres else data)
    c = table.c
    order = (c.app_name, c.user_id, c.session_id, c.timestamp.desc(), c.id.desc())
    return sa.select(*columns).order_by(*order)


async def read_plainly(url: str, kind: str, query: Any) -> int:
    """Read every event through SQLAlchemy, in the order of sessions."""

    def run(connection: sa.Connection) -> int:
        sessions, last = 0, None
        how = {"yield_per": 4000}
        for page in connection.execute(query, execution_options=how).partitions():
            for row in page:
                sessions += row.session_id != last
                last = row.session_id
                if kind == "json":
                    json.loads(row.event_data)
        return sessions

    if url.startswith("sqlite"):
        plain = sa.create_engine(url.replace("+aiosqlite", ""))
        with plain.connect() as connection:
            return run(connection)
    engine = create_async_engine(url)
    async with engine.connect() as conn:
        sessions = await conn.run_sync(run)
    await engine.dispose()
    return sessions


async def read_with_adk(url: str, limit: int) -> int:
    """Read some sessions with ADK's own service."""
    from google.adk.sessions import DatabaseSessionService

    from adk_history_guard.sessions import Filters
    from adk_history_guard.sessions.sources import close_source, open_source

    source = open_source(url)
    heads = source.heads(Filters(), limit)
    close_source(source)
    service = DatabaseSessionService(url)
    for head in heads:
        app, user, session = head.key
        await service.get_session(app_name=app, user_id=user, session_id=session)
    await service.close()
    return len(heads)


def measure(kind: str, url: str, limit: int | None) -> dict[str, Any]:
    """Measure one thing in this process."""
    from adk_history_guard.sessions import Filters, audit_store

    poisoned = sessions = 0
    jobs = int(kind[-1]) if kind.startswith("audit") else 1
    audits = kind.startswith("audit")
    # Loading ADK is no part of plain reading. An audit has it in its time.
    postgres = not url.startswith("sqlite")
    query = None if audits else plain_query(kind, postgres=postgres)
    start, used = time.perf_counter(), time.process_time()
    if audits:
        filters = Filters(limit=limit)
        for sessions, found in enumerate(  # noqa: B007 - the last one is the sum
            audit_store(url, filters, jobs=jobs), 1
        ):
            poisoned += found.poisoned
            if found.error:
                sys.exit(f"{found.key}: {found.error}")
    elif kind == "adk":
        sessions = asyncio.run(read_with_adk(url, limit or 1000))
    else:
        sessions = asyncio.run(read_plainly(url, kind, query))
    seconds = time.perf_counter() - start
    used = time.process_time() - used
    mine = resource.getrusage(resource.RUSAGE_SELF)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "kind": kind,
        "sessions": sessions,
        "poisoned": poisoned,
        "seconds": seconds,
        "rate": sessions / seconds,
        "cpu": used + others.ru_utime + others.ru_stime,
        # All processes together, at most: each at its own peak at the same time.
        "peak_mb": (mine.ru_maxrss + jobs * others.ru_maxrss) / 1024,
    }


def apart(kind: str, url: str, limit: int | None = None) -> dict[str, Any]:
    """Measure one thing in a process of its own."""
    command = [sys.executable, __file__, "--url", url, "--measure", kind]
    if limit is not None:
        command += ["--limit", str(limit)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{kind:10} {out['sessions']:>8,} sessions {out['seconds']:8.2f} s "
        f"{out['rate']:10,.0f}/s   CPU {out['cpu']:8.2f} s   "
        f"peak {out['peak_mb']:.0f} MB",
        flush=True,
    )
    return out


def main() -> None:
    """Fill a store, or take the one at a URL, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=40)
    parser.add_argument("--every", type=int, default=100, help="how many are poisoned")
    parser.add_argument("--url", help="a store to fill; an SQLite file where missing")
    parser.add_argument("--filled", action="store_true", help="the store is filled")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.url, args.limit)))
        return
    with tempfile.TemporaryDirectory() as folder:
        url = args.url or f"sqlite+aiosqlite:///{Path(folder) / 'store.db'}"
        if not args.filled:
            start = time.perf_counter()
            asyncio.run(fill(url, args.sessions, args.events, args.every))
            print(f"filled in {time.perf_counter() - start:.0f} s", flush=True)
        plain = {kind: apart(kind, url) for kind in ("rows", "json", "mapped", "adk")}
        quarter = apart("audit-1", url, args.sessions // 4)
        whole = apart("audit-1", url)
        double = apart("audit-2", url)
    for kind, one in plain.items():
        spent = one["cpu"] / one["sessions"] / (whole["cpu"] / whole["sessions"])
        rate = whole["rate"] / one["rate"]
        print(f"audit to {kind}, rate: {rate:.2f}, by CPU time: {spent:.2f}")
    longer = whole["cpu"] / quarter["cpu"]
    print(f"whole to a quarter, CPU time: {longer:.2f}")
    print(f"whole to a quarter, time: {whole['seconds'] / quarter['seconds']:.2f}")
    print(f"two processes to one, rate: {double['rate'] / whole['rate']:.2f}")


if __name__ == "__main__":
    main()
