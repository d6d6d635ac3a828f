# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios of ADK's evaluation of agents (row 10)."""

from __future__ import annotations

import logging
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

from google.adk.agents import LlmAgent
from google.adk.apps import App

from adk_history_guard import HistoryGuardPlugin, guard_model
from adk_history_guard.testing import StrictGemini
from adk_history_guard.testing import call as emulated
from tests.builders import user
from tests.conformance.runs import find, look
from tests.conformance.stage import expect, scenario

if TYPE_CHECKING:
    from tests.conformance.stage import Stage

MODULE = "an_evaluated_agent"
SAID = ["go", "again", "and again", "go on"]


async def evaluate(stage: Stage, *, by_plugin: bool) -> list[str]:
    """Let ADK evaluate an agent whose model repeats an id in each turn."""
    from google.adk.evaluation.agent_evaluator import AgentEvaluator
    from google.adk.evaluation.eval_case import EvalCase, IntermediateData, Invocation
    from google.adk.evaluation.eval_config import EvalConfig
    from google.adk.evaluation.eval_set import EvalSet

    names = ["look", "find", "look", "find"]
    calls = [emulated(name, {"n": n}, id="c") for n, name in enumerate(names, 1)]
    conversation = [
        Invocation(
            user_content=user(words),
            intermediate_data=IntermediateData(
                tool_uses=[{"name": call.name, "args": dict(call.args)}]
            ),
        )
        for words, call in zip(SAID, calls, strict=True)
    ]
    with StrictGemini([reply for call in calls for reply in (call, "ok")]) as server:
        model = server.model()
        if stage.guard and not by_plugin:
            model = guard_model(model)
        agent = LlmAgent(name="root", model=model, tools=[look, find])
        plugins = [HistoryGuardPlugin()] if stage.guard and by_plugin else []
        app = App(name="app", root_agent=agent, plugins=plugins)
        module = ModuleType(MODULE)
        module.agent = SimpleNamespace(root_agent=agent, app=app)
        sys.modules[MODULE] = module
        try:
            await AgentEvaluator.evaluate_eval_set(
                agent_module=MODULE,
                eval_set=EvalSet(
                    eval_set_id="set",
                    eval_cases=[EvalCase(eval_id="case", conversation=conversation)],
                ),
                eval_config=EvalConfig(criteria={"tool_trajectory_avg_score": 1.0}),
                num_runs=1,
                print_detailed_results=False,
            )
        finally:
            del sys.modules[MODULE]
        logging.captureWarnings(capture=False)  # an import of the evaluation's sets it
        wanted = list(range(1, len(SAID) + 1))
        asked = [r for r in server.requests if r.status == 200]
        return (
            server.problems
            + expect(2 * len(SAID), len(asked), "requests that were answered")
            + server.answers().misplaced(wanted)
        )


@scenario(
    10,
    "`AgentEvaluator` with `guard_model`, ids repeat",
    needs="evaluation",
    heavy=True,
)
async def evaluation_of_a_model(stage: Stage) -> list[str]:
    return await evaluate(stage, by_plugin=False)


@scenario(
    10,
    "`AgentEvaluator` with the app's plugin, ids repeat",
    needs="evaluated apps",
    heavy=True,
)
async def evaluation_of_an_app(stage: Stage) -> list[str]:
    return await evaluate(stage, by_plugin=True)
