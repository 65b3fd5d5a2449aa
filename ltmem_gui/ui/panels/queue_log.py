"""The log tail of one job: a level filter, follow, copy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

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

    Signals: `counted` (lines shown of all).
    """

    counted = Signal(int, int)

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
        self.follow = QCheckBox("Follow")
        self.follow.setObjectName("queue.log.follow")
        self.follow.setChecked(True)
        self.follow.setToolTip("Scroll to each new line")
        self.follow.toggled.connect(self._show)
        copy = QPushButton("Copy the log")
        copy.setObjectName("queue.log.copy")
        copy.setAutoDefault(False)
        copy.clicked.connect(self._on_copy_clicked)
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
