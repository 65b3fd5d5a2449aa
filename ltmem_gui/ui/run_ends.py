"""One notification per run, in words: announced to assistive tools, shown in the message bar, marked where wished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.events import Event, JobFinished, RunSpent
from ltmem_gui.domain.jobs import JobOutcome
from ltmem_gui.ui.bridge.supervisor import TaskEnd
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench import RUN_TASK, Notice, Workbench

# A run extracts, consolidates, or applies a reviewed plan. Scans and actions on rows are no runs.
_WORK = frozenset({RunPhase.EXTRACTING, RunPhase.CONSOLIDATING, RunPhase.WAITING_FOR_LOCK})
_NAMES = (
    (JobOutcome.SUCCEEDED, "gave a memory"),
    (JobOutcome.NO_OUTPUT, "held nothing to keep"),
    (JobOutcome.FAILED, "failed"),
    (JobOutcome.RELEASED, "cancelled"),
    (JobOutcome.SKIPPED, "skipped"),
)
_ENDS = {
    RunPhase.PLAN_READY: "a plan waits for your review",
    RunPhase.NOTHING_TO_DO: "nothing is left to do",
    RunPhase.DONE: "done",
    RunPhase.FAILED: "it failed",
    RunPhase.IDLE: "it was cancelled",
}


class RunEnds(QObject):
    """Watch runs and tell of each end once.

    Signals: `ended` (words), `noticed` (`Notice`, where nothing else tells of the end).
    """

    ended = Signal(str)
    noticed = Signal(object)

    def __init__(self, bench: Workbench, announce: Callable[[str], None], mark: Callable[[], None]) -> None:
        super().__init__(bench)
        self._bench = bench
        self._announce = announce
        self._mark = mark
        self._working = False
        self._cancelled = False
        self._counts: Counter[str] = Counter()
        self._spent = ""
        bench.run_changed.connect(self._on_run_changed)
        bench.events_arrived.connect(self._on_events_arrived)
        bench.supervisor.task_ended.connect(self._on_task_ended)

    def _on_events_arrived(self, events: tuple[Event, ...]) -> None:
        if self._working:
            self._counts.update(event.outcome for event in events if isinstance(event, JobFinished))
            spent = [event for event in events if isinstance(event, RunSpent) and (event.tokens or event.money)]
            self._spent = str(spent[-1]) if spent else self._spent

    def _on_run_changed(self, state: RunState) -> None:
        self._cancelled = self._cancelled or state.phase is RunPhase.CANCELLING
        applies = state.phase is RunPhase.APPLYING and self._bench.plan is not None
        self._working = self._working or applies or state.phase in _WORK

    def _on_task_ended(self, end: TaskEnd) -> None:
        """Tell of the end once the task is over: its last events have come by then."""
        if end.name != RUN_TASK:
            return
        if self._working:
            self._tell(self._bench.run_state)
        self._working, self._cancelled = False, False
        self._counts.clear()
        self._spent = ""

    def _tell(self, state: RunState) -> None:
        words = self._words(state)
        self._announce(words)
        self._mark()
        self.ended.emit(words)
        if self._counts and state.phase is RunPhase.PLAN_READY and not self._cancelled:
            self.noticed.emit(Notice("good", words))

    def _words(self, state: RunState) -> str:
        parts = [f"{self._counts[outcome.value]} {name}" for outcome, name in _NAMES if self._counts[outcome.value]]
        known = sum(self._counts[outcome.value] for outcome, _ in _NAMES)
        others = self._counts.total() - known
        if others:
            parts.append(f"{others} ended otherwise")
        head = f"{formats.plural(self._counts.total(), 'rollout')}: {', '.join(parts)}; " if parts else ""
        end = "it was cancelled" if self._cancelled else _ENDS.get(state.phase, state.phase.value)
        if state.phase is RunPhase.FAILED and state.detail:
            end += f": {state.detail}"
        spent = f" {self._spent}." if self._spent else ""
        return f"The run has ended. {head}{end}.{spent}"
