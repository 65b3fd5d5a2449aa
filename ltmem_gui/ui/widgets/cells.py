"""Paint the cells of a large table with one call into Python for each.

The delegate of Qt asks the model for seven roles a cell, and each question takes and gives the interpreter's lock: with
threads at work beside it a repaint of one screen took 25 ms (reference performance.md §6). Here the model answers once,
and the text is laid out once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QRegion, QStaticText
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from ltmem_gui.ui.models.cells import CellSource

# The padding of `QTableView::item` in resources/style.qss and the style's own margin.
MARGIN = 7
KEPT_TEXTS = 4_096
_LOOKS = (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange)
_MARKED = (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus).value


class _LaidOut(NamedTuple):
    text: QStaticText
    width: int
    height: int


class CellDelegate(QStyledItemDelegate):
    """Paint plain text cells; cells that are selected or have the keyboard are left to the style."""

    def __init__(self, source: CellSource, view: QTableView) -> None:
        super().__init__(view)
        self._source = source
        self._view = view
        self._texts: dict[tuple[str, int], _LaidOut] = {}

    def forget(self) -> None:
        """Lay texts out anew; the font or the theme changed."""
        self._texts.clear()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        if option.state.value & _MARKED:  # pyright: ignore[reportAttributeAccessIssue]
            super().paint(painter, option, index)
            return
        cell = self._source.cell(index.row(), index.column())
        if not cell.text:
            return
        rect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        left, top, width, height = rect.left(), rect.top(), rect.width(), rect.height()
        room = width - 2 * MARGIN
        laid = self._texts.get((cell.text, room)) or self._lay_out(cell.text, room)
        left += MARGIN + (max(0, room - laid.width) if cell.right else 0)
        painter.setPen(cell.color or self._view.palette().text().color())
        painter.drawStaticText(left, top + (height - laid.height) // 2, laid.text)

    def _lay_out(self, text: str, room: int) -> _LaidOut:
        if len(self._texts) >= KEPT_TEXTS:
            self._texts.clear()
        metrics = self._view.fontMetrics()
        static = QStaticText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, room)))
        static.setTextFormat(Qt.TextFormat.PlainText)
        static.prepare(font=self._view.font())
        size = static.size()
        laid = _LaidOut(static, math.ceil(size.width()), math.ceil(size.height()))
        self._texts[text, room] = laid
        return laid


class CellTable(QTableView):
    """A table of plain text cells that repaints only what changed and can be seen.

    `QTableView` paints its whole picture for each range of more than one cell, also for one that is scrolled away.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cells: CellDelegate | None = None
        self._changed = QRegion()
        # A turn of the loop between what changed rows and their picture: input is handled between the two.
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._on_turn_ended)

    def set_cells(self, source: CellSource) -> None:
        """Paint from here on with what the source answers."""
        self._cells = CellDelegate(source, self)
        self.setItemDelegate(self._cells)

    def dataChanged(
        self,
        first: QModelIndex | QPersistentModelIndex,
        last: QModelIndex | QPersistentModelIndex,
        roles: Sequence[int] = (),
    ) -> None:
        del roles
        viewport = self.viewport()
        top = self.rowViewportPosition(first.row())
        bottom = self.rowViewportPosition(last.row()) + self.rowHeight(last.row())
        if bottom > 0 and top < viewport.height():
            self._changed += QRect(0, top, viewport.width(), bottom - top)
            self._turn.start()

    def _on_turn_ended(self) -> None:
        changed, self._changed = self._changed, QRegion()
        self.viewport().update(changed)

    def changeEvent(self, event: QEvent) -> None:
        if self._cells is not None and event.type() in _LOOKS:
            self._cells.forget()
        super().changeEvent(event)
