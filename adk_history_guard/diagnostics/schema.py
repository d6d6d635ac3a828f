# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Reading what was written: dumps, and contents as JSON, checked place by place.

Whatever a file holds, reading it gives a `RejectedRequest` or a `DumpFormatError`
that names the file and the place in it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import ValidationError

from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import Action, Change, Place, Severity, Violation
from adk_history_guard.diagnostics.failures import (
    GIVEN,
    REJECTED,
    SILENT,
    ProviderError,
)
from adk_history_guard.diagnostics.record import (
    SCHEMA,
    SCHEMA_VERSION,
    RejectedRequest,
)
from adk_history_guard.errors import DumpFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LARGEST = 64_000_000
"""Bytes of the largest file that is read."""

DEEPEST = 100
"""How deep the values of a file may be nested."""

_TEXT, _COUNT, _FLAG = (str,), (int,), (bool,)
_FIELDS: dict[str, tuple[tuple[type, ...], bool]] = {
    "schema": (_TEXT, True),
    "schema_version": (_COUNT, True),
    "kind": (_TEXT, True),
    "content": (_TEXT, True),
    "versions": ((dict,), False),
    "model": (_TEXT, False),
    "agent": (_TEXT, False),
    "session_id": (_TEXT, False),
    "invocation_id": (_TEXT, False),
    "stream": (_FLAG, False),
    "door": (_TEXT, False),
    "mode": (_TEXT, False),
    "profile": ((dict,), True),
    "profile.name": (_TEXT, True),
    "profile.reason": (_TEXT, False),
    "error": ((dict,), False),
    "error.type": (_TEXT, False),
    "error.code": (_COUNT, False),
    "error.status": (_TEXT, False),
    "error.text": (_TEXT, False),
    "error.raw": (_TEXT, False),
    "error.finish_reason": (_TEXT, False),
    "violations": ((list,), False),
    "changes": ((list,), False),
    "pending": ((list,), False),
    "omitted": (_COUNT, False),
    "contents": ((list,), True),
    "repaired": ((dict,), False),
    "config": ((dict,), False),
}
"""Every field that is read: its type, and whether it must be there."""

_CHOICES = {"kind": (REJECTED, SILENT, GIVEN), "content": ("shape", "full")}
_PLACE = re.compile(r"(\w+)\[(\d{1,9})\](?:\.parts\[(\d{1,9})\])?")
_WORDS = {str: "a string", int: "a whole number", bool: "true or false"}
_WORDS |= {dict: "an object", list: "a list"}


def read_json(path: Path | str) -> object:
    """Read a JSON file.

    Raises:
        DumpFormatError: It cannot be read, is too large, nested too deep, or no JSON.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or type(error).__name__}."
        raise DumpFormatError(reason, path=path) from error
    except ValueError as error:  # a path with a NUL in it
        reason = "is no file name."
        raise DumpFormatError(reason, path=path) from error
    if len(data) > LARGEST:
        reason = f"is larger than {LARGEST // 1_000_000} MB."
        raise DumpFormatError(reason, path=path)
    return parse_json(data, path=path)


def parse_json(data: bytes | str, *, path: object = None) -> object:
    """Parse JSON; see `read_json`."""
    try:
        value: object = json.loads(data)
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 at byte {error.start}."
        raise DumpFormatError(reason, path=path) from error
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg} at line {error.lineno}, {error.colno}."
        raise DumpFormatError(reason, path=path) from error
    except RecursionError as error:
        reason = f"is nested deeper than {DEEPEST} levels."
        raise DumpFormatError(reason, path=path) from error
    except ValueError as error:  # a number with thousands of digits
        reason = "is not JSON: a number is too long."
        raise DumpFormatError(reason, path=path) from error
    if _depth(value) > DEEPEST:
        reason = f"is nested deeper than {DEEPEST} levels."
        raise DumpFormatError(reason, path=path)
    return value


def _depth(value: object) -> int:
    """Return how deep a JSON value is nested, without recursion."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        below: list[object] = []
        for found in level:
            if isinstance(found, dict):
                below.extend(found.values())
            elif isinstance(found, list):
                below.extend(found)
        level = below
        depth += 1
    return depth


def read_dump(path: Path | str) -> RejectedRequest:
    """Read the dump of a rejected request from a file.

    Raises:
        DumpFormatError: The file is no dump, of an unknown version, or damaged.
    """
    return parse_dump(read_json(path), path=path)


def is_dump(value: object) -> bool:
    """Tell whether a JSON value claims to be a dump."""
    return isinstance(value, dict) and "schema" in value and "contents" in value


def parse_dump(
    value: object, *, path: object = None, profile: str | None = None
) -> RejectedRequest:
    """Read a dump from a JSON value.

    Args:
        value: The value.
        path: The file, for messages.
        profile: A profile's name that wins over that of the dump.

    Raises:
        DumpFormatError: It is no dump, of an unknown version, or damaged.
    """

    def fail(reason: str, place: str | None = None) -> DumpFormatError:
        return DumpFormatError(reason, path=path, place=place)

    if not isinstance(value, dict):
        reason = "is no dump: it must be a JSON object."
        raise fail(reason)
    if value.get("schema") != SCHEMA:
        reason = f"must be {SCHEMA!r}, not {_shown(value.get('schema'))}."
        raise fail(reason, "schema")
    if value.get("schema_version") != SCHEMA_VERSION:
        found = _shown(value.get("schema_version"))
        reason = f"version {found} is unknown; this release reads {SCHEMA_VERSION}."
        raise fail(reason, "schema_version")
    for name, (kinds, required) in _FIELDS.items():
        _check_field(value, name, kinds, required=required, fail=fail)
    for name, choices in _CHOICES.items():
        if value[name] not in choices:
            allowed = ", ".join(map(repr, choices))
            reason = f"must be one of {allowed}, not {_shown(value[name])}."
            raise fail(reason, name)
    name = profile or value["profile"]["name"]
    if name not in PROFILES:
        allowed = ", ".join(PROFILES)
        reason = f"{_shown(name)} is no profile; choose one of {allowed}."
        raise fail(reason, "profile.name")
    contents = parse_contents(value["contents"], path=path)
    error = value.get("error")
    return RejectedRequest(
        contents=contents,
        profile=PROFILES[name],
        error=None if error is None else ProviderError(**_error(error)),
        kind=value["kind"],
        profile_reason=value["profile"].get("reason") or "",
        mode=value.get("mode") or "",
        door=value.get("door") or "",
        model=value.get("model") or "",
        agent=value.get("agent") or "",
        session_id=value.get("session_id") or "",
        invocation_id=value.get("invocation_id") or "",
        stream=value.get("stream"),
        changes=_changes(value.get("changes") or (), fail),
        pending=[p for p in value.get("pending") or () if isinstance(p, str)],
        config=value.get("config"),
        shaped=value["content"] == "shape",
        omitted=max(0, value.get("omitted") or 0),
        versions={str(k): str(v) for k, v in (value.get("versions") or {}).items()},
        stored=_violations(value.get("violations") or (), fail),
    )


def _check_field(
    value: dict[str, Any],
    name: str,
    kinds: tuple[type, ...],
    *,
    required: bool,
    fail: Callable[..., DumpFormatError],
) -> None:
    parent, _, key = name.rpartition(".")
    holder = value.get(parent) if parent else value
    if not isinstance(holder, dict):
        return  # an optional parent that is not there
    found = holder.get(key)
    if found is None:
        if required:
            reason = "is missing."
            raise fail(reason, name)
        return
    is_flag = isinstance(found, bool)
    if not isinstance(found, kinds) or (is_flag and bool not in kinds):
        reason = f"must be {_WORDS[kinds[0]]}, not {_shown(found)}."
        raise fail(reason, name)


def _error(error: dict[str, Any]) -> dict[str, Any]:
    names = ("code", "status", "raw", "finish_reason")
    out: dict[str, Any] = {name: error.get(name) for name in names}
    return out | {"type": error.get("type") or "", "text": error.get("text") or ""}


def parse_contents(
    value: object, *, path: object = None, root: str = "contents"
) -> list[types.Content]:
    """Read contents from a JSON list.

    Args:
        value: A list of contents, snake_case or camelCase.
        path: The file, for messages.
        root: What the list is called in messages.

    Raises:
        DumpFormatError: It is no list of contents; names the first wrong place.
    """
    if not isinstance(value, list):
        reason = "must be a list of contents."
        raise DumpFormatError(reason, path=path, place=root)
    out = []
    for n, item in enumerate(value):
        place = f"{root}[{n}]"
        if not isinstance(item, dict):
            reason = f"must be an object, not {_shown(item)}."
            raise DumpFormatError(reason, path=path, place=place)
        try:
            out.append(types.Content.model_validate(item))
        except ValidationError as error:
            raise _invalid(error, path, place) from error
        except (ValueError, TypeError, RecursionError) as error:
            reason = f"is no content: {type(error).__name__}."
            raise DumpFormatError(reason, path=path, place=place) from error
    return out


def _invalid(error: ValidationError, path: object, place: str) -> DumpFormatError:
    first = error.errors(include_url=False, include_context=False)[0]
    for step in first["loc"]:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    # The input itself is not shown: it may be the user's text.
    reason = f"{first['msg']}."
    return DumpFormatError(reason.replace("..", "."), path=path, place=place[:300])


def _shown(value: object) -> str:
    """Return a value for a message: short, and for text its first characters."""
    if isinstance(value, (dict, list)):
        return _WORDS[type(value)]
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_SHOWN = 60


def _place(text: object) -> Place:
    found = _PLACE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return Place(0)
    part = found[3]
    return Place(int(found[2]), None if part is None else int(part), found[1])


def _changes(
    items: Sequence[Any], fail: Callable[..., DumpFormatError]
) -> list[Change]:
    out = []
    for n, item in enumerate(items):
        place = f"changes[{n}]"
        if not isinstance(item, dict) or item.get("action") not in list(Action):
            reason = "is no change."
            raise fail(reason, place)
        out.append(
            Change(
                str(item.get("code")),
                Action(item["action"]),
                _place(item.get("place")),
                str(item.get("message")),
            )
        )
    return out


def _violations(
    items: Sequence[Any], fail: Callable[..., DumpFormatError]
) -> list[Violation]:
    out = []
    for n, item in enumerate(items):
        place = f"violations[{n}]"
        if not isinstance(item, dict) or item.get("severity") not in list(Severity):
            reason = "is no violation."
            raise fail(reason, place)
        rule = RULES.get(str(item.get("code")))
        if rule is None:
            continue  # of another release
        out.append(
            Violation(
                rule.code,
                rule.name,
                Severity(item["severity"]),
                _place(item.get("place")),
                str(item.get("message")),
                rule.fix,
            )
        )
    return out
