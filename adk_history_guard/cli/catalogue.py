# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`rules`, `rule` and `profiles`: the contracts as the guard knows them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from adk_history_guard.cli.output import format_option, profile_option, say, say_json
from adk_history_guard.core.checks import severity
from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.core.rules import RULES
from adk_history_guard.diagnostics.sayings import saying

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.rules import Rule


@click.command()
@profile_option
@format_option
def rules(profile: str | None, form: str) -> None:
    """List the rules, with their severity under a profile where one is named."""
    chosen = PROFILES[profile] if profile else None
    if form == "json":
        say_json([_rule(rule, chosen) for rule in RULES.values()])
        return
    say(
        _table(
            ("code", "name", "severity", "repair", "summary"),
            [
                (
                    rule.code,
                    rule.name,
                    str(_severity(rule, chosen)),
                    str(rule.action or "-"),
                    rule.summary,
                )
                for rule in RULES.values()
            ],
        )
    )


@click.command()
@click.argument("code", metavar="HG...")
@format_option
def rule(code: str, form: str) -> None:
    """Describe one rule, by its code or its name."""
    found = next((r for r in RULES.values() if code.upper() == r.code), None)
    found = found or next((r for r in RULES.values() if code.lower() == r.name), None)
    if found is None:
        msg = f"{code[:40]!r} is no rule. List them with: adk-history-guard rules"
        raise click.UsageError(msg)
    if form == "json":
        say_json(_rule(found, None) | {"profiles": _levels(found)})
        return
    levels = ", ".join(f"{name} {level}" for name, level in _levels(found).items())
    lines = [
        f"{found.code} {found.name}",
        "",
        found.summary,
        "",
        f"why:      {found.why}",
        f"fix:      {found.fix}",
        f"repair:   {found.action or 'none is safe'}",
        f"evidence: {found.level}",
        f"source:   {found.source}",
        f"profiles: {levels}",
    ]
    says = saying(found.code, "gemini-3")
    if says is not None:
        lines.append(f"Gemini:   {says}")
    say("\n".join(lines))


@click.command()
@format_option
def profiles(form: str) -> None:
    """List the profiles: the contracts of the providers."""
    if form == "json":
        say_json([_profile(profile) for profile in PROFILES.values()])
        return
    say(
        _table(
            ("name", "signatures", "ids", "where"),
            [
                (p.name, p.signatures, _ids(p), p.summary.replace("`", ""))
                for p in PROFILES.values()
            ],
        )
    )


def _severity(rule: Rule, profile: Profile | None) -> Any:
    return rule.severity if profile is None else severity(rule.code, profile)


def _levels(rule: Rule) -> dict[str, str]:
    return {p.name: str(severity(rule.code, p)) for p in PROFILES.values()}


def _rule(rule: Rule, profile: Profile | None) -> dict[str, Any]:
    return asdict(rule) | {"severity": str(_severity(rule, profile))}


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "summary": profile.summary,
        "signatures": profile.signatures,
        "unsigned": profile.unsigned,
        "parallel": profile.parallel,
        "ids": _ids(profile),
        "rules": {code: str(severity(code, profile)) for code in RULES},
    }


def _ids(profile: Profile) -> str:
    ids = profile.ids
    if not ids.required:
        return "optional"
    pattern = "" if ids.pattern is None else f" {ids.pattern.pattern}"
    limit = "exactly" if ids.exact else "at most"
    length = "" if ids.length is None else f", {limit} {ids.length}"
    return f"required{pattern}{length}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as text in columns; the last column is as long as it is."""
    lines = [head, *rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(head) - 1)]
    return "\n".join(
        "  ".join(
            [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
            + [line[-1]]
        ).rstrip()
        for line in lines
    )
