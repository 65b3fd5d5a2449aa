"""Failures by cause, times, and files that are no rollouts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.queue_figures import MAX_FILES, FailureGroup, Figures
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label


class FiguresPage(QDialog):
    """Show the figures.

    Signals: `show_asked` (group of failures), `retry_asked` (thread ids); both close the page.
    """

    show_asked = Signal(str)
    retry_asked = Signal(object)

    def __init__(self, figures: Figures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figures")
        self.setWindowTitle("Failures and times")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 520)
        body = QWidget()
        body.setProperty("role", "page")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(20, 16, 20, 16)
        self._column.setSpacing(6)
        self._title("Failures")
        if not figures.groups:
            self._column.addWidget(plain_label("Nothing has failed.", role="muted"))
        for group in figures.groups:
            self._add_group(group)
        self._title("Times")
        for times in figures.times:
            self._column.addWidget(plain_label(str(times), wrap=True))
        self._add_files(figures)
        self._column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("figures.list")
        area.setAccessibleName("Failures and times")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        close = QPushButton("Close")
        close.setObjectName("figures.close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.addStretch(1)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addWidget(foot)

    def _title(self, text: str) -> None:
        if self._column.count():
            self._column.addSpacing(12)
        self._column.addWidget(plain_label(text, font=title_font()))

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
        self._column.addLayout(head)
        for text, role in ((group.sample, ""), (group.remedy, "muted"), (group.when, "muted")):
            if text:
                self._column.addWidget(plain_label(text, wrap=True, role=role, selectable=True))
        self._column.addSpacing(4)

    def _add_files(self, figures: Figures) -> None:
        if not figures.files:
            return
        self._title(f"Files left aside: {formats.count(len(figures.files))}")
        for file in figures.files[:MAX_FILES]:
            self._column.addWidget(plain_label(one_line(file.path, 400), wrap=True, selectable=True))
            self._column.addWidget(plain_label(f"    {one_line(file.reason, 300)}", wrap=True, role="muted"))
        more = len(figures.files) - MAX_FILES
        if more > 0:
            self._column.addWidget(plain_label(f"and {formats.count(more)} more", role="muted"))

    def _ask(self, tell: Callable[[], None]) -> None:
        self.accept()
        tell()
