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
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)
_REMEDY = "check the path and its permissions"


@contextmanager
def open_plain(path: str) -> Iterator[BinaryIO]:
    """Open a regular file. Raises `InputError` naming the path and the cause."""
    with os.fdopen(_open(path), "rb", buffering=0) as raw:
        yield io.BufferedReader(raw, _BLOCK)


def first_bytes(path: str, count: int) -> bytes:
    """Return up to `count` bytes of a regular file's start. Raises `InputError` naming the path and the cause."""
    handle = _open(path)
    try:
        return os.read(handle, count)
    except OSError as error:
        raise InputError(_cause(path, error), _REMEDY, path) from error
    finally:
        os.close(handle)


def _open(path: str) -> int:
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        raise InputError(_cause(path, error), _REMEDY, path) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError("this is not a regular file", "name a file that holds a session", path)
    return handle


def _cause(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "source missing: this file does not exist, or not any more"
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


def is_compressed(stream: BinaryIO) -> bool:
    """Tell whether a stream of `open_lines` decompresses."""
    return not isinstance(getattr(stream, "raw", None), io.FileIO)
