# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Thought signatures: placeholders for unsigned steps.

Facts
-----
Gemini 3 wants the first call of each step of the current turn signed (G14),
only the first (G16), and in the very part it came in (G17). The current turn
starts at the newest user turn that is no response turn (G15). For a step that
no Gemini wrote, two strings are documented to stand in for a signature (G21);
they lower quality, so one goes where nothing else is left, into the request
copy only, never on a sibling (BerriAI/litellm#37541: empty answers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_history_guard.core.turns import Action, Call, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.genai import types

    from adk_history_guard.core.repair import Job
    from adk_history_guard.core.turns import Turn

PLACEHOLDER_SIGNATURE = b"skip_thought_signature_validator"
"""Documented for both backends; https://ai.google.dev/gemini-api/docs/thought-signatures."""

PLACEHOLDER_SIGNATURES = frozenset(
    {PLACEHOLDER_SIGNATURE, b"context_engineering_is_the_way_to_go"}
)


def current_turn(turns: Sequence[Turn]) -> int:
    """Return the index of the first turn behind the newest user turn (G15)."""
    for n in range(len(turns) - 1, -1, -1):
        if turns[n].role == "user" and not turns[n].responses:
            return n + 1
    return 0


def bare_siblings(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP placeholder signatures from all calls of a turn but the first (G16)."""
    if job.profile.signatures != "demanded":
        return turns
    return [
        _without_copies(turn, job) if len(turn.calls) > 1 else turn for turn in turns
    ]


def _without_copies(turn: Turn, job: Job) -> Turn:
    first = turn.calls[0]
    items: list[tuple[types.Part, object]] = []
    changed = False
    for part, record in turn.items():
        copied = (
            isinstance(record, Call)
            and record is not first
            and part.thought_signature in PLACEHOLDER_SIGNATURES
        )
        if copied and isinstance(record, Call):
            changed = True
            place = Place(record.turn, record.part)
            text = f"the placeholder signature of {record}, which is not the first call"
            job.note("HG402", Action.DROP, place, text)
            part = part.model_copy(update={"thought_signature": None})
        items.append((part, record))
    return turn.remade(items) if changed else turn  # type: ignore[arg-type]


def sign_steps(turns: list[Turn], job: Job) -> list[Turn]:
    """ADD the placeholder signature to unsigned steps of the current turn (G14)."""
    wanted = job.options.unsigned
    if wanted == "auto":
        wanted = job.profile.unsigned
    if wanted != "placeholder_signature":
        return turns
    start = current_turn(turns)
    return [
        _signed(turn, job) if n >= start and turn.calls else turn
        for n, turn in enumerate(turns)
    ]


def _signed(turn: Turn, job: Job) -> Turn:
    first = turn.calls[0]
    items = list(turn.items())
    for n, (part, record) in enumerate(items):
        if record is first:
            if part.thought_signature is not None:
                return turn
            place = Place(first.turn, first.part)
            text = f"a placeholder signature to {first}, the first call of its step"
            job.note("HG401", Action.ADD, place, text)
            update = {"thought_signature": PLACEHOLDER_SIGNATURE}
            items[n] = (part.model_copy(update=update), record)
    return turn.remade(items)


PASSES: Sequence[Callable[[list[Turn], Job], list[Turn]]] = (bare_siblings, sign_steps)
"""The passes of this file, in order."""
