from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.diffing.files import file_change
from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.plan import WorkspaceMark
from tests.gui.review_room import ALT, CTRL, SHIFT, A, K, Room, U, X, activate, child, load, make_room
from tests.helpers.reviews import finding, many_hunks, plan_of, plan_of_files
from tests.helpers.waiting import PATIENCE_MS

room = pytest.fixture(make_room)


def test_find_steps_wraps_and_opens_folds(room: Room) -> None:
    old, new = many_hunks(2, 40)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    panel.focus_filter()
    field_ = QApplication.focusWidget()
    assert field_ is panel.finder.field
    QTest.keyClicks(field_, "NUMBER 7 ")
    count = child(panel, "review.find.count")
    assert count.text() == "1 found"  # type: ignore[attr-defined]
    QTest.keyClick(field_, K.Key_Return)
    assert panel.model.document.row(panel.view.cursor_row).new == 8
    child(panel, "review.find.case").click()  # type: ignore[attr-defined]
    assert count.text() == "not found"  # type: ignore[attr-defined]
    child(panel, "review.find.case").click()  # type: ignore[attr-defined]
    field_.setText("changed|number 20 ")  # type: ignore[attr-defined]
    child(panel, "review.find.regex").click()  # type: ignore[attr-defined]
    assert count.text() == "4 found"  # type: ignore[attr-defined]
    field_.setText("(")  # type: ignore[attr-defined]
    assert "not a regular expression" in count.text()  # type: ignore[attr-defined]
    field_.setText("changed")  # type: ignore[attr-defined]
    QTest.keyClick(field_, K.Key_Return)
    QTest.keyClick(field_, K.Key_Return)
    assert count.text() == "2 of 2"  # type: ignore[attr-defined]
    QTest.keyClick(field_, K.Key_Return)
    assert "from the other end" in count.text()  # type: ignore[attr-defined]
    panel.finder.findChild(QWidget, "review.find.side").setCurrentIndex(2)  # type: ignore[union-attr]
    assert count.text() == "not found"  # type: ignore[attr-defined]
    QTest.keyClick(field_, K.Key_Escape)
    assert panel.finder.isHidden()
    assert QApplication.focusWidget() is panel.view
    panel.focus_filter()
    assert panel.finder.field.text() == "changed"


def test_looks_change_no_decision_and_keep_the_line(room: Room) -> None:
    old, new = many_hunks(3, 40)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    room.press(K.Key_A)
    line = panel.model.document.row(panel.view.cursor_row + 1).old
    before = panel.state.review
    for key in (K.Key_F, K.Key_V, K.Key_W, K.Key_V, K.Key_F):
        room.press(key)
        assert panel.model.document.row(panel.view.cursor_row + 1).old == line
    assert panel.state.review is before
    chip = child(panel, "review.whitespace_chip")
    assert "line ends ignored" in chip.text()  # type: ignore[attr-defined]
    chip.click()  # type: ignore[attr-defined]
    assert chip.isHidden()


def test_a_fold_opens_with_space(room: Room) -> None:
    old, new = many_hunks(2, 200)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    fold = next(at for at in range(panel.model.document.count) if panel.model.document.row(at).gap == 1)
    hidden = panel.model.document.row(fold).hidden
    panel.view.set_cursor_row(fold)
    room.press(K.Key_Space)
    assert any(panel.model.document.row(at).hidden == hidden - 40 for at in range(panel.model.document.count))


def test_the_reading_list_shows_the_same_rows_and_takes_the_same_keys(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    room.press(K.Key_R)
    assert QApplication.focusWidget() is panel.reading
    assert panel.reading_model.rowCount() == panel.model.document.count
    room.press(K.Key_A)
    room.press(K.Key_X)
    assert room.decisions == [A, X]
    room.press(K.Key_R)
    assert QApplication.focusWidget() is panel.view


def test_copies_are_bytes_of_the_lines_never_markers(room: Room) -> None:
    load(room, {"n.md": "a\nb\u2028c\nuv only"}, {"n.md": "a\nB\u00a0\ud7ff😀\tx\nuv only\nmore\r\n"})
    panel = room.panel
    clipboard = QGuiApplication.clipboard()
    panel.view.set_cursor_row(0)
    panel.view.set_cursor_row(panel.model.document.count - 1, extend=True)
    room.press(K.Key_C, CTRL)
    text = clipboard.text()
    assert text == "a\nb\u2028c\nuv only\nB\u00a0\ud7ff😀\tx\nuv only\nmore"
    panel.view.set_cursor_row(panel.model.document.headers[0])
    room.press(K.Key_C, CTRL | SHIFT)
    assert clipboard.text().startswith("--- a/n.md\n+++ b/n.md\n@@ -1,3 +1,4 @@\n a\n-b")
    panel.view.set_cursor_row(room.row_of("more"))
    room.press(K.Key_C, ALT)
    assert clipboard.text() == "n.md:4"


def test_a_secret_on_disk_does_not_reach_the_clipboard(room: Room) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    load(room, {"n.md": f"the key is {secret}\n"}, {"n.md": "the key is gone\n"})
    panel = room.panel
    panel.view.set_cursor_row(0)
    panel.view.set_cursor_row(panel.model.document.count - 1, extend=True)
    said: list[str] = []
    panel.hand_over.told.connect(said.append)
    room.press(K.Key_C, CTRL)
    room.press(K.Key_C, CTRL | SHIFT)
    text = QGuiApplication.clipboard().text()
    assert secret not in text
    assert "[REDACTED:" in text
    panel.header.copy_asked.emit("markdown")
    assert said == ["Copied to the clipboard; 1 secret was replaced in it"] * 3


def test_a_long_copy_is_cleaned_beside_the_window(room: Room, qtbot: QtBot) -> None:
    secret = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    lines = "".join(f"line {number} of a long file, with some more words to it\n" for number in range(3_000))
    load(room, {"n.md": "old\n"}, {"n.md": f"{lines}the key is {secret}\n"})
    panel = room.panel
    panel.view.set_cursor_row(0)
    panel.view.set_cursor_row(panel.model.document.count - 1, extend=True)
    room.press(K.Key_C, CTRL)
    qtbot.waitUntil(lambda: "[REDACTED:" in QGuiApplication.clipboard().text(), timeout=PATIENCE_MS)
    text = QGuiApplication.clipboard().text()
    assert secret not in text
    assert "line 2999 of a long file" in text


def test_the_review_is_exported_in_four_forms(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    room.press(K.Key_A)
    room.press(K.Key_X)
    clipboard = QGuiApplication.clipboard()
    for kind in ("markdown", "json", "accepted", "rejected"):
        room.panel.header.copy_asked.emit(kind)
        text = clipboard.text()
        if kind == "json":
            assert [c["decision"] for c in json.loads(text)["changes"]] == ["accept", "reject"]
        elif kind == "markdown":
            assert "- **reject**" in text
        else:
            line = 4 if kind == "accepted" else 12
            assert f"+- changed fact number {line} " in text


def test_the_place_of_a_row_is_handed_to_the_opener(room: Room) -> None:
    old, new = many_hunks(2)
    plan, base = plan_of_files({"sub/n.md": old}, {"sub/n.md": new, "fresh.md": "x\n"})
    plan = plan.model_copy(update={"memory_root": "/memory"}).sealed()
    opener = _Opener()
    room.panel.hand_over.opener = opener  # type: ignore[assignment]
    room.panel.load(plan, base)
    room.panel.focus_diff()
    assert room.panel.current_path() == "fresh.md"
    room.press(K.Key_O)
    assert opener.asked == []
    assert "not in the memory folder yet" in room.panel.foot.position.full_text
    room.panel.open_file("sub/n.md")
    room.press(K.Key_O)
    room.panel.view.set_cursor_row(room.row_of("- changed fact number 12 of the memory"))
    room.press(K.Key_O, SHIFT)
    places = [(name, place.root, place.path, place.line) for name, place in opener.asked]
    assert places == [("editor", "/memory", "sub/n.md", 5), ("manager", "/memory", "sub/n.md", 13)]


class _Opener:
    def __init__(self) -> None:
        self.asked: list[tuple[str, Place]] = []

    def open_in_editor(self, place: Place) -> None:
        self.asked.append(("editor", place))

    def show_in_file_manager(self, place: Place) -> None:
        self.asked.append(("manager", place))


def test_the_scheme_can_change_while_a_plan_is_open(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    theme = room.panel._theme
    theme.set_scheme("dark")
    assert room.panel.view._rows.colors.base == theme.color("base")
    theme.set_scheme("light")


def test_modes_renames_and_order_are_pointed_out(room: Room) -> None:
    text = "".join(f"line {n}\n" for n in range(6))
    changes = (
        file_change("a.md", text.encode(), None),
        file_change("b.md", None, text.encode(), new_mode=0o644),
        file_change("c.sh", b"x\n", b"y\n", old_mode=0o644, new_mode=0o755),
        file_change("order.md", b"one\ntwo\n", b"two\none\n"),
        file_change("phase2_workspace_diff.md", None, b"x\n"),
    )
    room.panel.load(plan_of(*changes), {"a.md": text.encode(), "c.sh": b"x\n", "order.md": b"one\ntwo\n"})
    told = {}
    for row in room.panel.files_model.rows:
        room.panel.open_file(row.change.path)
        told[row.change.path] = (row.kind, room.panel.header.counts.full_text)
    assert told["b.md"] == ("renamed", "+6 −0 · 1 of 1 undecided · like the deleted a.md")
    assert "mode 0644 → 0755 · executable" in told["c.sh"][1]
    assert "same lines, other order" in told["order.md"][1]
    assert told["phase2_workspace_diff.md"] == ("temporary", "+1 −0 · nothing to decide")
    assert [row.sign for row in room.panel.files_model.rows][-1] == "–"


def test_the_keys_go_to_the_diff_when_a_plan_comes_and_when_the_panel_is_shown(room: Room) -> None:
    room.panel.setFocus()
    plan, base = plan_of_files({"n.md": "a\n"}, {"n.md": "b\n"})
    room.panel.load(plan, base)
    assert QApplication.focusWidget() is room.panel.view
    room.panel.files.setFocus()
    room.panel.load(plan, base)
    assert QApplication.focusWidget() is room.panel.files
    room.panel.files.clearFocus()
    QApplication.sendEvent(room.panel, QShowEvent())
    room.press(K.Key_A)
    assert room.decisions == [A]


def test_changes_from_outside_are_named_apart(room: Room) -> None:
    plan, base = plan_of_files({"n.md": "a\n"}, {"n.md": "b\n"})
    drift = tuple(f"M file{n}.md" for n in range(7))
    room.panel.load(plan.model_copy(update={"drift": drift}), base)
    assert room.panel.messages.text.startswith("Changed outside since the baseline: M file0.md")
    assert room.panel.messages.text.endswith("and 2 more")


def test_hostile_names_and_text_stay_text(room: Room) -> None:
    name = '<img src="http://127.0.0.1:9/x.png"><b>approved<b>.md'
    load(room, {name: "a\n"}, {name: "<b>approved</b>\n"}, [finding(name, 1, rule="<i>rule</i>")])
    panel = room.panel
    assert panel.header.title.textFormat() == Qt.TextFormat.PlainText
    model = panel.files_model
    tip = model.data(model.index(0, 1), int(Qt.ItemDataRole.ToolTipRole))
    assert "<" not in tip
    assert "<" not in panel.view._tip(panel.model.document.count - 1)


def test_a_block_that_moved_is_one_row_that_opens(room: Room) -> None:
    block = "- a long enough line to be known again\n- and a second one of them\n"
    rest = "".join(f"- fact {n}\n" for n in range(9))
    load(room, {"n.md": block + rest}, {"n.md": rest + block})
    view, document = room.panel.view, room.panel.model.document
    assert view.cursor_row == document.headers[0]
    room.press(K.Key_Down)
    assert view.speaker.words == "2 lines moved to line 10, folded"
    before = document.count
    room.press(K.Key_Space)
    assert room.panel.model.document.count == before + 1
    assert "removed, old line 1: - a long enough line" in view.speaker.words
    room.press(K.Key_A)
    assert room.decisions == [A, U]
    room.press(K.Key_Down)
    room.press(K.Key_A)
    assert room.decisions == [A, A]
    room.press(K.Key_R)
    table = room.panel.reading
    texts = [table.model().index(row, 4).data() for row in range(table.model().rowCount())]
    assert "2 lines moved from line 1" in texts


def test_a_clipped_line_says_what_can_be_done_with_it(room: Room) -> None:
    long = "x" * 12_000
    plan, base = plan_of_files({"n.md": f"{long}\n"}, {"n.md": f"{long}y\n"})
    plan = plan.model_copy(update={"memory_root": "/memory"}).sealed()
    opener = _Opener()
    room.panel.hand_over.opener = opener  # type: ignore[assignment]
    room.panel.load(plan, base)
    room.panel.focus_diff()
    assert "clipped" in room.panel.header.counts.full_text
    room.panel.view.set_cursor_row(room.panel.model.document.headers[0] + 2)
    room.press(K.Key_L)
    dialog = child(room.panel, "long_line")
    activate(dialog)
    child(dialog, "long_line.copy").setFocus()
    room.press(K.Key_Space)
    copied = QGuiApplication.clipboard().text()
    assert (len(copied), copied[-3:]) == (12_001, "xxy")
    child(dialog, "long_line.outside").setFocus()
    room.press(K.Key_Space)
    assert not dialog.isVisible()
    assert [(name, place.line) for name, place in opener.asked] == [("editor", 1)]


def test_coming_back_from_the_editor_looks_whether_the_plan_still_holds(room: Room, qapp: QApplication) -> None:
    old, new = many_hunks(1)
    plan, base = plan_of_files({"n.md": old}, {"n.md": new})
    base_mark = WorkspaceMark(root="/memory", exists=True, baseline=None)
    plan = plan.model_copy(update={"memory_root": "/memory", "base": base_mark}).sealed()
    room.panel.hand_over.opener = _Opener()  # type: ignore[assignment]
    room.panel.load(plan, base)
    room.panel.focus_diff()

    def come_back() -> None:
        room.harness.call(lambda: qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive))

    come_back()
    assert room.operations.looked == 0  # nothing was opened outside: nothing is read again
    room.press(K.Key_O)
    come_back()
    assert room.operations.looked == 1
    assert room.panel.messages.text == ""
    room.operations.moved = True
    come_back()
    assert "Stale: the memory folder moved: MEMORY.md" in room.panel.messages.text
