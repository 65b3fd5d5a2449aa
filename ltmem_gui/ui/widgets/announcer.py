"""Tell assistive tools what changed, in words, without moving the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


class Announcer(QObject):
    """Announce for one widget.

    Signals: `said` (words).
    """

    said = Signal(str)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget

    def say(self, words: str, *, urgent: bool = False) -> None:
        """Say one sentence; an urgent one may interrupt."""
        event = QAccessibleAnnouncementEvent(self._widget, words)
        if urgent:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)
        self.said.emit(words)
