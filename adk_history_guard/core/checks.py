# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One pure function for each rule: turns in, findings out.

A check reports what it sees and changes nothing. It knows the contract only:
not which repairs ran before, not which are allowed. A finding is a place and a
sentence with names and ids, never the user's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from adk_history_guard.core.media import MEDIA_TYPES
from adk_history_guard.core.rules import RULES
from adk_history_guard.core.shape import last_text
from adk_history_guard.core.signatures import (
    PLACEHOLDER_SIGNATURES,
    current_turn,
    is_marked,
    signed_calls,
)
from adk_history_guard.core.turns import (
    DATA_FIELDS,
    DATA_MARKERS,
    Place,
    Severity,
    Violation,
    carries_data,
    has_data,
    is_request_for_client,
    records,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from google.genai import types

    from adk_history_guard.core.pairing import Pairs
    from adk_history_guard.core.profiles import Profile
    from adk_history_guard.core.turns import Call, Response, Turn

_DATA = ("text", *DATA_FIELDS)

Finding = tuple[Place, str]


@dataclass(frozen=True)
class Request:
    """What a check sees: the turns, their pairs, and the contract."""

    turns: Sequence[Turn]
    pairs: Pairs
    profile: Profile
    markers: tuple[str, ...] = DATA_MARKERS

    @cached_property
    def signed(self) -> set[Call]:
        """The calls that the provider would take for signed."""
        return signed_calls(self.turns, self.profile, self.markers)


def _at(record: Call | Response) -> Place:
    return Place(record.turn, record.part)


def _waits(call: Call) -> bool:
    return call.waits or is_request_for_client(call.name)


def unanswered_call(request: Request) -> Iterator[Finding]:
    """HG101: a call without any response."""
    for call, answers in request.pairs.answers.items():
        if not answers and not _waits(call):
            yield _at(call), f"{call} has no response."


def pending_call(request: Request) -> Iterator[Finding]:
    """HG109: a call without any response that waits on purpose."""
    for call, answers in request.pairs.answers.items():
        if not answers and _waits(call):
            yield _at(call), f"{call} waits for its response."


def orphan_response(request: Request) -> Iterator[Finding]:
    """HG102: a response without a call."""
    for response in request.pairs.orphans:
        yield _at(response), f"{response} answers no call."


def repeated_response(request: Request) -> Iterator[Finding]:
    """HG103: a response after which another one answers the same call."""
    for call, answers in request.pairs.answers.items():
        for response in answers[:-1]:
            yield _at(response), f"{call} has {len(answers)} responses."


def stray_response(request: Request) -> Iterator[Finding]:
    """HG104: a response that is not in the turn after its call turn."""
    for response, call in request.pairs.owner.items():
        if response.turn != call.turn + 1:
            yield _at(response), f"the response to {call} is not right behind it."


def shuffled_responses(request: Request) -> Iterator[Finding]:
    """HG105: responses in another order than their calls."""
    owner = request.pairs.owner
    for turn, home in _neighbours(request):
        order = [
            owner[r].part
            for r in home.responses
            if r in owner and owner[r].turn == turn.index
        ]
        if order != sorted(order):
            yield home.place(), "responses are not in the order of their calls."


def mismatched_name(request: Request) -> Iterator[Finding]:
    """HG106: a response under another name than its call."""
    for response, call in request.pairs.owner.items():
        if response.name != call.name:
            yield _at(response), f"named {response.name!r}, its call {call}."


def mismatched_id(request: Request) -> Iterator[Finding]:
    """HG107: a response under another id than its call."""
    for response, call in request.pairs.owner.items():
        if response.id != call.id:
            yield _at(response), f"id {response.id!r}, its call is {call}."


def doubtful_response(request: Request) -> Iterator[Finding]:
    """HG108: a response that several calls could own."""
    for response in request.pairs.doubtful:
        yield _at(response), f"several calls fit the response {response}."


def empty_contents(request: Request) -> Iterator[Finding]:
    """HG200: nothing at all."""
    if not request.turns:
        yield Place(0), "there is no turn."


def empty_turn(request: Request) -> Iterator[Finding]:
    """HG201: a turn without parts."""
    for turn in request.turns:
        if not turn.parts:
            yield turn.place(), "no parts."


def unknown_role(request: Request) -> Iterator[Finding]:
    """HG202: a role that is neither user nor model."""
    for turn in request.turns:
        if turn.role not in ("user", "model"):
            yield turn.place(), f"role {turn.role!r}."


def leading_model_turn(request: Request) -> Iterator[Finding]:
    """HG203: the model speaks first."""
    if (
        request.profile.leading_user
        and request.turns
        and request.turns[0].role == "model"
    ):
        yield request.turns[0].place(), "the model speaks first."


def call_after_model_turn(request: Request) -> Iterator[Finding]:
    """HG204: a call turn behind a model turn."""
    for before, turn in _neighbours(request):
        if turn.calls and before.role == turn.role == "model":
            yield turn.place(), f"{turn.calls[0]} follows a turn of the model."


def repeated_model_turn(request: Request) -> Iterator[Finding]:
    """HG209: two model turns without calls in the second."""
    for before, turn in _neighbours(request):
        if before.role == turn.role == "model" and not turn.calls:
            yield turn.place(), "two turns of the model in a row."


def _neighbours(request: Request) -> Iterator[tuple[Turn, Turn]]:
    yield from zip(request.turns, request.turns[1:], strict=False)


def shared_response_turn(request: Request) -> Iterator[Finding]:
    """HG205: other parts beside responses."""
    for turn in request.turns:
        others = len(turn.parts) - len(turn.responses)
        if turn.responses and others and not turn.calls:
            yield turn.place(), f"{others} other part(s) beside the responses."


def trailing_model_turn(request: Request) -> Iterator[Finding]:
    """HG206: the model speaks last."""
    if request.turns and request.turns[-1].role == "model":
        yield request.turns[-1].place(), "the model speaks last."


def user_after_responses(request: Request) -> Iterator[Finding]:
    """HG210: the user speaks right behind responses where the model must."""
    if not request.profile.model_after_responses:
        return
    for before, turn in _neighbours(request):
        if before.responses and turn.role == "user" and not turn.responses:
            yield turn.place(), "the user speaks right behind responses."


def trailing_white_space(request: Request) -> Iterator[Finding]:
    """HG211: the last words of the request are the model's and end in white space."""
    if request.profile.final_space or not request.turns:
        return
    turn = request.turns[-1]
    last = last_text(turn)
    if last is None:
        return
    n, text = last
    if text != text.rstrip():
        yield turn.place(n), "the last words of the model end in white space."


def misplaced_speaker(request: Request) -> Iterator[Finding]:
    """HG208: calls of the user, responses of the model, or both in one turn."""
    for turn in request.turns:
        if turn.role == "user" and turn.calls:
            yield turn.place(), f"{turn.calls[0]} stands in a user turn."
        elif turn.role == "model" and turn.responses:
            text = f"the response {turn.responses[0]} stands in a turn of the model."
            yield turn.place(), text


def _parts(request: Request) -> Iterator[tuple[Turn, int, types.Part]]:
    for turn in request.turns:
        for n, part in enumerate(turn.parts):
            yield turn, n, part


def _filled(part: types.Part) -> list[str]:
    return [name for name in _DATA if getattr(part, name, None) is not None]


def empty_part(request: Request) -> Iterator[Finding]:
    """HG301: a part with nothing in it."""
    for turn, n, part in _parts(request):
        if part.text or part.thought_signature:
            continue
        if _filled(part) in ([], ["text"]):
            yield turn.place(n), "nothing in it."


def bare_signature(request: Request) -> Iterator[Finding]:
    """HG302: a signature without a data field."""
    for turn, n, part in _parts(request):
        if part.thought_signature and not _filled(part):
            yield turn.place(n), "a signature and nothing else."


def crowded_part(request: Request) -> Iterator[Finding]:
    """HG303: more than one data field."""
    for turn, n, part in _parts(request):
        fields = _filled(part)
        if len(fields) > 1:
            yield turn.place(n), f"fields {' and '.join(fields)} in one part."


def nameless_call(request: Request) -> Iterator[Finding]:
    """HG304: a call or response without a name."""
    for record in records(request.turns):
        if record.name is None:
            yield _at(record), f"no name (id {record.id!r})."


def illegal_name(request: Request) -> Iterator[Finding]:
    """HG305: a name that cannot be declared."""
    for record in records(request.turns):
        names = request.profile.names
        if record.name is not None and not names.fullmatch(record.name):
            yield _at(record), f"the name {record.name[:80]!r}."


def missing_body(request: Request) -> Iterator[Finding]:
    """HG306: a response without a body."""
    for turn in request.turns:
        for response in turn.responses:
            if response.body is None:
                yield _at(response), f"the response {response} has no body."


def output_only_field(request: Request) -> Iterator[Finding]:
    """HG307: a field that is not for requests."""
    for record in records(request.turns):
        raw = record.raw.function_call or record.raw.function_response
        for name in ("partial_args", "will_continue", "scheduling"):
            if getattr(raw, name, None) is not None:
                yield _at(record), f"{record} carries {name!r}."


def nested_media(request: Request) -> Iterator[Finding]:
    """HG309: media inside a response that the model does not take."""
    for turn in request.turns:
        for response in turn.responses:
            for nested in _nested(response):
                blob = nested.inline_data
                kind = blob.mime_type if blob is not None else None
                if not request.profile.nested_media or kind not in MEDIA_TYPES:
                    text = f"the response {response} holds media of type {kind!r}."
                    yield _at(response), text


def repeated_display_name(request: Request) -> Iterator[Finding]:
    """HG310: one display name twice in a response."""
    for turn in request.turns:
        for response in turn.responses:
            names = [
                name
                for nested in _nested(response)
                if nested.inline_data is not None
                and (name := nested.inline_data.display_name)
            ]
            if len(set(names)) < len(names):
                yield _at(response), f"the response {response} repeats a name."


def _nested(response: Response) -> list[types.FunctionResponsePart]:
    said = response.raw.function_response
    return list(getattr(said, "parts", None) or ())


def unsigned_step(request: Request) -> Iterator[Finding]:
    """HG401: a step of the current turn whose first call is unsigned.

    Where signatures are looked for inside ids, every turn counts, and one signed
    call is enough; a history without any such id says nothing (W6, W7).
    """
    if request.profile.signed_ids:
        if not is_marked(request.turns, request.markers):
            return
        for turn in request.turns:
            if turn.calls and request.signed.isdisjoint(turn.calls):
                yield turn.place(), f"{turn.calls[0]} and its turn are not signed."
        return
    for turn in request.turns[current_turn(request.turns) :]:
        if turn.calls and not turn.calls[0].signed:
            first = turn.calls[0]
            yield _at(first), f"{first} carries no thought signature."


def signed_sibling(request: Request) -> Iterator[Finding]:
    """HG402: a placeholder signature on a sibling."""
    for turn in request.turns:
        for call in turn.calls[1:]:
            if call.raw.thought_signature in PLACEHOLDER_SIGNATURES:
                yield _at(call), f"{call} is not the first call of its turn."


def foreign_signature(request: Request) -> Iterator[Finding]:
    """HG403: a signature where the provider has none of this kind."""
    if request.profile.signatures != "foreign":
        return
    for turn, n, part in _parts(request):
        if part.thought and has_data(part) and request.profile.thoughts != "any":
            yield turn.place(n), "a thought that is a call, a response or media."
        elif part.thought:
            if part.thought_signature is None and request.profile.thoughts == "signed":
                yield turn.place(n), "a thought that nobody signed."
        elif part.thought_signature is not None:
            yield turn.place(n), "a thought signature."


def unsigned_sibling(request: Request) -> Iterator[Finding]:
    """HG404: siblings of a signed call where only signed calls are replayed."""
    if request.profile.parallel != "collapse":
        return
    for turn in request.turns:
        if request.signed.isdisjoint(turn.calls):
            continue
        for call in turn.calls:
            if call not in request.signed:
                yield _at(call), f"{call} is unsigned beside a signed call."


def repeated_id(request: Request) -> Iterator[Finding]:
    """HG501: one id on two calls."""
    seen: dict[str, Call] = {}
    for turn in request.turns:
        for call in turn.calls:
            if call.id is None:
                continue
            if call.id in seen:
                yield _at(call), f"{call} repeats the id of {_at(seen[call.id])}."
            else:
                seen[call.id] = call


def partial_ids(request: Request) -> Iterator[Finding]:
    """HG502: ids on some calls of a turn."""
    for turn in request.turns:
        with_id = sum(call.id is not None for call in turn.calls)
        if with_id and with_id < len(turn.calls):
            yield turn.place(), f"{with_id} of {len(turn.calls)} calls carry an id."


def illegal_id(request: Request) -> Iterator[Finding]:
    """HG504: an id that breaks the format."""
    form = request.profile.ids
    for turn in request.turns:
        for call in turn.calls:
            if call.id is None or form.allows(call.id):
                continue
            if not (form.data and carries_data(call.id, request.markers)):
                yield _at(call), f"{call}: not of the provider's format."


def missing_id(request: Request) -> Iterator[Finding]:
    """HG505: no id where one is required."""
    if not request.profile.ids.required:
        return
    for turn in request.turns:
        for call in turn.calls:
            if call.id is None:
                yield _at(call), f"{call} carries no id."


CHECKS: Mapping[str, Callable[[Request], Iterator[Finding]]] = {
    "HG101": unanswered_call,
    "HG102": orphan_response,
    "HG103": repeated_response,
    "HG104": stray_response,
    "HG105": shuffled_responses,
    "HG106": mismatched_name,
    "HG107": mismatched_id,
    "HG108": doubtful_response,
    "HG109": pending_call,
    "HG200": empty_contents,
    "HG201": empty_turn,
    "HG202": unknown_role,
    "HG203": leading_model_turn,
    "HG204": call_after_model_turn,
    "HG205": shared_response_turn,
    "HG206": trailing_model_turn,
    "HG208": misplaced_speaker,
    "HG209": repeated_model_turn,
    "HG210": user_after_responses,
    "HG211": trailing_white_space,
    "HG301": empty_part,
    "HG302": bare_signature,
    "HG303": crowded_part,
    "HG304": nameless_call,
    "HG305": illegal_name,
    "HG306": missing_body,
    "HG307": output_only_field,
    "HG309": nested_media,
    "HG310": repeated_display_name,
    "HG401": unsigned_step,
    "HG402": signed_sibling,
    "HG403": foreign_signature,
    "HG404": unsigned_sibling,
    "HG501": repeated_id,
    "HG502": partial_ids,
    "HG504": illegal_id,
    "HG505": missing_id,
}
"""The check of each rule; a test holds it against `RULES`."""


def severity(code: str, profile: Profile) -> Severity:
    """Return how severe a breach is under a profile."""
    return profile.rules.get(code, RULES[code].severity)


def check(
    turns: Sequence[Turn],
    pairs: Pairs,
    profile: Profile,
    markers: tuple[str, ...] = DATA_MARKERS,
) -> list[Violation]:
    """Hold turns against the contract of a profile.

    Args:
      turns: Turns numbered as they stand, as `read_contents` returns them.
      pairs: Who answers whom among them.
      profile: The contract.
      markers: An id with one of these inside carries data.

    Returns:
      The violations, in the order of their places; empty if there is none.
    """
    request = Request(turns, pairs, profile, markers)
    found = []
    for code, run in CHECKS.items():
        level = severity(code, profile)
        if level is Severity.OFF:
            continue
        rule = RULES[code]
        found += [
            Violation(code, rule.name, level, place, message, rule.fix)
            for place, message in run(request)
        ]
    found.sort(key=lambda v: (v.place.turn, v.place.part or 0, v.code))
    return found
