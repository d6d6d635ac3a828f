# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`RejectedRequest`: a request that a provider refused, with all that judges it."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.guard import Outcome, guard
from adk_history_guard.core.guard import validate_contents as validate
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.turns import (
    DATA_MARKERS,
    Place,
    Violation,
    read_contents,
)
from adk_history_guard.diagnostics.causes import Cause, rank_causes
from adk_history_guard.diagnostics.failures import REJECTED
from adk_history_guard.diagnostics.redaction import without_credentials
from adk_history_guard.diagnostics.shape import Shaper
from adk_history_guard.options import GuardOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from google.genai import types

    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.turns import Call, Change, Response
    from adk_history_guard.diagnostics.failures import ProviderError

SCHEMA = "adk-history-guard/rejected-request"
SCHEMA_VERSION = 1


def versions() -> dict[str, str]:
    """Return the versions that a dump names; a missing package is left out."""
    found = {"python": platform.python_version()}
    for name in ("adk-history-guard", "google-adk", "google-genai"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True)
class RejectedRequest:
    """A request that a provider refused, or answered with nothing.

    It is what `dump` and `on_rejected` are called with, and what a dump reads as.
    The contents are those of the request, not copies: do not change them.

    Attributes:
        contents: What the model was handed last, after all plugins.
        profile: The contract that the request was held against.
        error: What the provider said; None for contents that were only handed in.
        kind: `rejected`, `silent` (an answer with nothing in it), or `given`.
        profile_reason: Why this profile was chosen.
        mode: The guard's mode.
        door: Which side of the guard saw it: `plugin` or `model`.
        model: The model's name.
        agent: The agent's name.
        session_id: The session.
        invocation_id: The run.
        stream: Whether the answer was to be streamed, where that is known.
        changes: What the guard had changed before the request was sent.
        pending: Ids of calls that were unanswered on purpose.
        config: The `GenerateContentConfig` of the request, or its JSON in a dump.
        shaped: Whether the contents are a shape: stand-ins in place of values.
        omitted: How many contents a dump left out because of its size.
        versions: The versions of ADK, google-genai, the guard and Python.
        stored: The violations as a dump without contents keeps them.
        markers: What an id with data inside holds.
    """

    contents: Sequence[types.Content]
    profile: Profile
    error: ProviderError | None = None
    kind: str = REJECTED
    profile_reason: str = ""
    mode: str = "repair"
    door: str = ""
    model: str = ""
    agent: str = ""
    session_id: str = ""
    invocation_id: str = ""
    stream: bool | None = None
    changes: Sequence[Change] = ()
    pending: Collection[str] = ()
    config: Any = field(default=None, repr=False)
    shaped: bool = False
    omitted: int = 0
    versions: Mapping[str, str] = field(default_factory=versions)
    stored: Sequence[Violation] = ()
    markers: tuple[str, ...] = field(default=DATA_MARKERS, repr=False)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """What the request breaks, by place."""
        if self.omitted:
            return tuple(self.stored)
        found = validate(
            self.contents, self.profile, self.pending, markers=self.markers
        )
        return tuple(found)

    @cached_property
    def repaired(self) -> Outcome:
        """What the guard makes of the request in `mode="repair"`."""
        return guard(
            list(self.contents),
            profile=self.profile,
            options=GuardOptions(),
            pending=self.pending,
        )

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """The rules that may be behind it, the likeliest first."""
        return tuple(rank_causes(self.error, self.violations))

    @cached_property
    def pairs(self) -> tuple[list[tuple[Call, list[Response]]], list[Response]]:
        """Each call with its responses as the guard pairs them, and the orphans."""
        found = pair(read_contents(self.contents))
        return list(found.answers.items()), found.orphans

    def to_dict(
        self,
        content: str = "shape",
        redact: Callable[..., object] | None = None,
        *,
        repaired: bool = True,
    ) -> dict[str, Any]:
        """Return the dump as JSON-ready values.

        Args:
            content: `"shape"` for structure only, `"full"` for all but credentials
                and the bytes of media.
            redact: What every text passes; see `diagnostics.redaction`.
            repaired: Whether the repaired contents are part of it.
        """
        # What was read from a shape holds stand-ins already.
        how = "full" if self.shaped else content
        shaper = Shaper(how, redact, markers=self.markers)
        contents = shaper.contents(self.contents)
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "kind": self.kind,
            "content": "shape" if self.shaped else content,
            "versions": dict(self.versions),
            "model": self.model,
            "agent": self.agent,
            "session_id": self.session_id,
            "invocation_id": self.invocation_id,
            "stream": self.stream,
            "door": self.door,
            "mode": self.mode,
            "profile": {"name": self.profile.name, "reason": self.profile_reason},
            "error": self._error(shaper),
            "causes": [cause.to_dict() for cause in self.causes],
            "violations": [_told(shaper, v) for v in self.violations],
            "changes": [_told(shaper, change) for change in self.changes],
            "pairs": self._pairs(shaper),
            "pending": sorted(map(shaper.id, self.pending)),
            "omitted": 0,
            "contents": contents,
            "repaired": self._repaired(shaper, contents=repaired),
            "config": self._config(shaper),
        }

    def _error(self, shaper: Shaper) -> dict[str, Any] | None:
        error = self.error
        if error is None:
            return None
        return {
            "type": error.type,
            "code": error.code,
            "status": error.status,
            "text": shaper.error(error.text),
            "raw": None if error.raw is None else shaper.error(error.raw),
            "finish_reason": error.finish_reason,
        }

    def _pairs(self, shaper: Shaper) -> dict[str, Any]:
        pairs, orphans = self.pairs
        return {
            "calls": [
                {
                    "place": str(Place(call.turn, call.part)),
                    "name": call.name,
                    "id": None if call.id is None else shaper.id(call.id),
                    "responses": [str(Place(r.turn, r.part)) for r in responses],
                }
                for call, responses in pairs
            ],
            "orphans": [str(Place(r.turn, r.part)) for r in orphans],
        }

    def _repaired(self, shaper: Shaper, *, contents: bool) -> dict[str, Any]:
        outcome = self.repaired
        written = contents and bool(outcome.changes)
        return {
            "changes": [_told(shaper, change) for change in outcome.changes],
            "violations": [_told(shaper, left) for left in outcome.violations],
            "contents": shaper.contents(outcome.contents) if written else None,
        }

    def _config(self, shaper: Shaper) -> dict[str, Any] | None:
        """Return what a replay needs of the config; headers are never looked at."""
        config = self.config
        if config is None or isinstance(config, dict):
            return config
        out: dict[str, Any] = {}
        tools = _declarations(config)
        if shaper.full:
            for name in ("tool_config", "thinking_config"):
                value = getattr(config, name, None)
                if hasattr(value, "model_dump"):
                    out[name] = _json(value)
            instruction = getattr(config, "system_instruction", None)
            if isinstance(instruction, str):
                out["system_instruction"] = without_credentials(instruction)
            if tools:
                out["tools"] = tools
        elif tools:
            out["tools"] = [{"name": tool.get("name")} for tool in tools]
        return out or None


def _told(shaper: Shaper, what: Violation | Change) -> dict[str, str]:
    """Return a violation or a change with the ids as they stand in the dump."""
    out = what.to_dict()
    out["message"] = shaper.ids(out["message"])
    return out


def _declarations(config: Any) -> list[dict[str, Any]]:
    return [
        _json(declaration)
        for tool in getattr(config, "tools", None) or ()
        for declaration in getattr(tool, "function_declarations", None) or ()
    ]


def _json(value: Any) -> dict[str, Any]:
    out: dict[str, Any] = value.model_dump(
        mode="json", exclude_none=True, by_alias=True
    )
    return out
