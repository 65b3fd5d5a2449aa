"""The queue: every rollout with its state and reason, filters, and the detail of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.events import Event, JobFinished, JobPrepared, JobStarted, LeaseRenewed
from ltmem_gui.domain.jobs import GLOBAL_KEY
from ltmem_gui.domain.plan import Plan
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.awaiting import next_turn
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import cleaned
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_facts import InputFacts, input_of, inputs_of
from ltmem_gui.ui.models.job_log import JobLog
from ltmem_gui.ui.models.job_rows import (
    PHASE_TWO,
    JobRow,
    PreparedRows,
    apply_event,
    iter_rows,
    mark_cut_off,
    with_plan,
)
from ltmem_gui.ui.models.job_state import SIGNS, TITLES, StateKind, running, state_of_consolidation
from ltmem_gui.ui.models.job_table import COLUMNS, JobTableModel
from ltmem_gui.ui.models.phase_two import pieces
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.queue_detail import QueueDetail, fill_menu
from ltmem_gui.ui.panels.queue_views import QueueViews
from ltmem_gui.ui.theme import ROW_HEIGHT, Theme
from ltmem_gui.ui.widgets.announcer import Announcer
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.cells import CellTable
from ltmem_gui.ui.widgets.chips import Chip, ChipRow
from ltmem_gui.ui.widgets.labels import plain_label

CHIP_ORDER = (
    StateKind.WAITING,
    StateKind.RUNNING,
    StateKind.NEEDS,
    StateKind.BAD,
    StateKind.GOOD,
    StateKind.STOPPED,
)


# Rows that are made in one turn of the loop: a hundred at once, and the picture after them, held the window for 30 ms.
PIECE = 25
# What is told of the row in the detail follows the picture of the table, before a person has looked that way.
RETOLD_MS = 30
ROWS_TASK = "queue.rows"
TICK_MS = 1_000


class QueueTable(CellTable):
    """The table. Return is handed on as a signal and never edits or presses anything.

    Signals: `detail_asked`.
    """

    detail_asked = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.detail_asked.emit()
            return
        super().keyPressEvent(event)


class QueuePanel(QWidget):
    """Table, filters and detail.

    Signals: `row_chosen` (`JobRow` or None), `empty_pressed` (the action of the empty page), `count_changed` (waiting
    rows).
    """

    row_chosen = Signal(object)
    empty_pressed = Signal(str)
    count_changed = Signal(int)

    def __init__(
        self,
        theme: Theme,
        actions: ActionRegistry,
        supervisor: Supervisor,
        model: JobTableModel,
        clock: Callable[[], float] = time.time,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("queue")
        self.model = model
        self._actions = actions
        self._supervisor = supervisor
        self._clock = clock
        self._kept_key = ""
        self._kept_keys: list[str] = []
        self._kept_top = ""
        self._wanted_key = ""
        self._seen = Seen()
        self._inputs: dict[str, InputFacts] = {}
        # What a run told, and when, while rows were made of what was read before it.
        self._meanwhile: list[tuple[Event, int]] = []
        self.live: set[str] = set()
        self.plan: Plan | None = None
        self.log = JobLog(lambda text: cleaned(text).text)
        self.announcer = Announcer(self)
        self._retold = QTimer(self)
        self._retold.setSingleShot(True)
        self._retold.setInterval(RETOLD_MS)
        self._retold.timeout.connect(self._on_retold_timed_out)
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        # Time moves on for what runs; to paint all that is seen for it held the window longest of all.
        self._ticker.timeout.connect(lambda: model.tick(self.live))
        self._empty_action = ""
        self._build(theme, actions)
        model.about_to_arrange.connect(self._on_model_arranging)
        model.arranged.connect(self._on_model_arranged)
        model.counts_changed.connect(self._on_counts_changed)
        model.problem_found.connect(self._on_problem_found)

    # what it is told

    def show_seen(self, seen: Seen) -> None:
        """Show what was scanned and stored."""
        before, self._seen = self._seen, seen
        if self.detail.row is not None and self.detail.row.phase == PHASE_TWO:
            self._show_detail(self.detail.row)
        cut_off = _cut_off(seen)
        if seen.report is before.report and seen.jobs == before.jobs and cut_off == _cut_off(before):
            return
        self._meanwhile.clear()
        prepared, rows = PreparedRows(), self._rows_of(seen)
        prepared.take(islice(rows, PIECE))
        if len(prepared.rows) < PIECE:
            self._supervisor.cancel(ROWS_TASK)
            self.model.set_prepared(prepared)
        else:
            self._supervisor.spawn(ROWS_TASK, self._show_many(prepared, rows, self.plan), policy="replace")

    def _rows_of(self, seen: Seen) -> Iterator[JobRow]:
        cut_off, waits = _cut_off(seen), self.plan is not None
        for made in iter_rows(seen.report.rollouts if seen.report else (), seen.jobs, int(self._clock())):
            row = with_plan(made, waits=waits)
            yield mark_cut_off(row) if row.key in cut_off else row

    async def _show_many(self, prepared: PreparedRows, rows: Iterator[JobRow], plan: Plan | None) -> None:
        """Make the rows piece by piece: on a thread they would hold up each cell that is painted meanwhile."""
        self._stack.setCurrentIndex(1)  # the first picture of the table is laid out before there are rows to paint
        while prepared.take(islice(rows, PIECE)):
            await next_turn()
        self.model.set_prepared(prepared, await self.model.arrange_ahead(prepared))
        if self._meanwhile:
            self.model.update_rows(self._moved_on(self._meanwhile))
            self._retold.start()
        if self.plan is not plan:
            self._mark_plan()

    def take_events(self, events: tuple[Event, ...]) -> None:
        """Show what a run tells, without moving anything."""
        now = int(self._clock())
        moves = [(event, now) for event in events if isinstance(event, JobStarted | JobFinished | LeaseRenewed)]
        if self._supervisor.is_running(ROWS_TASK):
            self._meanwhile += moves
        changed = self._moved_on(moves)
        for event in events:
            if isinstance(event, JobStarted | JobFinished | LeaseRenewed):
                (self.live.discard if isinstance(event, JobFinished) else self.live.add)(event.thread_id)
            elif isinstance(event, JobPrepared):
                self._inputs[event.thread_id] = input_of(event)
        touched = self.log.take(events, now)
        shown = self.detail.row
        before = self.model.row_of(shown.key) if shown is not None else None
        if changed:
            self.model.update_rows(changed)
        if shown is not None and (shown.key in changed or shown.thread_id in touched):
            row = changed.get(shown.key)
            if row is not None and before is not None and row.state.label != before.state.label:
                self.announcer.say(f"{row.title}: {row.state.name}. {row.reason}".rstrip(". "))
            self._retold.start()
        current = self.current_row()
        if current is not None and current.key in changed:
            self.row_chosen.emit(current)

    def _moved_on(self, moves: Iterable[tuple[Event, int]]) -> dict[str, JobRow]:
        """Return the rows that events move on, by key."""
        changed: dict[str, JobRow] = {}
        for event, at in moves:
            if isinstance(event, JobStarted | JobFinished | LeaseRenewed):
                row = changed.get(event.thread_id) or self.model.row_of(event.thread_id)
                if row is not None:
                    changed[event.thread_id] = apply_event(row, event, at)
        return changed

    def show_plan(self, plan: Plan | None) -> None:
        """Say in the consolidation's row whether a plan waits for its review."""
        if plan is self.plan:
            return
        self.plan = plan
        self._mark_plan()

    def _mark_plan(self) -> None:
        row = self.model.row_of(GLOBAL_KEY)
        if row is not None and row.job is not None and row.key not in _cut_off(self._seen):
            fresh = replace(row, state=state_of_consolidation(row.job, int(self._clock())))
            self.model.update_rows({row.key: with_plan(fresh, waits=self.plan is not None)})
            if self.detail.row is not None and self.detail.row.key == row.key:
                self._show_detail(self.model.row_of(GLOBAL_KEY))

    def take_plan(self, plan: Plan) -> None:
        """Take what an estimate says of the inputs."""
        self._inputs.update(inputs_of(plan))
        self._show_detail(self.current_row())

    def take_input(self, thread_id: str, given: InputFacts) -> None:
        """Take what was found of one input."""
        self._inputs[thread_id] = given
        self._show_detail(self.current_row())

    def mark_cancelling(self, thread_ids: Iterable[str]) -> None:
        """Say of rows that their extraction is being stopped."""
        rows = [row for thread_id in thread_ids if (row := self.model.row_of(thread_id)) is not None]
        changed = {row.key: replace(row, state=running("cancelling")) for row in rows}
        self.model.update_rows(changed)
        if self.detail.row is not None and self.detail.row.key in changed:
            self._show_detail(changed[self.detail.row.key])

    def _show_detail(self, row: JobRow | None) -> None:
        now = int(self._clock())
        if row is None:
            self.detail.show_row(None, now)
            return
        lines = self.log.lines(row.thread_id, row.job.attempts if row.job else ())
        more = [(p.name, p.whole) for p in pieces(self._seen, self.plan, now)] if row.phase == PHASE_TWO else []
        self.detail.show_row(row, now, self._inputs.get(row.thread_id), lines, more)

    def teach(self, title: str, sentence: str, action: str = "", action_title: str = "") -> None:
        """Say what the empty table means and what to do about it."""
        self._empty_action = action
        self._empty.teach(title, sentence, action_title)

    def set_running(self, running: bool) -> None:
        """Let times move on once a second while a run is going on."""
        if running != self._ticker.isActive():
            (self._ticker.start if running else self._ticker.stop)()

    def current_row(self) -> JobRow | None:
        """Return the row the keyboard is on."""
        return self.model.row_at(self.table.currentIndex().row())

    def selected_rows(self) -> tuple[JobRow, ...]:
        """Return the selected rows, in the order shown; the current one when none is selected."""
        positions = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        rows = [row for position in positions if (row := self.model.row_at(position)) is not None]
        current = self.current_row()
        return tuple(rows) or ((current,) if current is not None else ())

    def select_key(self, key: str) -> None:
        """Put the keyboard on a row; one that is not there yet is chosen when it comes."""
        position = self.model.position_of(key)
        self._wanted_key = "" if position is not None else key
        if position is not None:
            self.table.setCurrentIndex(self.model.index(position, 0))

    def select_keys(self, keys: Iterable[str]) -> int:
        """Select the rows of these keys that are shown; return how many."""
        self._kept_keys = list(keys)
        places = [place for key in self._kept_keys if (place := self.model.position_of(key)) is not None]
        self._kept_key = self._kept_keys[0] if self._kept_keys else ""
        self._restore_selection()
        if places:
            self.table.scrollTo(self.model.index(min(places), 0))
        return len(places)

    def focus_filter(self) -> None:
        """Move the keyboard into the filter."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    # how it is built

    def _build(self, theme: Theme, actions: ActionRegistry) -> None:
        bar = self._build_bar()
        self.table = self._build_table(actions)
        self.views = QueueViews(self.table, self.model, self.filter, self.chips, self._apply_filter)
        bar.addWidget(self.views.button)
        self.detail = QueueDetail(theme, actions)
        self.detail.log.all_asked.connect(lambda: QGuiApplication.clipboard().setText(self.log.export()))
        self._empty = EmptyPage("queue.empty")
        self._empty.pressed.connect(self._on_empty_pressed)
        self._nothing = EmptyPage("queue.nothing")
        sentence = "Other rows are hidden by the filter or the chips above."
        self._nothing.teach("No rollout matches", sentence, "Show all")
        self._nothing.pressed.connect(self._on_show_all_pressed)
        self._body = QStackedWidget()
        self._body.addWidget(self.table)
        self._body.addWidget(self._nothing)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setObjectName("queue.splitter")
        self.splitter.addWidget(self._body)
        self.splitter.addWidget(self.detail)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setSizes([360, 240])
        self.splitter.setChildrenCollapsible(False)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.splitter)
        frame = QFrame()
        frame.setProperty("role", "bar")
        frame.setLayout(bar)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(frame)
        layout.addWidget(self._stack, 1)

    def _build_bar(self) -> QHBoxLayout:
        self.filter = QLineEdit()
        self.filter.setObjectName("queue.filter")
        self.filter.setAccessibleName("Filter the queue")
        self.filter.setPlaceholderText("Filter: words, state: agent: project: id: phase: error: age>7d")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._on_filter_changed)
        self.filter.returnPressed.connect(self._on_filter_entered)
        self._problem = plain_label(role="bad")
        self._problem.hide()
        self._shown = plain_label(role="muted")
        self._shown.setObjectName("queue.shown")
        self.chips = ChipRow("queue.chips", [Chip(kind.value, TITLES[kind], SIGNS[kind]) for kind in CHIP_ORDER])
        self.chips.chosen.connect(self._on_chips_chosen)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 6, 12, 6)
        bar.setSpacing(12)
        bar.addWidget(self.chips)
        bar.addWidget(self.filter, 1)
        bar.addWidget(self._problem)
        bar.addWidget(self._shown)
        return bar

    def _build_table(self, actions: ActionRegistry) -> QueueTable:
        table = QueueTable()
        table.setObjectName("queue.table")
        table.setAccessibleName("Rollouts")
        table.setModel(self.model)
        table.set_cells(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setAlternatingRowColors(True)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._on_menu_requested)
        table.detail_asked.connect(self._on_detail_asked)
        rows = table.verticalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(max(ROW_HEIGHT, table.fontMetrics().height() + 8))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        table.setSortingEnabled(True)
        table.selectionModel().currentRowChanged.connect(self._on_current_row_changed)
        table.selectionModel().selectionChanged.connect(self._on_selection_changed)
        actions.attach(table, "queue")
        return table

    # slots

    def _on_filter_changed(self) -> None:
        self._apply_filter()

    def _on_chips_chosen(self) -> None:
        self._apply_filter()

    def _apply_filter(self) -> None:
        kinds = frozenset(StateKind(id_) for id_ in self.chips.checked)
        self.model.set_filter(self.filter.text(), kinds)

    def _on_show_all_pressed(self) -> None:
        self.filter.clear()
        self.chips.clear()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_filter_entered(self) -> None:
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_model_arranging(self) -> None:
        current = self.current_row()
        self._kept_key = current.key if current else ""
        rows = self.table.selectionModel().selectedRows()
        self._kept_keys = [row.key for index in rows if (row := self.model.row_at(index.row())) is not None]
        top = self.model.row_at(self.table.rowAt(0))
        self._kept_top = top.key if top else ""

    def _on_model_arranged(self) -> None:
        self._restore_selection()
        if self._wanted_key and self.model.rows and self.current_row() is None:
            self.select_key(self._wanted_key)
        self._stack.setCurrentIndex(1 if self.model.rows else 0)
        hidden = bool(self.model.rows) and not self.model.rowCount()
        self._body.setCurrentIndex(1 if hidden else 0)
        shown, total = self.model.rowCount(), len(self.model.rows)
        one = "row" if self.model.rows and self.model.rows[0].phase == PHASE_TWO else "rollout"
        self._shown.setText(f"{shown} of {total}" if shown != total else formats.plural(total, one) if total else "")
        if self.current_row() is None:
            self._show_detail(None)
            self.row_chosen.emit(None)

    def _restore_selection(self) -> None:
        model, selection = self.model, QItemSelection()
        for key in self._kept_keys:
            position = model.position_of(key)
            if position is not None:
                selection.select(model.index(position, 0), model.index(position, len(COLUMNS) - 1))
        flags = QItemSelectionModel.SelectionFlag
        position = model.position_of(self._kept_key) if self._kept_key else None
        if position is not None:
            self.table.selectionModel().setCurrentIndex(model.index(position, 0), flags.NoUpdate)
        self.table.selectionModel().select(selection, flags.ClearAndSelect)
        top = model.position_of(self._kept_top) if self._kept_top else None
        if top is not None:
            self.table.scrollTo(model.index(top, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    def _on_counts_changed(self, counts: dict[str, int]) -> None:
        self.chips.set_counts(counts)
        self.count_changed.emit(counts.get(StateKind.WAITING.value, 0))

    def _on_problem_found(self, words: str) -> None:
        self._problem.setText(words)
        self._problem.setVisible(bool(words))

    def _on_current_row_changed(self) -> None:
        row, shown = self.current_row(), self.detail.row
        if row is not None and shown is not None and row.key == shown.key:
            self._retold.start()
        else:
            self._show_detail(row)
        self.row_chosen.emit(row)

    def _on_retold_timed_out(self) -> None:
        row = self.detail.row
        self._show_detail(row and (self.model.row_of(row.key) or row))

    def _on_selection_changed(self) -> None:
        self.row_chosen.emit(self.current_row())

    def _on_detail_asked(self) -> None:
        self.detail.take_focus()

    def _on_empty_pressed(self) -> None:
        self.empty_pressed.emit(self._empty_action)

    def _on_menu_requested(self, point: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName("queue.menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fill_menu(menu, self._actions).popup(self.table.viewport().mapToGlobal(point))


def _cut_off(seen: Seen) -> frozenset[str]:
    """Return the keys of jobs whose program ended while it worked on them."""
    return frozenset(job.job_key for job in seen.standing.jobs) if seen.standing is not None else frozenset()
