# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over responses: orphans go, the others come home, each call has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from adk_history_guard.core import media, narration
from adk_history_guard.core.copies import changed
from adk_history_guard.core.turns import (
    Action,
    Call,
    Place,
    Record,
    Response,
    Turn,
    carries_data,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from adk_history_guard.core.repair import Job

MARK = "adk_history_guard"
"""The key that marks what the guard made up, in the body of a placeholder."""

UNANSWERED = {
    "error": "No response to this call was recorded. "
    "It may have run or not; do not take either for granted.",
    MARK: "placeholder",
}
PENDING = {
    "status": "pending",
    "message": "This call has not been answered yet.",
    MARK: "placeholder",
}


def drop_nameless_calls(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP calls without a name, and their responses.

    Every provider requires a name (G28), and nothing tells which tool was
    meant (google/adk-python#2289: streams that end in a nameless call).
    """

    def is_nameless(record: Record | None) -> bool:
        if isinstance(record, Response):
            call = job.pairs.owner.get(record)
            return call is not None and call.name is None
        return record is not None and record.name is None

    def note(record: Call | Response) -> None:
        what = "call without a name" if isinstance(record, Call) else "response to it"
        job.note(
            "HG304",
            Action.DROP,
            Place(record.turn, record.part),
            f"a {what} (id {record.id!r})",
        )

    return _without(turns, is_nameless, note)


def _without(
    turns: list[Turn],
    goes: Callable[[Record | None], bool],
    note: Callable[[Any], None],
) -> list[Turn]:
    """Return the turns without some calls and responses; empty turns go too."""
    out: list[Turn] = []
    for turn in turns:
        records: list[Record] = [*turn.calls, *turn.responses]
        gone = [record for record in records if goes(record)]
        if not gone:
            out.append(turn)
            continue
        for record in gone:
            note(record)
        items = [item for item in turn.items() if not goes(item[1])]
        if items:
            out.append(turn.remade(items))
    return out


def settle_orphans(turns: list[Turn], job: Job) -> list[Turn]:
    """DROP responses without a call, and all but the last one of each call.

    `orphans="narrate"` keeps an orphan as user text, and so does every value
    where the orphan is all that the last turn holds: it is what the user just
    said. Sources: G5, G10; google/adk-python#6582, strands-agents/harness-sdk#2296.
    """
    pairs = job.pairs
    doubles = {
        response for answers in pairs.answers.values() for response in answers[:-1]
    }
    orphans = set(pairs.orphans)
    if not turns or not (doubles or orphans):
        return turns
    narrated: set[Response] = set()
    last = turns[-1].responses
    if job.options.orphans == "narrate":
        narrated = orphans
    elif len(last) == len(turns[-1].parts) and orphans.issuperset(last):
        narrated = set(last)

    def note(record: Response) -> None:
        place = Place(record.turn, record.part)
        if record in doubles:
            text = f"a response to {record} that a later one supersedes"
            job.note("HG103", Action.DROP, place, text)
        else:
            text = f"the response {record}: no call for it"
            job.note("HG102", Action.DROP, place, text)

    turns = [_narrate(turn, narrated, job) for turn in turns]
    gone = (doubles | orphans) - narrated
    return _without(turns, lambda record: record in gone, note)


def _narrate(turn: Turn, narrated: set[Response], job: Job) -> Turn:
    if narrated.isdisjoint(turn.responses):
        return turn
    items: list[tuple[types.Part, Record | None]] = []
    for part, record in turn.items():
        if record in narrated and isinstance(record, Response):
            job.note(
                "HG102",
                Action.MOVE,
                Place(record.turn, record.part),
                f"the response {record} into text: no call for it",
            )
            items.extend((new, None) for new in narration.response(part))
        else:
            items.append((part, record))
    return turn.remade(items)


def bring_home(turns: list[Turn], job: Job) -> list[Turn]:
    """MOVE the responses of each call turn into one turn right behind it.

    They stand in call order, alone: without ids, order and name are all that a
    provider has (G13), and other parts beside them cost quality or a 400
    (G26, G27; agentscope-ai/agentscope#2613, #2628). Those stay where their
    turn was.
    """
    out: list[Turn] = []
    for n, turn in enumerate(turns):
        if turn.calls:
            out.append(turn)
            home = _home(turn, turns[n + 1] if n + 1 < len(turns) else None, job)
            if home is not None:
                out.append(home)
        elif turn.responses:
            out.extend(media.rest_of(turn, out, job))
        else:
            out.append(turn)
    return out


def _home(turn: Turn, following: Turn | None, job: Job) -> Turn | None:
    """The turn with the responses of a call turn; the following one if it is."""
    final = job.pairs.final
    wanted = [r for call in turn.calls if (r := final(call)) is not None]
    if not wanted:
        return None
    if following is not None:
        if following.responses == wanted:
            if len(following.parts) == len(wanted):
                return following
            job.note(
                "HG205",
                Action.MOVE,
                following.place(),
                "other parts out of the turn of the responses, right behind it",
            )
            return following.remade(((r.raw, r) for r in wanted), "user")
        if set(following.responses) == set(wanted):
            job.note(
                "HG105",
                Action.MOVE,
                following.place(),
                f"{len(wanted)} responses into the order of their calls",
            )
            return following.remade(((r.raw, r) for r in wanted), "user")
    for response in wanted:
        if following is None or response not in following.responses:
            job.note(
                "HG104",
                Action.MOVE,
                Place(response.turn, response.part),
                f"the response {response} to right behind its call",
            )
    home = Turn(wanted[0].turn, "user", [])
    return home.remade((r.raw, r) for r in wanted)


def answer(turns: list[Turn], job: Job) -> list[Turn]:
    """ADD placeholders for calls without a response; or DROP the calls.

    Removing a call can take the signature of its turn away (G14), so it is
    answered by default, and a signed call is answered always. Sources: G5;
    google/adk-python#3971, #5856; the count is made over the whole history
    before anything is added (strands-agents/harness-sdk#1610).
    """
    out: list[Turn] = []
    for n, turn in enumerate(turns):
        if turn.calls:
            following = turns[n + 1] if n + 1 < len(turns) else None
            out += _answered(turn, following, job)
        elif not turn.responses:  # those stand right behind their calls by now
            out.append(turn)
    return out


def _answered(turn: Turn, following: Turn | None, job: Job) -> list[Turn]:
    """A call turn and the turn of its responses, where anything is left of them."""
    home = following if following is not None and following.responses else None
    by_call = {
        job.pairs.owner[r]: r for r in (home.responses if home is not None else ())
    }
    plan = {call: _policy(call, job) for call in turn.calls if call not in by_call}
    items: list[tuple[types.Part, Record | None]] = []
    for call in turn.calls:
        if call in by_call:
            response = by_call[call]
        elif plan[call] == "placeholder":
            response = _placeholder(call, job)
        else:
            continue
        items.append((response.raw, response))
    if any(word == "drop" for word in plan.values()):
        turn = _dropping(turn, plan, job)
    if home is None or len(items) > len(home.parts):
        home = Turn(turn.index, "user", []).remade(items)
    return [made for made in (turn, home) if made.parts]


def _policy(call: Call, job: Job) -> str:
    options = job.options
    if job.is_pending(call):
        return options.pending
    signed = call.signed or carries_data(call.id, job.markers)
    if options.unanswered == "drop" and signed:
        return "placeholder"
    return options.unanswered


def _placeholder(call: Call, job: Job) -> Response:
    pending = job.is_pending(call)
    body = PENDING if pending else UNANSWERED
    code = "HG109" if pending else "HG101"
    place = Place(call.turn, call.part)
    job.note(code, Action.ADD, place, f"a placeholder response to {call}")
    part = placeholder_part(call, body)
    response = Response(call.turn, call.part, call.id, call.name, dict(body), part)
    job.pairs.owner[response] = call
    return response


def placeholder_part(call: Call, body: dict[str, str] = UNANSWERED) -> types.Part:
    """Make the response part that stands in for a missing response."""
    return types.Part(
        function_response=types.FunctionResponse(
            id=call.id, name=call.name, response=dict(body)
        )
    )


def _dropping(turn: Turn, plan: dict[Call, str], job: Job) -> Turn:
    items = []
    for part, record in turn.items():
        if isinstance(record, Call) and plan.get(record) == "drop":
            place = Place(record.turn, record.part)
            job.note("HG101", Action.DROP, place, f"the call {record}: no response")
        else:
            items.append((part, record))
    return turn.remade(items)


def mend(turns: list[Turn], job: Job) -> list[Turn]:
    """RENAME responses to the name and id of their calls; fill in empty bodies.

    Sources: G6, G7, G28, G29; router-for-me/CLIProxyAPI#2104, #5098. Fields
    that only a provider may send are taken off (G30).
    """
    return [
        _mended(turn, _mend_response if turn.responses else _mend_call, job)
        for turn in turns
    ]


def _mended(
    turn: Turn,
    mend_part: Callable[[types.Part, Any, Job], types.Part],
    job: Job,
) -> Turn:
    items = [
        (part if record is None else mend_part(part, record, job), record)
        for part, record in turn.items()
    ]
    if all(new is old for (new, _), old in zip(items, turn.parts, strict=True)):
        return turn
    return turn.remade(items)


def _mend_response(part: types.Part, record: Response, job: Job) -> types.Part:
    call = job.pairs.owner[record]
    response = part.function_response or types.FunctionResponse()
    place = Place(record.turn, record.part)
    update: dict[str, Any] = {}
    if response.name != call.name:
        update["name"] = call.name
        text = f"the response {response.name!r} to its call's name {call.name!r}"
        job.note("HG106", Action.RENAME, place, text)
    if (response.id or None) != call.id:
        update["id"] = call.id
        text = f"the response's id {response.id!r} to its call's, {call.id!r}"
        job.note("HG107", Action.RENAME, place, text)
    if response.response is None:
        update["response"] = {}
        job.note("HG306", Action.ADD, place, f"an empty body to the response {call}")
    for name in ("will_continue", "scheduling"):
        if getattr(response, name, None) is not None:
            update[name] = None
            text = f"the field {name!r} of the response {call}"
            job.note("HG307", Action.DROP, place, text)
    if not update:
        return part
    return changed(part, {"function_response": changed(response, update)})


def _mend_call(part: types.Part, record: Call, job: Job) -> types.Part:
    call = part.function_call
    update = {
        name: None
        for name in ("partial_args", "will_continue")
        if getattr(call, name, None) is not None
    }
    if call is None or not update:
        return part
    place = Place(record.turn, record.part)
    for name in update:
        text = f"the field {name!r} of the call {record}"
        job.note("HG307", Action.DROP, place, text)
    return changed(part, {"function_call": changed(call, update)})
