"""Rows of the queue: one per rollout, joined from the scan, the stored jobs and what a run tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain

from ltmem_gui.domain.events import Event, JobFinished, JobStarted, LeaseRenewed
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import GLOBAL_KIND, STAGE1_KIND, Attempt, JobRecord, JobStatus
from ltmem_gui.domain.prices import Money, spent
from ltmem_gui.domain.rollouts import Eligibility, Reason
from ltmem_gui.pipeline.ports import ScannedRollout
from ltmem_gui.ui.models.formats import project
from ltmem_gui.ui.models.job_state import (
    UP_TO_DATE_RULE,
    JobState,
    StateKind,
    running,
    state_of,
    state_of_consolidation,
    state_of_outcome,
)

NO_TITLE = "(no typed message)"
PHASE_ONE, PHASE_TWO = 1, 2
CUT_OFF = "the program ended while it worked on this; nothing of it was stored, and the next run takes it over"
PLAN_WAITS = "plan to review"
CONSOLIDATION = "Consolidation of the memory folder"


@dataclass(frozen=True, slots=True)
class JobRow:
    """One line of the queue. `key` is stable through rescans; times in Unix seconds, `took` in seconds."""

    key: str
    thread_id: str
    agent: str
    project: str
    cwd: str
    title: str
    state: JobState
    updated_at: int | None = None
    attempt: int = 0
    owner: str = ""
    lease_until: int | None = None
    started_at: int | None = None
    took: int | None = None
    tokens: int | None = None
    spent: tuple[Money, ...] = ()
    error_group: str = ""
    scanned: ScannedRollout | None = None
    job: JobRecord | None = None

    @property
    def phase(self) -> int:
        """Return 1 for the extraction of a rollout, 2 for the one consolidation."""
        return PHASE_TWO if self.job is not None and self.job.kind == GLOBAL_KIND else PHASE_ONE

    @property
    def cost(self) -> str:
        """Return what all attempts cost, empty where that is not known."""
        return " + ".join(str(money) for money in self.spent)

    @property
    def cost_order(self) -> tuple[str, Decimal]:
        """Return what rows are put in order of cost by: unknown first, then by amount within a currency."""
        return (self.spent[0].currency, self.spent[0].amount) if self.spent else ("", Decimal(0))

    @property
    def reason(self) -> str:
        """Return the state's reason on one line."""
        return one_line(self.state.reason, 300)


def cost_in_words(row: JobRow) -> str:
    """Say what a row cost, and where nothing is shown, why."""
    attempts = row.job.attempts if row.job else ()
    if row.spent:
        unknown = sum(1 for attempt in attempts if _was_asked(attempt) and attempt.cost is None)
        more = f"; of {unknown} more the price is unknown" if unknown else ""
        return f"{row.cost}, all attempts together{more}"
    if not attempts:
        return "nothing was asked yet"
    if not any(_was_asked(attempt) for attempt in attempts):
        return "no AI model was asked"
    return "price unknown: enter one in the settings, or the provider did not report its tokens"


def _was_asked(attempt: Attempt) -> bool:
    return bool(attempt.model) or (attempt.tokens_in or 0) + (attempt.tokens_out or 0) > 0


def build_rows(scanned: Iterable[ScannedRollout], jobs: Iterable[JobRecord], now: int) -> list[JobRow]:
    """Join scan and jobs by thread id; the consolidation comes first, jobs whose rollout was not seen last."""
    return list(iter_rows(scanned, jobs, now))


def iter_rows(scanned: Iterable[ScannedRollout], jobs: Iterable[JobRecord], now: int) -> Iterator[JobRow]:
    """Yield the rows of `build_rows` one by one."""
    listed = list(jobs)
    by_id = {job.job_key: job for job in listed if job.kind == STAGE1_KIND}
    joined = chain(
        (_phase_two_row(job, now) for job in listed if job.kind == GLOBAL_KIND),
        (_scanned_row(rollout, by_id.pop(rollout.id, None), now) for rollout in scanned),
        (_job_row(job, now) for job in _rest(by_id)),
    )
    return _with_unique_keys(joined)


def apply_event(row: JobRow, event: Event, now: int) -> JobRow:
    """Return the row as a run's event leaves it."""
    match event:
        case JobStarted(_, attempt, owner, lease_until):
            begun = replace(row, state=running(), attempt=attempt, started_at=now, took=None)
            return replace(begun, owner=owner, lease_until=lease_until)
        case LeaseRenewed(_, lease_until):
            return replace(row, lease_until=lease_until)
        case JobFinished(_, outcome, reason, tokens_in, tokens_out):
            took = None if row.started_at is None else max(0, now - row.started_at)
            used = row.tokens if tokens_in is None and tokens_out is None else (tokens_in or 0) + (tokens_out or 0)
            return replace(row, state=state_of_outcome(outcome, reason), took=took, tokens=used, owner="")
        case _:
            return row


def with_plan(row: JobRow, *, waits: bool) -> JobRow:
    """Return the consolidation's row as it is while a plan waits for its review, or no more."""
    if row.phase != PHASE_TWO or row.job is None:
        return row
    waiting = JobState(StateKind.NEEDS, PLAN_WAITS, "A plan waits for your review; nothing is written before.")
    return replace(row, state=waiting) if waits else row


def mark_cut_off(row: JobRow) -> JobRow:
    """Return a row whose program ended while it worked on it."""
    return replace(row, state=JobState(StateKind.BAD, "interrupted", CUT_OFF), error_group="crash")


def count_kinds(rows: Iterable[JobRow]) -> Mapping[str, int]:
    """Return how many rows each type of state has."""
    return prepare_rows(rows).counts


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """Rows with what the model would count otherwise; they may come piece by piece."""

    rows: list[JobRow] = field(default_factory=list[JobRow])
    places: dict[str, int] = field(default_factory=dict[str, int])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, rows: Iterable[JobRow]) -> bool:
        """Index and count further rows; tell whether there were any."""
        before = len(self.rows)
        for row in rows:
            self.places[row.key] = len(self.rows)
            self.rows.append(row)
            kind = row.state.kind.value
            self.counts[kind] = self.counts.get(kind, 0) + 1
        return len(self.rows) > before


def prepare_rows(rows: Iterable[JobRow]) -> PreparedRows:
    """Index and count rows."""
    prepared = PreparedRows()
    prepared.take(rows)
    return prepared


def _rest(left: Mapping[str, JobRecord]) -> Iterator[JobRecord]:
    """Yield what is left when it is asked for: a mapping must not be read while rows are taken from it."""
    yield from left.values()


def _scanned_row(rollout: ScannedRollout, job: JobRecord | None, now: int) -> JobRow:
    rollout = _with_newer_job(rollout, job)
    row = JobRow(
        key=rollout.id or rollout.path,
        thread_id=rollout.id,
        agent=rollout.agent,
        project=project(rollout.cwd),
        cwd=rollout.cwd,
        title=one_line(rollout.title, 200) or NO_TITLE,
        state=state_of(rollout.eligibility, job, now),
        updated_at=rollout.updated_at,
        tokens=rollout.tokens,
        scanned=rollout,
    )
    return row if job is None else _with_job(row, job)


def _with_newer_job(rollout: ScannedRollout, job: JobRecord | None) -> ScannedRollout:
    """Bring a scan up to date with a job that succeeded after it: the rule says what the next scan would say."""
    if job is None or job.status is not JobStatus.DONE or rollout.updated_at is None:
        return rollout
    rules = rollout.eligibility.reasons
    if not rollout.eligibility.eligible or job.last_success_watermark < rollout.updated_at:
        return rollout
    done = Reason(UP_TO_DATE_RULE, False, "up to date: extracted already, nothing new since")
    others = tuple(rule for rule in rules if rule.rule != UP_TO_DATE_RULE)
    return replace(rollout, eligibility=Eligibility((*others, done)))


def _job_row(job: JobRecord, now: int) -> JobRow:
    row = JobRow(
        key=job.job_key,
        thread_id=job.job_key,
        agent=job.agent,
        project=project(job.cwd),
        cwd=job.cwd,
        title=one_line(job.title, 200) or NO_TITLE,
        state=state_of(None, job, now),
        updated_at=job.input_watermark or None,
    )
    return _with_job(row, job)


def _phase_two_row(job: JobRecord, now: int) -> JobRow:
    row = JobRow(
        key=job.job_key,
        thread_id=job.job_key,
        agent="",
        project="",
        cwd="",
        title=CONSOLIDATION,
        state=state_of_consolidation(job, now),
        updated_at=job.finished_at,
    )
    return _with_job(row, job)


def _with_job(row: JobRow, job: JobRecord) -> JobRow:
    took = None
    if job.started_at is not None and job.finished_at is not None:
        took = max(0, job.finished_at - job.started_at)
    return replace(
        row,
        attempt=max((attempt.number for attempt in job.attempts), default=0),
        owner=job.owner,
        lease_until=job.lease_until,
        started_at=job.started_at,
        took=took,
        spent=spent(job.attempts),
        error_group=job.error_group,
        job=job,
    )


def _with_unique_keys(rows: Iterable[JobRow]) -> Iterator[JobRow]:
    seen: set[str] = set()
    for row in rows:
        if row.key in seen:
            path = row.scanned.path if row.scanned else ""
            row = replace(row, key=f"{row.key}@{path}")
        seen.add(row.key)
        yield row
