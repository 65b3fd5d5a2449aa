"""A person cancels one row of a run: only its extraction ends, its lease is given back, and its try is not lost."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled
from ltmem_gui.domain.events import JobFinished, JobNoted, JobPrepared, JobStarted, LeaseRenewed
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.leases import StageOne
from ltmem_gui.pipeline.extraction import CANCELLED_ALONE
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.sessions import thread_id, write_codex
from tests.helpers.waiting import until


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    for number in range(12):
        text = f"Rule {number}: always use pnpm; the token is ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ."
        write_codex(bench.sessions, [("user", text)], number=number, at=NOW - DAY - number)
    return bench


def _id(number: int) -> str:
    return thread_id(number, NOW - DAY - number)


def test_the_others_go_on_and_the_try_is_kept(bench: Bench) -> None:
    cancel, ended = CancelToken(), asyncio.Event()

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if request.thread_id != _id(2):
            await ended.wait()
            return reply()
        cancel.part(_id(2)).cancel()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    bench.script(answer)

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract(), cancel)
        assert receipt.counts == {"released": 1, "succeeded": 11}

    asyncio.run(run())
    job = bench.jobs()[_id(2)]
    assert (job.status, job.lease_until, job.retry_remaining) == ("pending", None, StageOne.RETRIES)
    assert job.attempts[0].outcome == "released"
    assert job.attempts[0].error == CANCELLED_ALONE
    finished = {event.thread_id: event for event in bench.events if isinstance(event, JobFinished)}
    assert (finished[_id(2)].outcome, finished[_id(2)].reason) == ("released", CANCELLED_ALONE)
    assert len(finished) == 12

    async def again() -> None:
        bench.script(lambda request: _fine())
        assert (await bench.apply(await bench.plan_extract())).counts == {"succeeded": 1}

    asyncio.run(again())
    assert [attempt.outcome for attempt in bench.jobs()[_id(2)].attempts] == ["released", "succeeded"]


async def _fine() -> ExtractionReply:
    await asyncio.sleep(0)
    return reply()


def test_one_that_had_not_begun_is_passed_over(bench: Bench) -> None:
    cancel = CancelToken()
    cancel.part(_id(5)).cancel()
    bench.script(lambda request: _fine())

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract(), cancel)
        assert receipt.counts == {"skipped": 1, "succeeded": 11}

    asyncio.run(run())
    assert _id(5) not in bench.jobs()


def test_what_was_stored_a_moment_before_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = CancelToken()
    bench.script(lambda request: _fine())
    store = bench.inline.store

    async def late(function: object, *args: object) -> object:
        result = await store(function, *args)  # type: ignore[arg-type]
        if getattr(getattr(function, "func", None), "__name__", "") == "succeed_stage1":
            claim = function.args[0]  # type: ignore[attr-defined]
            if claim.job_key == _id(3):
                cancel.part(_id(3)).cancel()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        return result

    monkeypatch.setattr(bench.inline, "store", late)

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract(), cancel)
        assert receipt.counts == {"succeeded": 12}

    asyncio.run(run())
    assert bench.jobs()[_id(3)].status == "done"


def test_cancelling_all_while_one_was_cancelled_gives_everything_back(bench: Bench) -> None:
    cancel = CancelToken()
    asked: list[str] = []

    async def hang(request: ExtractionInput) -> ExtractionReply:
        asked.append(request.thread_id)
        if len(asked) == 8:
            cancel.part(asked[0]).cancel()
            cancel.cancel()
        await asyncio.Event().wait()
        raise AssertionError

    bench.script(hang)

    async def run() -> None:
        with pytest.raises(Cancelled):
            await bench.apply(await bench.plan_extract(), cancel)

    asyncio.run(run())
    assert {job.status for job in bench.jobs().values()} == {"pending"}
    assert all(job.lease_until is None for job in bench.jobs().values())


def test_sizes_and_redactions_are_told_without_any_text(bench: Bench) -> None:
    bench.script(lambda request: _fine(), host="models.example")
    plan = asyncio.run(bench.plan_extract())
    bench.scripted = None
    bench.script(lambda request: _fine())
    asyncio.run(bench.apply(plan))
    prepared = [event for event in bench.events if isinstance(event, JobPrepared)]
    assert len(prepared) == 12
    assert all(event.tokens_before >= event.tokens_sent > 0 and not event.truncated for event in prepared)
    assert sum(prepared[0].redactions.values()) == 1
    noted = [event.text for event in bench.events if isinstance(event, JobNoted)]
    assert noted == ["asking Scripted"] * 12


def test_a_lease_is_told_with_its_owner_and_when_it_is_renewed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.pipeline.extraction.StageTwo.JOB_HEARTBEAT_SECONDS", 0.01)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if request.thread_id != _id(0):
            return reply()
        bench.now = NOW + 90
        renewal = LeaseRenewed(_id(0), NOW + 90 + StageOne.JOB_LEASE_SECONDS)
        await until(lambda: renewal in bench.events, "the renewal of the lease")
        claims = [event for event in bench.events if isinstance(event, JobStarted) and event.thread_id == _id(0)]
        assert claims[0].owner == str(bench.owner)
        assert claims[0].lease_until == NOW + StageOne.JOB_LEASE_SECONDS
        with sqlite3.connect(bench.home / "ltmem.sqlite") as db:
            db.execute("update jobs set ownership_token = 'other' where job_key = ?", (_id(0),))
        await until(
            lambda: any(isinstance(event, JobNoted) and "another worker" in event.text for event in bench.events),
            "the note that the lease is another's",
        )
        return reply()

    bench.script(answer)

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract())
        assert receipt.counts == {"lease lost": 1, "succeeded": 11}

    asyncio.run(run())
    renewed = [event for event in bench.events if isinstance(event, LeaseRenewed) and event.thread_id == _id(0)]
    assert renewed[-1].lease_until == NOW + 90 + StageOne.JOB_LEASE_SECONDS
    assert any(isinstance(event, JobNoted) and event.level == "warning" for event in bench.events)
