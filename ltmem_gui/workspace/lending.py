"""Whether a repository's objects are its own: git would follow a list of other folders, or a link, anywhere it leads.

A folder from elsewhere could have the words of another repository read as if they were its own.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_LISTS = ("alternates", "http-alternates")


def foreign_objects(git_dir: Path) -> str:
    """Return in words how a `.git` folder takes objects from elsewhere, nothing when it does not.

    A folder without objects takes none; one that cannot be looked through may.
    """
    try:
        return _foreign(git_dir)
    except OSError as error:
        return f"its objects cannot be looked through ({error.strerror})"


def _foreign(git_dir: Path) -> str:
    objects = git_dir / "objects"
    for folder in (git_dir, objects):
        if os.path.lexists(folder) and not stat.S_ISDIR(os.lstat(folder).st_mode):
            return "`.git` is a link or a file; its objects lie elsewhere"
    if any(os.path.lexists(objects / "info" / name) for name in _LISTS):
        return "the repository borrows objects from another folder"
    if objects.is_dir() and _holds_link(objects):
        return "the repository holds its objects through a link"
    return ""


def _holds_link(folder: Path) -> bool:
    folders = [os.fspath(folder)]
    while folders:
        with suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:  # git may tidy up meanwhile
            for entry in entries:
                if entry.is_symlink():
                    return True
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return False
