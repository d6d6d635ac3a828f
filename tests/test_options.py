# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The knobs: defaults, validation, environment, and how the three join."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from pathlib import Path

import pytest

from adk_history_guard.core.profiles import PROFILES
from adk_history_guard.errors import ConfigurationError
from adk_history_guard.options import ENV_PREFIX, GuardOptions, list_knobs

DEFAULTS = {
    "mode": "repair",
    "profile": "auto",
    "mint": "auto",
    "wire_ids": "strip",
    "unanswered": "placeholder",
    "pending": "placeholder",
    "unsigned": "auto",
    "orphans": "drop",
    "parallel": "keep",
    "media": "separate",
    "retry": "never",
    "dump": None,
    "dump_content": "shape",
    "redact": None,
    "on_rejected": None,
    "signature_marker": "||thought_signature||",
}

CHOICES = [
    (field.name, choice)
    for field in dataclasses.fields(GuardOptions)
    for choice in field.metadata.get("choices", ())
]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """Take the variables of the machine that runs the tests out of the way."""
    import os

    for variable in list(os.environ):
        if variable.startswith(ENV_PREFIX):
            monkeypatch.delenv(variable)


def test_defaults_are_the_documented_ones():
    """Without arguments every knob has the default that the design gives it."""
    assert {
        field.name: getattr(GuardOptions(), field.name)
        for field in dataclasses.fields(GuardOptions)
    } == DEFAULTS


@pytest.mark.parametrize(("knob", "choice"), CHOICES)
def test_each_choice_is_accepted_in_code_and_environment(knob, choice):
    """Every value of the table is accepted as an argument and as a variable."""
    in_code = GuardOptions(**{knob: choice})
    in_environment = GuardOptions.from_env({ENV_PREFIX + knob.upper(): choice})

    assert choice == getattr(in_code, knob)
    assert in_code == in_environment


@pytest.mark.parametrize("knob", sorted({knob for knob, _ in CHOICES}))
@pytest.mark.parametrize("value", ["no-such-choice", "", None, 1, True, ["repair"]])
def test_wrong_choice_is_rejected_and_the_allowed_ones_are_listed(knob, value):
    """A value outside the table names knob, value and everything allowed."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions(**{knob: value})

    message = str(caught.value)
    assert message.startswith(f"{knob}={value!r} is not allowed.")
    assert all(repr(choice) in message for name, choice in CHOICES if name == knob)


def test_near_miss_is_answered_with_the_nearest_value():
    """A typing error in a value gets a hint."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions(mode="strickt")

    expected = (
        "mode='strickt' is not allowed. Allowed: 'repair', 'observe', 'strict'."
        " Did you mean 'strict'?"
    )
    assert expected == str(caught.value)


def test_wrong_case_is_a_near_miss():
    """Values are compared exactly; upper case gets a hint."""
    with pytest.raises(ConfigurationError, match="Did you mean 'observe'"):
        GuardOptions(mode="OBSERVE")


def test_options_are_frozen_and_take_keywords_only():
    """Options can be shared between runs because nothing can change them."""
    options = GuardOptions()

    with pytest.raises(dataclasses.FrozenInstanceError):
        options.mode = "strict"
    with pytest.raises(TypeError):
        GuardOptions("strict")


def test_options_compare_hash_and_pickle_by_value():
    """Equal knobs are equal options, in another process too."""
    options = GuardOptions(mode="strict", dump="dumps")

    assert options == GuardOptions(mode="strict", dump="dumps")
    assert hash(options) == hash(GuardOptions(mode="strict", dump="dumps"))
    assert options == pickle.loads(pickle.dumps(options))  # noqa: S301 - our own


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_profile_is_accepted_by_name_and_as_object(name):
    """A profile may be given by its name or itself."""
    assert name == GuardOptions(profile=name).profile
    assert PROFILES[name] is GuardOptions(profile=PROFILES[name]).profile


@pytest.mark.parametrize("value", ["gemini-33", "", None, 3, object()])
def test_unknown_profile_lists_the_known_ones(value):
    """A wrong profile names all that exist."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions(profile=value)

    assert all(repr(name) in str(caught.value) for name in ("auto", *PROFILES))


def test_misspelt_profile_gets_a_hint():
    """A typing error in a profile's name gets a hint."""
    with pytest.raises(ConfigurationError, match=r"Did you mean 'gemini-3'\?"):
        GuardOptions(profile="gemini_3")


@pytest.mark.parametrize("value", [None, "dumps", Path("dumps"), print])
def test_dump_takes_a_folder_or_a_callable(value):
    """A folder as string or path, a callable, or nothing at all."""
    assert value == GuardOptions(dump=value).dump


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        pytest.param("dump", "", id="dump-empty"),
        pytest.param("dump", "  ", id="dump-blank"),
        pytest.param("dump", 3, id="dump-number"),
        pytest.param("dump", b"dumps", id="dump-bytes"),
        pytest.param("redact", "secret", id="redact-text"),
        pytest.param("on_rejected", 1, id="hook-number"),
        pytest.param("signature_marker", "", id="marker-empty"),
        pytest.param("signature_marker", " ", id="marker-blank"),
        pytest.param("signature_marker", None, id="marker-none"),
    ],
)
def test_wrong_value_of_an_open_knob_says_what_is_allowed(knob, value):
    """Knobs without a list of choices describe what they take."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions(**{knob: value})

    assert str(caught.value).startswith(f"{knob}={value!r} is not allowed. Allowed: ")


def test_from_env_reads_only_variables_with_the_prefix():
    """Other variables are none of our business."""
    options = GuardOptions.from_env(
        {
            "ADK_HISTORY_GUARD_MODE": "strict",
            "ADK_HISTORY_GUARD_DUMP": "dumps",
            "ADK_HISTORY_GUARD_SIGNATURE_MARKER": "@@",
            "MODE": "observe",
            "HOME": "/root",
        }
    )

    assert options == GuardOptions(mode="strict", dump="dumps", signature_marker="@@")


def test_from_env_reads_the_process_by_default(monkeypatch):
    """Without an argument the process's own environment is read."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_MODE", "observe")

    assert GuardOptions.from_env() == GuardOptions(mode="observe")


@pytest.mark.parametrize("knob", [knob.variable for knob in list_knobs()])
def test_empty_variable_counts_as_not_set(knob):
    """An empty string leaves the default."""
    environ = {knob: ""} if knob else {}

    assert GuardOptions.from_env(environ) == GuardOptions()


def test_wrong_value_in_the_environment_names_the_variable():
    """The message names the variable that must be corrected, not the keyword."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions.from_env({"ADK_HISTORY_GUARD_MINT": "allways"})

    expected = (
        "ADK_HISTORY_GUARD_MINT='allways' is not allowed."
        " Allowed: 'auto', 'always', 'on_repeat', 'never'. Did you mean 'always'?"
    )
    assert expected == str(caught.value)


def test_unknown_variable_lists_the_known_ones():
    """A misspelt variable is an error, since silence would hide it."""
    with pytest.raises(ConfigurationError) as caught:
        GuardOptions.from_env({"ADK_HISTORY_GUARD_MODUS": "strict"})

    message = str(caught.value)
    assert "Unknown environment variable 'ADK_HISTORY_GUARD_MODUS'." in message
    assert "Did you mean 'ADK_HISTORY_GUARD_MODE'?" in message
    assert all(k.variable in message for k in list_knobs() if k.variable)


@pytest.mark.parametrize("knob", ["redact", "on_rejected"])
def test_knob_that_takes_code_has_no_variable(knob):
    """A callable cannot be written into the environment."""
    with pytest.raises(ConfigurationError, match="Unknown environment variable"):
        GuardOptions.from_env({ENV_PREFIX + knob.upper(): "print"})


def test_build_without_anything_reads_the_environment(monkeypatch):
    """The plugin made by `adk web` is configured by variables alone."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_ORPHANS", "narrate")

    assert GuardOptions.build() == GuardOptions(orphans="narrate")


def test_build_with_options_ignores_the_environment(monkeypatch):
    """Options given in code are complete; variables do not change them."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_ORPHANS", "narrate")
    options = GuardOptions(mode="strict")

    assert GuardOptions.build(options) is options


def test_build_lets_keywords_override(monkeypatch):
    """A keyword wins over the options, and over the environment."""
    monkeypatch.setenv("ADK_HISTORY_GUARD_MODE", "observe")

    assert GuardOptions.build(mode="strict").mode == "strict"
    assert GuardOptions.build(
        GuardOptions(mode="strict", dump="dumps"), mode="repair"
    ) == GuardOptions(dump="dumps")


@pytest.mark.parametrize("door", [GuardOptions, GuardOptions.build])
def test_unknown_knob_is_rejected_with_a_hint(door):
    """A misspelt keyword lists the knobs."""
    with pytest.raises(ConfigurationError) as caught:
        door(wire_id="strip")

    message = str(caught.value)
    assert message.startswith("Unknown knob 'wire_id'. Allowed: mode, profile, mint,")
    assert message.endswith("Did you mean 'wire_ids'?")


def test_build_rejects_options_of_another_type():
    """A dict in place of options is told what to do."""
    with pytest.raises(ConfigurationError, match=r"Pass GuardOptions\(\.\.\.\)"):
        GuardOptions.build({"mode": "strict"})


def test_knob_list_describes_every_field():
    """Docs and command line see each knob with default, values and meaning."""
    knobs = list_knobs()

    assert list(DEFAULTS.items()) == [(knob.name, knob.default) for knob in knobs]
    assert all(knob.meaning.endswith(".") and knob.allowed for knob in knobs)
    assert knobs[0].allowed == "'repair', 'observe', 'strict'"
    assert knobs[0].variable == "ADK_HISTORY_GUARD_MODE"


def test_dropping_is_said_to_spare_signed_calls():
    """What `unanswered="drop"` does not do stands where the knob is described."""
    (meaning,) = (k.meaning for k in list_knobs() if k.name == "unanswered")

    told = " ".join(GuardOptions.__doc__.split())
    assert "a signed one is never dropped" in meaning
    assert "a signed one gets an answer all the same" in told


def test_docstring_describes_every_knob():
    """The class docstring has a paragraph for each knob."""
    told = inspect.getdoc(GuardOptions)
    assert all(f"\n    {name}: " in told for name in DEFAULTS)
