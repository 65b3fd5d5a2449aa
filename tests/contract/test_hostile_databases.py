"""Databases from elsewhere that ask for endless work: they end at a bound, on a wish to stop, or are never begun."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.sources import foreign_tables
from ltmem_gui.sources.codex_db import list_threads, load_thread, private_copy, read_threads
from ltmem_gui.sources.codex_memories import memories_of
from ltmem_gui.sources.foreign_tables import Bound, columns_of, rows_of

ENDLESS = "WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r)"


def made(path: Path, *statements: str) -> str:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return str(path)


def view(table: str, *columns: str) -> str:
    return f"CREATE VIEW {table} AS {ENDLESS} SELECT " + ", ".join(f"id AS {name}" for name in columns) + " FROM r"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """End endless work soon, so that a fault shows as a wrong message and not as a full memory."""
    monkeypatch.setattr(foreign_tables, "_FREE_STEPS", 20_000_000)


def test_a_view_is_no_table(tmp_path: Path) -> None:
    assert read_threads(made(tmp_path / "state_5.sqlite", view("threads", "id"))) == {}
    path = made(
        tmp_path / "thread_history_1.sqlite",
        view("thread_items", "thread_id", "item_json"),
        view("thread_turns", "thread_id", "turn_id", "status"),
    )
    assert list_threads(path) == []
    with pytest.raises(InputError, match="no items of sessions"):
        load_thread(RolloutRef("codex", path, 1, 1, "1"))
    jobs = ("kind", "job_key", "status", "worker_id", "lease_until", "last_success_watermark")
    rows = ("thread_id", "source_updated_at", "raw_memory", "rollout_summary")
    made(tmp_path / "memories_1.sqlite", view("jobs", *jobs), view("stage1_outputs", *rows))
    assert memories_of(tmp_path, 1) is None


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sqlite_master SET type = 'table'",
        "UPDATE sqlite_master SET type = 'table', sql = 'CREATE TABLE threads AS SELECT 1 AS id'",
        "UPDATE sqlite_master SET type = 'table', rootpage = 2",
    ],
)
def test_a_view_that_says_it_is_a_table_is_none(tmp_path: Path, change: str) -> None:
    path = made(
        tmp_path / "state_5.sqlite", "CREATE TABLE t (x)", view("threads", "id"), "PRAGMA writable_schema = ON", change
    )
    assert outcome(path) in ("{}", "malformed")  # SQLite itself may see through it


def outcome(path: str) -> str:
    try:
        return str(read_threads(path))
    except InputError as error:
        return "malformed" if "malformed" in error.what else error.what


def test_a_table_of_an_extension_is_no_table(tmp_path: Path) -> None:
    path = made(tmp_path / "state_5.sqlite", "CREATE VIRTUAL TABLE threads USING fts5(id)")
    assert read_threads(path) == {}


def test_only_stored_columns_are_read(tmp_path: Path) -> None:
    path = made(
        tmp_path / "state_5.sqlite",
        'CREATE TABLE threads (id TEXT, "a ""b" TEXT, title TEXT AS (hex(zeroblob(4))))',
        "INSERT INTO threads VALUES ('t', 'x')",
    )
    assert list(read_threads(path)) == ["t"]
    with private_copy(path) as copy:
        assert columns_of(copy, "threads") == ("id", 'a "b')
        assert rows_of(copy, "threads") == [{"id": "t", 'a "b': "x"}]
        assert rows_of(copy, "nothing") == []


def endless(path: str, cancel: CancelToken, *, stop: bool = False) -> None:
    with private_copy(path, cancel) as copy:
        if stop:
            cancel.cancel()
        copy.execute(f"{ENDLESS} SELECT count(*) FROM r").fetchone()


def test_work_without_end_is_ended(tmp_path: Path) -> None:
    path = made(tmp_path / "state_5.sqlite", "CREATE TABLE threads (id)")
    with pytest.raises(InputError, match="more work than its size explains"):
        endless(path, CancelToken())


def test_a_wish_to_stop_ends_it(tmp_path: Path) -> None:
    path = made(tmp_path / "state_5.sqlite", "CREATE TABLE threads (id)")
    with pytest.raises(Cancelled):
        endless(path, CancelToken(), stop=True)


def test_a_scan_hands_its_wish_on(tmp_path: Path) -> None:
    """Whoever stops a scan does not wait for a check of a database that takes long."""
    rows = ", ".join(["('t')"] * 60_000)
    path = made(tmp_path / "state_5.sqlite", "CREATE TABLE threads (id)", f"INSERT INTO threads VALUES {rows}")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_threads(path, cancel)


def test_too_many_rows_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(
        tmp_path / "state_5.sqlite",
        "CREATE TABLE threads (id)",
        "CREATE TABLE thread_items (thread_id, item_json)",
        "INSERT INTO threads VALUES ('a'), ('b'), ('c')",
        "INSERT INTO thread_items VALUES ('a', '{}'), ('b', '{}'), ('c', '{}')",
    )
    monkeypatch.setattr(foreign_tables, "MOST_ROWS", 2)
    monkeypatch.setattr("ltmem_gui.sources.codex_db.MOST_ROWS", 2)
    for read in (read_threads, list_threads):
        with pytest.raises(InputError, match="more than 2 rows"):
            read(path)


def test_a_value_is_no_longer_than_the_file(tmp_path: Path) -> None:
    path = made(tmp_path / "state_5.sqlite", "CREATE TABLE threads (id)")
    with pytest.raises(InputError, match="too big"), private_copy(path) as copy:
        copy.execute("SELECT zeroblob(100000000)").fetchone()


def test_a_database_of_many_gigabytes_is_watched_too() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        Bound(1 << 40, None).watch(database)
        assert database.execute("SELECT 1").fetchone() == (1,)


def test_a_lease_of_words_has_no_end(tmp_path: Path) -> None:
    made(
        tmp_path / "memories_1.sqlite",
        "CREATE TABLE jobs (kind, job_key, status, worker_id, lease_until, last_success_watermark)",
        "INSERT INTO jobs VALUES ('memory_consolidate_global', 'global', 'running', 'w', 'soon', 1)",
    )
    found = memories_of(tmp_path, 1)
    assert found is not None
    assert found.lease is not None
    assert found.lease.until == 0
