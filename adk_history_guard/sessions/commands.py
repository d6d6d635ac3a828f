# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The commands over stored sessions: `audit`, `repair` of a store, `restore`.

Findings go to standard output, progress and errors to standard error, so that
`--format json` can be piped. The exit status is 1 where a session could not be read
or written, and 2 where the store could not.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adk_history_guard.errors import HistoryGuardError
from adk_history_guard.sessions.model import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adk_history_guard.sessions.audit import SessionAudit
    from adk_history_guard.sessions.repair import SessionRepair
    from adk_history_guard.sessions.summary import Checkpoint


class _Moment(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A day, a time (UTC unless it says otherwise), or an age such as `36h`."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return seconds since the epoch."""
        units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
        try:
            if value[:-1].isdecimal() and value[-1] in units:
                age = dt.timedelta(seconds=int(value[:-1]) * units[value[-1]])
                moment = dt.datetime.now(dt.UTC) - age
            else:
                moment = dt.datetime.fromisoformat(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; write 2026-05-31 or 36h", param, ctx)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return moment.timestamp()


_FILTERS = (
    click.option("--app", help="Only sessions of this app."),
    click.option("--user", help="Only sessions of this user."),
    click.option("--since", type=_Moment(), help="Only sessions updated since then."),
    click.option("--limit", type=click.IntRange(1), help="At most so many sessions."),
    click.option(
        "--shard",
        metavar="I/N",
        help="Only the I-th of N shares, from 0. By default from the job runner: "
        "CLOUD_RUN_TASK_INDEX and _COUNT, JOB_COMPLETION_INDEX (with /N).",
    ),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        help="An agent that others call as a task; its calls are answered later.",
    ),
    click.option(
        "--idle",
        type=click.FloatRange(0),
        default=0.0,
        metavar="SECONDS",
        help="In sessions updated less than so many seconds ago, leave alone what "
        "the newest invocation has not answered: it may be running.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Processes.",
    ),
)


def _with_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one line of JSON for each session.",
)
_QUIET = click.option("--quiet", is_flag=True, help="Only sessions with findings.")


def _filters(options: dict[str, Any]) -> Filters:
    from adk_history_guard.sessions.shards import read_shard

    shard = read_shard(options.pop("shard"))
    names = ("app", "user", "since", "limit", "agents", "idle")
    return Filters(shard=shard, **{name: options.pop(name) for name in names})


@contextmanager
def _reported() -> Iterator[None]:
    """Say in one line what could not be done; the command line ends with status 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # Whoever reads the lines has seen enough.
    except (HistoryGuardError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _say_error(key: object, reason: str) -> None:
    click.echo(f"error: {key}: {reason}", err=True)


@click.command()
@click.argument("where", metavar="URL|PATH")
@_with_filters
@_FORMAT
@_QUIET
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write down here how far the audit is, and go on from there.",
)
def audit(
    where: str, *, form: str, quiet: bool, resume: Path | None, **options: Any
) -> None:
    """Find poisoned sessions in a store. Nothing is written to it.

    URL is that of a database (sqlite:///..., postgresql+asyncpg://...), PATH an
    SQLite file, a session file (.json, .jsonl) or a folder of such. The exit
    status is 1 where a session could not be read; poisoned ones are only told.
    """
    from adk_history_guard.sessions.audit import audit_page
    from adk_history_guard.sessions.progress import Progress
    from adk_history_guard.sessions.sources import close_source, open_source
    from adk_history_guard.sessions.walk import pages, run_pages

    jobs = options.pop("jobs")
    with _reported():
        filters = _filters(options)
        point = _checkpoint(where, filters, resume)
        if not point.done:
            filters = _going_on(filters, point)
            source = open_source(where)
            try:
                total = source.count(filters)
                with Progress(total, filters) as progress:
                    page_list = pages(source, filters)
                    for heads, found in run_pages(
                        source, audit_page, page_list, filters, jobs
                    ):
                        for one in found:
                            point.summary.add(one)
                            _say_audit(one, form, quiet=quiet)
                        progress.add(len(heads), point.summary.poisoned)
                        point.after = source.after(heads[-1])
                        if resume is not None:
                            sys.stdout.flush()
                            point.write()
            finally:
                close_source(source)
            point.done = True
            if resume is not None:
                point.write()
    _close(point, form)


def _checkpoint(where: str, filters: Filters, resume: Path | None) -> Checkpoint:
    from adk_history_guard.sessions.engines import hidden
    from adk_history_guard.sessions.summary import Checkpoint

    name = hidden(where)
    task = {
        "store": name,
        "app": filters.app,
        "user": filters.user,
        "since": None if filters.since is None else filters.since // 86400,
        "limit": filters.limit,
        "shard": filters.shard and list(filters.shard),
    }
    if resume is None:
        return Checkpoint(Path(), task)
    return Checkpoint.read(resume, task)


def _going_on(filters: Filters, point: Checkpoint) -> Filters:
    left = filters.limit
    if left is not None:
        left = max(0, left - point.summary.sessions)
    return replace(filters, after=point.after, limit=left)


def _say_audit(found: SessionAudit, form: str, *, quiet: bool) -> None:
    if found.error is not None:
        _say_error(found.key, found.error)
    if quiet and not found.poisoned and found.error is None:
        return
    if form == "json":
        click.echo(json.dumps(found.to_dict()))
    elif found.error is None:
        codes = " ".join(sorted({v.code for v in found.violations})) or "clean"
        click.echo(f"{found.key}: {found.events} events, {codes}")


_LOG_WIDTH = 120


def _close(point: Checkpoint, form: str) -> None:
    from rich.console import Console

    summary = point.summary
    console = Console(stderr=form == "json")
    if not console.is_terminal:
        console = Console(stderr=form == "json", width=_LOG_WIDTH)
    if summary.rules:
        console.print(summary.table())
    click.echo(str(summary), err=form == "json")
    if summary.errors:
        sys.exit(1)


@click.command("repair")
@click.argument("where", metavar="URL|PATH")
@_with_filters
@_FORMAT
@_QUIET
@click.option("--write", is_flag=True, help="Write; without it, only show the diff.")
@click.option(
    "--backup",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the untouched events; needed with --write.",
)
@click.option(
    "--restamp",
    metavar="KEYFILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The key of ToolCallIntegrityPlugin; without it, sessions with stamps "
    "are left alone.",
)
def repair_store(
    where: str,
    *,
    form: str,
    quiet: bool,
    write: bool,
    backup: Path | None,
    restamp: Path | None,
    **options: Any,
) -> None:
    """Repair the sessions of a store: a dry run, unless --write is given."""
    from adk_history_guard.sessions import repair
    from adk_history_guard.sessions.stamps import read_keys

    if write and backup is None:
        msg = "--write needs --backup DIR, where the untouched events are kept."
        raise click.UsageError(msg)
    jobs = options.pop("jobs")
    sums: dict[str, int] = {}
    with _reported():
        filters = _filters(options)
        keys = read_keys(restamp) if restamp is not None else ()
        for done in repair.repair_store(
            where, filters, write=write, backup=backup, restamp=keys, jobs=jobs
        ):
            sums[done.status] = sums.get(done.status, 0) + 1
            _say_repair(done, form, quiet=quiet)
    order = ("clean", "planned", "repaired", "stamped", "changed", "error")
    total = ", ".join(f"{sums[s]:,} {s}" for s in order if s in sums) or "no sessions"
    click.echo(total, err=form == "json")
    if sums.get("planned"):
        click.echo("Dry run: write with --write --backup DIR.", err=True)
    if sums.get("changed") or sums.get("error"):
        sys.exit(1)


def _say_repair(done: SessionRepair, form: str, *, quiet: bool) -> None:
    from adk_history_guard.sessions.diffs import diff

    if done.error is not None:
        _say_error(done.key, done.error)
    if quiet and done.status == "clean":
        return
    if form == "json":
        click.echo(json.dumps(done.to_dict()))
        return
    click.echo(f"{done.key}: {done.status}")
    for change in done.changes:
        click.echo(f"  {change}")
    if done.status == "planned":
        for row in done.rows:
            click.echo(diff(row), nl=False)


@click.command()
@click.argument("where", metavar="URL|PATH")
@click.option(
    "--backup",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that repair wrote the untouched events to.",
)
@_FORMAT
def restore(where: str, backup: Path, form: str) -> None:
    """Bring repaired sessions back to what they were before the repair."""
    from adk_history_guard.sessions import repair

    sums: dict[str, int] = {}
    with _reported():
        for done in repair.restore_store(where, backup):
            sums[done.status] = sums.get(done.status, 0) + 1
            if done.error is not None:
                _say_error(done.key, done.error)
            if form == "json":
                line = {**done.key._asdict(), "status": done.status}
                click.echo(json.dumps(line))
            elif done.status == "restored":
                click.echo(f"{done.key}: restored")
    total = ", ".join(f"{n:,} {status}" for status, n in sorted(sums.items()))
    click.echo(total or "no backups", err=form == "json")
    if sums.get("changed") or sums.get("error"):
        sys.exit(1)
