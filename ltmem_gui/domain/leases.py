"""Times and counts of leases, and the pure rules of claiming (reference §3.4, §4.1).

All times are Unix seconds. Each rule is given `now`; none trusts a stored time that lies in the future, so that a
clock that was wrong once blocks nothing afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ltmem_gui.domain.jobs import ClaimOutcome, JobStatus

CLOCK_TOLERANCE_SECONDS: Final = 300
FUTURE_SOURCE_SECONDS: Final = 86_400
MAX_RETRY_AFTER_SECONDS: Final = 7 * 86_400


class StageOne:
    """Constants of Phase 1 (mission, `mod stage_one`). Seconds, counts."""

    JOB_LEASE_SECONDS: Final = 3_600
    JOB_RETRY_DELAY_SECONDS: Final = 3_600
    RETRIES: Final = 3
    PRUNE_BATCH_SIZE: Final = 200
    CRASHES_BEFORE_HOLD: Final = 3
    REASONING_EFFORT: Final = "low"


class StageTwo:
    """Constants of Phase 2 (mission, `mod stage_two`). Seconds."""

    JOB_LEASE_SECONDS: Final = 3_600
    JOB_RETRY_DELAY_SECONDS: Final = 3_600
    JOB_HEARTBEAT_SECONDS: Final = 90
    COOLDOWN_SECONDS: Final = 21_600
    RETRIES: Final = 3
    REASONING_EFFORT: Final = "medium"


@dataclass(frozen=True, slots=True)
class JobState:
    """What the claim rules look at of one stored job."""

    status: JobStatus
    lease_until: int | None = None
    retry_at: int | None = None
    started_at: int | None = None
    finished_at: int | None = None
    retry_remaining: int = 0
    failed: bool = False
    input_watermark: int = 0
    last_success_watermark: int | None = None


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A source time that was recorded, and when: `seen_at` tells whether it lay in the future even then."""

    source_updated_at: int
    seen_at: int


def lease_is_live(lease_until: int | None, now: int, lease_seconds: int) -> bool:
    """Tell whether a lease holds: not over, and not longer than any lease a right clock could have given."""
    return lease_until is not None and now < lease_until <= now + lease_seconds + CLOCK_TOLERANCE_SECONDS


def lease_horizon(now: int, lease_seconds: int) -> int:
    """Return the latest end a live lease can have at `now`."""
    return now + lease_seconds + CLOCK_TOLERANCE_SECONDS


def backing_off(retry_at: int | None, failed_at: int | None, now: int) -> bool:
    """Tell whether a failure still delays the next try; a failure dated in the future delays nothing."""
    if retry_at is None or retry_at <= now:
        return False
    return failed_at is None or failed_at <= now + CLOCK_TOLERANCE_SECONDS


def cooling_down(state: JobState, now: int) -> bool:
    """Tell whether the last success is less than 6 hours old (reference §4.1)."""
    if state.failed or state.finished_at is None:
        return False
    return now - StageTwo.COOLDOWN_SECONDS < state.finished_at <= now + CLOCK_TOLERANCE_SECONDS


def is_newer(source_updated_at: int, stored: StoredSource) -> bool:
    """Tell whether a source is newer than the one stored.

    A stored time that lay more than a day ahead of the clock when it was recorded is not trusted: anything but
    the very same time is newer, else one wrong date would keep a thread from ever being read again.
    """
    if source_updated_at > stored.source_updated_at:
        return True
    ahead = stored.source_updated_at > stored.seen_at + FUTURE_SOURCE_SECONDS
    return ahead and source_updated_at != stored.source_updated_at


def retry_time(now: int, retry_after: int | None, delay: int = StageOne.JOB_RETRY_DELAY_SECONDS) -> int:
    """Return when to try again: after the delay, or later where a server asked for it (a week at most)."""
    return now + max(delay, min(retry_after or 0, MAX_RETRY_AFTER_SECONDS))


def is_up_to_date(state: JobState | None, output: StoredSource | None, source_updated_at: int) -> bool:
    """Tell whether this source was extracted before (reference §3.4, step 1)."""
    if output is not None and not is_newer(source_updated_at, output):
        return True
    if state is None or state.last_success_watermark is None:
        return False
    seen_at = state.finished_at if state.finished_at is not None else state.last_success_watermark
    return not is_newer(source_updated_at, StoredSource(state.last_success_watermark, seen_at))


def decide_stage1(
    state: JobState | None, output: StoredSource | None, source_updated_at: int, *, now: int, others: int, cap: int
) -> ClaimOutcome:
    """Decide a claim of one thread (reference §3.4); `others` counts the live leases of other threads."""
    if is_up_to_date(state, output, source_updated_at):
        return ClaimOutcome.UP_TO_DATE
    if state is not None:
        refusal = _refuse_stage1(state, source_updated_at, now)
        if refusal is not None:
            return refusal
    return ClaimOutcome.AT_CAP if others >= cap else ClaimOutcome.CLAIMED


def advances(state: JobState, source_updated_at: int) -> bool:
    """Tell whether a claim brings a newer source than the last claim did; it resets the tries."""
    seen_at = next((at for at in (state.started_at, state.finished_at) if at is not None), state.input_watermark)
    return is_newer(source_updated_at, StoredSource(state.input_watermark, seen_at))


def decide_global(state: JobState | None, *, now: int, ignore_cooldown: bool) -> ClaimOutcome:
    """Decide a claim of the one global job (reference §4.1): back-off, running, cooldown, in this order.

    `ignore_cooldown` (a person's run) passes the cooldown and nothing else.
    """
    if state is None:
        return ClaimOutcome.CLAIMED
    if backing_off(state.retry_at, state.finished_at, now):
        return ClaimOutcome.BACKOFF
    if state.status is JobStatus.RUNNING and lease_is_live(state.lease_until, now, StageTwo.JOB_LEASE_SECONDS):
        return ClaimOutcome.RUNNING
    if not ignore_cooldown and cooling_down(state, now):
        return ClaimOutcome.COOLDOWN
    return ClaimOutcome.CLAIMED


def _refuse_stage1(state: JobState, source_updated_at: int, now: int) -> ClaimOutcome | None:
    if state.status is JobStatus.HELD:
        return ClaimOutcome.HELD
    newer = advances(state, source_updated_at)
    if state.retry_remaining <= 0 and not newer:
        return ClaimOutcome.EXHAUSTED
    if backing_off(state.retry_at, state.finished_at, now) and not newer:
        return ClaimOutcome.BACKOFF
    if state.status is JobStatus.RUNNING and lease_is_live(state.lease_until, now, StageOne.JOB_LEASE_SECONDS):
        return ClaimOutcome.RUNNING
    return None
