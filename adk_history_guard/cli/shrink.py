# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`minimize` and `replay`: the smallest request, and the provider's own words."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adk_history_guard.cli.output import (
    FAULTS,
    busy,
    dump_again,
    format_option,
    path_argument,
    profile_option,
    say,
    say_json,
    write_json,
)
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.diagnostics.words import safe_lines, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.genai import types

    from adk_history_guard.diagnostics.record import RejectedRequest

_MOST_QUESTIONS = 500

model_option = click.option("--model", help="The model to ask, in place of the dump's.")
yes_option = click.option(
    "--yes", is_flag=True, help="Send the users' text without asking."
)


@click.command()
@path_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the smaller request goes, as a dump.",
)
@click.option("--rule", "code", metavar="HG...", help="The rule that it must show.")
@click.option(
    "--against",
    metavar="URL",
    help="Keep the provider's error, asked at this address, in place of a rule.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    help="When to stop with what has been reached.",
)
@model_option
@yes_option
@profile_option
@format_option
def minimize(
    *,
    path: Path,
    output: Path | None,
    code: str | None,
    against: str | None,
    seconds: float,
    model: str | None,
    yes: bool,
    profile: str | None,
    form: str,
) -> None:
    """Shrink a request to the smallest one that still shows its fault.

    Turns go first, then parts; what is left is well formed but for the fault. The
    status is 0 when it is done and 2 when the request shows no such fault.
    """
    from adk_history_guard.diagnostics.minimize import minimize as shrink

    request = load(path, profile)
    shows = None
    with busy("minimize") as tick:
        if against is not None:
            _ask(request, yes=yes)
            shows = _same_error(request, against, model, tick)
        done = shrink(request, code=code, shows=shows, seconds=seconds)
    if output is not None:
        write_json(output, dump_again(request, done.request.contents))
    if form == "json":
        say_json(done.to_dict())
        return
    kept = done.code or "the provider's error"
    say(f"{done.before} contents became {done.after}, {kept} still shows.")
    if not done.complete:
        say(f"Stopped after {seconds:g} s; more may go.")
    if output is not None:
        say(f"It is in {visible(str(output))}")


def _same_error(
    request: RejectedRequest,
    url: str,
    model: str | None,
    tick: Callable[[int], None],
) -> Callable[[list[types.Content]], bool]:
    """Return a test that asks the provider, at most a few hundred times."""
    from adk_history_guard.diagnostics.replay import replay as send

    wanted = send(request, url=url, model=model)
    if wanted.accepted:
        msg = f"{url} takes the whole request ({wanted.status}); nothing to shrink."
        raise click.ClickException(msg)
    asked = 0

    def shows(contents: list[types.Content]) -> bool:
        nonlocal asked
        asked += 1
        if asked > _MOST_QUESTIONS:
            return False
        tick(asked)
        answer = send(request, contents=contents, url=url, model=model)
        return wanted.is_like(answer)

    return shows


@click.command()
@path_argument
@click.option(
    "--url",
    metavar="URL",
    help="The address of a server, in place of the provider's own.",
)
@click.option("--repaired", is_flag=True, help="Send the repaired request.")
@model_option
@yes_option
@profile_option
@format_option
@click.pass_context
def replay(
    ctx: click.Context,
    *,
    path: Path,
    url: str | None,
    repaired: bool,
    model: str | None,
    yes: bool,
    profile: str | None,
    form: str,
) -> None:
    """Send a request once, as it stands, and print the provider's own words.

    The key comes from the environment: GEMINI_API_KEY or GOOGLE_API_KEY,
    OPENAI_API_KEY, ANTHROPIC_API_KEY, MISTRAL_API_KEY. It goes out over https, or to
    this machine, only. A dump in shape is sent with stand-ins in place of values.
    The status is 0 when the request is taken, 1 when it is refused.
    """
    from adk_history_guard.diagnostics.replay import replay as send

    request = load(path, profile)
    contents = request.repaired.contents if repaired else None
    _ask(request, yes=yes)
    answer = send(request, contents=contents, url=url, model=model)
    if form == "json":
        say_json(answer.to_dict())
    else:
        say(f"POST {visible(answer.url, 300)}")
        if request.shaped:
            say("Values are stand-ins: the dump holds the shape only.")
        say(f"{answer.status}")
        say(safe_lines(answer.message or answer.body))
    ctx.exit(0 if answer.accepted else FAULTS)


def _ask(request: RejectedRequest, *, yes: bool) -> None:
    """Ask before users' text leaves the machine."""
    if request.shaped or yes:
        return
    question = "This sends the users' text as it stands in the file. Go on?"
    if not sys.stdin.isatty():
        msg = "This sends the users' text as it stands in the file: say --yes."
        raise click.UsageError(msg)
    click.confirm(question, abort=True, err=True)
