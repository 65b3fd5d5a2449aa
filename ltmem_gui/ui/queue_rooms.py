"""What belongs to the queue beside its table, put together: row links, recovery, layout, the end of a run."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dry_run_desk import DryRunDesk
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.run_state import RunState
from ltmem_gui.ui.models.window_state import LayoutFile
from ltmem_gui.ui.models.workbench import Notice, Workbench
from ltmem_gui.ui.queue_desk import QueueDesk
from ltmem_gui.ui.recovery_desk import RecoveryDesk
from ltmem_gui.ui.run_ends import RunEnds
from ltmem_gui.ui.secrets_desk import SecretsDesk
from ltmem_gui.ui.take_over_desk import TakeOverDesk
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.window_layout import WindowLayout


class QueueRooms(QObject):
    """Build and connect them.

    Signals: `noticed` (`Notice`).
    """

    noticed = Signal(object)

    def __init__(
        self,
        window: MainWindow,
        bench: Workbench,
        supervisor: Supervisor,
        theme: Theme,
        opener: PlaceOpener,
        layout: LayoutFile | None,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bench = bench
        self.rows = QueueDesk(window, bench, supervisor, theme, opener)
        self.recovery = RecoveryDesk(window, bench, supervisor)
        self.dry_run = DryRunDesk(window, bench, supervisor)
        self.take_over = TakeOverDesk(window, bench, supervisor)
        self.secrets = SecretsDesk(window, bench, supervisor)
        self.ends = RunEnds(bench, lambda words: window.queue.announcer.say(words, urgent=True), self._mark)
        self.layout = None if layout is None else WindowLayout(window, layout, supervisor, bench.folders_changed)
        self.rows.told.connect(self._on_told)
        self.recovery.noticed.connect(self.noticed)
        self.dry_run.noticed.connect(self.noticed)
        self.secrets.noticed.connect(self.noticed)
        self.ends.noticed.connect(self.noticed)
        bench.estimated.connect(window.queue.take_plan)
        bench.run_changed.connect(self._on_run_changed)
        if self.layout is not None:
            self.layout.told.connect(self._on_told)
            bench.folders_changed.connect(self.layout.open)

    def _mark(self) -> None:
        """Mark the window in the task bar, where a person wished for it and looks elsewhere."""
        if self._window.queue.views.attention and QGuiApplication.focusWindow() is None:
            self._window.ask_for_attention()

    def _on_run_changed(self, state: RunState) -> None:
        self._window.strip.show_run(state, self._bench.plan)
        self._window.queue.show_plan(self._bench.plan)

    def _on_told(self, words: str) -> None:
        self.noticed.emit(Notice("info", words))
