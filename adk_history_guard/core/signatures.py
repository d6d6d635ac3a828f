# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Thought signatures: foreign ones off, placeholders for unsigned steps.

Facts
-----
Gemini 3 wants the first call of each step of the current turn signed (G14),
only the first (G16), and in the very part it came in (G17). The current turn
starts at the newest user turn that is no response turn (G15). A signature is
bound to the model and the route that made it (G23): another model's comes off
in the request copy, the model's own stay byte for byte. For a step that no
Gemini wrote, two strings are documented to stand in for a signature (G21);
they lower quality, so one goes where nothing else is left, into the request
copy only, never on a sibling (BerriAI/litellm#37541: empty answers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adk_history_guard.core.copies import changed
from adk_history_guard.core.origins import NO_ORIGINS
from adk_history_guard.core.turns import Action, Call, Place, carries_data, has_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from google.genai import types

    from adk_history_guard.core.origins import Origins
    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.repair import Job
    from adk_history_guard.core.turns import Response, Turn

    Item = tuple[types.Part, Call | Response | None]

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


def is_marked(turns: Iterable[Turn], markers: Iterable[str]) -> bool:
    """Tell whether any call of a history carries a signature inside its id."""
    return any(carries_data(call.id, markers) for t in turns for call in t.calls)


def signed_calls(
    turns: Iterable[Turn],
    profile: Profile,
    markers: Iterable[str],
    origins: Origins = NO_ORIGINS,
) -> set[Call]:
    """Return the calls of a history that the provider would take for signed.

    Behind a gateway that is the id (W1), elsewhere the part (G17). An id that
    another model is on record for is signed for that one only; one that repeats
    is signed for its first call, since a signature belongs to one turn (W4). A
    placeholder signs nothing: it stands where no model did.
    """
    calls = [call for turn in turns for call in turn.calls]
    if not profile.signed_ids:
        return {
            call
            for call in calls
            if call.signed and call.raw.thought_signature not in PLACEHOLDER_SIGNATURES
        }
    if origins.distrust:
        return set()
    signed: dict[str | None, Call] = {}
    for call in calls:
        if carries_data(call.id, markers) and call.id not in origins.ids:
            signed.setdefault(call.id, call)
    return set(signed.values())


def take_off_foreign(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP signatures, and thoughts, that the target did not make (G23).

    A part that was nothing but its signature goes as a whole. Thoughts go where
    the provider wants them signed by itself: Anthropic's are bound to the
    deployment. Source: BerriAI/litellm#42201.
    """
    if job.profile.signatures != "foreign" and not (
        job.origins.signatures or job.origins.distrust
    ):
        return turns
    return [_own_only(turn, job) for turn in turns]


def _own_only(turn: Turn, job: Job) -> Turn:
    items: list[Item] = []
    differs = False
    for n, (part, record) in enumerate(turn.items()):
        new = _own_part(part, job)
        if new is part:
            items.append((part, record))
            continue
        differs = True
        what = "a thought" if part.thought else "the thought signature"
        job.note("HG403", Action.DROP, turn.place(n), f"{what} of another model")
        if new is None:
            continue
        if record is not None:
            record.raw = new
        if isinstance(record, Call):
            record.signed = False
        items.append((new, record))
    return turn.remade(items) if differs else turn


def _own_part(part: types.Part, job: Job) -> types.Part | None:
    profile, signature = job.profile, part.thought_signature
    foreign = job.origins.is_foreign(signature)
    if signature in PLACEHOLDER_SIGNATURES:  # no model made it, and no other reads it
        foreign = profile.signatures == "foreign"
    if part.thought and has_data(part) and profile.thoughts != "any":
        # ADK would send the thought and leave the call out, or refuse the part.
        return changed(part, {"thought": None, "thought_signature": None})
    if part.thought:
        if profile.thoughts != "any" and foreign:
            return None
        if profile.thoughts == "signed" and signature is None:
            return None
    elif signature is not None and profile.signatures == "foreign":
        foreign = True
    if not foreign:
        return part
    if not part.text and not has_data(part):
        return None
    return changed(part, {"thought_signature": None})


def bare_siblings(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP placeholder signatures from all calls of a turn but the first (G16)."""
    return [_without_copies(turn, job) if turn.calls else turn for turn in turns]


def _without_copies(turn: Turn, job: Job) -> Turn:
    first = turn.calls[0]
    items: list[Item] = []
    differs = False
    for part, record in turn.items():
        new = part
        if (
            isinstance(record, Call)
            and record is not first
            and part.thought_signature in PLACEHOLDER_SIGNATURES
        ):
            differs = True
            place = Place(record.turn, record.part)
            text = f"the placeholder signature of {record}, which is not the first call"
            job.note("HG402", Action.DROP, place, text)
            new = changed(part, {"thought_signature": None})
        items.append((new, record))
    return turn.remade(items) if differs else turn


def sign_steps(turns: list[Turn], job: Job) -> list[Turn]:
    """ADD the placeholder signature to unsigned steps of the current turn (G14)."""
    if job.profile.signatures != "demanded" or job.unsigned != "placeholder_signature":
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
            if part.thought_signature:
                return turn
            place = Place(first.turn, first.part)
            text = f"a placeholder signature to {first}, the first call of its step"
            job.note("HG401", Action.ADD, place, text)
            update = {"thought_signature": PLACEHOLDER_SIGNATURE}
            items[n] = (changed(part, update), record)
    return turn.remade(items)


PASSES: Sequence[Callable[[list[Turn], Job], list[Turn]]] = (bare_siblings, sign_steps)
"""The passes of this file that come last, in order."""
