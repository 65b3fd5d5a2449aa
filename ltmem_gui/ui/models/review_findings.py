"""The findings of a plan as a list: open, settled, or overridden with a reason (D4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.review import Review

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_TIP = int(Qt.ItemDataRole.ToolTipRole)
_NO_PARENT = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex

SIGNS = {Severity.BLOCKING: "■", Severity.WARNING: "▲", Severity.INFO: "●"}
_ORDER = (Severity.BLOCKING, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding; `reason` is the written override."""

    finding: Finding
    is_open: bool
    reason: str = ""

    @property
    def text(self) -> str:
        """Return the row in words."""
        f = self.finding
        place = one_line(f.path, 80) if f.line is None else f"{one_line(f.path, 80)}:{f.line}"
        state = ""
        if f.severity is Severity.BLOCKING:
            state = (
                f" — overridden: {one_line(self.reason, 80)}" if self.reason else "" if self.is_open else " — settled"
            )
        return f"{f.severity.value} · {place} · {one_line(f.text, 200)}{state}"


class FindingsModel(QAbstractListModel):
    """Blocking findings first; `severity` narrows the list."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FindingRow] = []
        self._all: list[FindingRow] = []
        self.severity: Severity | None = None

    def set_review(self, review: Review | None) -> None:
        """Show the findings of a review and of its last check."""
        rows: list[FindingRow] = []
        if review is not None:
            open_ids = {f.id for f in review.blocking}
            findings = {f.id: f for f in (*review.plan.findings, *review.checked)}.values()
            rows = [FindingRow(f, f.id in open_ids, review.overrides.get(f.id, "")) for f in findings]
            rows.sort(key=lambda row: (_ORDER.index(row.finding.severity), row.finding.path, row.finding.line or 0))
        if rows == self._all:
            return
        same = [row.finding.id for row in rows] == [row.finding.id for row in self._all]
        self._all = rows
        if not same:
            self._arrange()
            return
        # A decision settles findings and moves none: the list keeps its place.
        self.rows = self._wanted()
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def set_severity(self, severity: Severity | None) -> None:
        """Show one severity, or all."""
        self.severity = severity
        self._arrange()

    @property
    def counts(self) -> dict[Severity, int]:
        """Return how many findings there are of each severity."""
        return {s: sum(1 for row in self._all if row.finding.severity is s) for s in _ORDER}

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        row = self.rows[index.row()]
        if role == _DISPLAY:
            return f"{SIGNS[row.finding.severity]} {row.text}"
        return row.text.replace("<", "‹") if role in (_SPOKEN, _TIP) else None

    def _arrange(self) -> None:
        self.beginResetModel()
        self.rows = self._wanted()
        self.endResetModel()

    def _wanted(self) -> list[FindingRow]:
        return [row for row in self._all if self.severity in (None, row.finding.severity)]
