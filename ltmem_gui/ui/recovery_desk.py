"""Tell what a run that was cut off left behind, and end it on a person's yes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ltmem_gui.pipeline.ports import InterruptedOperation
from ltmem_gui.pipeline.standing import Standing
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dialogs.act_sheet import ask_act
from ltmem_gui.ui.dialogs.interrupted import InterruptedPage, interrupted_in_words
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.act_words import ActWords
from ltmem_gui.ui.models.workbench import Notice, Seen, Workbench

ACTION = "recovery.open"
NOTHING = "nothing was interrupted"
_FINISH = (
    "The rest of the plan is written, as it was approved, and its receipt is recorded.",
    "A file that was changed since stops it, and nothing more is written.",
)
_ROLL_BACK = (
    "Every file of the plan becomes what it was before the apply.",
    "A file that was changed since stops it, and nothing more is written.",
)


class RecoveryDesk(QObject):
    """Watch for what was interrupted; once per finding it says so.

    Signals: `noticed` (`Notice`).
    """

    noticed = Signal(object)

    def __init__(self, window: MainWindow, workbench: Workbench, supervisor: Supervisor) -> None:
        super().__init__(window)
        self._window = window
        self._bench = workbench
        self._supervisor = supervisor
        self._told: frozenset[str] = frozenset()
        self._page: InterruptedPage | None = None
        window.registry.bind(ACTION, self.open)
        window.registry.allow(ACTION, NOTHING)
        workbench.seen_changed.connect(self._on_seen_changed)

    def open(self) -> None:
        """Show the page."""
        standing = self._standing
        if standing is None or self._page is not None:
            return
        self._page = page = InterruptedPage(standing, self._window)
        page.end_asked.connect(self._on_end_asked)
        page.finished.connect(self._on_page_finished)
        page.open()

    @property
    def _standing(self) -> Standing | None:
        return self._bench.seen.standing

    def _on_seen_changed(self, seen: Seen) -> None:
        standing = seen.standing
        found = _keys(standing) if standing is not None else frozenset()
        self._window.registry.allow(ACTION, "" if found else NOTHING)
        if standing is not None and found - self._told:
            words = interrupted_in_words(standing)
            self.noticed.emit(Notice("warning", f"The last run was cut off: {words}.", "Nothing is lost.", ACTION))
        self._told = found

    def _on_page_finished(self) -> None:
        self._page = None

    def _on_end_asked(self, digest: str, finish: bool) -> None:
        standing = self._standing
        found = next((one for one in (standing.applies if standing else ()) if one.digest == digest), None)
        if found is not None and not self._bench.run_state.busy:
            self._supervisor.spawn("recovery", self._end(found, finish), policy="replace")

    async def _end(self, operation: InterruptedOperation, finish: bool) -> None:
        title = "Finish the interrupted apply?" if finish else "Roll the interrupted apply back?"
        count = formats.plural(len(operation.files), "file")
        lines = (f"{count} of it, plan {operation.digest[:8]}.", *(_FINISH if finish else _ROLL_BACK))
        words = ActWords(title, "Writes in this folder", operation.root, lines, "Finish" if finish else "Roll back")
        home = self._bench.request().home
        with held(self._bench.folders_changed):
            if not await ask_act("recover", words, self._page or self._window):
                return
        receipt = await self._bench.operations.recover(home, operation.digest, finish=finish)
        if self._page is not None:
            self._page.close()
        done = (
            f"finished: receipt no. {receipt.operation_number}" if receipt else "rolled back: the folder is as it was"
        )
        self.noticed.emit(Notice("good", f"The interrupted apply was {done}."))
        self._bench.read_receipts()


def _keys(standing: Standing) -> frozenset[str]:
    """Return what tells one finding from another."""
    return frozenset((*(job.job_key for job in standing.jobs), *(one.digest for one in standing.applies)))
