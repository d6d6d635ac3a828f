# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the emulators share."""

from __future__ import annotations

import os

# LiteLLM would fetch a list of prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# The entry point brings these where the package is installed.
from adk_history_guard.testing.fixtures import (
    guarded_runner,
    strict_gemini,
)

__all__ = ["guarded_runner", "strict_gemini"]
