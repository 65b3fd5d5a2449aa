from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.rows import RowKind
from ltmem_gui.domain.diffing.searching import compile_search
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.review import Review
from ltmem_gui.ui.models.diff_marks import FRAME_SECONDS, WordMarks
from ltmem_gui.ui.models.diff_model import DiffModel, FileInput
from ltmem_gui.ui.models.diff_reading import COLUMNS, ReadingModel
from ltmem_gui.ui.models.diff_spoken import spoken_row
from ltmem_gui.ui.theme import Scheme, Theme, contrast, monospace
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_long_line import PAGE, LongLineDialog
from ltmem_gui.ui.widgets.diff_view import DiffView
from ltmem_gui.ui.widgets.overview_bar import OverviewBar
from tests.helpers.reviews import finding, many_hunks, plan_of_files
from tests.helpers.waiting import PATIENCE_MS

K = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier

MOVED = "- moved line with enough text to be told\n"
OLD = "# Task Group: a\n" + "".join(f"- fact {n}\n" for n in range(30)) + MOVED + "end"
NEW = (
    OLD.replace("- fact 9\n", "- fact nine\n")
    .replace(MOVED, "")
    .replace("- fact 2\n", f"- fact 2\n{MOVED}")
    .replace("end", "end\n\ttab, a no\u00a0break, zero\u200bwidth, bidi \u202eoverride\nstray\rreturn\r\n")
)


@pytest.fixture
def show(qtbot: QtBot) -> Callable[..., tuple[DiffView, DiffModel, Review]]:
    def shown(
        old: str | bytes, new: str | bytes, findings: tuple[Finding, ...] = (), scheme: Scheme = "light"
    ) -> tuple[DiffView, DiffModel, Review]:
        plan, base = plan_of_files({"n.md": old}, {"n.md": new}, findings)
        review = Review(plan)
        model = DiffModel()
        theme = Theme.load(scheme)
        theme.apply()
        view = DiffView(model, DiffColors.of(theme), monospace())
        model.setParent(view)
        qtbot.addWidget(view)
        text = base["n.md"].decode("utf-8", "replace")
        model.open(FileInput(plan.changes[0], tuple(split_lines(text))), review)
        view.resize(900, 640)
        view.show()
        view.setFocus()
        QTest.qWaitForWindowActive(view, PATIENCE_MS)
        return view, model, review

    return shown


def picture(view: QWidget) -> QImage:
    return view.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def colors_in(image: QImage, rect: QRect) -> set[str]:
    ratio = image.devicePixelRatio()
    return {
        QColor(image.pixel(int(x * ratio), int(y * ratio))).name()
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    }


def band(view: DiffView, row: int) -> QRect:
    top = row * view.row_height - view.verticalScrollBar().value()
    return QRect(0, top, view.viewport().width(), view.row_height)


# --- what is painted ---


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rows_tell_their_kind_by_colour_sign_and_number(show: Callable, scheme: Scheme) -> None:
    view, model, _ = show(OLD, NEW, (), scheme)
    colors = DiffColors.of(Theme.load(scheme))
    view.verticalScrollBar().setValue(0)
    image = picture(view)
    seen = set()
    for at in range(view.viewport().height() // view.row_height):
        if at >= model.document.count:
            break
        row = model.document.row(at)
        if at == view.cursor_row:
            continue
        found = colors_in(image, band(view, at).adjusted(120, 4, -200, -4))
        wanted = {RowKind.ADDED: colors.added, RowKind.REMOVED: colors.removed, RowKind.FOLD: colors.fold}
        if row.kind in wanted:
            assert wanted[row.kind].name() in found, row
            seen.add(row.kind)
        if row.kind is RowKind.CONTEXT:
            assert colors.base.name() in found
    assert seen == {RowKind.ADDED, RowKind.REMOVED, RowKind.FOLD}


@pytest.mark.parametrize("decision", [Decision.ACCEPT, Decision.REJECT, Decision.EDITED])
def test_a_decision_is_a_stripe_a_sign_and_a_word(show: Callable, decision: Decision) -> None:
    view, model, review = show("a\nb\n", "a\nB\n")
    colors = DiffColors.of(Theme.load("light"))
    key = review.units[0].key
    before = colors_in(picture(view), band(view, 2).adjusted(0, 4, 0, -4).adjusted(0, 0, -890, 0))
    model.set_review(review.edit(key, ("other\n",)) if decision is Decision.EDITED else review.decide(key, decision))
    after = colors_in(picture(view), band(view, 2).adjusted(0, 4, 0, -4).adjusted(0, 0, -890, 0))
    assert colors.decisions[decision].name() not in before
    assert colors.decisions[decision].name() in after
    assert (
        spoken_row(model, model.document.headers[0]).split(", ")[1]
        == {
            Decision.ACCEPT: "accepted",
            Decision.REJECT: "rejected",
            Decision.EDITED: "edited",
        }[decision]
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_every_band(scheme: Scheme) -> None:
    c = DiffColors.of(Theme.load(scheme))
    for back in (c.base, c.added, c.removed, c.added_word, c.removed_word, c.current, c.fold, c.hit, c.selection):
        assert contrast(c.text, back) >= 4.5, back.name()
    for back in (c.gutter, c.current):
        assert contrast(c.gutter_text, back) >= 4.5
    for back in (c.fold, c.current, c.base, c.added):
        assert contrast(c.muted, back) >= 4.5, back.name()
    for ink in (*c.decisions.values(), *c.findings.values()):
        assert contrast(ink, c.current) >= 4.5, ink.name()
        assert contrast(ink, c.base) >= 4.5, ink.name()
    for back in (c.base, c.added, c.removed):
        assert contrast(c.hazard, back) >= 4.5, back.name()


def test_words_are_marked_and_hits_are_banded(show: Callable) -> None:
    view, model, _ = show("use npm here\n", "use yarn here\n")
    colors = DiffColors.of(Theme.load("light"))
    view.set_cursor_row(0)
    added = next(at for at in range(model.document.count) if model.document.row(at).kind is RowKind.ADDED)
    assert colors.added_word.name() in colors_in(picture(view), band(view, added))
    model.search(compile_search("here", regex=False, match_case=True), "new")
    assert colors.hit.name() in colors_in(picture(view), band(view, added))
    removed = added - 1
    assert colors.hit.name() not in colors_in(picture(view), band(view, removed))
    model.search(None, "both")
    assert colors.hit.name() not in colors_in(picture(view), band(view, added))


def test_a_frame_compares_for_a_bounded_time_and_the_next_goes_on(show: Callable, qtbot: QtBot) -> None:
    old = "".join(f"- number {n} lives here {'and there ' * 20}\n" for n in range(20))
    view, model, _ = show(old, old.replace("lives", "stays"))
    rows = [n for n in range(model.document.count) if model.document.row(n).kind is RowKind.ADDED]
    ticks = count(0.0, FRAME_SECONDS / 2.5)
    model.marks = WordMarks(model.document, lambda: next(ticks))
    model.marks.start_frame()
    first = [bool(model.marks_of(row).new) for row in rows]
    assert model.marks.end_frame()
    assert first.count(True) == 3
    assert first[:3] == [True] * 3
    model.marks.start_frame()
    assert [bool(model.marks_of(row).new) for row in rows].count(True) == 6
    assert model.marks.end_frame()
    view.viewport().update()
    qtbot.waitUntil(lambda: all(row in model.marks for row in rows), timeout=PATIENCE_MS)


def test_side_by_side_keeps_one_sided_files_whole(show: Callable) -> None:
    view, model, _ = show(OLD, NEW)
    assert not view.paired
    view.set_side_by_side(True)
    assert view.paired
    one = picture(view)
    for key in (K.Key_Down, K.Key_PageDown, K.Key_End, K.Key_Home):
        QTest.keyClick(view, key)
    view.set_side_by_side(False)
    assert picture(view) != one
    added, _ = plan_of_files({}, {"n.md": "x\n"})
    view.set_side_by_side(True)
    model.open(FileInput(added.changes[0], ()), Review(added))
    assert not view.paired
    assert view.grab().width() == view.width() * view.devicePixelRatio()


def test_a_binary_file_is_shown_by_size_hash_and_head(show: Callable) -> None:
    view, model, _ = show(b"\0old", b"\0new and longer")
    texts = [model.document.row(at).text for at in range(model.document.count)]
    assert any("sha256" in text for text in texts)
    assert any(text.startswith("00000000  00 6e 65 77") for text in texts)
    assert not view.grab().isNull()


# --- going about ---


def test_the_cursor_moves_selects_and_stays_inside(show: Callable) -> None:
    view, model, _ = show(OLD, NEW)
    moved: list[int] = []
    view.cursor_moved.connect(moved.append)
    last = model.document.count - 1
    QTest.keyClick(view, K.Key_End)
    assert view.cursor_row == last
    QTest.keyClick(view, K.Key_Down)
    assert view.cursor_row == last
    QTest.keyClick(view, K.Key_PageUp)
    QTest.keyClick(view, K.Key_Home)
    assert view.cursor_row == 0
    QTest.keyClick(view, K.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, K.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert view.selected_rows == (0, 2)
    assert not view.grab().isNull()
    QTest.keyClick(view, K.Key_Escape)
    assert view.selected_rows == (2, 2)
    assert moved[-1] == 2
    before = view.horizontalScrollBar().value()
    view.horizontalScrollBar().setRange(0, 500)
    QTest.keyClick(view, K.Key_Right)
    assert view.horizontalScrollBar().value() > before
    QTest.keyClick(view, K.Key_Left)
    assert view.horizontalScrollBar().value() == before


def test_the_cursor_is_always_in_sight(show: Callable) -> None:
    view, model, _ = show(*many_hunks(100))
    for row in (0, 300, 40, model.document.count - 1, 5):
        view.set_cursor_row(row)
        top = row * view.row_height - view.verticalScrollBar().value()
        assert 0 <= top <= view.viewport().height() - view.row_height
    view.center_cursor()
    model.clear()
    assert view.cursor_row == 0
    view.set_cursor_row(7)
    assert view.selected_text() == ""
    assert not view.grab().isNull()


def test_the_mouse_selects_opens_folds_and_presses_buttons(show: Callable) -> None:
    view, model, _ = show(*many_hunks(3, 100))
    pressed: list[tuple[str, int]] = []
    view.button_pressed.connect(lambda name, row: pressed.append((name, row)))
    view.verticalScrollBar().setValue(0)
    h = view.row_height
    assert model.document.row(0).kind is RowKind.FOLD
    before = model.document.count
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, NONE, QPoint(300, h // 2))
    assert model.document.count > before
    header = model.document.headers[0]
    view.set_cursor_row(header)
    y = header * h - view.verticalScrollBar().value() + h // 2
    for name, rect in view._rows.button_rects(band(view, header), model.document.row(header)):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, NONE, rect.center())
        assert pressed[-1] == (name, header)
    assert {name for name, _ in pressed} == {"accept", "reject", "edit"}
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, NONE, QPoint(300, y + h))
    QTest.mouseMove(view.viewport(), QPoint(300, y + 3 * h))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, NONE, QPoint(300, y + 3 * h))
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, QPoint(300, y + 4 * h)
    )
    first, last = view.selected_rows
    assert last > first
    QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, NONE, QPoint(300, y))
    assert view.selected_rows == (first, last)


def test_tooltips_are_plain_text(show: Callable) -> None:
    view, model, _ = show("a\n", "b\n", (finding("n.md", 1, rule="<b>x</b>"),))
    row = model.document.count - 1
    point = QPoint(300, row * view.row_height + 4)
    for at in (point, QPoint(300, view.row_height * 25)):
        event = QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
        assert QApplication.sendEvent(view.viewport(), event)
    assert "<" not in view._tip(row)


def test_text_is_copied_as_it_is_in_the_file(show: Callable) -> None:
    view, model, _ = show(OLD, NEW)
    view.set_cursor_row(0)
    view.set_cursor_row(model.document.count - 1, extend=True)
    text = view.selected_text()
    assert "\ttab, a no\u00a0break, zero\u200bwidth, bidi \u202eoverride\nstray\rreturn" in text
    assert "⟨" not in text
    assert "no newline" not in text


# --- long lines and hostile text ---


def test_a_line_of_five_million_characters_is_usable_and_copied_whole(show: Callable) -> None:
    base = "".join(("x" * 3999 + "😀") for _ in range(1250))
    old, new = base + "\n", base[:2_500_000] + "CHANGED" + base[2_500_000:] + "\n"
    view, model, _ = show(old, new)
    assert model.long_lines == 2
    view.set_cursor_row(model.document.count - 1)
    assert not view.grab().isNull()
    for at in range(model.document.count):
        row = model.document.row(at)
        if row.kind is RowKind.ADDED:
            layout = view._rows.metrics.layout(row.text)
            assert layout.cut == len(new) - 1 - 10_000
            labels = [label for label, _ in view._rows.trailing(at, row, layout.cut)]
            assert "too long for word marks" in labels
            assert any("more characters: L shows them" in label for label in labels)
    assert view.selected_text() == new[:-1]


def test_a_long_line_is_shown_page_by_page(qtbot: QtBot) -> None:
    text = "a" * (2 * PAGE) + "\u202eb"
    dialog = LongLineDialog(text, "n.md:3")
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.pages == 3
    back, on = dialog.findChild(QPushButton, "long_line.back"), dialog.findChild(QPushButton, "long_line.on")
    assert not back.isEnabled()
    on.click()
    on.click()
    assert not on.isEnabled()
    assert dialog._field.toPlainText() == "⟨U+202E⟩b"
    back.click()
    assert on.isEnabled()
    dialog.reject()


def test_positions_after_emoji_and_tags_are_code_points(show: Callable) -> None:
    view, _, _ = show("a\n", "b\n")
    metrics = view._rows.metrics
    layout = metrics.layout("a😀\u200bb\tc")
    places = [metrics.x_of(layout, at) for at in range(7)]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[3] - places[2] == metrics.tag_width("ZWSP")
    assert places[6] == layout.width
    assert metrics.layout("").width == 0
    for n in range(1100):
        metrics.layout(f"line {n}")


# --- assistive tools ---


def test_every_row_kind_has_words(show: Callable) -> None:
    findings = (finding("n.md", 11), finding("n.md", None, name="w", severity=Severity.WARNING, rule="size"))
    view, model, review = show(OLD, NEW, findings)
    model.set_review(review.note(review.units[0].key, "a note"))
    spoken = {row: spoken_row(model, row) for row in range(model.document.count)}
    by_kind = {model.document.row(at).kind: text for at, text in spoken.items()}
    assert set(by_kind) == {RowKind.HEADER, RowKind.CONTEXT, RowKind.REMOVED, RowKind.ADDED, RowKind.FOLD}
    assert all(spoken.values())
    everything = "\n".join(spoken.values())
    for words in (
        "change 1 of 3, undecided, 1 added, 0 removed",
        "note: a note",
        "warning finding, size",
        "blocking finding, secret",
        "unchanged, line 1: # Task Group: a",
        "removed, old line",
        "moved from line",
        "moved to line",
        "no newline at end of file",
        "tab at character 1",
        "no-break space at character",
        "right-to-left override at character",
        "stray carriage return at character 6",
        "carriage return and line feed",
        "unchanged lines, folded",
    ):
        assert words in everything, words
    assert spoken_row(model, -1) == ""
    view.set_cursor_row(model.document.headers[1])
    assert view.accessibleDescription().startswith("change 2 of 3")
    binary, _ = plan_of_files({}, {"b": b"\0"})
    model.open(FileInput(binary.changes[0], None), Review(binary))
    assert all(spoken_row(model, at) for at in range(model.document.count))
    long, _ = plan_of_files({}, {"b": "x" * 900})
    model.open(FileInput(long.changes[0], ()), Review(long))
    assert "and 400 more characters" in spoken_row(model, 1)


def test_the_reading_list_speaks_every_row(show: Callable) -> None:
    _, model, review = show(OLD, NEW, (finding("n.md", 11),))
    reading = ReadingModel(model)
    spoken = int(Qt.ItemDataRole.AccessibleTextRole)
    assert reading.columnCount() == len(COLUMNS)
    assert [reading.headerData(c, Qt.Orientation.Horizontal) for c in range(6)] == list(COLUMNS)
    assert reading.headerData(0, Qt.Orientation.Vertical) is None
    for row in range(reading.rowCount()):
        assert reading.data(reading.index(row, 4), spoken)
        assert isinstance(reading.data(reading.index(row, 3), spoken), str)
        texts = [reading.data(reading.index(row, column)) for column in range(6)]
        assert all(isinstance(text, str) for text in texts)
    assert reading.data(reading.index(0, 0), int(Qt.ItemDataRole.DecorationRole)) is None
    changed: list[object] = []
    reading.dataChanged.connect(lambda *args: changed.append(args))
    model.set_review(review.decide_rest(Decision.ACCEPT))
    assert changed
    model.clear()
    assert reading.rowCount() == 0
    assert reading.rowCount(reading.index(0, 0)) == 0


def test_the_overview_goes_where_it_is_pressed(show: Callable, qtbot: QtBot) -> None:
    view, model, review = show(*many_hunks(40), (finding("n.md", 5), finding("n.md", None, name="x")))
    bar = OverviewBar(model, DiffColors.of(Theme.load("light")), view.verticalScrollBar())
    qtbot.addWidget(bar)
    bar.resize(bar.sizeHint().width(), 400)
    bar.show()
    rows: list[int] = []
    bar.row_wanted.connect(rows.append)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, NONE, QPoint(5, 200))
    assert rows == [model.document.count // 2]
    assert bar.accessibleName() == "Overview: 40 changes, 40 undecided, 2 findings"
    one = picture(bar)
    model.set_review(review.decide_rest(Decision.ACCEPT))
    assert bar.accessibleName() == "Overview: 40 changes, 0 undecided, 2 findings"
    assert picture(bar) != one
    bar.set_colors(DiffColors.of(Theme.load("dark")))
    assert not bar.grab().isNull()
    model.clear()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, NONE, QPoint(5, 20))
    assert len(rows) == 1


def test_the_clipboard_is_the_only_thing_copying_touches(show: Callable) -> None:
    QGuiApplication.clipboard().setText("kept")
    show(OLD, NEW)
    assert QGuiApplication.clipboard().text() == "kept"
