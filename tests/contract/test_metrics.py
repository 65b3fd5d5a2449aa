"""Counters of runs under Codex's names: stored with the receipt, summed on request, never sent."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.domain.metrics import Meter, TokenUsage, phase1_metrics, phase2_metrics, total
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.model_server import model_server
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex

P1, P2 = "codex.memory.phase1", "codex.memory.phase2"


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    for number in range(4):
        write_codex(bench.sessions, [("user", f"Rule {number}: use pnpm.")], number=number, at=NOW - DAY)
    return bench


async def mixed(request: ExtractionInput) -> ExtractionReply:
    """Fail the first, find nothing in the second, answer rubbish for the third, remember the last."""
    await asyncio.sleep(0)
    match [thread_id(number, NOW - DAY) for number in range(4)].index(request.thread_id):
        case 0:
            raise ProviderError("no answer in time", group="timeout")
        case 1:
            return reply("", "")
        case 2:
            return ExtractionReply("no JSON", tokens_in=100, tokens_out=10, tokens_cached=40, tokens_reasoning=4)
        case _:
            return reply()


def receipts(bench: Bench) -> tuple[Receipt, ...]:
    return asyncio.run(Operations(bench).receipts(bench.home))


def printed(bench: Bench, *argv: str) -> str:
    def compose(home: Path | None) -> Composition:
        return bench

    def no_window(options: WindowOptions) -> int:
        raise AssertionError(options)

    out, err = io.StringIO(), io.StringIO()
    code = run(["--home", str(bench.home), *argv], Surfaces(compose, no_window), io.StringIO(), out, err)
    assert code == 0, err.getvalue()
    return out.getvalue()


def test_an_extraction_run_is_counted_with_its_receipt(bench: Bench) -> None:
    bench.script(mixed)

    async def write() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(write())
    metrics = receipts(bench)[-1].metrics
    assert metrics.pop(f"{P1}.e2e_ms") >= 0
    assert metrics == {
        "codex.memory.startup": 1,
        f"{P1}{{status=claimed}}": 4,
        f"{P1}{{status=succeeded}}": 1,
        f"{P1}{{status=succeeded_no_output}}": 1,
        f"{P1}{{status=failed}}": 2,
        f"{P1}.output": 1,
        f"{P1}.token_usage{{token_type=cached_input}}": 40,
        f"{P1}.token_usage{{token_type=input}}": 300,
        f"{P1}.token_usage{{token_type=output}}": 30,
        f"{P1}.token_usage{{token_type=reasoning_output}}": 4,
        f"{P1}.token_usage{{token_type=total}}": 330,
    }


def test_an_answer_that_could_not_be_used_costs_its_tokens(bench: Bench) -> None:
    bench.script(mixed)

    async def write() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(write())
    tokens = [
        (attempt.tokens_in, attempt.tokens_out)
        for number in (0, 2)
        for attempt in bench.jobs()[thread_id(number, NOW - DAY)].attempts
    ]
    assert tokens == [(None, None), (100, 10)]


def test_both_phases_are_summed_over_all_runs(bench: Bench) -> None:
    bench.script(mixed)

    async def write() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())
        bench.now += 2 * DAY
        await bench.apply(await bench.plan_extract())

    asyncio.run(write())
    before = tree(bench.home)
    answer: dict[str, Any] = json.loads(printed(bench, "metrics", "--json"))
    assert answer["metrics"]["codex.memory.startup"] == 2
    assert answer["metrics"][P1]["claimed"] == 6
    assert answer["metrics"][P2] == {"claimed": 1, "succeeded": 1}
    assert answer["metrics"][f"{P2}.input"] == 1
    assert answer["metrics"][f"{P2}.e2e_ms"] == 0
    assert [one["operation"] for one in answer["runs"]] == ["extract", "consolidate", "extract"]
    assert "codex.memory.phase1{status=claimed}" in printed(bench, "metrics")
    assert tree(bench.home) == before


def test_nothing_is_counted_of_other_operations(bench: Bench) -> None:
    assert "no run was counted" in printed(bench, "metrics")
    bench.script(mixed)

    async def write() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())
        await bench.apply(await Operations(bench).plan_undo(bench.request()))

    asyncio.run(write())
    assert receipts(bench)[-1].metrics == {}


def test_a_server_tells_tokens_by_type(bench: Bench) -> None:
    with model_server() as server:
        settings = bench.request().settings.model_copy(update={"provider_url": server.url, "extract_model": "small"})

        async def write() -> None:
            await bench.apply(await bench.plan_extract(provider="custom", settings=settings))

        asyncio.run(write())
    metrics = receipts(bench)[-1].metrics
    used = {name: n for name, n in metrics.items() if "token_usage" in name}
    assert used[f"{P1}.token_usage{{token_type=input}}"] > 0
    kinds = [f"{P1}.token_usage{{token_type={kind}}}" for kind in ("input", "output")]
    assert used[f"{P1}.token_usage{{token_type=total}}"] == sum(used[kind] for kind in kinds)


def test_a_run_that_claimed_nothing_says_so() -> None:
    counted = phase1_metrics({"skipped": 3, "pruned": 2}, Meter(), milliseconds=-1)
    assert counted == {"codex.memory.startup": 1, f"{P1}.e2e_ms": 0, f"{P1}{{status=skipped_no_candidates}}": 1}


def test_what_is_not_reported_is_not_counted() -> None:
    assert TokenUsage().by_type() == {}
    assert TokenUsage(output=3).by_type() == {"total": 3, "output": 3}


def test_a_consolidation_by_an_agent_is_counted_in_two_parts() -> None:
    meter = Meter()
    meter.add(TokenUsage(10, 5))
    agent = phase2_metrics("", inputs=7, milliseconds=1_000, meter=meter)
    written = phase2_metrics("succeeded", claimed=False, inputs=7, milliseconds=5)
    assert agent[f"{P2}.input"] == 7
    assert agent[f"{P2}.token_usage{{token_type=total}}"] == 15
    assert written == {f"{P2}.e2e_ms": 5, f"{P2}{{status=succeeded}}": 1}


def test_failures_of_phase_2_are_counted_from_its_attempts() -> None:
    attempts = tuple(
        Attempt(n, "me", NOW, NOW, outcome) for n, outcome in enumerate(["failed", "crashed", "succeeded"])
    )
    job = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.ERROR, attempts=attempts)
    assert total([], [job]) == {f"{P2}{{status=claimed}}": 2, f"{P2}{{status=failed}}": 2}
