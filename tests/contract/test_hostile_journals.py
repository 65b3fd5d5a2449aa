"""Looking at databases never deletes a file that a journal beside them names (SQLite file format §3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.side_files import NAME_MARK, names_another_file
from ltmem_gui.sources import codex_db
from ltmem_gui.sources.codex_db import list_threads, private_copy, read_threads
from ltmem_gui.sources.codex_memories import memories_beside, memories_of
from ltmem_gui.sources.foreign_tables import Bound
from ltmem_gui.sources.index import FILE_NAME, IndexedFile, ScanIndex
from ltmem_gui.store.opening import DATABASE_NAME, SqliteStores
from tests.helpers.codex_home import CodexHome, kept
from tests.helpers.hot_journal import name_in_journal
from tests.helpers.stores import Home, extracted

LOOKS: dict[str, Callable[[Path], object]] = {
    "memories_1.sqlite": lambda home: memories_of(home, 1),
    "state_5.sqlite": lambda home: read_threads(str(home / "state_5.sqlite")),
    "thread_history_1.sqlite": lambda home: list_threads(str(home / "thread_history_1.sqlite")),
}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "precious.txt"
    path.write_text("mine\n")
    return path


def at_rest(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("CREATE TABLE IF NOT EXISTS t (x)")
        database.commit()


@pytest.mark.parametrize("name", LOOKS)
def test_a_database_of_codex(tmp_path: Path, victim: Path, name: str) -> None:
    codex = CodexHome(tmp_path / "codex").create()
    codex.keep(kept("t", 5))
    at_rest(codex.path / name)
    name_in_journal(codex.path / name, victim)
    before = codex.look()
    assert LOOKS[name](codex.path) is not None
    assert victim.exists()
    assert codex.look() == before


def test_the_lease_beside_a_memory_folder(tmp_path: Path, victim: Path) -> None:
    codex = CodexHome(tmp_path / "codex").create()
    codex.keep(kept("t", 5))
    at_rest(codex.path / codex.memories)
    name_in_journal(codex.path / codex.memories, victim)
    assert memories_beside(codex.path / "memories", 1) is not None
    assert victim.exists()


def test_the_trap_is_one(tmp_path: Path, victim: Path) -> None:
    """Show that SQLite itself falls into it, so that the other tests can fail."""
    path = tmp_path / "x.sqlite"
    at_rest(path)
    name_in_journal(path, victim)
    with closing(sqlite3.connect(path)) as database:
        database.execute("SELECT * FROM t").fetchall()
    assert not victim.exists()


def test_a_journal_too_short_for_a_name_is_copied_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    at_rest(path)
    path.with_name("x.sqlite-journal").write_bytes(NAME_MARK[:3])
    with private_copy(str(path)) as copy:
        assert copy.execute("SELECT count(*) FROM t").fetchone()[0] == 0


def test_a_journal_that_lets_the_copy_grow_explains_no_more_work(tmp_path: Path, monkeypatch: Any) -> None:
    """A journal says how long the database was: the copy becomes that long, in holes, and the bound must not."""
    sizes: list[int] = []
    monkeypatch.setattr(codex_db, "Bound", lambda size, cancel: sizes.append(size) or Bound(size, cancel))
    path = tmp_path / "x.sqlite"
    at_rest(path)
    journal = name_in_journal(path, tmp_path / "none")
    data = bytearray(journal.read_bytes())
    data[16:20] = (1 << 20).to_bytes(4, "big")
    journal.write_bytes(data)
    with suppress(InputError), private_copy(str(path)):
        pass
    assert sizes
    assert max(sizes) == path.stat().st_size + len(data)


def test_reading_the_data_folder(tmp_path: Path, victim: Path) -> None:
    home = Home(tmp_path / "home").create()
    with home.open() as store:
        extracted(store)
    at_rest(home.path / DATABASE_NAME)
    name_in_journal(home.path / DATABASE_NAME, victim)
    before = home.files()
    with SqliteStores().reading(home.path) as store:
        assert len(store.outputs()) == 1
    assert victim.exists()
    assert home.files() == before


def test_changing_the_data_folder_is_refused(tmp_path: Path, victim: Path) -> None:
    home = Home(tmp_path / "home").create()
    at_rest(home.path / DATABASE_NAME)
    journal = name_in_journal(home.path / DATABASE_NAME, victim)
    with pytest.raises(InputError, match="names another file") as caught, home.open():
        pass
    assert caught.value.where == str(journal)
    assert victim.exists()
    journal.unlink()
    with home.open() as store:
        extracted(store)


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal", "-wal.rescued"])
def test_a_log_that_is_a_link_is_never_written_through(tmp_path: Path, victim: Path, suffix: str) -> None:
    home = Home(tmp_path / "home").create()
    (home.path / f"{DATABASE_NAME}{suffix}").symlink_to(victim)
    with pytest.raises(InputError, match="not a regular file"), home.open():
        pass
    assert victim.read_text() == "mine\n"


def test_the_scan_index(tmp_path: Path, victim: Path) -> None:
    path = tmp_path / FILE_NAME
    index = ScanIndex(path)
    index.remember([IndexedFile("/p", 1, 2, "codex", "t")])
    name_in_journal(path, victim)
    before = path.read_bytes()
    assert index.known() == {}
    assert index.paths_of("t") == ()
    with pytest.raises(InputError, match="a log beside it"):
        index.remember([IndexedFile("/q", 1, 2, "codex", "u")])
    assert victim.exists()
    assert path.read_bytes() == before


def test_looking_at_a_scan_index_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (x)")
    before = path.read_bytes()
    assert ScanIndex(path).known() == {}
    assert ScanIndex(path).paths_of("t") == ()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    still = path.read_bytes()
    assert ScanIndex(path).known() == {}
    assert path.read_bytes() == still
    assert [entry.name for entry in tmp_path.iterdir()] == [FILE_NAME]
    assert len(before) >= 20


def test_the_mark_of_a_name() -> None:
    assert names_another_file(NAME_MARK)
    assert not names_another_file(NAME_MARK[1:])
    assert not names_another_file(b"")
