"""Read tables of a database from elsewhere: it may hold anything that SQLite carries out, and is not believed.

Real tables only, for a view or a table of an extension computes what it likes, without end too; columns that are stored
only, for a generated one is computed; and no more rows, steps and bytes than its size can explain.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError
from ltmem_gui.sources.decoding import Record

MOST_ROWS = 1_000_000
_STEPS_AT_ONCE = 100_000
_FREE_STEPS = 100_000_000
_STEPS_PER_BYTE = 20
_FREE_BYTES = 1 << 20
_LONGEST_VALUE = 1_000_000_000
"""What SQLite itself allows at most, in bytes."""


class Bound:
    """End statements that a person does not wait for any more, or that ask for more work than `size` bytes explain."""

    def __init__(self, size: int, cancel: CancelToken | None) -> None:
        self._size = size
        self._cancel = cancel
        self._left = _FREE_STEPS + _STEPS_PER_BYTE * size

    def watch(self, connection: sqlite3.Connection) -> None:
        """Bind a connection."""
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(self._size + _FREE_BYTES, _LONGEST_VALUE))
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_progress_handler(self._ends, _STEPS_AT_ONCE)

    def cause(self, error: sqlite3.Error) -> str:
        """Return why a statement failed. Raises `Cancelled` when a person asked for the end."""
        if self._cancel is not None:
            self._cancel.check()
        return "it asks for more work than its size explains" if self._left <= 0 else str(error)

    def _ends(self) -> bool:
        self._left -= _STEPS_AT_ONCE
        return self._left <= 0 or (self._cancel is not None and self._cancel.cancelled)


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return the stored columns of a real table in their order, none where there is no such table."""
    # SQLite writes the text of every real table with just these words before its name.
    query = "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE"
    found = connection.execute(query, (table,)).fetchall()
    if [row["type"] for row in found] != ["table"] or not str(found[0]["sql"]).startswith("CREATE TABLE "):
        return ()
    return tuple(str(row["name"]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def rows_of(
    connection: sqlite3.Connection, table: str, *, where: str = "", order: str = "", params: Sequence[object] = ()
) -> list[Record]:
    """Return the rows of a real table. Raises `InputError` for more than `MOST_ROWS`."""
    columns = columns_of(connection, table)
    if not columns:
        return []
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    wanted = f" WHERE {where}" if where else ""
    sorted_by = f" ORDER BY {order}" if order else ""
    query = f"SELECT {names} FROM {table}{wanted}{sorted_by} LIMIT {MOST_ROWS + 1}"
    return not_too_many([dict(row) for row in connection.execute(query, tuple(params))], table)


def not_too_many(rows: list[Record], table: str) -> list[Record]:
    """Return the rows. Raises `InputError` for more than `MOST_ROWS`."""
    if len(rows) > MOST_ROWS:
        raise InputError(f"{table} holds more than {MOST_ROWS:,} rows", "name the rollout files themselves", table)
    return rows
