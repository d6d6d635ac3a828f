# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""From a provider's words to the rules behind them: one lookup and one ranking."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import Severity
from adk_history_guard.diagnostics.clues import CLUES, FINISH_REASONS, Clue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adk_history_guard.core.turns import Place, Violation
    from adk_history_guard.diagnostics.failures import ProviderError

_COMPILED = tuple((re.compile(clue.pattern), clue) for clue in CLUES)
_LONGEST = 20_000  # characters of an error text that are looked at


@dataclass(frozen=True, slots=True)
class Cause:
    """One possible cause of a rejection.

    Attributes:
        code: The rule.
        name: Its name.
        rank: `certain`: the error text speaks of it and the request breaks it;
            `found`: the request breaks it, the text speaks of something else;
            `suspected`: the text speaks of it, and the request shows no breach.
        places: Where the request breaks the rule.
        reason: Why it is listed, in one sentence.
    """

    code: str
    name: str
    rank: str
    places: tuple[Place, ...]
    reason: str

    def to_dict(self) -> dict[str, object]:
        """Return the cause as JSON-ready values."""
        return {
            "code": self.code,
            "name": self.name,
            "rank": self.rank,
            "places": [str(place) for place in self.places],
            "reason": self.reason,
        }


def find_clues(error: ProviderError | None) -> list[Clue]:
    """Return what is known of a provider's error, the most specific first."""
    if error is None:
        return []
    if error.finish_reason is not None:
        known = FINISH_REASONS.get(error.finish_reason)
        return [] if known is None else [known]
    text = f"{error.text}\n{error.raw or ''}"[:_LONGEST].lower()
    return [clue for pattern, clue in _COMPILED if pattern.search(text)]


def rank_causes(
    error: ProviderError | None, violations: Sequence[Violation]
) -> list[Cause]:
    """Rank the rules that may be behind a rejection.

    Args:
        error: What the provider said; None where it is not known.
        violations: What the request breaks.

    Returns:
        Certain causes first, in the order of the table, then breaches that the text
        does not speak of (errors before warnings), then mere suspicions.
    """
    clues = find_clues(error)
    suspected = list(dict.fromkeys(code for clue in clues for code in clue.codes))
    places: dict[str, list[Place]] = {}
    for violation in violations:
        places.setdefault(violation.code, []).append(violation.place)
    says = {code: clue.says for clue in reversed(clues) for code in clue.codes}
    out = [
        _cause(code, "certain", places[code], f"the provider says: {says[code]}")
        for code in suspected
        if code in places
    ]
    rest = [code for code in places if code not in says]
    errors = _errors(violations)
    rest.sort(key=lambda code: (code not in errors, places[code][0].turn, code))
    told = "the provider speaks of something else" if says else "the request breaks it"
    out += [_cause(code, "found", places[code], told) for code in rest]
    out += [
        _cause(code, "suspected", [], f"the provider says: {says[code]}")
        for code in suspected
        if code not in places
    ]
    return out


def _errors(violations: Iterable[Violation]) -> set[str]:
    return {v.code for v in violations if v.severity is Severity.ERROR}


def _cause(code: str, rank: str, places: Iterable[Place], reason: str) -> Cause:
    return Cause(code, RULES[code].name, rank, tuple(places), reason)
