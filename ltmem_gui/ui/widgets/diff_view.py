"""The diff for eyes: a virtual view that paints the rows it shows and owns none of their text (performance §5)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from ltmem_gui.domain.diffing.rows import REVEAL, Row, RowKind
from ltmem_gui.ui.models.diff_model import LONG_LINE, DiffModel
from ltmem_gui.ui.models.diff_spoken import spoken_row
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_rows import Lane, RowPainter, RowState
from ltmem_gui.ui.widgets.row_speaker import RowSpeaker

_BAND_KINDS = (RowKind.HEADER, RowKind.FOLD, RowKind.NOTE)


class DiffView(QAbstractScrollArea):
    """Show a `DiffModel`, unified or side by side, with a cursor row and a range of selected rows.

    Signals: `cursor_moved` (unified row), `button_pressed` (name, unified row) for the buttons of a header.
    """

    cursor_moved = Signal(int)
    button_pressed = Signal(str, int)

    def __init__(self, model: DiffModel, colors: DiffColors, mono: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review.diff")
        self.setAccessibleName("Diff")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.speaker = RowSpeaker(self)
        self._model = model
        self._mono = mono
        self._rows = RowPainter(model, colors, mono, QGuiApplication.font())
        self._side_by_side = False
        self._focused = False
        self._cursor = 0
        self._anchor = 0
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        model.structure_changed.connect(self._on_structure_changed)
        model.decisions_changed.connect(self._on_decisions_changed)

    # --- what it shows ---

    @property
    def row_height(self) -> int:
        """Return the height of every row, in logical pixels."""
        return self._rows.height

    @property
    def cursor_row(self) -> int:
        """Return the unified row under the cursor."""
        return self._cursor

    @property
    def selected_rows(self) -> tuple[int, int]:
        """Return the first and the last selected row; the cursor row alone is a selection of one."""
        return min(self._anchor, self._cursor), max(self._anchor, self._cursor)

    @property
    def side_by_side(self) -> bool:
        """Tell whether old and new stand side by side."""
        return self._side_by_side

    def set_side_by_side(self, on: bool) -> None:
        """Show old and new side by side, or one below the other; files with one side stay unified."""
        self._side_by_side = on
        self._update_bars()
        self.reveal_cursor()
        self.viewport().update()

    def set_colors(self, colors: DiffColors) -> None:
        """Change the scheme."""
        self._rows = RowPainter(self._model, colors, self._mono, QGuiApplication.font())
        self._update_bars()
        self.viewport().update()

    def set_cursor_row(self, row: int, *, extend: bool = False) -> None:
        """Move the cursor, with `extend` keeping the other end of the selection; the row becomes visible."""
        count = self._model.document.count
        if not count:
            return
        self._cursor = max(0, min(row, count - 1))
        if not extend:
            self._anchor = self._cursor
        self.reveal_cursor()
        self.viewport().update()
        self._speak()
        self.cursor_moved.emit(self._cursor)

    def reveal_cursor(self) -> None:
        """Scroll as little as needed for the cursor, with some rows around it."""
        bar, h = self.verticalScrollBar(), self._rows.height
        top = self._view_row(self._cursor) * h
        margin = min(3 * h, max(0, (self.viewport().height() - h) // 2))
        if top - margin < bar.value():
            bar.setValue(top - margin)
        elif top + h + margin > bar.value() + self.viewport().height():
            bar.setValue(top + h + margin - self.viewport().height())

    def center_cursor(self) -> None:
        """Scroll so that the cursor stands in the upper third."""
        top = self._view_row(self._cursor) * self._rows.height
        self.verticalScrollBar().setValue(top - self.viewport().height() // 3)

    def selected_text(self) -> str:
        """Return the selected lines as they are in the files, without signs, numbers or tags."""
        first, last = self.selected_rows
        rows = self._model.document.rows(first, last + 1)
        lines = [row for row in rows if row.kind in (RowKind.CONTEXT, RowKind.ADDED, RowKind.REMOVED, RowKind.NOTE)]
        return "".join(row.text + (row.end or "\n") for row in lines[:-1]) + (lines[-1].text if lines else "")

    @property
    def paired(self) -> bool:
        """Tell whether two sides are shown now."""
        file = self._model.file
        return self._side_by_side and file is not None and file.change.change == "modified" and bool(file.change.hunks)

    # --- rows and pixels ---

    def _view_count(self) -> int:
        return self._model.document.pair_count if self.paired else self._model.document.count

    def _view_row(self, row: int) -> int:
        return self._model.document.pair_of_row(row) if self.paired and self._model.document.count else row

    def _unified(self, view_row: int) -> int:
        return self._model.document.row_of_pair(view_row) if self.paired else view_row

    def _row_at(self, y: int) -> int | None:
        at = (y + self.verticalScrollBar().value()) // self._rows.height
        return self._unified(at) if 0 <= at < self._view_count() else None

    def _lanes(self) -> tuple[Lane, Lane | None]:
        width = self.viewport().width()
        if not self.paired:
            kind = self._model.file.change.change if self._model.file is not None else "modified"
            return Lane(0, width, kind != "added", kind != "deleted"), None
        return Lane(0, width // 2, True, False), Lane(width // 2 + 1, width, False, True)

    def _update_bars(self) -> None:
        h = self._rows.height
        view = self.viewport().size()
        vertical, horizontal = self.verticalScrollBar(), self.horizontalScrollBar()
        vertical.setSingleStep(3 * h)
        vertical.setPageStep(max(h, view.height() - h))
        vertical.setRange(0, max(0, self._view_count() * h - view.height()))
        lane, _ = self._lanes()
        room = lane.right - lane.left - self._rows.gutter_width(lane)
        longest = min(self._model.longest, LONG_LINE) + 4
        horizontal.setSingleStep(int(8 * self._rows.metrics.char))
        horizontal.setPageStep(max(1, room))
        horizontal.setRange(0, max(0, int(longest * self._rows.metrics.char) - room))

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        h, offset = self._rows.height, self.verticalScrollBar().value()
        first = (event.rect().top() + offset) // h
        last = min(self._view_count() - 1, (event.rect().bottom() + offset) // h)
        below = (last + 1) * h - offset
        painter.fillRect(
            QRect(0, max(0, below), self.viewport().width(), self.viewport().height()), self._rows.colors.base
        )
        marks = self._model.marks
        marks.start_frame()
        self._focused = self.hasFocus()
        if self.paired:
            self._paint_pairs(painter, first, last, offset)
        else:
            self._paint_unified(painter, first, last, offset)
        if marks.end_frame():
            QTimer.singleShot(0, self.viewport(), self.viewport().update)  # the rest comes with the next frame

    def _paint_unified(self, painter: QPainter, first: int, last: int, offset: int) -> None:
        h, scroll = self._rows.height, self.horizontalScrollBar().value()
        lane, _ = self._lanes()
        active = self._active_unit()
        for index, row in enumerate(self._model.document.rows(first, last + 1), first):
            y = index * h - offset
            state = self._state(index, row, active)
            if row.kind in _BAND_KINDS:
                self._rows.band(painter, y, index, row, QRect(0, y, lane.right, h), state)
            else:
                self._rows.line(painter, y, index, row, lane, scroll, state)

    def _paint_pairs(self, painter: QPainter, first: int, last: int, offset: int) -> None:
        h, scroll = self._rows.height, self.horizontalScrollBar().value()
        left_lane, right_lane = self._lanes()
        assert right_lane is not None
        width, active, document = self.viewport().width(), self._active_unit(), self._model.document
        for at in range(first, last + 1):
            y, pair, index = at * h - offset, document.pair(at), document.row_of_pair(at)
            alone = pair.left if pair.left is not None and pair.left.kind in _BAND_KINDS else None
            if alone is not None:
                self._rows.band(painter, y, index, alone, QRect(0, y, width, h), self._state(index, alone, active))
                continue
            for row, lane in ((pair.left, left_lane), (pair.right, right_lane)):
                if row is None:
                    self._rows.empty(painter, y, lane)
                    continue
                own = index if row.kind is not RowKind.ADDED else self._added_row(at, row)
                state = self._state(own, row, active, current=self._view_row(self._cursor) == at)
                self._rows.line(painter, y, own, row, lane, scroll, state)
            painter.fillRect(QRect(width // 2, y, 1, h), self._rows.colors.border)

    def _added_row(self, view_row: int, row: Row) -> int:
        """Return the unified row of the right side of a pair."""
        found = self._model.document.place_of((row.new or 1) - 1) if row.unit is None else None
        if found is not None:
            return found
        start = self._model.document.row_of_pair(view_row)
        run, inside = self._model.document.locate(start)
        if self._model.document.runs[run].kind is RowKind.REMOVED:
            return self._model.document.start_of(run + 1) + inside
        return start

    def _active_unit(self) -> str | None:
        return self._model.document.row(self._cursor).unit if self._cursor < self._model.document.count else None

    def _state(self, index: int, row: Row, active: str | None, *, current: bool | None = None) -> RowState:
        first, last = self.selected_rows
        on = index == self._cursor if current is None else current
        several = last > first and first <= index <= last
        return RowState(on, several, row.unit is not None and row.unit == active, self._focused)

    # --- events ---

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_bars()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        del dx, dy
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        page = max(1, self.viewport().height() // self._rows.height - 1)
        count = self._model.document.count
        steps = {
            Qt.Key.Key_Down: self._cursor + 1,
            Qt.Key.Key_Up: self._cursor - 1,
            Qt.Key.Key_PageDown: self._cursor + page,
            Qt.Key.Key_PageUp: self._cursor - page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: count - 1,
        }
        key = Qt.Key(event.key())
        if key in steps:
            self.set_cursor_row(steps[key], extend=extend)
            return
        bar = self.horizontalScrollBar()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            bar.setValue(bar.value() + bar.singleStep() * (1 if key == Qt.Key.Key_Right else -1))
            return
        # Return has no meaning here, and Escape only leaves a selection: neither may ever decide.
        if key == Qt.Key.Key_Escape and self._anchor != self._cursor:
            self.set_cursor_row(self._cursor)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self._row_at(int(event.position().y()))
        event.accept()
        if row is None or event.button() != Qt.MouseButton.LeftButton:
            return
        pressed = self._button_at(row, event.position().toPoint())
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.set_cursor_row(row, extend=extend)
        if pressed:
            self.button_pressed.emit(pressed, row)
        elif self._model.document.row(row).kind is RowKind.FOLD:
            self._model.open_fold(row, REVEAL)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            row = self._row_at(int(event.position().y()))
            if row is not None and row != self._cursor:
                self.set_cursor_row(row, extend=True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._row_at(event.pos().y())
            text = self._tip(row) if row is not None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport()) if text else QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _tip(self, index: int) -> str:
        row = self._model.document.row(index)
        # Qt guesses markup in tooltips; a look-alike bracket keeps text text.
        return "\n".join(f.text for f in self._model.findings_at(index, row)).replace("<", "‹")

    def _button_at(self, row: int, point: QPoint) -> str:
        line = self._model.document.row(row)
        if line.kind is not RowKind.HEADER:
            return ""
        h = self._rows.height
        y = self._view_row(row) * h - self.verticalScrollBar().value()
        rects = self._rows.button_rects(QRect(0, y, self.viewport().width(), h), line)
        return next((name for name, rect in rects if rect.contains(point)), "")

    def _speak(self) -> None:
        """Tell assistive tools what the cursor stands on."""
        self.speaker.say(spoken_row(self._model, self._cursor))

    def _on_structure_changed(self) -> None:
        count = self._model.document.count
        self._cursor = max(0, min(self._cursor, count - 1))
        self._anchor = self._cursor
        self._update_bars()
        self._speak()
        self.viewport().update()

    def _on_decisions_changed(self) -> None:
        self._speak()
        self.viewport().update()
