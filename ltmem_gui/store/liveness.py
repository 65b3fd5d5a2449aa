"""Tell whether the holder of a lease still lives on this host, and who has a file open."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from ltmem_gui.domain.jobs import Owner

IsAlive = Callable[[Owner], bool | None]
"""True: lives here; False: died here; None: cannot be told (another host)."""

_SECONDS_TOLERANCE = 2


def this_process(worker: str) -> Owner:
    """Return the owner that this process is; `worker` tells apart what it does."""
    return Owner(host_name(), os.getpid(), _start_mark(psutil.Process()), worker)


def host_name() -> str:
    """Return the name of this host without the colon that separates an owner's parts."""
    return socket.gethostname().replace(":", "-")


def is_alive(owner: Owner) -> bool | None:
    """Tell whether the process of `owner` lives; a zombie and a reused process id count as dead."""
    if owner.host != host_name():
        return None
    try:
        process = psutil.Process(owner.pid)
        if process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return False
        wall = process.create_time()
        return owner.process_started == _start_mark(process) or abs(wall - owner.process_started) <= _SECONDS_TOLERANCE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def holders(path: Path) -> Sequence[str]:
    """Return the programs of this person that have `path` open, as far as the system lets one see."""
    target = os.path.realpath(path)
    found: list[str] = []
    for process in psutil.process_iter(["pid", "name"]):
        try:
            if any(file.path == target for file in process.open_files()):
                name = str(process.info["name"])
                found.append("this program itself" if process.pid == os.getpid() else f"{name} (process {process.pid})")
        except psutil.Error:
            continue
    return found


def _start_mark(process: psutil.Process) -> int:
    """Return when a process started: ticks since boot where the system tells them, since a changed clock moves the
    seconds; Unix seconds elsewhere."""
    try:
        stat = Path(f"/proc/{process.pid}/stat").read_bytes()
        return int(stat.rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return int(process.create_time())
