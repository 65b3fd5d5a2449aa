"""What a person may do with jobs of the queue, and why not: preconditions as data.

`ALLOWED` lists the states each action is for, `WHY_NOT` the words for every other state. Both surfaces ask the same
table: the window to grey an action, a plan to leave a row out with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ltmem_gui.domain.jobs import GLOBAL_KIND, JobRecord, JobStatus
from ltmem_gui.domain.leases import StageOne, backing_off, lease_is_live
from ltmem_gui.domain.memory_items import CONTEXT_WINDOW_PERCENT, DEFAULT_ROLLOUT_TOKEN_LIMIT, EFFECTIVE_WINDOW_PERCENT
from ltmem_gui.domain.settings import Settings

TOO_LARGE_GROUP: Final = "too_large"
BUDGET_FACTOR: Final = 2
# The window from which the limit for an unknown window would follow.
_ASSUMED_WINDOW: Final = DEFAULT_ROLLOUT_TOKEN_LIMIT * 100 * 100 // (EFFECTIVE_WINDOW_PERCENT * CONTEXT_WINDOW_PERCENT)


class QueueAction(StrEnum):
    """What can be asked of a row."""

    RETRY = "retry"
    LARGER = "retry with a larger budget"
    SMALLER = "retry with a smaller budget"
    SPLIT = "split"
    RUN = "run now"
    CANCEL = "cancel"
    HOLD = "hold"
    RELEASE = "release"
    EXCLUDE = "exclude"
    LIFT = "lift"
    FORGET = "forget"


class RowState(StrEnum):
    """What preconditions tell apart."""

    NEW = "new"
    WAITING = "waiting"
    BACKING_OFF = "backing off"
    RUNNING = "running"
    EXPIRED = "lease over"
    FAILED = "failed"
    TOO_LARGE = "too large"
    HELD = "held"
    DONE = "done"


JOB_ACTIONS: Final = frozenset({QueueAction.RETRY, QueueAction.HOLD, QueueAction.RELEASE})
MEMORY_ACTIONS: Final = frozenset({QueueAction.EXCLUDE, QueueAction.LIFT})
ROW_ACTIONS: Final = JOB_ACTIONS | MEMORY_ACTIONS
RUN_ACTIONS: Final = frozenset({QueueAction.RUN, QueueAction.LARGER, QueueAction.SMALLER, QueueAction.SPLIT})

_FAILURES = frozenset({RowState.BACKING_OFF, RowState.FAILED, RowState.TOO_LARGE})
_ANY = frozenset(RowState)

ALLOWED: Final[Mapping[QueueAction, Set[RowState]]] = {
    QueueAction.RETRY: _FAILURES,
    QueueAction.LARGER: _FAILURES,
    QueueAction.SMALLER: _FAILURES,
    QueueAction.SPLIT: frozenset({RowState.TOO_LARGE}),
    QueueAction.RUN: _FAILURES | {RowState.NEW, RowState.WAITING, RowState.EXPIRED},
    QueueAction.CANCEL: frozenset({RowState.RUNNING}),
    QueueAction.HOLD: _FAILURES | {RowState.WAITING, RowState.DONE},
    QueueAction.RELEASE: frozenset({RowState.HELD}),
    QueueAction.EXCLUDE: _ANY,
    QueueAction.LIFT: _ANY,
    QueueAction.FORGET: _ANY - {RowState.NEW, RowState.RUNNING},
}

_IS: Final[Mapping[RowState, str]] = {
    RowState.NEW: "it has no job yet",
    RowState.WAITING: "it waits for the next run",
    RowState.BACKING_OFF: "it waits after a failure",
    RowState.RUNNING: "it is being extracted",
    RowState.EXPIRED: "its worker did not come back; the next run takes it over",
    RowState.FAILED: "it failed, but not because it was too large",
    RowState.TOO_LARGE: "it is too large for the model",
    RowState.HELD: "it is held; release it first",
    RowState.DONE: "it is done, with nothing new since",
}

WHY_NOT: Final[Mapping[tuple[QueueAction, RowState], str]] = {
    (QueueAction.RETRY, RowState.NEW): "it has no job: nothing was tried yet",
    (QueueAction.RETRY, RowState.WAITING): "it waits already; the next run takes it",
    (QueueAction.RUN, RowState.RUNNING): "it is being extracted already",
    (QueueAction.HOLD, RowState.NEW): "it has no job; exclude it instead",
    (QueueAction.HOLD, RowState.RUNNING): "it is being extracted; cancel it first",
    (QueueAction.HOLD, RowState.HELD): "it is held already",
    (QueueAction.FORGET, RowState.NEW): "nothing of it is stored",
    (QueueAction.FORGET, RowState.RUNNING): "it is being extracted; cancel it first",
    (QueueAction.SPLIT, RowState.BACKING_OFF): "it failed, but not because it was too large",
    **{(QueueAction.CANCEL, state): "it is not running" for state in _ANY - {RowState.RUNNING}},
    **{(QueueAction.RELEASE, state): "it is not held" for state in _ANY - {RowState.HELD}},
}


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What is known of a row: its job, whether the session has something new, and why it is left out of the memory."""

    thread_id: str
    job: JobRecord | None = None
    newer: bool = False
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows by whether an action is for them; the others with their reason."""

    eligible: tuple[RowFacts, ...]
    others: tuple[tuple[RowFacts, str], ...]


def row_state(job: JobRecord | None, now: int, *, newer: bool = False) -> RowState:
    """Tell what a job is to a precondition; `newer` makes a job that is done wait again."""
    if job is None:
        return RowState.NEW
    match job.status:
        case JobStatus.HELD:
            return RowState.HELD
        case JobStatus.RUNNING:
            live = lease_is_live(job.lease_until, now, StageOne.JOB_LEASE_SECONDS)
            return RowState.RUNNING if live else RowState.EXPIRED
        case JobStatus.ERROR:
            return RowState.TOO_LARGE if job.error_group == TOO_LARGE_GROUP else RowState.FAILED
        case JobStatus.PENDING:
            waits = backing_off(job.retry_at, job.finished_at, now)
            return RowState.BACKING_OFF if waits else RowState.WAITING
        case _:
            return RowState.WAITING if newer else RowState.DONE


def why_not(action: QueueAction, facts: RowFacts, now: int) -> str:
    """Return why an action is not for a row, empty when it is; the consolidation can be retried and nothing else."""
    if facts.job is not None and facts.job.kind == GLOBAL_KIND and action is not QueueAction.RETRY:
        return "it is the consolidation: it can only be retried"
    if action is QueueAction.EXCLUDE and facts.excluded is not None:
        return f"it is left out already: {facts.excluded}"
    if action is QueueAction.LIFT and facts.excluded is None:
        return "it is not left out"
    if action in RUN_ACTIONS and facts.excluded is not None:
        return f"it is left out of the memory: {facts.excluded}; lift it first"
    state = row_state(facts.job, now, newer=facts.newer)
    if state in ALLOWED[action]:
        return ""
    return WHY_NOT.get((action, state), _IS[state])


def sort_rows(action: QueueAction, rows: Iterable[RowFacts], now: int) -> Sorted:
    """Sort rows by whether an action is for them, in the order given."""
    eligible: list[RowFacts] = []
    others: list[tuple[RowFacts, str]] = []
    for row in rows:
        reason = why_not(action, row, now)
        if reason:
            others.append((row, reason))
        else:
            eligible.append(row)
    return Sorted(tuple(eligible), tuple(others))


def refusals(rows: Iterable[RowFacts], now: int) -> dict[QueueAction, str]:
    """Return why each action is for none of these rows, empty where it is for one at least.

    The reason is that of the first rollout; the consolidation's counts where it is selected alone. Rows that are alike
    are asked about once, so that thousands may be selected.
    """
    kinds: dict[tuple[RowState, bool, bool], RowFacts] = {}
    for row in rows:
        phase2 = row.job is not None and row.job.kind == GLOBAL_KIND
        kinds.setdefault((row_state(row.job, now, newer=row.newer), row.excluded is not None, phase2), row)
    asked = [row for _, row in sorted(kinds.items(), key=lambda kind: kind[0][2])]
    answers: dict[QueueAction, str] = {}
    for action in QueueAction:
        reasons = [why_not(action, row, now) for row in asked]
        answers[action] = "no row is selected" if not reasons else reasons[0] if all(reasons) else ""
    return answers


def budget_of(action: QueueAction, settings: Settings) -> Settings:
    """Return the settings of a retry: a context window of twice or half the size, else as given.

    A window that is not known counts as the one that the limit of 150,000 tokens would follow from.
    """
    window = settings.context_window or _ASSUMED_WINDOW
    match action:
        case QueueAction.LARGER:
            return settings.model_copy(update={"context_window": window * BUDGET_FACTOR})
        case QueueAction.SMALLER:
            return settings.model_copy(update={"context_window": max(window // BUDGET_FACTOR, 1)})
        case _:
            return settings
