"""Open a foreign file for reading and nothing else: regular files only, no link followed at the last step."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ltmem_gui.domain.errors import InputError
from ltmem_gui.sources.lines import open_zstd

SQLITE_MAGIC = b"SQLite format 3\x00"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 20


@contextmanager
def open_plain(path: str) -> Iterator[BinaryIO]:
    """Open a regular file. Raises `InputError` naming the path and the cause."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise InputError(_cause(path, error), "check the path and its permissions", path) from error
    with os.fdopen(handle, "rb", buffering=0) as raw:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError("this is not a regular file", "name a file that holds a session", path)
        yield io.BufferedReader(raw, _BLOCK)


def _cause(path: str, error: OSError) -> str:
    if Path(path).is_symlink():
        return "this is a link, and links are not followed"
    return f"this file cannot be read: {error.strerror or error}"


def magic_of(stream: BinaryIO) -> bytes:
    """Return the first bytes of a fresh stream without moving it."""
    peek = getattr(stream, "peek", None)
    return bytes(peek(16)[:16]) if peek else b""


@contextmanager
def open_lines(path: str) -> Iterator[BinaryIO]:
    """Open a plain or compressed file for reading lines; which of both it is, its first bytes tell."""
    with open_plain(path) as stream:
        if magic_of(stream).startswith(ZSTD_MAGIC):
            with open_zstd(stream) as inner:
                yield inner
        else:
            yield stream
