"""Sheets that ask: only a press of the yes button, on an active window, half a second after it showed, is a yes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.theme import monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label

WIDTH = 520


class FileSheet(QDialog):
    """Ask whether one file of the program's own may be written from now on, named in full.

    Cancel is the default; Enter, Escape and closing never mean yes.
    """

    def __init__(
        self, name: str, title: str, lines: tuple[str, ...], path: str, yes: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumWidth(WIDTH)
        self._confirmed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(confirmation.ARM_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timer_fired)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        column.addWidget(plain_label(title, font=title_font(), wrap=True))
        where = plain_label(path, font=monospace(), wrap=True, selectable=True)
        where.setObjectName(f"{name}.path")
        where.setAccessibleName(f"File: {path}")
        column.addWidget(where)
        for line in lines:
            column.addWidget(plain_label(line, wrap=True, role="muted"))
        column.addSpacing(8)
        column.addLayout(self._buttons(name, yes))
        self.resize(WIDTH, column.heightForWidth(WIDTH))
        self.cancel_button.setFocus()
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(self)

    @property
    def confirmed(self) -> bool:
        """Tell whether the yes button was pressed."""
        return self._confirmed

    def done(self, result: int) -> None:
        """Close; only a press of the yes button closes with a yes."""
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        self._timer.stop()
        super().done(QDialog.DialogCode.Accepted if self._confirmed else QDialog.DialogCode.Rejected)
        del result

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.cancel_button.hasFocus():
                self.reject()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            self._restart()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ApplicationDeactivate, QEvent.Type.ApplicationActivate):
            self._restart()
        return super().eventFilter(watched, event)

    def showEvent(self, event: QEvent) -> None:  # type: ignore[override]
        super().showEvent(event)  # type: ignore[arg-type]
        self._restart()

    def _buttons(self, name: str, yes: str) -> QHBoxLayout:
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setObjectName(f"{name}.cancel")
        self.cancel_button.setDefault(True)
        self.cancel_button.clicked.connect(self.reject)
        self.yes_button = QPushButton(yes)
        self.yes_button.setObjectName(f"{name}.yes")
        self.yes_button.setProperty("primary", "true")
        self.yes_button.setAutoDefault(False)
        self.yes_button.setEnabled(False)
        self.yes_button.clicked.connect(self._on_yes_clicked)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.cancel_button)
        row.addWidget(self.yes_button)
        return row

    def _restart(self) -> None:
        self.yes_button.setEnabled(False)
        if self.isVisible() and self.isActiveWindow():
            self._timer.start()
        else:
            self._timer.stop()

    def _on_timer_fired(self) -> None:
        self.yes_button.setEnabled(self.isVisible() and self.isActiveWindow())

    def _on_yes_clicked(self) -> None:
        if self.yes_button.isEnabled():
            self._confirmed = True
            self.accept()


async def ask_file(
    name: str, title: str, lines: tuple[str, ...], path: str, yes: str, *, parent: QWidget | None = None
) -> bool:
    """Open the sheet and wait; True only for a pressed yes."""
    sheet = FileSheet(name, title, lines, path, yes, parent)
    try:
        await opened(sheet)
        return sheet.confirmed
    finally:
        sheet.deleteLater()
