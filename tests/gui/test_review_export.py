"""Save a review: chosen, shown with path and size, confirmed, written once; Qt keeps no history of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPlainTextEdit, QPushButton

from ltmem_gui.bootstrap import Composition, compose
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.act_sheet import ActSheet, ask_act
from ltmem_gui.ui.models.file_copies import FileCopies
from ltmem_gui.ui.models.outside_text import describe_act
from ltmem_gui.ui.models.workbench import Notice
from ltmem_gui.ui.widgets.file_dialogs import ask_save_name
from tests.gui.review_room import CTRL, K, Room, activate, load, make_room
from tests.helpers.reviews import many_hunks

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
room = pytest.fixture(make_room)


@pytest.fixture
def adapters() -> Iterator[Composition]:
    made = compose(None)
    yield made
    made.close()


@pytest.fixture
def copies(room: Room, adapters: Composition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileCopies:
    monkeypatch.setattr(armed, "ARM_MS", 30)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody" / "config"))
    operations = Operations(adapters)
    made = FileCopies(
        operations,
        choose=lambda title, name: ask_save_name(title, name, room.panel),
        confirm=lambda act: ask_act("outside", describe_act(act), room.panel),
        kept=lambda: (tmp_path / "memory",),
        parent=room.panel,
    )
    room.panel.copies = made
    room.operations.adapters = adapters  # type: ignore[attr-defined]
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new.replace("number 12", SECRET)})
    return made


async def pick(room: Room, target: Path | None) -> None:
    while True:
        dialog = next((d for d in room.panel.findChildren(QFileDialog) if d.isVisible()), None)
        if dialog is not None:
            break
        await asyncio.sleep(0.01)
    assert dialog.selectedFiles()[0].endswith(".json")
    if target is None:
        dialog.reject()
    else:
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert field is not None
        field.setText(str(target))
        dialog.accept()  # type: ignore[attr-defined]


async def answer(room: Room, name: str) -> str:
    while True:
        sheet = room.panel.findChild(ActSheet)
        if sheet is not None and sheet.isVisible() and sheet.yes_button.isEnabled():
            break
        await asyncio.sleep(0.01)
    fields = sheet.findChildren(QPlainTextEdit)
    button = sheet.findChild(QPushButton, name)
    assert button is not None
    QTest.keyClick(button, Qt.Key.Key_Space)
    return fields[0].toPlainText()


def save(room: Room, target: Path | None, button: str = "") -> str:
    async def all_of_it() -> str:
        room.panel.header.save_asked.emit("json")
        await pick(room, target)
        shown = await answer(room, button) if button else ""
        await room.harness.supervisor.idle()
        return shown

    return room.harness.run(all_of_it())


def test_a_review_is_saved_after_a_yes_and_without_secrets(room: Room, copies: FileCopies, tmp_path: Path) -> None:
    told: list[Notice] = []
    copies.noticed.connect(told.append)
    target = tmp_path / "my review.json"
    assert save(room, None) == ""
    assert save(room, target, "outside.cancel") == str(target)
    assert not target.exists()
    assert told == []
    save(room, target, "outside.yes")
    text = target.read_text()
    assert SECRET not in text
    assert [c["decision"] for c in json.loads(text)["changes"]] == ["undecided", "undecided"]
    assert str(target) in told[0].text
    activate(room.panel)
    room.press(K.Key_A)
    save(room, target, "outside.yes")
    assert [c["decision"] for c in json.loads(target.read_text())["changes"]] == ["accept", "undecided"]
    assert not (tmp_path / "nobody").exists()


def test_the_exports_open_by_key_and_by_no_mouse(room: Room, copies: FileCopies) -> None:
    asked: list[str] = []
    room.panel.header.save_asked.disconnect()
    room.panel.header.save_asked.connect(asked.append)
    room.press(K.Key_S, CTRL)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts[0] == "Save: Review as Markdown…"
    assert texts[-1] == "Copy: Patch of what is rejected"
    QTest.keyClick(menu, K.Key_Down)
    QTest.keyClick(menu, K.Key_Return)
    assert asked == ["json"]
