"""Read a growing session again from its last whole line (reference: rollout-formats §1.1).

A session only ever grows by appending, but a writer may also replace it under the same name. So before the stored
offset is trusted the file must not be shorter than it, and its first line must be the same; else it is read anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from ltmem_gui.domain.rollouts import Rollout
from ltmem_gui.sources.files import is_compressed, open_lines
from ltmem_gui.sources.lines import Line, decode_line
from ltmem_gui.sources.reading import HUGE_BYTES, Damage, Reader, decoded, feed_all, read_session, with_damage

_MARK_BYTES = 4096


class SessionFollower:
    """Follow one session file; each `read` costs only what was appended since the last one.

    Compressed and very large files, and files that do not tell their format yet, are read whole each time.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._forget()

    @property
    def offset(self) -> int:
        """Return the bytes that need not be read again."""
        return self._offset

    def read(self) -> Rollout:
        """Return the session as it is now. Raises `InputError` when the file is gone or is no session."""
        with open_lines(self._path) as stream:
            status = os.fstat(stream.fileno()) if not is_compressed(stream) else None
            if status is None or status.st_size > HUGE_BYTES:
                self._forget()
                return read_session(self._path)
            mark = stream.read(_MARK_BYTES).partition(b"\n")[0]
            if status.st_size < self._offset or not mark.startswith(self._mark):
                self._forget()
            self._mark = mark
            self._damage.tail = None
            stream.seek(self._offset)
            records = decoded(self._lines(stream), self._damage)
            self._reader = feed_all(records, self._path, self._reader)
        if self._reader is None:
            self._forget()
            return read_session(self._path)  # raises with the reason
        return with_damage(self._reader.finish(self._path), self._damage, int(status.st_mtime))

    def _forget(self) -> None:
        self._offset = 0
        self._number = 0  # whole lines before the offset
        self._open = False  # the line at the offset was whole already, but for its line end
        self._mark = b""
        self._damage = Damage()
        self._reader: Reader | None = None

    def _lines(self, stream: BinaryIO) -> Iterator[Line]:
        while data := stream.readline(HUGE_BYTES):
            ended = data.endswith(b"\n")
            if self._open:
                self._open = not ended
                if not data.strip(b" \t\r\n\x00"):
                    self._number += ended
                    self._offset += len(data)
                    continue
            line = decode_line(self._number + 1, data)
            if ended or line.record is not None:
                self._offset += len(data)
                self._number += ended
                self._open = not ended
            yield line
