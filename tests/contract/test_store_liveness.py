"""Which holders live, as the system tells it, and what happens where it does not."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from ltmem_gui.domain.jobs import Owner
from ltmem_gui.store import liveness
from ltmem_gui.store.liveness import holders, is_alive, this_process


def test_this_process_lives_and_its_neighbours_do_not() -> None:
    me = this_process("w")
    assert is_alive(me) is True
    assert is_alive(replace(me, process_started=me.process_started + 5)) is False
    assert is_alive(replace(me, pid=2**22 + 1)) is False
    assert is_alive(replace(me, host="elsewhere")) is None
    assert is_alive(Owner("", 0, 0, "unreadable")) is None


def test_a_start_told_in_seconds_is_known_too() -> None:
    """Where the system tells no ticks, an owner carries the second of its start."""
    me = this_process("w")
    assert is_alive(replace(me, process_started=int(psutil.Process().create_time()))) is True


def test_without_ticks_seconds_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_path: Path) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_bytes", missing)
    assert this_process("w").process_started == int(psutil.Process().create_time())


def test_a_process_that_may_not_be_asked_is_taken_to_live(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_process: psutil.Process) -> str:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "status", refuse)
    assert is_alive(this_process("w")) is True


def test_a_host_name_has_no_colon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "a:b")
    assert liveness.host_name() == "a-b"


def test_programs_that_may_not_be_asked_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    with path.open("w"):
        assert holders(path) == ["this program itself"]
        mine = os.getpid()

        def refuse(process: psutil.Process) -> list[object]:
            raise psutil.AccessDenied(process.pid or mine)

        monkeypatch.setattr(psutil.Process, "open_files", refuse)
        assert holders(path) == []
