"""The state of a queue row at two levels: a small type for filters and colour, a precise name for people.

Table: reference/ui-features §3.2. Pure functions; the clock is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ltmem_gui.domain.jobs import JobOutcome, JobRecord, JobStatus
from ltmem_gui.domain.leases import StageOne, StageTwo
from ltmem_gui.domain.rollouts import Eligibility

UP_TO_DATE_RULE = "up_to_date"


class StateKind(StrEnum):
    """The types of state; also the names of the filter chips and of the colour tokens `state.…`."""

    WAITING = "waiting"
    RUNNING = "running"
    NEEDS = "needs"
    BAD = "bad"
    GOOD = "good"
    STOPPED = "stopped"


TITLES = {
    StateKind.WAITING: "Waiting",
    StateKind.RUNNING: "Running",
    StateKind.NEEDS: "Needs you",
    StateKind.BAD: "Failed",
    StateKind.GOOD: "Done",
    StateKind.STOPPED: "Skipped",
}
SIGNS = {
    StateKind.WAITING: "●",
    StateKind.RUNNING: "◐",
    StateKind.NEEDS: "▲",
    StateKind.BAD: "✕",
    StateKind.GOOD: "✓",
    StateKind.STOPPED: "○",
}
NO_OUTPUT_SIGN = "∅"
ORDER = {kind: index for index, kind in enumerate(StateKind)}

_OUTCOME_NAMES = {
    JobOutcome.SUCCEEDED: (StateKind.GOOD, "done"),
    JobOutcome.NO_OUTPUT: (StateKind.GOOD, "nothing to keep"),
    JobOutcome.FAILED: (StateKind.BAD, "failed"),
    JobOutcome.CHANGED: (StateKind.STOPPED, "changed since planning"),
    JobOutcome.SOURCE_MISSING: (StateKind.BAD, "source missing"),
    JobOutcome.RELEASED: (StateKind.STOPPED, "released"),
    JobOutcome.CRASHED: (StateKind.BAD, "crashed"),
    JobOutcome.LEASE_LOST: (StateKind.BAD, "lease lost"),
    JobOutcome.SKIPPED: (StateKind.STOPPED, "skipped"),
}

# A rule's name in two or three words, for the state column.
_SKIP_NAMES = {
    "root_session": "sub-agent",
    "own_run": "memory run",
    "interactive": "not interactive",
    "memory_root": "in memory folder",
    "data_folder": "in data folder",
    "memory_mode": "memory off",
    "archived": "archived",
    "ephemeral": "ephemeral",
    "empty": "nothing typed",
    "current": "current session",
    "age": "too old",
    "idle": "still fresh",
}


@dataclass(frozen=True, slots=True)
class JobState:
    """A state as shown: `sign`, `kind` and `name`; `reason` in words where one is needed."""

    kind: StateKind
    name: str
    reason: str = ""
    sign: str = ""

    @property
    def label(self) -> str:
        """Return sign and name: never colour alone."""
        return f"{self.sign or SIGNS[self.kind]} {self.name}"


def state_of(eligibility: Eligibility | None, job: JobRecord | None, now: int) -> JobState:
    """Work out the state of a rollout from its rules and its job; both may be missing, not together."""
    if job is not None:
        state = _of_job(job, now, eligible=eligibility is not None and eligibility.eligible)
        if state is not None:
            return state
    if eligibility is None:
        return JobState(StateKind.STOPPED, "not in this scan")
    if eligibility.eligible:
        return JobState(StateKind.WAITING, "queued")
    other = [reason for reason in eligibility.failed if reason.rule != UP_TO_DATE_RULE]
    if not other:
        return _outcome(job.last_outcome if job else JobOutcome.SUCCEEDED)
    return JobState(StateKind.STOPPED, _SKIP_NAMES.get(other[0].rule, "skipped"), other[0].text)


def state_of_consolidation(job: JobRecord, now: int) -> JobState:
    """Work out the state of the one job of the second phase; nothing of it happens without a person."""
    if job.status is JobStatus.PENDING and not (job.retry_at is not None and job.retry_at > now):
        return JobState(StateKind.NEEDS, "to consolidate")
    return _of_job(job, now, eligible=False) or JobState(StateKind.GOOD, "done")


def state_of_outcome(outcome: str, reason: str) -> JobState:
    """Return the state that an attempt of this run ended in."""
    state = _outcome(outcome)
    return JobState(state.kind, state.name, reason or state.reason, state.sign)


def running(name: str = "running") -> JobState:
    """Return the state of a claimed job."""
    return JobState(StateKind.RUNNING, name)


def _of_job(job: JobRecord, now: int, *, eligible: bool) -> JobState | None:
    match job.status:
        case JobStatus.RUNNING if job.lease_until is not None and job.lease_until < now:
            return JobState(StateKind.BAD, "lease expired", f"the worker {job.owner} did not come back")
        case JobStatus.RUNNING:
            return running(
                "heartbeat late" if job.lease_until is not None and _is_late(job.lease_until, now) else "running"
            )
        case JobStatus.HELD:
            return JobState(StateKind.NEEDS, "held", job.last_error or "held until a person lets it go")
        case JobStatus.PENDING if job.retry_at is not None and job.retry_at > now:
            return JobState(StateKind.WAITING, f"backing off until {clock(job.retry_at)}", job.last_error)
        case JobStatus.PENDING:
            return JobState(StateKind.WAITING, "queued")
        case JobStatus.ERROR:
            return _of_failure(job, now)
        case _:
            return None if eligible else _done_or_none(job)


def _is_late(lease_until: int, now: int) -> bool:
    """Tell whether a lease was not renewed for longer than two heartbeats (ui-features Q8)."""
    return now - (lease_until - StageOne.JOB_LEASE_SECONDS) > 2 * StageTwo.JOB_HEARTBEAT_SECONDS


def _of_failure(job: JobRecord, now: int) -> JobState:
    if job.retry_remaining <= 0:
        return JobState(StateKind.BAD, "failed, no tries left", job.last_error)
    if job.retry_at is not None and job.retry_at > now:
        return JobState(StateKind.BAD, f"failed, again at {clock(job.retry_at)}", job.last_error)
    return JobState(StateKind.BAD, "failed, can be retried", job.last_error)


def _done_or_none(job: JobRecord) -> JobState | None:
    return _outcome(job.last_outcome) if job.last_outcome else None


def _outcome(outcome: str) -> JobState:
    try:
        known = JobOutcome(outcome)
    except ValueError:
        return JobState(StateKind.GOOD, outcome or "done")
    kind, name = _OUTCOME_NAMES[known]
    return JobState(kind, name, sign=NO_OUTPUT_SIGN if known is JobOutcome.NO_OUTPUT else "")


def clock(at: int) -> str:
    """Return a time of day, local."""
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M")
