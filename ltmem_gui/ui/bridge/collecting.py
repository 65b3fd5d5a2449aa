"""Collect cyclic garbage on the UI thread only.

Python collects on whatever thread allocates. A `QObject` in a cycle would then be destroyed on a worker thread, which
Qt does not allow: its timers cannot be stopped from there, and the process may crash.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

# Ten times a second while little is made, and four times as often while much is: what a run makes in a tenth of a
# second took 5 ms to look through, and 30,000 objects that gathered in half a second 19 ms.
INTERVAL_MS = 100
BUSY_INTERVAL_MS = 25
# Python waits for eleven passes; what a run makes in a second took 7 ms to look through.
MIDDLE_PASSES = 3
FULL_SECONDS = 60.0
LATEST_SECONDS = 600.0


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
        since = time.monotonic() - self._full_at
        calm, waited = young <= limits[0], self._timer.interval()
        # A full pass takes as long as fifty small ones: it waits for a moment in which nothing goes on. That a run
        # made little within the short wait does not tell of one.
        quiet = calm and waited >= INTERVAL_MS
        wanted = INTERVAL_MS if calm else BUSY_INTERVAL_MS
        if waited != wanted:
            self._timer.setInterval(wanted)
        if old > limits[2] and since >= (FULL_SECONDS if quiet else LATEST_SECONDS):
            self._full_at = time.monotonic()
            gc.collect(2)
        elif middle >= MIDDLE_PASSES:
            gc.collect(1)
        elif young > limits[0]:
            gc.collect(0)
