"""The View menu of the queue: views by name, columns, and whether the layout is remembered."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHeaderView, QLineEdit, QMenu, QTableView, QToolButton

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models.job_table import COLUMNS, JobTableModel
from ltmem_gui.ui.models.saved_views import DEFAULT_VIEWS, shown_view, with_view, without_view
from ltmem_gui.ui.models.window_state import ColumnLook, QueueView, SortLook
from ltmem_gui.ui.widgets.chips import ChipRow

# Without its state a row could not be told from another by anything but colour.
FIXED_COLUMNS = frozenset({"state"})
# Columns as they stand at first; places in the model are another matter.
ORDER = (
    "state",
    "phase",
    "agent",
    "project",
    "title",
    "updated",
    "attempt",
    "lease",
    "started",
    "took",
    "tokens",
    "cost",
    "reason",
)
_PLACES = {column.id: index for index, column in enumerate(COLUMNS)}


class QueueViews(QObject):
    """Show and change how the queue is looked at; the table, the filter and the chips are the panel's.

    Signals: `changed` (something that can be kept), `save_asked` (name to suggest), `remember_asked` (bool),
    `attention_asked` (bool).
    """

    changed = Signal()
    save_asked = Signal(str)
    remember_asked = Signal(bool)
    attention_asked = Signal(bool)

    def __init__(
        self,
        table: QTableView,
        model: JobTableModel,
        filter_line: QLineEdit,
        chips: ChipRow,
        apply_filter: Callable[[], None],
    ) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        self._filter = filter_line
        self._chips = chips
        self._apply_filter = apply_filter
        self.saved: tuple[QueueView, ...] = ()
        self.remembers = False
        self.attention = False
        self._widths: dict[int, int] = {}
        self.button = QToolButton()
        self.button.setObjectName("queue.view")
        self.button.setProperty("role", "flat")
        self.button.setText("View ▾")
        self.button.setAccessibleName("View: saved views and columns")
        self.button.setToolTip("Saved views, columns, and whether the layout is remembered")
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.button.clicked.connect(self._on_button_clicked)
        header = table.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu_requested)
        self.reset_columns()
        header.sectionResized.connect(self.changed)
        header.sectionMoved.connect(self.changed)
        header.sortIndicatorChanged.connect(self.changed)
        filter_line.textChanged.connect(self.changed)
        chips.chosen.connect(self.changed)

    # what is shown, as a value

    def look(self, name: str = "–") -> QueueView:
        """Return what is shown now."""
        return QueueView(
            name=name,
            text=one_line(self._filter.text(), 500),
            kinds=tuple(sorted(self._chips.checked)),
            orders=tuple(SortLook(column=o.column, descending=o.descending) for o in self._model.orders),
            columns=self._columns(),
        )

    def apply(self, view: QueueView) -> None:
        """Show a view."""
        with QSignalBlocker(self._filter):
            self._filter.setText(view.text)
        self._chips.check({kind.value for kind in view.state_kinds})
        if view.columns:
            self._set_columns(view.columns)
        self._sort(view)
        self._apply_filter()
        self.changed.emit()

    def shown_name(self) -> str:
        """Return the name of the view that is shown unchanged."""
        return shown_view((*DEFAULT_VIEWS, *self.saved), self.look())

    def save(self, name: str) -> None:
        """Keep what is shown under a name. Raises `InputError` as `with_view` does."""
        try:
            view = self.look(one_line(name.strip(), 200) or "–")
        except ValueError as error:
            raise InputError("the name cannot be used", "type up to 60 plain characters") from error
        self.saved = with_view(self.saved, view)
        self.changed.emit()

    def remove(self, name: str) -> None:
        """Forget a saved view; what is shown stays."""
        self.saved = without_view(self.saved, name)
        self.changed.emit()

    def reset_columns(self) -> None:
        """Show every column in its usual place and width."""
        wide = self._table.fontMetrics().averageCharWidth()
        usual = {column.id: column for column in COLUMNS}
        looks = [
            ColumnLook(id=id_, width=max(8, wide * usual[id_].width + (18 if usual[id_].right else 14)))
            for id_ in ORDER[:-1]
        ]
        # The last one takes what is left.
        self._set_columns([*looks, ColumnLook(id=ORDER[-1], width=max(8, wide * 8))])

    def set_hidden(self, column: str, hidden: bool) -> None:
        """Hide or show a column; the state is always shown."""
        place = _PLACES[column]
        if column in FIXED_COLUMNS or self._header.isSectionHidden(place) == hidden:
            return
        if hidden:
            self._widths[place] = self._header.sectionSize(place)
        self._header.setSectionHidden(place, hidden)
        self.changed.emit()

    # the menu

    def menu(self) -> QMenu:
        """Return the menu as it is now."""
        menu = QMenu(self._table)
        menu.setObjectName("queue.view.menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        self._add_views(menu)
        menu.addSeparator()
        menu.addMenu(self._columns_menu(menu))
        menu.addSeparator()
        _check(
            menu, "queue.view.attention", "Mark the window when a run ends", self.attention, self.attention_asked.emit
        ).setToolTip("The task bar shows that the window has news; one mark per run")
        _check(
            menu,
            "queue.view.remember",
            "Remember the layout of this window…",
            self.remembers,
            self.remember_asked.emit,
        ).setToolTip("Asks first, and names the file")
        return menu

    def _add_views(self, menu: QMenu) -> None:
        shown = self.shown_name()
        group = QActionGroup(menu)
        for place, view in enumerate((*DEFAULT_VIEWS, *self.saved)):
            if place == len(DEFAULT_VIEWS):
                menu.addSeparator()
            action = _check(menu, f"queue.view.{place}", _escaped(view.name), view.name == shown, lambda _: None)
            action.triggered.connect(lambda _=False, view=view: self.apply(view))
            group.addAction(action)
        menu.addSeparator()
        save = menu.addAction("Save this view…")
        save.setObjectName("queue.view.save")
        save.triggered.connect(lambda: self.save_asked.emit(shown if shown in {v.name for v in self.saved} else ""))
        if self.saved:
            gone = menu.addMenu("Remove a view")
            gone.setObjectName("queue.view.remove")
            for view in self.saved:
                gone.addAction(_escaped(view.name)).triggered.connect(lambda _=False, name=view.name: self.remove(name))

    def _columns_menu(self, parent: QMenu) -> QMenu:
        menu = QMenu("Columns", parent)
        menu.setObjectName("queue.view.columns")
        for place in (self._header.logicalIndex(visual) for visual in range(len(COLUMNS))):
            column = COLUMNS[place]
            action = _check(
                menu,
                f"queue.view.column.{column.id}",
                column.title,
                not self._header.isSectionHidden(place),
                lambda on, id_=column.id: self.set_hidden(id_, not on),
            )
            action.setEnabled(column.id not in FIXED_COLUMNS)
        menu.addSeparator()
        reset = menu.addAction("Reset columns")
        reset.setObjectName("queue.view.reset")
        reset.triggered.connect(self._on_reset_pressed)
        return menu

    # columns and order

    @property
    def _header(self) -> QHeaderView:
        return self._table.horizontalHeader()

    def _columns(self) -> tuple[ColumnLook, ...]:
        header = self._header
        looks: list[ColumnLook] = []
        for visual in range(len(COLUMNS)):
            place = header.logicalIndex(visual)
            hidden = header.isSectionHidden(place)
            # A hidden section has no width of its own until it is shown again.
            width = self._widths.get(place, 80) if hidden else header.sectionSize(place)
            looks.append(ColumnLook(id=COLUMNS[place].id, width=min(max(width, 8), 4_000), hidden=hidden))
        return tuple(looks)

    def _set_columns(self, looks: list[ColumnLook] | tuple[ColumnLook, ...]) -> None:
        known = [look for look in {look.id: look for look in looks}.values() if look.id in _PLACES]
        header = self._header
        with QSignalBlocker(self):
            self._widths.update({_PLACES[look.id]: look.width for look in known})
            for visual, look in enumerate(known):
                place = _PLACES[look.id]
                header.moveSection(header.visualIndex(place), visual)
                header.setSectionHidden(place, look.hidden and look.id not in FIXED_COLUMNS)
                header.resizeSection(place, look.width)

    def _sort(self, view: QueueView) -> None:
        orders = [order for order in view.sort_orders if order.column in _PLACES]
        with QSignalBlocker(self._header):
            first = orders[0] if orders else None
            place = _PLACES[first.column] if first else -1
            self._header.setSortIndicator(place, _direction(first is not None and first.descending))
        if not orders:
            self._model.sort(-1)
        for order in reversed(orders):
            self._model.sort(_PLACES[order.column], _direction(order.descending))

    # slots

    def _on_button_clicked(self) -> None:
        self.menu().popup(self.button.mapToGlobal(QPoint(0, self.button.height())))

    def _on_header_menu_requested(self, point: QPoint) -> None:
        holder = QMenu(self._table)
        holder.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._columns_menu(holder).popup(self._header.mapToGlobal(point))

    def _on_reset_pressed(self) -> None:
        self.reset_columns()
        self.changed.emit()


def _direction(descending: bool) -> Qt.SortOrder:
    return Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder


def _check(menu: QMenu, name: str, text: str, on: bool, told: Callable[[bool], object]) -> QAction:
    action = menu.addAction(text)
    action.setObjectName(name)
    action.setCheckable(True)
    action.setChecked(on)
    action.toggled.connect(told)
    return action


def _escaped(name: str) -> str:
    return name.replace("&", "&&")
