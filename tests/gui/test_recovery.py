"""What a run that was cut off left behind: shown at the next start, ended on a person's yes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.pipeline.ports import InterruptedOperation
from ltmem_gui.pipeline.standing import Standing
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.act_sheet import ActSheet
from ltmem_gui.ui.dialogs.interrupted import InterruptedPage
from ltmem_gui.ui.models.job_state import StateKind
from tests.gui.builders import NOW, scanned
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom, job
from tests.helpers.guard import Guard
from tests.helpers.sessions import thread_id, write_codex
from tests.helpers.waiting import wait_for

DIGEST = "ab" * 32
CUT = InterruptedOperation(
    DIGEST, "write", ("MEMORY.md", "raw_memories.md"), "/home/dev/memories", "consolidate", False
)
CLEAN = InterruptedOperation("cd" * 32, "cleanup", ("MEMORY.md",), "/home/dev/memories", "consolidate", True)
RUNNING = job(0, JobStatus.RUNNING, Attempt(1, "box:77:1:w", NOW, None, ""), owner="box:77:1:w", started_at=NOW)
LOCK = JobRecord(GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING, owner="box:77:1:w")


@pytest.fixture
def room(qtbot: QtBot, harness: LoopHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QueueRoom]:
    monkeypatch.setattr(armed, "ARM_MS", 20)
    made = QueueRoom(qtbot, harness, tmp_path)
    yield made
    made.close()


def _texts(room: QueueRoom) -> str:
    return "\n".join(label.text() for label in room.dialog("interrupted").findChildren(QLabel))


def test_it_is_said_once_and_rows_and_page_tell_of_it(room: QueueRoom, tmp_path: Path) -> None:
    assert "nothing was interrupted" in room.tip("recovery.open")
    room.fake.job_records = (RUNNING, LOCK)
    room.fake.standings = [Standing(jobs=(RUNNING, LOCK), applies=(CUT, CLEAN))]
    room.scan()
    assert room.window.messages.text == "The last run was cut off: 2 applies, 1 extraction, the consolidation."
    row = room.queue.model.row_of(scanned(0).id)
    assert row is not None
    assert (row.state.kind, row.state.name) == (StateKind.BAD, "interrupted")
    room.window.messages.dismiss()
    room.scan()
    assert room.window.messages.text == ""
    room.act("recovery.open")
    texts = _texts(room)
    said = ["plan abababab", "cut off at the step “write”", "MEMORY.md, raw_memories.md", "only the clean-up is left"]
    for words in (*said, scanned(0).id, "box, process 77", "takes the lock over"):
        assert words in texts, words
    buttons = room.dialog("interrupted").findChildren(QPushButton)
    assert [button.text() for button in buttons] == ["Finish…", "Roll back…", "Finish…", "Close"]
    assert all(button.accessibleName() or button.text() for button in buttons)
    assert room.dialog("interrupted").grab().save(str(tmp_path / "page.png"))
    room.dialog("interrupted").close()


@pytest.mark.parametrize(("name", "said"), [("finish", "finished: receipt no. 7"), ("roll_back", "rolled back")])
def test_an_apply_is_ended_only_by_the_sheets_button(room: QueueRoom, name: str, said: str) -> None:
    room.fake.standings = [Standing(applies=(CUT,))]
    room.scan()
    room.act("recovery.open")
    page = room.dialog("interrupted")
    assert isinstance(page, InterruptedPage)
    button = page.findChild(QPushButton, f"interrupted.{name}")
    assert button is not None

    async def answer(*, yes: bool) -> None:
        button.click()
        while True:
            sheet = page.findChild(ActSheet)
            if sheet is not None and sheet.isVisible() and sheet.yes_button.isEnabled():
                break
            await asyncio.sleep(0.01)
        assert CUT.root in [field.toPlainText() for field in sheet.findChildren(QPlainTextEdit, "recover.exact")]
        if yes:
            QTest.mouseClick(sheet.yes_button, Qt.MouseButton.LeftButton)
        else:
            QTest.keyClick(sheet, Qt.Key.Key_Return)
        await asyncio.sleep(0)
        await room.harness.supervisor.idle()

    room.harness.run(answer(yes=False))
    assert not [call for call in room.fake.calls if DIGEST in call]
    room.harness.run(answer(yes=True))
    assert [call for call in room.fake.calls if DIGEST in call] == [f"{name.replace('_', ' ')} {DIGEST}"]
    assert said in room.window.messages.text
    assert "nothing was interrupted" in room.tip("recovery.open")


def test_a_run_killed_in_the_middle_is_shown_at_the_next_start(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard
) -> None:
    sessions = tmp_path / "sessions"
    at = int(time.time()) - 90_000
    for number in range(3):
        write_codex(sessions, [("user", f"Rule {number}: always use pnpm.")], number=number, at=at - number)
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.gui.killed_run", str(tmp_path)],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"LTMEM_REDACTOR": "layer"},
    )
    try:
        wait_for((tmp_path / "asked").exists, "the question of the other program")
    finally:
        program.kill()
        program.wait()
    guard.protect(tmp_path / "home")
    room = QueueRoom(qtbot, harness, tmp_path, real=True)
    try:
        room.scan()
        names = {row.thread_id: row.state.name for row in room.queue.model.rows}
        assert names == {thread_id(number, at - number): "interrupted" for number in range(3)}
        assert "3 extractions" in room.window.messages.text
        room.act("recovery.open")
        assert "3 extractions" in _texts(room)
        room.dialog("interrupted").close()
    finally:
        room.close()
