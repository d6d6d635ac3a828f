# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which provider a request goes to: from the model's class and its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.ids import Mint
from adk_history_guard.core.profiles import PROFILES, Profile, resolve_profile

if TYPE_CHECKING:
    from adk_history_guard.options import GuardOptions


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes, and how its calls are treated.

    Attributes:
      profile: The contract.
      reason: Why it was chosen, for logs and dumps.
      mint: When calls of the answer get new ids.
      hands_off: Whether the request must not be touched at all (Interactions API).
    """

    profile: Profile
    reason: str
    mint: Mint
    hands_off: bool = False


_CLASSES: tuple[tuple[str, str], ...] = (
    ("AnthropicLlm", "anthropic"),
    ("Claude", "anthropic"),
    ("OpenAIResponsesLlm", "openai-responses"),
)
"""Model classes of ADK that reach one provider only, by name: no import needed."""

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

_GEMINI_VERSION = re.compile(r"gemini-(\d+)")
_GEMINI_LATEST = re.compile(r"gemini-(?:[a-z]+-)*latest")


@lru_cache(maxsize=512)
def gemini_profile(name: str) -> str:
    """Return the profile of a Gemini by its name: by version, aliases are new."""
    version = _GEMINI_VERSION.search(name)
    if version:
        return "gemini-3" if int(version.group(1)) >= 3 else "gemini-2"
    return "gemini-3" if _GEMINI_LATEST.search(name) else "gemini-2"


def target_of(
    model: Any, name: str | None, options: GuardOptions, *, live: bool = False
) -> Target:
    """Choose the contract for a request.

    Args:
      model: The agent's model object, or None where it is not known.
      name: The model's name as the request carries it.
      options: The knobs; a profile set there wins.
      live: Whether the run is a live one; ids then belong to the server.

    Returns:
      The target.
    """
    name = name or getattr(model, "model", None) or ""
    kinds = frozenset(c.__name__ for c in type(model).__mro__)
    chosen, reason, family = _auto(kinds, name)
    interactions = bool(getattr(model, "use_interactions_api", False))
    if options.profile != "auto":
        profile = resolve_profile(options.profile)
        reason = "set by the option 'profile'"
    else:
        profile = PROFILES[chosen]
    mint = Mint.ON_REPEAT
    if live or interactions:
        mint = Mint.NEVER
    elif options.mint != "auto":
        mint = Mint(options.mint)
    elif family == "gemini":
        mint = Mint.ALWAYS
    return Target(profile, reason, mint, hands_off=live or interactions)


@lru_cache(maxsize=1024)
def _auto(kinds: frozenset[str], name: str) -> tuple[str, str, str]:
    """Return profile, reason and family."""
    for kind, profile in _CLASSES:
        if kind in kinds:
            return profile, f"the model is a {kind}", "other"
    if "LiteLlm" in kinds:
        provider = name.lower()
        for prefix, profile in _PREFIXES:
            if provider.startswith(prefix):
                if profile == "gemini":
                    profile = gemini_profile(provider)
                return profile, f"LiteLlm with {name!r}", "other"
        return "openai-chat", f"LiteLlm with {name!r}", "other"
    short = name.rsplit("/", 1)[-1].lower()
    if "Gemini" in kinds or short.startswith("gemini"):
        profile = gemini_profile(short)
        return profile, f"a Gemini named {name!r}", "gemini"
    if short.startswith("claude"):
        return "anthropic", f"a model named {name!r}", "other"
    return "gemini-2", f"nothing is known of a model named {name!r}", "unknown"
