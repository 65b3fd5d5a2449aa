"""Copy text through the choke point: away from the window's thread where it is long, the last wish wins, told once."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from shiboken6 import isValid

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.ui.bridge.words import LONGEST_INLINE, cleaned, told

COPIED = "Copied to the clipboard"
LEFT_OUT = "The longer text was left out: something else was copied meanwhile"
FAILED = "Nothing was copied"


class Copier(QObject):
    """Put text on the clipboard without its secrets.

    Signals: `told` (what became of a copy, once for each, when it is over).
    """

    told = Signal(str)
    _checked = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._putting = False
        self._put = ""
        self._checked.connect(self._on_text_checked)
        QGuiApplication.clipboard().dataChanged.connect(self._on_clipboard_changed)

    def copy(self, text: str) -> None:
        """Copy a text, a long one as soon as it is checked, unless something else was copied until then."""
        self._number += 1
        if len(text) <= LONGEST_INLINE:
            self._check(self._number, text)
        else:
            threading.Thread(target=self._check, args=(self._number, text), name="copy", daemon=True).start()

    def _check(self, number: int, text: str) -> None:
        outcome: Redaction | KnownError | None = None
        try:
            outcome = cleaned(text)
        except KnownError as error:
            outcome = error
        finally:
            if isValid(self):  # the window may have been closed meanwhile
                self._checked.emit(number, outcome)

    def _on_text_checked(self, number: int, outcome: Redaction | KnownError | None) -> None:
        if not isinstance(outcome, Redaction):
            self.told.emit(f"{FAILED}: {told(outcome).what}" if outcome is not None else FAILED)
        elif number != self._number:
            self.told.emit(LEFT_OUT)
        else:
            self._put_text(outcome)

    def _put_text(self, redaction: Redaction) -> None:
        self._put, self._putting = redaction.text, True
        try:
            QGuiApplication.clipboard().setText(redaction.text)
        finally:
            self._putting = False
        count = len(redaction.findings)
        secrets = f"; {count} secret{'s were' if count > 1 else ' was'} replaced in it" if count else ""
        self.told.emit(f"{COPIED}{secrets}")

    def _on_clipboard_changed(self) -> None:
        clipboard = QGuiApplication.clipboard()
        # Some systems tell late of what was put there by us.
        own = self._putting or (clipboard.ownsClipboard() and clipboard.text() == self._put)
        self._number += 0 if own else 1
