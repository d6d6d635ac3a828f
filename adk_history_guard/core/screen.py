# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A quick look that tells clean contents without building anything.

Nearly every request is clean, and the guard stands in front of every model
call: so the common answer must be cheap. `is_clean` is one loop with no
allocation but the ids it has seen. It errs on the side of "no": what it calls
clean has no violation and needs no repair (a law in the tests); what it does
not is read, repaired and checked in full.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from adk_history_guard.core.checks import severity
from adk_history_guard.core.profiles import IdFormat
from adk_history_guard.core.signatures import PLACEHOLDER_SIGNATURES
from adk_history_guard.core.turns import Severity, has_data, is_media

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from google.genai import types
    from pydantic import BaseModel

    from adk_history_guard.core.profiles import Profile

_ANY_ID = IdFormat()
_PLAIN_RESPONSE = frozenset({"id", "name", "response"})
_PLAIN_CALL = frozenset({"id", "name", "args"})
_RESPONSE = frozenset({"function_response"})
_SIGNED_CALL = frozenset({"function_call", "thought_signature"})


@lru_cache(maxsize=4096)
def is_legal_name(name: str, names: re.Pattern[str]) -> bool:
    """Tell whether a function of this name can be declared (G28)."""
    return names.fullmatch(name) is not None


def is_clean(  # noqa: C901, PLR0911, PLR0912 - one loop on purpose, see above
    contents: Sequence[types.Content], profile: Profile
) -> bool:
    """Tell whether contents certainly need no repair and break no rule.

    Args:
      contents: The contents of a request.
      profile: The contract.

    Returns:
      True where nothing is to be done; False where the full walk must look.
    """
    demands_signatures = (
        profile.signatures == "demanded"
        or severity("HG401", profile) is not Severity.OFF
    )
    foreign = profile.signatures == "foreign"
    responded = False  # right before, where the model must speak next
    one_media = profile.media_turns == "one"
    behind = False  # right behind responses
    behind_media = False  # right behind media that is right behind responses
    any_ids = profile.ids == _ANY_ID and not _wants_signed_ids(profile)
    seen: set[str] = set()
    calls: list[types.FunctionCall] = []  # of the turn before, still unanswered
    unsigned = False  # a step since the newest user turn
    speaker = None
    for content in contents:
        parts = content.parts
        if not parts:
            return False
        role = content.role
        if calls:
            if role != "user" or not _answers(parts, calls):
                return False
            calls = []
            responded = profile.model_after_responses
            behind = True
        elif role == "user":
            unsigned = False
            if responded:
                return False
            is_more = one_media and is_media(parts[0])
            if behind_media and is_more:
                return False
            behind, behind_media = False, behind and is_more
            for part in parts:
                if not _is_plain(part):
                    return False
                if foreign and (part.thought_signature is not None or part.thought):
                    return False
        elif (
            role != "model"
            or speaker == "model"
            or (speaker is None and profile.leading_user)
        ):
            return False
        else:
            for part in parts:
                call = part.function_call
                if call is None:
                    if not _is_plain(part):
                        return False
                elif not _is_whole(part, call, profile.names) or (
                    calls and part.thought_signature in PLACEHOLDER_SIGNATURES
                ):
                    return False
                else:
                    if not calls and not part.thought_signature:
                        unsigned = demands_signatures
                    calls.append(call)
                if foreign and (part.thought_signature is not None or part.thought):
                    return False
            responded = behind = behind_media = False
            if calls and not (
                _are_new(calls, seen) if any_ids else _are_legal(calls, seen, profile)
            ):
                return False
        speaker = role
    return speaker == "user" and not unsigned


def _is_plain(part: types.Part) -> bool:
    """A part with one data field that is neither a call nor a response."""
    if part.text:
        return len(part.model_fields_set) == 1 or not has_data(part)
    if part.function_call is not None or part.function_response is not None:
        return False
    return len(part.model_fields_set) == 1 and has_data(part)


def _is_whole(
    part: types.Part, call: types.FunctionCall, names: re.Pattern[str]
) -> bool:
    """A call part with nothing but a call and its signature."""
    if not part.model_fields_set <= _SIGNED_CALL and _has_more(part, _SIGNED_CALL):
        return False
    if not call.name or not is_legal_name(call.name, names):
        return False
    return call.model_fields_set <= _PLAIN_CALL or not _has_more(call, _PLAIN_CALL)


def _has_more(model: BaseModel, plain: frozenset[str]) -> bool:
    """Whether fields other than these hold something, not only None."""
    values = model.__dict__
    return any(
        values[name] is not None for name in model.model_fields_set if name not in plain
    )


def _answers(parts: list[types.Part], calls: list[types.FunctionCall]) -> bool:
    """Whether the parts are the responses to the calls, one by one."""
    if len(parts) != len(calls):
        return False
    for part, call in zip(parts, calls, strict=True):
        response = part.function_response
        if (
            response is None
            or response.name != call.name
            or response.id != call.id
            or response.response is None
            or (len(part.model_fields_set) > 1 and _has_more(part, _RESPONSE))
            or (
                not response.model_fields_set <= _PLAIN_RESPONSE
                and _has_more(response, _PLAIN_RESPONSE)
            )
        ):
            return False
    return True


def _are_new(calls: list[types.FunctionCall], seen: set[str]) -> bool:
    """Whether all calls carry ids that are new, or none carries one."""
    ids = [call.id for call in calls if call.id is not None]
    if not ids:
        return True
    count = len(ids)
    if count < len(calls) or not all(ids) or not seen.isdisjoint(ids):
        return False
    seen.update(ids)
    return count == 1 or len(set(ids)) == count


def _are_legal(
    calls: list[types.FunctionCall], seen: set[str], profile: Profile
) -> bool:
    """Whether every id is new and of the provider's format, and none is missing."""
    form = profile.ids
    if _wants_signed_ids(profile) or not _are_new(calls, seen):
        return False
    return all(form.allows(call.id) if call.id else not form.required for call in calls)


def _wants_signed_ids(profile: Profile) -> bool:
    """Whether the full walk must look at every id, for the signature inside."""
    return profile.signed_ids or profile.parallel == "collapse"
