# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the tools take: a dump, contents as JSON, a session, or a live record."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from google.genai import types

from adk_history_guard.core.pairing import pair
from adk_history_guard.core.profiles import (
    PROFILES,
    Profile,
    gemini_profile,
    resolve_profile,
)
from adk_history_guard.core.turns import Severity, read_contents
from adk_history_guard.diagnostics.failures import GIVEN
from adk_history_guard.diagnostics.record import RejectedRequest
from adk_history_guard.diagnostics.schema import (
    is_dump,
    parse_contents,
    parse_dump,
    read_json,
)
from adk_history_guard.errors import DumpFormatError

DumpLike: TypeAlias = (
    RejectedRequest
    | str
    | os.PathLike[str]
    | dict[str, Any]
    | Sequence[types.Content]
    | Sequence[dict[str, Any]]
)
"""What the tools take for a request: a live record, a path, JSON, or contents."""

DUMP, CONTENTS, SESSION = "dump", "contents", "session"

NOT_OF_SESSIONS = ("HG206", "HG209")
"""Rules about the end and the rhythm of a request, which a session is not."""

FAMILIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gemini-"), "gemini"),
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"mi[sx]tral|codestral"), "mistral"),
    (re.compile(r"\bgpt-|\bo\d"), "openai-chat"),
)
"""Which profile a model's name stands for, where a file says nothing else."""


def load(
    dump: DumpLike,
    profile: str | Profile | None = None,
) -> RejectedRequest:
    """Return a request from whatever holds one.

    Args:
        dump: A `RejectedRequest`; a path of a JSON file; the JSON of a dump, of
            contents (a list, or an object with `contents`) or of an ADK session; or
            a list of contents.
        profile: The contract to judge by, in place of the one in the dump.

    Raises:
        DumpFormatError: It is none of these; names the file and the place in it.
        ConfigurationError: There is no profile of that name.
    """
    chosen = None if profile is None else resolve_profile(profile)
    if isinstance(dump, (str, os.PathLike)):
        return _parse(read_json(Path(dump)), chosen, path=dump)
    if isinstance(dump, RejectedRequest):
        if chosen is None or chosen is dump.profile:
            return dump
        return replace(dump, profile=chosen, profile_reason="as asked")
    if not isinstance(dump, dict) and all(isinstance(c, types.Content) for c in dump):
        return _given([c for c in dump if isinstance(c, types.Content)], chosen, "")
    return _parse(dump if isinstance(dump, dict) else list(dump), chosen)


def kind_of(value: object) -> str | None:
    """Return what a JSON value holds: dump, contents or session, None if neither."""
    if is_dump(value):
        return DUMP
    if isinstance(value, dict):
        if isinstance(value.get("events"), list):
            return SESSION
        return CONTENTS if "contents" in value else None
    return CONTENTS if isinstance(value, list) else None


def _parse(
    value: object, profile: Profile | None, *, path: object = None
) -> RejectedRequest:
    kind = kind_of(value)
    if kind == DUMP:
        if profile is not None and isinstance(value, dict):
            request = parse_dump(value, path=path, profile="gemini-3")
            return load(request, profile)
        return parse_dump(value, path=path)
    if kind == SESSION and isinstance(value, dict):
        contents, model = read_session(value, path=path)
        request = _given(contents, profile, model, fallback="gemini-2")
        return replace(request, profile=_for_sessions(request.profile))
    if isinstance(value, (dict, list)) and kind == CONTENTS:
        told = value.get("model") if isinstance(value, dict) else ""
        items = value["contents"] if isinstance(value, dict) else value
        named = value.get("profile") if isinstance(value, dict) else None
        reason = "as asked"
        if profile is None and isinstance(named, str) and named in PROFILES:
            profile, reason = PROFILES[named], "named in the file"
        return _given(
            parse_contents(items, path=path),
            profile,
            told if isinstance(told, str) else "",
            reason=reason,
        )
    reason = (
        "is neither a dump, nor a list of contents, nor a session: it must be a JSON "
        "object with 'contents' or 'events', or a list."
    )
    raise DumpFormatError(reason, path=path)


def _given(
    contents: list[types.Content],
    profile: Profile | None,
    model: str,
    fallback: str = "gemini-3",
    reason: str = "as asked",
) -> RejectedRequest:
    if profile is None:
        found = next((p for form, p in FAMILIES if form.search(model.lower())), None)
        found = gemini_profile(model) if found == "gemini" else found
        profile = PROFILES[found or fallback]
        reason = f"a model named {model!r}" if found else "nothing else is known"
    return RejectedRequest(
        contents=contents,
        profile=profile,
        kind=GIVEN,
        profile_reason=reason,
        model=model,
        mode="",
    )


def _for_sessions(profile: Profile) -> Profile:
    """Return a profile without the rules that a stored session need not keep.

    It ends with the model's answer, and a late answer that went home leaves two turns
    of the model next to each other: the next message mends both, or the plugin does.
    """
    rules = {**profile.rules, **dict.fromkeys(NOT_OF_SESSIONS, Severity.OFF)}
    return replace(profile, rules=rules)


def read_session(
    value: dict[str, Any], *, path: object = None
) -> tuple[list[types.Content], str]:
    """Read the contents of a session's events, arranged as ADK arranges them.

    Args:
        value: The JSON of an ADK session, snake_case or camelCase.
        path: The file, for messages.

    Returns:
        The contents, and the newest model version that an event names.

    Raises:
        DumpFormatError: An event is none; names its place.
    """
    contents: list[types.Content] = []
    model = ""
    for n, event in enumerate(value["events"]):
        place = f"events[{n}]"
        if not isinstance(event, dict):
            reason = "must be an object."
            raise DumpFormatError(reason, path=path, place=place)
        content = event.get("content")
        if event.get("partial") or content is None:
            continue
        found = event.get("model_version", event.get("modelVersion"))
        model = found if isinstance(found, str) else model
        read = parse_contents([content], path=path, root=place)[0]
        if read.parts:
            contents.append(read)
    return arrange(contents), model


def arrange(contents: list[types.Content]) -> list[types.Content]:
    """Bring the final response of each call right behind its turn, as ADK does.

    Earlier responses of a call (progress, "pending") are left out; all else stays.
    """
    turns = read_contents(contents)
    pairs = pair(turns)
    gone = {id(r.raw) for r in pairs.owner}
    out: list[types.Content] = []
    for turn in turns:
        kept = [part for part in turn.parts if id(part) not in gone]
        if len(kept) == len(turn.parts) and turn.source is not None:
            out.append(turn.source)
        elif kept:
            out.append(types.Content(role=turn.role, parts=kept))
        home = [r.raw for call in turn.calls if (r := pairs.final(call)) is not None]
        if home:
            out.append(types.Content(role="user", parts=home))
    return out
