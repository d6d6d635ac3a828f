# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A sample agent; ADK loads this folder by its name."""

from __future__ import annotations

from . import agent as agent
