"""What the leases of both phases have in common: job states, attempts, dead holders, and calling for Phase 2."""

from __future__ import annotations

from typing import Any, Final

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, Claim, JobOutcome, JobStatus, Owner
from ltmem_gui.domain.leases import JobState, StageTwo
from ltmem_gui.domain.prices import Bill, plain
from ltmem_gui.store.database import Database, storable, storable_number
from ltmem_gui.store.liveness import IsAlive

STATE_COLUMNS: Final = (
    "j.status, j.lease_until, j.retry_at, j.started_at, j.finished_at, j.retry_remaining, j.last_error,"
    " j.input_watermark, j.last_success_watermark"
)


def job_state(row: tuple[Any, ...]) -> JobState | None:
    """Read `STATE_COLUMNS`; None for a job that does not exist."""
    if row[0] is None:
        return None
    status, lease_until, retry_at, started_at, finished_at, retry_remaining, last_error, watermark, success = row
    return JobState(
        status=JobStatus(status),
        lease_until=lease_until,
        retry_at=retry_at,
        started_at=started_at,
        finished_at=finished_at,
        retry_remaining=retry_remaining,
        failed=last_error is not None,
        input_watermark=watermark or 0,
        last_success_watermark=success,
    )


def open_attempt(db: Database, kind: str, claim: Claim, now: int) -> None:
    """Begin the history line of a claim."""
    db.change(
        "INSERT INTO attempts (kind, job_key, number, owner, started_at) VALUES (?, ?, ?, ?, ?)",
        (kind, claim.job_key, claim.attempt, str(claim.owner), now),
    )


def close_attempt(
    db: Database,
    kind: str,
    claim: Claim,
    outcome: str,
    now: int,
    *,
    bill: Bill | None = None,
    group: str = "",
    error: str = "",
) -> None:
    """End the history line of a claim, with what its answers took; one that was ended already stays as it is."""
    db.change(
        "UPDATE attempts SET ended_at = ?, outcome = ?, error_group = ?, error = ?, tokens_in = ?, tokens_out = ?,"
        " tokens_cached = ?, tokens_reasoning = ?, provider = ?, model = ?, cost = ?, currency = ?"
        " WHERE kind = ? AND job_key = ? AND number = ? AND ended_at IS NULL",
        (now, outcome, group, storable(error), *_of_bill(bill), kind, claim.job_key, claim.attempt),
    )


def _of_bill(bill: Bill | None) -> tuple[int | str | None, ...]:
    if bill is None:
        return (None, None, None, None, "", "", None, "")
    usage = bill.usage
    counts = (usage.input, usage.output, usage.cached, usage.reasoning)
    return (
        *(None if count is None else storable_number(count) for count in counts),
        storable(bill.provider),
        storable(bill.model),
        None if bill.money is None else plain(bill.money.amount),
        "" if bill.money is None else bill.money.currency,
    )


def close_lost_attempt(db: Database, kind: str, job_key: str, number: int, outcome: JobOutcome, now: int) -> None:
    """End the history line of a holder that did not end it itself."""
    db.change(
        "UPDATE attempts SET ended_at = ?, outcome = ?"
        " WHERE kind = ? AND job_key = ? AND number = ? AND ended_at IS NULL",
        (now, outcome.value, kind, job_key, number),
    )


def lost_outcome(alive: IsAlive, worker: str | None) -> JobOutcome:
    """Tell how the attempt of an expired lease ended: a living holder only lost it, any other crashed."""
    return JobOutcome.LEASE_LOST if alive(Owner.parse(worker or "")) else JobOutcome.CRASHED


def dead_holders(db: Database, alive: IsAlive, kind: str) -> tuple[str, ...]:
    """Return the holders of running jobs that died on this host; asked outside any transaction."""
    found = db.sql("SELECT DISTINCT worker_id FROM jobs WHERE kind = ? AND status = 'running'", (kind,))
    return tuple(worker for (worker,) in found if worker is not None and alive(Owner.parse(worker)) is False)


def enqueue_global(db: Database, watermark: int) -> None:
    """Call for consolidation (reference §4.1): the input watermark always rises, by one at least.

    A failure's back-off ends, a running job stays running.
    """
    db.change(
        """
        INSERT INTO jobs (kind, job_key, status, retry_remaining, input_watermark, last_success_watermark)
        VALUES (?, ?, 'pending', ?, ?, 0)
        ON CONFLICT (kind, job_key) DO UPDATE SET
            status = CASE WHEN status = 'running' THEN 'running' ELSE 'pending' END,
            retry_at = CASE WHEN status = 'running' THEN retry_at ELSE NULL END,
            retry_remaining = MAX(retry_remaining, excluded.retry_remaining),
            input_watermark = CASE WHEN excluded.input_watermark > COALESCE(input_watermark, 0)
                THEN excluded.input_watermark ELSE COALESCE(input_watermark, 0) + 1 END
        """,
        (GLOBAL_KIND, GLOBAL_KEY, StageTwo.RETRIES, storable_number(watermark)),
    )
