"""The one global job of Phase 2: lease, heartbeat, cooldown, and its end in one transaction (reference §4.1)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.errors import LeaseLost
from ltmem_gui.domain.jobs import (
    GLOBAL_KEY,
    GLOBAL_KIND,
    Claim,
    ClaimOutcome,
    ClaimResult,
    JobOutcome,
    JobStatus,
    Owner,
)
from ltmem_gui.domain.leases import JobState, StageTwo, decide_global
from ltmem_gui.domain.plan import SelectedRow
from ltmem_gui.domain.prices import Bill
from ltmem_gui.domain.watermark import advance
from ltmem_gui.store.database import storable
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
from ltmem_gui.store.operations import append_receipt
from ltmem_gui.store.part import StorePart

_KIND = GLOBAL_KIND
_OWNED = f"kind = '{GLOBAL_KIND}' AND job_key = '{GLOBAL_KEY}' AND status = 'running' AND ownership_token = ?"


@dataclass(frozen=True, slots=True)
class _Look:
    state: JobState | None
    worker: str | None
    attempt: int


class GlobalJob(StorePart):
    """Claim, renew and end the consolidation of a data folder; never two holders at once."""

    def enqueue_global(self, watermark: int) -> None:
        """Call for consolidation; the claimed watermark rises to `watermark`, or by one when it is not larger."""
        with self._db.transaction():
            enqueue_global(self._db, watermark)

    def claim_global(self, owner: Owner, *, now: int, ignore_cooldown: bool) -> ClaimResult:
        """Try to win the global lease; `source_updated_at` of the claim is the claimed watermark.

        `ignore_cooldown` (a person's run) passes the cooldown and nothing else. A holder that died on this host gives
        way at once.
        """
        result = self._try_claim_global(owner, now, ignore_cooldown)
        if result.outcome is ClaimOutcome.RUNNING and self.reap_global(now):
            return self._try_claim_global(owner, now, ignore_cooldown)
        return result

    def reap_global(self, now: int) -> int:
        """Free the global job when its holder died on this host; returns 1 when it did."""
        dead = dead_holders(self._db, self._alive, _KIND)
        if not dead:
            return 0
        with self._db.transaction():
            look = self._look_global()
            if look.state is None or look.state.status is not JobStatus.RUNNING or look.worker not in dead:
                return 0
            close_lost_attempt(self._db, _KIND, GLOBAL_KEY, look.attempt, JobOutcome.CRASHED, now)
            self._db.change(
                "UPDATE jobs SET status = 'pending', lease_until = NULL, ownership_token = NULL,"
                " crash_count = crash_count + 1, last_outcome = ? WHERE kind = ? AND job_key = ?",
                (JobOutcome.CRASHED.value, _KIND, GLOBAL_KEY),
            )
        return 1

    def heartbeat_global(self, claim: Claim, now: int) -> bool:
        """Renew the lease; False when another run took it over."""
        lease_until = now + StageTwo.JOB_LEASE_SECONDS
        return self._db.change(f"UPDATE jobs SET lease_until = ? WHERE {_OWNED}", (lease_until, claim.token)) == 1

    def owns_global(self, claim: Claim) -> bool:
        """Tell whether the token is still the owner's; the clock does not matter (reference §10.3)."""
        return bool(self._db.sql(f"SELECT 1 FROM jobs WHERE {_OWNED}", (claim.token,)))

    def finish_global(
        self,
        claim: Claim,
        *,
        watermark: int,
        rows: Sequence[SelectedRow],
        receipt: Receipt,
        now: int,
        bill: Bill | None = None,
    ) -> Receipt:
        """Record success, watermark, selection flags and receipt in one transaction; return the numbered receipt.

        The stored watermark never falls. A row that was refreshed since it was selected is not flagged. The receipt
        comes back with both watermarks as they were stored. Raises `LeaseLost` for a lost token.
        """
        with self._db.durable_transaction():
            before = self.watermark()
            after = advance(
                stored=before,
                claimed=max(watermark, claim.source_updated_at),
                source_updated_at=(row.source_updated_at for row in rows),
            )
            self._guard_global(
                "status = 'done', lease_until = NULL, ownership_token = NULL, finished_at = ?, retry_at = NULL,"
                " last_error = NULL, error_group = '', last_outcome = ?, crash_count = 0, last_success_watermark = ?",
                (now, JobOutcome.SUCCEEDED.value, after),
                claim,
            )
            self._flag(rows)
            close_attempt(self._db, _KIND, claim, JobOutcome.SUCCEEDED.value, now, bill=bill)
            marks = {"watermark_before": before, "watermark_after": after}
            return append_receipt(self._db, receipt.model_copy(update=marks))

    def fail_global(self, claim: Claim, *, reason: str, now: int, bill: Bill | None = None) -> None:
        """Record a failure: the next try after the delay. A running job whose token is gone takes it too.

        `bill` is what an agent's answers took all the same.
        Raises `LeaseLost` when another run holds the lease.
        """
        with self._db.transaction():
            changed = self._db.change(
                "UPDATE jobs SET status = 'error', lease_until = NULL, ownership_token = NULL, finished_at = ?,"
                " retry_at = ?, retry_remaining = MAX(retry_remaining - 1, 0), last_error = ?, last_outcome = ?"
                f" WHERE kind = '{_KIND}' AND job_key = '{GLOBAL_KEY}' AND status = 'running'"
                " AND (ownership_token = ? OR ownership_token IS NULL)",
                (
                    now,
                    now + StageTwo.JOB_RETRY_DELAY_SECONDS,
                    storable(reason),
                    JobOutcome.FAILED.value,
                    claim.token,
                ),
            )
            if changed != 1:
                raise _lost()
            close_attempt(self._db, _KIND, claim, JobOutcome.FAILED.value, now, bill=bill, error=reason)

    def release_global(self, claim: Claim, *, now: int, bill: Bill | None = None) -> None:
        """Give the lease back without success or failure; a lost one is left alone."""
        with self._db.transaction():
            changed = self._db.change(
                "UPDATE jobs SET status = 'pending', lease_until = NULL, ownership_token = NULL, last_outcome = ?"
                f" WHERE {_OWNED}",
                (JobOutcome.RELEASED.value, claim.token),
            )
            if changed:
                close_attempt(self._db, _KIND, claim, JobOutcome.RELEASED.value, now, bill=bill)

    def watermark(self) -> int:
        """Return the last success watermark, 0 before the first."""
        found = self._db.sql(
            "SELECT COALESCE(last_success_watermark, 0) FROM jobs WHERE kind = ? AND job_key = ?", (_KIND, GLOBAL_KEY)
        )
        return int(found[0][0]) if found else 0

    # --- inside a transaction ---

    def _try_claim_global(self, owner: Owner, now: int, ignore_cooldown: bool) -> ClaimResult:
        with self._db.transaction():
            look = self._look_global()
            state = look.state
            outcome = decide_global(state, now=now, ignore_cooldown=ignore_cooldown)
            if outcome is not ClaimOutcome.CLAIMED:
                return _refusal(outcome, look)
            if state is not None and state.status is JobStatus.RUNNING:
                lost = lost_outcome(self._alive, look.worker)
                close_lost_attempt(self._db, _KIND, GLOBAL_KEY, look.attempt, lost, now)
            claim = Claim(
                job_key=GLOBAL_KEY,
                token=str(uuid.uuid4()),
                owner=owner,
                source_updated_at=0 if state is None else state.input_watermark,
                attempt=look.attempt + 1,
                lease_until=now + StageTwo.JOB_LEASE_SECONDS,
            )
            self._take_global(claim, now)
            open_attempt(self._db, _KIND, claim, now)
            return ClaimResult(ClaimOutcome.CLAIMED, claim)

    def _look_global(self) -> _Look:
        found = self._db.sql(
            f"SELECT {STATE_COLUMNS}, j.worker_id, j.attempt FROM jobs j WHERE j.kind = ? AND j.job_key = ?",
            (_KIND, GLOBAL_KEY),
        )
        if not found:
            return _Look(None, None, 0)
        *_, worker, attempt = found[0]
        return _Look(job_state(found[0][:9]), worker, attempt)

    def _take_global(self, claim: Claim, now: int) -> None:
        self._db.sql(
            """
            INSERT INTO jobs (kind, job_key, status, worker_id, ownership_token, started_at, lease_until,
                retry_remaining, input_watermark, last_success_watermark, attempt)
            VALUES (?, ?, 'running', ?, ?, ?, ?, ?, 0, 0, ?)
            ON CONFLICT (kind, job_key) DO UPDATE SET
                status = 'running', worker_id = excluded.worker_id, ownership_token = excluded.ownership_token,
                started_at = excluded.started_at, finished_at = NULL, lease_until = excluded.lease_until,
                retry_at = NULL, last_error = NULL, error_group = '', attempt = excluded.attempt
            RETURNING attempt
            """,
            (
                _KIND,
                GLOBAL_KEY,
                str(claim.owner),
                claim.token,
                now,
                claim.lease_until,
                StageTwo.RETRIES,
                claim.attempt,
            ),
        )

    def _guard_global(self, assignments: str, values: Sequence[object], claim: Claim) -> None:
        if self._db.change(f"UPDATE jobs SET {assignments} WHERE {_OWNED}", (*values, claim.token)) != 1:
            raise _lost()

    def _flag(self, rows: Sequence[SelectedRow]) -> None:
        self._db.change(
            "UPDATE stage1_outputs SET selected_for_phase2 = 0, selected_for_phase2_source_updated_at = NULL"
            " WHERE selected_for_phase2 <> 0 OR selected_for_phase2_source_updated_at IS NOT NULL"
        )
        for row in rows:
            self._db.change(
                "UPDATE stage1_outputs SET selected_for_phase2 = 1, selected_for_phase2_source_updated_at = ?"
                " WHERE thread_id = ? AND source_updated_at = ?",
                (row.source_updated_at, row.thread_id, row.source_updated_at),
            )


def _refusal(outcome: ClaimOutcome, look: _Look) -> ClaimResult:
    state = look.state
    assert state is not None, "a missing job is always claimed"
    if outcome is ClaimOutcome.RUNNING:
        return ClaimResult(outcome, held_by=look.worker or "", until=state.lease_until)
    if outcome is ClaimOutcome.BACKOFF:
        return ClaimResult(outcome, until=state.retry_at)
    return ClaimResult(outcome, until=(state.finished_at or 0) + StageTwo.COOLDOWN_SECONDS)


def _lost() -> LeaseLost:
    return LeaseLost(
        "another run took the global lock over; this result is refused", "look at its receipt, then plan again"
    )
