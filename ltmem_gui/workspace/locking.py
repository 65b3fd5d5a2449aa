"""The lock of a memory root: one per person and root, whatever data folder is used.

The operating system ends it with its holder, so that a dead holder never blocks; the note beside the lock file only
names the holder to others.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from platformdirs import user_state_dir

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.domain.jobs import Owner
from ltmem_gui.pipeline.ports import Clock, LockHolder
from ltmem_gui.workspace.disk import make_private, replace_file

STATE_VARIABLE = "LTMEM_STATE_DIR"
_START_TOLERANCE = 2.0  # seconds; start times are stored whole

Cover = Callable[[Path], AbstractContextManager[object]]
"""Allow changes below a folder while the block runs: how the program's own guard learns of a used grant."""


class RootLocks:
    """Implement the port `RootLock` with one lock file per real path of a root."""

    def __init__(self, clock: Clock, state_dir: Path | None = None, *, patience: float = 1.0) -> None:
        """Keep locks below `state_dir`; by default the person's state folder, or `LTMEM_STATE_DIR`.

        A lock that nobody living is known to hold is waited for, `patience` seconds. Nothing is created before a lock
        is taken.
        """
        self._patience = patience
        self._clock = clock
        named = os.environ.get(STATE_VARIABLE)
        self._folder = (state_dir or (Path(named) if named else Path(user_state_dir("ltmem")))) / "locks"

    @contextmanager
    def acquire(self, root: Path, owner: Owner) -> Iterator[None]:
        """Hold the root. Raises `LockBusy` naming the holder when another process holds it."""
        make_private(self._folder)
        lock_path, note = self._paths(root)
        lock = FileLock(lock_path, mode=0o600)
        try:
            # A child that a killed holder was just starting keeps the lock open until it runs git, milliseconds later.
            lock.acquire(timeout=0 if self.holder(root) else self._patience, poll_interval=0.01)
        except Timeout as error:
            held = self.holder(root)
            who = f"another run ({held.owner})" if held else "another run"
            raise LockBusy(f"{who} is writing this memory folder", "wait for it to end", str(root)) from error
        try:
            replace_file(note, json.dumps({"owner": str(owner), "since": self._clock()}).encode())
            yield
        finally:
            note.unlink(missing_ok=True)
            lock.release()

    def holder(self, root: Path) -> LockHolder | None:
        """Return who holds the root; None when nobody does, or its holder died on this host. Writes nothing."""
        try:
            value = json.loads(self._paths(root)[1].read_bytes())
            held = LockHolder(str(value["owner"]), int(value["since"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if _is_dead(Owner.parse(held.owner)) else held

    def _paths(self, root: Path) -> tuple[Path, Path]:
        real = os.path.normcase(os.path.realpath(root))
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
        return self._folder / f"{name}.lock", self._folder / f"{name}.json"


def _is_dead(owner: Owner) -> bool:
    """Tell whether a holder is known to be gone; of another host nothing is known."""
    if owner.host != socket.gethostname():
        return False
    try:
        return abs(psutil.Process(owner.pid).create_time() - owner.process_started) > _START_TOLERANCE
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
