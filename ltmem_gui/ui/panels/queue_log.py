"""The log tail of one job: a level filter, follow, copy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.models.job_log import JOB_LINES, Level, LogLine
from ltmem_gui.ui.theme import monospace
from ltmem_gui.ui.widgets.labels import plain_label

_CHOICES = (
    ("All lines", Level.DEBUG),
    ("Info and louder", Level.INFO),
    ("Warnings and errors", Level.WARNING),
    ("Errors", Level.ERROR),
)


class QueueLog(QWidget):
    """Show the lines of one job as plain text, the newest at the end.

    Signals: `counted` (lines shown of all), `all_asked` (the lines of every job are to be copied).
    """

    counted = Signal(int, int)
    all_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue.log")
        self._lines: tuple[LogLine, ...] = ()
        self.level = QComboBox()
        self.level.setObjectName("queue.log.level")
        self.level.setAccessibleName("Least level of the log")
        for title, level in _CHOICES:
            self.level.addItem(title, level)
        self.level.currentIndexChanged.connect(self._show)
        self.follow = _push("queue.log.follow", "Follow", "Scroll to each new line")
        self.follow.setProperty("chip", "true")
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._show)
        copy = _push("queue.log.copy", "Copy the log", "The lines that are shown")
        copy.clicked.connect(self._on_copy_clicked)
        tip = "The newest lines of every job, redacted, for a report of a fault"
        every = _push("queue.log.copy_all", "Copy all jobs", tip)
        every.clicked.connect(self.all_asked)
        self._shown = plain_label(role="muted")
        self._shown.setObjectName("queue.log.shown")
        self.text = QPlainTextEdit()
        self.text.setObjectName("queue.log.text")
        self.text.setAccessibleName("Log of the job")
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setTabChangesFocus(True)
        self.text.setMaximumBlockCount(JOB_LINES)
        self.text.setFont(monospace())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 0)
        row.setSpacing(8)
        for widget in (self.level, self.follow):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._shown)
        row.addWidget(copy)
        row.addWidget(every)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.text, 1)

    def show_lines(self, lines: Sequence[LogLine]) -> None:
        """Show the lines of a job; what stays is not laid out anew."""
        if tuple(lines) != self._lines:
            self._lines = tuple(lines)
            self._show()

    def _show(self) -> None:
        least = self.level.currentData()
        chosen = [line for line in self._lines if line.level >= least]
        text = "\n".join(str(line) for line in chosen)
        bar = self.text.verticalScrollBar()
        place = bar.value()
        before = self.text.toPlainText()
        if text != before:
            if before and text.startswith(before + "\n"):
                self.text.appendPlainText(text[len(before) + 1 :])
            else:
                self.text.setPlainText(text)
        bar.setValue(bar.maximum() if self.follow.isChecked() else place)
        hidden = len(self._lines) - len(chosen)
        self._shown.setText(f"{hidden} quieter lines are hidden" if hidden else "")
        self.counted.emit(len(chosen), len(self._lines))

    def _on_copy_clicked(self) -> None:
        # The lines were redacted when they came in; nothing else is in the view.
        QGuiApplication.clipboard().setText(self.text.toPlainText())


def _push(name: str, text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAutoDefault(False)
    button.setToolTip(tip)
    return button
