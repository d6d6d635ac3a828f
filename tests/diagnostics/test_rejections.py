# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S105 - a made-up secret
"""Real rejections: a real Runner, real clients, the emulators at the far end.

What breaks the request stands behind the guard: a plugin that drops every response, as
a filter of context does. So the dump must hold what was sent, not what the guard saw.
"""

from __future__ import annotations

import asyncio
import json
import logging
import stat

import pytest
from google.adk.agents import LlmAgent
from google.adk.plugins import BasePlugin
from google.genai import types
from google.genai.errors import ClientError

from adk_history_guard import RejectedRequest, explain, guard_model
from adk_history_guard.diagnostics.schema import read_dump
from adk_history_guard.testing import (
    StrictAnthropic,
    StrictGemini,
    StrictOpenAI,
    call,
    failure,
    finish,
    guarded,
    say,
)

SECRET = "the patient is called Ada Byron"


class DropResponses(BasePlugin):
    """Takes every response out of a request, and puts a question behind."""

    async def before_model_callback(self, *, callback_context, llm_request):
        """Break the request, once there is a response in it."""
        contents = llm_request.contents
        kept = [c for c in contents if not any(p.function_response for p in c.parts)]
        if len(kept) < len(contents):
            more = types.Content(role="user", parts=[types.Part(text="Go on.")])
            llm_request.contents = [*kept, more]


def look(n: int) -> dict[str, object]:
    """Look something up."""
    return {"n": n, "note": SECRET}


async def run(server, door, *, stream=False, model=None, **knobs):
    """Run an agent whose second request is broken; return what the run raised."""
    knobs.setdefault("mode", "observe")
    model = model or server.model("gemini-2.5-flash")
    if door in ("model", "both"):
        model = guard_model(model, **knobs)
    agent = LlmAgent(name="root", model=model, tools=[look])
    runner = guarded(
        agent,
        plugins=[DropResponses(name="drop")],
        guard=door in ("plugin", "both"),
        **({} if door == "model" else knobs),
    )
    try:
        await say(runner, f"Look! {SECRET}", stream=stream, session_id="../se/ssion")
    except Exception as error:  # noqa: BLE001 - the test looks at it
        return error
    return None


def script(*rest):
    """Return a script: a call, then the rest."""
    return [call("look", {"n": 1}, id="call_1"), *rest]


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    """Whether the model streams."""
    return request.param


async def test_a_rejection_is_dumped_once(door, stream, tmp_path):
    """In observe mode the refused request becomes one file that names the rule."""
    with StrictGemini(script("never")) as server:
        error = await run(server, door, stream=stream, dump=str(tmp_path / "dumps"))

    (path,) = (tmp_path / "dumps").iterdir()
    dump = read_dump(path)

    assert isinstance(error, ClientError)
    assert (dump.kind, dump.door, dump.mode) == ("rejected", door, "observe")
    assert dump.stream is stream
    assert dump.error.code == 400
    assert dump.error.text.startswith("Please ensure that the number of function")
    assert [v.code for v in dump.violations] == ["HG101"]
    assert [(c.code, c.rank) for c in dump.causes[:1]] == [("HG101", "certain")]
    assert "HG101 unanswered-call" in str(explain(path))


async def test_the_dump_is_what_was_sent(door, tmp_path):
    """The contents are those of the wire, in their shape, not those the guard saw."""
    with StrictGemini(script("never")) as server:
        await run(server, door, dump=str(tmp_path))

    (path,) = tmp_path.iterdir()
    sent = server.requests[-1].contents
    kept = json.loads(path.read_text("utf-8"))["contents"]

    assert [c["role"] for c in sent] == [c["role"] for c in kept]
    assert [len(c["parts"]) for c in sent] == [len(c["parts"]) for c in kept]
    assert kept[1]["parts"][0]["functionCall"]["name"] == "look"


async def test_the_dump_holds_no_text_and_no_key(door, tmp_path):
    """Neither the user's words nor arguments nor any header stand in the file."""
    with StrictGemini(script("never")) as server:
        await run(server, door, dump=str(tmp_path))

    (path,) = tmp_path.iterdir()
    written = path.read_text("utf-8")

    for word in ("Ada", "patient", SECRET, "Look!", "no-key", "x-goog", '"n"'):
        assert word not in written


async def test_the_file_is_for_its_owner_only(door, tmp_path):
    """The file has mode 0600, its folder 0700, and its name no path in it."""
    folder = tmp_path / "a" / "dumps"
    with StrictGemini(script("never")) as server:
        await run(server, door, dump=str(folder))

    (path,) = folder.iterdir()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name.startswith("rejected-")
    assert ".." not in path.name


async def test_plugin_and_model_report_a_rejection_once(stream, tmp_path):
    """With both doors on one folder there is one file, and one call of the hook."""
    heard = []
    with StrictGemini(script("never")) as server:
        model = guard_model(
            server.model("gemini-2.5-flash"),
            mode="observe",
            dump=tmp_path,
            on_rejected=heard.append,
        )
        await run(
            server,
            "plugin",
            model=model,
            stream=stream,
            dump=str(tmp_path),
            on_rejected=heard.append,
        )

    assert len(list(tmp_path.iterdir())) == 1
    assert len(heard) == 1


@pytest.mark.trap("faults-come-wrapped")
async def test_the_error_goes_on_unchanged(door, tmp_path):
    """What the run raises is what it raises without the guard."""
    with StrictGemini(script("never")) as server:
        bare = await run(server, "none")
        server.play(script("never"))
        kept = await run(server, door, dump=str(tmp_path))

    assert (type(bare), str(bare)) == (type(kept), str(kept))


async def test_a_failing_dump_is_logged_and_hides_nothing(door, tmp_path, caplog):
    """A folder that cannot be made costs a line in the log, and no more."""
    blocked = tmp_path / "file"
    blocked.write_text("x")
    heard = []
    with StrictGemini(script("never")) as server:
        error = await run(
            server, door, dump=str(blocked / "dumps"), on_rejected=heard.append
        )

    assert isinstance(error, ClientError)
    assert len(heard) == 1
    said = [r.getMessage() for r in caplog.records if "the dump of" in r.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("the dump of a rejected request failed: [Errno ")
    assert "\n" not in said[0]


async def test_what_a_hook_raises_is_told_without_the_provider_s_words(door, caplog):
    """The chain of its error leads to what quotes the user; only its own is logged."""

    def fail(rejected):
        msg = "the hook's own words"
        raise RuntimeError(msg)

    with StrictGemini(script("never")) as server:
        error = await run(server, door, on_rejected=fail)

    said = [r for r in caplog.records if "on_rejected failed" in r.getMessage()]
    assert len(said) == 1
    assert "the hook's own words" in said[0].getMessage()
    assert said[0].exc_info is None
    assert str(error) not in said[0].getMessage()


async def test_a_failing_hook_in_strict_mode_hides_nothing(door):
    """Not even in strict mode does a fault of the report take the error's place."""

    def fail(rejected):
        msg = "hook"
        raise RuntimeError(msg)

    with StrictGemini(script(failure(400, "no such thing"))) as server:
        model = server.model("gemini-2.5-flash")
        knobs = {"mode": "strict", "dump": fail, "on_rejected": fail}
        if door == "model":
            model = guard_model(model, **knobs)
        agent = LlmAgent(name="root", model=model, tools=[look])
        runner = guarded(
            agent, guard=door == "plugin", **(knobs if door == "plugin" else {})
        )
        with pytest.raises(ClientError, match="no such thing"):
            await say(runner, "Look!")


async def test_a_coroutine_and_a_callable_are_called(door):
    """`dump` and `on_rejected` take any callable, a coroutine function as well."""
    heard = []

    async def hook(rejected):
        await asyncio.sleep(0)
        heard.append(("hook", rejected))

    def dump(rejected):
        heard.append(("dump", rejected))

    with StrictGemini(script("never")) as server:
        await run(server, door, dump=dump, on_rejected=hook)

    assert [name for name, _ in heard] == ["dump", "hook"]
    assert all(isinstance(rejected, RejectedRequest) for _, rejected in heard)
    assert heard[0][1].agent == ("root" if door == "plugin" else "")


@pytest.mark.trap("silent-rejection")
@pytest.mark.parametrize(
    ("item", "reason", "says"),
    [
        pytest.param([], "STOP", "an empty answer", id="empty"),
        pytest.param(
            finish("MALFORMED_FUNCTION_CALL"),
            "MALFORMED_FUNCTION_CALL",
            "a malformed call",
            id="malformed",
        ),
        pytest.param(
            finish("UNEXPECTED_TOOL_CALL"),
            "UNEXPECTED_TOOL_CALL",
            "a call that was not expected",
            id="unexpected",
        ),
    ],
)
async def test_a_silent_failure_is_a_rejection(door, item, reason, says):
    """An answer with nothing in it, after calls, is reported with its reason."""
    heard = []
    with StrictGemini(script(item), on_breach="ignore") as server:
        error = await run(server, door, on_rejected=heard.append)

    assert error is None
    assert [(r.kind, r.error.finish_reason) for r in heard] == [("silent", reason)]
    assert says in str(heard[0].error)
    assert [v.code for v in heard[0].violations] == ["HG101"]


async def test_an_empty_stream_is_a_rejection(door):
    """A stream that ends with nothing is reported once, whatever ADK makes of it."""
    heard = []
    with StrictGemini(script("never"), on_breach="empty") as server:
        await run(server, door, stream=True, on_rejected=heard.append)

    assert [(r.kind, r.error.finish_reason) for r in heard] == [("silent", "STOP")]
    assert heard[0].stream is True


async def test_an_empty_answer_without_calls_is_none_of_ours(door, stream):
    """Before any call an empty answer says nothing of pairs."""
    heard = []
    with StrictGemini([[]]) as server:
        await run(server, door, stream=stream, on_rejected=heard.append)

    assert heard == []


async def test_quota_is_no_rejection(door):
    """A 429 says nothing of the request."""
    heard = []
    with StrictGemini(script(failure(429, "slow")), on_breach="ignore") as server:
        error = await run(server, door, on_rejected=heard.append)

    assert error.code == 429
    assert heard == []


async def test_an_accepted_run_writes_nothing(door, stream, tmp_path):
    """No dump, no call of the hook, when the guard repairs the request."""
    heard = []
    with StrictGemini(script("fine")) as server:
        model = server.model("gemini-2.5-flash")
        knobs = {"dump": str(tmp_path), "on_rejected": heard.append}
        if door == "model":
            model = guard_model(model, **knobs)
        agent = LlmAgent(name="root", model=model, tools=[look])
        runner = guarded(
            agent, guard=door == "plugin", **(knobs if door == "plugin" else {})
        )
        await say(runner, "Look!", stream=stream)

    assert server.problems == []
    assert (list(tmp_path.iterdir()), heard) == ([], [])


@pytest.mark.parametrize(
    ("emulator", "profile"),
    [
        pytest.param(StrictOpenAI, "openai-chat", id="litellm"),
        pytest.param(StrictAnthropic, "anthropic", id="anthropic"),
    ],
)
async def test_errors_of_other_clients_are_read_by_their_status(
    door, emulator, profile
):
    """A BadRequestError of LiteLLM or anthropic is a rejection, with its text."""
    heard = []
    text = "`tool_use` ids were found without `tool_result` blocks immediately after"
    with emulator(script(failure(400, text)), on_breach="ignore") as server:
        await run(server, door, model=server.model(), on_rejected=heard.append)

    (rejected,) = heard
    assert (rejected.error.type, rejected.error.code) == ("BadRequestError", 400)
    assert text in rejected.error.text
    assert rejected.profile.name == profile
    assert (rejected.causes[0].code, rejected.causes[0].rank) == ("HG101", "certain")


async def test_the_log_names_the_rule_and_no_text(door, caplog):
    """One line at WARNING says what was refused and why."""
    caplog.set_level(logging.WARNING, "adk_history_guard")
    with StrictGemini(script("never")) as server:
        await run(server, door)

    lines = [r.getMessage() for r in caplog.records if "refused" in r.getMessage()]
    assert lines == [
        (
            "the provider refused a request to 'gemini-2.5-flash' (400); likely: HG101 "
            "unanswered-call at contents[1].parts[0]"
        )
    ]
    assert SECRET not in caplog.text
