# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The samples start with `adk run`, without a key and offline, and say what is right.

What an agent says is made from the request that the emulator received: each value
stands for the response that stood beside its call.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
SAMPLES = sorted(path.parent for path in ROOT.glob("samples/*/agent.py"))
_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")
_ASKS_AT_ONCE = not version("google-adk").startswith("1.")


def start(*arguments, said=(), mode="repair"):
    """Run a Python command on the samples, and return it when it has ended."""
    env = {key: value for key, value in os.environ.items() if key not in _KEYS}
    env |= {
        "ADK_DISABLE_LOCAL_STORAGE": "1",
        "ADK_HISTORY_GUARD_MODE": mode,
        "PYTHONWARNINGS": "ignore",
        # Whatever is no loopback address goes to a port that nobody listens on.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        input="".join(f"{line}\n" for line in said),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=env,
        timeout=110,
        check=False,
    )


def adk_run(sample, *said, mode="repair"):
    """Start a sample with `adk run`, type some lines, and return what it says."""
    lines = (*said, "exit")
    done = start(
        "-m", "google.adk.cli", "run", f"samples/{sample}", said=lines, mode=mode
    )
    told = re.findall(r"\[(?:guide|desk|shop)\]: (.*)", done.stdout)
    return told, done


def test_duplicate_ids_keeps_responses_beside_their_calls():
    """Each city stands beside its own response, though all ids are the same."""
    told, done = adk_run(
        "duplicate_ids",
        "What is the weather in Oslo and Rome?",
        "And in Lima?",
        "Which river runs through Rome?",
    )

    assert told == [
        "Oslo: 4 degrees; Rome: 21 degrees.",
        "Oslo: 4 degrees; Rome: 21 degrees; Lima: 19 degrees.",
        "Oslo: 4 degrees; Rome: 21 degrees; Lima: 19 degrees; Rome: Tiber.",
    ], done.stderr


def test_guarded_model_heals_a_cut_history():
    """A history that is cut between call and response is sent in three good turns."""
    told, done = adk_run(
        "guarded_model", "What do apples cost?", "And bread and cheese?", "What else?"
    )

    assert told == [
        "apples: 3 (3 turns).",
        "bread: 5; cheese: 8 (3 turns).",
        "We have apples, bread and cheese.",
    ], done.stderr


def test_long_running_goes_on_while_jobs_run():
    """The agent talks on while reports are missing (ADK 1), or gets them (ADK 2)."""
    reports = ("4 pages", "6 pages") if _ASKS_AT_ONCE else ()
    told, done = adk_run(
        "long_running",
        "Reports on bees and whales, please.",
        *reports,
        "Have they come?",
    )

    here = "bees: 4 pages; whales: 6 pages."
    missing = "bees: not here yet; whales: not here yet."
    assert told[-1] == (here if _ASKS_AT_ONCE else missing), done.stderr


def test_long_running_client_answers_in_reverse():
    """Two reports that are sent in reverse stand beside their own calls."""
    done = start("-m", "samples.long_running.client")

    assert re.findall(r"\[desk\]: (.*)", done.stdout) == [
        "bees: not here yet; whales: not here yet.",
        "bees: 4 pages; whales: 6 pages.",
    ], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "said"),
    [
        pytest.param("duplicate_ids", ["Oslo and Rome?", "And Lima?"], id="same-id"),
        pytest.param("guarded_model", ["Apples, apples?", "And bread?"], id="cut"),
    ],
)
def test_sample_is_refused_without_repair(sample, said):
    """Where the guard only observes, the provider refuses a request of the sample."""
    _, done = adk_run(sample, *said, mode="observe")

    assert "400 INVALID_ARGUMENT" in done.stderr


def test_samples_are_folders_that_adk_loads():
    """Each sample has an agent, a package file and a README with the usual parts."""
    names = [path.name for path in SAMPLES]

    assert names == ["duplicate_ids", "guarded_model", "long_running"]
    for path in SAMPLES:
        text = (path / "README.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert headings == ["Overview", "Sample inputs", "Graph", "How to"]
        assert f"adk run samples/{path.name}" in text
        assert (path / "__init__.py").is_file()
