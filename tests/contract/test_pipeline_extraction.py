"""Phase 1 over the real store: at most eight at once, every end recorded, nothing retried in a run, nothing lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    Cancelled,
    GrantMissing,
    ProviderError,
    RedactionFailed,
    StalePlan,
    UsageError,
)
from ltmem_gui.domain.events import JobFinished, JobStarted, RunProgressed
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline import extraction
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.sessions import thread_id, write_codex

HOUR = 3_600


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


@pytest.fixture
def lay(bench: Bench) -> Callable[[int], list[Path]]:
    def lay(count: int) -> list[Path]:
        return [
            write_codex(bench.sessions, [("user", f"Rule {n}: always use pnpm.")], number=n, at=NOW - DAY - n)
            for n in range(count)
        ]

    return lay


async def fine(request: ExtractionInput) -> ExtractionReply:
    await asyncio.sleep(0)
    return reply()


def test_never_more_than_eight_at_once_and_all_done(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(30)

    async def slow(request: ExtractionInput) -> ExtractionReply:
        for _ in range(20):
            await asyncio.sleep(0)
        return reply()

    scripted = bench.script(slow)

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract())
        assert receipt.counts == {"succeeded": 30}

    asyncio.run(run())
    assert scripted.peak == extraction.CONCURRENCY_LIMIT == 8
    assert {job.last_outcome for job in bench.jobs().values()} == {"succeeded"}
    finished = [event for event in bench.events if isinstance(event, JobFinished)]
    assert len(finished) == len([e for e in bench.events if isinstance(e, JobStarted)]) == 30
    progress = [event.done for event in bench.events if isinstance(event, RunProgressed)]
    assert progress == sorted(progress)
    assert progress[-1] == 30


def test_a_second_plan_with_nothing_new_is_empty_and_asks_no_model(
    bench: Bench, lay: Callable[[int], list[Path]]
) -> None:
    lay(3)
    scripted = bench.script(fine)

    async def run() -> Plan:
        await bench.apply(await bench.plan_extract())
        return await bench.plan_extract()

    plan = asyncio.run(run())
    assert (plan.state, plan.effects) == (PlanState.EMPTY, ())
    assert len(scripted.asked) == 3


@pytest.mark.parametrize(
    ("error", "group"),
    [
        (ProviderError("no answer in time", group="timeout"), "timeout"),
        (ProviderError("slow down", group="rate_limit", retry_after=120), "rate_limit"),
        (RedactionFailed("the redactor failed"), "redaction"),
    ],
)
def test_a_failure_is_recorded_with_its_group_and_waits(
    bench: Bench, lay: Callable[[int], list[Path]], error: Exception, group: str
) -> None:
    lay(2)
    first = thread_id(0, NOW - DAY)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if request.thread_id == first:
            raise error
        return reply()

    scripted = bench.script(answer)

    async def run() -> None:
        receipt = await bench.apply(await bench.plan_extract())
        assert receipt.counts == {"failed": 1, "succeeded": 1}
        bench.now += 60
        again = await bench.apply(await bench.plan_extract())
        assert again.counts == {"skipped": 1}
        assert len(scripted.asked) == 2
        bench.now += HOUR
        await bench.apply(await bench.plan_extract())

    asyncio.run(run())
    job = bench.jobs()[first]
    assert (job.error_group, len(job.attempts)) == (group, 2)
    assert len(scripted.asked) == 3


def test_three_failures_exhaust_a_job(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(1)

    async def fail(request: ExtractionInput) -> ExtractionReply:
        raise ProviderError("no", group="timeout")

    scripted = bench.script(fail)

    async def run() -> None:
        for _ in range(5):
            await bench.apply(await bench.plan_extract())
            bench.now += 2 * HOUR

    asyncio.run(run())
    assert len(scripted.asked) == 3


@pytest.mark.parametrize("text", ["", "not json", '{"raw_memory": "x"}', "[]"])
def test_a_reply_that_breaks_the_schema_is_a_failure_not_a_no_op(
    bench: Bench, lay: Callable[[int], list[Path]], text: str
) -> None:
    lay(1)

    async def broken(request: ExtractionInput) -> ExtractionReply:
        return ExtractionReply(text=text)

    bench.script(broken)
    receipt = asyncio.run(_apply(bench))
    assert receipt == {"failed": 1}
    (job,) = bench.jobs().values()
    assert job.error_group == "schema"


@pytest.mark.log_expected
def test_a_bug_in_one_rollout_costs_only_itself(
    bench: Bench, lay: Callable[[int], list[Path]], caplog: pytest.LogCaptureFixture
) -> None:
    lay(3)
    broken = thread_id(1, NOW - DAY - 1)

    async def answer(request: ExtractionInput) -> ExtractionReply:
        if request.thread_id == broken:
            raise ZeroDivisionError
        return reply()

    bench.script(answer)
    assert asyncio.run(_apply(bench)) == {"failed": 1, "succeeded": 2}
    assert bench.jobs()[broken].error_group == "bug"
    assert "ZeroDivisionError" in caplog.text


def test_a_no_op_is_recorded_and_deletes_an_earlier_memory(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    (path,) = lay(1)
    bench.script(fine)
    asyncio.run(_apply(bench))
    with path.open("a") as file:
        file.write('{"timestamp": "2026-06-01T00:00:00.000Z", "type": "event_msg", "payload": {"type": "x"}}\n')

    async def blank(request: ExtractionInput) -> ExtractionReply:
        return reply(memory="  \n", summary="not kept")

    bench.script(blank)
    bench.now += 40 * DAY
    assert asyncio.run(_apply(bench)) == {"nothing to remember": 1}
    with bench.stores.reading(bench.home) as store:
        assert store.outputs() == ()


def test_changed_and_missing_rollouts_are_not_sent(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    changed, missing, _ = lay(3)
    scripted = bench.script(fine)

    async def run() -> dict[str, int]:
        plan = await bench.plan_extract()
        with changed.open("a") as file:
            file.write("\n")
        missing.unlink()
        return (await bench.apply(plan)).counts

    assert asyncio.run(run()) == {"changed since planning": 1, "source missing": 1, "succeeded": 1}
    assert len(scripted.asked) == 1
    assert bench.jobs()[thread_id(1, NOW - DAY - 1)].last_outcome == "source missing"


def test_cancelling_gives_every_lease_back(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(20)
    cancel = CancelToken()
    asked: list[str] = []

    async def hang(request: ExtractionInput) -> ExtractionReply:
        asked.append(request.thread_id)
        if len(asked) == 8:
            cancel.cancel()
        await asyncio.Event().wait()
        raise AssertionError

    bench.script(hang)

    async def run() -> None:
        plan = await bench.plan_extract()
        with pytest.raises(Cancelled):
            await bench.apply(plan, cancel)
        bench.script(fine)
        receipt = await bench.apply(await bench.plan_extract())
        assert receipt.counts == {"succeeded": 20}

    asyncio.run(run())
    with bench.stores.reading(bench.home) as store:
        first = store.receipts()[0]
    assert first.counts == {"released": 8}


def test_a_cancelled_task_gives_every_lease_back(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(3)
    started = asyncio.Event()

    async def hang(request: ExtractionInput) -> ExtractionReply:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.script(hang)

    async def run() -> None:
        task = asyncio.ensure_future(bench.apply(await bench.plan_extract()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert {job.status for job in bench.jobs().values()} <= {"pending", "error", "done"}
        bench.script(fine)
        assert (await bench.apply(await bench.plan_extract())).counts == {"succeeded": 3}

    asyncio.run(run())


def test_the_token_limit_stops_claiming(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(40)
    scripted = bench.script(fine)
    settings = Settings(max_rollout_age_days=3_650, max_tokens_per_run=500)

    async def run() -> dict[str, int]:
        return (await bench.apply(await bench.plan_extract(settings=settings))).counts

    counts = asyncio.run(run())
    assert counts["skipped"] == 40 - len(scripted.asked) > 0


def test_a_stolen_lease_refuses_the_late_result(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(1)

    async def stolen(request: ExtractionInput) -> ExtractionReply:
        with sqlite3.connect(bench.home / "ltmem.sqlite") as db:
            db.execute("update jobs set ownership_token = 'other' where kind = 'memory_stage1'")
        return reply()

    bench.script(stolen)
    assert asyncio.run(_apply(bench)) == {"lease lost": 1}
    with bench.stores.reading(bench.home) as store:
        assert store.outputs() == ()


def test_every_field_of_the_output_is_redacted(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    lay(1)

    async def leak(request: ExtractionInput) -> ExtractionReply:
        return reply(memory=f"- token {secret}", summary=f"# used {secret}", slug=f"x {secret}")

    bench.script(leak)
    asyncio.run(_apply(bench))
    with bench.stores.reading(bench.home) as store:
        (receipt,) = store.receipts()
    assert sum(receipt.redactions["output"].values()) == 3
    assert secret not in receipt.model_dump_json()
    with bench.stores.reading(bench.home) as store:
        (output,) = store.outputs()
    assert secret not in repr(output)
    assert "REDACTED" in output.raw_memory


def test_an_error_message_is_redacted_before_it_is_stored_or_shown(
    bench: Bench, lay: Callable[[int], list[Path]]
) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    lay(1)

    async def echo(request: ExtractionInput) -> ExtractionReply:
        raise ProviderError(f"the server said: bad token {secret}", group="auth")

    bench.script(echo)
    assert asyncio.run(_apply(bench)) == {"failed": 1}
    (job,) = bench.jobs().values()
    assert "[REDACTED:" in job.last_error
    assert secret not in repr(job)
    assert secret not in repr(bench.events)
    assert secret.encode() not in (bench.home / "ltmem.sqlite").read_bytes()


def test_a_redactor_that_fails_writes_nothing(
    bench: Bench, lay: Callable[[int], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(1)
    bench.script(fine)

    async def broken(texts: tuple[str, ...], known: tuple[str, ...] = ()) -> tuple[Redaction, ...]:
        raise RedactionFailed("the redactor failed")

    monkeypatch.setattr(bench, "redact_texts", broken)
    assert asyncio.run(_apply(bench)) == {"failed": 1}
    (job,) = bench.jobs().values()
    assert (job.error_group, job.title) == ("redaction", "")


def test_a_plan_is_carried_out_once_and_only_in_its_folder(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(1)
    bench.script(fine)

    async def run() -> None:
        plan = await bench.plan_extract()
        second = await bench.grant(plan)
        await bench.apply(plan)
        with pytest.raises(AlreadyApplied):
            await bench.grant(plan)
        with pytest.raises(AlreadyApplied):
            await Operations(bench).apply(second, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(run())


def test_a_data_folder_that_is_gone_makes_the_plan_stale(
    bench: Bench, lay: Callable[[int], list[Path]], guard: Guard
) -> None:
    lay(2)
    bench.script(fine)

    async def run() -> None:
        settings = Settings(max_rollout_age_days=3_650, max_rollouts_per_run=1)
        await bench.apply(await bench.plan_extract(settings=settings))
        plan = await bench.plan_extract()
        grant = await bench.grant(plan)
        with guard.grant():
            bench.home.rename(bench.place / "away")
        with pytest.raises(StalePlan):
            await Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(run())


def test_text_goes_only_to_a_host_the_plan_names(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(1)
    bench.script(fine)

    async def run() -> None:
        plan = await bench.plan_extract()
        scripted = bench.script(fine, host="model.example")
        with pytest.raises(GrantMissing, match="host"):
            await bench.apply(plan)
        assert scripted.asked == []

    asyncio.run(run())


def test_what_would_be_sent_is_redacted_and_counted_in_the_plan(bench: Bench) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    write_codex(bench.sessions, [("user", f"Use the token {secret} always.")], at=NOW - DAY)
    bench.script(fine, host="127.0.0.1:8080")

    async def run() -> Plan:
        return await bench.plan_extract()

    plan = asyncio.run(run())
    (send,) = [effect for effect in plan.effects if effect.type == "SendToModel"]
    assert (send.host, send.requests, send.loopback) == ("127.0.0.1:8080", 1, True)
    assert sum(send.redactions.values()) == 1
    assert send.tokens > 0
    assert secret not in plan.model_dump_json()


def test_a_grant_of_another_kind_is_refused(bench: Bench, lay: Callable[[int], list[Path]]) -> None:
    lay(1)
    bench.script(fine)

    async def run() -> None:
        await bench.apply(await bench.plan_extract())
        bench.scripted = None
        grant = await bench.grant(await bench.plan_consolidate())
        with pytest.raises(GrantMissing):
            await extraction.run_extraction(bench, grant, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(run())


def test_slots_used_by_others_are_waited_for(
    bench: Bench, lay: Callable[[int], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(2)
    bench.script(fine)
    monkeypatch.setattr(extraction, "SLOT_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(extraction, "SLOT_PATIENCE_SECONDS", 0.03)

    async def run() -> dict[str, int]:
        settings = Settings(max_rollout_age_days=3_650, max_rollouts_per_run=1)
        await bench.apply(await bench.plan_extract(settings=settings))
        with sqlite3.connect(bench.home / "ltmem.sqlite") as db:
            for n in range(8):
                db.execute(
                    "insert into jobs (kind, job_key, status, retry_remaining, lease_until, ownership_token, worker_id)"
                    " values ('memory_stage1', ?, 'running', 3, ?, 't', 'elsewhere:1:1:x')",
                    (f"other-{n}", NOW + HOUR),
                )
        return (await bench.apply(await bench.plan_extract())).counts

    assert asyncio.run(run()) == {"skipped": 1}


def test_a_scan_needs_a_folder(bench: Bench) -> None:
    with pytest.raises(UsageError, match="sessions folder"):
        asyncio.run(bench.plan_extract(sources=()))


async def _apply(bench: Bench) -> dict[str, int]:
    return (await bench.apply(await bench.plan_extract())).counts


def test_redaction_settings_are_bound_into_the_plan(bench: Bench) -> None:
    write_codex(bench.sessions, [("user", "Always use the ticket ABC-123-SECRET in this repo.")], at=NOW - DAY)
    settings = Settings(max_rollout_age_days=3_650, redaction_patterns=(r"ABC-\d+-SECRET",))

    async def run() -> None:
        await bench.apply(await bench.plan_extract(settings=settings))

    asyncio.run(run())
    with bench.stores.reading(bench.home) as store:
        (output,) = store.outputs()
        (receipt,) = store.receipts()
    assert "ABC-123-SECRET" not in repr(output)
    assert sum(receipt.redactions["input"].values()) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"redaction_patterns": ("(a+)+$",)}, "too slow"),
        ({"redaction_patterns": ("x*",)}, "empty text"),
        ({"redaction_off": ("private_key",)}, "cannot be switched off"),
        ({"redaction_off": ("nonsense",)}, "unknown kind"),
    ],
)
def test_redaction_settings_that_would_harm_are_refused(bench: Bench, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        asyncio.run(bench.plan_extract(settings=Settings(**settings)))
