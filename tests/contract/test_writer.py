"""The writer with real git: all or nothing, only with a fresh grant, only on the folder that was shown."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import random
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.diffing.hunks import apply_hunks
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    GrantExpired,
    GrantMissing,
    GrantReused,
    InputError,
    LeaseLost,
    LockBusy,
    RefusedError,
    StalePlan,
    UsageError,
    WorkspaceMoved,
    WrongDigest,
)
from ltmem_gui.workspace import baseline as git_baseline
from ltmem_gui.workspace import disk, steps, transaction
from ltmem_gui.workspace.git_program import GitFailed
from ltmem_gui.workspace.locking import RootLocks
from ltmem_gui.workspace.preparing import require_unmoved
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.steps import Faults
from ltmem_gui.workspace.transaction import Transaction
from ltmem_gui.workspace.writer import Writer
from tests.helpers.git_workspace import NOW, clock, grant_for, lay, make_plan, select_all, this_owner, tree
from tests.helpers.git_world import WANTED, World
from tests.helpers.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return the settled world that each test copies."""
    return World.settled(tmp_path_factory.mktemp("template"))


@pytest.fixture
def world(template: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a settled world. Syncing is for power cuts, and slow where tests share a disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return World.copied(template, tmp_path)


def test_an_apply_writes_all_and_leaves_a_clean_baseline(world: World) -> None:
    receipt = world.writer().apply(grant_for(world.plan()))
    after = tree(world.root)
    assert {path: data for path, (data, _) in after.items()} == {
        "notes/mine.txt": b"mine\n",
        **{path: data for path, data in WANTED.items() if data is not None},
    }
    assert after["run.sh"][1] == 0o755
    assert after["skills/a/SKILL.md"][1] == 0o644
    snapshot = read(world.root)
    assert snapshot.baseline == receipt.baseline_commit
    assert snapshot.problems == ()
    status = subprocess.run(["git", "-C", world.root, "status", "--porcelain"], capture_output=True, check=True)
    assert status.stdout == b""
    assert receipt.operation_number == 2
    assert receipt.counts == {"written": 5, "deleted": 2}
    assert (receipt.watermark_after, world.ledger.watermark) == (500, 500)
    assert {f.path for f in receipt.files} == set(WANTED)
    assert world.recovery().pending() == ()
    assert (world.home / "journal").stat().st_mode & 0o777 == 0o700
    assert list((world.home / "journal").iterdir()) == []


def test_deleted_text_is_in_no_object(world: World) -> None:
    assert (world.root / "rollout_summaries/old.md").exists()
    world.writer().apply(grant_for(world.plan()))
    batch = subprocess.run(
        ["git", "-C", world.root, "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    )
    assert b"old\n" not in batch.stdout
    assert b"FIVE" in batch.stdout


def test_a_missing_folder_is_created_and_its_layout(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.root = tmp_path / "a" / "b" / "memories"
    world.writer().apply(grant_for(world.plan({"MEMORY.md": b"x\n"})))
    assert (world.root / "rollout_summaries").is_dir()
    assert tree(world.root) == {"MEMORY.md": (b"x\n", 0o644)}


def test_only_the_accepted_hunks_are_written(world: World) -> None:
    plan = world.plan({"MEMORY.md": WANTED["MEMORY.md"]})
    first, second = plan.changes[0].hunks
    selection = Selection(
        plan_digest=plan.digest, accepted={"MEMORY.md": (second.id,)}, rejected={"MEMORY.md": (first.id,)}
    )
    world.writer().apply(grant_for(plan, selection))
    assert (world.root / "MEMORY.md").read_bytes() == b"# one\ntwo\nthree\nfour\nFIVE\n"


@pytest.mark.parametrize("seed", range(6))
def test_random_decisions_give_base_plus_accepted_hunks_and_keep_modes(world: World, seed: int) -> None:
    chance = random.Random(seed)
    base: dict[str, tuple[bytes, int]] = {}
    wanted: dict[str, bytes | None] = {}
    for number in range(4):
        end = chance.choice([b"\n", b"\r\n"])
        lines = [b"%d %d" % (number, chance.randrange(3)) for _ in range(chance.randrange(1, 12))]
        tail = chance.choice([b"", end])
        base[f"f{number}.md"] = (end.join(lines) + tail, chance.choice([0o644, 0o600, 0o755]))
        new = [line if chance.random() < 0.6 else b"changed" for line in lines if chance.random() < 0.9]
        wanted[f"f{number}.md"] = end.join(new) + chance.choice([b"", end])
    lay(world.root, base)
    plan = world.plan(wanted)
    accepted: dict[str, tuple[str, ...]] = {}
    expected = dict(base)
    for change in plan.changes:
        old = base[change.path][0]
        taken = [hunk for hunk in change.hunks if chance.random() < 0.5]
        accepted[change.path] = tuple(hunk.id for hunk in taken)
        expected[change.path] = (apply_hunks(old.decode(), taken).encode(), base[change.path][1])
    seen: list[int] = []

    class Watch(Faults):
        def __call__(self, step: Step) -> None:
            seen.extend(path.stat().st_mode & 0o777 for path in world.root.glob(".ltmem-*"))

    writer = Writer(world.home, **{**world.parts(), "faults": Watch("")})
    writer.apply(grant_for(plan, Selection(plan_digest=plan.digest, accepted=accepted)))
    after = tree(world.root)
    assert {path: after[path] for path in base} == expected
    assert set(seen) == {0o700}


def test_a_mode_alone_is_applied(world: World) -> None:
    plan = world.plan({"MEMORY.md": (world.root / "MEMORY.md").read_bytes()}, modes={"MEMORY.md": 0o600})
    world.writer().apply(grant_for(plan))
    assert tree(world.root)["MEMORY.md"][1] == 0o600


def test_a_grant_is_needed_and_good_for_once(world: World) -> None:
    with pytest.raises(GrantMissing):
        world.writer().apply(None)  # pyright: ignore[reportArgumentType]
    grant = grant_for(world.plan())
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copying(grant)
    world.writer().apply(grant)
    with pytest.raises(GrantReused):
        world.writer().apply(grant)


def test_an_old_a_wrong_and_a_second_approval_are_refused(world: World) -> None:
    plan = world.plan()
    before = tree(world.root)
    with pytest.raises(GrantExpired):
        world.writer().apply(grant_for(plan, expires_at=NOW - 1))
    for field in ("plan_digest", "selection_digest", "fingerprint"):
        with pytest.raises(WrongDigest):
            world.writer().apply(grant_for(plan, None, **{field: "0" * 64}))
    altered = plan.model_copy(update={"notes": ("more",)})
    with pytest.raises(WrongDigest):
        world.writer().apply(grant_for(altered))
    other_home = plan.model_copy(update={"home": "/elsewhere"}).sealed()
    with pytest.raises(RefusedError, match="another data folder"):
        world.writer().apply(grant_for(other_home))
    extract = plan.model_copy(update={"kind": "extract"}).sealed()
    with pytest.raises(RefusedError, match="kind extract"):
        world.writer().apply(grant_for(extract))
    assert tree(world.root) == before
    assert world.ledger.calls == []
    world.writer().apply(grant_for(plan))
    with pytest.raises(AlreadyApplied):
        world.writer().apply(grant_for(plan))


def _edit(root: Path) -> None:
    (root / "MEMORY.md").write_bytes(b"edited\n")


def _chmod(root: Path) -> None:
    (root / "MEMORY.md").chmod(0o600)


def _add(root: Path) -> None:
    (root / "added.md").write_bytes(b"")


def _commit(root: Path) -> None:
    (root / ".git/refs/heads/main").unlink()


@pytest.mark.parametrize(
    ("move", "named"),
    [(_edit, r"MEMORY.md \(content\)"), (_chmod, r"MEMORY.md \(mode\)"), (_add, r"added.md"), (_commit, "baseline")],
)
def test_a_moved_folder_is_refused_and_what_moved_is_named(
    world: World, move: Callable[[Path], None], named: str
) -> None:
    plan = world.plan()
    move(world.root)
    before = tree(world.root)
    with pytest.raises(WorkspaceMoved, match=named):
        world.writer().apply(grant_for(plan))
    assert tree(world.root) == before
    assert world.ledger.calls == ["claim", "release"]


@pytest.mark.parametrize("path", ["../out.md", "/etc/x", ".git/config", "a/.GIT/x", ".ltmem-x/y", "con.md", "a\\b"])
def test_a_path_outside_is_refused(world: World, path: str) -> None:
    plan = world.plan({"ok.md": b"x\n"})
    change = plan.changes[0].model_copy(update={"path": path})
    bad = plan.model_copy(update={"changes": (change,)}).sealed()
    with pytest.raises(RefusedError):
        world.writer().apply(grant_for(bad))
    assert not (world.root.parent / "out.md").exists()


def test_a_change_that_no_effect_names_is_refused(world: World) -> None:
    plan = world.plan()
    silent = plan.model_copy(update={"effects": plan.effects[-1:]}).sealed()
    with pytest.raises(RefusedError, match="effects do not name"):
        world.writer().apply(grant_for(silent))


def test_names_that_are_one_on_other_disks_are_refused(world: World) -> None:
    with pytest.raises(RefusedError, match="ignore case"):
        world.writer().apply(grant_for(world.plan({"memory.MD": b"x\n"})))


def test_links_are_never_followed(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.root / "skills").symlink_to(outside)
    with pytest.raises((InputError, RefusedError)):
        world.writer().apply(grant_for(world.plan()))
    assert list(outside.iterdir()) == []
    link = tmp_path / "link"
    link.symlink_to(world.root)
    with pytest.raises(InputError, match="symlink"):
        make_plan(world.home, link, {})


def test_a_read_only_folder_is_named_and_untouched(world: World) -> None:
    plan = world.plan()
    world.root.chmod(0o555)
    try:
        with pytest.raises(InputError, match="read-only") as caught:
            world.writer().apply(grant_for(plan))
    finally:
        world.root.chmod(0o755)
    assert caught.value.where == str(world.root)
    assert "chmod" in caught.value.remedy


def test_the_lock_names_its_holder_and_holds_for_any_data_folder(world: World) -> None:
    plan = world.plan()
    other = RootLocks(clock, world.state)
    with other.acquire(world.root, this_owner()):
        with pytest.raises(LockBusy, match=str(os.getpid())):
            world.writer().apply(grant_for(plan))
        assert other.holder(world.root) is not None
    assert other.holder(world.root) is None
    world.writer().apply(grant_for(plan))


def test_a_lost_lease_takes_everything_back_before_the_baseline_is_touched(world: World) -> None:
    before, baseline = tree(world.root), read(world.root).baseline
    plan = world.plan()
    reached: list[Step] = []

    class Thief(Faults):
        def __call__(self, step: Step) -> None:
            reached.append(step)
            world.ledger.stolen = step is Step.OWNERSHIP

    with pytest.raises(LeaseLost):
        Writer(world.home, **{**world.parts(), "faults": Thief("")}).apply(grant_for(plan))
    assert reached[-1] is Step.OWNERSHIP
    assert tree(world.root) == before
    assert read(world.root).baseline == baseline
    assert world.ledger.recorded(plan.digest) is None
    assert world.ledger.calls[-1] == "release"


def test_a_heart_that_fails_takes_everything_back(world: World) -> None:
    before = tree(world.root)
    tried = threading.Event()

    def failing(claim: object) -> bool:
        tried.set()
        raise RuntimeError("database locked")

    def refused(claim: object) -> bool:
        tried.set()
        return False

    class Slow(Faults):
        def __call__(self, step: Step) -> None:
            if step is Step.OWNERSHIP:
                assert tried.wait(PATIENCE_SECONDS)
                for thread in threading.enumerate():
                    if thread.name == "ltmem-heartbeat":
                        thread.join(PATIENCE_SECONDS)

    for beat, error in ((failing, RuntimeError), (refused, LeaseLost)):
        tried.clear()
        world.ledger.heartbeat = beat  # pyright: ignore[reportAttributeAccessIssue]
        writer = Writer(world.home, **{**world.parts(), "faults": Slow("")}, heartbeat_seconds=0.01)
        with pytest.raises(error):
            writer.apply(grant_for(world.plan()))
        assert tree(world.root) == before


def test_a_ledger_that_fails_takes_everything_back(world: World) -> None:
    before, baseline = tree(world.root), read(world.root).baseline
    world.ledger.finish_error = RuntimeError("database gone")
    with pytest.raises(RuntimeError, match="database gone"):
        world.writer().apply(grant_for(world.plan()))
    assert tree(world.root) == before
    assert read(world.root).baseline == baseline
    assert world.ledger.calls[-1] == "fail: database gone"


def test_the_heart_beats_throughout(world: World) -> None:
    beaten = threading.Event()
    world.ledger.heartbeat = lambda claim: beaten.set() or True  # pyright: ignore[reportAttributeAccessIssue]

    class Slow(Faults):
        def __call__(self, step: Step) -> None:
            if step is Step.OWNERSHIP:
                assert beaten.wait(PATIENCE_SECONDS)

    parts = {**world.parts(), "faults": Slow("")}
    Writer(world.home, **parts, heartbeat_seconds=0.01).apply(grant_for(world.plan()))


STEPS = [step for step in Step if step not in (Step.CLEANUP, Step.UNLOCK)]
KINDS = [["enospc", "eio", "eacces"][number % 3] for number in range(len(STEPS))]
FAILURES = [*zip(STEPS, KINDS, strict=True), (Step.WRITE, "eio"), (Step.WRITE, "eacces"), (Step.BASELINE, "enospc")]


@pytest.mark.parametrize(("step", "kind"), sorted(set(FAILURES)))
def test_a_failure_at_any_step_restores_the_old_state_at_once(world: World, step: Step, kind: str) -> None:
    before, baseline = tree(world.root), read(world.root).baseline
    with pytest.raises(InputError) as caught:
        world.writer(f"{step}:{kind}").apply(grant_for(world.plan()))
    number = {"enospc": errno.ENOSPC, "eio": errno.EIO, "eacces": errno.EACCES}[kind]
    assert os.strerror(number) in caught.value.what
    assert caught.value.remedy
    assert tree(world.root) == before
    assert read(world.root).baseline == baseline
    assert not any(p.name.startswith(".ltmem-") for p in world.root.iterdir())
    assert world.recovery().pending() == ()
    assert world.ledger.calls[-1] == "release"
    world.writer().apply(grant_for(world.plan()))


@pytest.mark.parametrize("place", ["write@3", "delete@2", "baseline@2", "baseline@3", "baseline@4", "stage@3"])
def test_a_failure_in_the_middle_of_a_step_restores_the_old_state(world: World, place: str) -> None:
    before, baseline = tree(world.root), read(world.root).baseline
    with pytest.raises(InputError):
        world.writer(f"{place}:enospc").apply(grant_for(world.plan()))
    assert tree(world.root) == before
    assert read(world.root).baseline == baseline


@pytest.mark.log_expected
@pytest.mark.parametrize("step", ["cleanup", "cleanup@2", "unlock"])
def test_a_failure_after_the_receipt_does_not_undo_it(world: World, step: str) -> None:
    plan = world.plan()
    receipt = world.writer(f"{step}:eio").apply(grant_for(plan))
    assert receipt.operation_number == 2
    if step == "unlock":
        return
    (operation,) = world.recovery().pending()
    assert operation.recorded
    with pytest.raises(AlreadyApplied, match="recorded already"):
        world.recovery().roll_back(plan.digest)
    assert world.recovery().finish(plan.digest) == receipt
    assert world.recovery().pending() == ()
    assert read(world.root).problems == ()


def test_an_interrupted_apply_blocks_the_next(world: World) -> None:
    plan = world.plan()

    class Dies(Faults):
        def __call__(self, step: Step) -> None:
            if step is Step.WRITE:
                raise SystemExit

    writer = Writer(world.home, **{**world.parts(), "faults": Dies("")})
    writer._restore = lambda *args: None  # pyright: ignore[reportAttributeAccessIssue] - as after a kill
    with pytest.raises(SystemExit):
        writer.apply(grant_for(plan))
    next_plan = world.plan({"other.md": b"x\n"})
    with pytest.raises(StalePlan, match="interrupted"):
        world.writer().apply(grant_for(next_plan))
    elsewhere = World.__new__(World)
    elsewhere.__dict__.update(world.__dict__)
    elsewhere.home = world.home.parent / "home2"
    elsewhere.home.mkdir()
    with pytest.raises(StalePlan, match="another data folder"):
        elsewhere.writer().apply(grant_for(elsewhere.plan({"other.md": b"x\n"})))
    world.recovery().roll_back(plan.digest)
    world.writer().apply(grant_for(world.plan({"other.md": b"x\n"})))


def test_nothing_of_a_refused_selection_is_written(world: World) -> None:
    plan = world.plan()
    selection = select_all(plan).model_copy(update={"accepted": {"MEMORY.md": ("no-such-hunk",)}})
    before = tree(world.root)
    with pytest.raises(InputError, match="no hunk"):
        world.writer().apply(grant_for(plan, selection))
    assert tree(world.root) == before


def test_new_contents_and_the_journal_are_synced_before_anything_is_renamed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    rename = os.rename

    def noted_rename(*args: object, **names: object) -> None:
        events.append("rename")
        rename(*args, **names)  # pyright: ignore[reportArgumentType, reportCallIssue]

    monkeypatch.setattr(os, "fsync", lambda handle: events.append(str(Path(f"/proc/self/fd/{handle}").readlink())))
    monkeypatch.setattr(os, "rename", noted_rename)
    plan = world.plan({"MEMORY.md": b"new\n"})
    world.writer().apply(grant_for(plan))
    first = events.index("rename")
    synced = [Path(event) for event in events[:first]]
    assert any("/pre/" in str(path) for path in synced)
    assert any("/new/" in str(path) and world.root in path.parents for path in synced)
    assert any(path.name.startswith("journal.json") for path in synced)
    assert str(world.root) in events[first:]


def test_a_step_that_cannot_be_taken_back_names_the_way_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = world.plan()

    def full(self: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Transaction, "roll_back", full)
    with pytest.raises(InputError, match="could not be restored") as caught:
        world.writer("write@2:eio").apply(grant_for(plan))
    assert f"recover --roll-back --digest {plan.digest}" in caught.value.remedy
    monkeypatch.undo()
    (operation,) = world.recovery().pending()
    assert (operation.digest, operation.step) == (plan.digest, "write")
    world.recovery().roll_back(plan.digest)


def test_a_full_data_folder_is_the_one_that_is_named(world: World) -> None:
    with pytest.raises(InputError, match="nothing was changed") as caught:
        world.writer("journal@2:enospc").apply(grant_for(world.plan()))
    assert caught.value.where == str(world.home)
    assert list((world.home / "journal").iterdir()) == []


def test_an_undo_of_the_writer_needs_no_space(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old files are kept by name, so a full disk does not keep them from coming back."""
    before = tree(world.root)

    class Full(Faults):
        def __call__(self, step: Step) -> None:
            if step is Step.RECORD:
                monkeypatch.setattr(disk, "write_new", lambda *a, **k: pytest.fail("wrote while restoring"))
                monkeypatch.setattr(transaction, "write_new", lambda *a, **k: pytest.fail("wrote while restoring"))
                raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match="as it was"):
        Writer(world.home, **{**world.parts(), "faults": Full("")}).apply(grant_for(world.plan()))
    assert tree(world.root) == before


def test_a_git_that_fails_takes_everything_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before, baseline = tree(world.root), read(world.root).baseline

    def failing(*args: object) -> str:
        raise GitFailed("fast-import", 128, "fatal: disk")

    monkeypatch.setattr(git_baseline, "build", failing)
    with pytest.raises(InputError, match="fatal: disk") as caught:
        world.writer().apply(grant_for(world.plan()))
    assert caught.value.where == str(world.root)
    assert (tree(world.root), read(world.root).baseline) == (before, baseline)


def test_a_plan_without_a_baseline_leaves_git_alone(world: World) -> None:
    baseline = read(world.root).baseline
    receipt = world.writer().apply(grant_for(world.plan(baseline=False, watermark=None)))
    assert read(world.root).baseline == baseline
    assert (receipt.baseline_commit, receipt.watermark_after) == (None, None)


def test_a_missing_folder_that_no_effect_creates_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    with pytest.raises(RefusedError, match="does not create it"):
        world.writer().apply(grant_for(world.plan({"MEMORY.md": b"x\n"}, layout=False)))
    assert not world.root.exists()
    assert world.ledger.calls[-1] == "release"


def test_a_plan_without_a_base_is_refused(world: World) -> None:
    plan = world.plan().model_copy(update={"base": None}).sealed()
    with pytest.raises(WrongDigest):
        world.writer().apply(grant_for(plan))


def test_faults_are_only_for_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTMEM_FAULT", "write:eio")
    with pytest.raises(OSError, match="fault at write"):
        Faults()(Step.WRITE)
    monkeypatch.setattr(steps, "_is_test_ground", lambda: False)
    Faults()(Step.WRITE)
    for wish in ("nothing:eio", "write:nothing", "write@x:eio", "write"):
        with pytest.raises(UsageError, match="recover --steps"):
            Faults(wish)


@pytest.mark.log_expected
def test_the_reason_of_a_failure_is_told_even_when_the_lease_cannot_be_given_back(world: World) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    world.ledger.release = full  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(InputError, match="Input/output error"):
        world.writer("write:eio").apply(grant_for(world.plan()))


def test_a_receipt_that_was_stored_although_it_raised_counts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = world.ledger.finish

    def stored_then_lost(*args: Any, **names: Any) -> None:
        finish(*args, **names)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(world.ledger, "finish", stored_then_lost)
    plan = world.plan()
    receipt = world.writer().apply(grant_for(plan))
    assert receipt == world.ledger.recorded(plan.digest)
    assert (world.root / "skills/a/SKILL.md").exists()
    assert world.recovery().pending() == ()


def test_every_difference_of_the_folder_is_named_and_the_list_is_kept_short(world: World) -> None:
    plan = world.plan()
    lay(world.root, {f"extra{n:02d}.md": b"x" for n in range(12)})
    with pytest.raises(WorkspaceMoved, match=r"extra09.md \(added\) and 2 more"):
        world.writer().apply(grant_for(plan))
    shutil.rmtree(world.root)
    with pytest.raises(WorkspaceMoved, match=r"the folder is gone, MEMORY.md \(gone\)"):
        world.writer().apply(grant_for(plan))
    early = world.plan({"MEMORY.md": b"x\n"})
    world.root.mkdir()
    with pytest.raises(WorkspaceMoved, match="the folder was created"):
        world.writer().apply(grant_for(early))
    snapshot = read(world.root.parent / "other")
    with pytest.raises(WorkspaceMoved, match="the folder"):
        require_unmoved(early, snapshot)
    with pytest.raises(RefusedError, match="no state"):
        require_unmoved(early.model_copy(update={"base": None}), snapshot)


def test_an_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    plan = world.plan({"MEMORY.md": b"# ONE\ntwo\nthree\nfour\nfive\n"})
    hunks = plan.changes[0].hunks
    inode = (world.root / "MEMORY.md").stat().st_ino
    selection = Selection(plan_digest=plan.digest, edited={"MEMORY.md": {h.id: h.old for h in hunks}})
    receipt = world.writer().apply(grant_for(plan, selection))
    assert receipt.files == ()
    assert (world.root / "MEMORY.md").stat().st_ino == inode


def test_the_owner_of_a_file_is_kept_where_the_system_allows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def chown(handle: int, user: int, group: int) -> None:
        asked.append((user, group))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", chown)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    state = (world.root / "MEMORY.md").stat()
    plan = world.plan({"MEMORY.md": b"x\n", "new.md": b"n\n"})
    world.writer().apply(grant_for(plan))
    assert asked == [(state.st_uid, state.st_gid)]


def test_a_folder_that_is_still_being_written_is_removed_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    tries: list[int] = []
    rmtree = shutil.rmtree

    def busy(path: Path) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OSError(errno.ENOTEMPTY, "Directory not empty")
        rmtree(path)

    monkeypatch.setattr(shutil, "rmtree", busy)
    disk.remove_tree(tmp_path / "x")
    assert (len(tries), (tmp_path / "x").exists()) == (3, False)
    (tmp_path / "x").mkdir()
    monkeypatch.setattr(shutil, "rmtree", lambda path: _raise(errno.ENOTEMPTY))
    with pytest.raises(OSError, match="busy"):
        disk.remove_tree(tmp_path / "x")
    monkeypatch.setattr(shutil, "rmtree", lambda path: _raise(errno.EACCES))
    with pytest.raises(OSError, match="busy"):
        disk.remove_tree(tmp_path / "x")


def _raise(number: int) -> None:
    raise OSError(number, "busy")
