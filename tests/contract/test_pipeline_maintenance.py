"""Undo, forget and clear: plans like any other, with the traces gone that should be gone."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.errors import StalePlan, UsageError, WorkspaceMoved
from ltmem_gui.domain.plan import Plan, PlanState, newly_left_out
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.pipeline.ledger import StoreLedger
from ltmem_gui.pipeline.operations import Operations
from tests.helpers.bench import DAY, NOW, Bench
from tests.helpers.guard import Guard
from tests.helpers.program import tree
from tests.helpers.sessions import thread_id, write_codex

CANARY = "zebra-4711-canary"
CANARY_THREAD = thread_id(0, NOW - DAY)


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    """A written folder over two sessions; one holds the canary."""
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    write_codex(
        bench.sessions,
        [("user", f"Always reach the host as {CANARY} in this repo.")],
        number=0,
        at=NOW - DAY,
        cwd="/p",
    )
    write_codex(
        bench.sessions, [("user", "Never use npm here, always use pnpm.")], number=1, at=NOW - 2 * DAY, cwd="/q"
    )

    async def write() -> None:
        await bench.apply(await bench.plan_extract())
        await bench.apply(await bench.plan_consolidate())

    asyncio.run(write())
    guard.granted = False
    return bench


def forget(bench: Bench, thread: str) -> Plan:
    operations = Operations(bench)
    return asyncio.run(
        operations.plan_forget(bench.request(), thread, cancel=CancelToken(), listen=bench.events.append)
    )


def test_forgetting_a_session_leaves_no_byte_of_it(bench: Bench) -> None:
    assert CANARY in (bench.memory / "MEMORY.md").read_text()
    plan = forget(bench, CANARY_THREAD)
    listed = [finding.text for finding in plan.findings if finding.id.startswith("gone:")]
    assert any(CANARY in text for text in listed)
    asyncio.run(bench.apply(plan))
    for root in (bench.home, bench.memory):
        for path in root.rglob("*"):
            if path.is_file():
                assert CANARY.encode() not in path.read_bytes(), path
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=bench.memory, capture_output=True, check=True
    )
    assert CANARY.encode() not in objects.stdout
    assert "pnpm" in (bench.memory / "MEMORY.md").read_text()


def test_a_forgotten_session_is_not_learnt_again(bench: Bench) -> None:
    asyncio.run(bench.apply(forget(bench, CANARY_THREAD)))
    plan = asyncio.run(bench.plan_extract())
    assert plan.state is PlanState.EMPTY
    (reasons,) = [skip.reasons for skip in plan.skipped if skip.id == CANARY_THREAD]
    assert any("forgotten" in reason for reason in reasons)


def test_an_unknown_thread_is_named(bench: Bench) -> None:
    with pytest.raises(UsageError, match="nothing of thread"):
        forget(bench, "no-such-thread")


def test_undo_takes_the_last_apply_back_and_can_be_confirmed_once(bench: Bench) -> None:
    before = tree(bench.memory)
    asyncio.run(bench.apply(asyncio.run(bench.plan_consolidate(exclude=frozenset({CANARY_THREAD})))))
    assert tree(bench.memory) != before
    plan = asyncio.run(Operations(bench).plan_undo(bench.request()))
    asyncio.run(bench.apply(plan))
    assert tree(bench.memory) == before


def test_undo_of_the_first_apply_empties_the_folder(bench: Bench) -> None:
    asyncio.run(bench.apply(asyncio.run(Operations(bench).plan_undo(bench.request()))))
    assert tree(bench.memory) == {}


def test_undo_needs_an_image_that_lives(bench: Bench) -> None:
    bench.now += DAY + 1
    with pytest.raises(StalePlan, match="nothing to undo"):
        asyncio.run(Operations(bench).plan_undo(bench.request()))


def test_an_image_past_its_time_is_removed_as_an_effect_of_the_next_plan(bench: Bench) -> None:
    assert [path.name for path in (bench.home / "undo").iterdir()] != []
    bench.now += DAY + 1
    write_codex(bench.sessions, [("user", "Always use tabs here.")], number=7, at=bench.now - DAY, cwd="/r")
    plan = asyncio.run(bench.plan_extract())
    (removal,) = [effect for effect in plan.effects if effect.type == "DeleteFile"]
    assert removal.path == str(bench.home / "undo")
    asyncio.run(bench.apply(plan))
    assert not (bench.home / "undo").exists()


def test_undo_never_overwrites_what_was_changed_since(bench: Bench, guard: Guard) -> None:
    with guard.grant():
        (bench.memory / "MEMORY.md").write_text("mine\n")
    with pytest.raises(WorkspaceMoved, match=r"MEMORY\.md"):
        asyncio.run(Operations(bench).plan_undo(bench.request()))


def test_clearing_keeps_the_folder_and_nothing_in_it(bench: Bench, guard: Guard, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    with guard.grant():
        (bench.memory / "link.md").symlink_to(outside)
    plan = asyncio.run(Operations(bench).plan_clear(bench.request()))
    asyncio.run(bench.apply(plan))
    assert bench.memory.is_dir()
    assert [path.name for path in bench.memory.iterdir() if path.name != ".git"] == []
    assert outside.read_text() == "mine\n"
    with bench.stores.reading(bench.home) as store:
        assert store.outputs() == ()
        assert store.watermark() > 0


def test_the_folder_must_be_named(bench: Bench) -> None:
    for planning in (Operations(bench).plan_undo, Operations(bench).plan_clear):
        with pytest.raises(UsageError, match="memory folder"):
            asyncio.run(planning(bench.request(memory_root=None)))


def test_forgetting_a_session_forgets_what_was_rejected_of_it_and_nothing_else(bench: Bench) -> None:
    """Rejected lines would be told to the next run, and sent with it."""
    words = ("TABCANARY", "FEATHER")
    for number, word in enumerate(words, start=5):
        write_codex(bench.sessions, [("user", f"Always use {word} here.")], number=number, at=NOW - DAY, cwd=f"/{word}")
    asyncio.run(bench.apply(asyncio.run(bench.plan_extract())))
    plan = asyncio.run(bench.plan_consolidate())
    (change,) = (change for change in plan.changes if change.path == "MEMORY.md")
    hunks = {hunk.id for hunk in change.hunks if any(word in "".join(hunk.new) for word in words)}
    accepted = dict(all_accepted(plan).accepted)
    accepted["MEMORY.md"] = tuple(id_ for id_ in accepted["MEMORY.md"] if id_ not in hunks)
    selection = Selection(plan_digest=plan.digest, accepted=accepted, rejected={"MEMORY.md": tuple(sorted(hunks))})

    async def reject() -> None:
        grant = await Operations(bench).approve(plan, selection, approver="me", surface="window")
        await Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(reject())
    with bench.stores.reading(bench.home) as store:
        assert all(word in repr(store.refused_hunks()) for word in words)
    asyncio.run(bench.apply(forget(bench, thread_id(5, NOW - DAY))))
    with bench.stores.reading(bench.home) as store:
        told = repr(store.refused_hunks())
    assert "FEATHER" in told
    assert "TABCANARY" not in told


def test_an_apply_that_is_finished_after_a_crash_keeps_what_was_rejected(bench: Bench) -> None:
    """The recovery has no grant: the journal tells it what was selected."""
    write_codex(bench.sessions, [("user", "Always use TABCANARY here.")], number=5, at=NOW - DAY, cwd="/r")
    asyncio.run(bench.apply(asyncio.run(bench.plan_extract())))
    plan = asyncio.run(bench.plan_consolidate())
    rejected = {"MEMORY.md": all_accepted(plan).accepted["MEMORY.md"]}
    selection = Selection(plan_digest=plan.digest, rejected=rejected)
    with bench.stores.reading(bench.home) as store:
        receipt = store.receipts()[-1].model_copy(update={"plan_digest": plan.digest})
    ledger = StoreLedger(bench, bench.home)
    ledger.finish(ledger.claim(plan), plan, selection, receipt, watermark=1, rows=())
    with bench.stores.reading(bench.home) as store:
        assert "TABCANARY" in repr(store.refused_hunks())


def test_a_rejected_hunk_does_not_come_back(bench: Bench) -> None:
    write_codex(
        bench.sessions, [("user", "Always use tabs in this repo, never spaces.")], number=5, at=NOW - DAY, cwd="/r"
    )

    async def reject() -> None:
        await bench.apply(await bench.plan_extract())
        plan = await bench.plan_consolidate()
        everything = all_accepted(plan)
        accepted = {path: ids for path, ids in everything.accepted.items() if path != "MEMORY.md"}
        refused = {"MEMORY.md": everything.accepted["MEMORY.md"]}
        selection = Selection(plan_digest=plan.digest, accepted=accepted, rejected=refused)
        grant = await Operations(bench).approve(plan, selection, approver="me", surface="window")
        await Operations(bench).apply(grant, cancel=CancelToken(), listen=bench.events.append)

    asyncio.run(reject())
    assert "tabs" not in (bench.memory / "MEMORY.md").read_text()
    again = asyncio.run(bench.plan_consolidate())
    assert "tabs" not in _proposed(again)
    with bench.stores.reading(bench.home) as store:
        keys = frozenset(hunk.key[:12] for hunk in store.refused_hunks())
    lifted = asyncio.run(bench.plan_consolidate(take_again=keys))
    assert "tabs" in _proposed(lifted)
    asyncio.run(bench.apply(lifted))
    assert "tabs" in (bench.memory / "MEMORY.md").read_text()
    with bench.stores.reading(bench.home) as store:
        assert store.refused_hunks() == ()
    with pytest.raises(UsageError, match="no rejected hunk"):
        asyncio.run(bench.plan_consolidate(take_again=frozenset({"nonsense"})))


def test_leaving_out_lasts_until_lifted(bench: Bench) -> None:
    without = asyncio.run(bench.plan_consolidate(exclude=frozenset({CANARY_THREAD})))
    assert newly_left_out(without) == {CANARY_THREAD}
    asyncio.run(bench.apply(without))
    assert asyncio.run(bench.plan_consolidate()).state is PlanState.EMPTY
    assert CANARY not in (bench.memory / "MEMORY.md").read_text()
    lifted = asyncio.run(bench.plan_consolidate(lift=frozenset({CANARY_THREAD})))
    assert newly_left_out(lifted) == frozenset()
    asyncio.run(bench.apply(lifted))
    assert CANARY in (bench.memory / "MEMORY.md").read_text()


def test_an_edited_row_is_redacted_again_and_stored(bench: Bench) -> None:
    with bench.stores.reading(bench.home) as store:
        row = store.output(CANARY_THREAD)
    assert row is not None
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    edited = row.raw_memory.replace(CANARY, f"heron-0815 {secret}")
    plan = asyncio.run(bench.plan_consolidate(edits={CANARY_THREAD: edited}))
    assert secret not in plan.model_dump_json()
    asyncio.run(bench.apply(plan))
    assert "heron-0815" in (bench.memory / "raw_memories.md").read_text()
    assert asyncio.run(bench.plan_consolidate()).state is PlanState.EMPTY


def test_decisions_about_unknown_threads_are_refused(bench: Bench) -> None:
    for wish in ({"exclude": frozenset({"x"})}, {"edits": {"x": "y"}}):
        with pytest.raises(UsageError, match="no memory of thread"):
            asyncio.run(bench.plan_consolidate(**wish))


def _proposed(plan: Plan) -> str:
    return "".join(line for change in plan.changes for hunk in change.hunks for line in hunk.new)
