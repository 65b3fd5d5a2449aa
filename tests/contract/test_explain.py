"""Why is my memory empty: each broken link is the first reason once, and the words name figures and a next step."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from ltmem_gui.bootstrap import Composition
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.main import Surfaces, run
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import ProviderError
from ltmem_gui.domain.extraction import Candidate, ExtractionInput, ExtractionReply
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND, JobRecord, JobStatus
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.domain.rollouts import SkippedFile
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.explain import explain, explain_all
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import ScanReport
from tests.helpers.bench import DAY, NOW, Bench, reply
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    bench.sessions.mkdir()
    return bench


def lay(bench: Bench, count: int = 3, at: int = NOW - DAY) -> None:
    for number in range(count):
        write_codex(bench.sessions, [("user", f"Rule {number}: use pnpm.")], number=number, at=at)


def told(bench: Bench, **changes: object) -> tuple[str, ...]:
    return asyncio.run(explain_all(bench, bench.request(**changes)))


def extract(bench: Bench) -> None:
    async def write() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(write())


def consolidate(bench: Bench) -> None:
    async def write() -> None:
        await bench.apply(await bench.plan_consolidate())

    asyncio.run(write())


async def remember(request: ExtractionInput) -> ExtractionReply:
    await asyncio.sleep(0)
    return reply("- use pnpm always")


def test_no_folder_was_named(bench: Bench) -> None:
    lines = told(bench, sources=(), memory_root=None)
    assert "No memory folder was named" in lines[0]
    assert any("no sessions folder was named" in line and "--source" in line for line in lines)
    assert "no sessions folder was named" in told(bench, sources=())[0]


def test_an_empty_folder_of_sessions(bench: Bench) -> None:
    assert "no rollouts were found" in told(bench)[0]


def test_files_that_cannot_be_read_are_counted_with_the_commonest_reason() -> None:
    files = (SkippedFile("a", "no session"), SkippedFile("b", "too large"), SkippedFile("c", "no session"))
    lines = explain(ScanReport((), files), (), (), None)
    assert any("3 files could not be read, 2 of them because: no session" in line for line in lines)


def test_rules_that_leave_everything_out_are_named_commonest_first(bench: Bench) -> None:
    lay(bench, 3, at=NOW - 50 * DAY)
    write_codex(bench.sessions, [("user", "x")], number=9, at=NOW - 60)
    lines = told(bench, settings=Settings())
    assert "0 can be taken" in lines[0]
    assert "4 left out: 3 × too old (e.g. too old" in lines[0]
    assert "1 × still fresh (not idle" in lines[0]


def test_more_than_three_rules_are_summed_up(bench: Bench) -> None:
    lay(bench, 1, at=NOW - 50 * DAY)
    write_codex(bench.sessions, [("user", "x")], number=2, at=NOW - 60)
    write_codex(bench.sessions, [("user", "x")], number=3, at=NOW - DAY, source={"subagent": "review"})
    write_codex(bench.sessions, [("user", "x")], number=4, at=NOW - DAY, source="exec")
    assert "and others" in told(bench, settings=Settings())[0]


def test_rollouts_wait_for_the_first_run(bench: Bench) -> None:
    lay(bench)
    lines = told(bench)
    assert "nothing was extracted yet; 3 rollouts wait" in lines[0]
    assert any("ltmem-gui plan extract" in line for line in lines)
    assert not bench.home.exists()


def test_a_plan_that_waits_for_a_yes_is_the_reason(bench: Bench) -> None:
    lay(bench)
    operations = Operations(bench)

    async def both() -> tuple[str, ...]:
        report = await operations.scan(bench.request(), cancel=CancelToken(), listen=bench.events.append)
        snapshot = await operations.read_folder(bench.memory)
        plan = await bench.plan_extract()
        assert plan.state is PlanState.APPLYABLE
        return explain(report, (), (), snapshot, plan=plan)

    assert "waits for your yes" in asyncio.run(both())[0]


def test_nothing_to_remember_and_an_inbox(bench: Bench) -> None:
    lay(bench)

    async def nothing(request: ExtractionInput) -> ExtractionReply:
        return reply("", "", inbox=(Candidate(f"maybe {request.thread_id[-1]}", 3, "fact", 50),))

    bench.script(nothing)
    extract(bench)
    lines = told(bench)
    assert "0 gave a memory, 3 held nothing to remember" in lines[0]
    assert any("3 uncertain lines wait for you" in line and "ltmem-gui inbox" in line for line in lines)


def test_failures_are_grouped_with_a_remedy_each(bench: Bench) -> None:
    lay(bench)
    groups = ["rate_limit", "rate_limit", "odd"]

    async def fail(request: ExtractionInput) -> ExtractionReply:
        number = [thread_id(number, NOW - DAY) for number in range(3)].index(request.thread_id)
        raise ProviderError("slow down", group=groups[number])

    bench.script(fail)
    extract(bench)
    lines = told(bench)
    assert "0 gave a memory, 0 held nothing to remember, 3 failed" in lines[0]
    assert any("2 × the provider's rate limit: slow down" in line for line in lines)
    assert any("1 × odd" in line and "ltmem-gui jobs" in line for line in lines)


def test_held_jobs_are_named(bench: Bench) -> None:
    held = JobRecord(STAGE1_KIND, "t", JobStatus.HELD)
    lines = explain(None, (held,), (), None)
    assert any("1 are held" in line and "plan release" in line for line in lines)


def test_memories_that_were_not_consolidated(bench: Bench) -> None:
    lay(bench)
    bench.script(remember)
    extract(bench)
    lines = told(bench)
    assert "was not consolidated yet" in lines[0]
    assert any("✓ Memories: 3 gave a memory" in line for line in lines)
    assert "was not consolidated yet" in told(bench, sources=())[0]
    operations = Operations(bench)
    bench.events.clear()

    async def both() -> tuple[str, ...]:
        plan = await bench.plan_consolidate()
        jobs, snapshot = await operations.jobs(bench.home), await operations.read_folder(bench.memory)
        return explain(None, jobs, (), snapshot, plan=plan)

    assert "waits for your yes" in asyncio.run(both())[0]


def test_a_consolidation_that_runs_or_failed_is_named(bench: Bench) -> None:
    snapshot = asyncio.run(Operations(bench).read_folder(bench.memory))
    done = JobRecord(STAGE1_KIND, "t", JobStatus.DONE, last_outcome="succeeded")
    phase2 = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING, owner="host:1:2:ltmem")
    assert "held by host:1:2:ltmem" in explain(None, (done, phase2), (), snapshot)[0]
    failed = replace(phase2, status=JobStatus.ERROR, last_error="the disk is full")
    assert "the disk is full" in explain(None, (done, failed), (), snapshot)[0]


def test_a_memory_that_is_there(bench: Bench) -> None:
    lay(bench)
    bench.script(remember)
    extract(bench)
    consolidate(bench)
    lines = told(bench)
    assert lines[0] == "The memory is not empty."
    assert all(line.startswith("✓") for line in lines[1:])
    assert any("3 were extracted before" in line for line in lines)
    bench.now += DAY
    write_codex(bench.sessions, [("user", "Rule 7: use pnpm.")], number=7, at=NOW)
    assert any("3 rollouts were tried; 1 more wait" in line for line in told(bench))
    extract(bench)
    assert any("newer memories wait for the next one" in line for line in told(bench))


def test_threads_that_are_left_out_are_counted(bench: Bench) -> None:
    lay(bench)
    bench.script(remember)
    extract(bench)

    async def leave_out() -> None:
        plan = await Operations(bench).plan_queue_action(
            bench.request(),
            QueueAction.EXCLUDE,
            [thread_id(0, NOW - DAY)],
            cancel=CancelToken(),
            listen=bench.events.append,
        )
        await bench.apply(plan)

    asyncio.run(leave_out())
    assert any("1 threads are left out of the memory on your wish" in line for line in told(bench))


@pytest.mark.parametrize(("operation", "words"), [("clear", "cleared"), ("undo", "taken back")])
def test_a_memory_that_was_emptied_says_by_what(bench: Bench, operation: str, words: str) -> None:
    lay(bench)
    bench.script(remember)
    extract(bench)
    consolidate(bench)

    async def empty() -> None:
        operations = Operations(bench)
        planning = operations.plan_clear if operation == "clear" else operations.plan_undo
        await bench.apply(await planning(bench.request()))

    asyncio.run(empty())
    assert any(f"was {words} by the last operation" in line for line in told(bench))


def test_a_file_with_headings_alone_is_empty(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        bench.memory.mkdir()
        (bench.memory / "MEMORY.md").write_text("# Memory\n\n## Tasks\n")
    assert any("MEMORY.md is empty" in line for line in told(bench))
    with guard.grant():
        (bench.memory / "MEMORY.md").unlink()
    assert any("MEMORY.md is missing" in line for line in told(bench))


def test_explain_on_the_command_line_writes_nothing(bench: Bench) -> None:
    lay(bench)

    def compose(home: Path | None) -> Composition:
        return bench

    def no_window(options: WindowOptions) -> int:
        raise AssertionError(options)

    before = tree(bench.place)
    answers: list[str] = []
    for form in ((), ("--json",)):
        out, err = io.StringIO(), io.StringIO()
        places = ("--home", str(bench.home), "--memory-root", str(bench.memory), "--source", f"codex={bench.sessions}")
        code = run([*places, "explain", *form], Surfaces(compose, no_window), io.StringIO(), out, err)
        assert code == 0, err.getvalue()
        answers.append(out.getvalue())
    assert json.loads(answers[1])["lines"] == answers[0].splitlines()
    assert tree(bench.place) == before
