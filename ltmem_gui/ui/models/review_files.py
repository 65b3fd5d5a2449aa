"""The files of a plan as a list: kind, decisions, findings (D19)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ltmem_gui.domain.diffing.moves import renamed_from
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.naming import RAW_MEMORIES_FILENAME, ROLLOUT_SUMMARIES_SUBDIR, WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.domain.review import Review

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_TIP = int(Qt.ItemDataRole.ToolTipRole)
_ALIGN = int(Qt.ItemDataRole.TextAlignmentRole)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_NO_PARENT = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex

KIND_SIGNS = {"added": "+", "modified": "", "deleted": "−", "mode": "x", "renamed": "→", "temporary": "t"}
_SUMMARY = re.compile(rf"\A{ROLLOUT_SUMMARIES_SUBDIR}/\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-(?=.)")
_ARTIFACTS = ("MEMORY.md", "memory_summary.md")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of the list. `kind` is the change, or `renamed`, or `temporary`."""

    change: FileChange
    kind: str
    renamed_from: str = ""
    undecided: int = 0
    total: int = 0
    accepted: bool = False
    findings: int = 0
    blocking: int = 0

    @property
    def sign(self) -> str:
        """Return the state at a glance: ○ untouched, ◐ partly decided, ✓ done, ✕ all rejected, – nothing to decide."""
        if not self.total:
            return "–"
        if self.undecided == self.total:
            return "○"
        if self.undecided:
            return "◐"
        return "✓" if self.accepted else "✕"

    @property
    def spoken(self) -> str:
        """Return the row in words."""
        state = f"{self.undecided} of {self.total} undecided" if self.total else "nothing to decide"
        origin = f" from {one_line(self.renamed_from, 200)}" if self.renamed_from else ""
        found = f", {self.findings} findings, {self.blocking} of them blocking" if self.findings else ""
        return f"{one_line(self.change.path, 300)}, {self.kind}{origin}, {state}{found}"


def ordered(changes: tuple[FileChange, ...]) -> list[FileChange]:
    """Return artifacts first, then other files, then the rendered inputs."""

    def rank(change: FileChange) -> tuple[int, str]:
        if change.path in _ARTIFACTS:
            return _ARTIFACTS.index(change.path), change.path
        if change.path == WORKSPACE_DIFF_FILENAME:
            return 5, change.path
        if change.path == RAW_MEMORIES_FILENAME:
            return 3, change.path
        return (4 if change.path.startswith(f"{ROLLOUT_SUMMARIES_SUBDIR}/") else 2), change.path

    return sorted(changes, key=rank)


def short_name(path: str) -> str:
    """Return a path for a narrow column: summaries lose the folder and the time, which all of them have."""
    name = _SUMMARY.sub("…/", path)
    return one_line(name, 300)


def mode_facts(change: FileChange) -> list[str]:
    """Return what the permission bits of a changed file would become, and that it could be run."""
    facts: list[str] = []
    if change.new_mode is not None and change.old_mode not in (None, change.new_mode):
        facts.append(f"mode {change.old_mode:04o} → {change.new_mode:04o}")
    if change.new_mode is not None and change.new_mode & 0o111:
        facts.append("executable")
    return facts


class FilesModel(QAbstractTableModel):
    """Columns: state, path, decided."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FileRow] = []
        self._order: list[FileChange] = []
        self._renames: dict[str, str] = {}
        self._plan_digest = ""

    def set_review(self, review: Review | None) -> None:
        """Show the files of a review; the rows keep their places while the plan is the same."""
        if review is None:
            self._plan_digest = ""
            self.beginResetModel()
            self.rows = []
            self.endResetModel()
            return
        if review.plan.digest != self._plan_digest:
            self._plan_digest = review.plan.digest
            self._order = ordered(review.plan.changes)
            self._renames = renamed_from(review.plan.changes)
            self.beginResetModel()
            self.rows = [self._row(review, change) for change in self._order]
            self.endResetModel()
            return
        self.rows = [self._row(review, change) for change in self._order]
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, 2))

    def row_of(self, path: str) -> int:
        """Return the place of a file, -1 where it is not in the plan."""
        return next((at for at, row in enumerate(self.rows) if row.change.path == path), -1)

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else 3

    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        row = self.rows[index.row()]
        if role == _DISPLAY:
            return self._shown(row, index.column())
        if role == _ALIGN and index.column() == 2:
            return _RIGHT
        if role in (_SPOKEN, _TIP):
            return row.spoken.replace("<", "‹")
        return None

    def _shown(self, row: FileRow, column: int) -> str:
        if column == 0:
            return row.sign
        if column == 1:
            return f"{KIND_SIGNS[row.kind]} {short_name(row.change.path)}".strip()
        marks = "■" * bool(row.blocking) + "▲" * bool(row.findings > row.blocking)
        decided = f"{row.total - row.undecided}/{row.total}" if row.total else row.kind
        return f"{marks} {decided}".strip()

    def _row(self, review: Review, change: FileChange) -> FileRow:
        undecided, total = review.undecided_in(change.path)
        found = [f for f in review.plan.findings if f.path == change.path and f.severity is not Severity.INFO]
        kind = "temporary" if change.path == WORKSPACE_DIFF_FILENAME else change.change
        origin = self._renames.get(change.path, "")
        return FileRow(
            change,
            "renamed" if origin else kind,
            origin,
            undecided,
            total,
            change.path in review.taken_paths,
            len(found),
            sum(1 for f in found if f.severity is Severity.BLOCKING),
        )
