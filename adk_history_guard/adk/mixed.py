# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Events that hold calls and responses, split where the speaker changes.

ADK takes such an event for one with responses and leaves its calls out, so the
round is missing from the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.events.event_actions import EventActions

from adk_history_guard.adk.draft import digest
from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import Action, Change, Place, by_speaker

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.genai import types


Home = tuple[int, int]
"""Where an event stood before the split: the index, and that of its first part."""


def split_mixed(
    events: list[Event],
) -> tuple[list[Event], list[Change], list[Home]]:
    """MOVE the calls and the responses of one event into events of their own.

    Args:
      events: The events in stored order; never mutated.

    Returns:
      The events, the list handed in where no event is mixed; the changes; and the
      home of each event, none where no event is mixed.
    """
    out: list[Event] = []
    changes: list[Change] = []
    homes: list[Home] = []
    for n, event in enumerate(events):
        content = event.content
        parts = (content.parts if content is not None else None) or []
        if content is not None and _is_mixed(parts):
            place = Place(n, None, "events")
            text = "calls and responses into events of their own"
            changes.append(Change("HG208", Action.MOVE, place, text))
            start = 0
            for piece in _pieces(event, content, parts):
                out.append(piece)
                homes.append((n, start))
                start += len((piece.content and piece.content.parts) or ())
        else:
            out.append(event)
            homes.append((n, 0))
    return (out, changes, homes) if changes else (events, [], [])


def at_home(change: Change, homes: list[Home]) -> Change:
    """Return a change at the place where its part stood before the split."""
    turn, start = homes[change.place.turn]
    part = change.place.part
    part = None if part is None else part + start
    return change._replace(place=change.place._replace(turn=turn, part=part))


def _is_mixed(parts: list[types.Part]) -> bool:
    return any(p.function_response is not None for p in parts) and any(
        p.function_call is not None for p in parts
    )


def _pieces(
    event: Event, content: types.Content, parts: list[types.Part]
) -> list[Event]:
    role = "user" if "user" in (content.role, event.author) else "model"
    runs = by_speaker(parts, parts, role)
    pieces = []
    for n, (speaker, mine) in enumerate(runs):
        said = {"role": speaker, "parts": mine}
        update: dict[str, object] = {"content": changed(content, said)}
        if n:
            seed = f"{event.id}\x1f{n}"
            update["id"] = digest(seed)
            update["actions"] = EventActions()
        pieces.append(changed(event, update))
    return pieces
