# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""`minimize`: the smallest request that still shows the fault, by delta debugging.

First whole rounds go (a call turn with the turns that answer it), then single turns,
then parts, calls together with their responses. A smaller request counts only when it
shows the wanted rule and breaks no rule that the whole request did not break: so what
is left is a request that somebody could have sent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_history_guard.core.guard import validate_contents
from adk_history_guard.core.pairing import pair
from adk_history_guard.core.rules import RULES
from adk_history_guard.core.turns import read_contents
from adk_history_guard.diagnostics.sources import load
from adk_history_guard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.diagnostics.record import RejectedRequest
    from adk_history_guard.diagnostics.sources import DumpLike

    Shows = Callable[[list[types.Content]], bool]

Part = tuple[int, int]  # the index of a turn, and of a part in it


@dataclass(frozen=True)
class Reduction:
    """What became of a request that was shrunk.

    Attributes:
        request: The smaller request.
        code: The rule that it still shows; None where a provider judged.
        before: How many contents there were.
        after: How many are left.
        tried: How many smaller requests were looked at.
        complete: Whether it was tried to the end, not stopped by a limit.
    """

    request: RejectedRequest
    code: str | None
    before: int
    after: int
    tried: int
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready values."""
        return {
            "code": self.code,
            "before": self.before,
            "after": self.after,
            "tried": self.tried,
            "complete": self.complete,
        }


def minimize(
    dump: DumpLike,
    *,
    code: str | None = None,
    shows: Shows | None = None,
    profile: str | Profile | None = None,
    seconds: float = 60.0,
) -> Reduction:
    """Shrink a request to the smallest one that still shows its fault.

    Args:
        dump: What `explain` takes.
        code: The rule to keep; the likeliest cause where None.
        shows: Tells whether contents still show the fault, in place of the rule:
            for instance by asking the provider. It is asked once for each request.
        profile: The contract to judge by, in place of the dump's own.
        seconds: When to stop with what has been reached.

    Returns:
        The smaller request. Nothing is invented: each of its parts is one of the
        whole request's.

    Raises:
        DumpFormatError: The dump cannot be read.
        ConfigurationError: The request does not show the rule, or shows none.
    """
    request = load(dump, profile)
    contents = list(request.contents)
    if shows is None:
        code, test = _rule_test(request, contents, code)
    else:
        code, test = None, _other_test(contents, shows)
    work = _Work(contents, test, time.monotonic() + seconds)
    kept = work.run(
        [v.place.turn for v in request.violations if code in (None, v.code)]
    )
    small = replace(request, contents=kept, pending=request.pending)
    return Reduction(
        small, code, len(contents), len(kept), work.tried, complete=not work.late
    )


def _rule_test(
    request: RejectedRequest, contents: list[types.Content], code: str | None
) -> tuple[str, Shows]:
    broken = {violation.code for violation in request.violations}
    if request.omitted:
        msg = "The dump was too large to hold its contents; there is nothing to shrink."
        raise ConfigurationError(msg)
    if code is None:
        likely = [c.code for c in request.causes if c.rank != "suspected"]
        if not likely:
            msg = "The request breaks no rule that this release knows."
            raise ConfigurationError(msg)
        code = likely[0]
    if code not in RULES or code not in broken:
        shown = ", ".join(sorted(broken)) or "none"
        msg = f"The request does not show {code!r}; it shows: {shown}."
        raise ConfigurationError(msg)
    wanted, profile = code, request.profile

    def shows(candidate: list[types.Content]) -> bool:
        found = {v.code for v in validate_contents(candidate, profile)}
        return wanted in found and found <= broken

    del contents
    return wanted, shows


def _other_test(contents: list[types.Content], shows: Shows) -> Shows:
    if not shows(contents):
        msg = "The whole request does not show the fault; there is nothing to keep."
        raise ConfigurationError(msg)
    return shows


class _Work:
    """One reduction: what is kept, what was tried."""

    def __init__(
        self, contents: list[types.Content], shows: Shows, deadline: float
    ) -> None:
        self.contents = contents
        self.shows = shows
        self.deadline = deadline
        self.tried = 0
        self.late = False
        self._known: dict[frozenset[Part], bool] = {}
        self.kept: frozenset[Part] = frozenset(
            (n, k)
            for n, content in enumerate(contents)
            for k in range(max(1, len(content.parts or ())))
        )

    def run(self, hints: Sequence[int] = ()) -> list[types.Content]:
        self._guess(hints)
        self._reduce(self._rounds())
        self._reduce(self._turns())
        self._reduce(self._pairs())
        self._reduce([{part} for part in sorted(self.kept)])
        # What went last may have held turns that were tried before it.
        self._reduce(self._rounds())
        self._reduce(self._turns())
        return self._write(self.kept)

    def _write(self, kept: frozenset[Part]) -> list[types.Content]:
        out = []
        for n, content in enumerate(self.contents):
            parts = content.parts or []
            if not parts:
                if (n, 0) in kept:
                    out.append(content)
                continue
            left = [part for k, part in enumerate(parts) if (n, k) in kept]
            if len(left) == len(parts):
                out.append(content)
            elif left:
                out.append(types.Content(role=content.role, parts=left))
        return out

    def _test(self, kept: frozenset[Part]) -> bool:
        known = self._known.get(kept)
        if known is None:
            if time.monotonic() > self.deadline:
                self.late = True
                return False
            self.tried += 1
            known = self._known[kept] = self.shows(self._write(kept))
        return known

    def _keep(self, kept: frozenset[Part]) -> bool:
        if kept and kept < self.kept and self._test(kept):
            self.kept = kept
            return True
        return False

    def _guess(self, hints: Sequence[int]) -> None:
        """Try small windows around known faults: most stand in two or three turns."""
        size = len(self.contents)
        for turn in hints[:_HINTS]:
            for before, after in _WINDOWS:
                window = {0, *range(max(0, turn - before), min(size, turn + after))}
                if self._keep(frozenset(p for p in self.kept if p[0] in window)):
                    return

    def _reduce(self, units: Sequence[set[Part]]) -> None:
        """Take away units, in chunks that grow smaller (ddmin)."""
        units = [unit for unit in units if unit & self.kept]
        chunk = max(1, len(units) // 2)
        while units:
            start, gone = 0, False
            while start < len(units):
                taken = set().union(*units[start : start + chunk])
                if self._keep(self.kept - taken):
                    del units[start : start + chunk]
                    gone = True
                else:
                    start += chunk
            if self.late or (chunk == 1 and not gone):
                return
            chunk = max(1, chunk // 2) if not gone or chunk > 1 else 1

    def _turns(self) -> list[set[Part]]:
        by_turn: dict[int, set[Part]] = {}
        for part in sorted(self.kept):
            by_turn.setdefault(part[0], set()).add(part)
        return list(by_turn.values())

    def _rounds(self) -> list[set[Part]]:
        """Group each call turn with the turns that hold its responses."""
        home = {n: n for n in range(len(self.contents))}
        for response, call in self._owners():
            home[response[0]] = home[call[0]]
        by_home: dict[int, set[Part]] = {}
        for part in sorted(self.kept):
            by_home.setdefault(home[part[0]], set()).add(part)
        return list(by_home.values())

    def _pairs(self) -> list[set[Part]]:
        """Group each call part with its responses; other parts stand alone."""
        home = {part: part for part in self.kept}
        for response, call in self._owners():
            if response in home and call in home:
                home[response] = call
        by_home: dict[Part, set[Part]] = {}
        for part in sorted(self.kept):
            by_home.setdefault(home[part], set()).add(part)
        return list(by_home.values())

    def _owners(self) -> list[tuple[Part, Part]]:
        owner = pair(read_contents(self.contents)).owner
        return [((r.turn, r.part), (c.turn, c.part)) for r, c in owner.items()]


_WINDOWS = ((1, 2), (2, 3), (4, 5), (12, 13))
"""How many turns before and after a fault are tried, the fewest first."""

_HINTS = 20  # how many of the faults are tried
