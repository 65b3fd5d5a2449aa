"""Copy a foreign file as it lies on the disk: holes stay holes, and no more is copied than was agreed on.

A file may name any length and hold almost nothing: what counts is the data that the disk really has.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.sources.files import open_plain

MOST_COPIED = 4 << 30
"""How many bytes of data a private copy may hold at the most."""
LONGEST = 64 << 30
"""How long a file may be, holes and all: what opens the copy counts its pages, a bit for each."""
_BLOCK = 1 << 20
_REMEDY = "let its own program make it smaller, or name the rollout files"


def copy_sparse(source: str, target: Path, most: int = MOST_COPIED, cancel: CancelToken | None = None) -> int:
    """Copy a regular file to a new one and return how many bytes of data it holds.

    Raises `InputError` naming the source and the cause: it cannot be read, holds more than `most` bytes of data, is
    longer than `LONGEST`, or does not fit on the disk; `Cancelled`.
    """
    copied = 0
    with open_plain(source) as data, target.open("xb", buffering=0) as out:
        try:
            handle = data.fileno()
            length = os.fstat(handle).st_size
            if length > LONGEST:
                raise InputError(f"this file is longer than {_size(LONGEST)}, holes and all", _REMEDY, source)
            out.truncate(length)
            for start, end in _parts(handle, length):
                out.seek(os.lseek(handle, start, os.SEEK_SET))
                while start < end and (block := os.read(handle, min(_BLOCK, end - start))):
                    start += len(block)
                    copied += len(block)
                    if copied > most:
                        what = f"this file holds more data than is left of the {_size(MOST_COPIED)} of a private copy"
                        raise InputError(what, _REMEDY, source)
                    if cancel is not None:
                        cancel.check()
                    _write(out.fileno(), block)
        except OSError as error:
            raise InputError(f"this file cannot be copied: {error.strerror or error}", _REMEDY, source) from error
    return copied


def _parts(handle: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield where the data lies, as (first byte, byte behind the last); all of it where the system knows no holes."""
    start = 0
    while start < length:
        try:
            start = os.lseek(handle, start, os.SEEK_DATA)
            end = min(os.lseek(handle, start, os.SEEK_HOLE), length)
        except AttributeError:
            end = length
        except OSError as error:
            if error.errno == errno.ENXIO:
                return  # nothing but a hole up to the end
            if error.errno != errno.EINVAL:
                raise
            end = length
        yield start, end
        start = end


def _write(handle: int, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _size(count: int) -> str:
    return f"{count >> 30} GiB"
