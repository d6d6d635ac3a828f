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

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

M = TypeVar("M", bound=BaseModel)


def _setter(slot: str) -> Callable[[Any, Any], None]:
    """What fills a slot of a model; `setattr` would ask pydantic first."""
    setter: Callable[[Any, Any], None] = BaseModel.__dict__[slot].__set__
    return setter


_new = object.__new__
_set_values = _setter("__dict__")
_set_fields_set = _setter("__pydantic_fields_set__")
_set_extra = _setter("__pydantic_extra__")
_set_private = _setter("__pydantic_private__")


def changed(model: M, update: dict[str, Any]) -> M:
    """Return a shallow copy of a model with some fields changed.

    Args:
      model: Any pydantic model; not mutated. Its field values are shared.
      update: New values by field, which are not validated.

    Returns:
      What `model.model_copy(update=update)` returns.
    """
    copied = _shallow(model)
    copied.__dict__.update(update)
    copied.__pydantic_fields_set__.update(update)
    return copied


def with_field(model: M, field: str, value: Any) -> M:
    """Return what `changed` returns for one field, a little sooner."""
    copied = _shallow(model)
    copied.__dict__[field] = value
    copied.__pydantic_fields_set__.add(field)
    return copied


def _shallow(model: M) -> M:
    if model.__pydantic_private__ is not None or model.__pydantic_extra__ is not None:
        return model.model_copy()
    copied = _new(model.__class__)
    _set_values(copied, model.__dict__.copy())
    _set_fields_set(copied, model.__pydantic_fields_set__.copy())
    _set_extra(copied, None)
    _set_private(copied, None)
    return copied
