"""The program's own guard: an audit hook that refuses what no grant covers: changes of a folder, connections, programs.

It is the last line, behind types and import contracts: a mistake in the program meets a refusal instead of a file. An
audit hook cannot be taken out again, so it is installed once, by the program's entry point.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ltmem_gui.domain.errors import GrantMissing

_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Event → (position of a path, position of the folder descriptor it is relative to, -1 where there is none).
_CHANGES = {
    "os.rename": ((0, 2), (1, 3)),
    "os.remove": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rmdir": ((0, 1),),
    "os.truncate": ((0, -1),),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
}
_STARTS = {"subprocess.Popen": 0, "os.exec": 0, "os.posix_spawn": 0, "os.spawn": 1, "os.startfile": 0, "os.system": -1}
"""Event → the position of the program; -1: a shell, which is never started."""
OWN_PROGRAMS = frozenset({"git", "nice"})
# Libraries ask these what system they run on. They read, and their answers are not shown.
ASKED_PROGRAMS = frozenset({"uname", "lsb_release", "ldconfig", "gcc", "cc", "ld", "objdump", "file"})


class Veto:
    """Know which folders are memory folders, which are covered by a used grant, which host may be reached, and which
    program may be started.

    Threads: any. Coverage is counted, so that nested and parallel covers do not end each other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._roots: tuple[str, ...] = ()
        self._covered: Counter[str] = Counter()
        self._hosts: Counter[str] = Counter()
        self._starts: list[tuple[str, ...]] = []

    def install(self) -> None:
        """Start to watch this process; there is no way back."""
        sys.addaudithook(self.see)

    def protect(self, root: Path) -> None:
        """Take a folder for a memory folder from now on."""
        name = os.path.abspath(root)  # noqa: PTH100 - links stay as they are
        with self._lock:
            if name not in self._roots:
                self._roots = (*self._roots, name)

    @contextmanager
    def cover(self, root: Path) -> Iterator[None]:
        """Allow changes below a memory folder while a used grant is carried out."""
        with self._counted(self._covered, os.path.abspath(root)):  # noqa: PTH100
            yield

    @contextmanager
    def egress(self, host: str) -> Iterator[None]:
        """Allow connections to one host (with or without port) while text is sent to it."""
        with self._counted(self._hosts, _host_name(host)):
            yield

    @contextmanager
    def starting(self, argv: tuple[str, ...]) -> Iterator[None]:
        """Allow one start of exactly this command; a second one needs a yes of its own."""
        with self._lock:
            self._starts.append(argv)
        try:
            yield
        finally:
            with self._lock:
                if argv in self._starts:
                    self._starts.remove(argv)

    @contextmanager
    def _counted(self, counter: Counter[str], key: str) -> Iterator[None]:
        with self._lock:
            counter[key] += 1
        try:
            yield
        finally:
            with self._lock:
                counter[key] -= 1

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        """Judge one audit event. Raises `GrantMissing` for a change, a connection or a start that nothing covers."""
        if event == "open":
            path, mode, flags = args
            if set(str(mode or "")) & set("wax+") or (isinstance(flags, int) and flags & _WRITE_FLAGS):
                self._judge(event, path)
        elif event in _CHANGES:
            for place, folder in _CHANGES[event]:
                self._judge(event, args[place], args[folder] if folder >= 0 else -1)
        elif event == "socket.getaddrinfo":
            self._judge_host(args[0])
        elif event == "socket.connect" and isinstance(args[1], tuple):
            self._judge_connection()
        elif event in _STARTS:
            self._judge_start(event, args)

    def _judge(self, event: str, path: object, folder: object = -1) -> None:
        if not self._roots or not isinstance(path, str | bytes | os.PathLike):
            return
        base = _folder_of(folder) if isinstance(folder, int) and folder >= 0 else ""
        name = os.path.abspath(os.path.join(base, os.fsdecode(path)))  # noqa: PTH100, PTH118
        for root in self._roots:
            if (name == root or name.startswith(root + os.sep)) and not self._covered[root]:
                raise GrantMissing(f"{event} without a grant was refused", "this is a mistake in the program", name)

    def _judge_host(self, host: object) -> None:
        name = _host_name(os.fsdecode(host)) if isinstance(host, str | bytes) else ""
        if name and not self._hosts[name]:
            raise GrantMissing(f"the host {name} is not in the plan", "this is a mistake in the program", name)

    def _judge_connection(self) -> None:
        """An address is a number by now; its name was judged when it was looked up."""
        if not any(self._hosts.values()):
            raise GrantMissing("a connection without a plan was refused", "this is a mistake in the program")

    def _judge_start(self, event: str, args: tuple[Any, ...]) -> None:
        words: tuple[str, ...] = ()
        if event == "subprocess.Popen" and isinstance(args[1], list | tuple):
            words = tuple(os.fsdecode(word) for word in args[1] if isinstance(word, str | bytes | os.PathLike))
            with self._lock:
                if words in self._starts:
                    self._starts.remove(words)
                    return
        at = _STARTS[event]
        given = args[at] if at >= 0 else None
        program = os.fsdecode(given) if isinstance(given, str | bytes | os.PathLike) else "".join(words[:1])
        base = os.path.basename(program).lower().removesuffix(".exe")  # noqa: PTH119 - no object is made here
        inside = os.sep in program and any(program.startswith(root + os.sep) for root in self._roots)
        known = base in OWN_PROGRAMS | ASKED_PROGRAMS or (program and program == sys.executable)
        if inside or not known:
            raise GrantMissing(
                f"starting {base or 'a shell'} without a grant was refused", "this is a mistake", program
            )


def _host_name(host: str) -> str:
    """Return a host without port and brackets, in lower case."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.count(":") == 1 else name


def _folder_of(descriptor: int) -> str:
    """Return the folder an open descriptor stands for; nothing where the system does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - no object is made in an audit hook
    except OSError:
        return ""
