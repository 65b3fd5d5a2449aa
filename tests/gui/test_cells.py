"""The cells of large tables: the same picture as Qt's own, and nothing painted that cannot be seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.models.cells import Cell
from ltmem_gui.ui.theme import Scheme, Theme
from ltmem_gui.ui.widgets.cells import CellTable
from tests.helpers.waiting import PATIENCE_MS

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROWS = 200
TEXTS = ("short", "a text that is far too long for its column", "", "<b>no markup</b>", "12")


class Texts(QAbstractTableModel):
    """A model that answers both ways, and counts the cells that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[int] = set()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else ROWS

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(TEXTS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return TEXTS[(index.row() + index.column()) % len(TEXTS)]
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 1:
            return QColor("#b00020")
        return None

    def cell(self, row: int, column: int) -> Cell:
        self.asked.add(row)
        return Cell(TEXTS[(row + column) % len(TEXTS)], QColor("#b00020") if column == 1 else None)


@pytest.fixture
def table(qtbot: QtBot) -> CellTable:
    Theme.load("light").apply()
    made = CellTable()
    qtbot.addWidget(made)
    made.setModel(Texts())
    made.setWordWrap(False)
    made.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    made.resize(500, 300)
    with qtbot.waitExposed(made, timeout=PATIENCE_MS):
        made.show()
    return made


def picture(table: CellTable) -> QImage:
    return table.grab().toImage()


def differing(one: QImage, other: QImage) -> int:
    return sum(one.pixel(x, y) != other.pixel(x, y) for y in range(one.height()) for x in range(one.width()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_the_one_of_the_style(table: CellTable, scheme: Scheme) -> None:
    Theme.load(scheme).apply()
    table.setItemDelegate(QStyledItemDelegate(table))
    # Not `selectRow`: it heeds the modifier keys that some other test pressed last.
    row = QItemSelection(table.model().index(2, 0), table.model().index(2, len(TEXTS) - 1))
    table.selectionModel().select(row, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    own = picture(table)
    model = table.model()
    assert isinstance(model, Texts)
    table.set_cells(model)
    assert differing(own, picture(table)) == 0
    assert model.asked >= {0, 1, 3}
    assert 2 not in model.asked, "a selected row is painted by the style"


def test_rows_out_of_sight_paint_nothing(table: CellTable, qtbot: QtBot) -> None:
    model = table.model()
    assert isinstance(model, Texts)
    table.set_cells(model)
    for _ in range(2):  # layout and scroll bars first
        table.viewport().repaint()
        QCoreApplication.processEvents()
    for first, last, painted in ((150, 160, set[int]()), (3, 3, {3}), (3, 4, {3, 4})):
        model.asked.clear()
        model.dataChanged.emit(model.index(first, 0), model.index(last, len(TEXTS) - 1))
        model.dataChanged.emit(model.index(ROWS - 1, 0), model.index(ROWS - 1, 0))
        if painted:
            qtbot.waitUntil(lambda expected=painted: model.asked >= expected, timeout=PATIENCE_MS)
        else:
            for _ in range(3):
                QCoreApplication.processEvents()
        assert model.asked - {0} == painted


def test_a_new_font_lays_the_texts_out_anew(table: CellTable) -> None:
    model = table.model()
    assert isinstance(model, Texts)
    table.set_cells(model)
    before = picture(table)
    font = table.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    table.setFont(font)
    assert differing(before, picture(table)) > 0
