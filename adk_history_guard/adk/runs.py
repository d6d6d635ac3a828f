# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What is remembered during a run, and forgotten with it.

A run is found by its session object, a model call by the `EventActions` object
that ADK hands to all callbacks of that call: parallel agents, parallel calls of
one agent and concurrent runs cannot mix. Both are held weakly, so a run that
dies without its last callback (an error, a cancelled generator) leaves nothing.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from adk_history_guard.adk.history import Scene
from adk_history_guard.adk.provenance import Ledger
from adk_history_guard.adk.survey import is_of_node
from adk_history_guard.diagnostics.failures import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.events import Event

    from adk_history_guard.adk.ids import Stream
    from adk_history_guard.adk.memory import Memory
    from adk_history_guard.adk.targets import Target
    from adk_history_guard.core.guard import Outcome

V = TypeVar("V")


class IdentityMap(Generic[V]):
    """Values by the identity of an object; an entry goes when its object does."""

    def __init__(self) -> None:
        """Start empty."""
        self._entries: dict[int, tuple[weakref.ref[Any], V]] = {}

    def get(self, key: object) -> V | None:
        """Return the value kept for an object, None where there is none."""
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def put(self, key: object, value: V) -> V:
        """Keep a value for as long as the object lives."""
        number, entries = id(key), self._entries

        def forget(ref: weakref.ref[Any]) -> None:
            entry = entries.get(number)
            if entry is not None and entry[0] is ref:
                del entries[number]

        entries[number] = (weakref.ref(key, forget), value)
        return value

    def pop(self, key: object) -> V | None:
        """Forget an object and return what was kept for it."""
        value = self.get(key)
        if value is not None:
            del self._entries[id(key)]
        return value

    def __len__(self) -> int:
        """Return how many objects are known."""
        return len(self._entries)

    def __iter__(self) -> Iterator[V]:
        """Iterate over the values."""
        return iter([value for _, value in self._entries.values()])


@dataclass(slots=True)
class ModelCall:
    """One model call: where it goes, what was sent, the ids of its answer.

    Attributes:
      target: Where it goes.
      stream: The ids of its answer.
      outcome: What the repair of its request came to.
      request: What was sent; both are held until the call is over.
      watch: What its answer holds.
      answered: Whether a final response, an event or an error has come. More may:
        some adapters end with two final responses.
    """

    target: Target
    stream: Stream
    outcome: Outcome | None = None
    request: Any = None
    watch: Watch = field(default_factory=Watch)
    answered: bool = False

    def let_go(self) -> None:
        """Hold nothing big any longer."""
        self.outcome = self.request = None


@dataclass(slots=True)
class Run:
    """One run of a Runner.

    Attributes:
      live: Whether it is a live run; nothing is touched then.
      scene: What the history repair must know.
      agents: Agents by name, as their callbacks showed them.
      ids: Every id of a call in the session.
      closed: Those whose call is answered.
      minted: Those that calls of this run got.
      owners: The author and the branch of the first event of this run under an id.
      stored: The session's own list of events, where a repaired one stands in.
      shown: The repaired list at the start of the run.
      calls: The model calls, by their `EventActions`.
      newest: The newest one of each agent, by its name.
      ledger: Who wrote what in the session.
      memory: The events whose rounds are known to be whole and in call order; None
        where some are not.
    """

    live: bool = False
    scene: Scene = field(default_factory=Scene)
    agents: dict[str, Any] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    minted: set[str] = field(default_factory=set)
    owners: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    stored: list[Event] | None = None
    shown: frozenset[int] = frozenset()
    calls: IdentityMap[ModelCall] = field(default_factory=IdentityMap)
    newest: dict[str, ModelCall] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    memory: Memory | None = None

    def is_ordered(self, events: Sequence[Event]) -> bool:
        """Tell whether all rounds, those of this run too, are whole and in order."""
        return self.memory is not None and self.memory.is_whole(events)

    def is_anothers(self, call_id: str, event: Event) -> bool:
        """Tell whether an id is of another author or branch, and remember whose.

        One response may go to parallel agents (a cache), which all run its calls.
        """
        if is_of_node(event):
            return False
        owner = (event.author, event.branch)
        return self.owners.setdefault(call_id, owner) != owner

    def start(self, context: CallbackContext, call: ModelCall) -> ModelCall:
        """Take in a model call that begins; the agent's one before is over."""
        before = self.newest.get(context.agent_name)
        if before is not None and before.answered:
            before.let_go()
        self.newest[context.agent_name] = call
        return self.calls.put(context.actions, call)

    def call_of(self, context: CallbackContext, *, done: bool) -> ModelCall | None:
        """Return the model call that a response answers; `done` with the final one.

        ADK before 2.0 gives the plugins' `after_model_callback` another
        `EventActions` each time; there the agent's newest model call is the one.
        """
        call = self.calls.get(context.actions) or self.newest.get(context.agent_name)
        if call is not None and done:
            call.answered = True
        return call

    def heard(self, agent: str) -> None:
        """Note that an event of an agent has come: its model call is answered."""
        call = self.newest.get(agent)
        if call is not None:
            call.answered = True

    def settle(self, agent: str, call: ModelCall) -> None:
        """Let go of an agent's answered call, unless it may still be told of.

        ADK 2 keeps the `EventActions` of a call with its event, and so the call.
        """
        if self.newest.get(agent) is not call:
            call.let_go()

    def show(self, session: Any, events: list[Event]) -> None:
        """Let the run see other events than the session's; see `put_back`."""
        if self.stored is None:
            self.stored = session.events
            known = session.events
        else:
            known = [e for e in session.events if id(e) not in self.shown]
            self.stored.extend(known)
        session.events = events
        self.shown = frozenset(map(id, events))

    def put_back(self, session: Any) -> None:
        """Give the session its own list again, with what the run appended."""
        if self.stored is None:
            return
        self.stored.extend(e for e in session.events if id(e) not in self.shown)
        session.events = self.stored
        self.stored = None
