"""One connection to the database of a data folder: transactions, rows, and errors in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import peewee

from ltmem_gui.domain.errors import DatabaseDamaged, KnownError
from ltmem_gui.store.failures import DATABASE_ERRORS, Holders, explain, is_locked

BUSY_SECONDS = 5.0
_PAUSE_SECONDS = 0.005
# half of what SQLite holds, so that a sum of two still fits
_LARGEST = 2**62


class Transaction:
    """Hold one write transaction; a class and no generator, since claims open thousands a second."""

    __slots__ = ("_inner", "_told")

    def __init__(self, engine: peewee.SqliteDatabase, told: Callable[[Exception], KnownError | None]) -> None:
        self._inner = engine.transaction("IMMEDIATE")
        self._told = told

    def __enter__(self) -> None:
        try:
            self._inner.__enter__()
        except DATABASE_ERRORS as error:
            if (known := self._told(error)) is None:
                raise
            raise known from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._inner.__exit__(kind, error, trace)
        except DATABASE_ERRORS as failure:
            if (known := self._told(failure)) is None:
                raise
            raise known from failure


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
        except DATABASE_ERRORS as error:
            if (known := self.told(error)) is None:
                raise
            raise known from error

    def told(self, error: Exception) -> KnownError | None:
        """Return the known error that a database error is, None where it is a bug of ours."""
        known = explain(error, self._path, self._holders)
        self._damaged = self._damaged or isinstance(known, DatabaseDamaged)
        return known

    def transaction(self) -> Transaction:
        """Hold the write lock from the first statement on: all of the block is stored, or nothing.

        Deferred transactions fail at once on the upgrade from read to write, whatever the busy timeout.
        """
        return Transaction(self._engine, self.told)

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
        try:
            return self._engine.execute_sql(statement, params).fetchall()
        except DATABASE_ERRORS as error:
            if (known := self.told(error)) is None:
                raise
            raise known from error

    def sql_patiently(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement of opening, again and again while the file is locked.

        SQLite's own busy timeout covers neither the change to write-ahead logging nor the moment in which the last
        program that closes the file removes its log.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        with self.explained():
            while True:
                try:
                    return self._engine.execute_sql(statement).fetchall()
                except peewee.OperationalError as error:
                    if not is_locked(error) or time.monotonic() >= deadline:
                        raise
                time.sleep(_PAUSE_SECONDS)

    def change(self, statement: str, params: Sequence[Any] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        try:
            return self._engine.execute_sql(statement, params).rowcount
        except DATABASE_ERRORS as error:
            if (known := self.told(error)) is None:
                raise
            raise known from error

    def rows(self, query: Any) -> list[tuple[Any, ...]]:
        """Run a peewee query and return its rows as tuples, at the price of the SQL alone."""
        statement, params = self._engine.get_sql_context().parse(query)
        return self.sql(statement, params)

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


def storable_number(number: int) -> int:
    """Return a number that SQLite can hold; what lies beyond, which only hostile input holds, becomes the limit."""
    return max(-_LARGEST, min(number, _LARGEST))
