"""Failures by cause, times, and files that are no rollouts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.dialogs.page import ReadingPage
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.queue_figures import MAX_FILES, FailureGroup, Figures
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label


class FiguresPage(ReadingPage):
    """Show the figures.

    Signals: `show_asked` (group of failures), `retry_asked` (thread ids); both close the page.
    """

    show_asked = Signal(str)
    retry_asked = Signal(object)

    def __init__(self, figures: Figures, parent: QWidget | None = None) -> None:
        super().__init__("figures", "list", "Failures and times", QSize(720, 520), parent=parent)
        self.setWindowTitle("Failures and times")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._title("Failures")
        if not figures.groups:
            self.column.addWidget(plain_label("Nothing has failed.", role="muted"))
        for group in figures.groups:
            self._add_group(group)
        self._title("Times")
        for times in figures.times:
            self.column.addWidget(plain_label(str(times), wrap=True))
        self._add_files(figures)
        self.column.addStretch(1)

    def _title(self, text: str) -> None:
        if self.column.count():
            self.column.addSpacing(12)
        self.column.addWidget(plain_label(text, font=title_font()))

    def _add_group(self, group: FailureGroup) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(plain_label(f"✕ {len(group.keys)} × {group.words}", font=bold_font(), wrap=True), 1)
        show = QPushButton("Show")
        show.setObjectName(f"figures.show.{group.group}")
        show.setAutoDefault(False)
        show.setAccessibleName(f"Show the rows: {group.words}")
        show.clicked.connect(lambda _=False, name=group.group: self._ask(lambda: self.show_asked.emit(name)))
        retry = QPushButton("Retry…")
        retry.setObjectName(f"figures.retry.{group.group}")
        retry.setAutoDefault(False)
        retry.setAccessibleName(f"Retry the rows: {group.words}")
        retry.clicked.connect(lambda _=False, keys=group.keys: self._ask(lambda: self.retry_asked.emit(keys)))
        # Without a cause there is nothing to filter by.
        show.setVisible(bool(group.group))
        head.addWidget(show)
        head.addWidget(retry)
        self.column.addLayout(head)
        for text, role in ((group.sample, ""), (group.remedy, "muted"), (group.when, "muted")):
            if text:
                self.column.addWidget(plain_label(text, wrap=True, role=role, selectable=True))
        self.column.addSpacing(4)

    def _add_files(self, figures: Figures) -> None:
        if not figures.files:
            return
        self._title(f"Files left aside: {formats.count(len(figures.files))}")
        for file in figures.files[:MAX_FILES]:
            self.column.addWidget(plain_label(one_line(file.path, 400), wrap=True, selectable=True))
            self.column.addWidget(plain_label(f"    {one_line(file.reason, 300)}", wrap=True, role="muted"))
        more = len(figures.files) - MAX_FILES
        if more > 0:
            self.column.addWidget(plain_label(f"and {formats.count(more)} more", role="muted"))

    def _ask(self, tell: Callable[[], None]) -> None:
        self.accept()
        tell()
