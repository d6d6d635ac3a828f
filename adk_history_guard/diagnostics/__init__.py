# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A rejected request: dumped, explained, shrunk, replayed, drawn.

In the order in which a request meets them: `failures` tells a rejection from other
errors, `record` holds it, `shape` takes the user's text out, `files` writes it,
`schema` and `sources` read it back, `clues` and `causes` name the rules behind an
error text, `explain`, `minimize`, `wire`, `replay` and `report` work on what was read.
"""

from __future__ import annotations
