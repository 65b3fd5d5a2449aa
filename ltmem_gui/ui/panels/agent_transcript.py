"""The transcript of a consolidation agent: every step with what became of it, live and afterwards; plain text only."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.prices import Price, money
from ltmem_gui.ui.models.agent_steps import (
    ASKED,
    FILE,
    RESULT,
    STEP,
    TIME,
    TOKENS,
    TOOL,
    AgentStepsModel,
    StepRow,
    StepTotals,
    detail_lines,
    summary_lines,
)
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.panels.citations import line_colors
from ltmem_gui.ui.theme import ROW_HEIGHT, Theme, bold_font, monospace
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label, set_role
from ltmem_gui.ui.widgets.line_view import LineView

NO_RUN = "No agent has run in this window yet"
_WIDTHS = {STEP: 48, TOOL: 96, TOKENS: 96, TIME: 64}


class TranscriptView(QSplitter):
    """The steps as a table, and all that is known of the one the keyboard is on.

    It follows a run while its last row is in sight; a person who scrolled up or chose a row is left there.
    """

    def __init__(self, name: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName(f"{name}.splitter")
        self.setChildrenCollapsible(False)
        self._theme = theme
        self.model = AgentStepsModel(theme.color, self)
        self.table = self._build_table(name)
        self.detail = LineView(f"{name}.detail", line_colors(theme), monospace())
        self.detail.setAccessibleName("The chosen step, or the whole run")
        self._show(None)
        self.addWidget(self.table)
        self.addWidget(self.detail)
        self.setStretchFactor(0, 3)
        self.setStretchFactor(1, 1)
        self.setSizes([900, 280])
        theme.changed.connect(self._on_theme_changed)

    def take_steps(self, steps: Sequence[AgentStep]) -> None:
        """Add steps of a run that goes on."""
        bar = self.table.verticalScrollBar()
        follows = bar.value() >= bar.maximum() and not self.table.currentIndex().isValid()
        self.model.take_steps(steps)
        if follows:
            self.table.scrollToBottom()

    def show_rows(self, rows: Sequence[StepRow]) -> None:
        """Show the steps of a run that is over."""
        self.model.set_rows(rows)
        self._show(None)

    def current_row(self) -> StepRow | None:
        """Return the row the keyboard is on."""
        return self.model.row_at(self.table.currentIndex().row())

    def _build_table(self, name: str) -> QTableView:
        table = QTableView()
        table.setObjectName(name)
        table.setAccessibleName("Steps of the agent")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column in (FILE, ASKED, RESULT):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, width in _WIDTHS.items():
            table.setColumnWidth(column, width)
        table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.model.modelReset.connect(self._on_model_changed)
        self.model.counted.connect(self._on_model_changed)
        return table

    def _show(self, row: StepRow | None) -> None:
        lines = detail_lines(row) if row is not None else summary_lines(self.model.totals)
        self.detail.show_lines([TextLine(name, text) for name, text in lines])

    def _on_current_changed(self, current: QModelIndex) -> None:
        self._show(self.model.row_at(current.row()))

    def _on_model_changed(self) -> None:
        if self.current_row() is None:
            self._show(None)

    def _on_theme_changed(self) -> None:
        self.detail.set_colors(line_colors(self._theme))
        self.table.viewport().update()


class AgentDrawer(QFrame):
    """The transcript beside whatever panel is shown: how the run stands, its steps, and what can follow.

    Signals: `regenerate_pressed`, `retry_pressed` (lift the wait after a failure), `closed`.
    """

    regenerate_pressed = Signal()
    retry_pressed = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("agent")
        self.setProperty("role", "foot")
        self.setAccessibleName("Agent")
        self.view = TranscriptView("agent.steps", theme)
        self._price: Price | None = None
        self._state = ElidedLabel(NO_RUN)
        self._state.setObjectName("agent.state")
        self._figures = ElidedLabel(role="muted", fills=True)
        self._figures.setObjectName("agent.figures")
        self.refused = QPushButton("✕ Refused 0")
        self.refused.setObjectName("agent.refused")
        self.refused.setProperty("chip", "true")
        self.refused.setCheckable(True)
        self.refused.toggled.connect(self.view.model.set_refused_only)
        self.regenerate = self._button("agent.regenerate", "Regenerate with a note…")
        self.regenerate.setToolTip("A new run with your remark and the changes you rejected; it asks first")
        self.regenerate.clicked.connect(self.regenerate_pressed)
        self.retry = self._button("agent.retry", "Lift the wait…")
        self.retry.setToolTip("A failed consolidation waits an hour; this small plan lets it run at once")
        self.retry.clicked.connect(self.retry_pressed)
        self.view.model.counted.connect(self._on_model_counted)
        self._build()
        self._on_model_counted(StepTotals())
        self.hide()

    def begin(self, title: str, price: Price | None = None) -> None:
        """Clear the steps: a run starts; with a `price` its cost is counted along."""
        self._price = price
        self.refused.setChecked(False)
        self.view.show_rows(())
        self.show_state(title)
        self.show()

    def forget(self) -> None:
        """Take the steps away: they are of other folders."""
        self.begin(NO_RUN)
        self.hide()

    def show_state(self, text: str, role: str = "") -> None:
        """Say how the run stands; `role` is good, bad, needs or empty."""
        set_role(self._state, "role", role)
        self._state.set_text(text)

    def offer(self, *, regenerate: bool = False, retry: bool = False) -> None:
        """Show what can follow."""
        self.regenerate.setVisible(regenerate)
        self.retry.setVisible(retry)

    @property
    def state_text(self) -> str:
        """Return how the run stands, in words."""
        return self._state.full_text

    def _build(self) -> None:
        title = plain_label("Agent", font=bold_font())
        close = QToolButton()
        close.setObjectName("agent.close")
        close.setText("×")
        close.setAccessibleName("Close the agent's steps")
        close.setProperty("role", "flat")
        close.clicked.connect(self._on_close_clicked)
        head = QHBoxLayout()
        head.setContentsMargins(16, 6, 8, 6)
        head.setSpacing(12)
        head.addWidget(title)
        head.addWidget(self._state)
        head.addWidget(self._figures, 1)
        for widget in (self.refused, self.retry, self.regenerate, close):
            head.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        self.setMinimumHeight(140)
        self.offer()

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        return button

    def _on_model_counted(self, totals: StepTotals) -> None:
        spent = money(self._price, totals.usage)
        words = f"{totals.in_words()} · {spent} so far" if spent is not None else totals.in_words()
        self._figures.set_text(words if totals.steps else "")
        self.refused.setText(f"✕ Refused {totals.refused}")
        self.refused.setAccessibleName(f"Only refused calls, {totals.refused}")
        self.refused.setEnabled(bool(totals.refused) or self.refused.isChecked())

    def _on_close_clicked(self) -> None:
        self.hide()
        self.closed.emit()
