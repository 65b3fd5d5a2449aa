"""A writer that is killed at any step: the folder is old or new, the operation is named and can be ended."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.errors import AlreadyApplied, InputError, RefusedError, WorkspaceMoved
from ltmem_gui.workspace.journal import Entry, journals
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.transaction import Transaction
from tests.helpers.git_workspace import grant_for, lay, tree
from tests.helpers.git_world import World, in_child

BEFORE_JOURNAL = ["claim", "lock", "recheck", "journal", "journal@2"]
INSIDE = ["stage", "stage@3", "write", "write@2", "write@4", "delete", "delete@2", "delete@3", "remove-diff"]
INSIDE += ["remove-diff@2", "ownership", "baseline", "baseline@2", "baseline@3", "baseline@4", "record"]
AFTER = ["cleanup", "cleanup@2"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return the settled world that each test copies."""
    return World.settled(tmp_path_factory.mktemp("template"))


@pytest.fixture
def world(template: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a settled world. Syncing is for power cuts: a killed process loses nothing the system has taken."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return World.copied(template, tmp_path)


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
    assert world.ledger._load()["selection"] == receipt.selection_digest
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


@pytest.mark.parametrize(
    ("place", "again"),
    [
        ("write@2", "stage@2"),
        ("write@2", "write"),
        ("stage@2", "baseline@3"),
        ("baseline@3", "record"),
        ("write@2", "cleanup@2"),
    ],
)
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


@pytest.mark.parametrize("way", ["finish", "roll_back"])
def test_a_recovery_that_fails_says_that_nothing_is_lost(
    world: World, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _kill_at(world, "write@2")

    def full(self: Transaction) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Transaction, "stage" if way == "finish" else "roll_back", full)
    with pytest.raises(InputError, match="nothing is lost") as caught:
        getattr(world.recovery(), way)(digest)
    assert "free some space" in caught.value.remedy
    assert world.ledger.calls[-1] == "release"
    monkeypatch.undo()
    getattr(world.recovery(), way)(digest)


def test_a_folder_that_is_gone_needs_no_roll_back(world: World) -> None:
    digest = _kill_at(world, "write@2")
    shutil.rmtree(world.root)
    world.recovery().roll_back(digest)
    assert world.recovery().pending() == ()


def test_a_git_folder_made_since_does_not_stop_the_finish(world: World) -> None:
    digest = _kill_at(world, "baseline@3")
    (world.root / ".git").mkdir()
    (world.root / ".git/HEAD").write_text("x")
    receipt = world.recovery().finish(digest)
    assert read(world.root).baseline == receipt.baseline_commit


def test_random_kills_never_leave_a_mixture(world: World) -> None:
    rounds_of_kills(world, rounds=6, seed=7)


def rounds_of_kills(world: World, *, rounds: int, seed: int) -> Counter[str]:
    """Kill applies and recoveries, at random times and at random steps; check old-or-new, receipt, watermark each time.

    Times are drawn from the time a whole apply takes on this machine now.
    """
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    in_child(lambda: world.writer().apply(grant_for(world.plan(_random_wishes(chance, seed, tree(world.root))))))
    span = time.perf_counter() - started
    for number in range(rounds):
        old, watermark = world.picture(), world.ledger.watermark
        wanted = _random_wishes(chance, number, old[0])
        plan = world.plan(wanted, watermark=chance.randrange(1, 2_000))
        new = {path: held for path, held in old[0].items() if path not in wanted}
        new |= {path: (data, 0o644) for path, data in wanted.items() if data is not None}
        new.pop("phase2_workspace_diff.md", None)
        _kill_once(world, chance, span, counts, lambda w, plan=plan: w.apply(grant_for(plan)))
        for _ in range(chance.randrange(3)):
            way = chance.choice(["roll_back", "finish"])
            _kill_once(world, chance, span, counts, lambda w, way=way, d=plan.digest: getattr(w, way)(d), recovery=True)
        for operation in world.recovery().pending():
            way = "finish" if operation.recorded else chance.choice(["roll_back", "finish"])
            getattr(world.recovery(), way)(operation.digest)
            counts[way] += 1
        files, baseline, litter = world.picture()
        receipt = world.ledger.recorded(plan.digest)
        assert not litter
        assert (files, baseline) == (old[:2] if receipt is None else (new, receipt.baseline_commit))
        assert world.ledger.watermark >= watermark
        assert list(journals(world.home)) == []
        counts["old" if receipt is None else "new"] += 1
    return counts


def _random_wishes(chance: random.Random, number: int, files: Mapping[str, object]) -> dict[str, bytes | None]:
    drawn = {f"f{i}.md": None if chance.random() < 0.3 else b"%d %d\n" % (number, i) for i in range(4)}
    wanted = {path: data for path, data in drawn.items() if data is not None or path in files}
    return {**wanted, "MEMORY.md": b"# %d %d\n" % (number, chance.randrange(10**6))}


def _kill_once(
    world: World,
    chance: random.Random,
    span: float,
    counts: Counter[str],
    action: Callable[[Any], object],
    *,
    recovery: bool = False,
) -> None:
    """Run `action` in a child that dies at a random step or after a random time, if it lives so long."""
    by_step = chance.random() < 0.5
    faults = f"{chance.choice([*BEFORE_JOURNAL, *INSIDE, *AFTER, 'unlock'])}:kill" if by_step else ""
    kill_after = None if by_step else chance.random() * span

    def work() -> None:
        action(world.recovery(faults) if recovery else world.writer(faults))

    counts["killed" if in_child(work, kill_after=kill_after) else "came to an end"] += 1
