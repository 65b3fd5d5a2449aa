"""The real program beside a Codex home: its memories are taken over, and its folder goes on, accepted by Codex."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.helpers import codex_sync
from tests.helpers.codex_home import CodexHome, kept
from tests.helpers.program import Program
from tests.helpers.sessions import DAY, thread_id

NOW = int(time.time())
FIRST, SECOND = (thread_id(number, NOW - 5 * DAY) for number in range(2))


class BesideCodex(Program):
    """The program with Codex's own memory folder."""

    @property
    def codex(self) -> CodexHome:
        return CodexHome(self.place / "codex")

    @property
    def memory(self) -> Path:
        return self.codex.path / "memories"


@pytest.fixture
def program(tmp_path: Path) -> BesideCodex:
    """The program beside a Codex home with two memories."""
    program = BesideCodex(tmp_path)
    program.codex.create()
    program.codex.keep(kept(FIRST, NOW - 2 * DAY, usage_count=2, last_usage=NOW - DAY), selected_at=NOW - 3 * DAY)
    program.codex.keep(kept(SECOND, NOW - DAY))
    return program


def test_a_codex_home_is_taken_over_and_its_folder_accepted(program: BesideCodex) -> None:
    codex = program.codex
    before = codex.look()
    planned = program.plan("take-over", "--codex-home", codex.path)
    assert planned.code == 0, planned.err
    assert [e["thread_id"] for e in planned.json["effects"] if e["type"] == "TakeOverRow"] == [FIRST, SECOND]
    assert not planned.touched(program.home, codex.path)
    assert not [what for kind, what in planned.events if kind == "connect"]
    applied = program.apply(planned)
    assert applied.code == 0, applied.err
    assert applied.json["counts"]["memories taken over"] == 2
    assert not applied.touched(codex.path)
    assert codex.look() == before
    assert program.plan("take-over", "--codex-home", codex.path).code == 3
    assert program.apply(planned).code == 4

    consolidated = program.plan("consolidate")
    assert consolidated.code == 0, consolidated.err
    assert not [note for note in consolidated.json["notes"] if "Codex selects" in note]
    written = program.apply(consolidated)
    assert written.code == 0, written.err
    assert {name: look for name, look in codex.look().items() if not name.startswith("memories/")} == before
    rows = codex_sync.selection(codex.path, NOW, memories=codex.memories, state=codex.state)
    assert len(rows) == 2
    codex_sync.sync(program.memory, rows, NOW)
    assert codex_sync.status(program.memory) == []
    assert codex_sync.validates(program.memory)

    codex.keep(kept(SECOND, NOW, raw_memory="- newer in Codex"))
    warned = program("plan", "consolidate", *program.where())
    assert f"1 threads by its own: {SECOND};" in warned.out
    assert f"{program.memory}_ltmem" in warned.out
