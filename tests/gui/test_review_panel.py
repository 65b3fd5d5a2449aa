from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Decision, Receipt, Selection
from ltmem_gui.domain.errors import WorkspaceMoved
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.rollouts import Rollout, RolloutItem, RolloutRef
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.ui.panels.review import ReviewPanel
from ltmem_gui.ui.theme import Theme
from tests.gui.conftest import LoopHarness
from tests.helpers.reviews import finding, many_hunks, plan_of, plan_of_files

A, X, U, E = Decision.ACCEPT, Decision.REJECT, Decision.UNDECIDED, Decision.EDITED
K = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@dataclass
class FakeOperations:
    """Answer what the panel asks for, and keep what was asked."""

    base: dict[str, bytes] = field(default_factory=dict)
    after: tuple[Finding, ...] = ()
    moved: bool = False
    checked: list[Selection] = field(default_factory=list)
    read: list[Path] = field(default_factory=list)

    async def read_folder(self, root: Path) -> WorkspaceSnapshot:
        self.read.append(root)
        files = {path: WorkspaceFile(path, data, 0o644) for path, data in self.base.items()}
        return WorkspaceSnapshot(str(root), True, files, None, {})

    async def check(self, plan: Plan, selection: Selection) -> tuple[Finding, ...]:
        self.checked.append(selection)
        if self.moved:
            raise WorkspaceMoved("the memory folder moved: MEMORY.md")
        return self.after

    async def load_rollout(self, ref: RolloutRef) -> Rollout:
        items = (
            RolloutItem("user", "message", "never use npm\nalways pnpm", line=9),
            RolloutItem("assistant", "message", "noted", line=11),
        )
        return Rollout(id="t1", agent="codex", path=ref.path, items=items)


@dataclass
class Room:
    """A panel in a window, with its keys."""

    panel: ReviewPanel
    operations: FakeOperations
    harness: LoopHarness
    asked: list[tuple[Plan, Selection]]

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, modifier)

    def call(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        self.harness.call(lambda: self.press(key, modifier))

    @property
    def decisions(self) -> list[Decision]:
        review = self.panel.state.review
        assert review is not None
        return [review.mark(unit.key).decision for unit in review.deciding]

    def row_of(self, text: str) -> int:
        document = self.panel.model.document
        return next(at for at in range(document.count) if document.row(at).text == text)


@pytest.fixture
def room(harness: LoopHarness, qtbot: QtBot) -> Iterator[Room]:
    theme = Theme.load("light")
    theme.apply()
    operations = FakeOperations()
    panel = ReviewPanel(operations, harness.supervisor, theme)  # type: ignore[arg-type]
    qtbot.addWidget(panel)
    asked: list[tuple[Plan, Selection]] = []
    panel.apply_requested.connect(asked.append)
    panel.resize(1112, 720)
    panel.show()
    panel.activateWindow()
    QTest.qWaitForWindowActive(panel)
    yield Room(panel, operations, harness, asked)
    QGuiApplication.clipboard().clear()


def load(room: Room, before: Any, after: Any, findings: Any = ()) -> Plan:
    plan, base = plan_of_files(before, after, findings)
    room.operations.base = base
    room.panel.load(plan, base)
    room.panel.commands.focus_diff()
    return plan


def test_twenty_changes_are_reviewed_by_keyboard_alone(room: Room) -> None:
    old, new = many_hunks(20)
    plan = load(room, {"MEMORY.md": old}, {"MEMORY.md": new})
    panel = room.panel
    assert len(room.decisions) == 20
    assert not panel.foot.button.isEnabled()
    assert panel.foot.reason.full_text == "20 changes undecided — press N"
    for number in range(20):
        assert panel.commands.position().startswith(f"Change {number + 1} of 20")
        if number == 3:
            room.press(K.Key_E)
            field_ = QApplication.focusWidget()
            assert field_ is panel.edit.field
            QTest.keyClick(field_, K.Key_A, CTRL)
            QTest.keyClicks(field_, "- my own words")
            room.press(K.Key_Return, CTRL)
            assert QApplication.focusWidget() is panel.view
            room.press(K.Key_N)
        else:
            room.press(K.Key_X if number % 5 == 0 else K.Key_A)
        assert len(panel.state.review.undecided) == 19 - number  # type: ignore[union-attr]
    expected = [X if n % 5 == 0 else A for n in range(20)]
    expected[3] = E
    assert room.decisions == expected
    assert panel.foot.button.isEnabled()
    assert panel.foot.reason.full_text == "Ready: every change is decided"
    room.call(K.Key_A, CTRL | SHIFT)
    ((asked_plan, selection),) = room.asked
    assert asked_plan is plan
    hunks = plan.changes[0].hunks
    assert selection.edited == {"MEMORY.md": {hunks[3].id: ("- my own words\n",)}}
    assert len(selection.accepted["MEMORY.md"]) == 15
    assert room.operations.checked == [selection]


def test_undo_takes_back_one_decision_after_the_other(room: Room) -> None:
    old, new = many_hunks(4)
    load(room, {"n.md": old}, {"n.md": new})
    for key in (K.Key_A, K.Key_X, K.Key_A):
        room.press(key)
    assert room.decisions == [A, X, A, U]
    for expected in ([A, X, U, U], [A, U, U, U], [U, U, U, U], [U, U, U, U]):
        room.press(K.Key_Z)
        assert room.decisions == expected
    assert room.panel.foot.position.full_text == "Nothing to undo"
    room.press(K.Key_A)
    room.press(K.Key_F7, SHIFT)
    room.press(K.Key_U)
    assert room.decisions == [U, U, U, U]


def test_return_and_escape_never_decide(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    for key in (K.Key_Return, K.Key_Enter, K.Key_Escape, K.Key_Space):
        room.press(key)
    assert room.decisions == [U, U]
    assert room.asked == []


def test_next_undecided_goes_on_in_other_files(room: Room) -> None:
    load(
        room,
        {"MEMORY.md": "a\n", "memory_summary.md": "v1\n\na\n", "z.md": "x\n"},
        {"MEMORY.md": "b\n", "memory_summary.md": "v1\n\nb\n"},
    )
    panel = room.panel
    assert [row.change.path for row in panel.files_model.rows] == ["MEMORY.md", "memory_summary.md", "z.md"]
    seen = []
    for _ in range(3):
        seen.append(panel.current_path())
        room.press(K.Key_A)
    assert seen == ["MEMORY.md", "memory_summary.md", "z.md"]
    assert [row.sign for row in panel.files_model.rows] == ["✓", "✓", "✓"]
    room.press(K.Key_N)
    assert "Every change is decided" in panel.foot.position.full_text
    room.press(K.Key_PageDown, CTRL)
    assert panel.current_path() == "MEMORY.md"
    room.press(K.Key_PageUp, CTRL)
    assert panel.current_path() == "z.md"


def test_selected_rows_are_decided_alone(room: Room) -> None:
    plan = load(room, {"n.md": "top\n"}, {"n.md": "top\none\ntwo\nthree\n"})
    panel = room.panel
    panel.view.set_cursor_row(room.row_of("one"))
    room.press(K.Key_Down, SHIFT)
    assert "2 rows selected" in panel.commands.position()
    room.press(K.Key_X)
    assert room.decisions == [X, U]
    room.press(K.Key_Z)
    assert room.decisions == [U]
    panel.view.set_cursor_row(room.row_of("two"))
    room.press(K.Key_Down, SHIFT)
    room.press(K.Key_A)
    assert room.decisions == [U, A]
    room.press(K.Key_P)
    room.press(K.Key_X)
    selection = panel.state.review.selection()  # type: ignore[union-attr]
    assert selection.edited == {"n.md": {plan.changes[0].hunks[0].id: ("two\n", "three\n")}}


def test_rows_over_several_changes_are_decided_together(room: Room) -> None:
    old, new = many_hunks(3)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    panel.view.set_cursor_row(panel.model.document.headers[0])
    panel.view.set_cursor_row(panel.model.document.headers[2] + 2, extend=True)
    room.press(K.Key_A)
    assert room.decisions == [A, A, A]
    panel.view.set_cursor_row(0)
    panel.view.set_cursor_row(1, extend=True)
    room.press(K.Key_X)
    assert room.decisions == [A, A, A]
    assert panel.foot.position.full_text == "These rows do not change"


GROUP = "# Task Group: {0}\nscope: {0}\n\n## User preferences\n- {1}\n- {2}\n\n"


def test_a_task_group_is_decided_as_one(room: Room) -> None:
    old = GROUP.format("a", "one", "two") + GROUP.format("b", "three", "four")
    new = GROUP.format("a", "1", "two") + GROUP.format("new", "x", "y") + GROUP.format("b", "3", "4")
    load(room, {"MEMORY.md": old}, {"MEMORY.md": new})
    panel = room.panel
    panel.view.set_cursor_row(room.row_of("- 3"))
    room.press(K.Key_B)
    assert room.decisions == [U, U, A]
    assert "1 change of this task group decided" in panel.foot.position.full_text
    panel.view.set_cursor_row(room.row_of("# Task Group: new"))
    room.press(K.Key_B, SHIFT)
    assert room.decisions == [U, X, A]


def test_the_whole_file_asks_once_more_when_there_are_findings(room: Room) -> None:
    old, new = many_hunks(3)
    load(room, {"n.md": old}, {"n.md": new}, [finding("n.md", 5, severity=Severity.WARNING)])
    room.press(K.Key_A, SHIFT)
    assert room.decisions == [U, U, U]
    assert "press Shift+A again" in room.panel.foot.position.full_text
    room.press(K.Key_A, SHIFT)
    assert room.decisions == [A, A, A]
    room.press(K.Key_X, SHIFT)
    assert room.decisions == [X, X, X]


def test_blocking_findings_keep_apply_off_until_they_are_overridden_with_a_reason(room: Room) -> None:
    old, new = many_hunks(2)
    load(
        room,
        {"n.md": old},
        {"n.md": new},
        [finding("n.md", 5), finding("n.md", 13, name="w", severity=Severity.WARNING)],
    )
    panel = room.panel
    room.press(K.Key_G)
    assert panel.model.document.row(panel.view.cursor_row).new == 5
    room.press(K.Key_G)
    assert panel.model.document.row(panel.view.cursor_row).new == 13
    room.press(K.Key_G, SHIFT)
    assert panel.model.document.row(panel.view.cursor_row).new == 5
    room.press(K.Key_A)
    room.press(K.Key_A)
    assert panel.foot.reason.full_text == "1 blocking finding open — press G"
    assert not panel.foot.button.isEnabled()
    row = panel.findings_model.rows[0]
    assert (row.finding.id, row.is_open) == ("f", True)
    listed = child(panel, "review.findings")
    listed.setFocus()
    room.press(K.Key_Home)
    button = child(panel, "review.findings.override")
    assert button.isEnabled()
    button.click()  # type: ignore[attr-defined]
    QTest.keyClicks(QApplication.focusWidget(), "   ")
    room.press(K.Key_Return)
    assert not panel.foot.button.isEnabled()
    button.click()  # type: ignore[attr-defined]
    QTest.keyClicks(QApplication.focusWidget(), "a test value")
    room.press(K.Key_Return)
    assert panel.foot.button.isEnabled()
    assert "overridden: a test value" in panel.findings_model.rows[0].text


def test_the_context_menu_offers_the_actions_of_the_row(room: Room) -> None:
    load(room, {"n.md": "a\n"}, {"n.md": "b\n"})
    room.panel.view.customContextMenuRequested.emit(QPoint(20, 20))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "Reject" in [action.text() for action in menu.actions()]
    menu.actions()[0].trigger()
    menu.close()
    assert room.decisions == [A]


def test_a_press_on_the_overview_goes_there(room: Room) -> None:
    old, new = many_hunks(30)
    load(room, {"n.md": old}, {"n.md": new})
    room.panel.overview.row_wanted.emit(100)
    assert room.panel.view.cursor_row == 100


def test_header_buttons_act_on_their_change(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    for name, expected in (("accept", A), ("undecide", U), ("reject", X)):
        header = panel.model.document.headers[0]
        panel.view.set_cursor_row(header)
        panel.view.button_pressed.emit(name, header)
        assert room.decisions[0] is expected
    panel.view.set_cursor_row(panel.model.document.headers[1])
    panel.view.button_pressed.emit("edit", panel.view.cursor_row)
    assert panel.edit.is_open


def test_keys_on_rows_without_a_change_say_what_to_do(room: Room) -> None:
    old, new = many_hunks(1)
    load(room, {"n.md": old}, {"n.md": new})
    panel = room.panel
    for key, modifier, words in (
        (K.Key_A, NONE, "No change on this row"),
        (K.Key_E, NONE, "No change on this row"),
        (K.Key_T, NONE, "No change on this row"),
        (K.Key_C, CTRL | SHIFT, "No change on this row"),
        (K.Key_B, NONE, "no task group"),
        (K.Key_Space, NONE, "Not on a fold"),
        (K.Key_G, NONE, "No further finding"),
    ):
        panel.view.set_cursor_row(1)
        room.press(key, modifier)
        assert words in panel.foot.position.full_text, words
    panel.view.set_cursor_row(panel.model.document.count - 1)
    room.press(K.Key_F7)
    assert "No further change" in panel.foot.position.full_text
    panel.view.set_cursor_row(panel.model.document.headers[0])
    room.press(K.Key_L)
    assert "No line of text" in panel.foot.position.full_text
    panel.view.set_cursor_row(panel.view.cursor_row + 1)
    room.press(K.Key_L)
    dialog = panel.findChild(QWidget, "long_line")
    assert isinstance(dialog, QDialog)
    dialog.reject()


def test_an_empty_panel_takes_every_key_and_does_nothing(room: Room) -> None:
    room.panel._pages.setCurrentWidget(room.panel._page)
    room.panel.view.setFocus()
    for action in room.panel.registry.specs:
        if action.id not in ("review.reading_list",):
            room.panel.registry.trigger(action.id)
    room.panel.header.export_asked.emit("json")
    room.panel.side.override_asked.emit(finding("x", 1))
    assert room.asked == []
    assert room.panel.commands.position() == ""
    assert room.panel.commands.summary() == ""


def test_findings_lead_to_their_lines_in_other_files(room: Room) -> None:
    old, new = many_hunks(2, 60)
    found = [
        finding("b.md", 20, severity=Severity.WARNING),
        finding("gone.md", 3, name="g", severity=Severity.WARNING),
        finding("a.md", None, name="w", severity=Severity.WARNING),
    ]
    load(room, {"a.md": old, "b.md": old}, {"a.md": new, "b.md": new}, found)
    panel = room.panel
    panel.view.set_cursor_row(0)
    room.press(K.Key_G)
    assert panel.view.cursor_row == panel.model.document.headers[0]
    room.press(K.Key_G)
    assert panel.current_path() == "b.md"
    assert panel.model.document.row(panel.view.cursor_row).new == 20
    room.press(K.Key_G, SHIFT)
    assert panel.current_path() == "a.md"
    for finding_ in found:
        panel.side.finding_chosen.emit(finding_)
    assert "is not changed by this plan" in panel.foot.position.full_text or panel.current_path() == "a.md"
    panel.findings_model.set_severity(Severity.BLOCKING)
    assert panel.findings_model.rowCount() == 0
    filter_ = child(panel, "review.findings.filter")
    filter_.setCurrentIndex(2)  # type: ignore[attr-defined]
    assert panel.findings_model.rowCount() == 3


def child(panel: QWidget, name: str) -> QWidget:
    found = panel.findChild(QWidget, name)
    assert isinstance(found, QWidget), name
    return found


def test_a_finding_of_the_last_check_comes_back_into_the_review(room: Room) -> None:
    old, new = many_hunks(1)
    load(room, {"n.md": old}, {"n.md": new})
    room.operations.after = (finding("n.md", 5, name="after"),)
    room.press(K.Key_A)
    room.call(K.Key_A, CTRL | SHIFT)
    assert room.asked == []
    assert room.panel.foot.reason.full_text == "1 blocking finding open — press G"
    assert room.panel.findings_model.rows[0].finding.id == "after"
    room.panel.state.override("after", "known")
    room.call(K.Key_A, CTRL | SHIFT)
    assert room.asked[0][1].overrides == {"after": "known"}


def test_a_moved_folder_is_a_banner_that_offers_a_fresh_plan(room: Room) -> None:
    old, new = many_hunks(2)
    plan = load(room, {"n.md": old}, {"n.md": new})
    wanted: list[Plan] = []
    room.panel.rebase_requested.connect(wanted.append)
    room.operations.moved = True
    room.press(K.Key_A)
    room.press(K.Key_X)
    room.call(K.Key_A, CTRL | SHIFT)
    assert room.asked == []
    assert "Stale: the memory folder moved" in room.panel.messages.text
    child(room.panel, "message_bar.action").click()  # type: ignore[attr-defined]
    assert wanted == [plan]
    fresh, base = plan_of_files({"n.md": "top\n" + old}, {"n.md": "top\n" + new.replace("number 12", "number twelve")})
    room.panel.load(fresh, base)
    assert room.decisions == [A, U]
    assert room.panel.messages.text == ""


def test_files_that_moved_already_are_named_at_once(room: Room) -> None:
    old, new = many_hunks(1)
    plan, _ = plan_of_files({"n.md": old}, {"n.md": new})
    room.panel.load(plan, {"n.md": b"other"})
    assert "1 file moved since the plan was made: n.md" in room.panel.messages.text
    assert room.panel.model.document.row(0).gap == -1


def test_a_plan_brings_its_unchanged_lines_from_the_folder(room: Room) -> None:
    old, new = many_hunks(2)
    plan, base = plan_of_files({"n.md": old}, {"n.md": new})
    plan = plan.model_copy(update={"memory_root": "/somewhere"}).sealed()
    room.operations.base = base
    room.harness.call(lambda: room.panel.show_plan(plan))
    assert room.operations.read == [Path("/somewhere")]
    assert room.panel.model.file is not None
    assert room.panel.model.file.base is not None
    fresh = plan_of()
    room.harness.call(lambda: room.panel.show_plan(fresh))
    assert len(room.operations.read) == 1


def test_an_edit_is_followed_live_and_can_be_dropped(room: Room) -> None:
    load(room, {"n.md": "a\nb\n"}, {"n.md": "a\nB\n"})
    panel = room.panel
    room.press(K.Key_E)
    panel.edit.field.setPlainText("a changed line\nand another\n")
    panel.edit.previewed.emit(panel.edit.lines())
    shown = [panel.model.document.row(at).text for at in range(panel.model.document.count)]
    assert "and another" in shown
    assert room.decisions == [U]
    room.press(K.Key_Escape)
    assert QApplication.focusWidget() is panel.view
    assert panel.edit.is_open
    child(panel, "review.edit_pane.drop").click()  # type: ignore[attr-defined]
    assert not panel.edit.is_open
    shown = [panel.model.document.row(at).text for at in range(panel.model.document.count)]
    assert "and another" not in shown
    room.press(K.Key_E)
    room.press(K.Key_Escape)
    assert not panel.edit.is_open


def test_text_that_the_field_would_change_is_refused_with_its_reason(room: Room) -> None:
    load(room, {"n.md": "a\nb\n", "m.md": "x\n"}, {"n.md": "a\nB\u00a0x\n", "m.md": "y\n"})
    panel = room.panel
    panel.open_file("n.md")
    room.press(K.Key_E)
    assert not panel.edit.is_open
    assert "no-break spaces" in panel.foot.position.full_text
    panel.open_file("m.md")
    room.press(K.Key_E)
    panel.edit.field.setPlainText("has \ufffc inside")
    assert not child(panel, "review.edit_pane.keep").isEnabled()
    panel.edit.keep()
    assert panel.edit.is_open
    panel.open_file("n.md")
    assert not panel.edit.is_open


def test_whole_files_and_threads_are_not_edited(room: Room) -> None:
    load(room, {"gone.md": "x\n"}, {"rollout_summaries/a.md": "thread_id: t1\n\nx\n"})
    room.press(K.Key_E)
    assert "decided as a whole" in room.panel.foot.position.full_text
    room.press(K.Key_X)
    room.press(K.Key_E)
    assert not room.panel.edit.is_open


def test_a_note_is_kept_with_the_change(room: Room) -> None:
    load(room, {"n.md": "a\n"}, {"n.md": "b\n"})
    room.press(K.Key_T)
    QTest.keyClicks(QApplication.focusWidget(), "not durable")
    room.press(K.Key_Return)
    review = room.panel.state.review
    assert review is not None
    assert list(review.notes.values()) == ["not durable"]
    room.press(K.Key_T)
    QTest.keyClicks(QApplication.focusWidget(), "other")
    room.press(K.Key_Escape)
    assert list(room.panel.state.review.notes.values()) == ["not durable"]  # type: ignore[union-attr]
    assert QApplication.focusWidget() is room.panel.view


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


def test_the_review_is_exported_in_four_forms(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    room.press(K.Key_A)
    room.press(K.Key_X)
    clipboard = QGuiApplication.clipboard()
    for kind in ("markdown", "json", "accepted", "rejected"):
        room.panel.header.export_asked.emit(kind)
        text = clipboard.text()
        if kind == "json":
            assert [c["decision"] for c in json.loads(text)["changes"]] == ["accept", "reject"]
        elif kind == "markdown":
            assert "- **reject**" in text
        else:
            line = 4 if kind == "accepted" else 12
            assert f"+- changed fact number {line} " in text


MEMORY = (
    "# Task Group: a\nscope: a\n\n## User preferences\n"
    "- {} [Task 1] [c1]\n- no source here [Task 1]\n- in a rollout [c2]\n\n"
    "<citation_entries>\nrollout_summaries/a.md:3-4 |note=[c1 the user said so]\n"
    "rollout:t1:9-9 |note=[c2 in passing]\nmissing.md:1-2 |note=[c1 gone]\nrollout_summaries/a.md:9-90 |note=[c1 far]\n"
    "</citation_entries>\n<rollout_ids>\nt1\n</rollout_ids>\n"
)


def test_the_line_under_the_cursor_shows_where_it_comes_from(room: Room) -> None:
    summary = "thread_id: t1\n\n- never npm\n- always pnpm\n"
    load(
        room,
        {"MEMORY.md": MEMORY.format("use npm"), "rollout_summaries/a.md": summary},
        {"MEMORY.md": MEMORY.format("use pnpm"), "rollout_summaries/a.md": summary},
    )
    panel = room.panel
    title, note = child(panel, "review.evidence.title"), child(panel, "review.evidence.note")
    evidence = child(panel, "review.evidence")
    panel.view.set_cursor_row(room.row_of("- use pnpm [Task 1] [c1]"))
    assert title.text() == "rollout_summaries/a.md:3-4 (1 of 3)"  # type: ignore[attr-defined]
    assert [line.text for line in evidence.lines if line.marked] == ["- never npm", "- always pnpm"]  # type: ignore[attr-defined]
    child(panel, "review.evidence.next").click()  # type: ignore[attr-defined]
    assert "not in the memory folder" in note.text()  # type: ignore[attr-defined]
    child(panel, "review.evidence.next").click()  # type: ignore[attr-defined]
    assert "has only 4 lines" in note.text()  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("- no source here [Task 1]"))
    assert title.text() == "▲ no source"  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("- in a rollout [c2]"))
    assert title.text() == "rollout t1"  # type: ignore[attr-defined]
    room.press(K.Key_S)
    assert "scan the sessions folder" in note.text()  # type: ignore[attr-defined]
    panel.commands.focus_diff()
    panel.show_rollouts({"t1": RolloutRef(agent="codex", path="/r.jsonl", size=0, mtime_ns=0)})
    panel.view.set_cursor_row(room.row_of("- in a rollout [c2]"))
    room.call(K.Key_S)
    assert evidence.lines[0].text == "never use npm"  # type: ignore[attr-defined]
    panel.view.set_cursor_row(room.row_of("## User preferences"))
    assert title.text() == "Nothing to cite on this line"  # type: ignore[attr-defined]


def test_an_input_names_its_session(room: Room) -> None:
    load(room, {}, {"rollout_summaries/a.md": "thread_id: t1\n\nx\n"})
    panel = room.panel
    title = child(panel, "review.evidence.title")
    assert title.text() == "rollout t1"  # type: ignore[attr-defined]
    panel.show_rollouts({"t1": RolloutRef(agent="codex", path="/r.jsonl", size=0, mtime_ns=0)})
    room.call(K.Key_S)
    lines = child(panel, "review.evidence").lines  # type: ignore[attr-defined]
    assert [line.text for line in lines] == ["never use npm", "always pnpm"]
    QTest.keyClick(child(panel, "review.evidence"), K.Key_Escape)
    assert QApplication.focusWidget() is panel.view


def test_empty_panel_empty_plan_and_receipt_teach(room: Room) -> None:
    panel = room.panel
    page = child(panel, "review.empty")
    assert page.accessibleName().startswith("Nothing to review")
    panel.load(plan_of(state=PlanState.EMPTY).model_copy(update={"notes": ("no change against the baseline",)}), {})
    assert "no change against the baseline" in page.accessibleName()
    plan = load(room, {"n.md": "a\n"}, {"n.md": "b\n"})
    assert not page.isVisible()
    receipt = Receipt(
        operation_number=7,
        operation="consolidate",
        kind="apply",
        plan_digest="other",
        selection_digest="",
        approver="me",
        surface="window",
        started_at=0,
        finished_at=0,
    )
    panel.show_receipt(receipt)
    assert panel.state.plan is plan
    panel.show_receipt(receipt.model_copy(update={"plan_digest": plan.digest}))
    assert "receipt no. 7" in page.accessibleName()


def test_a_plan_that_cannot_be_applied_says_so(room: Room) -> None:
    plan, base = plan_of_files({"n.md": "a\n"}, {"n.md": "b\n"})
    room.panel.load(plan.model_copy(update={"state": PlanState.INCOMPLETE}), base)
    room.panel.commands.focus_diff()
    room.press(K.Key_A)
    assert room.panel.foot.reason.full_text == "the plan is incomplete"
    assert not room.panel.foot.button.isEnabled()


def test_the_count_of_undecided_changes_is_told(room: Room) -> None:
    counts: list[int] = []
    room.panel.undecided_changed.connect(counts.append)
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    room.press(K.Key_A)
    room.press(K.Key_A)
    assert counts[-3:] == [2, 1, 0] or counts[-2:] == [1, 0]


def test_every_selection_clears_the_view_of_the_one_before(room: Room) -> None:
    load(room, {"a.md": "text\n", "b.bin": b"\0\1"}, {"a.md": "TEXT\n", "b.bin": b"\0\2", "c.md": ""})
    panel = room.panel
    texts = {}
    for row in panel.files_model.rows:
        panel.open_file(row.change.path)
        texts[row.change.path] = [panel.model.document.row(at).text for at in range(panel.model.document.count)]
        assert panel.header.title.full_text == row.change.path
    assert "TEXT" in texts["a.md"]
    assert not any("TEXT" in line for line in (*texts["b.bin"], *texts["c.md"]))
    assert any(line.startswith("before: 2 bytes") for line in texts["b.bin"])


def test_hostile_names_and_text_stay_text(room: Room) -> None:
    name = '<img src="http://127.0.0.1:9/x.png"><b>approved<b>.md'
    load(room, {name: "a\n"}, {name: "<b>approved</b>\n"}, [finding(name, 1, rule="<i>rule</i>")])
    panel = room.panel
    assert panel.header.title.textFormat() == Qt.TextFormat.PlainText
    model = panel.files_model
    tip = model.data(model.index(0, 1), int(Qt.ItemDataRole.ToolTipRole))
    assert "<" not in tip
    assert "<" not in panel.view._tip(panel.model.document.count - 1)


def test_the_scheme_can_change_while_a_plan_is_open(room: Room) -> None:
    old, new = many_hunks(2)
    load(room, {"n.md": old}, {"n.md": new})
    theme = room.panel._theme
    theme.set_scheme("dark")
    assert room.panel.view._rows.colors.base == theme.color("base")
    theme.set_scheme("light")
