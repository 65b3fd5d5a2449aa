"""`window.json` of a data folder: how the window looked. The only file the window may rewrite after one consent.

What it may hold is decided by the window; here are the way in and out, and nothing of what the bytes mean.
"""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.workspace.disk import replace_file

FILE_NAME = "window.json"
MAX_BYTES = 256 * 1024


class WindowFile:
    """Read and replace the file; whether it may be written is asked of a person elsewhere. Threads: any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def path(self, home: Path) -> Path:
        """Return where the file is, or would be."""
        return home / FILE_NAME

    def read(self, home: Path) -> bytes | None:
        """Return the file's bytes, None where there is none; nothing is opened then.

        Raises `InputError` for a link, anything that is no file, one above 256 KiB, or one that cannot be read.
        """
        path = self.path(home)
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                raise InputError("it is no regular file", "move it away", str(path))
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise InputError(f"it cannot be read: {error.strerror}", "check its permissions", str(path)) from error
        if len(data) > MAX_BYTES:
            raise InputError("it is larger than 256 KiB", "move it away", str(path))
        return data

    def write(self, home: Path, data: bytes) -> None:
        """Replace the file, so that it is old or new after a crash; the data folder must exist.

        Raises `InputError` when there is no data folder or the file cannot be written.
        """
        path = self.path(home)
        if not home.is_dir():
            raise InputError("the data folder does not exist", "a confirmed run creates it", str(home))
        try:
            with self._lock:
                replace_file(path, data)
        except OSError as error:
            raise InputError(f"it cannot be written: {error.strerror}", "check its permissions", str(path)) from error
