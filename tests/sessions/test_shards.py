# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Processes share one store, each started the way that a job runner does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.sessions.stores import fill


def cloud_run(index, tasks):
    """How Cloud Run numbers its tasks: index and count in the environment."""
    return [], {"CLOUD_RUN_TASK_INDEX": str(index), "CLOUD_RUN_TASK_COUNT": str(tasks)}


def kubernetes(index, tasks):
    """How Kubernetes numbers the pods of an indexed job: the index alone."""
    return ["--shard", f"/{tasks}"], {"JOB_COMPLETION_INDEX": str(index)}


def start(url, args, environment):
    """Start an audit in a process of its own."""
    command = [sys.executable, "-m", "adk_history_guard", "audit", url]
    return subprocess.Popen(
        [*command, "--format", "json", *args],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.once
@pytest.mark.parametrize(
    ("kind", "runner", "tasks"),
    [
        ("v1-sqlite", cloud_run, 2),
        pytest.param("v1-sqlite", kubernetes, 4, marks=pytest.mark.slow),
        pytest.param("v1-postgres", cloud_run, 4, marks=pytest.mark.slow),
        pytest.param("v1-postgres", kubernetes, 4, marks=pytest.mark.slow),
    ],
)
def test_processes_cover_every_session_once(make_store, kind, runner, tasks):
    """At the same time, over one store: no session is left out, none is read twice."""
    store = make_store(kind)
    poison = fill(store, healthy=26, poisoned=6)

    running = [start(store.url, *runner(index, tasks)) for index in range(tasks)]
    ended = [process.communicate(timeout=100) for process in running]

    lines = [[json.loads(line) for line in out.splitlines()] for out, _ in ended]
    assert [process.returncode for process in running] == [0] * tasks, ended
    assert all(0 < len(mine) < 64 // tasks for mine in lines)
    found = [line for mine in lines for line in mine]
    assert sorted(f["session_id"] for f in found) == [f"s{n:05}" for n in range(32)]
    assert {f["session_id"] for f in found if f["violations"]} == set(poison)
