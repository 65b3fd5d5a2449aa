"""Look whether a plan's folder moves while its sheet is open: what is stale must not be confirmed (ui-features §6)."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.errors import KnownError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.bridge.supervisor import Supervisor

TASK = "confirmation.watch"
SECONDS = 2.0


class FolderWatch(QObject):
    """Read the folder of one plan again and again. Signals: `moved` once it is not what the plan was made from."""

    moved = Signal()

    def __init__(self, operations: Operations, supervisor: Supervisor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self.error: KnownError | None = None

    def start(self, plan: Plan) -> None:
        """Begin; a plan that was made from no folder has nothing to look at."""
        self.error = None
        if plan.base is not None:
            self._supervisor.spawn(TASK, self._look(plan), policy="replace")

    def stop(self) -> None:
        """End."""
        if self._supervisor.is_running(TASK):
            self._supervisor.cancel(TASK)

    async def _look(self, plan: Plan) -> None:
        while self.error is None:
            await asyncio.sleep(SECONDS)
            try:
                await self._operations.require_unmoved(plan)
            except KnownError as error:
                self.error = error
                self.moved.emit()
