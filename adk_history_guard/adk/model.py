# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard around a model: the last gate before the provider.

ADK asks `isinstance(model, Gemini)`, `LiteLlm` or `AnthropicLlm` to choose how it
treats ids, so a guarded model is an instance of a *subclass* of its own class:
a mixin in front of it, made once for each class.

Usage::

    from adk_history_guard import guard_model

    agent = LlmAgent(name="shop", model=guard_model("gemini-3.5-flash"), tools=[...])
"""

from __future__ import annotations

import copy
import functools
from contextlib import aclosing
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from google.adk.models import BaseLlm, Gemini, LLMRegistry
from pydantic import PrivateAttr

from adk_history_guard.adk.ids import Known, Mint, Stream
from adk_history_guard.adk.provenance import strange_signatures
from adk_history_guard.adk.reporting import Reporter, Sight
from adk_history_guard.adk.retry import Attempt, stricter
from adk_history_guard.adk.targets import Target, target_of
from adk_history_guard.core.guard import guard
from adk_history_guard.core.repair import data_markers
from adk_history_guard.diagnostics import telemetry
from adk_history_guard.diagnostics.failures import Watch, read_error
from adk_history_guard.errors import ConfigurationError, InvalidHistoryError
from adk_history_guard.options import GuardOptions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse

    from adk_history_guard.diagnostics.failures import ProviderError

R = TypeVar("R")


class _Guarded(BaseLlm):
    """The mixin: repairs what goes in, gives ids to what comes out."""

    _guard_options: GuardOptions = PrivateAttr(default_factory=GuardOptions.from_env)
    _guard_reporter: Reporter = PrivateAttr(default_factory=Reporter)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - ADK's own signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """Send a repaired copy of a request; see the wrapped class.

        Raises:
          InvalidHistoryError: In `mode="strict"`, when a violation is left.
        """
        request, ids, sight = self._prepare(llm_request, stream=stream)
        may_retry = self._guard_options.retry == "once" and sight is not None
        attempt = Attempt(may_retry=may_retry)
        while attempt.goes_on():
            answers = super().generate_content_async(request, stream)
            watch, reporter = Watch(), self._guard_reporter
            try:
                async with aclosing(answers):
                    async for response in answers:
                        failure = self._safely(watch.see, response)
                        again = self._again(
                            llm_request, sight, failure if attempt.may_retry else None
                        )
                        if again is not None:
                            request = attempt.again(again)
                            break
                        if ids is not None:
                            self._safely(self._number, ids, response)
                        if failure is not None and sight is not None:
                            await reporter.silent(sight, failure, response)
                        attempt.yielded()
                        yield response
            except Exception as error:
                failure = self._safely(read_error, error) if attempt.may_retry else None
                again = self._again(llm_request, sight, failure)
                if again is None:
                    if sight is not None:
                        await reporter.refused(sight, error)
                    raise
                request = attempt.again(again)
        failure = self._safely(watch.end)
        if failure is not None and sight is not None:
            await reporter.silent(sight, failure, None)

    def guard_by(self, options: GuardOptions) -> None:
        """Let other knobs apply from now on."""
        self._guard_options = options
        self._guard_reporter = Reporter()

    def _again(
        self, asked: LlmRequest, sight: Sight | None, failure: ProviderError | None
    ) -> LlmRequest | None:
        """Return what to send after a rejection, under a stricter policy.

        The sight is then that of the second request: another rejection is its own.
        """
        options = self._guard_options
        if failure is None or sight is None:
            return None
        sent = sight.request
        try:
            found = stricter(
                asked.contents,
                sent.contents,
                failure,
                target=self._aim(asked),
                options=options,
            )
            if found is None:
                return None
            where = f"a request to {asked.model or self.model!r}"
            self._guard_reporter.retried(where, found.step, found.code)
            self._guard_reporter.changed(where, found.outcome.changes, done=True)
        except Exception:
            if options.mode == "strict":
                raise
            self._guard_reporter.fault("the retry of a guarded model")
            return None
        request: LlmRequest = sent.model_copy(
            update={"contents": found.outcome.contents}
        )
        sight.request, sight.target = request, found.target
        sight.changes = found.outcome.changes
        return request

    def _aim(self, request: LlmRequest) -> Target:
        """Where a request goes."""
        return target_of(
            self,
            request.model or self.model,
            self._guard_options,
            contents=request.contents,
        )

    def _prepare(
        self, request: LlmRequest, *, stream: bool
    ) -> tuple[LlmRequest, Stream | None, Sight | None]:
        """Return the request to send, a copy where repaired, and what to remember.

        That is the ids of the answer, and what a rejection is reported with; None
        where the guard keeps its hands off.
        """
        options = self._guard_options
        began = perf_counter()
        try:
            prepared = self._repaired(request, stream=stream)
            telemetry.took("model", perf_counter() - began)
        except InvalidHistoryError:
            raise
        except Exception:
            if options.mode == "strict":
                raise
            self._guard_reporter.fault("a guarded model")
            return request, None, None
        return prepared

    def _repaired(
        self, request: LlmRequest, *, stream: bool
    ) -> tuple[LlmRequest, Stream | None, Sight | None]:
        options, reporter = self._guard_options, self._guard_reporter
        target = self._aim(request)
        reporter.chose(request.model or self.model, target)
        if target.hands_off or getattr(request, "previous_interaction_id", None):
            return request, None, None
        active = options.mode != "observe"
        known = Known(_ids(request)) if active else Known()
        markers = data_markers(options)
        mint = target.mint
        if mint is Mint.ALWAYS and options.mint == "auto":
            # ADK takes minted ids off the next request, and without the session
            # nobody knows whose late answers are: ids that can be told apart stay.
            mint = Mint.SHORT
        ids = Stream(
            mint,
            known,
            markers,
            target.origin.model,
            route=target.origin.route,
        )
        outcome = guard(
            request.contents,
            profile=target.profile,
            options=options,
            origins=strange_signatures(request.contents, target.origin),
        )
        where = f"a request to {request.model or self.model!r}"
        reporter.changed(where, outcome.changes, done=active)
        reporter.left(where, outcome.violations)
        errors = outcome.errors
        if errors and options.mode == "strict":
            raise InvalidHistoryError(errors)
        if outcome.changes:
            request = request.model_copy(update={"contents": outcome.contents})
        sight = Sight(options, target, request, "model", stream=stream)
        sight.changes = outcome.changes if active else ()
        return request, ids if active else None, sight

    def _number(self, ids: Stream, response: LlmResponse) -> None:
        before = ids.minted
        ids.see(response)
        self._guard_reporter.minted(ids.minted - before)

    def _safely(self, do: Callable[..., R], *args: Any) -> R | None:
        """Do something; a fault is counted and hides nothing, but in strict mode."""
        try:
            return do(*args)
        except Exception:
            if self._guard_options.mode == "strict":
                raise
            self._guard_reporter.fault("a guarded model")
            return None


def _ids(request: LlmRequest) -> set[str]:
    return {
        part.function_call.id
        for content in request.contents
        for part in content.parts or ()
        if part.function_call is not None and part.function_call.id
    }


@functools.cache
def guarded_class(cls: type[BaseLlm]) -> type[BaseLlm]:
    """Return the guarded subclass of a model class; always the same one."""
    if issubclass(cls, _Guarded):
        return cls
    return type(
        f"Guarded{cls.__name__}",
        (_Guarded, cls),
        {
            "__module__": __name__,
            "__doc__": f"A {cls.__name__} behind the history guard.",
        },
    )


class GuardedGemini(_Guarded, Gemini):
    """ADK's Gemini behind the history guard; knobs come from the environment.

    For knobs in code use `guard_model(Gemini(...), mode="strict")`.
    """


def guard_model(
    model: str | BaseLlm, options: GuardOptions | None = None, **knobs: Any
) -> BaseLlm:
    """Put the guard around a model.

    Args:
      model: A model's name, as ADK's registry knows it, or a model.
      options: The knobs; read from `ADK_HISTORY_GUARD_*` where None.
      **knobs: Single knobs of `GuardOptions`, which win over `options`.

    Returns:
      An instance of a subclass of the model's class, with the same fields and
      private attributes. A model that was handed in stays as it is.

    Raises:
      ConfigurationError: A knob or its value is not known, or `model` is
        neither a name nor a `BaseLlm`.
    """
    chosen = GuardOptions.build(options, **knobs)
    if isinstance(model, str):
        model = LLMRegistry.new_llm(model)
    if not isinstance(model, BaseLlm):
        msg = (
            f"guard_model() takes a model's name or a BaseLlm, not "
            f"{type(model).__name__}. Pass Gemini(...), LiteLlm(...) or a name."
        )
        raise ConfigurationError(msg)
    guarded = copy.copy(model)
    if not isinstance(model, _Guarded):
        guarded.__class__ = guarded_class(type(model))
        private = dict(guarded.__pydantic_private__ or {})
        object.__setattr__(guarded, "__pydantic_private__", private)
    if isinstance(guarded, _Guarded):
        guarded.guard_by(chosen)
    return guarded
