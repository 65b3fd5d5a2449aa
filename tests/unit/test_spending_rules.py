"""The account of a run: whatever the answers cost and however they end, spent and under way never pass the limit."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.limits import LimitWindow, ProviderLimits
from ltmem_gui.domain.plan import ProviderMark
from ltmem_gui.domain.prices import INSTRUCTION_TOKENS, Price, most
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.tokens import TokenUsage, together
from ltmem_gui.pipeline.spending import FAILURES_IN_A_ROW, Budget, Spending, requests_of
from tests.helpers.waiting import PATIENCE_SECONDS

NOW = 1_780_000_000
MARK = ProviderMark(name="custom", label="Custom", host="models.example", model="m")
BUILTIN = ProviderMark(name="builtin", label="Built in")
PRICE = Price.model_validate("custom m 1 10 USD")
OUTPUT = 1_000


def job(number: int, tokens: int = 1_000, split: int = 0) -> PlannedJob:
    return PlannedJob(
        thread_id=f"t{number}",
        agent="codex",
        path="/p",
        size=1,
        mtime_ns=1,
        source_updated_at=1,
        tokens_sent=tokens,
        split=split,
    )


def spending(*overrides: str, mark: ProviderMark = MARK, limits: ProviderLimits | None = None) -> Spending:
    chosen = Settings().with_overrides(["prices=custom m 1 10 USD", f"max_output_tokens={OUTPUT}", *overrides])
    return Spending(chosen, mark, clock=lambda: NOW, limits=lambda: limits)


ENDS = st.sampled_from(["counted", "uncounted", "timeout", "half", "429", "cancelled", "not asked"])
JOBS = st.lists(st.tuples(st.integers(0, 20_000), ENDS, st.integers(0, 100), st.integers(0, 5)), max_size=25)


@settings(max_examples=60, deadline=None)
@given(jobs=JOBS, cents=st.integers(1, 30))
def test_spent_and_under_way_never_pass_the_limit(jobs: list[tuple[int, str, int, int]], cents: int) -> None:
    limit = Decimal(cents) / 100
    account = spending(f"max_cost_per_run={limit}")
    worst: list[Decimal] = []
    paid = Decimal(0)

    async def work(waiting: list[tuple[int, str, int, int]]) -> None:
        nonlocal paid
        while waiting:
            tokens, end, share, pause = waiting.pop()
            one = job(len(waiting), tokens)
            if await account.admit(one):
                continue
            worst.append(account._used)
            if end != "not asked":
                account.asking(one)
            for _ in range(pause):
                await asyncio.sleep(0)
            sent = (tokens + INSTRUCTION_TOKENS) * (100 + share // 2) // 100
            usage = TokenUsage(sent, OUTPUT * share // 100)
            if end == "counted":
                bill = await account.settle(one, usage)
                assert bill.money is not None
                paid += bill.money.amount
            elif end == "uncounted":
                await account.settle(one, TokenUsage())
            elif end == "half":
                bill = await account.settle(one, usage, ProviderError("no", group="timeout", usage=usage))
                assert bill.money is not None
                paid += bill.money.amount
            elif end in ("timeout", "429"):
                group = "timeout" if end == "timeout" else "too_large"
                await account.settle(one, None, ProviderError("no", group=group))
            await account.release(one)

    async def run() -> None:
        waiting = list(jobs)
        await asyncio.wait_for(asyncio.gather(*(work(waiting) for _ in range(8))), PATIENCE_SECONDS)

    asyncio.run(run())
    assert all(used <= limit for used in worst)
    assert paid <= limit
    assert account.money is not None
    assert account.money.amount == paid
    assert account._aside == {}


def test_what_was_not_asked_is_given_back_and_what_was_cut_off_is_not() -> None:
    bound = most(PRICE, requests=1, tokens=1_000, output_limit=OUTPUT)
    account = spending(f"max_cost_per_run={bound}")

    async def run() -> None:
        assert await account.admit(job(1)) == ""
        await account.release(job(1))
        assert await account.admit(job(2)) == ""
        account.asking(job(2))
        await account.release(job(2))
        assert "leaves 0 USD" in await account.admit(job(3))

    asyncio.run(run())
    assert account.unknown == 1


def test_the_built_in_rules_cost_nothing_and_are_stopped_by_nothing() -> None:
    short = ProviderLimits(at=NOW, windows=(LimitWindow(kind="requests", limit=10, remaining=0, resets_at=NOW + 9),))
    account = spending("max_cost_per_run=0.000001", mark=BUILTIN, limits=short)

    async def run() -> None:
        assert await account.admit(job(1)) == ""
        bill = await account.settle(job(1), TokenUsage())
        assert (bill.provider, bill.money) == ("builtin", None)

    asyncio.run(run())
    assert (account.unknown, account.money) == (0, None)


def test_a_row_of_failures_is_broken_by_an_answer() -> None:
    account = spending()
    broken = ProviderError("no", group="server")

    async def fail(count: int) -> str:
        for number in range(count):
            await account.settle(job(number), None, broken)
        return await account.admit(job(99))

    async def run() -> None:
        assert await fail(FAILURES_IN_A_ROW - 1) == ""
        await account.settle(job(50), TokenUsage(1, 1))
        assert await fail(FAILURES_IN_A_ROW - 1) == ""
        assert "failed one after another" in await fail(1)

    asyncio.run(run())


def test_a_job_in_parts_makes_more_requests_and_may_cost_more() -> None:
    assert [requests_of(job(1, 10_000)), requests_of(job(1, 10_000, split=2_500))] == [1, 9]
    budget = Budget(PRICE, Decimal(1), OUTPUT)
    assert budget.most(job(1, 10_000, split=2_500)) > budget.most(job(1, 10_000))


@pytest.mark.parametrize(("limit", "tokens"), [("0", 2_000_000), ("0.5", 50_000), ("100", 2_000_000)])
def test_an_agent_gets_no_more_tokens_than_the_limit_buys(limit: str, tokens: int) -> None:
    assert Budget(PRICE, Decimal(limit), OUTPUT).tokens(2_000_000) == tokens
    assert Budget(None, Decimal(limit), OUTPUT).tokens(2_000_000) == 2_000_000
    free = Price.model_validate("custom m 0 0 USD")
    assert Budget(free, Decimal(limit), OUTPUT).tokens(2_000_000) == 2_000_000


def test_what_the_last_of_several_requests_took_stays_set_aside_when_nobody_counted_it() -> None:
    bound = most(PRICE, requests=requests_of(job(1, 9_000, 3_000)), tokens=9_000, output_limit=OUTPUT)
    usage = TokenUsage(3_000, 500)

    def after(error: ProviderError) -> Spending:
        account = spending("max_cost_per_run=5")

        async def run() -> None:
            assert await account.admit(job(1, 9_000, 3_000)) == ""
            account.asking(job(1))
            await account.settle(job(1), error.usage, error)
            await account.release(job(1))

        asyncio.run(run())
        return account

    cut_off = after(ProviderError("no", group="timeout", usage=usage))
    assert (cut_off.unknown, cut_off._used) == (1, bound)
    assert cut_off.money is not None
    assert cut_off.money.amount == Decimal("0.008")
    for group in ("refusal", "length", "too_large", "rate_limit"):
        counted = after(ProviderError("no", group=group, usage=usage))
        assert (counted.unknown, counted._used) == (0, Decimal("0.008")), group
    not_counted = after(ProviderError("no", group="refusal", usage=TokenUsage()))
    assert (not_counted.unknown, not_counted._used) == (1, bound)


@given(st.lists(st.tuples(*[st.none() | st.integers(0, 9)] * 4), max_size=4))
@settings(max_examples=50)
def test_answers_are_summed_up_only_where_each_was_counted(counts: list[tuple[int | None, ...]]) -> None:
    sums = together(TokenUsage(*each) for each in counts)
    for place, name in enumerate(("input", "output", "cached", "reasoning")):
        column = [each[place] for each in counts]
        expected = None if None in column or not column else sum(number or 0 for number in column)
        assert getattr(sums, name) == expected
