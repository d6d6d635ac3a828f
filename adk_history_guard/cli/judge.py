# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`check` and `explain`: what is wrong, in short and at length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adk_history_guard.cli.output import (
    FAULTS,
    UNREADABLE,
    FilePath,
    follow,
    format_option,
    path_argument,
    profile_option,
    say,
    say_error,
    say_json,
    write_text,
)
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.diagnostics.words import visible
from adk_history_guard.errors import DumpFormatError

if TYPE_CHECKING:
    from adk_history_guard.diagnostics.record import RejectedRequest


@click.command()
@click.argument("paths", nargs=-1, required=True, type=FilePath(), metavar="PATH...")
@profile_option
@format_option
@click.pass_context
def check(
    ctx: click.Context, paths: tuple[Path, ...], profile: str | None, form: str
) -> None:
    """Hold files against the contract of a provider.

    PATH is a dump, contents as JSON, an ADK session as JSON, or a folder of such. A
    session is judged as ADK builds contents from it.
    """
    found: list[dict[str, Any]] = []
    unreadable = faulty = 0
    for path in follow(list(_files(paths)), "check"):
        try:
            request = load(path, profile)
        except DumpFormatError as error:
            unreadable += 1
            say_error(str(error))
            found.append({"path": str(path), "error": str(error)})
            continue
        faulty += bool(request.violations)
        found.append(_checked(path, request))
        if form == "text":
            for violation in request.violations:
                say(visible(f"{path}: {_line(violation)}", 1_000))
    if form == "json":
        clean = not unreadable and not faulty
        say_json({"clean": clean, "files": found})
    else:
        say(f"{len(found)} file(s): {faulty} with violations, {unreadable} unreadable")
    ctx.exit(UNREADABLE if unreadable else FAULTS if faulty else 0)


def _line(violation: Any) -> str:
    return (
        f"{violation.place}: {violation.code} {violation.name} "
        f"({violation.severity}): {violation.message}"
    )


def _files(paths: tuple[Path, ...]) -> list[Path]:
    out: list[Path] = []
    for path in paths:
        out += sorted(path.glob("*.json")) if path.is_dir() else [path]
    return out


def _checked(path: Path, request: RejectedRequest) -> dict[str, Any]:
    return {
        "path": str(path),
        "kind": request.kind,
        "profile": request.profile.name,
        "contents": request.omitted or len(request.contents),
        "violations": [violation.to_dict() for violation in request.violations],
    }


@click.command()
@path_argument
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT.html",
    help="Write the report as one HTML page.",
)
@profile_option
@format_option
@click.pass_context
def explain(
    ctx: click.Context, path: Path, html: Path | None, profile: str | None, form: str
) -> None:
    """Say what is wrong with a request, where, why, and the way out.

    The text holds names, ids and sizes, never what a user said. The HTML page shows
    as much as the file holds.
    """
    from adk_history_guard.diagnostics.explain import Explanation

    explanation = Explanation(load(path, profile))
    if html is not None:
        from adk_history_guard.diagnostics.report import render_html

        write_text(html, render_html(explanation.request))
    if form == "json":
        say_json(explanation.to_dict())
    else:
        say(str(explanation))
        if html is not None:
            say(f"\nThe report is in {visible(str(html))}")
    ctx.exit(0 if explanation.clean else FAULTS)
