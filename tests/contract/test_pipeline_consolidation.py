"""Phase 2 over real adapters: the plan is the truth, the apply is exactly it, a moved folder refuses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    BlockedByFindings,
    LockBusy,
    NothingToDo,
    RefusedError,
    UsageError,
    WorkspaceMoved,
    WrongDigest,
)
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.domain.plan import PlanState
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import write_codex


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    """A bench with three extracted memories."""
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    for number, text in enumerate(
        ("Never use npm in this repo, always use pnpm.", "The tests need PORT=8123.", "I prefer tabs in this repo.")
    ):
        write_codex(
            bench.sessions,
            [("user", "Fix it."), ("user", text)],
            number=number,
            at=NOW - (number + 1) * DAY,
            cwd=f"/p{number}",
        )

    async def extract() -> None:
        await bench.apply(await bench.plan_extract())

    asyncio.run(extract())
    guard.granted = False
    return bench


@pytest.fixture
def written(bench: Bench, guard: Guard) -> Bench:
    """A bench with a written folder."""

    async def write() -> None:
        await bench.apply(await bench.plan_consolidate())

    asyncio.run(write())
    guard.granted = False
    return bench


def put(guard: Guard, path: Path, text: str) -> None:
    """Change a file as the person would, outside the program."""
    with guard.grant():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_plan_names_every_effect_and_the_apply_is_exactly_it(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    planned = {change.path: change.new_sha256 for change in plan.changes}
    assert {effect.type for effect in plan.effects} == {"EnsureLayout", "WriteFile", "ResetBaseline", "UpdateJobs"}
    assert [row.thread_id for row in plan.rows] == sorted(row.thread_id for row in plan.rows)
    receipt = asyncio.run(bench.apply(plan))
    assert tree(bench.memory) == planned
    assert {file.path: file.new_sha256 for file in receipt.files} == planned
    assert receipt.watermark_after == plan.watermark
    assert receipt.baseline_commit is not None


def test_nothing_new_is_empty_and_cannot_be_approved(written: Bench) -> None:
    plan = asyncio.run(written.plan_consolidate())
    assert (plan.state, plan.effects, plan.changes) == (PlanState.EMPTY, (), ())
    with pytest.raises(NothingToDo):
        asyncio.run(written.grant(plan))


def test_no_rows_at_all_leave_a_foreign_folder_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (bench.memory / "rollout_summaries").mkdir(parents=True)
    (bench.memory / "rollout_summaries" / "2026-01-01T00-00-00-abcd-x.md").write_text("thread_id: x\n")
    (bench.memory / "MEMORY.md").write_text("# mine\n")
    plan = asyncio.run(bench.plan_consolidate())
    assert plan.state is PlanState.EMPTY


@pytest.mark.parametrize("change", ["edit", "mode", "new", "gone"])
def test_a_moved_folder_makes_the_plan_stale(written: Bench, guard: Guard, change: str) -> None:
    put(guard, written.memory / "extensions" / "ad_hoc" / "notes" / "2026-01-01T00-00-00-x.md", "Use zig.\n")
    plan = asyncio.run(written.plan_consolidate())
    grant = asyncio.run(written.grant(plan))
    before = tree(written.memory)
    target = written.memory / "MEMORY.md"
    with guard.grant():
        if change == "edit":
            target.write_text(target.read_text() + "- by hand\n")
        elif change == "mode":
            target.chmod(0o755)
        elif change == "new":
            (written.memory / "new.md").write_text("x\n")
        else:
            target.unlink()
    moved = tree(written.memory)
    with pytest.raises(WorkspaceMoved, match="new.md" if change == "new" else "MEMORY.md"):
        asyncio.run(written.grant(plan))
    guard.granted = True
    with pytest.raises(WorkspaceMoved):
        asyncio.run(Operations(written).apply(grant, cancel=CancelToken(), listen=written.events.append))
    assert tree(written.memory) == moved
    assert (moved == before) == (change == "mode")


def test_hand_edits_are_drift_and_survive(written: Bench, guard: Guard) -> None:
    path = written.memory / "MEMORY.md"
    put(guard, path, path.read_text() + "\n# My own notes\n- the build farm sleeps at night\n")
    plan = asyncio.run(written.plan_consolidate())
    assert any("MEMORY.md" in line for line in plan.drift)
    asyncio.run(written.apply(plan))
    assert "the build farm sleeps at night" in path.read_text()
    assert asyncio.run(written.plan_consolidate()).state is PlanState.EMPTY


def test_leaving_a_thread_out_forgets_its_files_and_lines(written: Bench) -> None:
    plan = asyncio.run(written.plan_consolidate())
    assert plan.state is PlanState.EMPTY
    thread = _threads(written)[0]
    plan = asyncio.run(written.plan_consolidate(exclude=frozenset({thread})))
    assert [skip.id for skip in plan.skipped] == [thread]
    asyncio.run(written.apply(plan))
    texts = "".join(path.read_text() for path in written.memory.rglob("*.md"))
    assert thread not in texts


def test_a_secret_in_the_folder_is_replaced_and_found(written: Bench, guard: Guard) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    put(guard, written.memory / "own.md", f"token: {secret}\n")
    plan = asyncio.run(written.plan_consolidate())
    assert [(f.path, f.line, f.rule) for f in plan.findings if f.rule == "secret"] == [("own.md", 1, "secret")]
    asyncio.run(written.apply(plan))
    assert secret not in (written.memory / "own.md").read_text()


def test_a_secret_typed_into_a_hunk_blocks_until_a_reason_is_written(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    everything = all_accepted(plan)
    (change,) = [c for c in plan.changes if c.path == "MEMORY.md"]
    lines = (*change.hunks[0].new, "- the key is ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ\n")
    accepted = {path: ids for path, ids in everything.accepted.items() if path != "MEMORY.md"}
    edited = Selection(plan_digest=plan.digest, accepted=accepted, edited={"MEMORY.md": {change.hunks[0].id: lines}})
    operations = Operations(bench)

    async def run() -> None:
        with pytest.raises(BlockedByFindings, match=r"MEMORY\.md:\d+: a secret"):
            await operations.approve(plan, edited, approver="me", surface="window")
        found = [f for f in await operations.check(plan, edited) if f.severity is Severity.BLOCKING]
        reasons = {finding.id: "a dummy for the tests" for finding in found}
        notes = {change.hunks[0].id: "kept on purpose, not ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"}
        chosen = edited.model_copy(update={"overrides": reasons, "notes": notes})
        grant = await operations.approve(plan, chosen, approver="me", surface="window")
        receipt = await operations.apply(grant, cancel=CancelToken(), listen=bench.events.append)
        assert receipt.overrides == reasons
        (note,) = receipt.notes.values()
        assert note.startswith("kept on purpose, not [")
        assert "ghp_" not in note

    asyncio.run(run())
    assert "ghp_Zk3v" in (bench.memory / "MEMORY.md").read_text()


def test_decisions_for_another_plan_are_refused(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    with pytest.raises(WrongDigest):
        asyncio.run(Operations(bench).approve(plan, Selection(plan_digest="x"), approver="me", surface="window"))


def test_an_incomplete_plan_is_refused(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    part = plan.model_copy(update={"state": PlanState.INCOMPLETE}).sealed()
    with pytest.raises(RefusedError, match="incomplete"):
        asyncio.run(bench.grant(part))


def test_a_plan_is_applied_once(bench: Bench) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    asyncio.run(bench.apply(plan))
    with pytest.raises(AlreadyApplied):
        asyncio.run(bench.grant(plan))


def test_a_held_lock_is_named(bench: Bench, guard: Guard) -> None:
    plan = asyncio.run(bench.plan_consolidate())
    other = Owner("elsewhere", 7, 7, "codex")
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.claim_global(other, now=NOW, ignore_cooldown=True)
    with pytest.raises(LockBusy, match="elsewhere"):
        asyncio.run(bench.apply(plan))
    assert not bench.memory.exists()


def test_the_folder_must_be_named(bench: Bench) -> None:
    with pytest.raises(UsageError, match="memory folder"):
        asyncio.run(bench.plan_consolidate(memory_root=None))


def test_facade_reads_back_what_was_done(written: Bench) -> None:
    operations = Operations(written)

    async def look() -> tuple[int, int, int]:
        receipts = await operations.receipts(written.home)
        jobs = await operations.jobs(written.home)
        return len(receipts), len(jobs), await operations.watermark(written.home)

    receipts, jobs, watermark = asyncio.run(look())
    assert (receipts, jobs) == (2, 4)
    assert watermark > 0
    assert operations.adapters is written


def _threads(bench: Bench) -> list[str]:
    with bench.stores.reading(bench.home) as store:
        return [output.thread_id for output in store.outputs()]
