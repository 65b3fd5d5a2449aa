"""A writer that is killed at any step: the folder is old or new, the operation is named and can be ended."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.errors import AlreadyApplied, RefusedError, WorkspaceMoved
from ltmem_gui.workspace.journal import Entry, journals
from ltmem_gui.workspace.transaction import Transaction
from tests.helpers.git_workspace import grant_for, lay, tree
from tests.helpers.git_world import World, in_child

BEFORE_JOURNAL = ["claim", "lock", "recheck", "journal", "journal@2"]
INSIDE = ["stage", "stage@3", "write", "write@2", "write@4", "delete", "delete@2", "delete@3", "remove-diff"]
INSIDE += ["remove-diff@2", "ownership", "baseline", "baseline@2", "baseline@3", "baseline@4", "record"]
AFTER = ["cleanup", "cleanup@2"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a settled world. Syncing is for power cuts: a killed process loses nothing the system has taken."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return World.settled(tmp_path)


def _wanted_tree(world: World) -> dict[str, tuple[bytes, int]]:
    return {
        "MEMORY.md": (b"# one\nTWO\nthree\nfour\nFIVE\n", 0o644),
        "memory_summary.md": (b"v1\r\nhello\r\nthere\r\n", 0o644),
        "notes/mine.txt": (b"mine\n", 0o644),
        "rollout_summaries/new.md": (b"new\n", 0o644),
        "run.sh": (b"#!/bin/sh\necho\n", 0o755),
        "skills/a/SKILL.md": (b"skill\n", 0o644),
    }


def _kill_at(world: World, place: str) -> str:
    plan = world.plan()
    assert in_child(lambda: world.writer(f"{place}:kill").apply(grant_for(plan))) == signal.SIGKILL
    return plan.digest


def test_every_step_is_tried() -> None:
    tried = {place.partition("@")[0] for place in [*BEFORE_JOURNAL, *INSIDE, *AFTER, "unlock"]}
    assert tried == set(Step)


@pytest.mark.parametrize("place", BEFORE_JOURNAL)
def test_a_kill_before_the_journal_changed_nothing(world: World, place: str) -> None:
    before = world.picture()
    _kill_at(world, place)
    assert world.picture() == before
    assert world.recovery().pending() == ()
    world.writer().apply(grant_for(world.plan()))
    assert tree(world.root) == _wanted_tree(world)
    assert [child.name for child in (world.home / "journal").iterdir()] == []


@pytest.mark.parametrize("place", INSIDE)
def test_a_kill_inside_can_be_rolled_back(world: World, place: str) -> None:
    before = world.picture()
    digest = _kill_at(world, place)
    (operation,) = world.recovery().pending()
    assert (operation.digest, operation.step) == (digest, place.partition("@")[0])
    assert "MEMORY.md" in operation.files
    world.recovery().roll_back(digest)
    assert world.picture() == before
    assert world.recovery().pending() == ()
    assert world.ledger.recorded(digest) is None
    assert world.ledger.watermark == 500


@pytest.mark.parametrize("place", INSIDE)
def test_a_kill_inside_can_be_finished(world: World, place: str) -> None:
    digest = _kill_at(world, place)
    receipt = world.recovery().finish(digest)
    files, baseline, litter = world.picture()
    assert files == _wanted_tree(world)
    assert (baseline, litter) == (receipt.baseline_commit, False)
    assert receipt.operation_number == 2
    assert world.recovery().pending() == ()
    with pytest.raises(RefusedError, match="no interrupted apply"):
        world.recovery().finish(digest)


@pytest.mark.parametrize("place", AFTER)
def test_a_kill_after_the_receipt_keeps_the_new_state(world: World, place: str) -> None:
    digest = _kill_at(world, place)
    (operation,) = world.recovery().pending()
    assert operation.recorded
    with pytest.raises(AlreadyApplied):
        world.recovery().roll_back(digest)
    receipt = world.recovery().finish(digest)
    assert receipt == world.ledger.recorded(digest)
    files, baseline, litter = world.picture()
    assert (files, baseline, litter) == (_wanted_tree(world), receipt.baseline_commit, False)


def test_a_kill_at_the_very_end_leaves_nothing_to_do(world: World) -> None:
    digest = _kill_at(world, "unlock")
    assert world.recovery().pending() == ()
    assert world.ledger.recorded(digest) is not None
    assert tree(world.root) == _wanted_tree(world)


@pytest.mark.parametrize("place", ["write@2", "baseline@3"])
@pytest.mark.parametrize("again", ["stage@2", "write", "baseline@3", "record", "cleanup@2"])
def test_a_recovery_that_is_killed_can_be_repeated(world: World, place: str, again: str) -> None:
    digest = _kill_at(world, place)
    in_child(lambda: world.recovery(f"{again}:kill").finish(digest))
    if world.recovery().pending():
        world.recovery().finish(digest)
    assert tree(world.root) == _wanted_tree(world)
    assert not world.picture()[2]


@pytest.mark.parametrize("place", ["stage@2", "write@3", "delete@2", "baseline@2", "baseline@4", "record"])
def test_a_roll_back_that_is_cut_off_can_be_finished_instead(
    world: World, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _kill_at(world, place)
    restore = Transaction._restore
    seen: list[object] = []

    def cut_off(self: Transaction, entry: Entry) -> None:
        if len(seen) == 2:
            raise SystemExit
        seen.append(entry)
        restore(self, entry)

    monkeypatch.setattr(Transaction, "_restore", cut_off)
    with pytest.raises(SystemExit):
        world.recovery().roll_back(digest)
    receipt = world.recovery().finish(digest)
    files, baseline, litter = world.picture()
    assert (files, baseline, litter) == (_wanted_tree(world), receipt.baseline_commit, False)


def test_a_file_that_was_edited_since_is_never_overwritten(world: World) -> None:
    digest = _kill_at(world, "write@2")
    lay(world.root, {"MEMORY.md": b"my own words\n"})
    with pytest.raises(WorkspaceMoved) as caught:
        world.recovery().roll_back(digest)
    assert caught.value.where.endswith("MEMORY.md")
    with pytest.raises(WorkspaceMoved):
        world.recovery().finish(digest)
    assert (world.root / "MEMORY.md").read_bytes() == b"my own words\n"
    (world.root / "MEMORY.md").unlink()
    world.recovery().roll_back(digest)
    assert (world.root / "MEMORY.md").read_bytes() == b"# one\ntwo\nthree\nfour\nfive\n"


def test_a_new_root_is_removed_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.root = tmp_path / "a" / "b"
    digest = _kill_at(world, "write@2")
    world.recovery().roll_back(digest)
    assert not (tmp_path / "a").exists()


def test_the_old_content_comes_back_from_the_journal_too(world: World) -> None:
    before = world.picture()
    digest = _kill_at(world, "record")
    for kept in world.root.glob(".ltmem-*/old/*"):
        kept.unlink()
    world.recovery().roll_back(digest)
    assert world.picture() == before


def test_a_damaged_journal_is_named(world: World) -> None:
    digest = _kill_at(world, "record")
    path = world.home / "journal" / digest / "journal.json"
    path.write_text("{")
    with pytest.raises(Exception, match="journal cannot be read"):
        world.recovery().pending()


def test_random_kills_never_leave_a_mixture(world: World) -> None:
    rounds_of_kills(world, rounds=12, seed=7)


def rounds_of_kills(world: World, *, rounds: int, seed: int) -> dict[str, int]:
    """Kill applies and recoveries after random times; check old-or-new, receipts and watermark after each."""
    chance = random.Random(seed)
    counts = {"killed": 0, "ended": 0, "finished": 0, "rolled back": 0}
    for number in range(rounds):
        old = world.picture()
        watermark = world.ledger.watermark
        target = {f"f{i}.md": None if chance.random() < 0.3 else b"%d %d\n" % (number, i) for i in range(4)}
        wanted = {p: d for p, d in target.items() if d is not None or p in old[0]}
        wanted["MEMORY.md"] = b"# %d\n" % number
        plan = world.plan(wanted, watermark=chance.randrange(1, 2_000))
        new = {**old[0], **{p: (d, 0o644) for p, d in wanted.items() if d is not None}}
        new = {p: v for p, v in new.items() if wanted.get(p, b"") is not None and p != "phase2_workspace_diff.md"}
        killed = in_child(lambda plan=plan: world.writer().apply(grant_for(plan)), kill_after=chance.random() * 0.12)
        counts["killed" if killed else "ended"] += 1
        for _ in range(chance.randrange(3)):
            way = chance.choice(["roll_back", "finish"])
            ending = chance.random() * 0.08
            in_child(lambda way=way, d=plan.digest: getattr(world.recovery(), way)(d), kill_after=ending)
        for operation in world.recovery().pending():
            back = chance.random() < 0.5 and not operation.recorded
            if back:
                world.recovery().roll_back(operation.digest)
            else:
                world.recovery().finish(operation.digest)
            counts["rolled back" if back else "finished"] += 1
        files, baseline, litter = world.picture()
        receipt = world.ledger.recorded(plan.digest)
        assert not litter
        if receipt is None:
            assert (files, baseline) == old[:2]
        else:
            assert (files, baseline) == (new, receipt.baseline_commit)
        assert world.ledger.watermark >= watermark
        assert list(journals(world.home)) == []
    return counts
