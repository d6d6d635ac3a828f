# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Histories of every kind: clean ones, broken ones, and any at all.

`clean_contents(profile)` builds contents that keep the profile's contract.
`BREAKAGES` breaks them, one named breakage for each rule. `any_contents` and
`any_events` know no contract at all: whatever types allow.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.genai import types
from hypothesis import strategies as st

from tests.builders import (
    PLACEHOLDER,
    PNG,
    SIGNATURE,
    call,
    event,
    media,
    model,
    response,
    text,
    user,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.adk.events import Event

    from adk_history_guard import Profile

Contents = list[types.Content]

NAMES = ["look", "seek", "pay"]


@st.composite
def clean_contents(
    draw: st.DrawFn, profile: Profile, *, rich: bool = False
) -> Contents:
    """Contents that keep a profile's contract; `rich` ones hold a round of two calls.

    Tokens number the calls, and each response echoes the token of its call.
    """
    ids = rich or profile.ids.required or draw(st.booleans())
    signed = profile.signatures == "demanded"
    gateway = profile.parallel == "collapse"
    contents: Contents = []
    count = 0
    for number in range(draw(st.integers(1, 4))):
        contents.append(user(f"words {number}", *draw(_others())))
        for step in range(draw(st.integers(1 if rich else 0, 3))):
            names = draw(st.permutations(NAMES))
            size = 1 if gateway else draw(st.integers(2 if rich else 1, 3))
            calls, answers = [], []
            for position in range(size):
                count += 1
                marker = "||thought_signature||QUJD" if gateway else ""
                call_id = f"call{count:05d}{marker}" if ids else None
                signature = (
                    SIGNATURE if signed and not gateway and not position else None
                )
                name = names[position]
                calls.append(call(name, id=call_id, signature=signature, n=count))
                answers.append(response(name, id=call_id, n=count))
            said = draw(st.sampled_from([(), (f"step {number}.{step}",)]))
            contents += [model(*said, *calls), user(*answers)]
        if contents[-1].parts[0].text is None or draw(st.booleans()):
            contents.append(model(f"answer {number}"))
    return [*contents, user("go on")]


def _others() -> st.SearchStrategy[list[types.Part]]:
    return st.lists(st.sampled_from(["more words"]).map(text), max_size=1)


def _rounds(contents: Contents) -> list[int]:
    return [
        n
        for n, content in enumerate(contents)
        if any(part.function_call for part in content.parts or ())
    ]


def _home(contents: Contents, at: int = -1) -> tuple[types.Content, types.Content]:
    n = _rounds(contents)[at]
    return contents[n], contents[n + 1]


def _inserted(where: int, *turns: types.Content) -> Callable[[Contents], Contents]:
    return lambda contents: [*contents[:where], *turns, *contents[where:]]


def _behind_calls(*turns: types.Content) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        n = _rounds(contents)[-1] + 1
        return [*contents[:n], *turns, *contents[n:]]

    return run


def _before_calls(*turns: types.Content) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        n = _rounds(contents)[-1]
        return [*contents[:n], *turns, *contents[n:]]

    return run


def _without_responses(contents: Contents) -> Contents:
    n = _rounds(contents)[-1] + 1
    return [*contents[:n], *contents[n + 1 :]]


def _said_twice(contents: Contents) -> Contents:
    _, home = _home(contents)
    home.parts.append(copy.deepcopy(home.parts[-1]))
    return contents


def _reversed(contents: Contents) -> Contents:
    _, home = _home(contents)
    home.parts.reverse()
    return contents


def _call_set(**fields: Any) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        turn, _ = _home(contents)
        for name, value in fields.items():
            setattr(turn.parts[-1].function_call, name, value)
        return contents

    return run


def _response_set(**fields: Any) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        _, home = _home(contents)
        for name, value in fields.items():
            setattr(home.parts[-1].function_response, name, value)
        return contents

    return run


def _both_set(**fields: Any) -> Callable[[Contents], Contents]:
    return lambda contents: _response_set(**fields)(_call_set(**fields)(contents))


def _unnumbered_twins(contents: Contents) -> Contents:
    turn, home = _home(contents)
    for part in turn.parts:
        if part.function_call:
            part.function_call.name = "look"
    for part in home.parts:
        part.function_response.name, part.function_response.id = "look", None
    return contents


def _part_set(**fields: Any) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        turn, _ = _home(contents)
        for name, value in fields.items():
            setattr(turn.parts[-1], name, value)
        return contents

    return run


def _joined(contents: Contents) -> Contents:
    turn, home = _home(contents)
    turn.parts += home.parts
    contents.remove(home)
    return contents


def _role(name: str | None) -> Callable[[Contents], Contents]:
    def run(contents: Contents) -> Contents:
        _home(contents)[1].role = name
        return contents

    return run


def _with_part(part: types.Part, of: int) -> Callable[[Contents], Contents]:
    """Append a part to the last call turn (0) or to its responses (1)."""

    def run(contents: Contents) -> Contents:
        _home(contents)[of].parts.append(copy.deepcopy(part))
        return contents

    return run


def _nested(*kinds: tuple[str, str | None]) -> list[types.FunctionResponsePart]:
    blob = types.FunctionResponseBlob
    return [
        types.FunctionResponsePart(
            inline_data=blob(data=PNG, mime_type=kind, display_name=name)
        )
        for kind, name in kinds
    ]


def _unsigned_at_the_end(contents: Contents) -> Contents:
    return [
        *contents,
        model(call("look", id="end1", n=0)),
        user(response("look", id="end1", n=0)),
    ]


def _bare_sibling(contents: Contents) -> Contents:
    turn, home = _home(contents)
    turn.parts.append(call("seek", id="bare1", n=0))
    home.parts.append(response("seek", id="bare1", n=0))
    return contents


def _one_id_for_all(contents: Contents) -> Contents:
    turn, home = _home(contents)
    for part in [*turn.parts, *home.parts]:
        said = part.function_call or part.function_response
        if said:
            said.id = "same00001"
    return contents


@dataclass(frozen=True)
class Breakage:
    """What breaks a rich clean history, and the profile under which it shows."""

    run: Callable[[Contents], Contents]
    profile: str = "gemini-3"


BREAKAGES: dict[str, Breakage] = {
    "HG101": Breakage(_without_responses),
    "HG102": Breakage(_inserted(1, user(response("ghost", id="ghost0001", n=0)))),
    "HG103": Breakage(_said_twice),
    "HG104": Breakage(_behind_calls(user("hurry up"))),
    "HG105": Breakage(_reversed),
    "HG106": Breakage(_response_set(name="other")),
    "HG107": Breakage(_response_set(id=None)),
    "HG108": Breakage(_unnumbered_twins),
    "HG109": Breakage(lambda c: [*c, model(call("adk_request_input", id="ask000001"))]),
    "HG200": Breakage(lambda _: []),
    "HG201": Breakage(_inserted(1, types.Content(role="model", parts=[]))),
    "HG202": Breakage(_role("function")),
    "HG203": Breakage(_inserted(0, model("hello"))),
    "HG204": Breakage(_before_calls(model("let me look"))),
    "HG205": Breakage(_with_part(text("mind the gap"), 1)),
    "HG206": Breakage(lambda c: [*c, model("bye")]),
    "HG208": Breakage(_joined),
    "HG209": Breakage(_inserted(1, model("one"), model("two"))),
    "HG210": Breakage(lambda c: _behind_home(c, user("quick")), "mistral"),
    "HG211": Breakage(lambda c: [*c, model("bye ")], "anthropic"),
    "HG301": Breakage(_with_part(text(""), 0)),
    "HG302": Breakage(_with_part(types.Part(thought_signature=SIGNATURE), 0)),
    "HG303": Breakage(
        _with_part(types.Part(text="a", inline_data=media().inline_data), 0)
    ),
    "HG304": Breakage(_both_set(name=None)),
    "HG305": Breakage(_both_set(name="look up")),
    "HG306": Breakage(_response_set(response=None)),
    "HG307": Breakage(_call_set(will_continue=True)),
    "HG309": Breakage(_response_set(parts=_nested(("image/gif", "a.gif")))),
    "HG310": Breakage(
        _response_set(parts=_nested(("image/png", "a"), ("image/png", "a")))
    ),
    "HG401": Breakage(_unsigned_at_the_end),
    "HG402": Breakage(_part_set(thought_signature=PLACEHOLDER)),
    "HG403": Breakage(_part_set(thought_signature=SIGNATURE), "openai-chat"),
    "HG404": Breakage(_bare_sibling, "gemini-gateway"),
    "HG501": Breakage(_one_id_for_all),
    "HG502": Breakage(_both_set(id=None)),
    "HG504": Breakage(_both_set(id="call_1"), "mistral"),
    "HG505": Breakage(_both_set(id=None), "openai-chat"),
}
"""One breakage for each rule; a test holds the keys against `RULES`."""


def _behind_home(contents: Contents, *turns: types.Content) -> Contents:
    n = _rounds(contents)[-1] + 2
    return [*contents[:n], *turns, *contents[n:]]


_IDS = [None, "", "c1", "c2", "adk-1", "adk-2", "c3__thought__QUJD", "ünïcode id"]
_ANY_NAMES = [None, "", "look", "seek", "adk_request_confirmation", "look up"]
_SIGNATURES = [None, None, SIGNATURE, PLACEHOLDER]
_TOKENS = st.integers(1, 3)


@st.composite
def _any_call(draw: st.DrawFn) -> types.Part:
    part = call(
        draw(st.sampled_from(_ANY_NAMES)),
        id=draw(st.sampled_from(_IDS)),
        signature=draw(st.sampled_from(_SIGNATURES)),
    )
    part.function_call.args = draw(
        st.sampled_from(
            [
                None,
                {},
                {"n": 1},
                {"n": 2},
                {"originalFunctionCall": {"id": "c1", "name": "look"}},
                {"originalFunctionCall": "nonsense"},
            ]
        )
    )
    part.function_call.will_continue = draw(st.sampled_from([None, None, None, True]))
    return part


@st.composite
def _any_response(draw: st.DrawFn) -> types.Part:
    said = types.FunctionResponse(
        id=draw(st.sampled_from(_IDS)),
        name=draw(st.sampled_from(_ANY_NAMES)),
        response=draw(st.sampled_from([None, {}, {"n": 1}, {"n": 2}])),
    )
    if draw(st.integers(0, 7)) == 0:
        said.parts = _nested(
            ("image/gif", "a"), ("image/png", "a"), ("image/png", None)
        )
    return types.Part(function_response=said)


def any_part() -> st.SearchStrategy[types.Part]:
    """A part of any kind, also of none or of two."""
    return st.one_of(
        _any_call(),
        _any_response(),
        st.sampled_from(["hello", "", " ", "ünïcode"]).map(text),
        st.sampled_from(
            [
                types.Part(),
                types.Part(thought_signature=SIGNATURE),
                types.Part(text="", thought_signature=SIGNATURE),
                types.Part(text="I think", thought=True),
                types.Part(text="a", inline_data=media().inline_data),
                types.Part(
                    executable_code=types.ExecutableCode(code="1", language="PYTHON")
                ),
                media(),
            ]
        ),
    ).map(copy.deepcopy)


def any_contents() -> st.SearchStrategy[Contents]:
    """Contents of valid types that keep no contract."""
    roles = st.sampled_from(
        ["user", "user", "model", "model", None, "", "function", "assistant"]
    )
    parts = st.one_of(
        st.none(), st.lists(any_part(), max_size=4), st.lists(any_part(), max_size=4)
    )
    content = st.builds(
        lambda role, parts: types.Content(role=role, parts=parts), roles, parts
    )
    return st.lists(content, max_size=8)


@st.composite
def any_events(draw: st.DrawFn) -> list[Event]:
    """Events of valid types, as a broken store may hold them."""
    found = []
    for number in range(draw(st.integers(0, 9))):
        made = event(
            draw(st.sampled_from(["user", "root", "root", "helper"])),
            *draw(st.lists(any_part(), max_size=3)),
            number=number,
            invocation=draw(st.sampled_from(["one", "two"])),
            long_running=draw(st.sampled_from([(), (), ("c1",), ("c1", "adk-1")])),
            role=draw(st.sampled_from([None, None, None, "model"])),
            branch=draw(st.sampled_from([None, None, None, "root", "root.a"])),
        )
        if draw(st.integers(0, 9)) == 0:
            made.actions.rewind_before_invocation_id = draw(
                st.sampled_from(["one", "two", "none"])
            )
        if draw(st.integers(0, 9)) == 0 and made.content is not None:
            made.content.parts = None
        found.append(made)
    return found
