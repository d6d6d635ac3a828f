# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions of many turns over each emulator: a small seeded part of the benchmark."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.providers import PROVIDERS, Plan, play


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_request_is_refused_and_no_answer_lost(provider, stream):
    """Ids that repeat or are missing, parallel calls, late jobs: all come through."""
    plan = Plan(provider, seed=11, turns=8, stream=stream)

    outcome = await asyncio.to_thread(play, plan)

    assert outcome.faults == []
    assert (outcome.turns, outcome.calls > 8) == (8, True)


@pytest.mark.parametrize("provider", ["openai", "gateway", "anthropic"])
async def test_the_same_session_fails_without_the_guard(provider, stream):
    """What the guard is there for: the emulators are as strict as they should be."""
    plan = Plan(provider, seed=11, turns=8, stream=stream, guard=False)

    outcome = await asyncio.to_thread(play, plan)

    assert outcome.faults != []
