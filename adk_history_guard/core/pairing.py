# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Who answers whom. Everything that decides it lives in this file.

Theory of operation
-------------------
A history is walked once, in stored order. Each call opens an entry; each
response looks for the entry that it answers. An id alone does not say which:
models hand out the same id again, so candidates are told apart by id, then
name, then scope (branch), then occurrence. This file knows nothing of
providers and nothing of ADK beyond the names of the calls with which ADK asks the
client something: two of them, to confirm a tool and to sign in, hold another call up.

An entry is

* *fresh*: nobody has answered it,
* *waiting*: answered, but for the time being (a long-running tool has said
  "pending", a tool has asked for a confirmation),
* *done*: answered for good.

Which of several candidates a response takes:

===============  ==============================================================
posted by        order of choice
===============  ==============================================================
a tool           1. a waiting call whose confirmation or credential has come
                 2. a fresh call of the newest turn that has one, first first;
                    one of the response's own run before one of another
                 3. the newest waiting call, 4. the call answered last
the client       1. a waiting (or long-running) call with no answer from the
                    client yet, oldest first
                 2. a fresh call of the newest turn that has one, first first
                 3. the call answered last
===============  ==============================================================

Several responses to one call are normal (progress updates, placeholders); the
last one stored wins. A response whose name or id is wrong or missing is taken
by a call only where exactly one call fits, or where a tool posts it right behind
the only open call of its id. Every choice is made by looking at
the end of a queue, so the walk is linear however often an id repeats.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from adk_history_guard.core.turns import (
    CONFIRMATION,
    CREDENTIAL,
    Call,
    Response,
    is_request_for_client,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adk_history_guard.core.turns import Turn

FRESH, WAITING, DONE = range(3)


@dataclass(slots=True, eq=False)
class Entry:
    """A call and what has become of it so far."""

    call: Call
    state: int = FRESH
    heard_client: bool = False
    resumed: bool = False
    about: Entry | None = None
    answers: list[Response] = field(default_factory=list)


@dataclass(slots=True)
class Pairs:
    """The outcome of the walk.

    Attributes:
      answers: Every call with its responses in stored order; the last one wins.
      owner: Every paired response with its call.
      orphans: Responses that no call claims, in stored order.
      doubtful: Paired responses for which several calls were possible.
      open: Calls that wait for their (final) response.
      held: Calls that a confirmation or credential request names, until both
        have their answers.
    """

    answers: dict[Call, list[Response]] = field(default_factory=dict)
    owner: dict[Response, Call] = field(default_factory=dict)
    orphans: list[Response] = field(default_factory=list)
    doubtful: list[Response] = field(default_factory=list)
    open: set[Call] = field(default_factory=set)
    held: set[Call] = field(default_factory=set)

    def final(self, call: Call) -> Response | None:
        """Return the response that counts for a call, None if there is none."""
        answers = self.answers.get(call)
        return answers[-1] if answers else None


class _Bucket:
    """Entries that share an id and a name (or only one of them), as queues.

    Entries are never searched for: a stale one is thrown away when it comes to
    the end of its queue.
    """

    __slots__ = ("blocks", "last", "resumed", "waiting", "waits")

    def __init__(self) -> None:
        self.blocks: list[deque[Entry]] = []  # fresh ones, a block for each turn
        self.waits: deque[Entry] = deque()  # no answer from the client yet
        self.waiting: list[Entry] = []
        self.resumed: deque[Entry] = deque()
        self.last: Entry | None = None

    def add(self, entry: Entry) -> None:
        blocks = self.blocks
        if blocks and blocks[-1] and blocks[-1][0].call.turn == entry.call.turn:
            blocks[-1].append(entry)
        else:
            blocks.append(deque((entry,)))
        if entry.call.waits:
            self.waits.append(entry)
        self.last = entry

    def fresh(self) -> Entry | None:
        """The first fresh entry of the newest turn that has one."""
        blocks = self.blocks
        while blocks:
            block = blocks[-1]
            while block and block[0].state != FRESH:
                block.popleft()
            if block:
                return block[0]
            blocks.pop()
        return None

    def next_resumed(self) -> Entry | None:
        """The first waiting entry whose confirmation or credential has come."""
        resumed = self.resumed
        while resumed and resumed[0].state == DONE:
            resumed.popleft()
        return resumed[0] if resumed else None

    def choose(self, *, client: bool) -> Entry | None:
        """The entry that a response takes; see the table above."""
        if client:
            waits = self.waits
            while waits and (waits[0].heard_client or waits[0].state == DONE):
                waits.popleft()
            if waits:
                return waits[0]
            return self.fresh() or self.last
        entry = self.next_resumed() or self.fresh()
        if entry is not None:
            return entry
        waiting = self.waiting
        while waiting and waiting[-1].state != WAITING:
            waiting.pop()
        return waiting[-1] if waiting else self.last


class _Walk:
    """One walk over a history."""

    def __init__(self) -> None:
        self.pairs = Pairs()
        self.entries: dict[Call, Entry] = {}
        self.by_id: dict[str, list[Entry]] = {}
        self.exact: dict[tuple[Any, ...], _Bucket] = {}
        self.in_run: dict[tuple[Any, ...], _Bucket] = {}
        self.by_name: dict[str | None, _Bucket] = {}
        self.unnamed: dict[str | None, _Bucket] = {}
        self.open_by_id: dict[str, int] = {}
        self.newest = -1  # the newest call turn

    def call(self, call: Call) -> None:
        entry = Entry(call)
        self.entries[call] = entry
        self.newest = call.turn
        self.pairs.answers[call] = entry.answers
        if call.id is not None:
            known = self.by_id.get(call.id)
            if known is None:
                self.by_id[call.id] = [entry]
                self.open_by_id[call.id] = 1
            else:
                if len(known) == 1:
                    self._register(known[0])
                known.append(entry)
                self.open_by_id[call.id] += 1
                self._register(entry)
        else:
            self.unnamed.setdefault(call.name, _Bucket()).add(entry)
        bucket = self.by_name.get(call.name)
        if bucket is None:
            bucket = self.by_name[call.name] = _Bucket()
        bucket.add(entry)
        if call.name in _NAMES_OTHER:
            self._hold(entry)

    def _register(self, entry: Entry) -> None:
        """Index an entry whose id is not unique by all that tells it apart."""
        call = entry.call
        for key in _keys(call):
            bucket = self.exact.get(key)
            if bucket is None:
                bucket = self.exact[key] = _Bucket()
            bucket.add(entry)
            if entry.state == WAITING:
                bucket.waiting.append(entry)
            if entry.resumed:
                bucket.resumed.append(entry)
        self.in_run.setdefault(_run_key(call), _Bucket()).add(entry)

    def _hold(self, entry: Entry) -> None:
        """Note that a request for the client holds another call up."""
        call_id, name = _NAMES_OTHER[entry.call.name](entry.call.args or {})
        held = self._newest(call_id, name, entry.call.scope)
        if held is None or held is entry:
            return
        entry.about = held
        held.call.waits = True
        if held.state == DONE:
            held.state = WAITING
            self._count(held.call, 1)
        self._enqueue(held, "waiting")

    def _newest(
        self, call_id: str | None, name: str | None, scope: Any
    ) -> Entry | None:
        """The newest call of an id, of the asking agent's own where it has one."""
        known = self.by_id.get(call_id) if call_id is not None else None
        if not known:
            return None
        if len(known) == 1:
            return known[-1]
        if name is None:
            newest = islice(reversed(known), _NEAR)
            return next((e for e in newest if e.call.scope == scope), known[-1])
        for key in ((call_id, name, scope), (call_id, name)):
            bucket = self.exact.get(key)
            if bucket is not None:
                return bucket.last
        return None

    def _enqueue(self, entry: Entry, queue: str) -> None:
        for key in _keys(entry.call):
            bucket = self.exact.get(key)
            if bucket is not None:
                getattr(bucket, queue).append(entry)
        getattr(self.by_name[entry.call.name], queue).append(entry)

    def _count(self, call: Call, by: int) -> None:
        if call.id is not None:
            self.open_by_id[call.id] += by

    def response(self, response: Response) -> None:
        entry = self._find(response)
        if entry is None:
            self.pairs.orphans.append(response)
        else:
            self._take(entry, response)

    def _find(self, response: Response) -> Entry | None:
        if response.id is None:
            return self._find_by_name(response)
        known = self.by_id.get(response.id)
        if known is None:
            return self._find_unnumbered(response)
        if len(known) == 1 and known[0].call.name == response.name:
            return known[0]
        for key in _keys(response):
            bucket = self.exact.get(key)
            if bucket is not None:
                return self._in_run(response, bucket) or bucket.choose(
                    client=response.client
                )
        return self._find_misnamed(response, known)

    def _in_run(self, response: Response, bucket: _Bucket) -> Entry | None:
        """The fresh call of a tool's own run: concurrent runs may share an id."""
        own = self.in_run.get(_run_key(response))
        if own is None or response.client or bucket.next_resumed() is not None:
            return None
        return own.fresh()

    def _find_misnamed(self, response: Response, known: list[Entry]) -> Entry | None:
        """The id is known, the name is not.

        It is the only call of the id, the one that a tool has just been asked with,
        else the only open one. Who answers a question of ADK's answers no tool.
        """
        if is_request_for_client(response.name):
            return None
        last = known[-1]
        if len(known) == 1:
            return last
        if not response.client and last.state == FRESH and self._is_alone(known):
            return last
        if self.open_by_id[last.call.id or ""] == 1:
            return next(entry for entry in reversed(known) if entry.state != DONE)
        return None

    def _is_alone(self, known: list[Entry]) -> bool:
        """Whether the newest call of an id is the only open one of the newest turn."""
        turn = known[-1].call.turn
        before = known[-2]
        return turn == self.newest and (
            before.call.turn != turn or before.state == DONE
        )

    def _find_by_name(self, response: Response) -> Entry | None:
        bucket = self.by_name.get(response.name)
        if bucket is None:
            if response.name is not None:
                return None
            return self._only_open_entry()
        entry = bucket.choose(client=response.client)
        if entry is None or entry.call.id is None:
            return entry
        if entry.state == DONE:
            last = entry.answers[-1]
            if last.turn == response.turn and last.id == entry.call.id:
                return None  # no update comes beside the answer; that had the id
        # Beside a call with an id, one without is the one that is meant.
        unnamed = self.unnamed.get(response.name)
        bare = unnamed.fresh() if unnamed is not None else None
        if bare is not None and bare.call.turn == entry.call.turn:
            return bare
        if _has_rivals(bucket):
            self.pairs.doubtful.append(response)
        return entry

    def _find_unnumbered(self, response: Response) -> Entry | None:
        """A call without an id may own a response with an unknown one."""
        bucket = self.unnamed.get(response.name)
        if bucket is None:
            return None
        entry = bucket.fresh()
        return None if entry is None or _has_rivals(bucket) else entry

    def _only_open_entry(self) -> Entry | None:
        """The one fresh call there is, for a response with no id and no name."""
        found = None
        for bucket in self.by_name.values():
            entry = bucket.fresh()
            if entry is None:
                continue
            if found is not None or _has_rivals(bucket):
                return None
            found = entry
        return found

    def _take(self, entry: Entry, response: Response) -> None:
        call = entry.call
        entry.answers.append(response)
        self.pairs.owner[response] = call
        if response.client:
            entry.heard_client = True
        before = entry.state
        settled = entry.resumed or response.client or not call.waits
        entry.state = DONE if settled else WAITING
        if entry.state == DONE:
            if before != DONE:
                self._count(call, -1)
        elif before == FRESH:
            self._enqueue(entry, "waiting")
        self._set_last(entry)
        about = entry.about
        if about is not None and response.client and about.state != DONE:
            about.resumed = True
            self._enqueue(about, "resumed")

    def _set_last(self, entry: Entry) -> None:
        for key in _keys(entry.call):
            bucket = self.exact.get(key)
            if bucket is not None:
                bucket.last = entry
        self.by_name[entry.call.name].last = entry

    def finish(self) -> Pairs:
        pairs = self.pairs
        if pairs.orphans:
            self._bring_early_ones_home()
        for call, entry in self.entries.items():
            if entry.state != DONE:
                pairs.open.add(call)
            about = entry.about
            # A question that was answered just now has its tool still to be run.
            if about is not None and (entry.state != DONE or about.state != DONE):
                pairs.held.add(about.call)
        return pairs

    def _bring_early_ones_home(self) -> None:
        """Give a response stored before its call to the one call that fits."""
        claims: dict[int, int] = {}
        found: list[Entry | None] = []
        for response in self.pairs.orphans:
            entry = self._find_later(response)
            found.append(entry)
            if entry is not None:
                claims[id(entry)] = claims.get(id(entry), 0) + 1
        left = []
        for response, entry in zip(self.pairs.orphans, found, strict=True):
            if entry is None or claims[id(entry)] > 1:
                left.append(response)
            else:
                self._take(entry, response)
        self.pairs.orphans[:] = left

    def _find_later(self, response: Response) -> Entry | None:
        if response.id is None or self.open_by_id.get(response.id) != 1:
            return None
        known = self.by_id[response.id]
        if len(known) > 1:
            return None
        entry = known[0]
        fits = (
            entry.state == FRESH
            and entry.call.turn > response.turn
            and response.name in (None, entry.call.name)
        )
        return entry if fits else None


def pair(turns: Iterable[Turn]) -> Pairs:
    """Pair the responses of a history with its calls.

    Args:
      turns: The history in stored order; turns without calls and responses
        do not matter here and may be left out.

    Returns:
      The pairs. Total: no input of valid types raises. Deterministic, and
      linear in the number of calls and responses.
    """
    walk = _Walk()
    for turn in turns:
        if turn.calls and turn.responses:
            records: list[Call | Response] = [*turn.calls, *turn.responses]
            for record in sorted(records, key=_by_part):
                if isinstance(record, Call):
                    walk.call(record)
                else:
                    walk.response(record)
            continue
        for response in turn.responses:
            walk.response(response)
        for call in turn.calls:
            walk.call(call)
    return walk.finish()


def _keys(part: Call | Response) -> tuple[tuple[Any, ...], ...]:
    return ((part.id, part.name, part.scope), (part.id, part.name))


def _run_key(part: Call | Response) -> tuple[Any, ...]:
    return (part.id, part.name, part.scope, part.run)


def _by_part(record: Call | Response) -> int:
    return record.part


def _has_rivals(bucket: _Bucket) -> bool:
    """Whether the next fresh entry is not the only one of its turn."""
    if bucket.fresh() is None:
        return False
    return any(other.state == FRESH for other in islice(bucket.blocks[-1], 1, None))


def _confirmed(args: dict[str, Any]) -> tuple[str | None, str | None]:
    original = args.get("originalFunctionCall")
    if not isinstance(original, dict):
        return None, None
    return _word(original.get("id")), _word(original.get("name"))


def _signed_in(args: dict[str, Any]) -> tuple[str | None, str | None]:
    return _word(args.get("functionCallId", args.get("function_call_id"))), None


def _word(value: object) -> str | None:
    """A text of somebody's making; None for anything else."""
    return value if isinstance(value, str) else None


_NEAR = 64
"""How many calls of one id are looked at for a request that names no tool."""

_NAMES_OTHER: dict[
    str | None, Callable[[dict[str, Any]], tuple[str | None, str | None]]
] = {
    CONFIRMATION: _confirmed,
    CREDENTIAL: _signed_in,
}
"""Which call a request for the client holds up, read from its arguments."""
