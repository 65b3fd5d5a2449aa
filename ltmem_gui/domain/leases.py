"""Times and counts of leases; one pair of constants per stage, as in the mission's list."""

from __future__ import annotations

from typing import Final


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
