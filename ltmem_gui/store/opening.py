"""Open the database of a data folder: for change, for reading without a trace, or as an empty one in memory."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import peewee

from ltmem_gui.domain.effects import HOUSEKEEPING
from ltmem_gui.domain.errors import DatabaseDamaged, InputError
from ltmem_gui.domain.side_files import BESIDE, JOURNAL
from ltmem_gui.store.database import BUSY_SECONDS, Database
from ltmem_gui.store.failures import DAMAGED_REMEDY, Holders
from ltmem_gui.store.forgetting import SET_ASIDE, scrub
from ltmem_gui.store.liveness import IsAlive, holders, is_alive
from ltmem_gui.store.schema import SCHEMA_VERSION, check_version, migrate
from ltmem_gui.store.snapshot import at_rest, ends_in_name, private_copy
from ltmem_gui.store.store import SqliteStore

_log = logging.getLogger(__name__)

DATABASE_NAME: Final = "ltmem.sqlite"
_RESCUED: Final = "-wal.rescued"
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
        with ExitStack() as after_closing, ExitStack() as stack:
            notices: tuple[str, ...] = ()
            inode = _inode(path)
            try:
                db = self._open_for_change(stack, path)
            except DatabaseDamaged:
                notices = _set_aside(path, inode)
                db = self._open_for_change(stack, path)
            after_closing.callback(_set_aside_if_damaged, db, path, _inode(path))
            scrub(db)
            yield SqliteStore(db, self._alive, notices)

    @contextmanager
    def reading(self, home: Path, *, strict: bool = False) -> Iterator[SqliteStore]:
        """Open for reading without creating or touching any file; a missing folder or file is an empty store.

        So is a damaged file, since otherwise no plan could ever lead to the run that sets it aside; `notices` and the
        log say it. With `strict`, for those who only look, it raises `DatabaseDamaged`.
        """
        path = _database_path(home)
        with ExitStack() as stack:
            try:
                db = self._open_for_reading(stack, path) if path.exists() else None
                notices: tuple[str, ...] = ()
            except DatabaseDamaged as damage:
                if strict:
                    raise
                db, notices = None, (f"{damage.what}; it is read as empty: {damage.remedy}",)
                _log.warning("%s: %s", path, notices[0])
            if db is None:
                db = stack.enter_context(self._in_memory())
            yield SqliteStore(db, self._alive, notices)

    @contextmanager
    def empty(self) -> Iterator[SqliteStore]:
        """Open an empty store in memory."""
        with self._in_memory() as db:
            yield SqliteStore(db, self._alive)

    def create_home(self, home: Path) -> None:
        """Create the data folder (0700), its database and its housekeeping folders: the `CreateDataFolder` effect."""
        with _explained_access(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in HOUSEKEEPING:
                if name.endswith("/"):
                    (home / name).mkdir(mode=0o700, exist_ok=True)
        with self.writing(home):
            pass

    def _open_for_change(self, stack: ExitStack, path: Path) -> Database:
        """Create the file where it is missing, lead it to the newest version, and see that it can be read."""
        _refuse_foreign_logs(path)
        _create_private(path)
        with ExitStack() as opening:
            db = opening.enter_context(self._session(path, str(path)))
            try:
                for name, value in _WRITING_PRAGMAS.items():
                    db.sql_patiently(f"PRAGMA {name} = {value}")
                if _version(db) != SCHEMA_VERSION:
                    with db.transaction():
                        check_version(_version(db), str(path))
                        migrate(db, _version(db))
                _check(db, path)
            except DatabaseDamaged:
                _rescue_log(path)
                raise
            stack.push(opening.pop_all())
        return db

    @contextmanager
    def _in_memory(self) -> Iterator[Database]:
        with self._session(Path(":memory:"), ":memory:") as db:
            migrate(db, 0)
            yield db

    def _open_for_reading(self, stack: ExitStack, path: Path) -> Database | None:
        """Open in place, or as a private copy when that looks damaged.

        A file at rest that a writer woke up in between can look torn; its private copy does not.
        """
        with ExitStack() as opening:
            try:
                db = self._open_untouched(opening, path)
            except DatabaseDamaged:
                opening.close()
                db = self._open_untouched(opening, path, copied=True)
            stack.push(opening.pop_all())
        return db

    def _open_untouched(self, stack: ExitStack, path: Path, *, copied: bool = False) -> Database | None:
        """Open without a trace; None for a file whose creation was cut short.

        A file of an older version is led to the newest in a private copy, so that a plan can be made before the first
        confirmed run renews the file itself.
        """
        with _explained_access(path):
            uri = stack.enter_context(private_copy(path) if copied else at_rest(path))
        db = stack.enter_context(self._session(path, uri))
        version = _version(db)
        check_version(version, str(path))
        if version == 0 and not db.sql("SELECT 1 FROM sqlite_master"):
            return None
        if version < SCHEMA_VERSION and not copied:
            return self._open_untouched(stack, path, copied=True)
        if version < SCHEMA_VERSION:
            with db.transaction():
                migrate(db, version)
        _check(db, path)
        return db

    @contextmanager
    def _session(self, path: Path, target: str) -> Iterator[Database]:
        engine = peewee.SqliteDatabase(
            target,
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


def _version(db: Database) -> int:
    return db.sql_patiently("PRAGMA user_version")[0][0]


def _check(db: Database, path: Path) -> None:
    """Raise `DatabaseDamaged` for a broken file; a large one is looked at in its schema only."""
    db.sql("SELECT COUNT(*) FROM sqlite_master")
    db.sql("SELECT number FROM operations_head")
    if path.stat().st_size <= QUICK_CHECK_BYTES:
        found = db.sql("PRAGMA quick_check(1)")[0][0]
        if found != "ok":
            raise DatabaseDamaged(f"the database is damaged ({found})", DAMAGED_REMEDY, str(path))


def _set_aside(path: Path, inode: int | None) -> tuple[str, ...]:
    """Rename a damaged file and its log to a free name; return what to tell.

    Nothing is done when another program was faster and the file is not the one that was found damaged.
    """
    if _inode(path) != inode:
        return ()
    number = 1
    while (aside := path.with_name(f"{path.name}{SET_ASIDE}{number}")).exists():
        number += 1
    for suffix, new_suffix in (
        ("", ""),
        ("-journal", "-journal"),
        ("-shm", "-shm"),
        ("-wal", "-wal"),
        (_RESCUED, "-wal"),
    ):
        try:
            path.with_name(path.name + suffix).replace(aside.with_name(aside.name + new_suffix))
        except FileNotFoundError:
            continue
    notice = f"the database was damaged; it was set aside as {aside.name}, and a new one was begun"
    _log.warning("%s: %s", path, notice)
    return (notice,)


def _rescue_log(path: Path) -> None:
    """Copy the log of a damaged file before SQLite removes it on closing."""
    try:
        shutil.copyfile(path.with_name(path.name + "-wal"), path.with_name(path.name + _RESCUED))
    except FileNotFoundError:
        return


def _set_aside_if_damaged(db: Database, path: Path, inode: int | None) -> None:
    """Keep a file from being served again whose damage showed while it was used."""
    if db.damaged:
        _set_aside(path, inode)


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


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


def _refuse_foreign_logs(path: Path) -> None:
    """Raise `InputError` for a log that is no file, or a journal that would have SQLite delete another file."""
    for suffix in (*BESIDE, _RESCUED):
        log = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(log.lstat().st_mode):
                raise InputError("a log of the database is not a regular file", "move it away", str(log))
    journal = path.with_name(path.name + JOURNAL)
    with _explained_access(journal):
        if ends_in_name(journal):
            what = "the journal beside the database names another file, which opening it would delete"
            raise InputError(what, "it is not of this program; move it away", str(journal))


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
