"""The scan index: what was learnt of files whose size and time have not changed since.

It is a cache in the data folder (`scan_index.sqlite`) and may be deleted at any time; a broken one is begun anew. It
holds paths, ids and times, and never text. It exists only once a confirmed effect made the data folder.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.side_files import BESIDE

FILE_NAME = "scan_index.sqlite"
VERSION = 1
_HEADER = 20
_NO_LOG = b"\x01\x01"
"""How the first bytes of a database end that keeps no write-ahead log: reading one that does would create it."""
_TABLE = """
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, agent TEXT NOT NULL,
    thread_id TEXT NOT NULL, first_uuid TEXT NOT NULL, refused TEXT NOT NULL
) WITHOUT ROWID
"""
_INDEXES = (
    "CREATE INDEX files_by_thread ON files (thread_id)",
    "CREATE INDEX files_by_time ON files (mtime_ns DESC)",
)


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file as it was last seen: `size` in bytes; `refused` says why it is no session ("" when it is one)."""

    path: str
    size: int
    mtime_ns: int
    agent: str
    thread_id: str = ""
    first_uuid: str = ""
    refused: str = ""


class ScanIndex:
    """Keep `IndexedFile` rows in one SQLite file; each call opens and closes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def known(self) -> Mapping[str, IndexedFile]:
        """Return all rows by path; nothing when the file is missing or broken."""
        if not self._is_at_rest():
            return {}
        try:
            with self._open_to_read() as connection:
                rows = connection.execute("SELECT * FROM files").fetchall()
        except sqlite3.Error:
            return {}
        return {row[0]: IndexedFile(*row) for row in rows}

    def paths_of(self, thread_id: str) -> tuple[str, ...]:
        """Return where a thread was last seen, newest first: this resolves citations of rollouts."""
        if not self._is_at_rest():
            return ()
        try:
            with self._open_to_read() as connection:
                query = "SELECT path FROM files WHERE thread_id = ? ORDER BY mtime_ns DESC, path"
                return tuple(str(row[0]) for row in connection.execute(query, (thread_id,)))
        except sqlite3.Error:
            return ()

    def remember(self, files: Iterable[IndexedFile]) -> None:
        """Store rows, replacing older ones of the same paths.

        Raises `InputError` when the file cannot be written.
        """
        if self._path.is_symlink() or self._has_log():
            what = "the scan index has a log beside it or is a link, which it never is"
            raise InputError(what, "it is not of this program; move it away", str(self._path))
        rows = [(f.path, f.size, f.mtime_ns, f.agent, f.thread_id, f.first_uuid, f.refused) for f in files]
        try:
            self._write(rows)
        except sqlite3.DatabaseError:
            # A broken cache is worth nothing: begin anew.
            try:
                self._path.unlink(missing_ok=True)
                self._write(rows)
            except (sqlite3.Error, OSError) as error:
                raise InputError(
                    f"the scan index cannot be written: {error}", "check the data folder", str(self._path)
                ) from error

    def _write(self, rows: list[tuple[str, int, int, str, str, str, str]]) -> None:
        with self._open() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?)", rows)

    def _is_at_rest(self) -> bool:
        if not self._path.is_file() or self._path.is_symlink() or self._has_log():
            return False
        try:
            with self._path.open("rb") as file:
                return file.read(_HEADER)[-2:] == _NO_LOG
        except OSError:
            return False

    def _has_log(self) -> bool:
        """Tell whether opening it would carry out what a log says: a journal can have SQLite delete any file."""
        return any(os.path.lexists(f"{self._path}{suffix}") for suffix in BESIDE)

    @contextmanager
    def _open_to_read(self) -> Iterator[sqlite3.Connection]:
        """Open without creating or changing anything; one of another version is of no use."""
        address = f"file:{quote(str(self._path))}?mode=ro"
        with closing(sqlite3.connect(address, timeout=5, uri=True)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                raise sqlite3.DatabaseError("of another version")
            yield connection

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=5)) as connection:
            # One file and no other: a crash may cost the cache, and nothing else.
            connection.execute("PRAGMA journal_mode=MEMORY")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                with connection:
                    connection.execute("DROP TABLE IF EXISTS files")
                    connection.execute(_TABLE)
                    for index in _INDEXES:
                        connection.execute(index)
                    connection.execute(f"PRAGMA user_version={VERSION}")
            yield connection
