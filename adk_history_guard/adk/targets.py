# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which provider a request goes to: by the model's class, name and address."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from google.adk.models import LLMRegistry

from adk_history_guard.adk.ids import Mint
from adk_history_guard.adk.routes import NOWHERE, Origin, family_of
from adk_history_guard.core.ids import derived_id
from adk_history_guard.core.profiles import (
    PROFILES,
    IdFormat,
    Profile,
    gemini_profile,
    resolve_profile,
)
from adk_history_guard.core.repair import data_markers
from adk_history_guard.core.turns import carries_data

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from google.genai import types

    from adk_history_guard.options import GuardOptions


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes, and how its calls are treated.

    Attributes:
      profile: The contract.
      reason: Why it was chosen, for logs and dumps.
      mint: When calls of the answer get new ids.
      hands_off: Whether the request must not be touched at all (Interactions API).
      origin: The model and the route, to tell own turns from foreign ones.
    """

    profile: Profile
    reason: str
    mint: Mint
    hands_off: bool = False
    origin: Origin = NOWHERE


_CLASSES: tuple[tuple[str, str], ...] = (
    ("AnthropicLlm", "anthropic"),
    ("Claude", "anthropic"),
    ("OpenAIResponsesLlm", "openai-responses"),
)
"""Model classes of ADK that reach one provider only, by name: no import needed."""

_CHAT = ("LiteLlm", "OpenAILlm", "OCIGenAILlm")
"""Model classes of ADK that speak OpenAI chat, to whom their name and address say."""

_APIGEE_CHAT = "apigee/openai/"
"""The names with which ADK's `ApigeeLlm`, a Gemini by class, speaks OpenAI chat."""

_GOOGLE_PATHS = ("models", "projects", "publishers", "tunedModels", "apigee")
"""How a Gemini's name may begin that goes to Google; others are a router's."""

_BY_NAME = {"claude": "anthropic", "gpt": "openai-chat"}
"""The contract by the family of a name, where the class says nothing."""

_PREFIXES: tuple[tuple[str, str], ...] = (
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("anthropic", "anthropic"),
    ("bedrock", "bedrock"),
    ("vertex_ai/claude", "anthropic"),
    ("vertex_ai/gemini", "gemini"),
    ("vertex_ai/mistral", "mistral"),
    ("gemini", "gemini"),
    ("openai/responses", "openai-responses"),
)
"""LiteLlm's provider prefixes; everything else there speaks OpenAI chat."""

_BY_ID: Mapping[str, Any] = {
    "ids": IdFormat(required=True),
    "nested_media": False,
}
_VIA_LITELLM: Mapping[str, Mapping[str, Any]] = {
    "gemini-3": _BY_ID,
    "gemini-2": _BY_ID,
    "anthropic": {"thoughts": "own"},
}
"""What LiteLlm asks for on top: it pairs by id, whatever the provider does, sends
media of a response in a message of its own, and rebuilds streamed thoughts from
parts that are signed one by one."""

_BASES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
}
"""Where LiteLLM finds the address of a provider when it is given none."""

_OPENAI = ("openai-chat", "openai-responses")

_OPENAI_HOSTS = ("api.openai.com", "openai.azure.com")
"""Hosts of OpenAI's own: no gateway stands there."""


class _Choice(NamedTuple):
    profile: str
    reason: str
    family: str


def target_of(
    model: Any,
    name: str | None,
    options: GuardOptions,
    *,
    live: bool = False,
    contents: Sequence[types.Content] = (),
    foreign_ids: Collection[str] = (),
) -> Target:
    """Choose the contract for a request.

    Args:
      model: The agent's model object, or None where it is not known.
      name: The model's name as the request carries it.
      options: The knobs; a profile set there wins.
      live: Whether the run is a live one; ids then belong to the server.
      contents: The contents of the request: a signature inside an id tells a
        gateway.
      foreign_ids: Ids in them that another model is on record for.

    Returns:
      The target.
    """
    name = name or getattr(model, "model", None) or ""
    kinds = _kinds(model, name)
    if "FallbackModel" in kinds:
        found = [
            target_of(
                *_named(inner),
                options,
                live=live,
                contents=contents,
                foreign_ids=foreign_ids,
            )
            for inner in getattr(model, "models", ())
        ]
        if found:
            return replace(_common(found), origin=origin_of(model, name))
    base = api_base(model, name, kinds)
    choice = _auto(kinds, name, base)
    interactions = bool(getattr(model, "use_interactions_api", False))
    if options.profile != "auto":
        profile = resolve_profile(options.profile)
        choice = choice._replace(reason="set by the option 'profile'")
    else:
        marked = (
            choice.profile == "openai-chat"
            and _may_be_gateway(name, base)
            and _has_marker(contents, data_markers(options), foreign_ids)
        )
        if marked:
            reason = f"{choice.reason}, and ids that hold a thought signature"
            choice = choice._replace(profile="gemini-gateway", reason=reason)
        profile = _profile(
            choice.profile, "LiteLlm" in kinds, _may_be_gateway(name, base)
        )
    mint = Mint.ON_REPEAT
    if live or interactions:
        mint = Mint.NEVER
    elif options.mint != "auto":
        mint = Mint(options.mint)
    elif choice.family == "gemini":
        mint = Mint.ALWAYS
    return Target(
        profile,
        choice.reason,
        mint,
        hands_off=live or interactions,
        origin=origin_of(model, name),
    )


def _named(model: Any) -> tuple[Any, str | None]:
    """A model of a `FallbackModel`: an object, or a name."""
    return (None, model) if isinstance(model, str) else (model, None)


def _common(targets: Sequence[Target]) -> Target:
    """What holds for a request that any of several models may be sent.

    It is the first one's contract. Where one of the others pairs by id, each call
    needs one, and none may be minted that ADK would take off again.
    """
    first = targets[0]
    asking = [target for target in targets if target.profile.ids.required]
    profile, mint = first.profile, first.mint
    if asking:
        mint = asking[0].mint
        if not profile.ids.required:
            ids = asking[0].profile.ids
            profile = replace(profile, ids=ids, nested_media=False)
    reason = "; else ".join(dict.fromkeys(target.reason for target in targets))
    return Target(
        profile, reason, mint, hands_off=any(target.hands_off for target in targets)
    )


def origin_of(model: Any, name: str | None) -> Origin:
    """Return what tells a model's own turns: its name, and the way to it.

    The address of a LiteLlm is kept as a digest: it may hold credentials.
    """
    name = name or getattr(model, "model", None) or ""
    kinds = _kinds(model, name)
    base = api_base(model, name, kinds)
    return Origin(name or None, _route(kinds, name, base))


def _kinds(model: Any, name: str) -> frozenset[str]:
    """The names of a model's classes; a name stands for what ADK makes of it."""
    kinds = _registered(name) if model is None else _class_names(model.__class__)
    if "ApigeeLlm" in kinds and _is_chat(model, name):
        return frozenset({"ApigeeLlm", "OpenAILlm"})
    return kinds


def _is_chat(model: Any, name: str) -> bool:
    """Whether an `ApigeeLlm` speaks OpenAI chat: as it was told, or by its name."""
    told = getattr(getattr(model, "_api_type", None), "value", None)
    return told == "chat_completions" or (
        told is None and name.startswith(_APIGEE_CHAT)
    )


@lru_cache(maxsize=512)
def _registered(name: str) -> frozenset[str]:
    try:
        found = LLMRegistry.resolve(name)
    except Exception:  # noqa: BLE001 - whatever ADK raises: the name is not known
        return frozenset()
    return _class_names(found)


@lru_cache(maxsize=512)
def _class_names(cls: type) -> frozenset[str]:
    return frozenset(c.__name__ for c in cls.__mro__)


@lru_cache(maxsize=1024)
def _route(kinds: frozenset[str], name: str, base: str | None) -> str | None:
    for kind, route in _CLASSES:
        if kind in kinds:
            return route
    if "LiteLlm" in kinds:
        provider = name.split("/", 1)[0].lower()
        if _by_prefix(name) == "gemini" and base is None:
            return "gemini"
        where = "" if base is None else f":{derived_id(base)}"
        return f"litellm:{provider}{where}"
    return "gemini" if "Gemini" in kinds else None


def _by_prefix(name: str) -> str:
    """Return what LiteLlm's prefix in a name stands for; empty where nothing known."""
    lowered = name.lower()
    return next((p for start, p in _PREFIXES if lowered.startswith(start)), "")


def api_base(model: Any, name: str, kinds: frozenset[str]) -> str | None:
    """Return the address that a model was given; None for the provider's own."""
    if "LiteLlm" not in kinds:
        base = getattr(model, "base_url", None) if "OpenAILlm" in kinds else None
        return str(base) if base else None
    given = getattr(model, "_additional_args", None) or {}
    for key in ("api_base", "base_url"):
        if given.get(key):
            return str(given[key])
    for variable in _BASES.get(name.split("/", 1)[0].lower(), ()):
        if os.environ.get(variable):
            return os.environ[variable]
    return None


@lru_cache(maxsize=64)
def _profile(name: str, through_litellm: bool, gateway: bool) -> Profile:  # noqa: FBT001 - one caller
    profile = PROFILES[name]
    changes = _VIA_LITELLM.get(name, {}) if through_litellm else {}
    if name in _OPENAI and not gateway:  # OpenAI itself reads no data in an id
        changes = {"ids": replace(profile.ids, data=False)}
    return replace(profile, **changes) if changes else profile


def _may_be_gateway(name: str, base: str | None) -> bool:
    """Whether something else than OpenAI itself can stand at the other end."""
    if base is None:
        return not name.lower().startswith(("openai/", "azure/"))
    host = urlsplit(base).hostname or ""
    return not host.endswith(_OPENAI_HOSTS)


def _has_marker(
    contents: Sequence[types.Content],
    markers: tuple[str, ...],
    foreign: Collection[str],
) -> bool:
    return any(
        part.function_call is not None
        and carries_data(part.function_call.id, markers)
        and part.function_call.id not in foreign
        for content in contents
        for part in content.parts or ()
    )


@lru_cache(maxsize=1024)
def _auto(kinds: frozenset[str], name: str, base: str | None) -> _Choice:
    """Return profile, reason and family."""
    for kind, profile in _CLASSES:
        if kind in kinds:
            return _Choice(profile, f"the model is a {kind}", "other")
    for kind in _CHAT:
        if kind in kinds:
            return _chat(kind, name, base)
    path, _, short = name.lower().rpartition("/")
    if "Gemini" in kinds or short.startswith("gemini"):
        if "Gemini" in kinds or path.split("/", 1)[0] in ("", *_GOOGLE_PATHS):
            return _Choice(gemini_profile(short), f"a Gemini named {name!r}", "gemini")
        return _Choice("gemini-gateway", f"a router's Gemini, {name!r}", "other")
    found = _BY_NAME.get(family_of(short) or "")
    if found is not None:
        return _Choice(found, f"a model named {name!r}", "other")
    return _Choice("gemini-2", f"nothing is known of a model named {name!r}", "unknown")


def _chat(kind: str, name: str, base: str | None) -> _Choice:
    where = "" if base is None else " at an address of its own"
    reason = f"{kind} with {name!r}{where}"
    found = _by_prefix(name) if kind == "LiteLlm" else ""
    if found:
        profile = gemini_profile(name) if found == "gemini" else found
        return _Choice(profile, reason, "other")
    if "gemini-" in name.lower():
        return _Choice(
            "gemini-gateway", f"{reason}, a Gemini behind a gateway", "other"
        )
    return _Choice("openai-chat", reason, "other")
