# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the library, each with the data that explains it.

Every exception is a `HistoryGuardError`. The children say whose fault it is:
`InvalidHistoryError` the conversation's, `DumpFormatError` a file's,
`ConfigurationError` yours. All three are also a `ValueError`, so an existing
`except ValueError` goes on working, and all of them survive pickling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adk_history_guard.core.turns import Violation

__all__ = [
    "ConfigurationError",
    "DumpFormatError",
    "HistoryGuardError",
    "InvalidHistoryError",
]


class HistoryGuardError(Exception):
    """The base of every exception that this library raises on purpose."""


class InvalidHistoryError(HistoryGuardError, ValueError):
    """The contents still break the provider's contract after the repair.

    Raised in `mode="strict"` only, before anything is sent. The message names
    each violation, its place and the way out, never the user's text.

    Attributes:
        violations: Every violation that was left, in the order of the contents.
    """

    violations: tuple[Violation, ...]

    def __init__(
        self, violations: Iterable[Violation], *, message: str | None = None
    ) -> None:
        """Keep the violations and word the message from them.

        Args:
            violations: The violations that were left, at least one.
            message: What to say in place of the message made of the violations.
        """
        self.violations = tuple(violations)
        super().__init__(
            _say_violations(self.violations) if message is None else message
        )

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle by the violations; the message is kept as it was worded."""
        return _restore_invalid_history, (type(self), self.violations, str(self))


class DumpFormatError(HistoryGuardError, ValueError):
    """A dump cannot be read: it is no dump, of an unknown version, or damaged.

    Attributes:
        path: The file, or None when the dump did not come from a file.
        place: Where in the dump, as a path of keys such as `contents[4].role`,
            or None when the file as a whole is meant.
        reason: What is wrong there.
    """

    path: str | None
    place: str | None
    reason: str

    def __init__(
        self, reason: str, *, path: object = None, place: str | None = None
    ) -> None:
        """Keep file and place, and word the message from them.

        Args:
            reason: What is wrong and the way out, as a sentence.
            path: The file as a string or path, None when there is none.
            place: Where in the dump, None when it is the whole.
        """
        self.reason = reason
        self.path = None if path is None else str(path)
        self.place = place
        where = ": ".join(part for part in (self.path, place) if part)
        super().__init__(f"{where}: {reason}" if where else reason)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle by reason, file and place."""
        return _restore_dump_format, (type(self), self.reason, self.path, self.place)


class ConfigurationError(HistoryGuardError, ValueError):
    """A knob has a wrong name or a wrong value; the message lists what is allowed."""


def _say_violations(violations: tuple[Violation, ...]) -> str:
    """Return the message of `InvalidHistoryError`: one line of sum, then each."""
    count = len(violations)
    noun = "violation" if count == 1 else "violations"
    head = f"The contents break the provider's contract: {count} {noun} left."
    return "\n".join([head, *map(str, violations)])


def _restore_invalid_history(
    kind: type[InvalidHistoryError], violations: tuple[Violation, ...], message: str
) -> InvalidHistoryError:
    """Rebuild a pickled `InvalidHistoryError`."""
    return kind(violations, message=message)


def _restore_dump_format(
    kind: type[DumpFormatError], reason: str, path: str | None, place: str | None
) -> DumpFormatError:
    """Rebuild a pickled `DumpFormatError`."""
    return kind(reason, path=path, place=place)
