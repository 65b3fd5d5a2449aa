"""Start the person's own program at a file, and write a copy where a person asked for it (design §2).

The file is only ever an argument: it is never executed, never given to what would choose a program by its kind, and
never reached through a link.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.errors import InputError, RefusedError
from ltmem_gui.domain.folders import is_within
from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import FileThere, OutsideGrant, StartProgram, WriteCopy
from ltmem_gui.workspace.disk import sync_folder, write_new

_MODE = 0o600
_BATCH = (".bat", ".cmd")


class Outside:
    """Implement the port `OutsideActor`. Stateless; any thread.

    `starting` opens the way for exactly one start of exactly one command. `platform` is named as in `sys.platform`.
    """

    def __init__(
        self, starting: Callable[[tuple[str, ...]], AbstractContextManager[None]], *, platform: str = sys.platform
    ) -> None:
        self._starting = starting
        self._platform = platform

    def find(self, place: Place) -> str:
        """Return the absolute path of a place; see the port."""
        at = Path(os.path.abspath(place.root))  # noqa: PTH100 - links stay as they are
        names = ("", *place.parts)
        for number, name in enumerate(names):
            at = at / name
            wanted = stat.S_ISREG if number == len(names) - 1 else stat.S_ISDIR
            _look(at, wanted)
        return str(at)

    def program(self, name: str, root: str) -> str:
        """Return the absolute path of a program; see the port."""
        found = shutil.which(name)
        if found is None or not Path(found).is_absolute():
            remedy = "install it, or name it with its whole path"
            raise InputError("the program was not found", remedy, name)
        if is_within(os.path.realpath(found), os.path.realpath(root)):
            raise RefusedError("a program inside a folder of memories or sessions is never started", "", found)
        if self._platform == "win32" and found.lower().endswith(_BATCH):
            raise RefusedError(
                "a batch file would be read by a shell", "name the program itself, as in Code.exe", found
            )
        return found

    def manager_command(self, file: str) -> tuple[str, ...]:
        """Return what shows a file in the file manager; where it cannot be marked, its folder is opened."""
        if self._platform == "darwin":
            return ("open", "-R", file)
        if self._platform == "win32":
            return ("explorer", "/select,", file)
        return ("xdg-open", str(Path(file).parent))

    def real_folder(self, folder: Path) -> Path:
        """Return a folder as it is on disk; see the port."""
        return Path(os.path.realpath(folder))

    def file_at(self, target: Path) -> FileThere | None:
        """Return what a copy would replace; see the port."""
        _look(target.parent, stat.S_ISDIR)
        try:
            state = _look(target, stat.S_ISREG)
        except InputError:
            return None
        return FileThere(state.st_size, state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns)

    def start(self, grant: OutsideGrant) -> None:
        """Start a confirmed program; see the port."""
        act = grant.act
        assert isinstance(act, StartProgram)
        # Between the yes and the start the file may have become a link.
        self.find(act.place)
        grant.consume()
        try:
            with self._starting(act.argv):
                child = subprocess.Popen(
                    act.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=os.path.abspath(os.sep),  # noqa: PTH100 - the top folder holds nothing that a program takes up
                    start_new_session=True,
                )
        except OSError as error:
            raise InputError(
                f"cannot be started: {error.strerror}", "check the editor's command", act.argv[0]
            ) from error
        threading.Thread(target=child.wait, name="started program", daemon=True).start()

    def write(self, grant: OutsideGrant, data: bytes) -> None:
        """Write a confirmed copy; see the port."""
        act = grant.act
        assert isinstance(act, WriteCopy)
        if content_hash(data) != act.sha256:
            raise RefusedError("the text is not what was confirmed", "confirm again", act.path)
        target = Path(act.path)
        self._same_file(target, act)
        grant.consume()
        try:
            if act.replaces is None:
                _make(target, data, _MODE)
            else:
                self._replace(target, data, act)
            sync_folder(target.parent)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", "name another file", act.path) from error

    def _replace(self, target: Path, data: bytes, act: WriteCopy) -> None:
        fresh = target.with_name(f".ltmem-{secrets.token_hex(8)}.new")
        _make(fresh, data, stat.S_IMODE(target.lstat().st_mode))
        try:
            self._same_file(target, act)  # writing took its time
            fresh.replace(target)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise

    def _same_file(self, target: Path, act: WriteCopy) -> None:
        if self.file_at(target) != act.replaces:
            raise RefusedError("the file changed since it was confirmed", "look at it and confirm again", act.path)


def _make(path: Path, data: bytes, mode: int) -> None:
    """Make a file whole or not at all; one that is there already is somebody else's and stays. Raises `OSError`."""
    try:
        write_new(path, data, mode)
    except FileExistsError:
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _look(path: Path, wanted: Callable[[int], bool]) -> os.stat_result:
    """Return the state of a path that is what is `wanted`, no link."""
    try:
        state = path.lstat()
    except OSError as error:
        raise InputError(f"cannot be found: {error.strerror}", "read the folder again", str(path)) from error
    if stat.S_ISLNK(state.st_mode):
        raise RefusedError("a symlink is never followed", "open what it points at outside of this program", str(path))
    if not wanted(state.st_mode):
        raise RefusedError("not a regular file in a folder", "only regular files are opened", str(path))
    return state
