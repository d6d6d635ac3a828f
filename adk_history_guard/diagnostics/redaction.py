# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What never goes into a dump, and what a user's redactor may take out besides.

A redactor is any callable. With one argument it gets each text of the user (and
returns what to write in its place); with two it gets `(text, kind)` for ids as well,
where `kind` is `"text"`, `"argument"`, `"error"` or `"id"`::

    HistoryGuardPlugin(dump="dumps", dump_content="full", redact=Pseudonyms())
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CREDENTIAL = "<credential>"
"""What stands in a dump in place of a credential."""

_SECRET_KEY = re.compile(
    r"(?i)api[_-]?key|passw(or)?d|secret|authorization|cookie|private[_-]?key"
    r"|(access|refresh|id|auth|bearer|session)[_-]?token|auth[_-]?(code|response_uri)"
    r"|^(token|code_verifier|credentials?)$"
)
_SECRET_TEXT = re.compile(
    r"AIza[0-9A-Za-z_-]{20,}"
    r"|\bya29\.[0-9A-Za-z_-]{10,}"
    r"|\bsk-[0-9A-Za-z_-]{16,}"
    r"|\b(gh[pousr]|xox[abprs])[_-][0-9A-Za-z-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|(?i:\bBearer\s+)[0-9A-Za-z._~+/=-]{8,}"
    r"|(?i:\b(?:api[_-]?key|access[_-]?token|key)=)[^\s&\"']{8,}",
    re.DOTALL,
)


def is_secret_key(key: str) -> bool:
    """Tell whether a value under this key is taken for a credential."""
    return _SECRET_KEY.search(key) is not None


def without_credentials(text: str) -> str:
    """Return a text in which everything that looks like a credential is replaced."""
    return _SECRET_TEXT.sub(CREDENTIAL, text)


class Pseudonyms:
    """A redactor that numbers ids: `id-1`, `id-2`, the same id the same number.

    One instance keeps its numbers, so that the dumps of one process fit together.
    Other texts stay as they are.
    """

    def __init__(self) -> None:
        """Start with no id known."""
        self._known: dict[str, str] = {}

    def __call__(self, text: str, kind: str) -> str:
        """Return the pseudonym of an id, and any other text as it is."""
        if kind != "id":
            return text
        return self._known.setdefault(text, f"id-{len(self._known) + 1}")


def make_redactor(redact: Callable[..., object] | None) -> Callable[[str, str], str]:
    """Return `(text, kind) -> text` for a redactor of one or of two arguments.

    Args:
        redact: The user's callable, or None.

    Returns:
        A callable that never hands an id to a redactor of one argument. What the
        redactor raises goes through: better no dump than one with a secret.
    """
    if redact is None:
        return lambda text, _: text
    if _takes_kind(redact):
        return lambda text, kind: str(redact(text, kind))
    return lambda text, kind: text if kind == "id" else str(redact(text))


def _takes_kind(redact: Callable[..., object]) -> bool:
    try:
        inspect.signature(redact).bind("", "")
    except (TypeError, ValueError):
        return False
    return True
