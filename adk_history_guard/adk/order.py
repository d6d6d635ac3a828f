# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which plugins must stand before the guard in a Runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.adk.plugins import BasePlugin

BEFORE_THE_GUARD = {
    "ToolCallIntegrityPlugin": "it verifies the stored calls, not the repaired ones",
    "ContextFilterPlugin": "what it cuts is then repaired",
    "MultimodalToolResultsPlugin": "what it adds is then put in its place",
}
"""Class names, of which subclasses are meant too, and why they come first."""


def goes_before(plugin: BasePlugin) -> str | None:
    """Say why a plugin must stand before the guard; None where it need not."""
    names = [cls.__name__ for cls in type(plugin).__mro__]
    return next((BEFORE_THE_GUARD[n] for n in names if n in BEFORE_THE_GUARD), None)


def misplaced(plugins: Iterable[BasePlugin], guard: BasePlugin) -> list[str]:
    """Say which plugins stand behind the guard and should stand before it.

    Args:
      plugins: The plugins of the Runner, in order.
      guard: The guard among them; nothing is misplaced where it is not.

    Returns:
      One sentence for each plugin, with the way out.
    """
    found: list[str] = []
    behind = False
    for plugin in plugins:
        why = goes_before(plugin)
        if behind and why is not None:
            found.append(
                f"plugin {plugin.name!r} stands behind {guard.name!r}; "
                f"move it in front: {why}."
            )
        behind = behind or plugin is guard
    return found
