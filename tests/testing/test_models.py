# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The scripted and the random model."""

from __future__ import annotations

import pytest

from adk_history_guard.testing import (
    Call,
    Failure,
    Finish,
    Model,
    RandomModel,
    Script,
    Text,
    call,
    failure,
    finish,
    text,
)

pytestmark = pytest.mark.once


def calls(reply):
    """The calls of a reply."""
    return [part for part in reply if isinstance(part, Call)]


def play(model, replies=200):
    """The calls of many replies."""
    return [part for _ in range(replies) for part in calls(model.reply([], 0))]


@pytest.mark.parametrize(
    ("item", "reply"),
    [
        pytest.param("hi", [Text("hi")], id="words"),
        pytest.param(text("hi", thought=True), [Text("hi", thought=True)], id="text"),
        pytest.param(call("f", {"n": 1}), [Call("f", {"n": 1})], id="call"),
        pytest.param(["a", call("f")], [Text("a"), Call("f")], id="list"),
        pytest.param([], [], id="nothing"),
        pytest.param(finish("SAFETY"), [Finish("SAFETY")], id="finish"),
        pytest.param(failure(500, "x"), Failure(500, "x"), id="failure"),
        pytest.param(lambda c: f"{len(c)} turns", [Text("0 turns")], id="callable"),
        pytest.param(lambda _: [call("f")], [Call("f")], id="callable-list"),
    ],
)
def test_a_script_takes_many_forms(item, reply):
    """Each item of a script is one reply, however short it is written."""
    assert Script([item]).reply([], 0) == reply


def test_a_script_that_is_used_up_repeats_itself():
    """After the last reply one text is repeated, by default `done`."""
    script = Script(["a"], otherwise="over")
    assert isinstance(script, Model)
    assert script.left == 1
    assert [script.reply([], 0)[0].text for _ in range(3)] == ["a", "over", "over"]
    assert script.left == 0


def test_the_same_seed_plays_the_same_game():
    """A seed decides everything, another seed something else."""
    tools = {"look": {"city": "str"}, "see": None}
    first, again, other = (RandomModel(seed, tools) for seed in (1, 1, 2))
    assert play(first) == play(again) != play(other)


def test_every_call_has_a_token_of_its_own():
    """Tokens count up over the whole game, and the model keeps the truth."""
    model = RandomModel(3, ["look", "see"], first=5)
    made = play(model)
    assert [part.args["n"] for part in made] == list(range(5, 5 + len(made)))
    assert [(c.n, c.name, c.id) for c in model.calls] == [
        (part.args["n"], part.name, part.id) for part in made
    ]


def test_ids_of_a_pool_repeat_but_not_within_a_turn():
    """Ids from a pool come again later, and once in a turn."""
    model = RandomModel(1, ["look"], id_pool=6)
    turns = [[part.id for part in calls(model.reply([], 0))] for _ in range(50)]
    assert all(len(ids) == len(set(ids)) for ids in turns)
    assert {id_ for ids in turns for id_ in ids} == {f"call_{n}" for n in range(6)}


def test_ids_repeat_within_a_turn_on_demand():
    """With repeat_in_turn, two calls of one turn share an id now and then."""
    model = RandomModel(1, ["look"], repeat_in_turn=True)
    turns = [[part.id for part in calls(model.reply([], 0))] for _ in range(50)]
    assert any(len(ids) != len(set(ids)) for ids in turns)


@pytest.mark.parametrize("pool", ["missing", None])
def test_ids_may_be_missing(pool):
    """No call has an id."""
    assert {part.id for part in play(RandomModel(1, ["f"], id_pool=pool))} == {None}


def test_ids_may_be_unique():
    """No id comes twice."""
    ids = [part.id for part in play(RandomModel(1, ["f"], id_pool="unique"))]
    assert len(ids) == len(set(ids))


def test_the_number_of_steps_is_bounded():
    """After so many call turns the model speaks, whatever the dice say."""
    model = RandomModel(1, ["f"], steps=2, call_rate=1.0)
    assert all(calls(model.reply([], step)) for step in (0, 1))
    assert not any(calls(model.reply([], step)) for step in (2, 3, 9))


def test_turns_are_as_wide_as_asked():
    """A reply has at least and at most so many calls."""
    model = RandomModel(1, ["f"], parallel=(2, 3), call_rate=1.0)
    assert {len(calls(model.reply([], 0))) for _ in range(50)} == {2, 3}


def test_arguments_have_their_kinds():
    """Kinds, choices, constants and callables make the further arguments."""
    spec = {
        "city": "str",
        "days": "int",
        "part": "float",
        "dry": "bool",
        "unit": ["C", "F"],
        "roll": lambda rng: rng.randint(1, 6),
        "fixed": {"a": 1},
        "word": "verbatim",
    }
    for part in play(RandomModel(1, {"f": spec}), 50):
        kinds = [type(part.args[key]) for key in ("city", "days", "part", "dry")]
        assert kinds == [str, int, float, bool]
        assert part.args["unit"] in ("C", "F")
        assert 1 <= part.args["roll"] <= 6
        assert (part.args["fixed"], part.args["word"]) == ({"a": 1}, "verbatim")


def test_signing_and_streaming_are_options():
    """Without signing nothing is signed, without pieces nothing is cut."""
    model = RandomModel(1, ["f"], sign=False, stream_pieces=False)
    made = play(model)
    assert {(part.signature, part.pieces) for part in made} == {(False, None)}
    signed = RandomModel(1, ["f"], sign_text=True, call_rate=0)
    assert {part.signature for _ in range(20) for part in signed.reply([], 0)} == {
        True,
        None,
    }
