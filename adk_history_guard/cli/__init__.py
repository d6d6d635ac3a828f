# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: a table of commands, each loaded when it is asked for.

Every command has `--format text|json`. It ends with 0 where all is clean, with 1
where faults were found, and with 2 for a wrong usage or a file that cannot be read.
Starting it loads neither ADK nor any command.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from adk_history_guard.errors import HistoryGuardError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: dict[str, tuple[str, str, str]] = {
    "check": ("cli.judge", "check", "Hold files against a provider's contract."),
    "explain": ("cli.judge", "explain", "Say what is wrong with a request, and why."),
    "repair": ("cli.mend", "repair", "Repair a request, a session file or a store."),
    "minimize": ("cli.shrink", "minimize", "Shrink a request that shows a fault."),
    "replay": ("cli.shrink", "replay", "Send a request once, as it stands."),
    "rules": ("cli.catalogue", "rules", "List the rules."),
    "rule": ("cli.catalogue", "rule", "Describe one rule."),
    "profiles": ("cli.catalogue", "profiles", "List the providers' profiles."),
    "audit": ("sessions.commands", "audit", "Find poisoned sessions in a store."),
    "restore": ("sessions.commands", "restore", "Undo the repair of a store."),
    "demo": ("cli.demo", "demo", "Show a rejection, and what the guard makes of it."),
}
"""Every command: its module, its name there, and what it does."""

STORE_REPAIR = ("sessions.commands", "repair_store")

UNREADABLE = 2


def _load(module: str, name: str) -> click.Command:
    command = getattr(importlib.import_module(f"adk_history_guard.{module}"), name)
    if not isinstance(command, click.Command):
        msg = f"{module}.{name} is no command"
        raise TypeError(msg)
    return command


class Unusable(click.ClickException):
    """What was given cannot be read, or cannot be used so."""

    exit_code = UNREADABLE


class Commands(click.Group):
    """A group that loads its commands from `COMMANDS`, and words errors in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        del ctx
        found = COMMANDS.get(cmd_name)
        return None if found is None else _load(found[0], found[1])

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the table without loading a command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, row[2]) for name, row in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; `repair` of a store is that of the sessions."""
        name, command, rest = super().resolve_command(ctx, args)
        if name == "repair" and _is_store(rest):
            return name, _load(*STORE_REPAIR), rest
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours is one line and status 2."""
        try:
            return super().invoke(ctx)
        except HistoryGuardError as error:
            raise Unusable(str(error)) from error
        except click.UsageError:
            raise
        except click.ClickException as error:
            raise Unusable(error.message) from error


def _is_store(args: Sequence[str]) -> bool:
    """Tell whether `repair` was given a store, not a request or a single file."""
    names = {arg.partition("=")[0] for arg in args}
    if names & {"-o", "--output", "--profile"} or any(a.startswith("-o") for a in args):
        return False
    if names & {"--write", "--backup"} or any("://" in arg for arg in args):
        return True
    if not any(arg and not arg.startswith("-") for arg in args):
        return "" in args  # help of the command without a file is that of both
    from adk_history_guard.cli.mend import is_request_file

    return not any(is_request_file(arg) for arg in args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="adk-history-guard", prog_name="adk-history-guard")
def main() -> None:
    """Explain, repair, shrink and replay requests that a provider refuses.

    PATH is the dump of a rejected request, contents as JSON, or an ADK session as
    JSON. Exit status: 0 clean, 1 faults found, 2 wrong usage or unreadable input;
    `audit` only tells of poisoned sessions, with 0.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # A terminal that lacks a character shows its code.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
