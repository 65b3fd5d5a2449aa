"""Runs of the agent that go wrong: the memory folder stays as it was, and the job knows why and when to try again."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.agent import AgentFailed, AgentStep, ToolOutcome
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import StartAgent
from ltmem_gui.domain.errors import (
    Cancelled,
    GrantMissing,
    LeaseLost,
    LockBusy,
    ProviderError,
    RedactionFailed,
    StalePlan,
    WorkspaceMoved,
)
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.pipeline.agent_run import run_consolidation
from tests.helpers.agents import (
    SUMMARY,
    Script,
    agent_server,
    agent_settings,
    all_answers,
    consolidated,
    copied,
    do,
    plan_with,
    raw,
    run_with,
    whole_run,
)
from tests.helpers.bench import NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.model_server import Recorded, ToolCall
from tests.helpers.program import tree
from tests.helpers.waiting import PATIENCE_SECONDS, until


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return consolidated(tmp_path_factory.mktemp("template"))


@pytest.fixture
def bench(template: Bench, tmp_path: Path, guard: Guard) -> Bench:
    """A bench whose folder the built-in rules wrote, and one memory more that is waiting."""
    bench = copied(template, tmp_path)
    guard.protect(bench.home, bench.memory)
    return bench


def job_of(bench: Bench) -> Any:
    with bench.stores.reading(bench.home) as store:
        return store.job("memory_consolidate_global", "global")


def fenced(plan: Plan, **limits: int) -> Plan:
    """Return the same plan with other limits."""
    effects = tuple(
        effect.model_copy(update={"constraints": effect.constraints.model_copy(update=limits)})
        if isinstance(effect, StartAgent)
        else effect
        for effect in plan.effects
    )
    return plan.model_copy(update={"effects": effects}).sealed()


@contextmanager
def unchanged(bench: Bench) -> Iterator[None]:
    """Fail unless the folder, its git and its times are the same afterwards."""

    def look() -> dict[str, tuple[int, int, bytes]]:
        return {
            str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
            for path in bench.memory.rglob("*")
            if path.is_file()
        }

    before = look()
    yield
    assert look() == before


def failed(bench: Bench, plan: Plan, error: type[Exception], match: str) -> None:
    """Run a plan that must fail, leave no trace, and say why and when it may be tried again."""
    with unchanged(bench), pytest.raises(error, match=match):
        run_with(bench, plan)
    job = job_of(bench)
    assert (job.status, job.retry_at) == ("error", bench.now + 3_600)
    assert job.last_error
    assert job.attempts[-1].outcome == "failed"
    bench.now += 60  # past what a server asks for itself; the job's own delay is longer
    with pytest.raises(LockBusy, match="waiting after a failure, until 2026-"):
        run_with(bench, plan)


def test_malformed_and_unknown_calls_are_answered_and_the_run_goes_on(bench: Bench) -> None:
    moves = [
        [raw("read", '{"path": "MEMORY.md"'), raw("read", "[1, 2]"), raw("read", "")],
        [do("read", path=7), do("read", path="MEMORY.md", line_offset=0), do("read", path="MEMORY.md", mode="w")],
        [do("run_shell", cmd="id"), do("spawn_agent", task="x"), raw("", "{}")],
        [do("read", path="MEMORY.md", max_lines=None, line_offset=None)],
        [do("edit", path="MEMORY.md", old_text="no such text", new_text="x"), do("delete", path="nothing.md")],
        [do("list", cursor="x"), do("list", cursor="99"), do("search", queries=["---"], normalized=True)],
        "Done.",
    ]
    with agent_server(*moves) as server:
        done = run_with(bench, plan_with(bench, server))
        given = all_answers(server)
    assert done.transcript is not None
    outcomes = [action.outcome for action in done.transcript.actions]
    assert (
        outcomes == [ToolOutcome.ERROR] * 6 + [ToolOutcome.REFUSED] * 3 + [ToolOutcome.DONE] + [ToolOutcome.ERROR] * 5
    )
    assert done.transcript.refusals == {"unknown tool": 3}
    assert done.receipt.counts["refused_calls"] == 3
    assert len(given) == 15
    assert any("unknown tool × 3" in note for note in (done.proposal.notes if done.proposal else ()))


ESCAPES = (
    "../outside.md", "a/../../outside.md", "/etc/passwd", "/dev/null", ".git/HEAD", ".git/config", "x/.git/config",
    ".GIT/config", "git~1/config", ".hidden", "a\\..\\..\\b", "C:/x.md", "//host/share", "a\u0000b", "./MEMORY.md",
    "a//b", "", "x" * 300, "/".join("d" * 20), "~/.ssh/id_rsa/../x", "con", "MEMORY.md/",
)  # fmt: skip


def test_no_path_leads_out(bench: Bench, tmp_path: Path) -> None:
    before = tree(tmp_path)
    moves: list[Any] = [
        [
            do("read", path=path),
            do("write", path=path, content="escaped\n"),
            do("edit", path=path, old_text="a", new_text="b"),
            do("delete", path=path),
        ]
        for path in ESCAPES
    ]
    moves.append([raw("write", '{"path": "\\ud800.md", "content": "x"}')])
    moves.append([do("list", path=".git"), do("list", path=".."), do("search", queries=["x"], path="../..")])
    moves.append("Done.")
    with agent_server(*moves) as server:
        done = run_with(bench, plan_with(bench, server))
        given = all_answers(server)
    assert done.transcript is not None
    assert all(action.outcome is not ToolOutcome.DONE for action in done.transcript.actions)
    assert sum(done.transcript.refusals.values()) == 4 * len(ESCAPES) + 3
    assert all("root:" not in str(answer) for answer in given)
    after = {path: digest for path, digest in tree(tmp_path).items() if not path.startswith("data/")}
    assert after == {path: digest for path, digest in before.items() if not path.startswith("data/")}


def test_inputs_can_be_read_and_not_changed(bench: Bench) -> None:
    moves = [
        [do("write", path="raw_memories.md", content="x"), do("delete", path="phase2_workspace_diff.md")],
        [do("write", path="rollout_summaries/new.md", content="x"), do("write", path="extensions/a/b.md", content="x")],
        "Done.",
    ]
    with agent_server(*moves) as server:
        done = run_with(bench, plan_with(bench, server))
    assert done.transcript is not None
    assert done.transcript.refusals == {"read-only": 4}
    assert done.proposal is not None
    assert "phase2_workspace_diff.md" not in {change.path for change in done.proposal.changes}


def test_a_flood_is_refused_and_counted(bench: Bench) -> None:
    many = [[do("write", f"c{n}", path=f"skills/s/{n}-{i}.md", content="x" * 50) for i in range(60)] for n in range(4)]
    with agent_server(*many, [do("write", path="MEMORY.md", content="x" * 3_000_000)], "Done.") as server:
        plan = fenced(plan_with(bench, server), max_files=150, max_bytes=1_000_000)
        done = run_with(bench, plan)
    assert done.transcript is not None
    refused = done.transcript.refusals
    assert refused["count"] > 60
    assert refused["size"] == 1


def test_a_model_that_never_stops_is_stopped(bench: Bench) -> None:
    with agent_server(*[[do("read", path="MEMORY.md")] for _ in range(40)]) as server:
        failed(bench, fenced(plan_with(bench, server), max_steps=10), AgentFailed, "not done after 10 steps")
        assert len(server.posts) == 10


def test_the_tokens_are_limited(bench: Bench) -> None:
    with agent_server(*[[do("read", path="raw_memories.md")] for _ in range(40)]) as server:
        failed(bench, fenced(plan_with(bench, server), max_tokens=9_000), AgentFailed, "tokens")
        assert 1 <= len(server.posts) < 40


def test_the_time_is_limited(bench: Bench) -> None:
    with agent_server([do("list")]) as server:
        server.plan("ok", "slow")
        failed(bench, fenced(plan_with(bench, server), max_seconds=1), AgentFailed, "not done after 1 s")


def test_deleting_the_memory_fails_after_two_corrections(bench: Bench) -> None:
    with agent_server([do("delete", path="MEMORY.md")]) as server:
        plan = plan_with(bench, server)
        failed(bench, plan, AgentFailed, r"MEMORY\.md is missing")
        assert len(server.posts) == 4
        assert "MEMORY.md is missing" in server.posts[-1].user


@pytest.mark.parametrize("first", ["V1", "v1 ", "\ufeffv1", "---\nv1", "v2"])
def test_a_wrong_first_line_fails(bench: Bench, first: str) -> None:
    wrong = SUMMARY.replace("v1", first, 1)
    with agent_server([do("write", path="memory_summary.md", content=wrong)]) as server:
        failed(bench, plan_with(bench, server), AgentFailed, "line 1 must be exactly v1")


def test_a_correction_is_taken(bench: Bench) -> None:
    def put_right(request: Recorded) -> list[ToolCall]:
        assert "line 1 must be exactly v1" in request.user
        return [do("write", path="memory_summary.md", content=SUMMARY)]

    moves = [[do("write", path="memory_summary.md", content="v2\n")], "Done.", put_right, "Done now."]
    with agent_server(*moves) as server:
        done = run_with(bench, plan_with(bench, server))
    assert done.proposal is not None
    assert done.proposal.blocking == ()


@pytest.mark.parametrize("scenario", ["500", "429", "drop", "cut", "html-200", "wrong-shape", "no-choices", "401"])
def test_a_server_that_fails_fails_the_run(bench: Bench, scenario: str) -> None:
    with agent_server([do("list")], [do("write", path="MEMORY.md", content="x")]) as server:
        server.plan("ok", "ok", scenario)
        failed(bench, plan_with(bench, server), ProviderError, "127.0.0.1")


def test_a_server_that_is_gone_fails_the_run(bench: Bench) -> None:
    with agent_server() as server:
        plan = plan_with(bench, server)
    failed(bench, plan, ProviderError, "connection")


def test_after_the_delay_it_may_be_tried_again(bench: Bench) -> None:
    with agent_server(*whole_run()) as server:
        server.plan("500")
        plan = plan_with(bench, server)
        failed(bench, plan, ProviderError, "500")
        bench.now += 3_601
        assert run_with(bench, plan).proposal is not None


def test_reasoning_effort_is_left_out_where_it_is_refused(bench: Bench) -> None:
    with agent_server(accepts=frozenset({"json_schema"})) as server:
        run_with(bench, plan_with(bench, server))
        efforts = ["reasoning_effort" in request.body for request in server.posts]
    assert efforts == [True, False]


def test_cancelling_does_not_wait_for_the_model_and_gives_the_lease_back(bench: Bench) -> None:
    with agent_server(*[[do("list")] for _ in range(40)]) as server:
        server.plan("ok", "ok", "ok", "slow")
        plan = plan_with(bench, server)
        cancel = CancelToken()
        steps: list[int] = []

        def listen(event: object) -> None:
            if isinstance(event, AgentStep):
                steps.append(event.number)

        async def run() -> None:
            grant = await bench.grant(plan)
            work = asyncio.ensure_future(run_consolidation(bench, grant, cancel=cancel, listen=listen))
            await until(lambda: len(server.posts) == 4 or work.done(), "the request that is never answered")
            await asyncio.to_thread(cancel.cancel)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await work

        with unchanged(bench), pytest.raises(Cancelled):
            asyncio.run(run())
        assert steps == [1, 2, 3]
        assert len(server.posts) == 4
    job = job_of(bench)
    assert (job.status, job.last_outcome, job.retry_at) == ("pending", "released", None)
    assert not list(Path(bench.place.parent).glob("ltmem-agent-*"))


def stealing(bench: Bench, answer: Any) -> Any:
    """Return a move during which another run takes the lease over."""

    def steal(request: Recorded) -> Any:
        del request
        with bench.stores.writing(bench.home) as store:
            store._db.sql("UPDATE jobs SET lease_until = 0 WHERE kind = 'memory_consolidate_global'")  # type: ignore[attr-defined]
            store.claim_global(Owner("elsewhere", 7, 7, "other"), now=bench.now, ignore_cooldown=True)
        return answer

    return steal


def test_a_lost_lease_ends_the_run_and_its_result_is_refused(bench: Bench, guard: Guard) -> None:
    moves = [[do("list")], stealing(bench, [do("list")]), *[[do("list")] for _ in range(30)]]
    with agent_server(*moves) as server:
        server.plan("ok", "ok", "slow")
        plan = plan_with(bench, server)

        async def run() -> None:
            grant = await bench.grant(plan)
            await run_consolidation(
                bench, grant, cancel=CancelToken(), listen=bench.events.append, heartbeat_seconds=0.1
            )

        with unchanged(bench), pytest.raises(LeaseLost):
            asyncio.run(run())
        assert len(server.posts) <= 3
    assert job_of(bench).owner.startswith("elsewhere")


def test_a_lease_lost_at_the_end_is_found_before_the_proposal(bench: Bench) -> None:
    with agent_server(stealing(bench, "Done.")) as server, unchanged(bench), pytest.raises(LeaseLost):
        run_with(bench, plan_with(bench, server))


def test_a_folder_or_memory_that_moved_is_refused_before_anything_is_sent(bench: Bench, guard: Guard) -> None:
    with agent_server() as server:
        plan = plan_with(bench, server)
        grant = asyncio.run(bench.grant(plan))
        with guard.grant():
            (bench.memory / "new.md").write_text("x\n")
        with pytest.raises(WorkspaceMoved, match=r"new\.md"):
            asyncio.run(_carry_out(bench, grant))
        with guard.grant():
            (bench.memory / "new.md").unlink()
            with bench.stores.writing(bench.home) as store:
                row = store.outputs()[0]
                at = row.source_updated_at
                store.edit_output(row.thread_id, source_updated_at=at, changes={"raw_memory": "- other"}, now=NOW)
        with pytest.raises(StalePlan, match="memories moved"):
            run_with(bench, plan)
        assert server.requests == []
    assert job_of(bench).last_outcome == "released"


async def _carry_out(bench: Bench, grant: Any) -> None:
    await run_consolidation(bench, grant, cancel=CancelToken(), listen=bench.events.append)


def test_a_held_lock_is_named(bench: Bench, guard: Guard) -> None:
    with agent_server() as server:
        plan = plan_with(bench, server)
        with guard.grant(), bench.stores.writing(bench.home) as store:
            store.claim_global(Owner("elsewhere", 7, 7, "other"), now=NOW, ignore_cooldown=True)
        with pytest.raises(LockBusy, match="elsewhere"):
            run_with(bench, plan)
        assert server.requests == []


def test_only_the_model_is_reached_and_nothing_is_started(bench: Bench, audit_hook: Any) -> None:
    seen: list[tuple[str, Any]] = []
    watching = [False]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching[0] and event in ("socket.connect", "subprocess.Popen", "os.exec", "os.fork", "os.system"):
            seen.append((event, args[1] if event == "socket.connect" else args[0]))

    sys.addaudithook(watch)

    def begin(request: Recorded) -> list[ToolCall]:
        del request
        watching[0] = True
        return [do("list")]

    def end(request: Recorded) -> str:
        del request
        watching[0] = False
        return "Done."

    with agent_server(begin, *whole_run()[:-1], end) as server:
        run_with(bench, plan_with(bench, server))
        host, _, port = server.url.removeprefix("http://").removesuffix("/v1").partition(":")
    assert {what for event, what in seen if event == "socket.connect"} <= {(host, int(port))}
    assert [event for event, _ in seen if event != "socket.connect"] == []


def test_twenty_steps_cost_little_beside_the_model(bench: Bench) -> None:
    with agent_server(*[[do("read", path="raw_memories.md")] for _ in range(19)]) as server:
        plan = plan_with(bench, server)
        run_with(bench, fenced(plan))
        assert isinstance(server.answer, Script)
        assert len(server.posts) == 20


def test_a_plan_of_another_kind_is_not_run(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    with pytest.raises(GrantMissing, match="kind apply"):
        asyncio.run(_carry_out(bench, asyncio.run(bench.grant(plan))))


def test_a_data_folder_that_is_gone_is_a_stale_plan(bench: Bench, guard: Guard) -> None:
    with agent_server() as server:
        grant = asyncio.run(bench.grant(plan_with(bench, server)))
        with guard.grant():
            shutil.rmtree(bench.home)
        with pytest.raises(StalePlan, match="gone"):
            asyncio.run(_carry_out(bench, grant))


def test_an_excluded_thread_that_is_gone_is_a_stale_plan(bench: Bench, guard: Guard) -> None:
    with bench.stores.reading(bench.home) as store:
        thread = store.outputs()[0].thread_id
    with agent_server() as server:
        plan = plan_with(bench, server, exclude=frozenset({thread}))
        with guard.grant(), bench.stores.writing(bench.home) as store:
            store.forget(thread, reason="x", now=NOW)
        with pytest.raises(StalePlan, match="is gone"):
            run_with(bench, plan)
        assert server.requests == []


def test_a_plan_for_another_host_is_not_carried_out(bench: Bench) -> None:
    with agent_server() as server, agent_server() as other:
        plan = plan_with(bench, server)
        moved = plan.model_copy(update={"settings": agent_settings(other)}).sealed()
        with pytest.raises(GrantMissing, match="does not name"):
            run_with(bench, moved)
        assert server.requests == other.requests == []
    assert job_of(bench).last_outcome == "released"


def test_a_lease_won_while_the_caller_is_cancelled_is_given_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, free = asyncio.Event(), asyncio.Event()

    class Slow:
        """Claim when the test says so."""

        async def store(self, function: Any, *args: Any) -> Any:
            if getattr(function, "__name__", "") == "claim":
                begun.set()
                await free.wait()
            return function(*args)

        cpu = store
        thread = store

    async def run() -> None:
        grant = await bench.grant(plan)
        monkeypatch.setattr(bench, "inline", Slow())
        work = asyncio.ensure_future(_carry_out(bench, grant))
        await begun.wait()
        work.cancel()
        await asyncio.sleep(0)
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await work

    with agent_server() as server:
        plan = plan_with(bench, server)
        asyncio.run(run())
        assert server.requests == []
    assert (job_of(bench).status, job_of(bench).last_outcome) == ("pending", "released")


@pytest.mark.log_expected
def test_an_end_that_cannot_be_recorded_does_not_hide_why(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with agent_server() as server:
        plan = plan_with(bench, server)
        server.plan("500")
        monkeypatch.setattr("ltmem_gui.pipeline.ledger.StoreLedger.fail", full)
        with pytest.raises(ProviderError, match="500"):
            run_with(bench, plan)


def test_a_bug_is_recorded_and_raised(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ltmem_gui.pipeline.agent_run.brief_of", broken)
    with agent_server() as server, unchanged(bench), pytest.raises(ZeroDivisionError):
        run_with(bench, plan_with(bench, server))
    assert job_of(bench).last_error == "internal error: ZeroDivisionError"


def test_a_failure_after_the_lease_was_lost_is_left_to_its_owner(bench: Bench) -> None:
    with agent_server(stealing(bench, [do("list")])) as server:
        server.plan("ok", "500")
        with unchanged(bench), pytest.raises(ProviderError):
            run_with(bench, plan_with(bench, server))
    assert job_of(bench).owner.startswith("elsewhere")


def test_old_results_are_left_out_when_the_talk_outgrows_the_model(bench: Bench) -> None:
    moves = [[do("read", path="raw_memories.md")] for _ in range(14)]
    with agent_server(*moves, "Done.") as server:
        run_with(bench, plan_with(bench, server, settings=agent_settings(server, context_window=6_000)))
        given = all_answers(server)
    flags = ["left_out" in answer for answer in given]
    assert flags == sorted(flags, reverse=True)
    assert 1 <= sum(flags) <= 12


def test_a_talk_that_a_server_finds_too_long_is_shortened(bench: Bench) -> None:
    moves = [[do("read", path="raw_memories.md")] for _ in range(14)]
    with agent_server(*moves, "Done.", context_tokens=6_500) as server:
        run_with(bench, plan_with(bench, server))
        given = all_answers(server)
        refused = len(server.posts) - 15
    assert refused >= 1
    assert any("left_out" in answer for answer in given)


def test_a_talk_that_cannot_be_shortened_fails(bench: Bench) -> None:
    with agent_server([do("list")], "Done.", context_tokens=500) as server:
        failed(bench, plan_with(bench, server), ProviderError, "does not fit")
        assert len(server.posts) == 1


def test_too_many_calls_in_one_step_are_answered_too(bench: Bench) -> None:
    with agent_server([do("list", f"c{n}") for n in range(70)], "Done.") as server:
        done = run_with(bench, plan_with(bench, server))
        given = all_answers(server)
    assert len(given) == 70
    assert sum("not carried out" in answer.get("refused", "") for answer in given) == 6
    assert done.transcript is not None
    assert (len(done.transcript.actions), done.transcript.refusals) == (70, {"too many calls": 6})


def test_a_file_that_cannot_be_checked_is_not_shown_and_stays(
    bench: Bench, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with guard.grant():
        (bench.memory / "odd.md").write_text("UNCHECKABLE\n")
        (bench.memory / "picture.png").write_bytes(b"\x89PNG\xff")
    redact = Bench.redact_text

    async def choosy(self: Bench, text: str, *rest: Any, **more: Any) -> Any:
        if text == "UNCHECKABLE\n":
            raise RedactionFailed("too odd")
        return await redact(self, text, *rest, **more)

    monkeypatch.setattr(Bench, "redact_text", choosy)
    with agent_server([do("list"), do("read", path="odd.md"), do("read", path="picture.png")], "Done.") as server:
        plan = plan_with(bench, server)
        done = run_with(bench, plan)
        assert all("UNCHECKABLE" not in request.text for request in server.posts)
        given = all_answers(server)
    assert [f.path for f in plan.findings] == ["odd.md"]
    assert "odd.md" not in given[0]["entries"]
    assert "no such file" in given[1]["error"]
    assert "not UTF-8" in given[2]["error"]
    assert done.proposal is not None
    assert not {"odd.md", "picture.png"} & {change.path for change in done.proposal.changes}


def test_without_rows_there_is_nothing_to_plan(tmp_path: Path) -> None:
    with agent_server() as server:
        assert plan_with(Bench(tmp_path), server).state is PlanState.EMPTY
