"""The two tables of the review: the files of the plan, and the reading list."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ltmem_gui.ui.theme import ROW_HEIGHT

_READING_WIDTHS = (96, 88, 48, 48, 420, 200)


def files_table(model: QAbstractItemModel) -> QTableView:
    """Make the list of files: state, name, how many changes are decided."""
    table = _table("review.files", "Files of the plan", model)
    table.setTextElideMode(Qt.TextElideMode.ElideRight)
    header = table.horizontalHeader()
    header.hide()
    header.setMinimumSectionSize(ROW_HEIGHT)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
    table.setColumnWidth(0, ROW_HEIGHT + 4)
    return table


def reading_table(model: QAbstractItemModel, mono: QFont) -> QTableView:
    """Make the reading list."""
    table = _table("review.reading", "Reading list of the diff", model)
    table.setFont(mono)
    for column, width in enumerate(_READING_WIDTHS):
        table.setColumnWidth(column, width)
    header = table.horizontalHeader()
    header.setStretchLastSection(True)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table


def _table(name: str, title: str, model: QAbstractItemModel) -> QTableView:
    table = QTableView()
    table.setObjectName(name)
    table.setAccessibleName(title)
    table.setModel(model)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setWordWrap(False)
    # A fixed height: a table that measures rows would ask for all of them.
    table.verticalHeader().hide()
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    return table
