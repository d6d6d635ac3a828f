# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What counts as a rejection: errors by their status, answers by what they lack.

Nothing of a provider's client is imported: google-genai's `ClientError` carries
`code`, the errors of openai, LiteLLM and anthropic carry `status_code`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.turns import has_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.genai import types

REJECTED, SILENT, GIVEN = "rejected", "silent", "given"
"""Kinds: refused with an error, answered with nothing, or only handed in to look at."""

NOT_ABOUT_THE_REQUEST = frozenset({408, 429})
"""Statuses that speak of time and quota; the same request may pass later."""

STATUS_ATTRIBUTES = ("code", "status_code", "http_status")
"""Where clients keep the HTTP status of an error, in the order they are tried."""

SILENT_REASONS = {
    "STOP": "an empty answer",
    "MALFORMED_FUNCTION_CALL": "a malformed call",
    "UNEXPECTED_TOOL_CALL": "a call that was not expected",
    "TOO_MANY_TOOL_CALLS": "too many calls in a row",
    "MISSING_THOUGHT_SIGNATURE": "a missing thought signature",
}
"""Finish reasons that stand for a rejection when an answer comes with nothing."""

_DEPTH = 5  # how many causes of an error are looked at
_RAW = 8_000  # characters of a provider's body that are kept


@dataclass(frozen=True, slots=True)
class ProviderError:
    """What a provider said when it refused a request, or answered with nothing.

    Attributes:
        type: The class of the exception; empty for a silent answer.
        code: The HTTP status; None for a silent answer.
        status: The provider's name for it, such as `INVALID_ARGUMENT`.
        text: The provider's sentence.
        raw: The body of the error as JSON text, cut after 8,000 characters.
        finish_reason: Why a silent answer ended.
    """

    type: str = ""
    code: int | None = None
    status: str | None = None
    text: str = ""
    raw: str | None = None
    finish_reason: str | None = None

    def __str__(self) -> str:
        """Return status and sentence, as one line."""
        if self.finish_reason is not None:
            what = SILENT_REASONS.get(self.finish_reason, "an answer without content")
            tail = f": {self.text}" if self.text else ""
            return f"{what} (finish reason {self.finish_reason}){tail}"
        head = " ".join(str(part) for part in (self.code, self.status) if part)
        return f"{head}: {self.text}" if head else self.text


def read_error(error: BaseException) -> ProviderError | None:
    """Read a rejection from an exception.

    Args:
        error: What the model raised; its causes are looked at, too.

    Returns:
        The rejection; None for an error that does not speak of the request: a
        status other than 4xx, 408, 429, or no status at all.
    """
    for found in _chain(error):
        code = _status(found)
        if code is None:
            continue
        if not 400 <= code < 500 or code in NOT_ABOUT_THE_REQUEST:  # noqa: PLR2004 - HTTP
            return None
        body = getattr(found, "details", None) or getattr(found, "body", None)
        status = getattr(found, "status", None)
        text = getattr(found, "message", None)
        return ProviderError(
            type=type(found).__name__,
            code=code,
            status=status if isinstance(status, str) else None,
            text=text if isinstance(text, str) and text else str(found),
            raw=_raw(body),
        )
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_DEPTH):
        if error is None:
            return
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    for name in STATUS_ATTRIBUTES:
        value = getattr(error, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _raw(body: object) -> str | None:
    if body is None:
        return None
    try:
        return json.dumps(body, ensure_ascii=False, default=str)[:_RAW]
    except (TypeError, ValueError, RecursionError):
        return str(body)[:_RAW]


class Watch:
    """Looks at the responses of one model call for an answer with nothing in it."""

    __slots__ = ("_spoke", "_told")

    def __init__(self) -> None:
        """Start before the first response."""
        self._spoke = False
        self._told = False

    def see(self, response: Any) -> ProviderError | None:
        """Look at a response; return the failure, once, when it is a silent one.

        Args:
            response: An `LlmResponse`, partial or final.
        """
        content = response.content
        if not self._spoke and content is not None and content.parts:
            self._spoke = _says(content.parts)
        # ADK 2.0 marks the last chunk of a stream as partial and sends no final one.
        reason = response.finish_reason or response.error_code
        if reason is None or self._told:
            return None
        reason = str(getattr(reason, "value", reason))
        if reason not in SILENT_REASONS or (reason == "STOP" and self._spoke):
            return None
        self._told = True
        text = response.error_message or ""
        return ProviderError(text=str(text), finish_reason=reason)

    def end(self) -> ProviderError | None:
        """Tell the end of the responses; a failure where there was none at all."""
        if self._spoke or self._told:
            return None
        self._told = True
        return ProviderError(finish_reason="STOP", text="there was no response")


def _says(parts: Iterable[types.Part]) -> bool:
    """Tell whether parts hold more than thoughts and empty text."""
    for part in parts:
        if part.text:
            if not part.thought:
                return True
        elif has_data(part):
            return True
    return False


def has_function_parts(contents: Iterable[types.Content]) -> bool:
    """Tell whether a request holds a call or a response."""
    return any(
        part.function_call is not None or part.function_response is not None
        for content in contents
        for part in content.parts or ()
    )
