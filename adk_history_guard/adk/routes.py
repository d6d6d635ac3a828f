# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who wrote a turn, and whether that was the model now asked.

A thought signature is bound to the model and the route that made it (G23), so
the two together are a turn's origin. The guard keeps both with each event whose
calls it has seen; an event of before has its `model_version` at most.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from adk_history_guard.core.profiles import gemini_profile


class Origin(NamedTuple):
    """A model and the way to it.

    Attributes:
      model: The model's name; None where it is not known.
      route: The client and the address; None where it is not known.
      asked: The name that was asked for, where the answer gave another.
    """

    model: str | None = None
    route: str | None = None
    asked: str | None = None


NOWHERE = Origin()
"""Nothing is known."""

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gemini"), "gemini"),
    (re.compile(r"claude"), "claude"),
    (re.compile(r"mistral|mixtral|codestral|magistral|ministral"), "mistral"),
    (re.compile(r"gpt|\bo\d\b|chatgpt"), "gpt"),
    (re.compile(r"llama"), "llama"),
    (re.compile(r"qwen"), "qwen"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"grok"), "grok"),
    (re.compile(r"kimi|moonshot"), "kimi"),
)
"""Model names by family; signatures do not pass from one to another, nor from one
generation of Gemini to the next."""

_ROUTE_KINDS = {"gemini": ("gemini-3", "gemini-2"), "anthropic": ("claude",)}
"""Families that a route can reach at all."""


@lru_cache(maxsize=1024)
def family_of(model: str | None) -> str | None:
    """Return the family of a model's name; None where the name tells none."""
    name = (model or "").lower()
    found = next((kind for shape, kind in _KINDS if shape.search(name)), None)
    return gemini_profile(name) if found == "gemini" else found


def is_foreign(origin: Origin, target: Origin) -> bool | None:
    """Tell whether a turn was written by another model than the target.

    Args:
      origin: What is on record of the turn.
      target: The model now asked.

    Returns:
      True or False; None where the record does not tell.
    """
    if origin.route and target.route and origin.route != target.route:
        return True
    if origin.route and origin.asked and origin.asked == target.model:
        return False
    mine, theirs = family_of(target.model), family_of(origin.model)
    if mine and theirs:
        return mine != theirs
    if origin.route and origin.route == target.route:
        return False
    reached = _ROUTE_KINDS.get(target.route or "", ())
    if reached and theirs:
        return theirs not in reached
    return False if _last(origin.model) == _last(target.model) != "" else None


def _last(name: str | None) -> str:
    return (name or "").rsplit("/", 1)[-1].lower()
