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
_SHORT_CUT = "a short cut, which saves time and tells the same"
_KEY_OF_PAIRING = "a key of a table that `core/pairing.py` makes when it is imported"
_FOR_TYPES = "for the type checker; no other record or part gets there"

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
        "_Walk._find_later: response.id is None or "
        "self.open_by_id.get(response.id) != 1 -> "
        "self.open_by_id.get(response.id) != 1": "no call is counted under no id",
        "pair: turn.calls and turn.responses -> turn.responses": _ONE_KIND,
        "pair: turn.calls and turn.responses -> turn.calls": _ONE_KIND,
        "_NEAR: 64 -> 65": "a bound on work, not on what comes out",
    },
    "core/screen.py": {
        "is_clean: any_ids -> False": _SHORT_CUT,
        "_is_plain: len(part.model_fields_set) == 1 or not has_data(part) -> "
        "not has_data(part)": _SHORT_CUT,
        "_is_whole: not part.model_fields_set <= _SIGNED_CALL and "
        "_has_more(part, _SIGNED_CALL) -> _has_more(part, _SIGNED_CALL)": _SHORT_CUT,
        "_is_whole: part.model_fields_set <= _SIGNED_CALL -> "
        "part.model_fields_set < _SIGNED_CALL": _SHORT_CUT,
        "_is_whole: call.model_fields_set <= _PLAIN_CALL or "
        "not _has_more(call, _PLAIN_CALL) -> "
        "not _has_more(call, _PLAIN_CALL)": _SHORT_CUT,
        "_is_whole: call.model_fields_set <= _PLAIN_CALL -> "
        "call.model_fields_set < _PLAIN_CALL": _SHORT_CUT,
        "_answers: len(part.model_fields_set) > 1 and _has_more(part, _RESPONSE) -> "
        "_has_more(part, _RESPONSE)": _SHORT_CUT,
        "_answers: len(part.model_fields_set) > 1 -> "
        "len(part.model_fields_set) >= 1": _SHORT_CUT,
        "_answers: not response.model_fields_set <= _PLAIN_RESPONSE and "
        "_has_more(response, _PLAIN_RESPONSE) -> "
        "_has_more(response, _PLAIN_RESPONSE)": _SHORT_CUT,
        "_answers: response.model_fields_set <= _PLAIN_RESPONSE -> "
        "response.model_fields_set < _PLAIN_RESPONSE": _SHORT_CUT,
        "_are_new: count == 1 or len(set(ids)) == count -> "
        "len(set(ids)) == count": _SHORT_CUT,
    },
    "core/turns.py": {
        "CONFIRMATION: 'adk_request_confirmation' -> "
        "'adk_request_confirmation_'": _KEY_OF_PAIRING,
        "CREDENTIAL: 'adk_request_credential' -> "
        "'adk_request_credential_'": _KEY_OF_PAIRING,
    },
    "core/collapse.py": {
        "_holding: part.function_response or types.FunctionResponse() -> "
        "part.function_response": _FOR_TYPES,
    },
    "core/narration.py": {
        "response: return [part] -> return None": _FOR_TYPES,
        "_told: isinstance(record, Call) and record in told -> "
        "record in told": _FOR_TYPES,
        "_told: isinstance(record, Response) and job.pairs.owner.get(record) in told "
        "-> job.pairs.owner.get(record) in told": _FOR_TYPES,
    },
    "core/guard.py": {"guard: changes -> True": _SHORT_CUT},
    "core/profiles.py": {
        "_ALL: 'own' -> 'own_'": "what is neither `any` nor `signed` is read as `own`",
    },
    "core/answers.py": {
        "_narrate: record in narrated and isinstance(record, Response) -> "
        "record in narrated": _FOR_TYPES,
        "_dropping: isinstance(record, Call) and plan.get(record) == 'drop' -> "
        "plan.get(record) == 'drop'": _FOR_TYPES,
        "_mend_response: part.function_response or types.FunctionResponse() -> "
        "part.function_response": _FOR_TYPES,
        "_mend_call: call is None or not update -> not update": _FOR_TYPES,
    },
    "core/media.py": {
        "_nested: isinstance(record, Response) and record in given -> "
        "record in given": _FOR_TYPES,
        "_holding: part.function_response or types.FunctionResponse() -> "
        "part.function_response": _FOR_TYPES,
        "_emptied: part.function_response or types.FunctionResponse() -> "
        "part.function_response": _FOR_TYPES,
    },
}
