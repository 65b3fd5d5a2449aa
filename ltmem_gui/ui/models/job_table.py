"""The queue as a table model: frozen rows, an index list on top, text made only for cells that are painted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import Cancelled
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.cells import Cell
from ltmem_gui.ui.models.job_filter import Arrangement, Order, Query, arrangement, compile_query
from ltmem_gui.ui.models.job_rows import JobRow, PreparedRows, cost_in_words, prepare_rows
from ltmem_gui.ui.models.job_state import TITLES, StateKind

INLINE_LIMIT = 5_000
MAX_ORDERS = 3
TASK = "queue.arrange"

_DISPLAY = int(Qt.ItemDataRole.DisplayRole)
_TOOLTIP = int(Qt.ItemDataRole.ToolTipRole)
_FOREGROUND = int(Qt.ItemDataRole.ForegroundRole)
_ALIGNMENT = int(Qt.ItemDataRole.TextAlignmentRole)
_ACCESSIBLE = int(Qt.ItemDataRole.AccessibleTextRole)
_HORIZONTAL = Qt.Orientation.Horizontal
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
KEY_ROLE = int(Qt.ItemDataRole.UserRole)

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `id` is also its sort key, `width` in average characters."""

    id: str
    title: str
    width: int
    right: bool = False


COLUMNS: tuple[Column, ...] = (
    Column("state", "State", 24),
    Column("agent", "Agent", 7),
    Column("project", "Project", 11),
    Column("title", "Session", 28),
    Column("updated", "Changed", 9),
    Column("attempt", "Try", 4, right=True),
    Column("lease", "Lease", 13),
    Column("started", "Started", 8),
    Column("took", "Took", 6, right=True),
    Column("tokens", "Tokens", 7, right=True),
    Column("cost", "Cost", 10, right=True),
    Column("reason", "Reason", 24),
    Column("phase", "Phase", 7),
)

_QUIET = frozenset({"updated", "agent", "phase", "attempt", "lease", "started"})


class JobTableModel(QAbstractTableModel):
    """Show rows of the queue, filtered and sorted here.

    Up to 5,000 rows are arranged at once; more are arranged on a thread while the old order stays. Signals:
    `about_to_arrange` and `arranged` around each reset (views keep selection and scroll by key), `counts_changed`
    (mapping of type to number), `problem_found` (words, empty when the query is understood).
    """

    about_to_arrange = Signal()
    arranged = Signal()
    counts_changed = Signal(object)
    problem_found = Signal(str)

    def __init__(
        self,
        supervisor: Supervisor,
        color: Callable[[str], Any],
        clock: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._supervisor = supervisor
        self._color = color
        self._clock = clock
        self._rows: list[JobRow] = []
        self._arranged = Arrangement((), ())
        self._place: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._text = ""
        self._kinds: frozenset[StateKind] = frozenset()
        self._orders: tuple[Order, ...] = ()
        self._cancel = CancelToken()

    # what it holds

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._arranged.shown)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        if not index.isValid():
            return None
        row = self._rows[self._arranged.shown[index.row()]]
        column = COLUMNS[index.column()]
        if role == _DISPLAY:
            return _TEXTS[column.id](row, self._clock())
        if role == _FOREGROUND:
            return self._foreground(row, column)
        if role == _ALIGNMENT:
            return _RIGHT if column.right else _LEFT
        if role == _TOOLTIP:
            return _tooltip(row, column)
        if role == _ACCESSIBLE and column.id == "state":
            return f"{TITLES[row.state.kind]}: {row.state.name}"
        return row.key if role == KEY_ROLE else None

    def cell(self, row: int, column: int) -> Cell:
        """Return what a cell shows, in one answer (`CellDelegate` paints with it)."""
        shown, kind = self._rows[self._arranged.shown[row]], COLUMNS[column]
        return Cell(_TEXTS[kind.id](shown, self._clock()), self._foreground(shown, kind), kind.right)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        if orientation != _HORIZONTAL:
            return None
        if role == _DISPLAY:
            return COLUMNS[section].title
        return (_RIGHT if COLUMNS[section].right else _LEFT) if role == _ALIGNMENT else None

    @property
    def rows(self) -> Sequence[JobRow]:
        """Return all rows, shown or not, in the scan's order."""
        return self._rows

    @property
    def orders(self) -> tuple[Order, ...]:
        """Return the sort columns, the most important first."""
        return self._orders

    def row_at(self, position: int) -> JobRow | None:
        """Return the row shown at a position."""
        shown = self._arranged.shown
        return self._rows[shown[position]] if 0 <= position < len(shown) else None

    def row_of(self, key: str) -> JobRow | None:
        """Return a row by key, shown or not."""
        place = self._place.get(key)
        return None if place is None else self._rows[place]

    def position_of(self, key: str) -> int | None:
        """Return where a row is shown."""
        place = self._place.get(key)
        position = -1 if place is None else self._arranged.positions[place]
        return position if position >= 0 else None

    # what changes it

    def set_rows(self, rows: Sequence[JobRow]) -> None:
        """Take a new list."""
        self.set_prepared(prepare_rows(rows))

    def set_prepared(self, prepared: PreparedRows, arranged: Arrangement | None = None) -> None:
        """Take a new list that was indexed, or arranged too, already; the values are the model's from now on."""
        self.about_to_arrange.emit()
        self.beginResetModel()
        self._rows, self._place, self._counts = prepared.rows, prepared.places, prepared.counts
        later = arranged is None and self._is_large(self._rows)
        self._arranged = Arrangement((), (-1,) * len(self._rows)) if later else arranged or self._arrange_now()
        self.endResetModel()
        self.arranged.emit()
        self.counts_changed.emit(self._counts)
        if later:
            self._arrange()

    async def arrange_ahead(self, prepared: PreparedRows) -> Arrangement | None:
        """Find the order of a list that comes, while the one before stays; None where that takes no thread."""
        cancel = CancelToken()
        try:
            while self._is_large(prepared.rows):
                asked, query = (self._text, self._kinds, self._orders), self._query()
                rows = tuple(prepared.rows)
                arranged = await asyncio.to_thread(arrangement, rows, query, self._orders, cancel)
                if asked == (self._text, self._kinds, self._orders):
                    return arranged
            return None
        finally:
            cancel.cancel()

    def set_filter(self, text: str, kinds: frozenset[StateKind] = frozenset()) -> None:
        """Show the rows that match."""
        if (text, kinds) != (self._text, self._kinds):
            self._text, self._kinds = text, kinds
            self.problem_found.emit(self._query().problem)
            self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; earlier columns break ties. A negative column restores the scan's order."""
        if column < 0:
            self._orders = ()
        else:
            first = Order(COLUMNS[column].id, order == Qt.SortOrder.DescendingOrder)
            rest = tuple(known for known in self._orders if known.column != first.column)
            self._orders = (first, *rest)[:MAX_ORDERS]
        self._arrange()

    def update_rows(self, changed: Mapping[str, JobRow]) -> None:
        """Replace rows by key; order, scroll and selection stay until a person sorts or filters again."""
        for key, row in changed.items():
            place = self._place.get(key)
            if place is not None:
                self._count(self._rows[place], row)
                self._rows[place] = row
        self.tick(changed)
        self.counts_changed.emit(self._counts)

    def tick(self, keys: Iterable[str]) -> None:
        """Show rows anew, with the time it is."""
        positions = [position for key in keys if (position := self.position_of(key)) is not None]
        for first, last in _runs(positions):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def _count(self, before: JobRow, after: JobRow) -> None:
        old, new = before.state.kind.value, after.state.kind.value
        if old != new:
            self._counts[old] = self._counts.get(old, 0) - 1
            self._counts[new] = self._counts.get(new, 0) + 1

    # how it is arranged

    def _is_large(self, rows: Sequence[JobRow]) -> bool:
        return len(rows) > INLINE_LIMIT and (bool(self._text or self._kinds or self._orders))

    def _query(self) -> Query:
        return compile_query(self._text, int(self._clock()), self._kinds)

    def _arrange_now(self) -> Arrangement:
        return arrangement(self._rows, self._query(), self._orders)

    def _arrange(self) -> None:
        self._cancel.cancel()
        self._cancel = CancelToken()
        if self._is_large(self._rows):
            self._supervisor.spawn(TASK, self._arrange_on_thread(self._cancel), policy="replace")
        else:
            self._show(self._arrange_now())

    async def _arrange_on_thread(self, cancel: CancelToken) -> None:
        rows = self._rows
        try:
            shown = await asyncio.to_thread(arrangement, tuple(rows), self._query(), self._orders, cancel)
        except Cancelled:
            return
        if rows is self._rows and not cancel.cancelled:
            self._show(shown)

    def _show(self, arranged: Arrangement) -> None:
        self.about_to_arrange.emit()
        self.beginResetModel()
        self._arranged = arranged
        self.endResetModel()
        self.arranged.emit()

    def _foreground(self, row: JobRow, column: Column) -> Any:
        if column.id == "state":
            return self._color(f"state.{row.state.kind.value}")
        if row.state.kind is StateKind.STOPPED or column.id in (
            "updated",
            "agent",
            "phase",
            "attempt",
            "lease",
            "started",
        ):
            return self._color("muted")
        return None


def _runs(positions: list[int]) -> Iterator[tuple[int, int]]:
    """Yield neighbours as one range each, so that what changed outside the picture paints nothing."""
    ordered = sorted(positions)
    first = last = ordered[0] if ordered else -1
    for position in ordered[1:]:
        if position > last + 1:
            yield first, last
            first = position
        last = position
    if ordered:
        yield first, last


def _lease(row: JobRow, now: float) -> str:
    if not row.owner or row.lease_until is None:
        return formats.DASH
    host, _, rest = row.owner.partition(":")
    return f"{host}:{rest.partition(':')[0]} {formats.minutes(row.lease_until - int(now))}"


def _took(row: JobRow, now: float) -> str:
    if row.took is not None:
        return formats.span(row.took)
    if row.state.kind is StateKind.RUNNING and row.started_at is not None:
        return formats.span(now - row.started_at)
    return formats.DASH


def _started(row: JobRow, now: float) -> str:
    return formats.moment(row.started_at, int(now))


def _tooltip(row: JobRow, column: Column) -> str | None:
    match column.id:
        case "updated":
            text = formats.absolute(row.updated_at)
        case "started":
            text = formats.absolute(row.started_at)
        case "project":
            text = formats.folder(row.cwd)
        case "reason":
            text = row.reason
        case "lease":
            text = row.owner
        case "state":
            text = row.state.label
        case "cost":
            text = cost_in_words(row)
        case "title":
            text = row.title
        case _:
            return None
    # A tooltip that looks like markup would be rendered: Qt takes it as plain text only when it has no tags.
    return text.replace("<", "‹") if text else None


_TEXTS: dict[str, Callable[[JobRow, float], str]] = {
    "state": lambda row, _: row.state.label,
    "agent": lambda row, _: row.agent,
    "project": lambda row, _: row.project,
    "title": lambda row, _: row.title,
    "updated": lambda row, now: formats.ago(row.updated_at, int(now)),
    "attempt": lambda row, _: str(row.attempt) if row.attempt else formats.DASH,
    "lease": _lease,
    "started": _started,
    "took": _took,
    "tokens": lambda row, _: formats.tokens(row.tokens),
    "cost": lambda row, _: row.cost or formats.DASH,
    "reason": lambda row, _: row.reason,
    "phase": lambda row, _: str(row.phase),
}
