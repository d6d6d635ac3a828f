# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent

LITELLM = (
    # LiteLLM's types and pydantic's reading of them.
    r"ignore:Items? .* on TypedDict class .* using the `ReadOnly`:UserWarning",
    "ignore:Pydantic serializer warnings:UserWarning",
    # LiteLLM's clients are closed with their event loop.
    "ignore:unclosed:ResourceWarning",
    "ignore:coroutine .* was never awaited:RuntimeWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


def pytest_collection_modifyitems(items):
    """Let LiteLLM warn of itself in the tests of this folder."""
    for item in items:
        if HERE in item.path.parents:
            for words in LITELLM:
                item.add_marker(pytest.mark.filterwarnings(words))


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    """Whether the model streams."""
    return request.param
