"""One memory folder, one data folder and one ledger, and children that apply a plan and are killed."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ltmem_gui.domain.plan import Plan
from ltmem_gui.workspace.locking import RootLocks
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.recovery import Recovery
from ltmem_gui.workspace.steps import Faults
from ltmem_gui.workspace.writer import Writer
from tests.helpers.git_workspace import Content, FileLedger, clock, grant_for, lay, make_plan, this_owner, tree

BASE: dict[str, bytes | tuple[bytes, int]] = {
    "MEMORY.md": b"# one\ntwo\nthree\nfour\nfive\n",
    "memory_summary.md": b"v1\r\nhello\r\nworld",
    "run.sh": (b"#!/bin/sh\n", 0o755),
    "rollout_summaries/old.md": b"old\n",
    "notes/mine.txt": b"mine\n",
    "gone/deep/x.md": b"x\n",
}
WANTED: dict[str, Content] = {
    "MEMORY.md": b"# one\nTWO\nthree\nfour\nFIVE\n",
    "memory_summary.md": b"v1\r\nhello\r\nthere\r\n",
    "run.sh": b"#!/bin/sh\necho\n",
    "rollout_summaries/new.md": b"new\n",
    "rollout_summaries/old.md": None,
    "gone/deep/x.md": None,
    "skills/a/SKILL.md": b"skill\n",
}


class World:
    """Everything one test of the writer needs."""

    def __init__(self, base: Path) -> None:
        self.home, self.state, self.root = base / "home", base / "state", base / "memories"
        self.home.mkdir()
        self.state.mkdir()
        self.ledger = FileLedger(self.state / "ledger.json")
        self.locks = RootLocks(clock, self.state)

    @classmethod
    def settled(cls, base: Path) -> World:
        """Return a world whose folder holds `BASE` under a baseline, with one receipt."""
        world = cls(base)
        lay(world.root, BASE)
        world.writer().apply(grant_for(world.plan({"MEMORY.md": b"# one\ntwo\nthree\nfour\nfive\nsix\n"})))
        lay(world.root, BASE)
        (world.root / "phase2_workspace_diff.md").write_text("left")
        world.ledger.calls.clear()
        return world

    @classmethod
    def copied(cls, template: World, base: Path) -> World:
        """Return a copy of a settled world, which is cheaper than settling another."""
        for name in ("home", "state", "memories"):
            shutil.copytree(template.home.parent / name, base / name, symlinks=True)
        world = cls.__new__(cls)
        world.home, world.state, world.root = base / "home", base / "state", base / "memories"
        world.ledger = FileLedger(world.state / "ledger.json")
        world.locks = RootLocks(clock, world.state)
        return world

    def parts(self, faults: str = "") -> dict[str, Any]:
        """Return what writer and recovery are built from."""
        owner = this_owner()
        return {"ledger": self.ledger, "locks": self.locks, "owner": owner, "clock": clock, "faults": Faults(faults)}

    def writer(self, faults: str = "", **more: Any) -> Writer:
        return Writer(self.home, **self.parts(faults), **more)

    def recovery(self, faults: str = "") -> Recovery:
        return Recovery(self.home, **self.parts(faults))

    def plan(self, wanted: Mapping[str, Content] | None = None, **more: Any) -> Plan:
        return make_plan(self.home, self.root, WANTED if wanted is None else wanted, **more)

    def picture(self) -> tuple[dict[str, tuple[bytes, int]], str | None, bool]:
        """Return files and modes, the baseline, and whether anything of the program is left over."""
        litter = any(path.name.startswith(".ltmem-") for path in self.root.iterdir()) if self.root.exists() else False
        return tree(self.root), read(self.root).baseline, litter


def in_child(action: Callable[[], object], *, kill_after: float | None = None) -> int | None:
    """Run `action` in a forked child; return the signal that ended it, None when it came to its end.

    `kill_after` in seconds.
    """
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:  # noqa: BLE001 - the child must never return into the test
            os._exit(1)
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
