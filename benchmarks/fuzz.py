# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged dumps and sessions through the command line: `python -m benchmarks.fuzz`.

Each file is a sound one with a few seeded wounds: bytes flipped, cut, doubled; values
of another kind, of a huge size, of hostile text; keys lost. A right answer is a status
of 0, 1 or 2, with one clear line for 2, within 2 seconds and 500 MB.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from click.testing import CliRunner

SECONDS = 2.0
MEGABYTES = 500

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check", "{}"),
    ("check", "{}", "--format", "json"),
    ("explain", "{}"),
    ("explain", "{}", "--html", "{out}"),
    ("repair", "{}", "-o", "{out}"),
    ("minimize", "{}", "-o", "{out}", "--seconds", "1"),
)

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 1e308, "", "x", [], {}, [[]], {"": {}}, [None]),
    *("\x00", "\u202e", "\ud800", "<script>", "9" * 5_000, "A" * 1_000_000),
    *(["x"] * 3_000, {"role": "user"}, {"parts": None}, {"parts": [{}]}),
    [[[[[[[[[[{}]]]]]]]]]],
    {"functionCall": {"name": 7}},
    {"thoughtSignature": "not base64!"},
)


def sound() -> list[dict[str, Any]]:
    """Return sound files: a dump in shape, one in full, contents, and a session."""
    from adk_history_guard import PROFILES, RejectedRequest
    from adk_history_guard.diagnostics.failures import ProviderError
    from adk_history_guard.diagnostics.wire import as_json

    contents = _contents()
    request = RejectedRequest(
        contents=contents,
        profile=PROFILES["gemini-3"],
        error=ProviderError("ClientError", 400, "INVALID_ARGUMENT", "Not so.", "{}"),
        model="gemini-3.5-flash",
    )
    plain = [as_json(content) for content in contents]
    events = [
        {
            "id": f"e{n}",
            "author": "user" if content["role"] == "user" else "root",
            "invocationId": "i",
            "timestamp": float(n),
            "content": content,
        }
        for n, content in enumerate(plain)
    ]
    return [
        request.to_dict(),
        request.to_dict("full"),
        {"contents": plain, "profile": "gemini-3"},
        {"id": "s", "appName": "a", "userId": "u", "state": {}, "events": events},
    ]


def _contents() -> list[Any]:
    from google.genai import types

    def part(**fields: Any) -> types.Part:
        return types.Part.model_validate(fields)

    out = []
    for n in range(4):
        call = {"id": f"c{n}", "name": "look", "args": {"n": n}}
        answer = {"id": f"c{n}", "name": "look", "response": {"n": n}}
        blob = {"mime_type": "image/png", "data": b"png"}
        out += [
            types.Content(role="user", parts=[part(text=f"q{n}")]),
            types.Content(
                role="model",
                parts=[part(function_call=call, thought_signature=b"s")],
            ),
            types.Content(role="user", parts=[part(function_response=answer)]),
            types.Content(role="model", parts=[part(text="a"), part(inline_data=blob)]),
        ]
    return [*out[:-2], types.Content(role="user", parts=[part(text="go")])]


def damaged(files: list[dict[str, Any]], seed: int) -> bytes:
    """Return one damaged file; the same seed gives the same bytes."""
    rng = random.Random(seed)
    value = copy.deepcopy(rng.choice(files))
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        _wound(value, rng)
    data = bytearray(json.dumps(value).encode("ascii"))
    if rng.random() < 0.4:  # noqa: PLR2004 - a share
        _hurt(data, rng)
    return bytes(data)


def _wound(value: Any, rng: random.Random) -> None:
    """Change one value of a JSON tree, anywhere."""
    holder = value
    while True:
        if isinstance(holder, dict) and holder:
            key: Any = rng.choice(list(holder))
        elif isinstance(holder, list) and holder:
            key = rng.randrange(len(holder))
        else:
            return
        inner = holder[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:  # noqa: PLR2004
            holder = inner
            continue
        if rng.random() < 0.2:  # noqa: PLR2004 - a share
            del holder[key]
        elif isinstance(holder, list) and rng.random() < 0.3:  # noqa: PLR2004
            holder[key:key] = [copy.deepcopy(inner)] * rng.choice((1, 2, 50))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        return


def _hurt(data: bytearray, rng: random.Random) -> None:
    """Change bytes: flip, cut, double, or put something in front."""
    kind = rng.randrange(5)
    at = rng.randrange(max(1, len(data)))
    if kind == 0:
        for _ in range(rng.choice((1, 3, 30))):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == 1:
        del data[at:]
    elif kind == 2:  # noqa: PLR2004 - one of five
        data[at:at] = data[at : at + rng.randrange(2_000)]
    elif kind == 3:  # noqa: PLR2004
        data[0:0] = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"[" * 50_000, b"\x00"))
    else:
        del data[at : at + rng.randrange(1, 200)]


def try_one(
    data: bytes, folder: Path, command: tuple[str, ...]
) -> tuple[int, str | None]:
    """Run one command over one damaged file; return the status and what is wrong."""
    from adk_history_guard.cli import main

    path, out = folder / "damaged.json", folder / "out"
    path.write_bytes(data)
    args = [{"{}": str(path), "{out}": str(out)}.get(arg, arg) for arg in command]
    # The time of the processor: other work on the machine is no fault of a file.
    began = time.process_time()
    found = CliRunner().invoke(main, args)
    took = time.process_time() - began
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        return -1, f"raised {found.exception!r}"
    if found.exit_code not in (0, 1, 2):
        return found.exit_code, f"status {found.exit_code}"
    if found.exit_code == 2 and not _is_clear(found.output):  # noqa: PLR2004
        return 2, f"no clear line: {found.output[-300:]!r}"
    if took > SECONDS:
        return found.exit_code, f"took {took:.1f} s"
    return found.exit_code, None


def _is_clear(output: str) -> bool:
    lines = [line for line in output.splitlines() if line.startswith("Error: ")]
    return len(lines) == 1 and "Traceback" not in output


def main() -> int:
    """Try the files and print the faults; exit 1 where there is one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    files, faults = sound(), 0
    statuses: dict[str, int] = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        for n in range(options.files):
            command = COMMANDS[n % len(COMMANDS)]
            data = damaged(files, options.seed + n)
            status, fault = try_one(data, Path(name), command)
            key = f"{command[0]} {status}"
            statuses[key] = statuses.get(key, 0) + 1
            if fault is not None:
                faults += 1
                print(f"seed {options.seed + n}: {' '.join(command)}: {fault}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if peak > MEGABYTES:
        faults += 1
    print(
        f"{options.files} files, {faults} faults, {time.monotonic() - began:.0f} s, "
        f"peak {peak:.0f} MB, {dict(sorted(statuses.items()))}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
