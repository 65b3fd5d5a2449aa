"""Opened dialogs without effects: an error report, about, keys, the action palette, a rollout."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.excepthook import BugReport
from ltmem_gui.ui.keys import CONTEXT_TITLES, Context, lines_of
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.theme import bold_font, monospace, title_font
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label
from ltmem_gui.ui.widgets.line_view import LineColors, LineView


class _Sheet(QDialog):
    """A window-modal dialog with one Close button."""

    def __init__(self, name: str, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(20, 16, 20, 16)
        self.column.setSpacing(8)
        self.buttons = QHBoxLayout()
        self.buttons.addStretch(1)
        self.close_button = QPushButton("Close")
        self.close_button.setObjectName(f"{name}.close")
        self.close_button.clicked.connect(self.reject)
        self.buttons.addWidget(self.close_button)

    def finish(self) -> None:
        """Put the buttons below everything else."""
        self.column.addLayout(self.buttons)


class ErrorReport(_Sheet):
    """Show a bug: it does not end the window, and nothing is sent anywhere."""

    def __init__(self, report: BugReport, parent: QWidget | None = None) -> None:
        super().__init__("error_report", "An error in the program", parent)
        self.group = report.group
        self.resize(640, 420)
        self.column.addWidget(plain_label("This is a fault of the program, not of your data", font=title_font()))
        self.column.addWidget(
            plain_label(
                "The window goes on working. Nothing was sent; copy the text if you want to report it.",
                role="muted",
                wrap=True,
            )
        )
        self._title = plain_label(report.title, wrap=True, selectable=True)
        self.column.addWidget(self._title)
        self._text = LineView("error_report.text", _plain_colors(self), monospace())
        self._text.setAccessibleName("Report")
        self.column.addWidget(self._text, 1)
        self._count = plain_label(role="muted")
        self.column.addWidget(self._count)
        copy = QPushButton("Copy the report")
        copy.setObjectName("error_report.copy")
        copy.clicked.connect(self._on_copy_clicked)
        self.buttons.insertWidget(0, copy)
        self.finish()
        self.update_report(report)

    def update_report(self, report: BugReport) -> None:
        """Show how often the same fault was seen."""
        self._report = report
        self._text.show_lines([TextLine("", line) for line in report.text.split("\n")])
        self._count.setText(f"Heard from: {report.mouth}. Group {report.group}, seen {report.count}×.")

    def _on_copy_clicked(self) -> None:
        QApplication.clipboard().setText(self._report.text)


class About(_Sheet):
    """Say what this is."""

    def __init__(self, version: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__("about", "About LTMem", parent)
        self.column.addWidget(plain_label(f"LTMem {version}", font=title_font()))
        for line in lines:
            self.column.addWidget(plain_label(line, role="muted", selectable=True))
        self.finish()


class KeysPage(_Sheet):
    """List all keys, from the same table that sets them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("keys", "Keys", parent)
        self.resize(760, 720)
        body = QWidget()
        columns = QHBoxLayout(body)
        columns.setSpacing(32)
        left, right = QVBoxLayout(), QVBoxLayout()
        places: tuple[tuple[Context, QVBoxLayout], ...] = (
            ("everywhere", left),
            ("queue", left),
            ("inbox", left),
            ("citations", left),
            ("diff", right),
            ("history", right),
        )
        for context, column in places:
            column.addWidget(plain_label(CONTEXT_TITLES[context], font=bold_font()))
            grid = QGridLayout()
            grid.setHorizontalSpacing(16)
            grid.setVerticalSpacing(4)
            grid.setColumnMinimumWidth(0, 112)
            for row, line in enumerate(lines_of(context)):
                keys = ", ".join(
                    QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in line.keys
                )
                grid.addWidget(plain_label(keys, font=monospace()), row, 0)
                grid.addWidget(plain_label(line.title), row, 1)
            grid.setColumnStretch(1, 1)
            column.addLayout(grid)
            column.addSpacing(16)
        for column in (left, right):
            holder = QWidget()
            holder.setLayout(column)
            columns.addWidget(holder, 1, Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()
        area.setObjectName("keys.list")
        area.setAccessibleName("Keys")
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setWidget(body)
        self.column.addWidget(area, 1)
        self.finish()


class Palette(_Sheet):
    """Find an action by typing; it offers only what is possible now, and never an effect without its own dialog."""

    def __init__(self, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__("palette", "Find an action", parent)
        self.resize(480, 400)
        self._actions = actions
        self.chosen = ""
        self.line = QLineEdit()
        self.line.setObjectName("palette.line")
        self.line.setAccessibleName("Find an action")
        self.line.setPlaceholderText("Type a part of an action's name")
        self.line.textChanged.connect(self._fill)
        self.list = QListWidget()
        self.list.setObjectName("palette.list")
        self.list.setAccessibleName("Actions")
        self.list.itemActivated.connect(self._on_item_activated)
        self.column.addWidget(self.line)
        self.column.addWidget(self.list, 1)
        self.finish()
        self.close_button.setAutoDefault(False)
        self._fill("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is not None and self.line.hasFocus():
            row = min(max(0, self.list.currentRow() + step), self.list.count() - 1)
            self.list.setCurrentRow(row)
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self.close_button.hasFocus():
            item = self.list.currentItem()
            if item is not None:
                self._on_item_activated(item)
            return
        super().keyPressEvent(event)

    def _fill(self, words: str) -> None:
        self.list.clear()
        for spec in self._actions.specs:
            action = self._actions.action(spec.id)
            text = f"{spec.title} {spec.tip}".lower()
            if action.isEnabled() and spec.id != "palette.open" and all(w in text for w in words.lower().split()):
                item = QListWidgetItem(action.icon(), f"{spec.title}   {spec.tip}")
                item.setData(Qt.ItemDataRole.UserRole, spec.id)
                self.list.addItem(item)
        self.list.setCurrentRow(0)

    def _on_item_activated(self, item: QListWidgetItem) -> None:
        self.chosen = str(item.data(Qt.ItemDataRole.UserRole))
        self.accept()


class RolloutWindow(_Sheet):
    """Show one session as plain text."""

    def __init__(
        self, title: str, path: str, lines: Sequence[TextLine], colors: LineColors, parent: QWidget | None = None
    ) -> None:
        super().__init__("rollout", "Rollout", parent)
        self.resize(860, 620)
        head = ElidedLabel(title)
        head.setFont(bold_font())
        self.column.addWidget(head)
        self.column.addWidget(ElidedLabel(path, Qt.TextElideMode.ElideMiddle, role="muted"))
        self.text = LineView("rollout.text", colors, monospace())
        self.text.setAccessibleName("Rollout")
        self.column.addWidget(self.text, 1)
        self.finish()
        self.text.show_lines(lines)


def _plain_colors(widget: QWidget) -> LineColors:
    palette = widget.palette()
    return LineColors(
        palette.base().color(), palette.base().color(), palette.base().color(), palette.placeholderText().color()
    )
