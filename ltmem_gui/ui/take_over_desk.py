"""Take the memories of a Codex home over: a person chooses the folder, looks at every row, and says yes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.plan import Plan
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.workbench import Workbench
from ltmem_gui.ui.widgets.file_dialogs import ask_folder

ACTION = "codex.take_over"
TASK = "take_over"
TITLE = "Take over from Codex"
_MEMORIES = "memories"

AskFolder = Callable[[str, Path | None, MainWindow], Awaitable[Path | None]]


class TakeOverDesk(QObject):
    """Ask for a Codex home; what follows is a plan like any other, with a sheet of its own."""

    def __init__(
        self, window: MainWindow, bench: Workbench, supervisor: Supervisor, ask: AskFolder = ask_folder
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bench = bench
        self.ask = ask
        window.registry.bind(ACTION, lambda: supervisor.spawn(TASK, self._choose(), policy="replace"))
        bench.run_changed.connect(self._on_bench_changed)
        bench.folders_changed.connect(self._on_bench_changed)
        self._on_bench_changed()

    async def _choose(self) -> None:
        bench = self._bench
        with held(bench.folders_changed):
            home = await self.ask(f"{TITLE}: its home, for example .codex", self._likely(), self._window)
        if home is None or bench.run_state.busy:
            return

        async def plan(cancel: CancelToken, listen: Listener) -> Plan:
            return await bench.operations.plan_take_over(bench.request(), home, cancel=cancel, listen=listen)

        bench.take_small(TITLE, plan)

    def _likely(self) -> Path | None:
        """Return the Codex home among the named folders; no folder is opened to find out."""
        folders = self._bench.folders
        if folders.memory_root is not None and folders.memory_root.name == _MEMORIES:
            return folders.memory_root.parent
        named = [Path(source.path) for source in folders.sources if source.agent == "codex"]
        return named[0] if named else None

    def _on_bench_changed(self, _: object = None) -> None:
        refusal = "a task is running" if self._bench.run_state.busy else ""
        self._window.registry.allow(ACTION, refusal or ("" if self._bench.folders.home else "name a data folder first"))
