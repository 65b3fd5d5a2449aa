"""Take secrets out of the memory folder: look through files and git on a press, and show the plan for review."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.workbench import Notice, Workbench

ACTION = "memory.redact"
TASK = "secrets"
TITLE = "Take secrets out"


class SecretsDesk(QObject):
    """Make a plan that takes the secrets out; what follows is a review like any other.

    Signals: `noticed` (`Notice`).
    """

    noticed = Signal(object)

    def __init__(self, window: MainWindow, bench: Workbench, supervisor: Supervisor) -> None:
        super().__init__(window)
        self._window = window
        self._bench = bench
        window.registry.bind(ACTION, lambda: supervisor.spawn(TASK, self._look(), policy="replace"))
        bench.run_changed.connect(self._on_bench_changed)
        bench.folders_changed.connect(self._on_bench_changed)
        self._on_bench_changed()

    async def _look(self) -> None:
        self.noticed.emit(Notice("info", "Looking for secrets in the memory folder and in what git keeps of it…"))
        cancel = CancelToken()
        try:
            with held(self._bench.folders_changed):
                plan = await self._bench.operations.plan_redact(self._bench.request(), cancel=cancel)
        finally:
            # Whoever cancels this task must reach the workers, too.
            cancel.cancel()
            self._window.messages.dismiss()
        if plan.state is PlanState.EMPTY:
            self.noticed.emit(Notice("good", "No secret was found in the files and in what git keeps."))
        elif plan.changes:
            self._bench.review(plan)
        else:
            self._ask_at_once(plan)

    def _ask_at_once(self, plan: Plan) -> None:
        """Confirm a plan that changes no file: only git keeps something, and there is nothing to decide in between."""

        async def made(_cancel: CancelToken, _listen: Listener) -> Plan:
            return plan

        self._bench.take_small(TITLE, made)

    def _on_bench_changed(self, _: object = None) -> None:
        folders = self._bench.folders
        refusal = "a task is running" if self._bench.run_state.busy else ""
        refusal = refusal or ("another plan waits for its review" if self._bench.plan is not None else "")
        refusal = refusal or ("" if folders.memory_root else "name a memory folder first")
        self._window.registry.allow(ACTION, refusal or ("" if folders.home else "name a data folder first"))
