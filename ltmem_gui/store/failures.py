"""Tell the true cause of a database error: locked, damaged, read-only, full, unreadable (known fault B73)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import peewee

from ltmem_gui.domain.errors import DatabaseDamaged, InputError, KnownError

DATABASE_ERRORS = (peewee.DatabaseError, peewee.InterfaceError, sqlite3.Error)
"""What comes from the database, wrapped by peewee or not."""

Holders = Callable[[Path], Sequence[str]]

DAMAGED_REMEDY = "the next confirmed run sets it aside and starts a new one; the memory folder is not touched"

_DEPTH = 10
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_READ_ONLY = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
_FULL = frozenset({sqlite3.SQLITE_FULL})
_UNREADABLE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_AUTH})


def primary_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code of an error, its cause or its context; None when it carries none."""
    seen: BaseException | None = error
    for _ in range(_DEPTH):
        if seen is None:
            break
        code = getattr(seen, "sqlite_errorcode", None)
        if isinstance(code, int):
            return code & 0xFF
        inner = seen.args[0] if seen.args and isinstance(seen.args[0], BaseException) else None
        seen = inner or seen.__cause__ or seen.__context__
    return None


def explain(error: BaseException, path: Path, holders: Holders) -> KnownError | None:
    """Return the known error that a database error is, None when it is a bug of ours (bad SQL, broken constraint)."""
    code = primary_code(error)
    where = str(path)
    if code in _LOCKED:
        names = ", ".join(holders(path)) or "another program"
        return InputError(f"the database is locked by {names}", "close it, or try again when it is done", where)
    if code in _DAMAGED:
        return DatabaseDamaged(
            f"the database is damaged ({_message(error)})",
            DAMAGED_REMEDY,
            where,
        )
    if code in _READ_ONLY:
        return InputError("the database is read-only", "make the data folder writable, or name another one", where)
    if code in _FULL:
        return InputError("the disk is full; nothing of this step was stored", "free some space and try again", where)
    if code in _UNREADABLE:
        return InputError(f"the database cannot be opened ({_message(error)})", "check the folder's rights", where)
    return None


def is_locked(error: BaseException) -> bool:
    """Tell whether another connection holds the file."""
    return primary_code(error) in _LOCKED


def _message(error: BaseException) -> str:
    return str(error.args[-1]) if error.args else type(error).__name__
