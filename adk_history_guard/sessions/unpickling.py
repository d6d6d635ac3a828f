# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Loads the pickled actions of ADK's first schema, and nothing but plain data.

What is pickled in a store can run any code when it is loaded. Only the data models
and enumerations that an event's actions hold are let through here, and the built-in
types of data: no agent, model or code executor, whose making has effects.
"""

from __future__ import annotations

import enum
import io
import pickle
from typing import Any

from pydantic import BaseModel

_PLAIN = frozenset(
    {
        *(("builtins", n) for n in ("dict", "list", "set", "frozenset", "tuple")),
        *(
            ("builtins", n)
            for n in ("str", "bytes", "bytearray", "int", "float", "bool")
        ),
        *(("collections", n) for n in ("OrderedDict", "defaultdict")),
        *(
            ("datetime", n)
            for n in ("date", "datetime", "time", "timedelta", "timezone")
        ),
        ("decimal", "Decimal"),
        ("uuid", "UUID"),
    }
)
_MODELS = (
    "google.adk.events.",
    "google.adk.auth.auth_credential",
    "google.adk.auth.auth_schemes",
    "google.adk.auth.auth_tool",
    "google.adk.tools.tool_confirmation",
    "google.genai.types",
    "fastapi.openapi.models",
)
"""Modules of data: what the fields of `EventActions` are made of."""


class _Unpickler(pickle.Unpickler):
    """An unpickler that finds data models only."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if module.startswith(_MODELS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, (BaseModel, enum.Enum)):
                return found
        msg = f"{module}.{name} is not data that ADK stores"
        raise pickle.UnpicklingError(msg)


def loads(data: bytes) -> Any:
    """Load pickled data.

    Args:
      data: The pickle.

    Raises:
      pickle.UnpicklingError: It is no pickle, or holds more than data.
    """
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:
        msg = f"no pickle of data: {type(error).__name__}"
        raise pickle.UnpicklingError(msg) from error
