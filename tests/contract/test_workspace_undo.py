"""Undo of the last apply, the life of its image, and clearing a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ltmem_gui.domain.consent import Selection
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.effects import DeleteFile, WriteFile
from ltmem_gui.domain.errors import InputError, WorkspaceMoved
from ltmem_gui.domain.plan import FileChange, Plan
from ltmem_gui.pipeline.ports import UndoOffer
from ltmem_gui.pipeline.written import _turned_round
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.undo import (
    IMAGE_SECONDS,
    UndoImage,
    UndoImages,
    discard_image,
    find_image,
    undo_changes,
)
from tests.helpers.git_workspace import NOW, grant_for, lay, tree
from tests.helpers.git_world import World, in_child


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return the settled world that each test copies."""
    return World.settled(tmp_path_factory.mktemp("template"))


@pytest.fixture
def world(template: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a settled world."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return World.copied(template, tmp_path)


def require_image(home: Path, now: int) -> UndoImage:
    """Return the usable image."""
    image = find_image(home, now)
    assert image is not None
    return image


def with_changes(world: World, changes: tuple[FileChange, ...], operation: str) -> Plan:
    """Return a plan of the given changes, each named by an effect."""
    effects = tuple(
        DeleteFile(path=c.path, reason=operation)
        if c.new_sha256 is None
        else WriteFile(path=c.path, change="modified", size_before=0, size_after=0, lines_added=0, lines_removed=0)
        for c in changes
    )
    base = world.plan({}, operation=operation)
    return base.model_copy(update={"changes": changes, "effects": (*base.effects, *effects)}).sealed()


def all_whole(plan: Plan) -> Selection:
    """Accept every change as a whole."""
    return Selection(plan_digest=plan.digest, accepted={change.path: ("*",) for change in plan.changes})


def test_an_undo_brings_contents_and_modes_back(world: World) -> None:
    before = tree(world.root)
    del before["phase2_workspace_diff.md"]
    world.writer().apply(grant_for(world.plan(modes={"run.sh": 0o700})))
    assert tree(world.root) != before
    image = require_image(world.home, NOW)
    plan = with_changes(world, undo_changes(image, read(world.root).files), "undo")
    assert {change.unit for change in plan.changes} == {"whole"}
    world.writer().apply(grant_for(plan, all_whole(plan)))
    assert tree(world.root) == before
    assert not (world.root / "skills").exists()
    redo = require_image(world.home, NOW)
    assert redo.digest == plan.digest


def test_the_image_lives_for_a_day_and_until_the_next_apply(world: World) -> None:
    first = world.plan()
    world.writer().apply(grant_for(first))
    image = require_image(world.home, NOW + IMAGE_SECONDS)
    assert (image.digest, image.expires_at) == (first.digest, NOW + IMAGE_SECONDS)
    assert find_image(world.home, NOW + IMAGE_SECONDS + 1) is None
    second = world.plan({"MEMORY.md": b"other\n"})
    world.writer().apply(grant_for(second))
    assert require_image(world.home, NOW).digest == second.digest
    assert [path.name for path in (world.home / "undo").iterdir()] == [second.digest]
    discard_image(world.home)
    assert find_image(world.home, NOW) is None


def test_the_image_is_private_and_holds_no_second_copy_of_the_new_text(world: World) -> None:
    world.writer().apply(grant_for(world.plan({"MEMORY.md": b"brand new words\n"})))
    image = require_image(world.home, NOW)
    assert sorted(path.name for path in image.journal.folder.iterdir()) == [
        "finished.json",
        "journal.json",
        "pre",
        "step",
    ]
    for path in image.journal.folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


def test_the_offer_is_for_this_folder_and_this_day(world: World, tmp_path: Path) -> None:
    plan = world.plan({"MEMORY.md": b"other\n"})
    world.writer().apply(grant_for(plan))
    offer = UndoImages().offer(world.home, NOW, read(world.root))
    assert offer is not None
    assert (offer.digest, offer.expires_at) == (plan.digest, NOW + IMAGE_SECONDS)
    assert [change.path for change in offer.changes] == ["MEMORY.md"]
    assert UndoImages().offer(world.home, NOW, read(tmp_path / "elsewhere")) is None
    assert UndoImages().offer(world.home, NOW + IMAGE_SECONDS + 1, read(world.root)) is None


@pytest.mark.parametrize("operation", ["forget", "redact"])
def test_what_must_be_gone_leaves_no_image(world: World, operation: str) -> None:
    world.writer().apply(grant_for(world.plan({"notes/mine.txt": None}, operation=operation)))
    assert find_image(world.home, NOW) is None
    assert not any(b"mine\n" in path.read_bytes() for path in world.home.rglob("*") if path.is_file())


def test_an_edit_since_is_never_undone_over(world: World) -> None:
    world.writer().apply(grant_for(world.plan()))
    lay(world.root, {"MEMORY.md": b"my words\n"})
    with pytest.raises(WorkspaceMoved) as caught:
        undo_changes(require_image(world.home, NOW), read(world.root).files)
    assert caught.value.where == "MEMORY.md"


def test_a_damaged_image_is_named(world: World) -> None:
    world.writer().apply(grant_for(world.plan()))
    folder = require_image(world.home, NOW).journal.folder
    (folder / "pre" / "0").write_bytes(b"spoiled")
    with pytest.raises(InputError, match="damaged"):
        undo_changes(require_image(world.home, NOW), read(world.root).files)
    for path in (folder / "pre").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        undo_changes(require_image(world.home, NOW), read(world.root).files)
    (folder / "finished.json").write_text("{}")
    with pytest.raises(InputError, match="image cannot be read"):
        find_image(world.home, NOW)


@pytest.fixture
def crowded(world: World, tmp_path: Path) -> World:
    """Return a world whose folder also holds links, a pipe and an empty folder."""
    outside = lay(tmp_path / "outside", {"keep.md": b"keep"})
    (world.root / "link").symlink_to(outside)
    (world.root / "notes/link.md").symlink_to(outside / "keep.md")
    (world.root / "empty/deep").mkdir(parents=True)
    os.mkfifo(world.root / "pipe")
    return world


def _deletions(world: World) -> tuple[FileChange, ...]:
    changes = (file_change(f.path, f.data, None, old_mode=f.mode) for f in read(world.root).files.values())
    return tuple(change for change in changes if change is not None)


def clearing(world: World) -> Plan:
    """Return the plan that clears the folder."""
    return with_changes(world, _deletions(world), "clear")


def test_clearing_unlinks_everything_and_follows_nothing(crowded: World, tmp_path: Path) -> None:
    plan = clearing(crowded)
    receipt = crowded.writer().apply(grant_for(plan, all_whole(plan)))
    assert [path.name for path in crowded.root.iterdir()] == [".git"]
    assert (tmp_path / "outside/keep.md").read_bytes() == b"keep"
    assert receipt.counts["deleted"] == 6
    assert dict(read(crowded.root).baseline_blobs) == {}
    undo = with_changes(crowded, undo_changes(require_image(crowded.home, NOW), {}), "undo")
    crowded.writer().apply(grant_for(undo, all_whole(undo)))
    assert tree(crowded.root)["run.sh"] == (b"#!/bin/sh\n", 0o755)


@pytest.mark.parametrize("place", ["delete@3", "delete@9", "baseline@3", "record"])
def test_a_clearing_that_is_killed_can_be_taken_back(crowded: World, place: str) -> None:
    def picture() -> set[tuple[str, bool, int]]:
        paths = [p for p in crowded.root.rglob("*") if ".git" not in p.parts]
        return {(str(p), p.is_symlink(), p.lstat().st_mode) for p in paths}

    before, files = picture(), tree(crowded.root)
    plan = clearing(crowded)
    assert in_child(lambda: crowded.writer(f"{place}:kill").apply(grant_for(plan, all_whole(plan))))
    assert picture() != before
    crowded.recovery().roll_back(plan.digest)
    assert picture() == before
    assert tree(crowded.root) == files


def test_a_clearing_that_is_killed_can_be_finished(crowded: World) -> None:
    plan = clearing(crowded)
    assert in_child(lambda: crowded.writer("delete@5:kill").apply(grant_for(plan, all_whole(plan))))
    crowded.recovery().finish(plan.digest)
    assert [path.name for path in crowded.root.iterdir()] == [".git"]


def test_a_symlinked_root_is_never_cleared(crowded: World, tmp_path: Path) -> None:
    plan = clearing(crowded)
    moved = tmp_path / "moved"
    crowded.root.rename(moved)
    crowded.root.symlink_to(moved)
    with pytest.raises(InputError, match="symlink"):
        crowded.writer().apply(grant_for(plan, all_whole(plan)))
    assert (moved / "MEMORY.md").exists()


def test_the_last_apply_is_shown_as_it_was_made(world: World) -> None:
    before = {path: file.data for path, file in read(world.root).files.items()}
    after = {**before, "MEMORY.md": before["MEMORY.md"] + b"one more\n", "fresh.md": b"new\n"}
    gone = next(path for path in before if path.startswith("rollout_summaries/"))
    del after[gone]
    back = [file_change(path, after.get(path), before.get(path), unit="whole") for path in sorted(before | after)]
    for path, data in after.items():
        (world.root / path).write_bytes(data)
    (world.root / gone).unlink()
    offer = UndoOffer("p", NOW, tuple(change for change in back if change is not None))
    made = _turned_round(offer, read(world.root))
    assert {c.path: c.change for c in made.changes} == {"MEMORY.md": "modified", "fresh.md": "added", gone: "deleted"}
    assert made.before == {"MEMORY.md": before["MEMORY.md"], gone: before[gone]}
    memory = next(c for c in made.changes if c.path == "MEMORY.md")
    assert [h.new for h in memory.hunks] == [("one more\n",)]
