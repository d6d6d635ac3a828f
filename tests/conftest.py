# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

from __future__ import annotations

import gc
import logging
import os
from importlib import metadata
from typing import TYPE_CHECKING

# LiteLLM would fetch a list of prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import pytest

# What is imported to stay is not looked through for garbage, again and again.
gc.disable()

if TYPE_CHECKING:
    from collections.abc import Iterator

DISTRIBUTIONS = ("google-adk", "google-genai", "litellm", "anthropic", "hypothesis")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes expectations anew."""
    parser.addoption(
        "--regen",
        action="store_true",
        help="write expected.txt and repaired.json of tests/cases anew",
    )


def pytest_collection_finish() -> None:
    """Leave what was imported out of every collection of garbage from now on."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_report_header(config: pytest.Config) -> str:
    """Print the versions that the tests run on."""
    found = []
    for name in DISTRIBUTIONS:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return "on " + ", ".join(found)


@pytest.fixture
def regen(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are to be written anew."""
    return bool(request.config.getoption("--regen"))


@pytest.fixture(params=["plugin", "model"])
def door(request: pytest.FixtureRequest) -> str:
    """Where the guard stands: in the Runner or around the model."""
    return str(request.param)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the knobs of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.startswith("ADK_HISTORY_GUARD_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def nothing_left_silent() -> Iterator[None]:
    """Fail where a test leaves logging off: later tests would see no record."""
    yield
    left = logging.root.manager.disable
    logging.disable(logging.NOTSET)
    assert left == logging.NOTSET
