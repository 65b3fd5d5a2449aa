from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.plan import Plan, PlanState
from tests.gui.review_room import CTRL, NONE, SHIFT, A, E, K, Room, U, X, child, load, make_room
from tests.helpers.reviews import finding, many_hunks, plan_of, plan_of_files

room = pytest.fixture(make_room)


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
    room.panel.header.copy_asked.emit("json")
    room.harness.call(lambda: room.panel.header.save_asked.emit("json"))
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


def test_a_finding_of_the_last_check_comes_back_into_the_review(room: Room) -> None:
    old, new = many_hunks(1)
    load(room, {"n.md": old}, {"n.md": new})
    room.operations.after = (finding("n.md", 5, name="after"),)
    room.press(K.Key_A)
    room.call(K.Key_A, CTRL | SHIFT)
    assert room.asked == []
    assert room.panel.foot.reason.full_text == "1 blocking finding open — press G"
    assert room.panel.findings_model.rows[0].finding.id == "after"
    assert [f.id for f in room.panel.model.findings] == ["after"]
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


def test_a_left_out_thread_that_breaks_the_rest_offers_a_plan_without_it(room: Room) -> None:
    plan = load(room, {}, {"MEMORY.md": "x\n", "rollout_summaries/a.md": "thread_id: t1\n\nx\n"})
    room.operations.after = (finding("MEMORY.md", 1, name="cite", rule="unresolved-citation"),)
    wanted: list[object] = []
    room.panel.leave_out_requested.connect(lambda *args: wanted.append(args))
    room.press(K.Key_A)
    room.press(K.Key_X)
    room.call(K.Key_A, CTRL | SHIFT)
    assert room.asked == []
    assert room.panel.messages.text == "Leaving out 1 thread leaves 1 finding"
    child(room.panel, "message_bar.action").click()  # type: ignore[attr-defined]
    assert wanted == [(plan, frozenset({"t1"}))]


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
    room.panel.focus_diff()
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


def test_the_next_finding_opens_its_own_fold_alone(room: Room) -> None:
    old, new = many_hunks(4, 100)
    lines = (20, 120, 130, 220)
    found = [finding("n.md", at, name=f"f{at}", severity=Severity.WARNING) for at in lines]
    load(room, {"n.md": old}, {"n.md": new}, found)
    panel = room.panel
    document = panel.model.document
    assert [document.place_of(at - 1) for at in lines] == [None] * 4
    panel.view.set_cursor_row(0)
    seen = []
    for _ in range(4):
        room.press(K.Key_G)
        seen.append(panel.model.document.row(panel.view.cursor_row).new)
    assert seen == [*lines]
    assert panel.model.document.place_of(320) is None
    panel.view.set_cursor_row(panel.model.document.count - 1)
    for _ in range(4):
        room.press(K.Key_G, SHIFT)
        seen.append(panel.model.document.row(panel.view.cursor_row).new)
    assert seen == [*lines, *reversed(lines)]


def test_from_below_the_last_finding_of_a_fold_comes_first(room: Room) -> None:
    old, new = many_hunks(2, 100)
    found = [finding("n.md", at, name=f"f{at}", severity=Severity.WARNING) for at in (120, 130)]
    load(room, {"n.md": old}, {"n.md": new}, found)
    panel = room.panel
    panel.view.set_cursor_row(panel.model.document.count - 1)
    room.press(K.Key_G, SHIFT)
    assert panel.model.document.row(panel.view.cursor_row).new == 130


def test_a_decision_leaves_the_list_of_findings_where_it_is(room: Room) -> None:
    old, new = many_hunks(3)
    load(room, {"n.md": old}, {"n.md": new}, [finding("n.md", at, name=f"f{at}") for at in (5, 13, 21)])
    panel = room.panel
    listed = child(panel, "review.findings")
    listed.setCurrentIndex(panel.findings_model.index(1))  # type: ignore[attr-defined]
    room.press(K.Key_X)
    assert "settled" in panel.findings_model.rows[0].text
    assert listed.currentIndex().row() == 1  # type: ignore[attr-defined]
