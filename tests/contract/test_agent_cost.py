"""What the consolidation agent costs: named before it starts, bounded by the limit of money, kept with its attempt."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentFailed
from ltmem_gui.domain.effects import SendToModel, StartAgent
from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.settings import Settings
from tests.helpers.agents import agent_server, agent_settings, copied, do, extracted, plan_with, run_with, whole_run
from tests.helpers.bench import Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import ModelServer

PRICE = "prices=custom small 1 0.5 10 USD"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return extracted(tmp_path_factory.mktemp("template"), ("Always use pnpm, never npm.",))


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def planned(bench: Bench, server: ModelServer, *overrides: str) -> tuple[Plan, SendToModel, StartAgent]:
    settings: Settings = agent_settings(server).with_overrides(overrides)
    plan = plan_with(bench, server, settings=settings)
    (send,), (agent,) = plan.effects_of(SendToModel), plan.effects_of(StartAgent)
    return plan, send, agent


def last_attempt(bench: Bench) -> Any:
    with bench.stores.reading(bench.home) as store:
        job = store.job("memory_consolidate_global", "global")
    assert job is not None
    return job.attempts[-1]


def test_the_plan_names_the_cost_and_the_limit_of_money_bounds_the_tokens(bench: Bench) -> None:
    with agent_server() as server:
        _, send, agent = planned(bench, server)
        assert (send.price, agent.constraints.max_tokens) == ("price unknown", 2_000_000)
        _, send, agent = planned(bench, server, PRICE)
        assert (send.currency, Decimal(send.cost_high), send.cost_limit) == ("USD", Decimal(20), "")
        _, send, agent = planned(bench, server, PRICE, "max_cost_per_run=0.5")
        assert agent.constraints.max_tokens == 50_000
        assert Decimal(send.cost_high) == Decimal("0.5")
        assert "stops at 0.50 USD" in send.price
        _, _, agent = planned(bench, server, PRICE, "max_cost_per_run=0.5", "max_tokens_per_run=1000")
        assert agent.constraints.max_tokens == 1_000
        _, _, agent = planned(bench, server, "prices=custom small 0 0 USD", "max_cost_per_run=0.5")
        assert agent.constraints.max_tokens == 2_000_000


def test_attempt_and_receipt_know_what_the_agent_cost(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        server.usage = (1_000, 100, 400)
        plan, _, _ = planned(bench, server, PRICE)
        done = run_with(bench, plan)
        steps = len(server.posts)
    cost = Decimal("0.0018") * steps
    attempt = last_attempt(bench)
    assert (attempt.cost, attempt.currency, attempt.tokens_cached) == (cost, "USD", 400 * steps)
    assert (attempt.provider, attempt.model, attempt.outcome) == ("custom", "small", "released")
    assert (Decimal(done.receipt.costs["USD"]), done.receipt.cost_unknown) == (cost, 0)


def test_a_run_that_fails_cost_something_all_the_same(bench: Bench) -> None:
    with agent_server(*[[do("list", f"c{n}", path="")] for n in range(9)]) as server:
        server.usage = (1_000, 100, 0)
        plan, _, _ = planned(bench, server, PRICE, "max_cost_per_run=0.05")
        with pytest.raises(AgentFailed, match="would pass 5000"):
            run_with(bench, plan)
        steps = len(server.posts)
    attempt = last_attempt(bench)
    assert attempt.outcome == "failed"
    assert attempt.cost == Decimal("0.002") * steps
    assert attempt.cost <= Decimal("0.05")


def test_steps_that_nobody_counted_leave_the_cost_unknown(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        server.usage = None
        plan, _, _ = planned(bench, server, PRICE)
        done = run_with(bench, plan)
    assert last_attempt(bench).cost is None
    assert (done.receipt.costs, done.receipt.cost_unknown) == ({}, 1)


def test_an_agent_whose_provider_has_too_little_left_is_neither_planned_nor_started(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        plan, _, _ = planned(bench, server)
        server.headers = {
            "x-ratelimit-limit-tokens": "100",
            "x-ratelimit-remaining-tokens": "10",
            "x-ratelimit-reset-tokens": "90s",
        }
        ready = plan_with(bench, server, note="another one", settings=agent_settings(server))
        run_with(bench, plan)
        server.requests.clear()
        later = Bench(bench.place)
        later.now = bench.now + 89
        with pytest.raises(RefusedError, match=r"10 tokens of 100 \(10 %\) left"):
            planned(later, server)
        with pytest.raises(RefusedError, match="at least 25 %"):
            run_with(later, ready)
        assert server.requests == []
        later.now = bench.now + 90
        assert planned(later, server)[0].effects
