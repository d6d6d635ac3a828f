# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Silence while something is shown or measured, and none of it left behind."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def quiet(level: int = logging.CRITICAL) -> Iterator[None]:
    """Show no warnings and no log records up to a level; also a decorator."""
    before = logging.root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(level)
        try:
            yield
        finally:
            logging.disable(before)
