"""Open the database of a data folder: for change, for reading without a trace, or as an empty one in memory."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import peewee

from ltmem_gui.domain.errors import DatabaseDamaged, InputError
from ltmem_gui.store.database import BUSY_SECONDS, Database
from ltmem_gui.store.failures import Holders
from ltmem_gui.store.forgetting import scrub
from ltmem_gui.store.liveness import IsAlive, holders, is_alive
from ltmem_gui.store.schema import SCHEMA_VERSION, check_version, migrate
from ltmem_gui.store.snapshot import at_rest
from ltmem_gui.store.store import SqliteStore

DATABASE_NAME: Final = "ltmem.sqlite"
QUICK_CHECK_BYTES: Final = 32 * 1024 * 1024

_WRITING_PRAGMAS: Final[Mapping[str, str]] = {
    "journal_mode": "wal",
    "synchronous": "normal",
    "secure_delete": "on",
    # what SQLite sorts or rebuilds may be memory text and belongs into no temporary file
    "temp_store": "memory",
}


class SqliteStores:
    """Implement `pipeline.ports.StoreOpener`. A store is opened, used and closed on one thread.

    `alive` tells whether the holder of a lease lives on this host, `open_by` which programs hold a file.
    """

    def __init__(self, alive: IsAlive = is_alive, open_by: Holders = holders) -> None:
        self._alive = alive
        self._open_by = open_by

    @contextmanager
    def writing(self, home: Path) -> Iterator[SqliteStore]:
        """Open for change; the folder exists (a confirmed effect made it).

        A damaged file is set aside with its log, and a new one begun: `notices` says so. On closing, the log is merged
        and removed when no other program has the file open. Raises `InputError` naming the true cause.
        """
        path = _database_path(home)
        if not home.is_dir():
            raise InputError("the data folder does not exist", "confirm its creation first", str(home))
        notices: tuple[str, ...] = ()
        try:
            self._prepare(path)
        except DatabaseDamaged:
            notices = (self._set_aside(path),)
            self._prepare(path)
        with self._session(path, str(path), _WRITING_PRAGMAS) as db:
            scrub(db)
            yield SqliteStore(db, self._alive, notices)
            db.sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def reading(self, home: Path) -> Iterator[SqliteStore]:
        """Open for reading without creating or touching any file; a missing folder or file is an empty store.

        Raises `DatabaseDamaged` for a file that cannot be read; it is left where it is.
        """
        path = _database_path(home)
        if not path.exists():
            with self.empty() as store:
                yield store
            return
        with ExitStack() as stack:
            with _explained_access(path):
                uri = stack.enter_context(at_rest(path))
            db = stack.enter_context(self._session(path, uri, {}))
            version = db.sql("PRAGMA user_version")[0][0]
            check_version(version, str(path))
            if version == 0 and not db.sql("SELECT 1 FROM sqlite_master"):
                yield stack.enter_context(self.empty())  # its creation was cut short
                return
            if version < SCHEMA_VERSION:
                raise InputError("the database is of an older version", "the next confirmed run renews it", str(path))
            self._check(db, path)
            yield SqliteStore(db, self._alive)

    @contextmanager
    def empty(self) -> Iterator[SqliteStore]:
        """Open an empty store in memory."""
        with self._session(Path(":memory:"), ":memory:", {}) as db:
            migrate(db, 0)
            yield SqliteStore(db, self._alive)

    def create_home(self, home: Path) -> None:
        """Create the data folder (0700) and its database: the `CreateDataFolder` effect."""
        with _explained_access(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._prepare(_database_path(home))

    def _prepare(self, path: Path) -> None:
        """Create or migrate the file, and see that it can be read."""
        _create_private(path)
        with self._session(path, str(path), _WRITING_PRAGMAS) as db:
            with db.transaction():
                version = db.sql("PRAGMA user_version")[0][0]
                check_version(version, str(path))
                migrate(db, version)
            self._check(db, path)

    def _check(self, db: Database, path: Path) -> None:
        """Raise `DatabaseDamaged` for a broken file; a large one is looked at in its schema only."""
        db.sql("SELECT COUNT(*) FROM sqlite_master")
        db.sql("SELECT number FROM operations_head")
        if path.stat().st_size <= QUICK_CHECK_BYTES:
            found = db.sql("PRAGMA quick_check(1)")[0][0]
            if found != "ok":
                raise DatabaseDamaged(f"the database is damaged ({found})", _DAMAGED_REMEDY, str(path))

    def _set_aside(self, path: Path) -> str:
        """Rename a damaged file and its log to a free name; return what to tell."""
        number = 1
        while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
            number += 1
        for suffix in ("", "-wal", "-shm", "-journal"):
            try:
                path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
            except FileNotFoundError:
                continue
        return f"the database was damaged; it was set aside as {aside.name}, and a new one was begun"

    @contextmanager
    def _session(self, path: Path, target: str, pragmas: Mapping[str, str]) -> Iterator[Database]:
        engine = peewee.SqliteDatabase(
            target,
            pragmas=dict(pragmas),
            timeout=BUSY_SECONDS,
            uri=target.startswith("file:"),
            autoconnect=False,
        )
        db = Database(engine, path, self._open_by)
        with db.explained():
            engine.connect()
        try:
            yield db
        finally:
            with db.explained():
                engine.close()


_DAMAGED_REMEDY = "the next confirmed run sets it aside and starts a new one; the memory folder is not touched"


def _database_path(home: Path) -> Path:
    """Return the file below `home`. Raises `InputError` when it is anything but a regular file."""
    path = home / DATABASE_NAME
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    except PermissionError as error:
        raise InputError("the data folder cannot be read", "check its rights", str(home)) from error
    if not stat.S_ISREG(mode):
        raise InputError("the database is not a regular file; links are not followed", "move it away", str(path))
    return path


def _create_private(path: Path) -> None:
    """Create the file for this person only; SQLite gives its log the same rights."""
    if path.exists():
        return
    with _explained_access(path):
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(path, flags, 0o600))
        except FileExistsError:
            return  # another program was faster; both migrate in a transaction


@contextmanager
def _explained_access(path: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise InputError("no right to use the data folder", "check its rights, or name another", str(path)) from error
    except OSError as error:
        reason = "the data folder is read-only" if error.errno == errno.EROFS else error.strerror or str(error)
        raise InputError(reason, "name another data folder", str(path)) from error
