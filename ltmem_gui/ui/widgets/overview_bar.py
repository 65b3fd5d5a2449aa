"""A narrow picture of the whole diff: changes by decision, findings, and the part that is shown (D14)."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.rows import RowKind
from ltmem_gui.domain.findings import Severity
from ltmem_gui.ui.models.diff_model import DiffModel
from ltmem_gui.ui.widgets.diff_colors import DiffColors

WIDTH = 16
_MIN_TICK = 2


class OverviewBar(QWidget):
    """Paint one tick per change and finding; click and drag to go there.

    Signals: `row_wanted` (unified row).
    """

    row_wanted = Signal(int)

    def __init__(self, model: DiffModel, colors: DiffColors, scroll: QScrollBar, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review.overview")
        self.setFixedWidth(WIDTH)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._model = model
        self._colors = colors
        self._scroll = scroll
        self._picture: QPixmap | None = None
        self._ticks: list[tuple[int, int, str | None]] | None = None
        model.structure_changed.connect(self._on_structure_changed)
        model.decisions_changed.connect(self._on_model_changed)
        scroll.valueChanged.connect(self._on_scrolled)
        scroll.rangeChanged.connect(self._on_scrolled)
        self._describe()

    def set_colors(self, colors: DiffColors) -> None:
        """Change the scheme."""
        self._colors = colors
        self._on_model_changed()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 120)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._picture = self._ticks = None

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self._picture is None:
            self._picture = self._draw()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        span = self._scroll.maximum() + self._scroll.pageStep()
        if self._scroll.maximum() > 0:
            top = int(self._scroll.value() / span * self.height())
            size = max(8, int(self._scroll.pageStep() / span * self.height()))
            painter.setPen(self._colors.muted)
            painter.drawRect(QRect(0, top, self.width() - 1, min(size, self.height() - 1 - top)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def _go(self, event: QMouseEvent) -> None:
        count = self._model.document.count
        if count:
            self.row_wanted.emit(max(0, min(count - 1, int(event.position().y() / max(1, self.height()) * count))))

    def _draw(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(self._colors.gutter)
        painter = QPainter(picture)
        height, total, middle = self.height(), max(1, self._model.document.count), WIDTH // 2
        last: tuple[int, Decision] | None = None
        if self._ticks is None:
            self._ticks = self._find_ticks()
        unit_before, decision = None, Decision.UNDECIDED
        for top, size, unit in self._ticks:
            if unit != unit_before:
                unit_before, decision = unit, self._model.decision_of_unit(unit)
            if (top, decision) == last:
                continue
            last = (top, decision)
            color = self._colors.decisions[decision]
            if decision is Decision.UNDECIDED and size > 3:
                painter.setPen(color)
                painter.drawRect(QRect(2, top, middle - 3, size - 1))
            elif decision is Decision.UNDECIDED:
                painter.fillRect(QRect(middle - 2, top, 1, size), color)
            else:
                painter.fillRect(QRect(2, top, middle - 2, size), color)
        for finding in sorted(self._model.findings, key=lambda f: f.severity is Severity.BLOCKING):
            row = 0 if finding.line is None else self._model.document.place_of(finding.line - 1)
            if row is not None:
                rect = QRect(middle + 1, row * height // total, middle - 3, 3)
                painter.fillRect(rect, self._colors.findings[finding.severity])
        painter.end()
        return picture

    def _find_ticks(self) -> list[tuple[int, int, str | None]]:
        """Return top, height and unit of every changed stretch, in pixels; a decision moves none of them."""
        height, total, at = self.height(), max(1, self._model.document.count), 0
        added, removed, note, fold = RowKind.ADDED, RowKind.REMOVED, RowKind.NOTE, RowKind.FOLD
        found: list[tuple[int, int, str | None]] = []
        for run in self._model.document.runs:
            kind, size = run.kind, run.size
            if kind is added or kind is removed or kind is note or (kind is fold and run.unit is not None):
                top = at * height // total
                found.append((top, max(_MIN_TICK, (at + size) * height // total - top), run.unit))
            at += size
        return found

    def _describe(self) -> None:
        undecided, total = self._model.undecided
        text = f"{total} changes, {undecided} undecided, {len(self._model.findings)} findings"
        self.setAccessibleName(f"Overview: {text}")
        self.setToolTip(text)

    def _on_structure_changed(self) -> None:
        self._ticks = None
        self._on_model_changed()

    def _on_model_changed(self) -> None:
        self._picture = None
        self._describe()
        self.update()

    def _on_scrolled(self) -> None:
        self.update()
