"""Phase-1 jobs: claims, leases, outcomes and their history (reference §3.4–3.8).

A claim is decided by the pure rule of `domain/leases` inside `BEGIN IMMEDIATE`, so that the row it was decided on
cannot change before it is written.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.errors import LeaseLost
from ltmem_gui.domain.extraction import ExtractionReply, StageOneOutput
from ltmem_gui.domain.jobs import STAGE1_KIND, Claim, ClaimOutcome, ClaimResult, JobOutcome, JobStatus, Owner
from ltmem_gui.domain.leases import (
    FUTURE_SOURCE_SECONDS,
    JobState,
    StageOne,
    StoredSource,
    advances,
    decide_stage1,
    is_up_to_date,
    lease_horizon,
    retry_time,
)
from ltmem_gui.domain.prices import Bill
from ltmem_gui.store.database import storable, storable_number
from ltmem_gui.store.inbox import add_candidates, keep_taken
from ltmem_gui.store.leasing import (
    STATE_COLUMNS,
    close_attempt,
    close_lost_attempt,
    dead_holders,
    enqueue_global,
    job_state,
    lost_outcome,
    open_attempt,
)
from ltmem_gui.store.part import StorePart

_KIND = STAGE1_KIND

LOOK = f"""
    SELECT {STATE_COLUMNS}, j.worker_id, j.crash_count, j.attempt, o.source_updated_at, o.generated_at,
        (SELECT COUNT(*) FROM (
            SELECT 1 FROM jobs r WHERE r.kind = '{_KIND}' AND r.status = 'running' AND r.retry_at IS NULL
            AND r.lease_until > ? AND r.lease_until <= ? AND r.job_key <> ? LIMIT ?))
    FROM (SELECT ? AS key)
    LEFT JOIN jobs j ON j.kind = '{_KIND}' AND j.job_key = key
    LEFT JOIN stage1_outputs o ON o.thread_id = key
"""

TAKE = f"""
    INSERT INTO jobs (kind, job_key, status, worker_id, ownership_token, started_at, lease_until, retry_remaining,
        input_watermark, agent, cwd, rollout_path, git_branch, title, crash_count, attempt)
    VALUES ('{_KIND}', ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, job_key) DO UPDATE SET
        status = 'running', worker_id = excluded.worker_id, ownership_token = excluded.ownership_token,
        started_at = excluded.started_at, finished_at = NULL, lease_until = excluded.lease_until, retry_at = NULL,
        retry_remaining = excluded.retry_remaining, last_error = NULL, error_group = '',
        input_watermark = excluded.input_watermark, agent = excluded.agent, cwd = excluded.cwd,
        rollout_path = excluded.rollout_path, git_branch = excluded.git_branch, title = excluded.title,
        crash_count = excluded.crash_count, attempt = excluded.attempt
    RETURNING attempt
"""


@dataclass(frozen=True, slots=True)
class _Look:
    """One job as a claim finds it."""

    state: JobState | None
    worker: str | None
    crashes: int
    attempt: int
    output: StoredSource | None
    others: int


class StageOneJobs(StorePart):
    """Claim, renew and end the jobs of Phase 1."""

    def up_to_date(self, thread_id: str, source_updated_at: int) -> bool:
        """Tell whether this source of the thread was extracted before (or found to hold nothing)."""
        look = self._look(storable(thread_id), now=0, cap=0)
        return is_up_to_date(look.state, look.output, storable_number(source_updated_at))

    def claim_stage1(self, job: PlannedJob, owner: Owner, *, now: int, cap: int) -> ClaimResult:
        """Try to win the lease of one thread; `cap` bounds the live leases of all processes together.

        A refusal because of leases is looked at twice: a holder that died on this host gives way at once.
        """
        result = self._try_claim(job, owner, now, cap)
        if result.outcome in (ClaimOutcome.RUNNING, ClaimOutcome.AT_CAP) and self.reap_stage1(now):
            return self._try_claim(job, owner, now, cap)
        return result

    def claim_stage1_batch(
        self, jobs: Sequence[PlannedJob], owner: Owner, *, now: int, cap: int
    ) -> tuple[ClaimResult, ...]:
        """Try to win the leases of several threads in one transaction; one result per job, in order."""
        with self._db.transaction():
            results = tuple(self._claim_locked(job, owner, now, cap) for job in jobs)
        if any(r.outcome in (ClaimOutcome.RUNNING, ClaimOutcome.AT_CAP) for r in results) and self.reap_stage1(now):
            refused = (ClaimOutcome.RUNNING, ClaimOutcome.AT_CAP)
            return tuple(
                self._try_claim(job, owner, now, cap) if result.outcome in refused else result
                for job, result in zip(jobs, results, strict=True)
            )
        return results

    def reap_stage1(self, now: int) -> int:
        """Free the jobs whose holder died on this host, count the crash, and hold those that crashed too often.

        Returns how many were freed.
        """
        dead = dead_holders(self._db, self._alive, _KIND)
        if not dead:
            return 0
        with self._db.transaction():
            marks = ", ".join("?" * len(dead))
            rows = self._db.sql(
                f"SELECT job_key, attempt, crash_count FROM jobs"
                f" WHERE kind = '{_KIND}' AND status = 'running' AND worker_id IN ({marks})",
                dead,
            )
            for key, attempt, crashes in rows:
                close_lost_attempt(self._db, _KIND, key, attempt, JobOutcome.CRASHED, now)
                self._record_crash(key, crashes + 1, now)
        return len(rows)

    def heartbeat_stage1(self, claim: Claim, now: int) -> bool:
        """Renew a lease; False when another worker took it over."""
        changed = self._db.change(
            f"UPDATE jobs SET lease_until = ? WHERE kind = '{_KIND}' AND job_key = ?"
            " AND status = 'running' AND ownership_token = ?",
            (now + StageOne.JOB_LEASE_SECONDS, claim.job_key, claim.token),
        )
        return changed == 1

    def succeed_stage1(
        self, claim: Claim, output: StageOneOutput, reply: ExtractionReply, *, now: int, bill: Bill | None = None
    ) -> None:
        """Store the output and enqueue Phase 2, in one transaction. Raises `LeaseLost` for a lost token.

        Usage and selection columns of an earlier row stay; a row of a newer source is not replaced.
        """
        with self._db.transaction():
            self._finish(claim, JobOutcome.SUCCEEDED, bill or Bill(reply.usage), now)
            self._upsert(output)
            keep_taken(self._db, claim.job_key, now)
            add_candidates(self._db, claim.job_key, reply.inbox, now)
            enqueue_global(self._db, claim.source_updated_at)

    def succeed_stage1_no_output(
        self, claim: Claim, reply: ExtractionReply, *, now: int, bill: Bill | None = None
    ) -> None:
        """Record the no-op; an earlier row is deleted and Phase 2 enqueued. Raises `LeaseLost`.

        Lines a person took from the inbox stay, in a row of their own.
        """
        with self._db.transaction():
            self._finish(claim, JobOutcome.NO_OUTPUT, bill or Bill(reply.usage), now)
            add_candidates(self._db, claim.job_key, reply.inbox, now)
            gone = self._db.change("DELETE FROM stage1_outputs WHERE thread_id = ?", (claim.job_key,))
            keep_taken(self._db, claim.job_key, now)
            if gone:
                enqueue_global(self._db, claim.source_updated_at)

    def fail_stage1(
        self,
        claim: Claim,
        *,
        outcome: str,
        group: str,
        reason: str,
        now: int,
        retry_after: int | None,
        bill: Bill | None = None,
    ) -> None:
        """Record a failure: one try less, and the next after the delay (or `retry_after`, when longer).

        `bill` is what answers took that could not be used.
        Raises `LeaseLost` for a lost token.
        """
        with self._db.transaction():
            self._guard(
                "status = 'error', lease_until = NULL, ownership_token = NULL, finished_at = ?, retry_at = ?,"
                " retry_remaining = retry_remaining - 1, last_error = ?, error_group = ?, last_outcome = ?",
                (now, retry_time(now, retry_after), storable(reason), group, outcome),
                claim,
            )
            close_attempt(self._db, _KIND, claim, outcome, now, bill=bill, group=group, error=reason)

    def release_stage1(self, claim: Claim, *, outcome: str, reason: str, now: int) -> None:
        """Give a lease back without costing a try (cancelled, changed since planning); a lost one is left alone."""
        with self._db.transaction():
            changed = self._db.change(
                f"UPDATE jobs SET status = 'pending', lease_until = NULL, ownership_token = NULL, finished_at = ?,"
                f" last_outcome = ? WHERE kind = '{_KIND}' AND job_key = ?"
                " AND status = 'running' AND ownership_token = ?",
                (now, outcome, claim.job_key, claim.token),
            )
            if changed:
                close_attempt(self._db, _KIND, claim, outcome, now, error=reason)

    # --- inside a transaction ---

    def _try_claim(self, job: PlannedJob, owner: Owner, now: int, cap: int) -> ClaimResult:
        with self._db.transaction():
            return self._claim_locked(job, owner, now, cap)

    def _claim_locked(self, job: PlannedJob, owner: Owner, now: int, cap: int) -> ClaimResult:
        key, source = storable(job.thread_id), storable_number(job.source_updated_at)
        look = self._look(key, now=now, cap=cap)
        state = look.state
        outcome = decide_stage1(state, look.output, source, now=now, others=look.others, cap=cap)
        if outcome is not ClaimOutcome.CLAIMED:
            return _refusal(outcome, look)
        crashes = look.crashes
        if state is not None and state.status is JobStatus.RUNNING:
            lost = lost_outcome(self._alive, look.worker)
            close_lost_attempt(self._db, _KIND, key, look.attempt, lost, now)
            crashes += lost is JobOutcome.CRASHED
            if crashes >= StageOne.CRASHES_BEFORE_HOLD:
                self._record_crash(key, crashes, now)
                return ClaimResult(ClaimOutcome.HELD, held_by=_held_reason(crashes))
        fresh = state is None or advances(state, source)
        tries = StageOne.RETRIES if fresh or state is None else state.retry_remaining
        claim = Claim(
            job_key=key,
            token=str(uuid.uuid4()),
            owner=owner,
            source_updated_at=source,
            attempt=look.attempt + 1,
            lease_until=now + StageOne.JOB_LEASE_SECONDS,
        )
        self._take(job, claim, now, tries, crashes)
        open_attempt(self._db, _KIND, claim, now)
        return ClaimResult(ClaimOutcome.CLAIMED, claim)

    def _look(self, thread_id: str, *, now: int, cap: int) -> _Look:
        horizon = lease_horizon(now, StageOne.JOB_LEASE_SECONDS)
        row = self._db.sql(LOOK, (now, horizon, thread_id, cap, thread_id))[0]
        worker, crashes, attempt, source, generated, others = row[9:]
        return _Look(
            state=job_state(row[:9]),
            worker=worker,
            crashes=crashes or 0,
            attempt=attempt or 0,
            output=None if source is None else StoredSource(source, generated),
            others=others,
        )

    def _take(self, job: PlannedJob, claim: Claim, now: int, tries: int, crashes: int) -> None:
        values: tuple[Any, ...] = (
            claim.job_key,
            str(claim.owner),
            claim.token,
            now,
            claim.lease_until,
            tries,
            claim.source_updated_at,
            job.agent,
            storable(job.cwd),
            storable(job.path),
            None if job.git_branch is None else storable(job.git_branch),
            storable(job.title),
            crashes,
            claim.attempt,
        )
        self._db.sql(TAKE, values)

    def _record_crash(self, job_key: str, crashes: int, now: int) -> None:
        held = crashes >= StageOne.CRASHES_BEFORE_HOLD
        self._db.change(
            f"UPDATE jobs SET status = ?, lease_until = NULL, ownership_token = NULL, finished_at = ?,"
            f" crash_count = ?, last_outcome = ?, last_error = ?, error_group = 'crash'"
            f" WHERE kind = '{_KIND}' AND job_key = ?",
            (
                JobStatus.HELD.value if held else JobStatus.PENDING.value,
                now,
                crashes,
                JobOutcome.CRASHED.value,
                _held_reason(crashes) if held else "the program ended while it worked on this",
                job_key,
            ),
        )

    def _finish(self, claim: Claim, outcome: JobOutcome, bill: Bill, now: int) -> None:
        self._guard(
            "status = 'done', lease_until = NULL, ownership_token = NULL, finished_at = ?, retry_at = NULL,"
            " last_error = NULL, error_group = '', last_outcome = ?, crash_count = 0,"
            " last_success_watermark = input_watermark",
            (now, outcome.value),
            claim,
        )
        close_attempt(self._db, _KIND, claim, outcome.value, now, bill=bill)

    def _guard(self, assignments: str, values: Sequence[Any], claim: Claim) -> None:
        changed = self._db.change(
            f"UPDATE jobs SET {assignments}"
            f" WHERE kind = '{_KIND}' AND job_key = ? AND status = 'running' AND ownership_token = ?",
            (*values, claim.job_key, claim.token),
        )
        if changed != 1:
            raise LeaseLost(
                "another worker took this rollout over; this result is not stored",
                "nothing to do: the other worker's result counts",
                claim.job_key,
            )

    def _upsert(self, output: StageOneOutput) -> None:
        """Store an output; an older source replaces a row only when that row's time lay in the future."""
        self._db.change(
            """
            INSERT INTO stage1_outputs (thread_id, source_updated_at, raw_memory, rollout_summary, rollout_slug,
                generated_at, cwd, rollout_path, git_branch, memory_mode)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (thread_id) DO UPDATE SET
                source_updated_at = excluded.source_updated_at, raw_memory = excluded.raw_memory,
                rollout_summary = excluded.rollout_summary, rollout_slug = excluded.rollout_slug,
                generated_at = excluded.generated_at, cwd = excluded.cwd, rollout_path = excluded.rollout_path,
                git_branch = excluded.git_branch, memory_mode = excluded.memory_mode, edited_at = NULL
            WHERE excluded.source_updated_at >= source_updated_at OR source_updated_at > generated_at + ?
            """,
            (
                storable(output.thread_id),
                storable_number(output.source_updated_at),
                storable(output.raw_memory),
                storable(output.rollout_summary),
                None if output.rollout_slug is None else storable(output.rollout_slug),
                output.generated_at,
                storable(output.cwd),
                storable(output.rollout_path),
                None if output.git_branch is None else storable(output.git_branch),
                output.memory_mode,
                FUTURE_SOURCE_SECONDS,
            ),
        )


def _refusal(outcome: ClaimOutcome, look: _Look) -> ClaimResult:
    state = look.state
    if state is None:
        return ClaimResult(outcome)
    if outcome is ClaimOutcome.RUNNING:
        return ClaimResult(outcome, held_by=look.worker or "", until=state.lease_until)
    if outcome is ClaimOutcome.BACKOFF:
        return ClaimResult(outcome, until=state.retry_at)
    return ClaimResult(outcome)


def _held_reason(crashes: int) -> str:
    return f"the program ended {crashes} times while it worked on this; it is held for a person"
