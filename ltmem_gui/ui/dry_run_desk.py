"""Dry run of both phases: everything but the model calls and the writes; no lease, no lock."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import ignore
from ltmem_gui.domain.plan import Plan
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dialogs.dry_run import DryRunPage
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.dry_run_text import first_phase, second_phase
from ltmem_gui.ui.models.workbench import Notice, Workbench

ACTION = "run.dry"
TASK = "dry_run"


class DryRunDesk(QObject):
    """Make both plans in memory and show them.

    Signals: `noticed` (`Notice`).
    """

    noticed = Signal(object)

    def __init__(self, window: MainWindow, bench: Workbench, supervisor: Supervisor) -> None:
        super().__init__(window)
        self._window = window
        self._bench = bench
        self._supervisor = supervisor
        window.registry.bind(ACTION, lambda: supervisor.spawn(TASK, self._look(), policy="replace"))
        bench.run_changed.connect(self._on_bench_changed)
        bench.folders_changed.connect(self._on_bench_changed)
        self._on_bench_changed()

    async def _look(self) -> None:
        self.noticed.emit(Notice("info", "Dry run: reading and redacting in memory…"))
        cancel = CancelToken()
        try:
            with held(self._bench.folders_changed):
                first, second = await self._plan(cancel)
        finally:
            # Whoever cancels this task must reach the workers, too.
            cancel.cancel()
            self._window.messages.dismiss()
        self._bench.estimated.emit(first)
        DryRunPage((first_phase(first), second_phase(second)), self._window).open()

    async def _plan(self, cancel: CancelToken) -> tuple[Plan, Plan | None]:
        # The run would begin with the same: the model that was saved for this data folder.
        bench, operations = self._bench, self._bench.operations
        await bench.recall()
        request = bench.request()
        first = await operations.plan_extract(request, cancel=cancel, listen=ignore)
        if request.memory_root is None:
            return first, None
        asked = replace(request, provider=bench.choice.consolidate)
        return first, await operations.plan_consolidate(asked, cancel=cancel, listen=ignore)

    def _on_bench_changed(self, _: object = None) -> None:
        folders = self._bench.folders
        refusal = "a task is running" if self._bench.run_state.busy else ""
        refusal = refusal or ("" if folders.can_scan else "name a sessions folder first")
        self._window.registry.allow(ACTION, refusal or ("" if folders.home else "name a data folder first"))
