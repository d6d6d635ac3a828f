# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions: what they carry, what they say, and that they travel."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import adk_history_guard.errors
from adk_history_guard.core.turns import Place, Severity, Violation
from adk_history_guard.errors import (
    ConfigurationError,
    DumpFormatError,
    HistoryGuardError,
    InvalidHistoryError,
)

UNANSWERED = Violation(
    code="HG101",
    name="unanswered-call",
    severity=Severity.ERROR,
    place=Place(4, 0),
    message="'get_weather' (id 'call_1') has no response.",
    fix="allow the 'placeholder' repair, or append its response before the request.",
)


def over_pickle(error):
    """Return what another process would receive."""
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own


@pytest.mark.parametrize(
    "kind", [InvalidHistoryError, DumpFormatError, ConfigurationError]
)
def test_each_error_is_ours_and_a_value_error(kind):
    """Both `except HistoryGuardError` and an older `except ValueError` catch it."""
    assert issubclass(kind, HistoryGuardError)
    assert issubclass(kind, ValueError)


def test_base_error_is_no_value_error():
    """The base stays a plain exception."""
    assert not issubclass(HistoryGuardError, ValueError)


def test_public_names_are_the_errors():
    """Every class of the module is public."""
    expected = {
        name
        for name, value in vars(adk_history_guard.errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }

    assert expected == set(adk_history_guard.errors.__all__)


def test_invalid_history_says_what_where_and_the_way_out():
    """The message holds the count, and per violation place, rule, fact and fix."""
    error = InvalidHistoryError([UNANSWERED])

    expected = (
        "The contents break the provider's contract: 1 violation left.\n"
        "contents[4].parts[0]: HG101 unanswered-call:"
        " 'get_weather' (id 'call_1') has no response.\n"
        "  Fix: allow the 'placeholder' repair,"
        " or append its response before the request."
    )
    assert expected == str(error)
    assert error.violations == (UNANSWERED,)


def test_invalid_history_counts_its_violations():
    """Two violations are two lines and a plural."""
    error = InvalidHistoryError(iter([UNANSWERED, UNANSWERED]))

    assert "2 violations left" in str(error)
    assert str(error).count("HG101") == 2
    assert error.violations == (UNANSWERED, UNANSWERED)


@pytest.mark.parametrize("travel", [over_pickle, copy.copy, copy.deepcopy])
def test_invalid_history_travels_with_its_violations(travel):
    """Pickle and copy keep class, message and violations."""
    error = InvalidHistoryError([UNANSWERED], message="worded otherwise")

    arrived = travel(error)

    assert type(arrived) is InvalidHistoryError
    assert str(arrived) == "worded otherwise"
    assert arrived.violations == (UNANSWERED,)


@pytest.mark.parametrize(
    ("path", "place", "expected"),
    [
        pytest.param(None, None, "is empty.", id="neither"),
        pytest.param(Path("a.json"), None, "a.json: is empty.", id="file"),
        pytest.param(None, "contents[4]", "contents[4]: is empty.", id="place"),
        pytest.param(
            "a.json", "contents[4]", "a.json: contents[4]: is empty.", id="both"
        ),
    ],
)
@pytest.mark.parametrize("travel", [lambda error: error, over_pickle, copy.copy])
def test_dump_format_error_names_file_and_place(path, place, expected, travel):
    """The message begins with where, and the parts can be read one by one."""
    error = travel(DumpFormatError("is empty.", path=path, place=place))

    assert expected == str(error)
    assert error.reason == "is empty."
    assert error.path == (None if path is None else str(path))
    assert error.place == place


def test_configuration_error_travels():
    """A plain error keeps its message over pickle."""
    error = over_pickle(ConfigurationError("mode='x' is not allowed."))

    assert type(error) is ConfigurationError
    assert str(error) == "mode='x' is not allowed."
