# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`repair`: a request or a session file, with a diff."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adk_history_guard.cli.output import (
    FAULTS,
    dump_again,
    format_option,
    path_argument,
    plain,
    profile_option,
    say,
    say_json,
    write_json,
)
from adk_history_guard.diagnostics.schema import read_json
from adk_history_guard.diagnostics.sources import CONTENTS, DUMP, SESSION, kind_of, load
from adk_history_guard.diagnostics.words import describe, visible
from adk_history_guard.errors import DumpFormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.genai import types

    from adk_history_guard.core.turns import Change

Row = tuple[str | None, "Sequence[types.Part]"]


@click.command()
@path_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the repaired file goes. Without it, only the diff is shown.",
)
@profile_option
@format_option
@click.pass_context
def repair(
    ctx: click.Context, path: Path, output: Path | None, profile: str | None, form: str
) -> None:
    """Repair a request or a session file, and show what it changes.

    PATH is a dump, contents as JSON, or (with -o) an ADK session as JSON; the file
    itself stays as it is. A dump is written as a dump, contents as a list, a session
    as a session. The status is 1 when a violation is left.

    \b
    With the URL of a database, an SQLite file, a folder, or --write, the sessions of
    a store are repaired:
      repair STORE [--app A] [--user U] [--since T] [--write --backup DIR] ...
    `repair STORE --help` lists the options.
    """  # noqa: D301 - click wants the character
    value = read_json(path)
    repaired: object
    if kind_of(value) == SESSION and isinstance(value, dict):
        repaired, changes, rows = _repair_session(value, path)
        left: list[dict[str, str]] = []
    else:
        request = load(path, profile)
        outcome = request.repaired
        changes = list(outcome.changes)
        left = [violation.to_dict() for violation in outcome.violations]
        rows = (
            [(c.role, c.parts or []) for c in request.contents],
            [(c.role, c.parts or []) for c in outcome.contents],
        )
        if kind_of(value) == DUMP:
            repaired = dump_again(request, outcome.contents)
        elif isinstance(value, dict):
            repaired = {**value, "contents": plain(outcome.contents)}
        else:
            repaired = plain(outcome.contents)
    if output is not None:
        write_json(output, repaired)
    lines = list(_diff(*rows))
    if form == "json":
        told = [change.to_dict() for change in changes]
        say_json({"changes": told, "violations": left, "diff": lines})
    else:
        _say(changes, left, lines, output)
    ctx.exit(FAULTS if left else 0)


def is_request_file(name: str) -> bool:
    """Tell whether an argument is a file with a dump or contents in it."""
    path = Path(name)
    try:
        if not path.is_file() or path.suffix != ".json":
            return False
        value = read_json(path)
        several = isinstance(value, list) and any(
            isinstance(item, dict) and "events" in item for item in value
        )
        return kind_of(value) in (DUMP, CONTENTS) and not several
    except (OSError, ValueError):  # a DumpFormatError is a ValueError
        return False


def _say(
    changes: Sequence[Change],
    left: Sequence[dict[str, str]],
    lines: Sequence[str],
    output: Path | None,
) -> None:
    if not changes:
        say("Nothing to repair.")
    for line in lines:
        say(line)
    for change in changes:
        say(visible(str(change), 400))
    for violation in left:
        said = f"{violation['code']} {violation['name']}: {violation['message']}"
        say(visible(f"left: {violation['place']}: {said}", 600))
    if output is not None:
        say(f"The repaired file is {visible(str(output))}")


def _diff(before: Sequence[Row], after: Sequence[Row]) -> Iterable[str]:
    """Yield a unified diff of two lists of turns, in words."""
    diff = difflib.unified_diff(
        _lines(before), _lines(after), "before", "after", n=1, lineterm=""
    )
    return [visible(line, 400) for line in diff]


def _lines(rows: Sequence[Row]) -> list[str]:
    out = []
    for role, parts in rows:
        out.append(f"{visible(role or 'no role', 20)}:")
        out += [f"  {describe(part)}" for part in parts]
    return out


def _repair_session(
    value: dict[str, Any], path: Path
) -> tuple[dict[str, Any], list[Change], tuple[list[Row], list[Row]]]:
    """Repair the events of a session, as the repair of a store does."""
    from google.adk.events import Event
    from pydantic import ValidationError

    from adk_history_guard.sessions.documents import event_document
    from adk_history_guard.sessions.plan import make_plan, scene_of

    events = []
    for n, item in enumerate(value["events"]):
        try:
            events.append(Event.model_validate(item))
        except (ValidationError, ValueError, TypeError, RecursionError) as error:
            reason = f"is no event: {_first(error)}"
            raise DumpFormatError(reason, path=path, place=f"events[{n}]") from error
    done = make_plan(events, scene_of(events))
    kept = {
        id(event): item for event, item in zip(events, value["events"], strict=True)
    }
    camel = "appName" in value
    out = [
        kept[id(event)] if id(event) in kept else event_document(event, camel=camel)
        for event in done.events
    ]
    rows = ([_row(e) for e in events], [_row(e) for e in done.events])
    return {**value, "events": out}, list(done.changes), rows


def _row(event: Any) -> Row:
    content = event.content
    if content is None:
        return event.author, []
    return event.author, content.parts or []


def _first(error: Exception) -> str:
    errors = getattr(error, "errors", None)
    if errors is None:
        return f"{type(error).__name__}."
    first = errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}."
