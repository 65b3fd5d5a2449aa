"""The page of the review: its models, its widgets and what is shown. It decides nothing and starts nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.diff_model import DiffModel
from ltmem_gui.ui.models.diff_reading import ReadingModel
from ltmem_gui.ui.models.review_files import FilesModel
from ltmem_gui.ui.models.review_findings import FindingsModel
from ltmem_gui.ui.models.review_state import ReviewState
from ltmem_gui.ui.panels.review_actions import REVIEW_ACTIONS
from ltmem_gui.ui.panels.review_bars import FindBar, NoteBar, ReviewFoot, ReviewHeader
from ltmem_gui.ui.panels.review_edit import EditPane
from ltmem_gui.ui.panels.review_hand_over import HandOver
from ltmem_gui.ui.panels.review_side import SidePane
from ltmem_gui.ui.panels.review_tables import files_table, reading_table
from ltmem_gui.ui.theme import Theme, monospace
from ltmem_gui.ui.widgets.bars import EmptyPage, MessageBar
from ltmem_gui.ui.widgets.diff_colors import DiffColors
from ltmem_gui.ui.widgets.diff_view import DiffView
from ltmem_gui.ui.widgets.overview_bar import OverviewBar


class ReviewPage(QWidget):
    """Files, diff and evidence beside each other; base of the panel, and all that its commands see of it.

    Signals: `file_shown` (path of the file that is shown now, before the cursor is put into it).
    """

    file_shown = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review")
        self.state = ReviewState(self)
        self.model = DiffModel(self)
        self.files_model = FilesModel(self)
        self.findings_model = FindingsModel(self)
        self.reading_model = ReadingModel(self.model, self)
        self.registry = ActionRegistry(theme.icon, REVIEW_ACTIONS)
        self._build(theme)
        self.hand_over = HandOver(self.state, self.model, self.view, self)

    def current_path(self) -> str:
        """Return the file that is shown, empty when none is."""
        return self.model.file.change.path if self.model.file is not None else ""

    def open_file(self, path: str, *, row: int | None = None) -> None:
        """Show a file of the plan; the cursor goes to `row` or to its first change that is open."""
        review = self.state.review
        if review is None or path not in self.state.files:
            return
        if path != self.current_path():
            if self.edit.is_open:
                self.edit.leave_file()
            self.model.open(self.state.files[path], review)
            self.view.setAccessibleName(f"Diff of {one_line(path, 300)}")
            self.file_shown.emit(path)
            self.finder.search_again()
            at = self.files_model.row_of(path)
            if at != self.files.currentIndex().row():
                self.files.selectRow(at)
        headers = self.model.document.headers
        wanted = next((h for h in headers if self.model.is_undecided(self.model.document.row(h))), None)
        self.view.set_cursor_row(row if row is not None else wanted if wanted is not None else (headers or [0])[0])

    def focus_diff(self) -> None:
        """Give the focus to the diff, or to the reading list while that is shown."""
        (self.reading if self.reads_list else self.view).setFocus()

    def show_reading_list(self, on: bool) -> None:
        """Show the rows as a table or as a diff."""
        # A table that gets the focus without a current row takes its first one: choose before the switch.
        if on:
            self.reading.selectRow(self.view.cursor_row)
        self.stack.setCurrentWidget(self.reading if on else self._diff_page)
        self.focus_diff()
        self.show_modes()

    @property
    def reads_list(self) -> bool:
        """Tell whether the reading list is shown."""
        return self.stack.currentWidget() is self.reading

    def show_modes(self) -> None:
        """Bring the header's switches up to date."""
        look = self.model.look
        self.header.show_modes(
            side_by_side=self.view.side_by_side,
            whole=look.whole,
            reading=self.reads_list,
            whitespace=look.whitespace,
        )

    def set_colors(self, theme: Theme) -> None:
        """Change the scheme."""
        colors = DiffColors.of(theme)
        self.view.set_colors(colors)
        self.overview.set_colors(colors)
        self.side.set_colors(theme)
        self.registry.refresh_icons()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out again when it changed much; between that, the person's own sizes hold."""
        super().resizeEvent(event)
        width = self.width()
        if abs(width - self._arranged) > 120:
            self._arranged = width
            files, side = min(240, int(0.2 * width)), min(280, int(0.24 * width))
            self._splitter.setSizes([files, width - files - side, side])

    def _build(self, theme: Theme) -> None:
        colors, mono = DiffColors.of(theme), monospace()
        self.messages = MessageBar(theme.icon)
        self.header = ReviewHeader(self.registry)
        self.finder = FindBar()
        self.notes = NoteBar("review.note_bar")
        self.reasons = NoteBar("review.verdict_bar")
        self.edit = EditPane(mono)
        self.foot = ReviewFoot(self.registry)
        self.view = DiffView(self.model, colors, mono)
        self.overview = OverviewBar(self.model, colors, self.view.verticalScrollBar())
        self.side = SidePane(theme, self.findings_model)
        self.files = files_table(self.files_model)
        self.reading = reading_table(self.reading_model, mono)
        self._diff_page = QWidget()
        beside = QHBoxLayout(self._diff_page)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        beside.addWidget(self.view, 1)
        beside.addWidget(self.overview)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._diff_page)
        self.stack.addWidget(self.reading)
        self._page = QWidget()
        whole = _column(self._page)
        whole.addWidget(self._build_splitter(), 1)
        whole.addWidget(self.foot)
        self._empty = EmptyPage("review.empty")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._page)
        layout = _column(self)
        layout.addWidget(self.messages)
        layout.addWidget(self._pages, 1)

    def _build_splitter(self) -> QSplitter:
        work = QSplitter(Qt.Orientation.Vertical)
        work.setObjectName("review.work")
        work.setChildrenCollapsible(False)
        work.addWidget(self.stack)
        work.addWidget(self.edit)
        work.setStretchFactor(0, 3)
        work.setStretchFactor(1, 2)
        middle = QWidget()
        column = _column(middle)
        for widget in (self.header, self.finder, self.notes, self.reasons):
            column.addWidget(widget)
        column.addWidget(work, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName("review.splitter")
        splitter.setChildrenCollapsible(False)
        for at, (widget, stretch) in enumerate(((self.files, 0), (middle, 1), (self.side, 0))):
            splitter.addWidget(widget)
            splitter.setStretchFactor(at, stretch)
        self._splitter = splitter
        self._arranged = 0
        self.files.setMinimumWidth(120)
        self.side.setMinimumWidth(160)
        return splitter


def _column(widget: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout
