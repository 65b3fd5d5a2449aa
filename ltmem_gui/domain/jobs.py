"""Jobs of both phases: states, claims and their outcomes (reference §3.4–3.8, §4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

STAGE1_KIND = "memory_stage1"
GLOBAL_KIND = "memory_consolidate_global"
GLOBAL_KEY = "global"


class JobStatus(StrEnum):
    """The stored status of a job."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    ERROR = "error"
    HELD = "held"


class ClaimOutcome(StrEnum):
    """How a try to claim a job ended."""

    CLAIMED = "claimed"
    UP_TO_DATE = "up to date"
    RUNNING = "running elsewhere"
    BACKOFF = "waiting after a failure"
    EXHAUSTED = "no tries left"
    HELD = "held for a person"
    COOLDOWN = "cooling down after a success"
    AT_CAP = "all slots in use"


class JobOutcome(StrEnum):
    """How one attempt at a job ended."""

    SUCCEEDED = "succeeded"
    NO_OUTPUT = "nothing to remember"
    FAILED = "failed"
    CHANGED = "changed since planning"
    SOURCE_MISSING = "source missing"
    RELEASED = "released"
    CRASHED = "crashed"
    LEASE_LOST = "lease lost"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lease: enough to tell on this host whether the holder still lives."""

    host: str
    pid: int
    process_started: int
    worker: str

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}:{self.process_started}:{self.worker}"

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Read the stored form; unreadable text gives an owner on no host."""
        found = _OWNER.fullmatch(text)
        if found is None:
            return cls("", 0, 0, text)
        return cls(found["host"], int(found["pid"]), int(found["started"]), found["worker"])


_OWNER = re.compile(r"(?P<host>[^:]*):(?P<pid>[0-9]{1,18}):(?P<started>[0-9]{1,18}):(?P<worker>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease that was won: `token` is the only proof of ownership; times in Unix seconds."""

    job_key: str
    token: str
    owner: Owner
    source_updated_at: int
    attempt: int
    lease_until: int


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The outcome of a claim; `claim` only when it was won, `held_by`/`until` where they explain a refusal."""

    outcome: ClaimOutcome
    claim: Claim | None = None
    held_by: str = ""
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a job, kept as history and never overwritten.

    `cost` is what its answers cost in `currency`, None where the price or the tokens are not known; `provider` and
    `model` say who was asked. `tokens_cached` is a part of `tokens_in`, `tokens_reasoning` of `tokens_out`.
    """

    number: int
    owner: str
    started_at: int
    ended_at: int | None
    outcome: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    error_group: str = ""
    error: str = ""
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    provider: str = ""
    model: str = ""
    cost: Decimal | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as the queue shows it."""

    kind: str
    job_key: str
    status: JobStatus
    owner: str = ""
    lease_until: int | None = None
    retry_at: int | None = None
    retry_remaining: int = 0
    started_at: int | None = None
    finished_at: int | None = None
    last_outcome: str = ""
    last_error: str = ""
    error_group: str = ""
    input_watermark: int = 0
    last_success_watermark: int = 0
    crash_count: int = 0
    attempts: tuple[Attempt, ...] = ()
    agent: str = ""
    cwd: str = ""
    rollout_path: str = ""
    title: str = ""
    git_branch: str | None = None
