# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""How the guard speaks of what it did: log lines, telemetry, dumps; no user text.

A request that goes through costs nothing here. Only when the provider refuses one
are its contents looked at, as they were handed to the model last.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
import traceback
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.runs import IdentityMap
from adk_history_guard.core.repair import data_markers
from adk_history_guard.diagnostics import telemetry
from adk_history_guard.diagnostics.failures import (
    REJECTED,
    SILENT,
    ProviderError,
    has_function_parts,
    read_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from adk_history_guard.adk.targets import Target
    from adk_history_guard.core.turns import Change, Violation
    from adk_history_guard.diagnostics.record import RejectedRequest
    from adk_history_guard.options import GuardOptions

logger = logging.getLogger("adk_history_guard")

TIMED = {
    "before_run_callback": "history",
    "before_model_callback": "request",
    "_on_whole_event": "event",
}
"""Callbacks whose own time is recorded, and what telemetry calls them."""

_CAUSES = 5
"""How many errors of a chain are told."""

_TOLD: IdentityMap[set[object]] = IdentityMap()
"""Who has heard of an error or a silent response: plugin and model both see it."""


@dataclass(slots=True)
class Sight:
    """What one door of the guard saw of a request; references only.

    Attributes:
      options: The knobs.
      target: The contract and why it was chosen.
      request: The `LlmRequest` as the model was handed it last.
      door: `plugin` or `model`.
      agent: The agent's name, where known.
      session_id: The session, where known.
      invocation_id: The run, where known.
      changes: What the guard had changed before.
      pending: Ids of calls that wait on purpose.
      stream: Whether the answer is streamed, where known.
    """

    options: GuardOptions
    target: Target
    request: Any
    door: str
    agent: str = ""
    session_id: str = ""
    invocation_id: str = ""
    changes: Sequence[Change] = ()
    pending: Collection[str] = ()
    stream: bool | None = None


def is_streamed(context: Any) -> bool | None:
    """Tell whether a run asks its models to stream; None where it does not say."""
    config = getattr(context, "run_config", None)
    mode = getattr(config, "streaming_mode", None)
    return None if mode is None else mode.value == "sse"


class Reporter:
    """Logs, counts and dumps for one plugin or one model."""

    def __init__(self) -> None:
        """Start with empty counts."""
        self.faults = 0
        self._chosen: set[tuple[str, str]] = set()
        self._misplaced: set[str] = set()

    def chose(self, name: str | None, target: Target) -> None:
        """Log the contract chosen for a model and why, once for each."""
        choice = (name or "", target.profile.name)
        if choice not in self._chosen:
            self._chosen.add(choice)
            logger.info(
                "model %r is held to the profile %r: %s", *choice, target.reason
            )

    def retried(self, where: str, step: str, code: str) -> None:
        """Log at WARNING that a refused request is sent once more."""
        logger.warning(
            "%s was refused (%s); sent once more under the policy %r", where, code, step
        )

    def changed(self, where: str, changes: Sequence[Change], *, done: bool) -> None:
        """Log what a repair did, in one line at INFO, and count it."""
        if not changes:
            return
        telemetry.changed(changes, applied=done)
        if logger.isEnabledFor(logging.INFO):
            counts = Counter(f"{c.code} {c.action}" for c in changes)
            told = ", ".join(f"{what} x{n}" for what, n in sorted(counts.items()))
            verb = "repaired" if done else "would repair"
            logger.info("%s %s: %s", verb, where, told)
            if logger.isEnabledFor(logging.DEBUG):
                for change in changes:
                    logger.debug("%s", change)

    def misplaced(self, told: Sequence[str]) -> None:
        """Warn of plugins whose place undoes some of the guard's work, once for each.

        ADK makes a Runner, with these plugins, for each call of an AgentTool.
        """
        for words in told:
            if words not in self._misplaced:
                self._misplaced.add(words)
                logger.warning("%s", words)

    def left(self, where: str, violations: Sequence[Violation]) -> None:
        """Log each violation that is left, at WARNING, and count it."""
        if not violations:
            return
        telemetry.left(violations)
        for violation in violations:
            logger.warning("%s: %s", where, violation)

    def fault(self, where: str) -> None:
        """Log the exception at hand, a fault of the guard's own, and count it.

        Its frames and its type are told. Its message is not: it may quote a value
        of the user's. In strict mode it is raised, message and all.
        """
        self.faults += 1
        logger.error(
            "adk-history-guard failed in %s; the run goes on without it. Please "
            "report this with the traceback.\n%s",
            where,
            _traceback(sys.exception()),
        )
        _count_fault(where)

    def minted(self, number: int) -> None:
        """Count ids that calls got."""
        if number:
            telemetry.minted(number)

    async def refused(self, sight: Sight, error: BaseException) -> None:
        """Report an error of the model where it is a rejection; never raises."""
        try:
            found = read_error(error)
            if found is not None:
                await self._report(sight, found, REJECTED, error)
        except Exception:  # noqa: BLE001 - the original error must go on
            self.fault("the report of a rejected request")

    async def silent(
        self, sight: Sight, failure: ProviderError, response: object
    ) -> None:
        """Report an answer with nothing in it, where calls were in play; never raises.

        Args:
          sight: What was sent.
          failure: What `Watch` found.
          response: The response, so that one is reported once; None without any.
        """
        try:
            request = sight.request  # None where another plugin answered
            if request is not None and has_function_parts(request.contents):
                what = sight.request if response is None else response
                await self._report(sight, failure, SILENT, what)
        except Exception:  # noqa: BLE001 - the response must go on
            self.fault("the report of a silent answer")

    async def _report(
        self, sight: Sight, error: ProviderError, kind: str, what: object
    ) -> None:
        target, request, options = sight.target, sight.request, sight.options
        if target.hands_off or request is None:
            return
        # Imported when it is first needed: a rejection is rare, an import is not.
        from adk_history_guard.diagnostics.record import RejectedRequest

        rejected = RejectedRequest(
            contents=tuple(request.contents),
            profile=target.profile,
            error=error,
            kind=kind,
            profile_reason=target.reason,
            mode=options.mode,
            door=sight.door,
            model=request.model or "",
            agent=sight.agent,
            session_id=sight.session_id,
            invocation_id=sight.invocation_id,
            stream=sight.stream,
            changes=tuple(sight.changes),
            pending=sight.pending,
            config=request.config,
            markers=data_markers(options),
        )
        if _is_news(what, "log"):
            telemetry.rejected(rejected)
            _log(rejected)
        if options.dump is not None and _is_news(what, options.dump):
            await self._hand(_dump, rejected, options)
        if options.on_rejected is not None and _is_news(what, options.on_rejected):
            await self._hand(_call, rejected, options)

    async def _hand(
        self,
        do: Callable[[RejectedRequest, GuardOptions], object],
        rejected: RejectedRequest,
        options: GuardOptions,
    ) -> None:
        """Hand a rejected request to the user's folder or callable, alone each."""
        try:
            result = do(rejected, options)
            if inspect.isawaitable(result):
                await result
        except Exception as error:  # noqa: BLE001 - the run's own error must go on
            what = "the dump of a rejected request"
            if do is _call:
                what = "on_rejected"
            # Never the chain: what it hangs on is the provider's error, which quotes.
            if do is _call or callable(options.dump):  # the user's own words
                told = "".join(traceback.format_exception(error, chain=False))
            elif isinstance(error, OSError):  # it names the folder
                told = str(error)
            else:
                told = _traceback(error)
            logger.error("%s failed: %s", what, told)  # noqa: TRY400 - see above
            _count_fault("dump")


def _traceback(error: BaseException | None) -> str:
    """Return a traceback without messages, the first cause first, as Python does."""
    chain: list[str] = []
    while error is not None and len(chain) < _CAUSES:
        kind = type(error)
        frames = "".join(traceback.format_tb(error.__traceback__))
        head = "Traceback (most recent call last):"
        chain.append(f"{head}\n{frames}{kind.__module__}.{kind.__qualname__}")
        cause = error.__cause__
        if cause is None and not error.__suppress_context__:
            cause = error.__context__
        error = cause
    return "\n\n".join(reversed(chain))


def _count_fault(where: str) -> None:
    """Count a fault; it may be telemetry itself that fails."""
    try:
        telemetry.fault(where)
    except Exception as error:  # noqa: BLE001 - an exporter may raise anything
        logger.warning("a fault was not counted: %s", type(error).__name__)


def _dump(rejected: RejectedRequest, options: GuardOptions) -> object:
    if callable(options.dump):
        return options.dump(rejected)
    if options.dump is not None:
        from adk_history_guard.diagnostics.files import write_dump

        path = write_dump(
            options.dump,
            rejected,
            content=options.dump_content,
            redact=options.redact,
        )
        logger.warning("the rejected request is in %s", path)
    return None


def _call(rejected: RejectedRequest, options: GuardOptions) -> object:
    return None if options.on_rejected is None else options.on_rejected(rejected)


def _is_news(what: object, listener: object) -> bool:
    """Tell whether a listener has not heard of an error or response, and note it."""
    try:
        told = _TOLD.get(what) or _TOLD.put(what, set())
    except TypeError:  # built-in exceptions, and None, take no weak reference
        return True
    key = str(listener) if isinstance(listener, os.PathLike) else listener
    if not isinstance(key, Hashable):
        key = id(key)
    if key in told:
        return False
    told.add(key)
    return True


def _log(rejected: RejectedRequest) -> None:
    error = rejected.error
    status = (error.finish_reason or error.code) if error is not None else None
    likely = [c for c in rejected.causes if c.rank != "suspected"][:3]
    told = "; ".join(
        f"{c.code} {c.name} at {', '.join(map(str, c.places[:3]))}" for c in likely
    )
    logger.warning(
        "the provider %s a request to %r (%s); %s",
        "refused" if rejected.kind == REJECTED else "answered with nothing to",
        rejected.model,
        status,
        f"likely: {told}" if told else "no breach of its contract was found",
    )
