"""Carry events of the pipeline from any thread into the window, at most ten times a second."""

from __future__ import annotations

import threading
import time

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from ltmem_gui.domain.events import Event, RunProgressed, RunSpent, ScanProgressed

INTERVAL_MS = 100
_PROGRESS = (ScanProgressed, RunProgressed, RunSpent)


class AppEvents(QObject):
    """Collect events and hand them over in batches.

    Signals: `events_arrived` (tuple of events, in order; of progress counts only the newest of a batch stays).
    Threads: `publish` from anywhere; the signal comes on the UI thread.
    """

    events_arrived = Signal(object)
    _woken = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        self._last_flush = -1.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)
        self._woken.connect(self._on_bridge_woken, Qt.ConnectionType.QueuedConnection)

    def publish(self, event: Event) -> None:
        """Take an event; usable as the pipeline's `Listener`."""
        with self._lock:
            first = not self._waiting
            self._waiting.append(event)
        if first:
            self._woken.emit()

    @Slot()
    def flush(self) -> None:
        """Hand over what has come so far."""
        self._timer.stop()
        with self._lock:
            events, self._waiting = self._waiting, []
        if events:
            self._last_flush = time.monotonic()
            self.events_arrived.emit(_newest_progress_only(events))

    @Slot()
    def _on_bridge_woken(self) -> None:
        if self._timer.isActive():
            return
        since = (time.monotonic() - self._last_flush) * 1000
        self._timer.start(max(0, int(INTERVAL_MS - since + 0.999)))


def _newest_progress_only(events: list[Event]) -> tuple[Event, ...]:
    last = {type(event): index for index, event in enumerate(events) if isinstance(event, _PROGRESS)}
    return tuple(
        event for index, event in enumerate(events) if not isinstance(event, _PROGRESS) or last[type(event)] == index
    )
