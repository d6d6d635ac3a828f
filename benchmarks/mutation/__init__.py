# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Small faults put into the guard, one at a time: does a test see each?

`mutants` makes them, `harness` runs the tests against them, `known` names those
that no test can see, each with its reason.
"""
