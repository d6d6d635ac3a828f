# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The guard as a plugin of a Runner.

Models repeat call ids, tools answer late, runs break off: the history of a
session then pairs calls with the wrong responses, or breaks a rule of the
provider. The plugin gives every call an id of its own, repairs the history
before ADK builds contents from it, and the contents before they are sent.

Usage::

    from google.adk.apps import App
    from adk_history_guard import HistoryGuardPlugin

    app = App(name="shop", root_agent=agent, plugins=[HistoryGuardPlugin()])
"""

from __future__ import annotations

import functools
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from google.adk.plugins import BasePlugin

from adk_history_guard.adk.history import Scene, bring_late_round, repair_events
from adk_history_guard.adk.ids import Known, Stream, new_id
from adk_history_guard.adk.memory import Memory
from adk_history_guard.adk.order import misplaced
from adk_history_guard.adk.reporting import TIMED, Reporter, Sight, is_streamed
from adk_history_guard.adk.runs import IdentityMap, ModelCall, Run
from adk_history_guard.adk.scenery import Waiting, agent_names, model_of
from adk_history_guard.adk.stripped import KnownIds, find_ids
from adk_history_guard.adk.survey import is_of_node
from adk_history_guard.adk.targets import Target, origin_of, target_of
from adk_history_guard.core.copies import changed
from adk_history_guard.core.guard import guard
from adk_history_guard.core.repair import data_markers
from adk_history_guard.core.turns import (
    CLIENT_ID_PREFIX,
    is_request_for_client,
)
from adk_history_guard.diagnostics import telemetry
from adk_history_guard.errors import InvalidHistoryError
from adk_history_guard.options import GuardOptions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from google.adk.agents.base_agent import BaseAgent
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    from adk_history_guard.core.origins import Origins

F = TypeVar("F", bound="Callable[..., Awaitable[None]]")


def _harmless(callback: F) -> F:
    """Keep a fault of the guard from ending the run, but in strict mode."""
    where = TIMED.get(callback.__name__)

    @functools.wraps(callback)
    async def run(self: HistoryGuardPlugin, **kwargs: Any) -> None:
        try:
            if where is None:
                await callback(self, **kwargs)
                return
            began = perf_counter()
            try:
                await callback(self, **kwargs)
            finally:
                telemetry.took(where, perf_counter() - began)
        except InvalidHistoryError:
            raise
        except Exception:
            if self.options.mode == "strict":
                raise
            self.reporter.fault(callback.__name__)

    return run  # type: ignore[return-value]


class HistoryGuardPlugin(BasePlugin):
    """Keeps the tool-call history of every run fit to be sent.

    What happens where:

    * `before_run_callback` repairs the loaded events, in memory;
    * `before_model_callback` repairs and checks the contents of the request;
    * `after_model_callback` gives calls their ids, the same on partial events;
    * `on_event_callback` renames ids that repeat in events which no model call
      of this run made, and brings a late answer's call to its side;
    * `on_model_error_callback` dumps a rejected request, where asked to.

    No callback returns anything, so later plugins see everything. The session
    store is never written. Live runs and the Interactions API are left alone:
    there ids belong to the server. Register it before plugins that answer for
    the model, and after `ToolCallIntegrityPlugin`, `ContextFilterPlugin` and
    `MultimodalToolResultsPlugin`; a wrong order is warned of, once.

    In `mode="strict"` a request that cannot be repaired raises
    `InvalidHistoryError`; ADK hands it on inside a `RuntimeError`.
    """

    def __init__(
        self,
        options: GuardOptions | None = None,
        *,
        name: str = "history_guard",
        **knobs: Any,
    ) -> None:
        """Make a plugin.

        Args:
          options: The knobs; read from `ADK_HISTORY_GUARD_*` where None.
          name: The plugin's name in the Runner.
          **knobs: Single knobs of `GuardOptions`, which win over `options`.

        Raises:
          ConfigurationError: A knob or its value is not known.
        """
        super().__init__(name=name)
        self.options = GuardOptions.build(options, **knobs)
        self.reporter = Reporter()
        self._runs: IdentityMap[Run] = IdentityMap()
        self._markers = data_markers(self.options)

    @property
    def _active(self) -> bool:
        return self.options.mode != "observe"

    def _run_of(self, session: Any) -> Run:
        return self._runs.get(session) or self._runs.put(session, Run())

    @_harmless
    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> None:
        """Repair the events of the loaded session, in memory."""
        session = invocation_context.session
        self._check_order(invocation_context)
        before = self._runs.pop(session)
        if before is not None:
            before.put_back(session)
        root = invocation_context.agent
        # Compaction keeps open calls out of its summaries, so it must see them.
        compacts = getattr(invocation_context, "events_compaction_config", None)
        run = self._runs.put(
            session,
            Run(
                live=invocation_context.live_request_queue is not None,
                scene=Scene(
                    invocation_id=invocation_context.invocation_id,
                    resumable=bool(getattr(invocation_context, "is_resumable", False)),
                    agents=agent_names(root),
                    orphans=self.options.orphans,
                    unanswered="keep" if compacts else self.options.unanswered,
                ),
            ),
        )
        if root is not None:
            run.agents[""] = getattr(root, "root_agent", root)
        if run.live:
            return
        done = repair_events(session.events, scene=run.scene)
        run.ids, run.closed = set(done.ids), set(done.closed)
        self.reporter.changed("the session's events", done.changes, done=self._active)
        if done.changes and self._active:
            run.show(session, done.events)
        if done.ordered:
            run.memory = Memory(session.events)

    @_harmless
    async def before_agent_callback(
        self, *, agent: BaseAgent, callback_context: CallbackContext
    ) -> None:
        """Remember the agent: its model says where requests go."""
        self._run_of(callback_context.session).agents[agent.name] = agent

    @_harmless
    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Repair and check the contents of a request."""
        session = callback_context.session
        run = self._run_of(session)
        run.ledger.read(session.events)
        target = self._target(run, callback_context.agent_name, llm_request)
        self.reporter.chose(llm_request.model, target)
        call = self._start(run, callback_context, target, llm_request)
        if target.hands_off or getattr(llm_request, "previous_interaction_id", None):
            return
        contents = llm_request.contents
        ordered = run.is_ordered(session.events)
        known = {} if ordered else find_ids(contents, session.events)
        outcome = guard(
            contents,
            profile=target.profile,
            options=self.options,
            pending=Waiting(session),
            origins=self._origins(run, target, contents, known),
        )
        call.outcome = outcome
        if not outcome.changes and not outcome.violations:
            return
        where = f"a request of agent {callback_context.agent_name!r}"
        self.reporter.changed(where, outcome.changes, done=self._active)
        self.reporter.left(where, outcome.violations)
        errors = outcome.errors
        if errors and self.options.mode == "strict":
            raise InvalidHistoryError(errors)
        if outcome.changes:
            llm_request.contents = outcome.contents

    @_harmless
    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> None:
        """Give the calls of a response their ids."""
        run = self._run_of(callback_context.session)
        call = run.call_of(callback_context, done=not llm_response.partial)
        if call is None:
            target = self._target(run, callback_context.agent_name, None)
            call = self._start(run, callback_context, target, None)
        if self._active and not getattr(llm_response, "interaction_id", None):
            before = call.stream.minted
            call.stream.see(llm_response)
            if call.stream.minted != before:
                self.reporter.minted(call.stream.minted - before)
        failure = call.watch.see(llm_response)
        if failure is not None:
            name = callback_context.agent_name
            sight = self._sight(callback_context, call, name)
            await self.reporter.silent(sight, failure, llm_response)
        if call.answered:
            run.settle(callback_context.agent_name, call)

    @_harmless
    async def on_model_error_callback(
        self,
        *,
        callback_context: CallbackContext,
        llm_request: LlmRequest,
        error: Exception,
    ) -> None:
        """Dump a request that the provider refused; the error goes on as it is."""
        run = self._run_of(callback_context.session)
        call = run.call_of(callback_context, done=True)
        if call is None:
            target = self._target(run, callback_context.agent_name, llm_request)
            call = self._start(run, callback_context, target, llm_request)
        call.request = llm_request
        sight = self._sight(callback_context, call, callback_context.agent_name)
        await self.reporter.refused(sight, error)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Catch repeated ids, and bring the round of a late answer to its side."""
        if not event.partial:  # of these a stream has many, and nothing is to be done
            await self._on_whole_event(
                invocation_context=invocation_context, event=event
            )

    @_harmless
    async def _on_whole_event(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        if event.content is None or not event.content.parts:
            return
        session = invocation_context.session
        run = self._run_of(session)
        run.heard(event.author)
        if run.live or invocation_context.live_request_queue is not None:
            return
        self._catch_repeats(run, event)
        if self._active:
            done = bring_late_round(session.events, event, scene=run.scene)
            if done is not None:
                run.memory = None
                self.reporter.changed("the session's events", done.changes, done=True)
                run.show(session, done.events)

    @_harmless
    async def after_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> None:
        """Forget the run; a model call that nothing came of is reported."""
        run = self._runs.pop(invocation_context.session)
        if run is None:
            return
        run.put_back(invocation_context.session)
        for agent, call in run.newest.items():
            failure = None if call.answered else call.watch.end()
            if failure is not None:
                sight = self._sight(invocation_context, call, agent)
                await self.reporter.silent(sight, failure, None)

    def _check_order(self, context: InvocationContext) -> None:
        """Warn of plugins that should stand before this one."""
        manager = getattr(context, "plugin_manager", None)
        if manager is not None:
            self.reporter.misplaced(misplaced(manager.plugins, self))

    def _target(self, run: Run, agent: str, request: LlmRequest | None) -> Target:
        found = run.agents.get(agent)
        if found is None and (root := run.agents.get("")) is not None:
            find = getattr(root, "find_agent", None)
            found = find(agent) if find is not None else None
        model = model_of(found)
        name = getattr(request, "model", None)
        if isinstance(model, str):
            name, model = name or model, None
        return target_of(
            model,
            name,
            self.options,
            live=run.live,
            contents=getattr(request, "contents", None) or (),
            foreign_ids=run.ledger.origins(origin_of(model, name)).ids,
        )

    def _origins(
        self,
        run: Run,
        target: Target,
        contents: list[types.Content],
        known: KnownIds,
    ) -> Origins:
        """What is on record of who wrote what in a request."""
        origins = run.ledger.origins(target.origin)
        if target.profile.signed_ids:
            places = run.ledger.places(contents, origins)
            origins = replace(origins, places=places)
        if self.options.wire_ids == "provider":
            origins = replace(origins, wire_ids=run.ledger.provider_ids(contents))
        return replace(origins, known_ids=known) if known else origins

    def _start(
        self,
        run: Run,
        context: CallbackContext,
        target: Target,
        request: LlmRequest | None,
    ) -> ModelCall:
        stream = Stream(
            target.mint,
            Known(run.ids, run.closed, run.minted),
            self._markers,
            target.origin.model,
            route=target.origin.route,
        )
        return run.start(context, ModelCall(target, stream, request=request))

    def _sight(
        self,
        context: CallbackContext | InvocationContext,
        call: ModelCall,
        agent: str,
    ) -> Sight:
        session, outcome = context.session, call.outcome
        return Sight(
            self.options,
            call.target,
            call.request,
            "plugin",
            agent=agent,
            session_id=session.id,
            invocation_id=context.invocation_id,
            changes=outcome.changes if outcome is not None and self._active else (),
            pending=Waiting(session),
            stream=is_streamed(context),
        )

    def _catch_repeats(self, run: Run, event: Event) -> None:
        content = event.content
        spared = event.long_running_tool_ids or ()
        parts = list((content.parts if content is not None else None) or ())
        again: dict[int, types.FunctionCall] = {}
        for n, part in enumerate(parts):
            if part.function_response is not None and part.function_response.id:
                run.closed.add(part.function_response.id)
            call = part.function_call
            if call is None or not call.id or is_request_for_client(call.name):
                continue
            mine = call.id.startswith(CLIENT_ID_PREFIX)
            if call.id not in spared and (
                run.is_anothers(call.id, event)
                or call.id in (run.closed if mine else run.ids)
            ):
                again[n] = call
            run.ids.add(call.id)
        if not again or content is None or not self._active or is_of_node(event):
            return
        if self.options.mint == "never":
            return
        if event.interaction_id:  # the id is the server's
            return
        for n, call in again.items():
            # The parts may be those of a cache, and of an event that is stored.
            renamed = changed(call, {"id": new_id()})
            parts[n] = changed(parts[n], {"function_call": renamed})
            run.ids.add(renamed.id or "")
        event.content = changed(content, {"parts": parts})
        self.reporter.minted(len(again))
