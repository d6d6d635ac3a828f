# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests of this folder, and stores of every layout."""

from __future__ import annotations

import pytest

from tests.postgres import server
from tests.sessions.stores import Store

KINDS = ("v1-sqlite", "v0-sqlite", "sqlite-sqlite", "v1-postgres", "v0-postgres")
"""The layouts of ADK's tables, each in the databases that ADK keeps it in."""


@pytest.fixture(scope="session")
def postgres():
    """Start a real PostgreSQL server; returns a function that makes databases."""
    return server()


@pytest.fixture
def make_store(tmp_path, request):
    """Return a function that makes an empty store of a kind."""

    def make(kind):
        layout, database = kind.split("-")
        if database == "postgres":
            return Store(layout, request.getfixturevalue("postgres")())
        return Store(layout, f"sqlite+aiosqlite:///{tmp_path / 'store.db'}")

    return make
