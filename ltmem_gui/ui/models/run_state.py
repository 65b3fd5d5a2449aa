"""The Run button as a state machine: what it says, what may follow, and honest progress."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from ltmem_gui.ui.models.formats import span

ETA_FROM = 5


class RunPhase(StrEnum):
    """The states of a run, in their usual order."""

    IDLE = "idle"
    SCANNING = "scanning"
    ESTIMATING = "estimating"
    CONFIRMING = "confirming"
    EXTRACTING = "extracting"
    WAITING_FOR_LOCK = "waiting for lock"
    CONSOLIDATING = "consolidating"
    PLAN_READY = "plan ready"
    APPLYING = "applying"
    DONE = "done"
    NOTHING_TO_DO = "nothing to do"
    FAILED = "failed"
    CANCELLING = "cancelling"


_P = RunPhase
_ENDS = frozenset({_P.DONE, _P.NOTHING_TO_DO, _P.FAILED, _P.IDLE})
_STOPS = frozenset({_P.FAILED, _P.CANCELLING, _P.IDLE})
_BEGINNINGS = frozenset({_P.SCANNING, _P.ESTIMATING, _P.CONSOLIDATING})
_NEXT: dict[RunPhase, frozenset[RunPhase]] = {
    _P.IDLE: _BEGINNINGS | {_P.PLAN_READY},
    _P.SCANNING: _STOPS | {_P.ESTIMATING, _P.NOTHING_TO_DO},
    _P.ESTIMATING: _STOPS | {_P.CONFIRMING, _P.CONSOLIDATING, _P.NOTHING_TO_DO},
    _P.CONFIRMING: _STOPS | {_P.EXTRACTING, _P.APPLYING, _P.PLAN_READY, _P.CONSOLIDATING},
    _P.EXTRACTING: _STOPS | {_P.WAITING_FOR_LOCK, _P.CONSOLIDATING, _P.DONE, _P.NOTHING_TO_DO},
    _P.WAITING_FOR_LOCK: _STOPS | {_P.CONSOLIDATING, _P.APPLYING},
    _P.CONSOLIDATING: _STOPS | {_P.WAITING_FOR_LOCK, _P.PLAN_READY, _P.NOTHING_TO_DO, _P.CONFIRMING},
    _P.PLAN_READY: _BEGINNINGS | {_P.CONFIRMING, _P.IDLE, _P.FAILED},
    _P.APPLYING: _STOPS | {_P.WAITING_FOR_LOCK, _P.DONE},
    _P.DONE: _BEGINNINGS | {_P.IDLE, _P.CONFIRMING},
    _P.NOTHING_TO_DO: _BEGINNINGS | {_P.IDLE},
    _P.FAILED: _BEGINNINGS | {_P.IDLE, _P.PLAN_READY, _P.CONFIRMING},
    _P.CANCELLING: frozenset({_P.IDLE, _P.FAILED, _P.DONE, _P.PLAN_READY}),
}
_BUSY = frozenset(
    {
        _P.SCANNING,
        _P.ESTIMATING,
        _P.CONFIRMING,
        _P.EXTRACTING,
        _P.WAITING_FOR_LOCK,
        _P.CONSOLIDATING,
        _P.APPLYING,
        _P.CANCELLING,
    }
)
_TEXTS = {
    _P.IDLE: "Run…",
    _P.SCANNING: "Scanning",
    _P.ESTIMATING: "Estimating",
    _P.CONFIRMING: "Waiting for your answer",
    _P.EXTRACTING: "Extracting",
    _P.WAITING_FOR_LOCK: "Waiting for lock",
    _P.CONSOLIDATING: "Consolidating",
    _P.PLAN_READY: "Plan ready: review",
    _P.APPLYING: "Applying",
    _P.DONE: "Run again…",
    _P.NOTHING_TO_DO: "Run again…",
    _P.FAILED: "Try again…",
    _P.CANCELLING: "Cancelling",
}


class IllegalStep(ValueError):
    """A step the machine does not know: a bug."""


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run is. `done` of `total` never goes back within a phase; `detail` in words."""

    phase: RunPhase = RunPhase.IDLE
    done: int = 0
    total: int = 0
    detail: str = ""
    began_at: float = 0.0

    @property
    def busy(self) -> bool:
        """Tell whether a new run must wait."""
        return self.phase in _BUSY

    @property
    def can_cancel(self) -> bool:
        """Tell whether Cancel does something."""
        return self.busy and self.phase not in (RunPhase.CANCELLING, RunPhase.APPLYING)

    @property
    def button(self) -> str:
        """Return the text of the Run button; its accessible name is the same."""
        text = _TEXTS[self.phase]
        if self.busy and self.total:
            return f"{text} {self.done}/{self.total}"
        return f"{text}, step {self.done}" if self.phase is RunPhase.CONSOLIDATING and self.done else text

    @property
    def icon(self) -> str:
        """Return the name of the button's icon."""
        match self.phase:
            case RunPhase.PLAN_READY:
                return "review"
            case RunPhase.FAILED:
                return "warning"
            case _:
                return "run"

    def to(self, phase: RunPhase, detail: str = "", *, now: float = 0.0) -> RunState:
        """Return the next state. Raises `IllegalStep` for one that cannot follow."""
        if phase is self.phase:
            return replace(self, detail=detail or self.detail)
        if phase not in _NEXT[self.phase]:
            raise IllegalStep(f"{self.phase.value} → {phase.value}")
        return RunState(phase, detail=detail, began_at=now)

    def advanced(self, done: int, total: int) -> RunState:
        """Return the state with new progress; it only grows, and a smaller total never lowers the bar."""
        total = max(total, self.total)
        return replace(self, done=min(max(done, self.done), total), total=total)

    def stepped(self, number: int, detail: str) -> RunState:
        """Return the state after a step of work whose length nobody knows: a count without a total."""
        return replace(self, done=max(number, self.done), detail=detail)

    def eta(self, now: float) -> str:
        """Return the time left in words, empty before five items are done."""
        if self.done < ETA_FROM or self.total <= self.done or self.began_at <= 0:
            return ""
        return "about " + span((now - self.began_at) / self.done * (self.total - self.done)) + " left"
