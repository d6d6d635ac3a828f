# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""The way through a store: page after page, in one process or in several."""

from __future__ import annotations

import multiprocessing
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from adk_history_guard.sessions.sources import close_source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from adk_history_guard.sessions.model import Filters, Head
    from adk_history_guard.sessions.sources import Source

T = TypeVar("T")

PAGE = 100
"""How many sessions a page has: some thousands of events, some milliseconds."""


def pages(source: Source, filters: Filters, size: int = PAGE) -> Iterator[list[Head]]:
    """Cut the sessions that filters let through into pages, in the order of keys."""
    left = filters.limit
    while left is None or left > 0:
        heads = source.heads(filters, size)
        if not heads:
            return
        filters = replace(filters, after=source.after(heads[-1]))
        page = [head for head in heads if filters.takes(head.key)][:left]
        if left is not None:
            left -= len(page)
        if page:
            yield page


def run_pages(
    source: Source,
    work: Callable[..., Sequence[T]],
    page_list: Iterable[list[Head]],
    filters: Filters,
    jobs: int = 1,
) -> Iterator[tuple[list[Head], Sequence[T]]]:
    """Do some work on each page, in order.

    Args:
      source: The store.
      work: A function of a module, called with source, heads and filters.
      page_list: The pages.
      filters: What else the work needs to know.
      jobs: How many processes; the source is opened once in each.

    Yields:
      Each page with what the work made of it.
    """
    if jobs <= 1:
        for heads in page_list:
            yield heads, work(source, heads, filters)
        return
    # A forked copy of a database connection is of no use to anybody.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        jobs, context, _open, (source.where, source.writable)
    ) as pool:
        waiting: deque[tuple[list[Head], Future[Sequence[T]]]] = deque()
        for heads in page_list:
            waiting.append((heads, pool.submit(_work, work, heads, filters)))
            if len(waiting) > 2 * jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()


_state: dict[str, Any] = {}


def _open(where: str, writable: bool) -> None:  # noqa: FBT001 - called by a pool
    import atexit

    source = open_source(where, write=writable)
    _state["source"] = source
    atexit.register(close_source, source)


def _work(work: Callable[..., Sequence[T]], heads: list[Head], filters: Filters) -> Any:
    return work(_state["source"], heads, filters)
