"""Everything git keeps of a memory folder: objects, loose and packed, reachable or not; messages, logs, settings.

What was deleted from a file may live on here; `scan-secrets` reads it all. Nothing is written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.pipeline.ports import MemoryObject
from ltmem_gui.workspace.git_program import GitFailed, GitProgram
from ltmem_gui.workspace.lending import foreign_objects

_AT_ONCE = 64
_LARGEST = 64 * 1024 * 1024
_LARGEST_SIDE_FILE = 4 * 1024 * 1024


def memory_objects(root: Path) -> Iterator[MemoryObject]:
    """Yield what the `.git` folder of a memory root holds; nothing when there is none.

    Raises `InputError` when `.git` is no folder of its own, borrows objects from elsewhere, or cannot be read: a scan
    that leaves something out must say so.
    """
    git_dir = root / ".git"
    if not os.path.lexists(git_dir):
        return
    if foreign := foreign_objects(git_dir):
        raise InputError(foreign, "scan that folder too", str(git_dir))
    yield from _side_files(git_dir)
    try:
        yield from _objects(GitProgram(git_dir))
    except GitFailed as error:
        raise InputError(f"git cannot read its objects: {error}", "check it with `git fsck`", str(git_dir)) from error


def _objects(git: GitProgram) -> Iterator[MemoryObject]:
    listing = git.run("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
    names: list[bytes] = []
    for line in listing.split(b"\n"):
        fields = line.split(b" ")
        if line and len(fields) != 3:
            raise InputError("an object is damaged", "check it with `git fsck`", line.decode("ascii", "replace"))
        if not line:
            continue
        if int(fields[2]) > _LARGEST:
            raise InputError("an object is larger than 64 MB", "look at it by hand", fields[0].decode())
        names.append(fields[0])
    for start in range(0, len(names), _AT_ONCE):
        answer = git.run("cat-file", "--batch", data=b"\n".join(names[start : start + _AT_ONCE]) + b"\n")
        yield from _split(answer)


def _split(answer: bytes) -> Iterator[MemoryObject]:
    """Cut the answer of `cat-file --batch`: a header line with the size, the content, a newline."""
    position = 0
    while position < len(answer):
        end = answer.index(b"\n", position)
        header = answer[position:end].split(b" ")
        if len(header) != 3:
            raise InputError("an object is damaged", "check it with `git fsck`", header[0].decode("ascii", "replace"))
        name, kind, size = header
        start = end + 1
        yield MemoryObject(name.decode(), kind.decode(), answer[start : start + int(size)])
        position = start + int(size) + 1


def _side_files(git_dir: Path) -> Iterator[MemoryObject]:
    """Yield the small files beside the objects: `config` may hold an address with a password, `logs` a message."""
    for folder, names, files in os.walk(git_dir):
        names[:] = sorted(name for name in names if Path(folder, name) != git_dir / "objects")
        for name in sorted(files):
            path = Path(folder, name)
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_SIDE_FILE:
                yield MemoryObject(path.relative_to(git_dir).as_posix(), "file", path.read_bytes())
