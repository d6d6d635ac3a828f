# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands share: options, plain or coloured text, JSON, progress."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.diagnostics.words import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from google.genai import types

    from adk_history_guard.diagnostics.record import RejectedRequest

T = TypeVar("T")

FAULTS = 1
UNREADABLE = 2

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the outcome.",
)
profile_option = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="The contract to judge by. By default the dump's own, else by the model.",
)


class FilePath(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """The path of a file; what cannot be one is not said again: it may be a secret."""

    name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Return the path."""
        if not value:
            self.fail("the path is empty", param, ctx)
        if "://" in str(value):
            self.fail("a file is wanted, not a URL; see audit and repair", param, ctx)
        return Path(value)


path_argument = click.argument("path", type=FilePath())

_STYLES: tuple[tuple[str, str], ...] = (
    ("HG", "bold red"),
    ("  -->", "cyan"),
    ("  fix:", "green"),
    ("  note:", "yellow"),
    ("+", "green"),
    ("-", "red"),
)
"""How a line is coloured on a terminal, by what it begins with."""


def say(text: str) -> None:
    """Print lines; coloured on a terminal, plain otherwise."""
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    for line in text.split("\n"):
        style = next((style for head, style in _STYLES if line.startswith(head)), "")
        if line.strip() and not line.strip(" ^"):
            style = "bold red"
        console.print(Text(line, style=style))


def say_json(value: object) -> None:
    """Print a value as JSON, in ASCII."""
    click.echo(json.dumps(value, indent=1, default=str))


def say_error(text: str) -> None:
    """Print an error in one line, to standard error."""
    click.echo(f"Error: {visible(text, 2_000)}", err=True)


def follow(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items under a progress bar, where somebody may see one."""
    if len(items) < 2 or not sys.stderr.isatty():  # noqa: PLR2004 - one is no progress
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(
        items, what, console=Console(stderr=True), transient=True, total=len(items)
    )


@contextmanager
def busy(what: str) -> Iterator[Callable[[int], None]]:
    """Show that work is going on, with a count, where somebody may see it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda count: status.update(f"{what}: {count}")


def write_json(path: Path, value: object) -> None:
    """Write a JSON file.

    Raises:
        click.ClickException: It cannot be written.
    """
    write_text(path, json.dumps(value, indent=1, default=str) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, for the owner only: it may hold what a user said.

    Raises:
        click.ClickException: It cannot be written.
    """
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        msg = f"{visible(str(path))} cannot be written: {reason}"
        raise click.ClickException(msg) from error


def plain(contents: Sequence[types.Content]) -> list[dict[str, Any]]:
    """Return contents as JSON with all that they hold, media as well."""
    from adk_history_guard.diagnostics.wire import as_json

    return [as_json(content) for content in contents]


def dump_again(
    request: RejectedRequest, contents: Sequence[types.Content]
) -> dict[str, Any]:
    """Return a dump of the same request with other contents."""
    from dataclasses import replace

    return replace(request, contents=list(contents), changes=()).to_dict("full")
