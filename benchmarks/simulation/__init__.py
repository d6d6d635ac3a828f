# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated sessions: a random model, a client that answers late, restarts.

The model is the emulator's, behind the real google-genai client and ADK's `Gemini`;
runner, session services and tools are ADK's own. `ledger` knows what every request
must hold, `client` is the person and the machines on the other side, `play` runs one
session.
"""

from __future__ import annotations

from benchmarks.simulation.play import Outcome, Plan, play

__all__ = ["Outcome", "Plan", "play"]
