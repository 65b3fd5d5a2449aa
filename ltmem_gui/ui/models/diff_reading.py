"""The reading list: the rows of a diff as a table, for screen readers and for giant files (D15)."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ltmem_gui.domain.diffing.rows import Row, RowKind
from ltmem_gui.domain.hazards import visible
from ltmem_gui.ui.models.diff_model import LONG_LINE, DiffModel
from ltmem_gui.ui.models.diff_spoken import WORDS, spoken_row, spoken_tags

COLUMNS = ("Change", "Decision", "Old", "New", "Text", "Remarks")

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_ALIGN = int(Qt.ItemDataRole.TextAlignmentRole)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_NO_PARENT = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex


class ReadingModel(QAbstractTableModel):
    """One row per row of the unified document."""

    def __init__(self, model: DiffModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._count = model.document.count
        model.structure_changed.connect(self._on_structure_changed)
        model.decisions_changed.connect(self._on_decisions_changed)

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        if role == _DISPLAY and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        if role == _ALIGN and index.column() in (2, 3):
            return _RIGHT
        if role == _SPOKEN:
            return spoken_row(self._model, index.row()) if index.column() in (0, 4) else self._text(index)
        return self._text(index) if role == _DISPLAY else None

    def _text(self, index: _Index) -> str:
        at = index.row()
        if not 0 <= at < self._model.document.count:
            return ""
        row = self._model.document.row(at)
        match index.column():
            case 0:
                return row.kind.value
            case 1:
                decision = self._model.decision_of(row)
                return WORDS[decision] if decision is not None else ""
            case 2:
                return "" if row.old is None or row.kind is RowKind.HEADER else str(row.old)
            case 3:
                return "" if row.new is None or row.kind is RowKind.HEADER else str(row.new)
            case 4:
                return self._line(at, row)
            case _:
                return self._remarks(at, row)

    def _line(self, at: int, row: Row) -> str:
        if row.kind is RowKind.HEADER:
            number, total = self._model.number_of(at)
            added, removed = self._model.document.counts_at(at)
            return f"Change {number} of {total}: {added} added, {removed} removed"
        if row.kind is RowKind.FOLD:
            return row.text or f"{row.hidden} unchanged lines"
        return visible(row.text[:LONG_LINE], keep="\t")

    def _remarks(self, at: int, row: Row) -> str:
        found = spoken_tags(self._model, row)
        found += [f"{f.severity.value}: {visible(f.text)}" for f in self._model.findings_at(at, row)]
        return "; ".join(found)

    def _on_structure_changed(self) -> None:
        self.beginResetModel()
        self._count = self._model.document.count
        self.endResetModel()

    def _on_decisions_changed(self) -> None:
        if self._count:
            self.dataChanged.emit(self.index(0, 0), self.index(self._count - 1, len(COLUMNS) - 1))
