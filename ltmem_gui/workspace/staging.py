"""The staged copy that the consolidation agent works in: a private folder (0700), fenced, and gone afterwards.

Each path is checked before the system sees it, each component is looked at without following links, and every step is
taken relative to the open folder before it: a folder that becomes a link between look and step leads nowhere. New bytes
are written beside the copy and renamed into it. The memory folder itself is not touched.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ltmem_gui.domain.errors import InputError, RefusedError
from ltmem_gui.domain.naming import check_path
from ltmem_gui.domain.staging import StagingMissing, StagingRefused
from ltmem_gui.workspace.tree import open_below, open_folder, read_file, walk

MAX_DEPTH = 16
_COPY = "copy"
_NEW = "new"
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_BECAME_A_LINK = (errno.ELOOP, errno.ENOTDIR)


@contextmanager
def staged_copy(files: Mapping[str, bytes], *, max_bytes: int, max_files: int) -> Iterator[StagedCopy]:
    """Lay the files into a new private folder and remove it at the end, whatever happened.

    `max_bytes` and `max_files` bound the whole copy; one that is larger from the start may not grow.
    """
    with tempfile.TemporaryDirectory(prefix="ltmem-agent-", ignore_cleanup_errors=True) as name:
        root = Path(name) / _COPY
        root.mkdir(mode=0o700)
        copy = StagedCopy(root, Path(name) / _NEW)
        for path, data in files.items():
            copy.lay(path, data)
        copy.limit(max_bytes=max_bytes, max_files=max_files)
        yield copy


class StagedCopy:
    """Implement the port `StagedFolder` over one private folder."""

    def __init__(self, root: Path, spool: Path) -> None:
        """Take an empty folder that nobody else can enter, and a name beside it for what is being written."""
        self.root = root
        self._spool = spool
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._left_out: dict[str, bytes] = {}
        self._max_bytes: int | None = None
        self._max_files: int | None = None

    def lay(self, path: str, data: bytes) -> None:
        """Put a file of the memory folder in; one whose name the fence does not let through is kept aside."""
        try:
            self.write(path, data)
        except StagingRefused:
            self._left_out[path] = data

    def limit(self, *, max_bytes: int, max_files: int) -> None:
        """Bound the copy from now on."""
        self._max_bytes = max(max_bytes, self._total)
        self._max_files = max(max_files, len(self._sizes))

    def names(self, path: str) -> list[tuple[str, bool]]:
        """Return the names in a folder with whether each is a folder; links and hidden names are left out."""
        parts = _parts(path) if path else ()
        self._look(parts, folder=True)
        with self._inside(parts) as folder, os.scandir(folder) as entries:
            found = [(e.name, e.is_dir(follow_symlinks=False)) for e in entries if not e.is_symlink()]
        return sorted(item for item in found if not item[0].startswith("."))

    def read(self, path: str) -> bytes:
        """Return a file."""
        parts = _parts(path)
        self._look(parts)
        with self._inside(parts[:-1]) as folder:
            found = read_file(folder, parts[-1])
        if found is None:
            raise StagingRefused("not a regular file", where=path, kind="not a file")
        return found[0]

    def write(self, path: str, data: bytes) -> bool:
        """Create or replace a file; tell whether it is new. Raises `StagingRefused` before anything is written."""
        parts = _parts(path)
        try:
            self._look(parts)
        except StagingMissing:
            new = True
        else:
            new = False
        self._require_room(path, len(data), new)
        with os.fdopen(os.open(self._spool, _WRITE, 0o600), "wb") as file:
            file.write(data)
        for depth in range(len(parts) - 1):
            with self._inside(parts[:depth]) as folder, suppress(FileExistsError):
                os.mkdir(parts[depth], 0o700, dir_fd=folder)
        with self._inside(parts[:-1]) as folder:
            os.rename(self._spool, parts[-1], dst_dir_fd=folder)
        self._total += len(data) - self._sizes.get(path, 0)
        self._sizes[path] = len(data)
        return new

    def delete(self, path: str) -> None:
        """Delete a file."""
        parts = _parts(path)
        self._look(parts)
        with self._inside(parts[:-1]) as folder:
            os.unlink(parts[-1], dir_fd=folder)
        self._total -= self._sizes.pop(path, 0)

    def files(self) -> dict[str, bytes]:
        """Return the whole copy, path → bytes, with what was kept aside."""
        return self._left_out | {path: file.data for path, file in walk(self.root).files.items()}

    @contextmanager
    def _inside(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Hold a folder of the copy open, reached through no link.

        Raises `StagingRefused` for what became something else since it was looked at, `StagingMissing` for what is
        gone, and `InputError` where the system itself cannot go on.
        """
        where = "/".join(parts)
        try:
            with open_folder(self.root) as root, open_below(root, parts) as folder:
                yield folder
        except FileNotFoundError as error:
            raise StagingMissing("there is no such file", where=where) from error
        except IsADirectoryError as error:
            raise StagingRefused("this is a folder", where=where, kind="not a file") from error
        except OSError as error:
            if error.errno in _BECAME_A_LINK:
                raise StagingRefused("a link is never followed", where=where, kind="symlink") from error
            raise InputError(f"the staged copy cannot be used: {error.strerror}", "see what the system says") from error

    def _require_room(self, path: str, size: int, new: bool) -> None:
        if self._max_files is not None and new and len(self._sizes) >= self._max_files:
            raise StagingRefused(f"{len(self._sizes)} files exist, no more may be made", where=path, kind="count")
        total = self._total - self._sizes.get(path, 0) + size
        if self._max_bytes is not None and total > self._max_bytes:
            raise StagingRefused(
                f"the copy would take {total} bytes; {self._max_bytes} are allowed", where=path, kind="size"
            )

    def _look(self, parts: tuple[str, ...], *, folder: bool = False) -> None:
        """Look at every component. Raises `StagingRefused` for links and devices, `StagingMissing`."""
        path = "/".join(parts)
        at = self.root
        for depth, part in enumerate(parts, 1):
            at = at / part
            try:
                state = at.lstat()
            except (FileNotFoundError, NotADirectoryError) as error:
                raise StagingMissing("there is no such file", where=path) from error
            if stat.S_ISLNK(state.st_mode):
                raise StagingRefused("a link is never followed", where=path, kind="symlink")
            last = depth == len(parts)
            wanted = stat.S_ISDIR if folder or not last else stat.S_ISREG
            if not wanted(state.st_mode):
                what = "a folder" if folder or not last else "a regular file"
                raise StagingRefused(f"{part} is not {what}", where=path, kind="not a file")


def _parts(path: str) -> tuple[str, ...]:
    """Return the components of a path. Raises `StagingRefused` for one that leads outside or is hidden."""
    try:
        parts = check_path(path)
    except RefusedError as error:
        kind = "hidden" if "git folder" in error.what or "staging" in error.what else "outside"
        raise StagingRefused(error.what.replace("is not written", "is refused"), where=path, kind=kind) from error
    if len(parts) > MAX_DEPTH:
        raise StagingRefused(f"deeper than {MAX_DEPTH} folders", where=path, kind="outside")
    if any(part.startswith(".") for part in parts):
        raise StagingRefused("hidden names are not part of a memory folder", where=path, kind="hidden")
    return parts
