# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What the guard is measured with: simulations and timings, run by hand and in CI."""
