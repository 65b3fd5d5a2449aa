"""Who holds the memory folder, and what a killed run left behind: read from the real store, locks and journal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.pipeline.codex_ports import ForeignLease, ForeignMemories
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.standing import Standing
from ltmem_gui.store.liveness import this_process
from tests.helpers.bench import NOW, Bench
from tests.helpers.guard import Guard

DEAD = Owner(this_process("x").host, 4_194_303, 1, "ltmem")


@pytest.fixture
def bench(tmp_path: Path, guard: Guard) -> Bench:
    made = Bench(tmp_path)
    with guard.grant():
        made.stores.create_home(made.home)
    return made


def look(bench: Bench, **more: bool) -> Standing:
    return asyncio.run(Operations(bench).standing(bench.request(), **more))


def test_nothing_is_held_or_left_in_a_fresh_place(tmp_path: Path, guard: Guard) -> None:
    bench = Bench(tmp_path)
    guard.protect(bench.home, bench.memory)
    standing = look(bench, foreign=True)
    assert not standing.lock.held
    assert not standing.interrupted
    assert not bench.home.exists()


def test_without_a_memory_folder_there_is_no_lock(bench: Bench) -> None:
    standing = asyncio.run(Operations(bench).standing(bench.request(memory_root=None), foreign=True))
    assert standing == Standing()


def _job(thread: str) -> PlannedJob:
    return PlannedJob(thread_id=thread, agent="codex", path="/s", size=1, mtime_ns=1, source_updated_at=NOW)


def test_jobs_of_a_dead_program_are_named_and_hold_nothing(bench: Bench, guard: Guard) -> None:
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.claim_stage1(_job("a"), DEAD, now=NOW, cap=8)
        store.claim_stage1(_job("b"), bench.owner, now=NOW, cap=8)
        store.enqueue_global(NOW)
        store.claim_global(DEAD, now=NOW, ignore_cooldown=True)
    guard.protect(bench.home)
    standing = look(bench)
    assert sorted(job.job_key for job in standing.jobs) == ["a", "global"]
    assert not standing.lock.held


@pytest.mark.parametrize("other", ["elsewhere", "here"])
def test_a_lease_of_another_process_holds_the_folder(bench: Bench, guard: Guard, other: str) -> None:
    owner = Owner("elsewhere", 1, 1, "ltmem") if other == "elsewhere" else bench.owner
    with guard.grant(), bench.stores.writing(bench.home) as store:
        store.enqueue_global(NOW)
        claim = store.claim_global(owner, now=NOW, ignore_cooldown=True).claim
    assert claim is not None
    lock = look(bench).lock
    if other == "here":
        assert not lock.held
    else:
        assert (lock.kind, lock.holder, lock.until) == ("another run", str(owner), claim.lease_until)


def test_the_lock_of_the_root_is_seen_with_its_holder(bench: Bench, guard: Guard) -> None:
    with guard.grant(), bench.locks.acquire(bench.memory, Owner("elsewhere", os.getpid(), 1, "ltmem")):
        lock = look(bench).lock
    assert (lock.kind, lock.since) == ("another run", NOW)
    assert not look(bench).lock.held


def test_another_program_is_asked_only_when_wished(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def kept(root: Path) -> ForeignMemories:
        asked.append(root)
        return ForeignMemories("/codex/state.sqlite", (), lease=ForeignLease("Codex", NOW + 60))

    found: Callable[[Path], ForeignMemories] = kept
    monkeypatch.setattr(bench, "foreign_memories", found)
    assert not look(bench).lock.held
    assert asked == []
    lock = look(bench, foreign=True).lock
    assert (lock.kind, lock.holder, lock.until) == ("another program", "Codex", NOW + 60)
