# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""Audit, repair and restore over real stores that ADK itself has filled."""

from __future__ import annotations

import asyncio

import pytest
from google.adk.agents import LlmAgent

from adk_history_guard.sessions import audit_store, repair_store, restore_store
from adk_history_guard.testing import StrictGemini, guarded, say
from tests.sessions.conftest import KINDS
from tests.sessions.histories import POISONED
from tests.sessions.mishaps import history
from tests.sessions.stores import APP, USER, fill


def poisoned(store, **how):
    """Return the rules that an audit finds broken, by session id."""
    found = list(audit_store(store.url, **how))
    assert [one.error for one in found if one.error is not None] == []
    return {
        one.key.session_id: {violation.code for violation in one.violations}
        for one in found
        if one.poisoned
    }


def look(n: int) -> dict:
    """Look something up."""
    return {"n": n}


async def go_on(store, sessions):
    """Go on in sessions with a Runner that has no guard; what the provider says."""
    answers = {}
    with StrictGemini("fine") as provider:
        agent = LlmAgent(name="root", model=provider.model(), tools=[look])
        runner = guarded(agent, session_service=store.service(), guard=False)
        runner.app_name = APP
        for session in sessions:
            known = len(provider.problems)
            provider.play("fine")
            try:
                events = await say(runner, "And now?", session_id=session, user_id=USER)
            except Exception as error:  # noqa: BLE001 - the provider's refusal
                found = provider.problems[known:]
                answers[session] = f"{type(error).__name__}: {found}"
                continue
            assert [event.error_code for event in events] == [None]
            answers[session] = provider.problems[known:]
        assert len(provider.requests) >= len(answers)
    return answers


@pytest.mark.parametrize("kind", KINDS)
def test_poison_is_found_healed_and_brought_back(make_store, kind, tmp_path):
    """Audit finds the poisoned alone, repair changes their rows alone, restore all."""
    store = make_store(kind)
    poison = fill(store, healthy=12, poisoned=len(POISONED))
    before = store.rows()

    found = poisoned(store)

    assert found == {session: POISONED[name][1] for session, name in poison.items()}

    done = list(repair_store(store.url, write=True, backup=tmp_path / "backup"))
    after = store.rows()
    changed = {k for k in before | after if before.get(k) != after.get(k)}

    assert {d.key.session_id for d in done if d.status == "repaired"} == set(poison)
    assert {d.status for d in done} == {"repaired", "clean"}
    assert poisoned(store) == {}
    assert {key[0] for key in changed} == {"events"}
    assert {key[3] for key in changed} == set(poison)
    assert before.keys() <= after.keys()

    undone = list(restore_store(store.url, tmp_path / "backup"))

    assert {(u.status, u.error) for u in undone} == {("restored", None)}
    assert store.rows() == before


@pytest.mark.parametrize("kind", KINDS)
def test_healed_session_runs_without_the_guard(make_store, kind, tmp_path):
    """A Runner without the guard runs each healed session clean."""
    store = make_store(kind)
    poison = fill(store, healthy=0, poisoned=len(POISONED))

    list(repair_store(store.url, write=True, backup=tmp_path / "backup"))

    answers = asyncio.run(go_on(store, poison))
    assert {poison[s]: said for s, said in answers.items()} == {
        key: [] for key in POISONED
    }


async def put_all(store, count):
    """Store histories in which several things went wrong."""
    service = store.service()
    for seed in range(count):
        await store.put(f"s{seed}", history(seed), service=service)


@pytest.mark.parametrize("kind", ["v1-sqlite", "v0-sqlite"])
def test_any_history_is_healed_and_brought_back(make_store, kind, tmp_path):
    """Thirty histories in which several things went wrong: one repair is enough."""
    store = make_store(kind)
    asyncio.run(put_all(store, 30))
    before = store.rows()
    found = poisoned(store)

    done = list(repair_store(store.url, write=True, backup=tmp_path / "backup"))

    assert len(found) > 15
    assert {d.key.session_id for d in done if d.status == "repaired"} == set(found)
    assert {d.status for d in done} == {"repaired", "clean"}
    assert poisoned(store) == {}

    undone = list(restore_store(store.url, tmp_path / "backup"))

    assert {(u.status, u.error) for u in undone} == {("restored", None)}
    assert store.rows() == before
