"""The audit guard itself must be able to see."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

from tests.helpers.guard import Guard


@pytest.fixture
def place(tmp_path: Path, guard: Guard) -> Path:
    place = tmp_path / "memory"
    place.mkdir()
    guard.protect(place)
    return place


def caught(guard: Guard) -> list[str]:
    found = list(guard.violations)
    guard.violations.clear()
    return found


def test_a_write_without_a_grant_is_seen(place: Path, guard: Guard) -> None:
    (place / "a").write_text("x")
    (place / "a").chmod(0o600)
    (place / "a").rename(place / "b")
    (place / "b").unlink()
    (place / "c").mkdir()
    sqlite3.connect(place / "d").close()
    events = [text.split()[0] for text in caught(guard)]
    assert events == ["open", "os.chmod", "os.rename", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect"]


def test_a_write_under_a_grant_is_not(place: Path, guard: Guard) -> None:
    with guard.grant():
        (place / "a").write_text("x")
    assert (place / "a").read_text() == "x"


def test_reading_is_no_change_and_is_listed_where_watched(place: Path, guard: Guard) -> None:
    with guard.grant():
        (place / "a").write_text("x")
    guard.watch(place)
    (place / "a").read_text()
    list(place.iterdir())
    assert guard.reads == [str(place / "a"), str(place)]


def test_a_write_outside_the_temporary_folder_is_seen(guard: Guard) -> None:
    with pytest.raises(OSError, match="ltmem"):
        Path("/nonexistent/ltmem").write_text("x")
    assert caught(guard) == ["open /nonexistent/ltmem outside the temporary folder"]


def test_a_connection_off_this_computer_is_seen(guard: Guard) -> None:
    # Only the audit event is raised: no test ever sends anything to another computer.
    sys.audit("socket.connect", None, ("192.0.2.1", 9))
    sys.audit("socket.connect", None, ("127.0.0.1", 9))
    assert caught(guard) == ["connect to 192.0.2.1"]
