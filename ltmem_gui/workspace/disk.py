"""Durable writes: new files are synced before they are renamed into place, folders after."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from pathlib import Path

from ltmem_gui.workspace.tree import open_below, open_folder

_TRIES = 5
_PAUSE_SECONDS = 0.02
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_new(path: Path, data: bytes, mode: int, *, owner: tuple[int, int] | None = None) -> None:
    """Make a file that was not there, with exactly these permission bits, and sync it. Raises `OSError`.

    `owner` is the (user, group) of the file it will replace; it is kept where the system allows it.
    """
    handle = os.open(path, _CREATE, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if owner is not None and owner != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.fchown(handle, *owner)
        os.fchmod(handle, mode)
        os.fsync(handle)


def replace_file(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a small file of the program's own so that it is old or new after a crash. Raises `OSError`."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    write_new(fresh, data, mode)
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make renames and new names in a folder durable. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_private(path: Path) -> None:
    """Make a folder that only this person can enter. Raises `OSError`."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)


def remove_tree(path: Path) -> None:
    """Remove a file or folder with all below it, links never followed; nothing there is fine. Raises `OSError`."""
    if not os.path.lexists(path):
        return
    if not path.is_dir() or path.is_symlink():
        path.unlink()
        return
    for _ in range(_TRIES):
        try:
            shutil.rmtree(path)
        except OSError as error:
            # A git process that outlived its killed parent may still be writing here, for milliseconds.
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    if os.path.lexists(path):
        shutil.rmtree(path)


def move_in(root: Path, parts: tuple[str, ...], source: Path) -> None:
    """Rename `source` to `parts` below `root`, replacing what is there; no link on the way is followed."""
    with open_folder(root) as top, open_below(top, parts[:-1]) as folder:
        os.rename(source, parts[-1], dst_dir_fd=folder)
        os.fsync(folder)


def move_out(root: Path, parts: tuple[str, ...], target: Path) -> None:
    """Rename `parts` below `root` to `target`; no link on the way is followed. Raises `OSError`."""
    with open_folder(root) as top, open_below(top, parts[:-1]) as folder:
        os.rename(parts[-1], target, src_dir_fd=folder)
        os.fsync(folder)


def make_folders(root: Path, parts: tuple[str, ...], mode: int = 0o755) -> None:
    """Make the missing folders `parts` below `root`, one by one, through no link. Raises `OSError`."""
    with open_folder(root) as top:
        for count in range(len(parts)):
            with open_below(top, parts[:count]) as folder, contextlib.suppress(FileExistsError):
                os.mkdir(parts[count], mode, dir_fd=folder)
                os.fsync(folder)
