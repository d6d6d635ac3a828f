# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a module: `python -m adk_history_guard`."""

from __future__ import annotations

from adk_history_guard.cli import main

if __name__ == "__main__":
    main(prog_name="python -m adk_history_guard")
