# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who wrote what in a request: data that the adapters read from the session.

Contents carry no record of the model that wrote them, events do. A thought
signature occurs once, so its bytes tell whose turn it is; an id does the same
where ids are kept. What has no record is not in here, and is judged by the
signatures alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True, slots=True)
class Origins:
    """What is on record of the parts of a request, seen from its target.

    Attributes:
      signatures: Thought signatures that another model than the target made.
      ids: Ids of calls that another model than the target made.
      places: Turn and part of such calls, where ADK has left the ids off.
      wire_ids: The provider's own id of a call, by turn and part of the call.
      known_ids: The session's id of a call or response that carries none, by turn
        and part; to pair by, not to send.
      distrust: Whether every signature counts as another model's.
    """

    signatures: Collection[bytes] = frozenset()
    ids: Collection[str] = frozenset()
    places: Collection[tuple[int, int]] = frozenset()
    wire_ids: Mapping[tuple[int, int], str] = field(default_factory=dict)
    known_ids: Mapping[tuple[int, int], str] = field(default_factory=dict)
    distrust: bool = False

    def __bool__(self) -> bool:
        """Tell whether there is anything that a repair must know."""
        return bool(
            self.signatures
            or self.ids
            or self.wire_ids
            or self.known_ids
            or self.distrust
        )

    def is_foreign(self, signature: bytes | None) -> bool:
        """Tell whether a signature is known to be another model's."""
        return signature is not None and (self.distrust or signature in self.signatures)


NO_ORIGINS = Origins()
"""Nothing is on record."""
