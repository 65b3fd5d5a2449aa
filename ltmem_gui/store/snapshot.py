"""Read a database without touching it: in place when it is at rest, else a private copy of it and its log."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.side_files import JOURNAL, NAME_MARK, NO_NAME, SIDE_FILES, names_another_file

_WAL_HEADER_BYTES = 32
_TRIES = 40
_PAUSE_SECONDS = 0.05
_SETTLED_NS = 20_000_000

Mark = tuple[object, ...]


@contextmanager
def at_rest(path: Path) -> Iterator[str]:
    """Yield a URI that reads `path` without creating, changing or locking any file.

    Without a log beside it the file is opened in place as immutable. With one, opening in place would write the shared
    memory file, so a private copy is read. Raises `InputError` as `private_copy` does.
    """
    if any(_beside(path, suffix).exists() for suffix in SIDE_FILES):
        with private_copy(path) as uri:
            yield uri
    else:
        yield f"file:{quote(str(path))}?mode=ro&immutable=1"


@contextmanager
def private_copy(path: Path) -> Iterator[str]:
    """Yield a URI of a copy of file and log, in a folder only this person can enter, which is removed afterwards.

    Raises `InputError` when another program writes so busily that no whole copy can be had.
    """
    folder = Path(tempfile.mkdtemp(prefix="ltmem-read-"))
    try:
        copy = folder / path.name
        _copy_whole(path, copy)
        yield f"file:{quote(str(copy))}"
    finally:
        shutil.rmtree(folder)


def _copy_whole(path: Path, copy: Path) -> None:
    """Copy file and log so that they belong together.

    A writer may append to the log meanwhile (a torn tail is passed over by its checksums), but must neither move
    pages into the file nor begin the log anew: both show in the marks.
    """
    for _ in range(_TRIES):
        before = _mark(path)
        shutil.copyfile(path, copy)
        for suffix in SIDE_FILES:
            _beside(copy, suffix).unlink(missing_ok=True)
            try:
                shutil.copyfile(_beside(path, suffix), _beside(copy, suffix))
            except FileNotFoundError:
                continue
        if ends_in_name(_beside(copy, JOURNAL)):
            _forget_name(_beside(copy, JOURNAL))
        if before == _mark(path) and time.time_ns() - path.stat().st_mtime_ns > _SETTLED_NS:
            return
        time.sleep(_PAUSE_SECONDS)
    raise InputError("the database is locked by a program that keeps writing", "try again when it is done", str(path))


def ends_in_name(journal: Path) -> bool:
    """Tell whether a journal names another file, which SQLite would delete; no journal does not."""
    try:
        with journal.open("rb") as file:
            file.seek(-min(len(NAME_MARK), file.seek(0, os.SEEK_END)), os.SEEK_END)
            return names_another_file(file.read())
    except FileNotFoundError:
        return False


def _forget_name(journal: Path) -> None:
    with journal.open("r+b") as file:
        file.seek(-len(NAME_MARK), os.SEEK_END)
        file.write(NO_NAME)


def _mark(path: Path) -> Mark:
    status = path.stat()
    heads: list[object] = [status.st_ino, status.st_size, status.st_mtime_ns]
    for suffix in SIDE_FILES:
        try:
            with _beside(path, suffix).open("rb") as log:
                heads.append((os.fstat(log.fileno()).st_ino, log.read(_WAL_HEADER_BYTES)))
        except FileNotFoundError:
            heads.append(None)
    return tuple(heads)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
