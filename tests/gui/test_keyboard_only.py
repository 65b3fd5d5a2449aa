"""The main job by the keyboard alone: from an empty start page to the lines that a written memory cites.

Every step is a key event on the widget that has the focus. Nothing is clicked, triggered or set.
"""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from ltmem_gui.ui.dialogs.confirmation import ConfirmationSheet
from ltmem_gui.ui.models.run_state import RunPhase
from tests.gui import test_window
from tests.gui.test_window import Desk
from tests.helpers.waiting import until

adapters, desk = test_window.adapters, test_window.desk

K = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MANY = 60


class Keyboard:
    """Ten fingers: keys go to whatever has the focus."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def focus(self) -> QWidget:
        found = QApplication.focusWidget()
        assert found is not None
        return found

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.focus(), key, modifier)

    def write(self, text: str) -> None:
        QTest.keyClicks(self.focus(), text)

    def tab_to(self, name: str) -> None:
        for _ in range(MANY):
            if self.focus().objectName() == name:
                return
            self.press(K.Key_Tab)
        raise AssertionError(f"Tab does not lead to {name}")

    async def rest(self) -> None:
        await asyncio.sleep(0)
        await self.desk.harness.supervisor.idle()
        # No window manager here: it is what makes a window active again when a sheet is gone.
        self.desk.window.activateWindow()
        await until(self.desk.window.isActiveWindow)

    async def say_yes(self) -> None:
        """Wait for the sheet, find its yes by Tab, and press it with Space: Return means no there."""

        def asked() -> bool:
            sheet = QApplication.activeModalWidget()
            return isinstance(sheet, ConfirmationSheet) and sheet.yes_button.isEnabled()

        await until(asked)
        assert self.focus().objectName() == "confirmation.cancel"
        self.tab_to("confirmation.yes")
        self.press(K.Key_Return)
        assert isinstance(QApplication.activeModalWidget(), ConfirmationSheet)
        self.press(K.Key_Space)


async def name_and_scan(keys: Keyboard, desk: Desk) -> None:
    assert keys.focus().objectName() == "folders.sessions"
    for name, path in (("sessions", desk.top / "sessions"), ("memory", desk.root), ("home", desk.home)):
        keys.tab_to(f"folders.{name}")
        keys.press(K.Key_A, CTRL)
        keys.write(str(path))
    keys.tab_to("folders.scan")
    keys.press(K.Key_Space)
    await keys.rest()
    queue = desk.window.queue
    assert desk.window.shown_panel == "queue"
    assert queue.model.rowCount() == 12
    assert keys.focus() is queue.table
    keys.press(K.Key_Down)
    assert queue.current_row() is not None


async def run_and_review(keys: Keyboard, desk: Desk) -> None:
    keys.press(K.Key_R, CTRL)
    await keys.say_yes()
    await until(lambda: desk.controller.workbench.run_state.phase is RunPhase.PLAN_READY)
    await keys.rest()
    review = desk.window.review
    assert desk.window.shown_panel == "review"
    assert not desk.root.exists()
    assert keys.focus() is review.view
    assert desk.window.windowTitle().endswith("undecided – LTMem")
    for _ in range(500):
        assert review.state.review is not None
        if not review.state.review.undecided:
            break
        keys.press(K.Key_A)
    assert not review.state.review.undecided
    assert desk.window.windowTitle() == "LTMem"
    keys.press(K.Key_A, CTRL | SHIFT)
    await keys.say_yes()
    await until(lambda: desk.window.shown_panel == "history")
    await keys.rest()
    assert (desk.root / "MEMORY.md").is_file()


async def look_at_what_was_written(keys: Keyboard, desk: Desk) -> None:
    keys.tab_to("history.changes")
    keys.press(K.Key_Space)
    await keys.rest()
    assert keys.focus() is desk.window.history.written.view
    keys.press(K.Key_F7)


async def open_a_citation(keys: Keyboard, desk: Desk) -> None:
    keys.press(K.Key_3, CTRL)
    await keys.rest()
    citations = desk.window.citations
    assert keys.focus() is citations.table
    for _ in range(MANY):
        if citations.evidence.marked_labels:
            break
        keys.press(K.Key_Down)
        await keys.rest()
    keys.press(K.Key_Return)
    await keys.rest()
    assert keys.focus() is citations.evidence
    assert citations.evidence.marked_labels


def test_from_an_empty_start_to_a_cited_line(desk: Desk) -> None:
    keys = Keyboard(desk)
    for step in (name_and_scan, run_and_review, look_at_what_was_written, open_a_citation):
        desk.harness.run(step(keys, desk))
    assert desk.reporter.reports == ()


@pytest.mark.parametrize(
    ("panel", "number"), [("queue", 1), ("review", 2), ("citations", 3), ("memory", 4), ("history", 5), ("inbox", 6)]
)
def test_each_panel_is_reached_and_left_by_keys(desk: Desk, panel: str, number: int) -> None:
    keys = Keyboard(desk)
    keys.press(Qt.Key(int(K.Key_0) + number), CTRL)
    assert desk.window.shown_panel == panel
    seen: list[str] = []
    for _ in range(MANY):
        keys.press(K.Key_Tab)
        at = keys.focus()
        seen.append(at.objectName())
        if seen.count(at.objectName()) > 2:
            break
    assert "sidebar" in seen  # Tab goes round: it is caught nowhere


def test_help_and_palette_open_and_close_by_keys(desk: Desk) -> None:
    keys = Keyboard(desk)
    for key, modifier in ((K.Key_F1, NONE), (K.Key_K, CTRL)):

        async def open_and_close(key: Qt.Key = key, modifier: Qt.KeyboardModifier = modifier) -> None:
            keys.press(key, modifier)
            await until(lambda: isinstance(QApplication.activeWindow(), QDialog))
            keys.press(K.Key_Escape)
            await until(lambda: not isinstance(QApplication.activeWindow(), QDialog))
            await keys.rest()

        desk.harness.run(open_and_close())
