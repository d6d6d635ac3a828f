# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
r"""The notation of `tests/histories`: one list of strings for each event.

The first string is the author with flags, the others are parts::

    ["user", "'hi"]                         words of the user
    ["root", "look#c1(1)"]                  a call of `look` under id c1, n=1
    ["root", "look#c1(1)~sig", "seek(2)"]   a signed call; a call without id
    ["root", "look#c1=1"]                   a response that echoes n=1
    ["root", "look#c1="], ["root", "look#c1={"status": "busy"}"]
    ["user", "<image/png>"], ["root", "''"] media; an empty text

Flags: `root@branch`, `inv=2`, `long=c1,c2`, `role=user`, `model=gemini-2.5-pro`,
`sums=0..3` (a summary that stands for events 0 to 3), `live=s1`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from google.adk.events import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from tests.builders import call, event, media, text

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = r"(?P<name>[\w-]*)(?:#(?P<id>[^=(]*))?"
_CALL = re.compile(_NAME + r"\((?P<n>\d*|\{.*\})\)(?:~(?P<signature>.+))?")
_RESPONSE = re.compile(_NAME + r"=(?P<body>.*)")
_START = 1_700_000_000.0


def read_part(line: str) -> types.Part:
    """Read one part."""
    if line.startswith("'"):
        words, _, signature = line[1:].partition("~~")
        words = "" if words == "'" else words
        return text(words, signature=signature.encode() or None)
    if line.startswith("<"):
        return media(line.strip("<>"))
    if found := _CALL.fullmatch(line):
        signature = found["signature"]
        part = call(
            found["name"] or None,
            id=found["id"],
            signature=signature.encode() if signature else None,
        )
        if part.function_call is not None:
            part.function_call.args = _body(found["n"])
        return part
    found = _RESPONSE.fullmatch(line)
    if found is None:
        message = f"not a part: {line!r}"
        raise ValueError(message)
    said = types.FunctionResponse(
        id=found["id"], name=found["name"] or None, response=_body(found["body"])
    )
    return types.Part(function_response=said)


def _body(written: str) -> dict[str, Any]:
    if not written:
        return {}
    return json.loads(written) if written.startswith("{") else {"n": int(written)}


def read_event(lines: Sequence[str], number: int) -> Event:
    """Read one event."""
    author, *flags = lines[0].split()
    author, _, branch = author.partition("@")
    given = dict(flag.split("=", 1) for flag in flags)
    fields: dict[str, Any] = {}
    if branch:
        fields["branch"] = branch
    if "model" in given:
        fields["model_version"] = given["model"]
    if "live" in given and "live_session_id" in Event.model_fields:
        fields["live_session_id"] = given["live"]
    parts = [read_part(line) for line in lines[1:]]
    if "sums" in given:
        first, _, last = given["sums"].partition("..")
        summary = {
            "start_timestamp": _START + int(first),
            "end_timestamp": _START + int(last),
            "compacted_content": types.Content(role="model", parts=parts),
        }
        fields["actions"] = EventActions.model_validate({"compaction": summary})
        parts = []
    return event(
        author,
        *parts,
        number=number,
        invocation=f"inv-{given.get('inv', 1)}",
        long_running=tuple(given["long"].split(",")) if "long" in given else (),
        role=given.get("role"),
        **fields,
    )


def read_history(lines: Sequence[Sequence[str]]) -> list[Event]:
    """Read a session's events."""
    return [read_event(line, number) for number, line in enumerate(lines)]


def read_message(lines: Sequence[str]) -> types.Content:
    """Read the parts of a new message of the user."""
    return types.Content(role="user", parts=[read_part(line) for line in lines])
