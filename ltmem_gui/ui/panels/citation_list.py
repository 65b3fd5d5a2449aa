"""The list of citations: one table, in groups where a person wants them; arrows and Return lead into the evidence."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.citation_table import VERDICT_COLUMN, CitationTableModel
from ltmem_gui.ui.theme import ROW_HEIGHT

WIDTHS = (24, 17, 20, 27, 12)
WIDTHS_WITH_VERDICTS = (20, 17, 19, 28, 8)
MOST_SPANS = 2_000
"""More heads of groups than this are cut to the first column: no one reads so many, and each span costs time."""


class CitationTable(QTableView):
    """The list. Signals: `evidence_asked` on Return and on the right arrow key."""

    evidence_asked = Signal()

    def __init__(self, model: CitationTableModel, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._citations = model
        self.setObjectName("citations.table")
        self.setAccessibleName("Citations")
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._build_headers()
        self.clicked.connect(self._on_index_clicked)
        model.arranged.connect(self._on_model_arranged)
        actions.attach(self, "citations")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        key = event.key()
        goes_in = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (plain and key == Qt.Key.Key_Right)
        if goes_in or (plain and key == Qt.Key.Key_Left):
            if goes_in:
                self.go_in()
            else:
                self._toggle(self.currentIndex())
            return
        super().keyPressEvent(event)

    def go_in(self) -> None:
        """Open or close the group that the keyboard is on; from a citation, ask for its evidence."""
        if not self._toggle(self.currentIndex()):
            self.evidence_asked.emit()

    def _build_headers(self) -> None:
        rows = self.verticalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(max(ROW_HEIGHT, self.fontMetrics().height() + 8))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.show_verdicts(False)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)

    def show_verdicts(self, shown: bool) -> None:
        """Show or hide the column of verdicts; the others make room for it."""
        wide = self.fontMetrics().averageCharWidth()
        self.setColumnHidden(VERDICT_COLUMN, not shown)
        for index, width in enumerate(WIDTHS_WITH_VERDICTS if shown else WIDTHS):
            self.horizontalHeader().resizeSection(index, wide * width)

    def _toggle(self, index: QModelIndex) -> bool:
        """Open or close the group whose head this is; the keyboard stays on it."""
        position = index.row()
        if not self._citations.toggle(position):
            return False
        self.setCurrentIndex(self._citations.index(position, 0))
        return True

    def _on_index_clicked(self, index: QModelIndex) -> None:
        self._toggle(index)

    def _on_model_arranged(self) -> None:
        self.clearSpans()
        for position in self._citations.group_positions[:MOST_SPANS]:
            self.setSpan(position, 0, 1, self._citations.columnCount())
