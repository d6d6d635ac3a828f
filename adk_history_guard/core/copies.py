# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Changed copies of pydantic objects, without the cost of `model_copy`.

A session may hold one repeated id in every round; each of them takes eight
copies (call, part, content, event, and the same for the response). `model_copy`
spends most of its time on what is not used here: deep copies, extra fields and
private attributes by way of `__copy__`. A test holds the two against each other
for every class that is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

_set = object.__setattr__


def changed(model: M, update: dict[str, Any]) -> M:
    """Return a shallow copy of a model with some fields changed.

    Args:
      model: Any pydantic model; not mutated. Its field values are shared.
      update: New values by field, which are not validated.

    Returns:
      What `model.model_copy(update=update)` returns.
    """
    if model.__pydantic_private__ is not None or model.__pydantic_extra__ is not None:
        return model.model_copy(update=update)
    cls = model.__class__
    copied = cls.__new__(cls)
    _set(copied, "__dict__", {**model.__dict__, **update})
    _set(copied, "__pydantic_fields_set__", model.__pydantic_fields_set__.union(update))
    _set(copied, "__pydantic_extra__", None)
    _set(copied, "__pydantic_private__", None)
    return copied
