# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Which share of a store this process has: by argument, or by the job runner."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from adk_history_guard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

_RUNNERS = (
    ("CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"),
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETION_COUNT"),
)
"""How job runners number their processes, from 0. Kubernetes gives no count: set it
in the job's manifest, or write `--shard /N`."""


def read_shard(
    value: str | None, environment: Mapping[str, str] | None = None
) -> tuple[int, int] | None:
    """Return `(index, count)`, None for the whole store.

    Args:
      value: `I/N` with I from 0 to N-1 (N counts as 0, so that 1 to N will do),
        or `/N` with the index from the job runner. None: both from the runner.
      environment: The environment; the process's own where None.

    Raises:
      ConfigurationError: It is none of these, or I is beyond N.
    """
    environment = os.environ if environment is None else environment
    given, slash, total = (value or "").partition("/")
    index, count = given.strip(), total.strip()
    for index_name, count_name in _RUNNERS:
        if index_name in environment:
            index = index or environment[index_name]
            count = count or environment.get(count_name, "")
            break
    else:
        if value is None:
            return None
    if value is None and not count:
        msg = f"{index_name} is set but {count_name} is not. Write --shard /N."
        raise ConfigurationError(msg)
    if value is not None and not slash:
        index = ""
    if not (index.isdecimal() and count.isdecimal()):
        msg = f"No share of the store: {value!r}. Write --shard I/N, such as 0/4."
        raise ConfigurationError(msg)
    if int(count) < 1 or int(index) > int(count):
        msg = f"There is no share {index} of {count}. Count from 0 to {int(count) - 1}."
        raise ConfigurationError(msg)
    return int(index) % int(count), int(count)
