# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A changed copy is what pydantic's own `model_copy` makes, for every class copied."""

from __future__ import annotations

import pytest
from google.adk.events import Event
from google.genai import types
from pydantic import BaseModel, ConfigDict, PrivateAttr

from adk_history_guard.core.copies import changed, with_field

CALL = types.FunctionCall(id="c1", name="look", args={"n": 1})
RESPONSE = types.FunctionResponse(id="c1", name="look", response={"n": 1})
PART = types.Part(function_call=CALL, thought_signature=b"signed")
CONTENT = types.Content(role="model", parts=[PART])


class WithPrivate(BaseModel):
    """A model that keeps something outside its fields."""

    model_config = ConfigDict(extra="allow")
    id: str = "a"
    _kept: list[int] = PrivateAttr(default_factory=lambda: [1])


CASES = [
    pytest.param(CALL, {"id": "c2"}, id="call"),
    pytest.param(RESPONSE, {"id": "c2", "name": "see"}, id="response"),
    pytest.param(PART, {"thought_signature": None}, id="part"),
    pytest.param(CONTENT, {"parts": []}, id="content"),
    pytest.param(types.UserContent("hi"), {"parts": []}, id="user-content"),
    pytest.param(Event(author="root", content=CONTENT), {"content": None}, id="event"),
    pytest.param(
        Event(author="root"), {"branch": "a", "timestamp": 1.0}, id="unset-fields"
    ),
    pytest.param(WithPrivate(more=2), {"id": "b"}, id="private-and-extra"),
]


@pytest.mark.parametrize(("model", "update"), CASES)
def test_changed_copy_is_a_model_copy(model, update):
    """Class, values, set fields, dumps and private attributes are the same."""
    wanted = model.model_copy(update=update)

    made = changed(model, update)

    assert made == wanted
    assert type(made) is type(wanted)
    assert made.__dict__ == wanted.__dict__
    assert made.model_fields_set == wanted.model_fields_set
    assert made.model_dump_json(exclude_unset=True) == wanted.model_dump_json(
        exclude_unset=True
    )
    assert made.__pydantic_private__ == wanted.__pydantic_private__
    assert made.__pydantic_extra__ == wanted.__pydantic_extra__


@pytest.mark.parametrize(("model", "update"), CASES)
def test_changed_copy_leaves_its_model_alone(model, update):
    """Neither the copy nor a later change of it reaches the model."""
    before = model.model_dump_json()
    fields = set(model.model_fields_set)

    made = changed(model, update)
    for name, field in type(model).model_fields.items():
        if not field.frozen:
            setattr(made, name, None)

    assert model.model_dump_json() == before
    assert model.model_fields_set == fields


@pytest.mark.parametrize(("model", "update"), CASES)
def test_copy_with_one_field_is_a_changed_copy(model, update):
    """Field by field, `with_field` makes what `changed` makes."""
    for field, value in update.items():
        made, wanted = with_field(model, field, value), changed(model, {field: value})

        assert made == wanted
        assert made.__dict__ == wanted.__dict__
        assert made.model_fields_set == wanted.model_fields_set
