# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and bodies as keys, to look them up and not to search for them.

Equal values have equal keys. The reverse does not hold for all: a value without a
hash, and what lies very deep, has the same key as any other. So whoever finds
something by its key compares the values, of a few that have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

FEW = 64
"""How many of one key are compared: so many are mostly equal, and the first is it."""

_DEEPEST = 32
_PLAIN = frozenset((str, int, float, bool, type(None)))
_ANY = "any"


def key_of(value: Any, deepest: int = _DEEPEST) -> Hashable:
    """Return what can stand for a value as a key.

    Args:
      value: Arguments of a call, or the body of a response.
      deepest: How many levels of it the key tells apart.
    """
    plain: Hashable = value
    if type(value) in _PLAIN:
        return plain
    if isinstance(value, (dict, list, tuple)):
        if not deepest:
            return _ANY
        if isinstance(value, dict):
            return frozenset([(k, key_of(v, deepest - 1)) for k, v in value.items()])
        return tuple([key_of(v, deepest - 1) for v in value])
    try:
        hash(plain)
    except TypeError:
        return _ANY
    return plain
