# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over the shape of a request: roles, empty parts, neighbouring turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import (
    Action,
    Record,
    Turn,
    by_speaker,
    has_data,
    is_empty,
)

if TYPE_CHECKING:
    from adk_history_guard.core.repair import Job

READ = "(The responses have been read.)"
"""The model turn put between responses and a user turn, where one is wanted."""

OPENING = "(The conversation goes on.)"
"""The user turn put in front of a history that starts with the model."""

_ROLES = {"assistant": "model", "ai": "model", "model": "model"}


def fix_roles(turns: list[Turn], job: Job) -> list[Turn]:
    """RENAME roles to user and model; calls are the model's, responses the user's.

    A turn that holds both, or holds them under the wrong role, is split where
    the speaker changes. Source: G1, G12 of the contract; samples of old SDKs
    show roles `function` and `tool`, google/adk-python#2216 none at all.
    """
    out: list[Turn] = []
    for turn in turns:
        role = turn.role or ""
        known = role in ("user", "model")
        if known and not (turn.calls if role == "user" else turn.responses):
            out.append(turn)
            continue
        if not known:
            role = _ROLES.get(role.lower(), "user")
            if turn.calls and not turn.responses:
                role = "model"
            job.note(
                "HG202",
                Action.RENAME,
                turn.place(),
                f"role {turn.role!r} is now {role!r}",
            )
        out.extend(_split_by_speaker(turn, role, job))
    return out


def _split_by_speaker(turn: Turn, role: str, job: Job) -> list[Turn]:
    runs = by_speaker(turn.items(), turn.parts, role)
    if not runs:
        return [turn.remade((), role)]
    if len(runs) > 1 or runs[0][0] != role:
        job.note(
            "HG208",
            Action.MOVE,
            turn.place(),
            "calls now stand in a model turn and responses in a user turn",
        )
    return [turn.remade(items, speaker) for speaker, items in runs]


def drop_empty_parts(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP parts that hold nothing, and turns that hold no parts.

    Every provider refuses them (G2 to G4; google/adk-python#338). A part with
    nothing but a signature is kept and gets an empty text, since each part
    must have one data field (G3, G18).
    """
    out: list[Turn] = []
    for turn in turns:
        items: list[tuple[types.Part, Record | None]] = []
        differs = False
        for n, (part, record) in enumerate(turn.items()):
            new = part
            if is_empty(part):
                differs = True
                job.note("HG301", Action.DROP, turn.place(n), "an empty part")
                continue
            if part.text is None and not has_data(part):
                differs = True
                job.note(
                    "HG302",
                    Action.ADD,
                    turn.place(n),
                    "an empty text to a part that is nothing but a signature",
                )
                new = changed(part, {"text": ""})
            items.append((new, record))
        if not items:
            job.note("HG201", Action.DROP, turn.place(), "a turn without parts")
        else:
            out.append(turn.remade(items) if differs else turn)
    return out


def join_model_turns(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE neighbouring model turns into one; the parts stay as they came.

    A call turn must follow a user or response turn (G9, G11;
    google/adk-python#1581), and a signature stays in its part (G17).
    """
    out: list[Turn] = []
    items: list[tuple[types.Part, Record | None]] = []  # of the last turn and more
    asking = True  # whether the last turn holds calls, or is not the model's
    for turn in turns:
        if turn.role == "model" and not asking:
            code = "HG204" if turn.calls else "HG209"
            job.note(code, Action.MOVE, turn.place(), "into the model turn before it")
            items = items or list(out[-1].items())
            items += turn.items()
        else:
            if items:
                out[-1] = out[-1].remade(items)
                items = []
            out.append(turn)
        asking = turn.role != "model" or bool(turn.calls)
    if items:
        out[-1] = out[-1].remade(items)
    return out


def lead_with_user(turns: list[Turn], job: Job) -> list[Turn]:
    """ADD a user turn in front of a history that starts with the model.

    Source: google-gemini/gemini-cli#11814 and the alternation messages (G33).
    """
    if not job.profile.leading_user or not turns or turns[0].role != "model":
        return turns
    job.note("HG203", Action.ADD, turns[0].place(), "a user turn in front")
    opening = Turn(turns[0].index, "user", [types.Part(text=OPENING)])
    return [opening, *turns]


def answer_for_model(turns: list[Turn], job: Job) -> list[Turn]:
    """ADD a model turn between responses and a user turn, where one is wanted.

    Mistral's older hosted API refuses a user message behind a tool message, and
    its newer one takes either. Source: mistral-common 1.13.1,
    `protocol/instruct/validator.py`.
    """
    if not job.profile.model_after_responses:
        return turns
    out: list[Turn] = []
    for turn in turns:
        before = out[-1] if out else None
        if before is not None and before.responses and turn.role == "user":
            job.note("HG210", Action.ADD, turn.place(), "a model turn in front")
            out.append(Turn(turn.index, "model", [types.Part(text=READ)]))
        out.append(turn)
    return out


def strip_end(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP white space at the end of the model's last words, where it is refused.

    A text that is nothing else goes as a whole. Source: the Messages API, "final
    assistant content cannot end with trailing whitespace".
    """
    if job.profile.final_space:
        return turns
    while turns:
        turn = turns[-1]
        last = last_text(turn)
        if last is None:
            return turns
        n, text = last
        words = text.rstrip()
        if words == text:
            return turns
        job.note("HG211", Action.DROP, turn.place(n), "white space at the end")
        items = list(turn.items())
        if words:
            items[n] = (changed(items[n][0], {"text": words}), None)
        else:
            del items[n]
        turns = [*turns[:-1], turn.remade(items)] if items else turns[:-1]
    return turns


def last_text(turn: Turn) -> tuple[int, str] | None:
    """Return the last text of a model turn without calls, behind its number."""
    if turn.role != "model" or turn.calls:
        return None
    texts = [(n, p.text) for n, p in enumerate(turn.parts) if p.text and not p.thought]
    return texts[-1] if texts else None
