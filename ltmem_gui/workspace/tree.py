"""Walk and read a folder without ever following a link: every step is relative to an open directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.naming import STAGING_PREFIX
from ltmem_gui.pipeline.ports import WorkspaceFile

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_DEPTH = 64


@dataclass
class Tree:
    """What a walk found: regular files by path, and what was not read, in words."""

    files: dict[str, WorkspaceFile] = field(default_factory=dict[str, WorkspaceFile])
    problems: list[str] = field(default_factory=list[str])


def root_state(root: Path) -> os.stat_result | None:
    """Return the state of a memory root, None when it is missing.

    Raises `InputError` when it is a link, no folder, or cannot be looked at.
    """
    try:
        state = os.lstat(root)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(
            f"cannot be looked at: {error.strerror}", "check the path and its rights", str(root)
        ) from error
    if stat.S_ISLNK(state.st_mode):
        raise InputError(
            "the memory folder is a symlink", f"name the folder itself: {os.path.realpath(root)}", str(root)
        )
    if not stat.S_ISDIR(state.st_mode):
        raise InputError("the memory folder is not a folder", "name a folder", str(root))
    return state


@contextmanager
def open_folder(root: Path) -> Iterator[int]:
    """Hold a memory root open. Raises `InputError` when it is a link, missing or unreadable."""
    try:
        handle = os.open(root, _OPEN_DIRECTORY)
    except OSError as error:
        root_state(root)
        raise InputError(f"cannot be opened: {error.strerror}", "check the path and its rights", str(root)) from error
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def open_below(folder: int, parts: tuple[str, ...]) -> Iterator[int]:
    """Hold the folder `parts` below an open one. Raises `OSError`; a link on the way is `ELOOP` or `ENOTDIR`."""
    handle = os.dup(folder)
    try:
        for part in parts:
            below = os.open(part, _OPEN_DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def read_file(folder: int, name: str) -> tuple[bytes, int] | None:
    """Return content and permission bits of a regular file, None for anything else. Raises `OSError`."""
    handle = os.open(name, _OPEN_FILE, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            return None
        return file.read(), stat.S_IMODE(state.st_mode)


def walk(root: Path) -> Tree:
    """Read every regular file below `root`; `.git` anywhere and the program's own staging are left out.

    Links, devices, unreadable entries and names that are not UTF-8 become problems. Raises `InputError` for the root.
    """
    tree = Tree()
    with open_folder(root) as handle:
        _walk(handle, "", tree, 0)
    return tree


def _walk(folder: int, prefix: str, tree: Tree, depth: int) -> None:
    if depth > _MAX_DEPTH:
        tree.problems.append(f"{prefix}: deeper than {_MAX_DEPTH} folders, not read")
        return
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = prefix + entry.name
        if entry.name == ".git":
            continue
        if depth == 0 and entry.name.startswith(STAGING_PREFIX):
            tree.problems.append(f"{path}: left by an interrupted apply (ltmem-gui recover)")
        elif not _is_text(path):
            tree.problems.append(f"{os.fsencode(path)!r}: the name is not UTF-8, not read")
        else:
            _take(folder, entry, path, tree, depth)


def _take(folder: int, entry: os.DirEntry[str], path: str, tree: Tree, depth: int) -> None:
    try:
        if entry.is_symlink():
            tree.problems.append(f"{path}: a symlink, never followed")
        elif entry.is_dir(follow_symlinks=False):
            with open_below(folder, (entry.name,)) as below:
                _walk(below, path + "/", tree, depth + 1)
        elif not entry.is_file(follow_symlinks=False):
            tree.problems.append(f"{path}: not a regular file, not read")
        else:
            found = read_file(folder, entry.name)
            if found is None:
                tree.problems.append(f"{path}: not a regular file, not read")
            else:
                tree.files[path] = WorkspaceFile(path, found[0], found[1])
    except OSError as error:
        tree.problems.append(f"{path}: cannot be read: {error.strerror}")


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
