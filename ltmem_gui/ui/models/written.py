"""Fetch what the last apply wrote when a person asks for it (D23)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.ui.bridge.supervisor import Supervisor

TASK = "history.changes"


class WrittenChanges(QObject):
    """Read the changes of the last apply. Signals: `arrived` (`LastApply`, or None when its text is gone)."""

    arrived = Signal(object)

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        request: Callable[[], Request],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self._request = request

    def read(self) -> None:
        """Read them; a press asked for it."""
        self._supervisor.spawn(TASK, self._read(), policy="replace")

    async def _read(self) -> None:
        self.arrived.emit(await self._operations.last_apply(self._request()))
