"""Opening the database: reading leaves no trace, and every fault is told by its true cause (known fault B73)."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import peewee
import pytest

from ltmem_gui.domain.errors import DatabaseDamaged, InputError
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.store import opening
from ltmem_gui.store.database import Database
from ltmem_gui.store.failures import explain, primary_code
from ltmem_gui.store.opening import DATABASE_NAME, SqliteStores
from ltmem_gui.store.schema import MIGRATIONS, SCHEMA_VERSION
from tests.helpers.guard import Guard
from tests.helpers.stores import ME, NOW, Home, a_job, a_receipt, claimed, extracted
from tests.helpers.waiting import PATIENCE_SECONDS


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@pytest.fixture
def no_temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give private copies a folder of their own, to see that they are removed."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# --- reading leaves no trace ---


def test_reading_a_missing_folder_is_an_empty_store(tmp_path: Path, guard: Guard) -> None:
    guard.protect(tmp_path / "home")
    with SqliteStores().reading(tmp_path / "home") as store:
        assert store.outputs() == ()
        assert store.jobs() == ()
        assert store.receipts() == ()
        assert store.verify_log() is None
        assert store.watermark() == 0
        assert store.notices == ()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_is_in_memory_only(home: Home) -> None:
    with home.stores.empty() as store:
        extracted(store)
        assert len(store.outputs()) == 1
    with home.stores.reading(home.path) as store:
        assert store.outputs() == ()


def test_reading_a_folder_without_database_creates_none(tmp_path: Path) -> None:
    with SqliteStores().reading(tmp_path) as store:
        assert store.jobs() == ()
    assert list(tmp_path.iterdir()) == []


def test_reading_a_database_at_rest_touches_nothing(home: Home, guard: Guard, no_temporary: Path) -> None:
    with home.open() as store:
        extracted(store)
    before = home.files()
    assert list(before) == [DATABASE_NAME]
    guard.protect(home.path)
    with home.stores.reading(home.path) as store:
        assert [row.thread_id for row in store.outputs()] == ["t1"]
        assert len(store.jobs()) == 2
        assert home.files() == before
        assert list(no_temporary.iterdir()) == []
    assert home.files() == before


def test_reading_beside_a_writer_sees_what_it_stored_and_touches_nothing(
    home: Home, guard: Guard, no_temporary: Path
) -> None:
    with home.open() as writer:
        extracted(writer)
        before = home.files()
        assert f"{DATABASE_NAME}-wal" in before
        guard.protect(home.path)
        with home.stores.reading(home.path) as store:
            assert [row.thread_id for row in store.outputs()] == ["t1"]
            copies = list(no_temporary.iterdir())
            assert len(copies) == 1
            assert stat.S_IMODE(copies[0].stat().st_mode) == 0o700
        assert home.files() == before
        assert list(no_temporary.iterdir()) == []
        guard.roots.clear()


def test_reading_what_a_killed_writer_left_behind_sees_it_and_changes_nothing(home: Home) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from tests.helpers.stores import Home, extracted\n"
        "with Home(Path(sys.argv[1])).open() as store:\n"
        "    extracted(store); os.kill(os.getpid(), 9)\n"
    )
    child = subprocess.run([sys.executable, "-c", code, str(home.path)], check=False)
    assert child.returncode == -9
    before = home.files()
    assert f"{DATABASE_NAME}-wal" in before
    with home.stores.reading(home.path) as store:
        assert [row.thread_id for row in store.outputs()] == ["t1"]
    assert home.files() == before
    with home.open() as store:
        assert [row.thread_id for row in store.outputs()] == ["t1"]
    assert list(home.files()) == [DATABASE_NAME]


def test_a_reader_refuses_a_writer_that_never_rests(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.store.snapshot._PAUSE_SECONDS", 0)
    with home.open():
        monkeypatch.setattr("ltmem_gui.store.snapshot._mark", lambda _path: (time.perf_counter_ns(),))
        with pytest.raises(InputError, match="keeps writing"), home.stores.reading(home.path):
            raise AssertionError


def test_a_file_that_looks_torn_is_read_again_as_a_copy(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with home.open() as store:
        extracted(store)
    torn = home.path / "torn.sqlite"
    torn.write_bytes(b"not a database" * 100)
    monkeypatch.setattr("ltmem_gui.store.opening.at_rest", lambda _path: closing_uri(torn))
    with home.stores.reading(home.path) as store:
        assert len(store.outputs()) == 1


def closing_uri(path: Path) -> object:
    return nullcontext(f"file:{path}?mode=ro&immutable=1")


def test_a_database_whose_creation_was_cut_short_reads_as_empty(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).touch()
    with SqliteStores().reading(tmp_path) as store:
        assert store.jobs() == ()
    with SqliteStores().writing(tmp_path) as store:
        store.record_receipt(a_receipt())
    with SqliteStores().reading(tmp_path) as store:
        assert len(store.receipts()) == 1


# --- creating and writing ---


def test_the_data_folder_and_its_files_are_for_one_person_only(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home").create()
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    with home.open() as store:
        claimed(store)
        assert len(home.files()) == 3
        for name in home.files():
            assert stat.S_IMODE((home.path / name).stat().st_mode) == 0o600, name
    home.create()
    with home.stores.reading(home.path) as store:
        assert len(store.jobs()) == 1


def test_closing_removes_the_log(home: Home) -> None:
    with home.open() as store:
        claimed(store)
        assert len(home.files()) == 3
    assert list(home.files()) == [DATABASE_NAME]
    with suppress(KeyError), home.open() as store:
        claimed(store, "t2")
        raise KeyError
    assert list(home.files()) == [DATABASE_NAME]


def test_writing_needs_the_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"), SqliteStores().writing(tmp_path / "home"):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_database_that_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    other = Home(tmp_path / "other").create()
    mine = tmp_path / "mine"
    mine.mkdir()
    if kind == "link":
        (mine / DATABASE_NAME).symlink_to(other.database)
    else:
        (mine / DATABASE_NAME).mkdir()
    for opened in (SqliteStores().writing, SqliteStores().reading):
        with pytest.raises(InputError, match="not a regular file"), opened(mine):
            raise AssertionError


def test_the_schema_has_the_columns_of_codex_and_a_version(home: Home) -> None:
    assert home.sql("PRAGMA user_version") == [(SCHEMA_VERSION,)]
    jobs = [row[1] for row in home.sql("PRAGMA table_info(jobs)")]
    assert " ".join(jobs[:13]) == (
        "kind job_key status worker_id ownership_token started_at finished_at lease_until retry_at retry_remaining"
        " last_error input_watermark last_success_watermark"
    )
    outputs = [row[1] for row in home.sql("PRAGMA table_info(stage1_outputs)")]
    assert " ".join(outputs[:10]) == (
        "thread_id source_updated_at raw_memory rollout_summary rollout_slug generated_at usage_count last_usage"
        " selected_for_phase2 selected_for_phase2_source_updated_at"
    )


def test_a_newer_database_is_refused_in_words(home: Home) -> None:
    home.sql(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    for opened in (home.stores.writing, home.stores.reading):
        with pytest.raises(InputError, match="newer version"), opened(home.path):
            raise AssertionError


def test_parts_of_the_store_do_not_shadow_each_other() -> None:
    from ltmem_gui.store.store import SqliteStore

    seen: dict[str, type] = {}
    for part in SqliteStore.__mro__[1:-1]:
        for name in vars(part):
            if not name.startswith("__"):
                assert name not in seen, f"{name} of {part.__name__} hides that of {seen[name].__name__}"
                seen[name] = part


# --- locked, damaged, read-only ---


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltmem_gui.store.opening.BUSY_SECONDS", 0.2)


def test_b73_a_lock_that_ends_is_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("opening", "database"):
        monkeypatch.setattr(f"ltmem_gui.store.{module}.BUSY_SECONDS", PATIENCE_SECONDS)
    with closing(sqlite3.connect(home.database, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.4, other.execute, ("COMMIT",))
        timer.start()
        with home.open() as store:
            claimed(store)
            assert not other.in_transaction
        timer.join()


def test_b73_a_lock_that_stays_is_called_locked_and_names_the_holder(home: Home, impatient: None) -> None:
    code = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN EXCLUSIVE')\n"
        "print('held', flush=True); sys.stdin.readline(); c.close()\n"
    )
    argv = [sys.executable, "-c", code, str(home.database)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        before = home.database.stat().st_ino
        with pytest.raises(InputError) as caught, home.open() as store:
            claimed(store)
        assert "locked by" in caught.value.what
        assert f"process {child.pid}" in caught.value.what
        assert caught.value.where == str(home.database)
        child.communicate("\n")
    with home.open() as store:
        claimed(store)
    assert home.database.stat().st_ino == before


def test_a_lock_of_this_very_program_is_named_so(home: Home, impatient: None) -> None:
    with closing(sqlite3.connect(home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="locked by this program itself"), home.open() as store:
            claimed(store)


def damage(home: Home) -> bytes:
    data = bytearray(home.database.read_bytes())
    data[100:200] = b"\xa5" * 100
    home.database.write_bytes(bytes(data))
    return bytes(data)


@pytest.mark.log_expected
def test_b73_a_damaged_file_is_called_damaged_and_only_set_aside_when_writing(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    memory = home.path.parent / "memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text("kept")
    bytes_before = damage(home)
    (home.path / f"{DATABASE_NAME}-wal").write_bytes(b"old log")
    before = home.files()
    with pytest.raises(DatabaseDamaged, match="damaged"), home.stores.reading(home.path, strict=True):
        raise AssertionError
    assert home.files() == before
    with home.stores.reading(home.path) as store:
        assert "damaged" in store.notices[0]
        assert store.outputs() == ()
    assert home.files() == before
    assert "read as empty" in caplog.text
    with home.open() as store:
        assert "damaged" in store.notices[0]
        assert f"{DATABASE_NAME}.damaged-1" in store.notices[0]
        assert store.outputs() == ()
        extracted(store)
    aside = home.path / f"{DATABASE_NAME}.damaged-1"
    assert aside.read_bytes() == bytes_before
    assert (home.path / f"{DATABASE_NAME}.damaged-1-wal").read_bytes() == b"old log"
    assert (memory / "MEMORY.md").read_text() == "kept"
    with home.open() as store:
        assert store.notices == ()
        assert len(store.outputs()) == 1
    damage(home)
    with home.open() as store:
        assert "damaged-2" in store.notices[0]


@pytest.mark.log_expected
@pytest.mark.parametrize("content", [b"plain text\n" * 500, b"\0" * 8192])
def test_a_file_that_is_no_database_is_called_damaged(home: Home, content: bytes) -> None:
    home.database.write_bytes(content)
    with pytest.raises(DatabaseDamaged), home.stores.reading(home.path, strict=True):
        raise AssertionError
    with home.open() as store:
        assert store.notices


@pytest.mark.log_expected
def test_damage_inside_a_table_is_found_at_once(home: Home) -> None:
    with home.open() as store:
        for n in range(200):
            extracted(store, f"t{n:03}", raw_memory="x" * 2000)
    data = bytearray(home.database.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    home.database.write_bytes(bytes(data))
    with pytest.raises(DatabaseDamaged), home.stores.reading(home.path, strict=True):
        raise AssertionError
    with home.open() as store:
        assert store.notices


@pytest.mark.log_expected
def test_damage_that_shows_during_a_run_sets_the_file_aside_at_its_end(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with home.open() as store:
        for n in range(200):
            extracted(store, f"t{n:03}", raw_memory="x" * 2000)
    data = bytearray(home.database.read_bytes())
    for page in range(len(data) // 8192, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    home.database.write_bytes(bytes(data))
    monkeypatch.setattr("ltmem_gui.store.opening.QUICK_CHECK_BYTES", 0)
    with pytest.raises(DatabaseDamaged), home.open() as store:
        store.outputs()
    assert (home.path / f"{DATABASE_NAME}.damaged-1").exists()
    with home.open() as store:
        assert store.outputs() == ()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights work otherwise here")
def test_b73_a_read_only_folder_is_called_read_only() -> None:
    """Runs in a child without privileges, since rights do not bind the superuser."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from ltmem_gui.domain.errors import InputError\n"
        "from ltmem_gui.store.opening import SqliteStores\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    with SqliteStores().writing(Path(sys.argv[1])) as store: store.enqueue_global(1)\n"
        "except InputError as error: print(error)\n"
        "with SqliteStores().reading(Path(sys.argv[1])) as store: print(len(store.receipts()))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home").create()
        with home.open() as store:
            store.record_receipt(a_receipt())
        Path(folder).chmod(0o755)
        home.database.chmod(0o444)
        home.path.chmod(0o555)
        child = subprocess.run(
            [sys.executable, "-c", code, str(home.path)], check=False, capture_output=True, text=True
        )
        home.path.chmod(0o700)
        assert child.returncode == 0, child.stderr
        told, receipts = child.stdout.strip().split("\n")
        assert "read-only" in told
        assert receipts == "1"
        assert list(home.files()) == [DATABASE_NAME]


def test_a_home_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError):
        SqliteStores().create_home(tmp_path / "file")
    with pytest.raises(InputError):
        SqliteStores().create_home(tmp_path / "file" / "below")


def test_a_file_system_without_rights_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code, word in ((errno.EACCES, "no right"), (errno.EROFS, "read-only"), (errno.EIO, "Input/output")):

        def refuse(*_args: object, code: int = code, **_more: object) -> None:
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patch:
            patch.setattr(Path, "mkdir", refuse)
            with pytest.raises(InputError, match=word):
                SqliteStores().create_home(tmp_path / "home")


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (sqlite3.SQLITE_BUSY, "locked by somebody"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "locked by somebody"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_NOTADB, "damaged"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "read-only"),
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_IOERR_READ, "cannot be opened"),
    ],
)
def test_every_code_has_its_word(code: int, word: str) -> None:
    error = sqlite3.OperationalError("text of sqlite")
    error.sqlite_errorcode = code
    known = explain(error, Path("/db"), lambda _path: ["somebody"])
    assert known is not None
    assert word in known.what


def test_a_lock_inside_a_run_is_told_too_and_leaves_the_store_usable(home: Home, impatient: None) -> None:
    with home.open() as store, closing(sqlite3.connect(home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="locked"):
            claimed(store)
        with pytest.raises(InputError, match="locked"):
            store.heartbeat_stage1(Claim("t1", "token", ME, 1, 1, 1), NOW)
        other.execute("COMMIT")
        claimed(store)


def test_opening_waits_for_the_change_to_write_ahead_logging(
    home: Home, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    monkeypatch.setattr("ltmem_gui.store.database.BUSY_SECONDS", 0.2)
    home.sql("PRAGMA journal_mode = delete")
    with closing(sqlite3.connect(home.database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="locked"), home.open():
            raise AssertionError
        other.execute("COMMIT")
    with home.open() as store:
        claimed(store)


def test_a_commit_that_fails_is_told_and_stores_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_engine: peewee.Database) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with home.open() as store:
        with monkeypatch.context() as patch:
            patch.setattr(peewee.Database, "commit", fail)
            with pytest.raises(InputError, match="disk is full"):
                claimed(store)
        assert store.jobs() == ()
        claimed(store)


def test_an_older_database_is_read_as_a_renewed_copy_until_it_is_renewed_itself(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltmem_gui.store.schema.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr("ltmem_gui.store.opening.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setitem(MIGRATIONS, SCHEMA_VERSION + 1, ("ALTER TABLE jobs ADD COLUMN more TEXT",))
    before = home.files()
    with home.stores.reading(home.path) as store:
        assert store.jobs() == ()
        assert store._db.sql("SELECT more FROM jobs") == []
    assert home.files() == before
    with home.open() as store:
        claimed(store)
    assert home.sql("PRAGMA user_version") == [(SCHEMA_VERSION + 1,)]
    with home.stores.reading(home.path) as store:
        assert len(store.jobs()) == 1


def test_a_file_that_another_program_renewed_is_not_set_aside(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(home)
    check = opening._check
    found: list[str] = []

    def be_faster(db: Database, path: Path) -> None:
        if not found:
            found.append(path.name)
            path.unlink()
            Home(home.path).create()
            raise DatabaseDamaged("damaged")
        check(db, path)

    Path(home.database).unlink()
    home.create()
    monkeypatch.setattr(opening, "_check", be_faster)
    with home.open() as store:
        assert store.notices == ()
    assert found == [DATABASE_NAME]
    assert [name for name in home.files() if "damaged" in name] == []


def test_a_file_that_another_program_created_first_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path / "home").create()
    monkeypatch.setattr(Path, "exists", lambda path: False if path.name == DATABASE_NAME else os.path.lexists(path))
    opening._create_private(home.database)


def test_a_folder_that_may_not_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> os.stat_result:
        raise PermissionError

    monkeypatch.setattr(Path, "lstat", refuse)
    with pytest.raises(InputError, match="cannot be read"), SqliteStores().reading(tmp_path):
        raise AssertionError


def test_errors_of_ours_stay_bugs(home: Home) -> None:
    assert explain(sqlite3.OperationalError("no code"), Path("/db"), lambda _path: []) is None
    assert primary_code(ValueError("x")) is None
    with home.open() as store, pytest.raises(Exception, match="no such table") as caught:
        store._db.sql("SELECT * FROM nowhere")
    assert not isinstance(caught.value, InputError)


def test_a_store_belongs_to_the_thread_that_opened_it(home: Home) -> None:
    failures: list[BaseException] = []

    def use(store: object) -> None:
        try:
            store.jobs()  # type: ignore[attr-defined]
        except peewee.InterfaceError as error:
            failures.append(error)

    with home.open() as store:
        thread = threading.Thread(target=use, args=(store,))
        thread.start()
        thread.join()
        assert store.claim_stage1(a_job(), ME, now=NOW, cap=8).claim is not None
    assert len(failures) == 1
