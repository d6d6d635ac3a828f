# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`replay`: one raw POST of a request, and the provider's own words."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx

from adk_history_guard.diagnostics.wire import Wire, encode, wire_of
from adk_history_guard.errors import ConfigurationError, HistoryGuardError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.genai import types

    from adk_history_guard.diagnostics.record import RejectedRequest

SECONDS = 60.0
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_OK = range(200, 300)
_REFUSED = range(400, 500)
_BODY = 20_000  # characters of an answer that are kept
_VARIES = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|`[^`]*`")


class ReplayError(HistoryGuardError):
    """A request could not be sent, or no answer came."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answered.

    Attributes:
        status: The HTTP status.
        message: The provider's sentence where it refused; else empty.
        body: The body as text, cut after 20,000 characters.
        url: Where it was sent, without a key.
    """

    status: int
    message: str
    body: str
    url: str

    @property
    def accepted(self) -> bool:
        """Whether the provider took the request."""
        return self.status in _OK

    @property
    def refused(self) -> bool:
        """Whether the provider refused it for what it holds."""
        return self.status in _REFUSED

    def is_like(self, other: Answer) -> bool:
        """Tell whether another answer is the same error but for numbers and names."""
        return self.status == other.status and _form(self) == _form(other)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON-ready values."""
        return {
            "status": self.status,
            "accepted": self.accepted,
            "message": self.message,
            "body": self.body,
            "url": self.url,
        }


def _form(answer: Answer) -> str:
    return _VARIES.sub("#", answer.message)


def replay(
    request: RejectedRequest,
    *,
    contents: Sequence[types.Content] | None = None,
    url: str | None = None,
    model: str | None = None,
    environ: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> Answer:
    """Send a request once, as it stands, and return the answer.

    Args:
        request: The request.
        contents: Other contents to send in its place, such as the repaired ones.
        url: The address of a server, in place of the provider's own. A path in it
            stands before the provider's path.
        model: The model to ask, in place of the one in the dump.
        environ: Where the key is looked for; the process's own by default. A key goes
            out over https, or to this machine, only.
        seconds: How long to wait for an answer.

    Raises:
        ConfigurationError: The profile, the address or the key is not usable.
        ReplayError: There was no answer.
    """
    wire = wire_of(request.profile.name)
    target, is_own = _address(wire, url, model or request.model or wire.model)
    name = (model or request.model or wire.model).rpartition("/")[2]
    chosen = list(request.contents if contents is None else contents)
    body = encode(wire.write(request, chosen, name))
    headers = {"content-type": "application/json", **dict(wire.headers)}
    headers |= _key(
        wire, target, os.environ if environ is None else environ, is_own=is_own
    )
    local = urlsplit(target).hostname in _LOOPBACK
    try:
        with httpx.Client(timeout=seconds, trust_env=not local) as client:
            found = client.post(target, content=body, headers=headers)
    except httpx.HTTPError as error:
        msg = f"No answer from {_shown(target)}: {type(error).__name__}: {error}"
        raise ReplayError(msg) from error
    body_text = found.text[:_BODY]
    return Answer(found.status_code, _message(found), body_text, _shown(target))


def _address(wire: Wire, url: str | None, model: str) -> tuple[str, bool]:
    base = url or wire.base
    try:
        parts = urlsplit(base)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        told = repr(base) if "@" not in base and "?" not in base else "This"
        msg = f"{told} is no address; give one such as http://127.0.0.1:8080."
        raise ConfigurationError(msg)
    first = wire.path[: wire.path.index("/", 1)]
    # As clients are given it: https://host/v1
    path = parts.path.rstrip("/").removesuffix(first)
    name = quote(model.rpartition("/")[2], safe="-._~:@")
    path += wire.path.format(model=name)
    return parts._replace(path=path).geturl(), url is None


def _shown(target: str) -> str:
    """An address without what may be secret: the user, the password, the query."""
    parts = urlsplit(target)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="", fragment="").geturl()


def _key(
    wire: Wire, target: str, environ: Mapping[str, str], *, is_own: bool
) -> dict[str, str]:
    key = next((environ[name] for name in wire.keys if environ.get(name)), None)
    if key is None:
        if is_own:
            names = " or ".join(wire.keys)
            msg = f"No key: set {names}, or send to another server with --url."
            raise ConfigurationError(msg)
        return {}
    parts = urlsplit(target)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        return {}
    name, before = wire.header
    return {name: before + key}


def _message(response: httpx.Response) -> str:
    if response.status_code in _OK:
        return ""
    try:
        found = response.json()
    except ValueError:
        return response.text[:_BODY].strip()
    if isinstance(found, list) and found:
        found = found[0]
    for key in ("error", "message", "detail"):
        inner = found.get(key) if isinstance(found, dict) else None
        if isinstance(inner, dict):
            inner = inner.get("message")
        if isinstance(inner, str):
            return inner.strip()
    return response.text[:_BODY].strip()
