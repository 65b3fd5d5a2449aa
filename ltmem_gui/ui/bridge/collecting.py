"""Collect cyclic garbage on the UI thread only.

Python collects on whatever thread allocates. A `QObject` in a cycle would then be destroyed on a worker thread, which
Qt does not allow: its timers cannot be stopped from there, and the process may crash.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 500
FULL_SECONDS = 60.0


class UiCollector(QObject):
    """Stand in for the automatic collector while the window lives; small generations often, the oldest rarely."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._full_at = time.monotonic()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_timer_fired)

    def start(self) -> None:
        """Take over."""
        gc.collect()
        gc.freeze()  # what the start-up made lives as long as the window: it need not be looked at again
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Give back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _on_timer_fired(self) -> None:
        young, middle, old = gc.get_count()
        limits = gc.get_threshold()
        now = time.monotonic()
        if old > limits[2] and now - self._full_at >= FULL_SECONDS:
            self._full_at = now
            gc.collect(2)
        elif middle > limits[1]:
            gc.collect(1)
        elif young > limits[0]:
            gc.collect(0)
