"""The lock of a memory root: one holder per person and root, named, and never kept by the dead."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.workspace import locking
from ltmem_gui.workspace.locking import RootLocks
from tests.helpers.git_workspace import NOW, clock, this_owner
from tests.helpers.git_world import in_child
from tests.helpers.waiting import wait_for


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory root."""
    made = tmp_path / "memories"
    made.mkdir()
    return made


def test_nothing_is_created_before_a_lock_is_taken(tmp_path: Path, root: Path) -> None:
    locks = RootLocks(clock, tmp_path / "state")
    assert locks.holder(root) is None
    assert not (tmp_path / "state").exists()
    with locks.acquire(root, this_owner()):
        held = locks.holder(root)
        assert held is not None
        assert (held.owner, held.since) == (str(this_owner()), NOW)
    assert locks.holder(root) is None
    assert (tmp_path / "state" / "locks").stat().st_mode & 0o777 == 0o700


def test_the_state_folder_can_be_named(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTMEM_STATE_DIR", str(tmp_path / "elsewhere"))
    with RootLocks(clock).acquire(root, this_owner()):
        assert list((tmp_path / "elsewhere" / "locks").glob("*.lock"))
    monkeypatch.delenv("LTMEM_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    with RootLocks(clock).acquire(root, this_owner()):
        assert list((tmp_path / "xdg").rglob("*.lock"))


def test_one_root_by_any_name_has_one_holder(tmp_path: Path, root: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    first, second = RootLocks(clock, tmp_path / "s"), RootLocks(clock, tmp_path / "s")
    with first.acquire(root, this_owner()):
        for name in (root, alias, tmp_path / "x" / ".." / "memories"):
            with pytest.raises(LockBusy, match=str(os.getpid())) as caught, second.acquire(name, this_owner()):
                pass
            assert caught.value.where == str(name)
        with second.acquire(tmp_path / "other", this_owner()):
            pass
    with second.acquire(alias, this_owner()):
        pass


def test_a_busy_lock_without_a_note_is_busy_all_the_same(tmp_path: Path, root: Path) -> None:
    locks = RootLocks(clock, tmp_path / "s", patience=0.1)
    with locks.acquire(root, this_owner()):
        (note,) = (tmp_path / "s" / "locks").glob("*.json")
        note.write_text("[")
        with pytest.raises(LockBusy, match="another run is writing"), locks.acquire(root, this_owner()):
            pass


def test_a_dead_holder_is_taken_over_at_once(tmp_path: Path, root: Path) -> None:
    locks = RootLocks(clock, tmp_path / "s")

    def hold() -> None:
        with RootLocks(clock, tmp_path / "s").acquire(root, this_owner()):
            (tmp_path / "held").touch()
            time.sleep(3_600)

    child = os.fork()
    if child == 0:
        hold()
        os._exit(1)
    try:
        wait_for((tmp_path / "held").exists, "the lock of the other process")
        with pytest.raises(LockBusy, match=str(child)), locks.acquire(root, this_owner()):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert list((tmp_path / "s" / "locks").glob("*.json"))
    assert locks.holder(root) is None
    with locks.acquire(root, this_owner()):
        pass


@pytest.mark.parametrize(
    ("owner", "alive"),
    [
        (Owner("another-host", 1, 1, "w"), True),
        (Owner(this_owner().host, os.getpid(), 5, "w"), False),  # a process id that was used again
        (Owner(this_owner().host, 2**22 + 1, 5, "w"), False),
    ],
)
def test_only_holders_known_to_be_dead_count_as_dead(tmp_path: Path, root: Path, owner: Owner, alive: bool) -> None:
    locks = RootLocks(clock, tmp_path / "s")
    with locks.acquire(root, this_owner()):
        (note,) = (tmp_path / "s" / "locks").glob("*.json")
        note.write_text(json.dumps({"owner": str(owner), "since": 1}))
        assert (locks.holder(root) is not None) is alive


def test_a_process_that_cannot_be_looked_at_counts_as_alive(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(pid: int) -> psutil.Process:
        raise psutil.AccessDenied(pid)

    owner = this_owner()
    locks = RootLocks(clock, tmp_path / "s")
    with locks.acquire(root, owner):
        monkeypatch.setattr(locking.psutil, "Process", denied)
        assert locks.holder(root) is not None


def test_many_processes_never_hold_at_once(tmp_path: Path, root: Path) -> None:
    log = tmp_path / "log"

    def try_often() -> None:
        locks = RootLocks(clock, tmp_path / "s", patience=0.1)
        for _ in range(15):
            try:
                with locks.acquire(root, this_owner()):
                    (tmp_path / "inside").mkdir()  # fails when somebody is inside
                    (tmp_path / "inside").rmdir()
                    with log.open("a") as file:
                        file.write("x")
            except LockBusy:
                time.sleep(0.001)

    children: list[int] = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                try_often()
            except BaseException:  # noqa: BLE001 - the child must never return into the test
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0, 0]
    assert log.read_text()
    assert in_child(try_often) is None
