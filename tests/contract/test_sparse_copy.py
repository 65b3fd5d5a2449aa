"""Files whose length says nothing of what they hold: holes are not copied, and more than agreed on is refused."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled, InputError
from ltmem_gui.sources import codex_db
from ltmem_gui.sources.codex_db import private_copy, read_threads
from ltmem_gui.sources.sparse_copy import LONGEST, copy_sparse

MIB = 1 << 20


def on_disk(path: Path | str) -> int:
    return Path(path).stat().st_blocks * 512


def database(folder: Path, length: int) -> str:
    """Write a database of one thread, and a hole behind it up to this length."""
    path = folder / "state_5.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE threads (id TEXT, source TEXT)")
        made.execute("INSERT INTO threads VALUES ('t1', 'cli')")
        made.commit()
    os.truncate(path, length)
    return str(path)


def holed(path: Path, *parts: tuple[int, bytes], length: int) -> str:
    with path.open("wb") as file:
        for start, data in parts:
            file.seek(start)
            file.write(data)
        file.truncate(length)
    return str(path)


def test_the_hole_of_a_database_is_not_copied(tmp_path: Path) -> None:
    path = database(tmp_path, 64 * MIB)
    with private_copy(path) as connection:
        (copy,) = (row["file"] for row in connection.execute("PRAGMA database_list"))
        assert Path(copy).stat().st_size == 64 * MIB
        assert on_disk(copy) < MIB
        assert connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) < 2 * MIB  # a value is no longer than what is held
    os.truncate(path, LONGEST)
    assert list(read_threads(path)) == ["t1"]


def test_more_than_was_agreed_on_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path, 64 * MIB)
    monkeypatch.setattr(codex_db, "MOST_COPIED", 4_000)
    with pytest.raises(InputError, match="more data than is left of the 4 GiB of a private copy"):
        read_threads(path)


def test_a_log_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path, 8_192)
    (tmp_path / "state_5.sqlite-wal").write_bytes(b"x" * 5_000)
    monkeypatch.setattr(codex_db, "MOST_COPIED", 10_000)
    with pytest.raises(InputError, match="more data") as refused:
        read_threads(path)
    assert refused.value.where.endswith("-wal")


def test_a_length_beyond_all_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path, LONGEST + 1)
    with pytest.raises(InputError, match="longer than 64 GiB, holes and all"):
        read_threads(path)


@pytest.mark.parametrize(
    ("parts", "length"),
    [
        ((), 0),
        ((), 3 * MIB),
        (((0, b"a" * 10),), 10),
        (((0, b"a" * MIB), (2 * MIB, b"b" * MIB + b"c")), 5 * MIB),
        (((MIB, b"a" * 4_096),), MIB + 4_096),
        (((7, b"a"), (3 * MIB + 1, b"b" * 3)), 3 * MIB + 4),
    ],
)
@pytest.mark.parametrize("system", ["holes", "no holes here", "no holes at all"])
def test_a_copy_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: tuple[tuple[int, bytes], ...], length: int, system: str
) -> None:
    source, target = holed(tmp_path / "source", *parts, length=length), tmp_path / "target"
    if system == "no holes at all":
        monkeypatch.delattr(os, "SEEK_DATA")
    elif system == "no holes here":
        found = os.lseek

        def lseek(handle: int, start: int, how: int) -> int:
            if how == os.SEEK_DATA:
                raise OSError(errno.EINVAL, "no such thing")
            return found(handle, start, how)

        monkeypatch.setattr(os, "lseek", lseek)
    copied = copy_sparse(source, target)
    assert target.read_bytes() == Path(source).read_bytes()
    assert copied == length if system != "holes" else copied <= max(on_disk(source), length)
    if system == "holes":
        assert on_disk(target) <= on_disk(source)


def test_a_file_that_is_cut_meanwhile_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = holed(tmp_path / "source", (0, b"a" * 2 * MIB), length=2 * MIB)
    read = os.read

    def cut(handle: int, count: int) -> bytes:
        os.truncate(source, MIB)
        return read(handle, count)

    monkeypatch.setattr(os, "read", cut)
    assert copy_sparse(source, tmp_path / "target") == MIB


def test_a_wish_to_stop_ends_a_copy(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    source = holed(tmp_path / "source", (0, b"a"), length=1)
    with pytest.raises(Cancelled):
        copy_sparse(source, tmp_path / "target", cancel=cancel)


@pytest.mark.parametrize("how", ["SEEK_DATA", "write"])
def test_what_the_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    source = holed(tmp_path / "source", (0, b"a"), length=1)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "lseek" if how == "SEEK_DATA" else "write", full)
    with pytest.raises(InputError, match="cannot be copied: No space left on device"):
        copy_sparse(source, tmp_path / "target")
