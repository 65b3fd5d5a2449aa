"""The audit guard: proof, not promise, that nothing is written, started or sent without a grant (design §2).

An audit hook cannot be taken out again, so one hook is installed for the whole run and asks the guard that is armed at
the moment.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PATH_EVENTS = {
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.mkdir": (0,),
    "os.rmdir": (0,),
    "os.truncate": (0,),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "sqlite3.connect": (0,),
}
DIR_FDS = {
    "os.rename": (2, 3),
    "os.remove": (1,),
    "os.mkdir": (2,),
    "os.rmdir": (1,),
    "os.link": (2, 3),
    "os.symlink": (2,),
    "os.chmod": (2,),
    "os.chown": (3,),
    "os.utime": (3,),
    "shutil.rmtree": (1,),
}
"""Where an event tells the open folder that its path is relative to, in the order of `PATH_EVENTS`."""
LOOPBACK = ("127.", "::1", "localhost")


@dataclass
class Guard:
    """Record every change outside what is allowed.

    `roots` are memory and data folders: no change below them unless `granted`. Elsewhere, changes are allowed below the
    temporary folder and below the folders that the test tools themselves keep (`allowed`). `reads` lists what was
    opened or listed below `watched`.
    """

    allowed: tuple[str, ...]
    roots: list[str] = field(default_factory=list)
    watched: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    granted: bool = False

    def protect(self, *paths: Path) -> None:
        """Forbid changes below these folders until a grant is used."""
        self.roots += [str(path) for path in paths]

    def watch(self, *paths: Path) -> None:
        """Record what is opened or listed below these folders."""
        self.watched += [str(path) for path in paths]

    @contextmanager
    def grant(self) -> Iterator[None]:
        """Allow changes below the protected folders, as a used grant does."""
        before, self.granted = self.granted, True
        try:
            yield
        finally:
            self.granted = before

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        """Judge one audit event."""
        if event == "socket.connect":
            self._see_connect(args[1])
        elif event == "open":
            self._see_open(args)
        elif event in ("os.listdir", "os.scandir"):
            self._see_read(args[0])
        elif event in PATH_EVENTS:
            folders = DIR_FDS.get(event, ())
            for number, index in enumerate(PATH_EVENTS[event]):
                folder = args[folders[number]] if number < len(folders) and folders[number] < len(args) else None
                self._see_change(event, _inside(folder, args[index]))

    def _see_open(self, args: tuple[Any, ...]) -> None:
        path, mode, flags = args
        writes = bool(set(str(mode or "")) & set("wax+")) or bool(isinstance(flags, int) and flags & WRITE_FLAGS)
        if writes:
            self._see_change("open", path)
        else:
            self._see_read(path)

    def _see_connect(self, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if isinstance(host, str) and host and not host.startswith(LOOPBACK):
            self.violations.append(f"connect to {host}")

    def _see_read(self, path: object) -> None:
        name = _name(path)
        if name and any(_below(name, top) for top in self.watched):
            self.reads.append(name)

    def _see_change(self, event: str, path: object) -> None:
        name = _name(path)
        if not name or name == ":memory:" or "__pycache__" in name:
            return
        if any(_below(name, root) for root in self.roots):
            if not self.granted and not (event == "sqlite3.connect" and "immutable=1" in str(path)):
                self.violations.append(f"{event} {name} without a grant")
        elif not any(_below(name, top) for top in self.allowed):
            self.violations.append(f"{event} {name} outside the temporary folder")


class Hook:
    """The one audit hook of the run; forwards to the guard that is armed."""

    def __init__(self) -> None:
        self.armed: Guard | None = None
        self._busy = False
        sys.addaudithook(self._see)

    def _see(self, event: str, args: tuple[Any, ...]) -> None:
        if self.armed is not None and not self._busy:
            self._busy = True
            try:
                self.armed.see(event, args)
            finally:
                self._busy = False


def tool_folders(*more: Path) -> tuple[str, ...]:
    """Return where tests and their tools may write: temporary folders, caches of the checkout, devices."""
    checkout = Path(__file__).resolve().parents[2]
    own = [checkout / name for name in (".hypothesis", ".coverage", ".benchmarks", "htmlcov")]
    return tuple(str(p) for p in (Path(tempfile.gettempdir()), Path("/dev"), Path("/proc"), *own, *more))


def _name(path: object) -> str:
    if isinstance(path, int) or path is None:
        return ""
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    text = text.removeprefix("file:").partition("?")[0]
    return os.path.abspath(text) if text and not text.startswith(":") else text  # noqa: PTH100 - links stay


def _inside(folder: object, path: object) -> object:
    """Return a path relative to an open folder as an absolute one."""
    if not isinstance(folder, int) or folder < 0 or not isinstance(path, str | bytes | os.PathLike):
        return path
    with contextlib.suppress(OSError):
        return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fsdecode(path))  # noqa: PTH115, PTH118
    return path


def _below(name: str, top: str) -> bool:
    # Coverage adds host and process to the name of its data file.
    return name == top or name.startswith(top + os.sep) or (top.endswith(".coverage") and name.startswith(top))
