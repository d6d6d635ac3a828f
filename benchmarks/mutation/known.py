# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test can tell from the code itself, each with its reason.

The keys are the modules, and the names that the command prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEVER_NONE = "a bucket has had a call, so it has one that came last"
_LIKE_BY_LIKE = "a fresh call without id is the first of its like in both queues"
_ONE_KIND = "calls alone, or responses alone, stand in order already"

KNOWN: Mapping[str, Mapping[str, str]] = {
    "core/pairing.py": {
        "_Bucket.add: blocks and blocks[-1] and (blocks[-1][0].call.turn == "
        "entry.call.turn) -> blocks and blocks[-1][0].call.turn == entry.call.turn": (
            "`fresh` throws an empty block away itself"
        ),
        "_Walk.__init__: self.newest = -1 -> pass": "a call sets it before it is read",
        "_Walk.__init__: 1 -> 2": "a call sets it before it is read",
        "_Walk._find_misnamed: last.call.id or '' -> last.call.id": (
            "only calls with an id are found by id"
        ),
        "_Walk._is_alone: before.call.turn != turn or before.state == DONE -> "
        "before.call.turn != turn": "the count finds the only open call as well",
        "_Walk._find_by_name: entry is None or entry.call.id is None -> "
        "entry.call.id is None": _NEVER_NONE,
        "_Walk._find_by_name: entry is None or entry.call.id is None -> "
        "entry is None": _LIKE_BY_LIKE,
        "_Walk._find_unnumbered: entry is None or _has_rivals(bucket) -> "
        "_has_rivals(bucket)": "without a fresh call there are no rivals either",
        "_Walk.finish: pairs.orphans -> True": "none are brought home then",
        "_Walk._bring_early_ones_home: True -> False": "both lists are of one length",
        "_Walk._find_later: response.id is None or "
        "self.open_by_id.get(response.id) != 1 -> "
        "self.open_by_id.get(response.id) != 1": "no call is counted under no id",
        "pair: turn.calls and turn.responses -> turn.responses": _ONE_KIND,
        "pair: turn.calls and turn.responses -> turn.calls": _ONE_KIND,
        "_has_rivals: return False -> return None": "None is as false",
        "_NEAR: 64 -> 65": "a bound on work, not on what comes out",
    },
}
