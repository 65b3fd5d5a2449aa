"""The queue as a person sees and steers it: records with their history, hold, release, retry."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from peewee import fn

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.jobs import GLOBAL_KIND, STAGE1_KIND, Attempt, JobRecord, JobStatus, Owner
from ltmem_gui.domain.leases import StageOne
from ltmem_gui.store.models import AttemptRow, Job
from ltmem_gui.store.part import StorePart

# in the order of the fields of `JobRecord`
_JOB = (
    Job.kind,
    Job.job_key,
    Job.status,
    fn.COALESCE(Job.worker_id, ""),
    Job.lease_until,
    Job.retry_at,
    Job.retry_remaining,
    Job.started_at,
    Job.finished_at,
    Job.last_outcome,
    fn.COALESCE(Job.last_error, ""),
    Job.error_group,
    fn.COALESCE(Job.input_watermark, 0),
    fn.COALESCE(Job.last_success_watermark, 0),
    Job.crash_count,
    Job.agent,
    Job.cwd,
    Job.rollout_path,
    Job.title,
    Job.git_branch,
)
_BEFORE_ATTEMPTS = 15
_STATUS = {status.value: status for status in JobStatus}
_ATTEMPT = (
    AttemptRow.number,
    AttemptRow.owner,
    AttemptRow.started_at,
    AttemptRow.ended_at,
    AttemptRow.outcome,
    AttemptRow.tokens_in,
    AttemptRow.tokens_out,
    AttemptRow.error_group,
    AttemptRow.error,
    AttemptRow.tokens_cached,
    AttemptRow.tokens_reasoning,
    AttemptRow.provider,
    AttemptRow.model,
    AttemptRow.cost,
    AttemptRow.currency,
)


class Queue(StorePart):
    """List jobs and change single ones on a person's wish, each only if it still is as the person saw it."""

    def jobs(self) -> tuple[JobRecord, ...]:
        """Return all jobs of both phases with their attempts, by kind and key."""
        attempts: dict[tuple[str, str], list[Attempt]] = {}
        query = AttemptRow.select(AttemptRow.kind, AttemptRow.job_key, *_ATTEMPT)
        query = query.order_by(AttemptRow.kind, AttemptRow.job_key, AttemptRow.number)
        for kind, key, *rest in self._db.rows(query):
            attempts.setdefault((kind, key), []).append(_attempt(rest))
        rows = self._db.rows(Job.select(*_JOB).order_by(Job.kind, Job.job_key))
        return tuple(_record(row, tuple(attempts.get(row[:2], ()))) for row in rows)

    def job(self, kind: str, job_key: str) -> JobRecord | None:
        """Return one job."""
        row = self._db.row(Job.select(*_JOB).where((Job.kind == kind) & (Job.job_key == job_key)))
        if row is None:
            return None
        query = AttemptRow.select(*_ATTEMPT).where((AttemptRow.kind == kind) & (AttemptRow.job_key == job_key))
        found = self._db.rows(query.order_by(AttemptRow.number))
        return _record(row, tuple(_attempt(attempt) for attempt in found))

    def interrupted(self) -> tuple[JobRecord, ...]:
        """Return the running jobs whose holder died on this host: what the last run left behind. Changes nothing."""
        query = Job.select(Job.kind, Job.job_key, fn.COALESCE(Job.worker_id, ""))
        # Both kinds by name: the index of claims begins with the kind.
        is_running = Job.kind.in_((STAGE1_KIND, GLOBAL_KIND)) & (Job.status == JobStatus.RUNNING.value)
        running = self._db.rows(query.where(is_running).order_by(Job.kind, Job.job_key))
        dead = [(kind, key) for kind, key, owner in running if self._alive(Owner.parse(owner)) is False]
        return tuple(job for kind, key in dead if (job := self.job(kind, key)) is not None)

    def hold_job(self, thread_id: str, *, expected: JobStatus, now: int) -> bool:
        """Hold a job that is not running until a person releases it; False when it is not as `expected` any more."""
        _refuse(expected, JobStatus.RUNNING, JobStatus.HELD)
        return self._change(thread_id, expected, JobStatus.HELD, "held by a person", now)

    def release_job(self, thread_id: str, *, now: int) -> bool:
        """Let a held job be claimed again, with all tries and no crash counted; False when it is not held."""
        return self._change(thread_id, JobStatus.HELD, JobStatus.PENDING, None, now)

    def retry_job(self, thread_id: str, *, expected: JobStatus, now: int) -> bool:
        """End the back-off of a failed or waiting job and give it all tries; False when it is not as `expected`."""
        _refuse(expected, JobStatus.RUNNING, JobStatus.HELD, JobStatus.DONE)
        return self._change(thread_id, expected, JobStatus.PENDING, None, now)

    def _change(self, thread_id: str, expected: JobStatus, status: JobStatus, error: str | None, now: int) -> bool:
        with self._db.transaction():
            changed = self._db.change(
                "UPDATE jobs SET status = ?, last_error = ?, error_group = '', retry_at = NULL, retry_remaining = ?,"
                " crash_count = 0, finished_at = ? WHERE kind = ? AND job_key = ? AND status = ?",
                (status.value, error, StageOne.RETRIES, now, STAGE1_KIND, thread_id, expected.value),
            )
        return changed == 1


def _refuse(expected: JobStatus, *refused: JobStatus) -> None:
    if expected in refused:
        raise InputError(f"a job that is {expected.value} cannot be changed this way", "look at the queue again")


def _attempt(row: Sequence[Any]) -> Attempt:
    """Read one try; a cost that is no number (edited by hand) is an unknown one."""
    *before, cost, currency = row
    try:
        amount = None if cost is None else Decimal(cost)
    except (InvalidOperation, TypeError, ValueError):
        amount = None
    known = amount is not None and amount.is_finite()
    values: tuple[Any, ...] = (*before, amount if known else None, currency if known else "")
    return Attempt(*values)


def _record(row: tuple[Any, ...], attempts: tuple[Attempt, ...]) -> JobRecord:
    before, after = row[3:_BEFORE_ATTEMPTS], row[_BEFORE_ATTEMPTS:]
    values: tuple[Any, ...] = (row[0], row[1], _STATUS[row[2]], *before, attempts, *after)
    return JobRecord(*values)
