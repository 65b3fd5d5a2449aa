"""Show what was read of the folders on the panels: the one a person looks at now, the others when it is their turn."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.workbench import Seen

# Their number stands beside their names, so they are told while they are hidden.
COUNTED = ("queue", "inbox", "citations")


class SeenPanels(QObject):
    """Hand what was read to the panels: hidden ones get it one a turn of the loop, or when they are shown.

    All at once, and the picture after it, held the window for 18 ms. Threads: the UI thread.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._panels: dict[str, Callable[[Seen], None]] = {
            "queue": window.queue.show_seen,
            "inbox": window.inbox.show_seen,
            "history": window.history.show_seen,
            "citations": window.citations.show_seen,
            "memory": window.memory.show_seen,
            "review": self._show_rollouts,
        }
        self._seen = Seen()
        self._waiting: list[str] = []
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._on_turn_came)
        window.panel_shown.connect(self._show)

    def show_seen(self, seen: Seen) -> None:
        """Show what was read; what waits of an older one is not shown any more."""
        self._seen, self._waiting = seen, list(self._panels)
        self._show(self._window.shown_panel)
        self._turn.start()

    def _show(self, name: str) -> None:
        if name in self._waiting:
            self._waiting.remove(name)
            self._panels[name](self._seen)

    def _show_rollouts(self, seen: Seen) -> None:
        if seen.report is not None:
            self._window.review.show_rollouts({rollout.id: rollout.ref for rollout in seen.report.rollouts})

    def _on_turn_came(self) -> None:
        name = next((name for name in self._waiting if name in COUNTED), "")
        if name:
            self._show(name)
            self._turn.start()
