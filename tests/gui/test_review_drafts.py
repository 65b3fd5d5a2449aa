"""Drafts of edits beside notes, decisions, undo and other files; find, folds and patches by key."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from ltmem_gui.ui.models.diff_spoken import spoken_row
from ltmem_gui.ui.theme import Theme, monospace
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_rows import RowPainter
from tests.gui.review_room import CTRL, SHIFT, A, E, K, Room, U, child, load, make_room
from tests.helpers.reviews import many_hunks
from tests.helpers.waiting import wait_for

room = pytest.fixture(make_room)


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def shown(room: Room) -> list[str]:
    document = room.panel.model.document
    return [document.row(at).text for at in range(document.count)]


def draft(room: Room, text: str) -> None:
    """Begin an edit, type, and go back to the diff."""
    room.press(K.Key_E)
    room.panel.edit.field.setPlainText(text)
    room.press(K.Key_Escape)
    assert focused() is room.panel.view


def test_a_note_elsewhere_does_not_move_a_draft_to_that_change(room: Room) -> None:
    old, new = many_hunks(2)
    plan = load(room, {"n.md": old}, {"n.md": new})
    draft(room, "- mine\n")
    room.press(K.Key_F7)
    room.press(K.Key_T)
    QTest.keyClicks(focused(), "why")
    room.press(K.Key_Return)
    room.panel.edit.keep()
    assert room.decisions == [E, U]
    review = room.panel.state.review
    assert review is not None
    first, second = plan.changes[0].hunks
    assert review.notes == {f"n.md:{second.id}": "why"}
    assert review.mark(f"n.md:{first.id}").edited == ("- mine\n",)


def test_a_draft_is_not_written_over_by_another_edit(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    draft(room, "- mine\n")
    room.press(K.Key_F7)
    room.press(K.Key_E)
    assert "keep that edit or drop it first" in room.panel.foot.position.full_text
    assert room.panel.edit.field.toPlainText() == "- mine\n"
    room.press(K.Key_Escape)
    room.press(K.Key_F7, SHIFT)
    room.press(K.Key_E)
    assert room.panel.edit.field.toPlainText() == "- mine\n"
    room.press(K.Key_Return, CTRL)
    assert room.decisions == [E, U]


def test_an_unchanged_draft_makes_room_for_the_next_edit(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    room.press(K.Key_E)
    room.panel.focus_diff()
    room.press(K.Key_F7)
    room.press(K.Key_E)
    room.panel.edit.field.setPlainText("- second\n")
    room.press(K.Key_Return, CTRL)
    assert room.decisions == [U, E]


def test_a_draft_stays_in_sight_when_another_change_is_decided(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    draft(room, "- mine\n")
    room.press(K.Key_F7)
    room.press(K.Key_A)
    pending = room.panel.edit._timer
    wait_for(lambda: QApplication.processEvents() or not pending.isActive(), "the picture of the draft")
    assert room.decisions == [U, A]
    assert "- mine" in shown(room)


def test_a_draft_waits_for_its_change_while_other_files_are_looked_at(room: Room) -> None:
    load(room, {"a.md": "x\n", "b.md": "y\n"}, {"a.md": "X\n", "b.md": "Y\n"})
    panel = room.panel
    panel.open_file("a.md")
    draft(room, "mine\n")
    panel.open_file("b.md")
    assert not panel.edit.is_open
    room.press(K.Key_E)
    assert panel.edit.field.toPlainText() == "Y\n"
    room.press(K.Key_Escape)
    panel.open_file("a.md")
    assert "mine" not in shown(room)
    room.press(K.Key_E)
    assert panel.edit.field.toPlainText() == "mine\n"
    child(panel, "review.edit_pane.drop").click()  # type: ignore[attr-defined]
    room.press(K.Key_E)
    assert panel.edit.field.toPlainText() == "X\n"


def test_a_change_under_edit_is_neither_cut_nor_taken_back(room: Room) -> None:
    load(room, {"n.md": "a\nb\nc\n"}, {"n.md": "A\nB\nC\n"})
    panel = room.panel
    panel.view.set_cursor_row(4)
    panel.view.set_cursor_row(5, extend=True)
    room.press(K.Key_A)
    parts = len(room.decisions)
    assert parts > 1
    panel.view.set_cursor_row(panel.model.document.headers[0])
    draft(room, "mine\n")
    row = panel.model.document.headers[0] + 1
    panel.view.set_cursor_row(row)
    panel.view.set_cursor_row(row + 1, extend=True)
    before = panel.state.review
    room.press(K.Key_X)
    assert "being edited" in panel.foot.position.full_text
    room.press(K.Key_Z)
    assert "being edited" in panel.foot.position.full_text
    assert panel.state.review is before


def test_taking_a_note_back_is_said(room: Room) -> None:
    load(room, {"n.md": "a\n"}, {"n.md": "b\n"})
    room.press(K.Key_T)
    QTest.keyClicks(focused(), "why")
    room.press(K.Key_Return)
    room.press(K.Key_Z)
    assert room.panel.foot.position.full_text == "Taken back"
    assert room.panel.state.review is not None
    assert room.panel.state.review.notes == {}


def test_rows_chosen_in_a_view_past_white_space_are_all_of_them(room: Room) -> None:
    load(room, {"n.md": "a \nb\nc\n"}, {"n.md": "a\nB\nc\n"})
    panel = room.panel
    room.press(K.Key_W)
    room.press(K.Key_W)
    document = panel.model.document
    assert any(document.row(at).alike for at in range(document.count))
    panel.view.set_cursor_row(document.headers[0] + 1)
    panel.view.set_cursor_row(document.headers[0] + 3, extend=True)
    room.press(K.Key_A)
    assert room.decisions == [A]


def test_the_next_place_is_the_one_after_the_cursor(room: Room) -> None:
    old, new = many_hunks(4, 40)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    panel.view.set_cursor_row(panel.model.document.headers[2])
    panel.focus_filter()
    panel.finder.field.setText("changed")
    room.press(K.Key_Return)
    count = child(panel, "review.find.count")
    assert count.text() == "3 of 4"  # type: ignore[attr-defined]
    room.press(K.Key_Return, SHIFT)
    assert count.text() == "2 of 4"  # type: ignore[attr-defined]
    panel.finder.field.setText("number 30 ")
    panel.view.set_cursor_row(0)
    room.press(K.Key_Return, SHIFT)
    assert panel.model.document.row(panel.view.cursor_row).new == 31


def test_the_last_search_is_taken_up_again_in_the_file_that_is_shown(room: Room) -> None:
    old, new = many_hunks(2, 40)
    load(room, {"a.md": old, "b.md": "x\n"}, {"a.md": new, "b.md": "changed b\n"})
    panel = room.panel
    panel.open_file("a.md")
    room.press(K.Key_F3)
    assert "Ctrl+F" in panel.foot.position.full_text
    panel.focus_filter()
    panel.finder.field.setText("changed")
    room.press(K.Key_Escape)
    panel.open_file("b.md")
    room.press(K.Key_F3)
    assert focused() is panel.view
    assert not panel.finder.isHidden()
    assert panel.model.document.row(panel.view.cursor_row).text == "changed b"
    assert child(panel, "review.find.count").text() == "1 of 1"  # type: ignore[attr-defined]


def test_space_goes_on_through_a_fold(room: Room) -> None:
    old, new = many_hunks(2, 200)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    document = panel.model.document
    panel.view.set_cursor_row(next(at for at in range(document.count) if document.row(at).gap == 1))
    hidden = []
    for _ in range(5):
        hidden.append(panel.model.document.row(panel.view.cursor_row).hidden)
        room.press(K.Key_Space)
    assert hidden == [193, 153, 113, 73, 33]
    assert panel.model.document.row(panel.view.cursor_row).hidden == 0


def test_folding_again_keeps_the_cursor_at_its_place(room: Room) -> None:
    old, new = many_hunks(4, 200)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    room.press(K.Key_F)
    panel.view.set_cursor_row(room.row_of("- fact number 410 of the memory"))
    room.press(K.Key_F)
    row = panel.model.document.row(panel.view.cursor_row)
    assert row.hidden
    assert row.new is not None
    assert row.new <= 411 < row.new + row.hidden


def test_the_changes_of_selected_rows_are_copied_as_one_patch(room: Room) -> None:
    old, new = many_hunks(3)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    panel.view.set_cursor_row(panel.model.document.headers[0])
    panel.view.set_cursor_row(panel.model.document.headers[1] + 1, extend=True)
    room.press(K.Key_C, CTRL | SHIFT)
    text = QGuiApplication.clipboard().text()
    assert [f"fact number {n} " in text for n in (4, 12, 20)] == [True, True, False]
    assert text.count("+- changed") == 2


def test_the_temporary_file_offers_no_decision(room: Room) -> None:
    load(room, {"n.md": "a\n"}, {"n.md": "b\n", "phase2_workspace_diff.md": "x\n"})
    panel = room.panel
    panel.open_file("phase2_workspace_diff.md")
    header = panel.model.document.row(0)
    assert "nothing to decide" in spoken_row(panel.model, 0)
    assert (
        RowPainter(panel.model, DiffColors.of(Theme.load("light")), monospace(), panel.font()).button_rects(
            QRect(0, 0, 900, 20), header
        )
        == []
    )
    room.press(K.Key_A)
    assert panel.foot.position.full_text == "Nothing is decided in this file"
    assert room.decisions == [U]


def test_a_fresh_plan_keeps_the_file_and_the_change_in_sight(room: Room) -> None:
    old, new = many_hunks(3)
    before = {"a.md": "x\n", "n.md": old}
    load(room, before, {"a.md": "X\n", "n.md": new})
    panel = room.panel
    panel.open_file("n.md")
    panel.view.set_cursor_row(panel.model.document.headers[1])
    room.press(K.Key_A)
    room.press(K.Key_P)
    room.press(K.Key_F7)
    unit = panel.commands.unit()
    draft(room, "- mine\n")
    load(room, before, {"a.md": "XX\n", "n.md": new.replace("- fact number 2 ", "- another ")})
    assert panel.current_path() == "n.md"
    assert panel.commands.unit() == unit
    assert sorted(d.value for d in room.decisions) == ["accept", *["undecided"] * 4]
    room.press(K.Key_E)
    assert panel.edit.field.toPlainText() == "- mine\n"
