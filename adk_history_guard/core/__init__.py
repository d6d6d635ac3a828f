# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The core: pure functions from turns to turns; nothing of ADK, no I/O."""
