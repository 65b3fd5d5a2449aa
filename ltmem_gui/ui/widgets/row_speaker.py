"""Say what a painted view stands on: assistive tools see none of its pixels (D15)."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleTextUpdateEvent
from PySide6.QtWidgets import QWidget


class RowSpeaker(QObject):
    """Keep the words of one view: as its accessible description, as changed text, and announced.

    Signals: `said` (words), once for each change of them.
    """

    said = Signal(str)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._words = ""

    @property
    def words(self) -> str:
        """Return what was said last."""
        return self._words

    def say(self, words: str) -> None:
        """Say something; the same words are not said twice in a row."""
        if words == self._words:
            return
        before, self._words = self._words, words
        self._widget.setAccessibleDescription(words)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleTextUpdateEvent(self._widget, 0, before, words))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._widget, words))
        self.said.emit(words)
