"""The history: the last apply as a diff to look at, older ones as files and counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.agent import AgentTranscript
from ltmem_gui.domain.agent_kept import bound, kept
from ltmem_gui.domain.consent import Receipt, ReceiptFile
from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.pipeline.written import LastApply
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.history import HistoryPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.agent_room import steps
from tests.gui.builders import NOW, apply_plan, receipt_of
from tests.helpers.reviews import many_hunks
from tests.helpers.waiting import PATIENCE_MS

OLD, NEW = many_hunks(3)


def receipts(tmp_path: Path) -> tuple[Receipt, ...]:
    plan = apply_plan(tmp_path / "home", tmp_path / "memory")
    files = (
        ReceiptFile(path="MEMORY.md", old_sha256="a" * 64, new_sha256="b" * 64),
        ReceiptFile(path="gone.md", old_sha256="c" * 64, new_sha256=None),
    )
    noted = {"files": files, "plan_digest": "older", "notes": {"h1": "kept on purpose"}}
    older = receipt_of(plan, 1).model_copy(update=noted)
    rows = receipt_of(plan, 2).model_copy(update={"counts": {"held": 1}})
    return older, rows, receipt_of(plan, 3).model_copy(update={"files": files, "plan_digest": "newest"})


def last(tmp_path: Path) -> LastApply:
    changes = [
        file_change("MEMORY.md", OLD.encode(), NEW.encode()),
        file_change("gone.md", b"one\ntwo\n", None),
        file_change("blob", b"\0", b"\1\0"),
    ]
    before = {"MEMORY.md": OLD.encode(), "gone.md": b"one\ntwo\n", "blob": b"\0"}
    assert all(isinstance(change, FileChange) for change in changes)
    return LastApply("newest", NOW + 86_400, tuple(c for c in changes if c is not None), before)


@pytest.fixture
def panel(qtbot: QtBot, tmp_path: Path) -> HistoryPanel:
    theme = Theme.load("light")
    theme.apply()
    made = HistoryPanel(theme)
    qtbot.addWidget(made)
    made.resize(1_100, 720)
    made.show_seen(Seen(receipts=receipts(tmp_path)))
    made.show()
    made.activateWindow()
    QTest.qWaitForWindowActive(made, PATIENCE_MS)
    return made


def button(panel: HistoryPanel, name: str) -> QPushButton:
    found = panel.findChild(QPushButton, name)
    assert found is not None
    return found


def note(panel: HistoryPanel) -> str:
    found = panel.findChild(QLabel, "history.note")
    assert found is not None
    return found.text()


def texts(panel: HistoryPanel) -> list[str]:
    document = panel.written.model.document
    return [document.row(at).text for at in range(document.count)]


def test_nothing_is_read_before_the_button_is_pressed(panel: HistoryPanel, tmp_path: Path) -> None:
    asked: list[bool] = []
    panel.changes_asked.connect(lambda: asked.append(True))
    assert not panel.written.isVisible()
    QTest.keyClick(button(panel, "history.changes"), Qt.Key.Key_Space)
    assert asked == [True]
    panel.show_changes(last(tmp_path))
    assert panel.written.isVisible()
    assert QApplication.focusWidget() is panel.written.view
    assert any("changed fact number 4 " in text for text in texts(panel))
    panel.files.setCurrentItem(panel.files.topLevelItem(1))
    assert texts(panel)[-2:] == ["one", "two"]


def test_older_applies_are_files_and_counts(panel: HistoryPanel, tmp_path: Path) -> None:
    panel.show_changes(last(tmp_path))
    panel.select(1)
    assert not panel.written.isVisible()
    assert not button(panel, "history.changes").isEnabled()
    assert "Only the last apply keeps its text" in note(panel)
    assert panel.files.topLevelItemCount() == 2
    assert "h1: kept on purpose" in [label.accessibleName() for label in panel.findChildren(QLabel)]
    panel.select(2)
    assert not button(panel, "history.changes").isVisible()
    assert note(panel) == ""
    panel.select(3)
    assert panel.written.isVisible()


def test_a_text_that_is_gone_is_said(panel: HistoryPanel) -> None:
    panel.show_changes(None)
    assert "Its text is gone" in note(panel)
    assert not panel.written.isVisible()
    assert not button(panel, "history.changes").isEnabled()


def test_what_was_written_is_only_looked_at(panel: HistoryPanel, tmp_path: Path) -> None:
    panel.show_changes(last(tmp_path))
    view = panel.written.view
    headers = panel.written.model.document.headers
    assert view._rows.button_rects(QRect(0, 0, 900, 24), panel.written.model.document.row(headers[0])) == []
    pressed: list[str] = []
    view.button_pressed.connect(lambda name, row: pressed.append(name))
    for x in range(20, view.viewport().width(), 40):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 10))
    assert pressed == []
    view.set_cursor_row(headers[0])
    for key in (Qt.Key.Key_A, Qt.Key.Key_X, Qt.Key.Key_E, Qt.Key.Key_U):
        QTest.keyClick(view, key)
    assert view.cursor_row == headers[0]
    QTest.keyClick(view, Qt.Key.Key_F7)
    assert view.cursor_row == headers[1]
    QTest.keyClick(view, Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
    assert view.cursor_row == headers[0]
    view.set_cursor_row(0)
    before = panel.written.model.document.count
    QTest.keyClick(view, Qt.Key.Key_Space)
    assert panel.written.model.document.count >= before
    panel._theme.set_scheme("dark")
    assert view._rows.button_rects(QRect(0, 0, 900, 24), panel.written.model.document.row(headers[0])) == []
    panel._theme.set_scheme("light")


def test_other_receipts_take_the_text_away(panel: HistoryPanel, tmp_path: Path) -> None:
    panel.show_changes(last(tmp_path))
    panel.show_seen(Seen(receipts=receipts(tmp_path)[:1]))
    assert not panel.written.isVisible()
    panel.show_seen(Seen(receipts=()))
    assert not button(panel, "history.changes").isEnabled()


def test_a_run_of_an_agent_tells_its_calls_or_why_they_are_missing(panel: HistoryPanel, tmp_path: Path) -> None:
    transcript = AgentTranscript(steps())
    texts = kept(transcript, ())
    told = {"files": (), "steps": transcript.rows(), "transcript": texts, "transcript_sha256": bound(texts)}
    whole = receipts(tmp_path)[2].model_copy(update={"kind": "consolidate", "operation_number": 4} | told)
    gone = whole.model_copy(update={"operation_number": 5, "transcript": None})
    panel.show_seen(Seen(receipts=(whole, gone)))
    note = panel.findChild(QLabel, "history.note")
    assert note is not None
    assert "went when a session was forgotten" in note.text()
    panel.select(4)
    assert note.text() == ""
    rows = panel.steps.model.rows
    assert next(row.path for row in rows if row.refused) == "../../etc/\u202epasswd"
    assert rows[1].arguments[0].text == "pnpm"
