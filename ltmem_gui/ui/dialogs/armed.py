"""A sheet that asks: only its button, on an active window, after half a second, is a yes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget

ARM_MS = 500


class ArmedSheet(QDialog):
    """Ask once.

    Cancel is the default; Enter, Escape and closing never mean yes. The yes button is off for the first `arm_ms` and
    while the window is inactive. A subclass builds itself, then calls `_arm` with its two buttons.
    """

    def __init__(self, name: str, parent: QWidget | None = None, *, arm_ms: int = ARM_MS) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._confirmed = False
        self._armed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(arm_ms)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)  # a coarse one may come 5 % early
        self._timer.timeout.connect(self._on_timer_fired)

    @property
    def confirmed(self) -> bool:
        """Tell whether the yes button was pressed."""
        return self._confirmed

    @property
    def yes_button(self) -> QPushButton:
        """Return the button that means yes."""
        return self._yes

    def done(self, result: int) -> None:
        """Close; only a press of the yes button closes with a yes."""
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]
        self._timer.stop()
        super().done(QDialog.DialogCode.Accepted if self._confirmed else QDialog.DialogCode.Rejected)
        del result

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Enter presses Cancel when Cancel has the focus; everywhere else it does nothing.
            if self._cancel.hasFocus():
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
        if not event.spontaneous():
            self._cancel.setFocus()  # Enter and Space on a fresh sheet mean no
        self._restart()

    def _arm(self, cancel: QPushButton, yes: QPushButton) -> None:
        """Take the two buttons."""
        self._cancel, self._yes = cancel, yes
        cancel.setDefault(True)
        cancel.setAutoDefault(True)
        cancel.clicked.connect(self.reject)
        yes.setProperty("primary", "true")
        yes.setAutoDefault(False)
        yes.setDefault(False)
        yes.clicked.connect(self._on_yes_clicked)
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]
        self._update_yes()

    def _refusal(self) -> str:
        """Return why yes is off although the sheet is attended, empty when it is not."""
        return ""

    def _restart(self) -> None:
        self._armed = False
        self._update_yes()
        if self._is_attended():
            self._timer.start()
        else:
            self._timer.stop()

    def _is_attended(self) -> bool:
        return self.isVisible() and self.isActiveWindow()

    def _update_yes(self) -> None:
        refusal = self._refusal()
        self._yes.setEnabled(self._armed and not refusal and self._is_attended())
        self._yes.setToolTip(refusal)

    def _on_timer_fired(self) -> None:
        self._armed = True
        self._update_yes()

    def _on_yes_clicked(self) -> None:
        if self._yes.isEnabled():
            self._confirmed = True
            self.accept()
