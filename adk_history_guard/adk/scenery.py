# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What a run can be asked about itself: who waits, which agents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adk_history_guard.adk.survey import waiting_calls

if TYPE_CHECKING:
    from collections.abc import Iterator


class Waiting:
    """The ids and names of calls that wait on purpose, read when first asked."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._found: frozenset[str] | None = None

    def _read(self) -> frozenset[str]:
        if self._found is None:
            self._found = waiting_calls(self._session.events)
        return self._found

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def agent_names(agent: Any) -> frozenset[str]:
    """The names of all agents of a tree."""
    names: set[str] = set()
    queue = [getattr(agent, "root_agent", agent)]
    while queue:
        found = queue.pop()
        name = getattr(found, "name", None)
        if not isinstance(name, str) or name in names:
            continue
        names.add(name)
        queue.extend(getattr(found, "sub_agents", None) or ())
    return frozenset(names)


def model_of(agent: Any) -> Any:
    """The model of an agent, an object or a name: its own, or inherited as in ADK."""
    model = getattr(agent, "model", None)
    above = getattr(agent, "parent_agent", None)
    while not model and above is not None:
        from google.adk.agents import LlmAgent  # a heavy module, there in every run

        if isinstance(above, LlmAgent):
            model = above.model
        above = above.parent_agent
    return model or getattr(agent, "canonical_model", None)
