"""The citation list as a table model, filtered and sorted here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ltmem_gui.domain.citation_look import Looked, Position
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.citation_rows import CitationRow, Place, chip_of, searched_text, with_look

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_TOOLTIP = int(Qt.ItemDataRole.ToolTipRole)
_FOREGROUND = int(Qt.ItemDataRole.ForegroundRole)
_FONT = int(Qt.ItemDataRole.FontRole)
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_HORIZONTAL = Qt.Orientation.Horizontal

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()

HEADERS = ("Place", "Verdict", "Stands in", "Points to", "Note")
VERDICT_COLUMN = 1
_KEYS: tuple[Callable[[CitationRow], Any], ...] = (
    lambda row: row.place.value,
    lambda row: row.key,
    lambda row: (row.file, row.line),
    lambda row: row.target,
    lambda row: row.note.lower(),
)

_COLORS = {"uncited": "state.needs", "good": "state.good", "drift": "state.needs", "open": "muted", "bad": "state.bad"}


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """What a sitting says of a row: the verdict in words, and hints where they may be seen.

    `about` is what the filter finds it by as well: age, sessions, raters.
    """

    words: str = ""
    hints: str = ""
    about: str = ""

    @property
    def text(self) -> str:
        """Return what the filter looks at."""
        return f"{self.words} {self.hints} {self.about}"


NO_MARK = VerdictMark()
GroupKey = Callable[[CitationRow], str]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The head of a group of rows."""

    title: str
    count: int
    is_open: bool = True

    @property
    def label(self) -> str:
        """Return what is shown of it."""
        return f"{'▾' if self.is_open else '▸'} {self.title} · {self.count}"

    @property
    def spoken(self) -> str:
        """Return what is read of it."""
        return f"Group {self.title}, {self.count} rows, {'open' if self.is_open else 'closed'}"


class CitationTableModel(QAbstractTableModel):
    """Show citation rows. Signals: `about_to_arrange` and `arranged` around each reset."""

    about_to_arrange = Signal()
    arranged = Signal()

    def __init__(self, color: Callable[[str], Any], bold: Any = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._color = color
        self._bold = bold
        self._rows: tuple[CitationRow, ...] = ()
        self._texts: tuple[str, ...] | None = None
        self._shown: list[CitationRow | GroupRow] = []
        self._group: GroupKey | None = None
        self._closed: set[str] = set()
        self._words = ""
        self._places: frozenset[Place] = frozenset()
        self._order: tuple[int, bool] | None = None
        self._marks: dict[str, VerdictMark] = {}

    @property
    def rows(self) -> Sequence[CitationRow]:
        """Return all rows, shown or not."""
        return self._rows

    @property
    def shown_keys(self) -> frozenset[str] | None:
        """Return the keys of the rows that are shown, None where nothing is filtered."""
        return frozenset(row.key for row in self._matching()) if self._words or self._places else None

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        if not index.isValid():
            return None
        row = self._shown[index.row()]
        if isinstance(row, GroupRow):
            return self._group_data(row, index.column(), role)
        if role == _SPOKEN and index.column() == 0:
            return spoken(row, self._mark(row))
        if role == _DISPLAY:
            words = self._mark(row).words
            texts = (row.label, words, row.short_standing, row.short_target, one_line(row.note or row.reason, 300))
            return texts[index.column()]
        if role == _FOREGROUND and index.column() == 0:
            return self._color(_COLORS[chip_of(row.place)])
        if role == _TOOLTIP:
            texts = (row.reason, self._mark(row).hints, row.standing, row.target, row.note)
            return one_line(texts[index.column()], 400).replace("<", "‹") or None
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        return HEADERS[section] if orientation == _HORIZONTAL and role == _DISPLAY else None

    def row_at(self, position: int) -> CitationRow | None:
        """Return the row shown at a position, None for the head of a group."""
        row = self._shown[position] if 0 <= position < len(self._shown) else None
        return row if isinstance(row, CitationRow) else None

    def position_of(self, key: str) -> int | None:
        """Return where a row is shown."""
        return next((at for at, row in enumerate(self._shown) if isinstance(row, CitationRow) and row.key == key), None)

    @property
    def group_positions(self) -> tuple[int, ...]:
        """Return where the heads of groups are shown."""
        return tuple(at for at, row in enumerate(self._shown) if isinstance(row, GroupRow)) if self._group else ()

    def set_groups(self, key: GroupKey | None) -> None:
        """Show the rows in groups of equal keys, all open; None for one list."""
        self._group = key
        self._closed.clear()
        self._arrange()

    def toggle(self, position: int) -> bool:
        """Open or close the group whose head is shown at a position; tell whether there is one."""
        row = self._shown[position] if 0 <= position < len(self._shown) else None
        if not isinstance(row, GroupRow):
            return False
        (self._closed.add if row.is_open else self._closed.discard)(row.title)
        self._arrange()
        return True

    def open_groups(self) -> None:
        """Open every group."""
        if self._closed:
            self._closed.clear()
            self._arrange()

    def set_rows(self, rows: Sequence[CitationRow]) -> None:
        """Take a new list."""
        self._rows = tuple(rows)
        self._texts = None
        self._arrange()

    def set_look(self, found: Mapping[Position, Looked]) -> None:
        """Take what a look found beyond the numbers of the lines."""
        rows = with_look(self._rows, found)
        if any(one is not other for one, other in zip(rows, self._rows, strict=True)):
            self.set_rows(rows)

    def set_marks(self, marks: Mapping[str, VerdictMark]) -> None:
        """Show what was said of rows, by their keys; what the words of the filter mean follows."""
        self._marks = dict(marks)
        self._arrange()

    def set_mark(self, key: str, mark: VerdictMark) -> None:
        """Show what was said of one row, in its place: a row is not taken from under the eye."""
        self._marks[key] = mark
        position = self.position_of(key)
        if position is not None:
            place = self.index(position, VERDICT_COLUMN)
            self.dataChanged.emit(place, place)

    def set_filter(self, words: str, places: frozenset[Place] = frozenset()) -> None:
        """Show rows that hold all words and point to one of the places."""
        self._words, self._places = words, places
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; a negative one restores the reading order."""
        self._order = None if column < 0 else (column, order == Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        self.about_to_arrange.emit()
        self.beginResetModel()
        rows = self._matching()
        if self._order is not None:
            column, reverse = self._order
            by_verdict = column == VERDICT_COLUMN
            rows.sort(key=lambda r: self._mark(r).words if by_verdict else _KEYS[column](r), reverse=reverse)
        self._shown = list(rows) if self._group is None else self._grouped(rows, self._group)
        self.endResetModel()
        self.arranged.emit()

    def _grouped(self, rows: list[CitationRow], key: GroupKey) -> list[CitationRow | GroupRow]:
        groups: dict[str, list[CitationRow]] = {}
        for row in rows:
            groups.setdefault(key(row), []).append(row)
        shown: list[CitationRow | GroupRow] = []
        for title, members in groups.items():
            is_open = title not in self._closed
            shown.append(GroupRow(title, len(members), is_open))
            shown += members if is_open else ()
        return shown

    def _group_data(self, row: GroupRow, column: int, role: int) -> Any:
        if column != 0:
            return None
        return {_DISPLAY: row.label, _SPOKEN: row.spoken, _FONT: self._bold}.get(role)

    def _matching(self) -> list[CitationRow]:
        words = self._words.lower().split()
        if not words:
            return [row for row in self._rows if not self._places or row.place in self._places]
        if self._texts is None:
            self._texts = tuple(map(searched_text, self._rows))
        found: list[CitationRow] = []
        for row, text in zip(self._rows, self._texts, strict=True):
            said = f"{text} {self._mark(row).text.lower()}" if self._marks else text
            if (not self._places or row.place in self._places) and all(word in said for word in words):
                found.append(row)
        return found

    def _mark(self, row: CitationRow) -> VerdictMark:
        return self._marks.get(row.key, NO_MARK) if self._marks else NO_MARK


def spoken(row: CitationRow, mark: VerdictMark) -> str:
    """Return a row for a screen reader, in the order in which it is judged: claim, note, evidence, status, verdict."""
    parts = (row.standing, row.note, row.target, row.label, mark.words)
    return one_line("; ".join(part for part in parts if part), 600)
