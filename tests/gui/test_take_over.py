"""Taking over from Codex in the window: a folder is chosen, each row is on the sheet, nothing happens without a yes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.widgets.file_dialogs import ask_folder
from tests.gui.conftest import LoopHarness
from tests.gui.queue_room import QueueRoom
from tests.helpers.codex_home import CodexHome, kept
from tests.helpers.guard import Guard
from tests.helpers.sessions import DAY, thread_id
from tests.helpers.waiting import until

NOW = int(time.time())
FIRST, SECOND = (thread_id(number, NOW - 5 * DAY) for number in range(2))
ACTION = "codex.take_over"


@pytest.fixture
def codex(tmp_path: Path) -> CodexHome:
    """A Codex home with two memories."""
    home = CodexHome(tmp_path / "codex").create()
    home.keep(kept(FIRST, NOW - DAY, usage_count=3, last_usage=NOW - DAY), selected_at=NOW - DAY)
    home.keep(kept(SECOND, NOW - 2 * DAY))
    home.job(GLOBAL_KIND, GLOBAL_KEY, "done", NOW - DAY)
    return home


@pytest.fixture
def room(
    qtbot: QtBot, harness: LoopHarness, tmp_path: Path, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[QueueRoom]:
    monkeypatch.setattr(confirmation, "ARM_MS", 20)
    made = QueueRoom(qtbot, harness, tmp_path, real=True)
    guard.protect(made.home, made.root)
    yield made
    made.close()


def choose(room: QueueRoom, path: Path | None) -> list[Path | None]:
    """Answer the question for a folder; return where it began."""
    began: list[Path | None] = []

    async def ask(title: str, start: Path | None, parent: QWidget) -> Path | None:
        assert "Codex" in title
        assert parent is room.window
        began.append(start)
        await asyncio.sleep(0)
        return path

    room.controller.rooms.take_over.ask = ask
    return began


def answer(room: QueueRoom, name: str) -> list[str]:
    """Take over, answer the sheet, and return what it said."""
    said: list[str] = []

    async def both() -> None:
        assert room.window.registry.trigger(ACTION)
        while True:
            sheet = room.window.findChild(ConfirmationSheet)
            if sheet is not None and sheet.yes_button.isEnabled():
                break
            await asyncio.sleep(0.01)
        said.extend(label.text() for label in sheet.findChildren(QLabel))
        button = sheet.findChild(QAbstractButton, name)
        assert isinstance(button, QAbstractButton)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        await asyncio.sleep(0)
        await room.harness.supervisor.idle()

    room.harness.run(both())
    return said


def test_rows_are_taken_over_on_a_yes_alone(room: QueueRoom, codex: CodexHome, guard: Guard) -> None:
    guard.protect(codex.path)
    before = codex.look()
    began = choose(room, codex.path)
    said = answer(room, "confirmation.cancel")
    assert "Take these memories over from Codex?" in said
    assert "memories taken over from Codex" in said
    assert "watermark of Codex's last consolidation" in said
    assert any("new data folder" in text for text in said)
    assert not room.home.exists()
    answer(room, "confirmation.yes")
    assert began == [room.home.parent / "sessions"] * 2
    assert codex.look() == before
    assert room.window.messages.text == "Take over from Codex: 1 jobs taken over, 2 memories taken over (receipt no. 1)"
    with room.adapters.stores.reading(room.home) as store:
        assert [(row.thread_id, row.usage_count) for row in store.outputs()] == [(FIRST, 3), (SECOND, None)]
    room.act(ACTION)
    assert room.window.messages.text == "Take over from Codex: for none of 2 rows"


def test_no_folder_is_no_plan(room: QueueRoom) -> None:
    began = choose(room, None)
    room.act(ACTION)
    assert began == [room.home.parent / "sessions"]
    assert not room.home.exists()
    assert room.window.findChild(ConfirmationSheet) is None


def test_what_is_no_codex_home_is_said(room: QueueRoom, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    choose(room, tmp_path / "empty")
    room.act(ACTION)
    assert "Codex keeps no memories here" in room.window.messages.text
    assert room.window.registry.action(ACTION).isEnabled()


def test_it_begins_where_the_codex_home_is_likely_to_be(room: QueueRoom, tmp_path: Path) -> None:
    began = choose(room, None)
    folders = Folders((), tmp_path / "codex" / "memories", room.home)
    room.harness.call(lambda: room.controller.name_folders(folders))
    room.act(ACTION)
    folders = Folders((SourceSpec("claude", "/c"),), tmp_path / "memory", room.home)
    room.harness.call(lambda: room.controller.name_folders(folders))
    room.act(ACTION)
    assert began == [tmp_path / "codex", None]
    room.harness.call(lambda: room.controller.name_folders(Folders()))
    assert "name a data folder first" in room.tip(ACTION)


@pytest.mark.parametrize("taken", [True, False])
def test_the_question_for_a_folder_changes_nothing(room: QueueRoom, tmp_path: Path, taken: bool) -> None:
    async def ask() -> Path | None:
        asking = asyncio.ensure_future(ask_folder("Codex home", tmp_path, room.window))
        await until(lambda: room.window.findChild(QFileDialog, "folder.dialog"), "the dialog")
        dialog = room.window.findChild(QFileDialog, "folder.dialog")
        assert dialog is not None
        assert dialog.testOption(QFileDialog.Option.ReadOnly)
        assert dialog.fileMode() is QFileDialog.FileMode.Directory
        dialog.done(int(taken))
        return await asking

    assert (room.harness.run(ask()) == tmp_path) is taken
