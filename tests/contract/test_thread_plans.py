"""Sessions a person points at: now, with another budget, or in parts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import ClaimJobs, JobMark, SendToModel, UpdateJobs
from ltmem_gui.domain.errors import ProviderError, UsageError
from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
from ltmem_gui.domain.jobs import JobStatus
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.thread_plans import plan_threads
from tests.helpers.bench import DAY, NOW, Bench, ScriptedExtractor, reply
from tests.helpers.guard import Guard
from tests.helpers.model_server import MEMORY, model_server
from tests.helpers.sessions import thread_id, write_codex

LARGE, SMALL = (thread_id(number, NOW - DAY) for number in range(2))
HOST = "127.0.0.1:9"


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    turns = [("user", f"Rule {number}: " + "always use pnpm, never npm. " * 40) for number in range(12)]
    write_codex(bench.sessions, turns, number=0, at=NOW - DAY)
    write_codex(bench.sessions, [("user", "Rule: use tabs.")], number=1, at=NOW - DAY)
    return bench


class Splitter(ScriptedExtractor):
    """A scripted provider that can split too."""

    def __init__(self, answer: Any, host: str = HOST) -> None:
        super().__init__(answer, host)
        self.parts: list[int] = []

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        self.parts.append(part_tokens)
        return reply("- in parts")


async def too_large(request: ExtractionInput) -> ExtractionReply:
    await asyncio.sleep(0)
    if request.thread_id == LARGE:
        raise ProviderError("it does not fit", group="too_large")
    return reply()


def planned(bench: Bench, action: QueueAction, *threads: str, **changes: Any) -> Plan:
    wish = Operations(bench).plan_queue_action(
        bench.request(**changes), action, threads, cancel=CancelToken(), listen=bench.events.append
    )
    return asyncio.run(wish)


def run_once(bench: Bench, extractor: Splitter | None = None) -> Splitter:
    bench.scripted = scripted = extractor or Splitter(too_large)

    async def run() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(run())
    return scripted


def test_a_rollout_that_is_too_large_is_extracted_in_parts(bench: Bench) -> None:
    scripted = run_once(bench)
    assert bench.jobs()[LARGE].error_group == "too_large"
    plan = planned(bench, QueueAction.SPLIT, LARGE, SMALL)
    assert {skip.id: skip.reasons for skip in plan.skipped} == {SMALL: ("it is done, with nothing new since",)}
    (claim,) = plan.effects_of(ClaimJobs)
    (job,) = claim.jobs
    assert job.split > 0
    assert job.tokens_sent > job.split
    (send,) = plan.effects_of(SendToModel)
    assert send.requests == 2 * -(-job.tokens_sent // job.split) + 1
    assert plan.effects_of(UpdateJobs)[0].jobs == (JobMark(thread_id=LARGE, status=JobStatus.ERROR),)
    receipt = asyncio.run(bench.apply(plan))
    assert receipt.counts == {"succeeded": 1}
    assert scripted.parts == [job.split]
    assert bench.jobs()[LARGE].status is JobStatus.DONE
    assert [attempt.outcome for attempt in bench.jobs()[LARGE].attempts] == ["failed", "succeeded"]


def test_the_size_of_a_part_follows_the_context_window(bench: Bench) -> None:
    run_once(bench)
    settings = Settings(max_rollout_age_days=3_650, context_window=500)
    plan = planned(bench, QueueAction.SPLIT, LARGE, settings=settings)
    assert plan.effects_of(ClaimJobs)[0].jobs[0].split == 500 * 95 // 100 * 70 // 100


def test_a_provider_that_reads_whole_is_not_asked_to_split(bench: Bench) -> None:
    run_once(bench)
    bench.scripted = None
    with pytest.raises(UsageError, match="whole"):
        planned(bench, QueueAction.SPLIT, LARGE)
    bench.scripted = Splitter(too_large)
    plan = planned(bench, QueueAction.SPLIT, LARGE)
    bench.script(too_large, HOST)
    receipt = asyncio.run(bench.apply(plan))
    assert receipt.counts == {"failed": 1}
    assert "whole" in bench.jobs()[LARGE].last_error


def test_a_model_on_a_server_is_asked_for_each_part_and_to_merge(bench: Bench) -> None:
    run_once(bench)
    bench.scripted = None
    with model_server(answer=lambda request: json.dumps(MEMORY)) as server:
        settings = Settings(
            max_rollout_age_days=3_650, provider_url=server.url, extract_model="small", context_window=4_000
        )
        plan = planned(bench, QueueAction.SPLIT, LARGE, provider="custom", settings=settings)
        receipt = asyncio.run(bench.apply(plan))
        (send,) = plan.effects_of(SendToModel)
        assert receipt.counts == {"succeeded": 1}
        assert 3 <= len(server.posts) <= send.requests


@pytest.mark.parametrize(
    ("action", "window"), [(QueueAction.LARGER, 16_000), (QueueAction.SMALLER, 4_000), (QueueAction.RUN, 8_000)]
)
def test_the_budget_is_bound_into_the_plan(bench: Bench, action: QueueAction, window: int) -> None:
    scripted = run_once(bench)
    settings = Settings(max_rollout_age_days=3_650, context_window=8_000)
    plan = planned(bench, action, LARGE, settings=settings)
    assert plan.settings.context_window == window
    asked = len(scripted.asked)
    receipt = asyncio.run(bench.apply(plan))
    assert receipt.counts == {"failed": 1}
    assert len(scripted.asked) == asked + 1
    assert bench.jobs()[LARGE].retry_remaining == 2


def test_run_now_takes_what_is_too_old_or_fresh_and_says_so(bench: Bench) -> None:
    bench.scripted = Splitter(too_large)
    settings = Settings(max_rollout_age_days=0, min_rollout_idle_hours=48)
    plan = planned(bench, QueueAction.RUN, SMALL, settings=settings)
    assert [job.thread_id for job in plan.effects_of(ClaimJobs)[0].jobs] == [SMALL]
    waived = [note for note in plan.notes if "because you chose it" in note]
    assert len(waived) == 2
    assert not plan.effects_of(UpdateJobs)[0].jobs
    assert asyncio.run(bench.apply(plan)).counts == {"succeeded": 1}


def test_run_now_keeps_every_other_rule(bench: Bench) -> None:
    bench.scripted = Splitter(too_large)
    agent = {"subagent": {"thread_spawn": {"parent_thread_id": SMALL, "depth": 1}}}
    write_codex(bench.sessions, [("user", "Rule: no.")], number=5, at=NOW - DAY, source=agent)
    other = thread_id(5, NOW - DAY)
    plan = planned(bench, QueueAction.RUN, other, "unknown")
    assert plan.state is PlanState.EMPTY
    reasons = {skip.id: skip.reasons for skip in plan.skipped}
    assert "sub-agent" in reasons[other][0]
    assert reasons["unknown"] == ("its session is not in the folders that were named",)


def test_a_session_whose_file_is_gone_is_named_by_its_job(bench: Bench) -> None:
    run_once(bench)
    path = next(path for path in bench.sessions.rglob(f"*{LARGE}.jsonl"))
    path.unlink()
    (skip,) = planned(bench, QueueAction.RUN, LARGE).skipped
    assert (skip.id, skip.path) == (LARGE, str(path))


def test_an_action_on_rows_extracts_nothing(bench: Bench) -> None:
    with pytest.raises(UsageError, match="extracts nothing"):
        asyncio.run(
            plan_threads(
                bench, bench.request(), QueueAction.HOLD, [SMALL], cancel=CancelToken(), listen=bench.events.append
            )
        )
