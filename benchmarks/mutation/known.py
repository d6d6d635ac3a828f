# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test can tell from the code itself, each with its reason.

The keys are the modules, and the names that the command prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KNOWN: Mapping[str, Mapping[str, str]] = {}
