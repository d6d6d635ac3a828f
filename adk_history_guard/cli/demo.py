# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`demo`: the same agent without the guard and with it, offline."""

from __future__ import annotations

from typing import Literal

import click

from adk_history_guard.cli.output import format_option


@click.command()
@format_option
@click.pass_context
def demo(ctx: click.Context, form: Literal["text", "json"]) -> None:
    """Show a rejection, a swapped answer, and what the guard makes of them."""
    from adk_history_guard.demo import run_demo

    ctx.exit(run_demo(form))
