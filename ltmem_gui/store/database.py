"""One connection to the database of a data folder: transactions, rows, and errors in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import peewee

from ltmem_gui.domain.errors import DatabaseDamaged
from ltmem_gui.store.failures import Holders, explain, is_database_error

BUSY_SECONDS = 5.0


class Database:
    """Run SQL and peewee queries on one connection of one thread.

    Every method raises `InputError` with the true cause where the database itself is at fault.
    """

    def __init__(self, engine: peewee.SqliteDatabase, path: Path, holders: Holders) -> None:
        self._engine = engine
        self._path = path
        self._holders = holders
        self._damaged = False

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._path

    @property
    def damaged(self) -> bool:
        """Tell whether damage showed while it was used."""
        return self._damaged

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn database errors inside the block into known errors; bugs of ours pass as they are."""
        try:
            yield
        except Exception as error:
            known = explain(error, self._path, self._holders) if is_database_error(error) else None
            if known is None:
                raise
            self._damaged = self._damaged or isinstance(known, DatabaseDamaged)
            raise known from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock from the first statement on: all of the block is stored, or nothing.

        Deferred transactions fail at once on the upgrade from read to write, whatever the busy timeout.
        """
        with self.explained(), self._engine.atomic("IMMEDIATE"):
            yield

    @contextmanager
    def durable_transaction(self) -> Iterator[None]:
        """Hold a transaction whose commit survives a power loss too (receipts, the end of an apply)."""
        self.sql("PRAGMA synchronous = FULL")
        try:
            with self.transaction():
                yield
        finally:
            self.sql("PRAGMA synchronous = NORMAL")

    def sql(self, statement: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        with self.explained():
            return self._engine.execute_sql(statement, params).fetchall()

    def change(self, statement: str, params: Sequence[Any] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        with self.explained():
            return self._engine.execute_sql(statement, params).rowcount

    def rows(self, query: Any) -> list[tuple[Any, ...]]:
        """Run a peewee query and return its rows as tuples."""
        with self.explained():
            return list(query.tuples().execute(self._engine))

    def row(self, query: Any) -> tuple[Any, ...] | None:
        """Run a peewee query and return its first row."""
        return next(iter(self.rows(query.limit(1))), None)

    def run(self, query: Any) -> int:
        """Run a peewee INSERT, UPDATE or DELETE and return what peewee does: a key, or the number of rows."""
        with self.explained():
            return query.execute(self._engine)


def storable(text: str) -> str:
    """Return text that UTF-8 can hold: half characters, which JSON lets through, become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
