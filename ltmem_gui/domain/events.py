"""What the pipeline tells its surfaces while it works: frozen facts, delivered in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.prices import Money


@dataclass(frozen=True, slots=True)
class ScanProgressed:
    """`done` files of `total` were read (`total` 0 while still counting)."""

    done: int
    total: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A rollout was claimed and is being extracted, under a lease of `owner` until `lease_until` (Unix seconds)."""

    thread_id: str
    attempt: int
    owner: str = ""
    lease_until: int | None = None


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """The lease of a running job holds until `lease_until` now (Unix seconds)."""

    thread_id: str
    lease_until: int


@dataclass(frozen=True, slots=True)
class JobFinished:
    """An attempt ended; `outcome` is a `JobOutcome` value, `reason` in words where it needs one."""

    thread_id: str
    outcome: str
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class JobPrepared:
    """A rollout was read, filtered, redacted and budgeted: tokens before and after, and secrets replaced by kind."""

    thread_id: str
    tokens_before: int
    tokens_sent: int
    truncated: bool
    redactions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JobNoted:
    """One line of a job's log; `text` holds counts and names of the program's own, never text of a rollout."""

    thread_id: str
    level: Literal["debug", "info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class RunProgressed:
    """`done` of `total` jobs of the plan ended."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RunSpent:
    """What the run took so far: tokens as reported, money where a price is entered, and its limit where one is set.

    `unknown` counts attempts whose cost nobody reported.
    """

    tokens: int
    money: Money | None = None
    limit: Money | None = None
    unknown: int = 0

    def __str__(self) -> str:
        said = f"{self.tokens:,} tokens"
        if self.money is not None:
            said = f"{self.money} spent{f' of {self.limit}' if self.limit else ''}, {said}"
        return f"{said}; the cost of {self.unknown} is not known" if self.unknown and self.money is not None else said


@dataclass(frozen=True, slots=True)
class StepReached:
    """A named step of a longer effect (staging, diffing, consolidating, applying, …) began."""

    step: str
    detail: str = ""


Event = (
    ScanProgressed
    | JobStarted
    | LeaseRenewed
    | JobPrepared
    | JobNoted
    | JobFinished
    | RunProgressed
    | RunSpent
    | StepReached
    | AgentStep
)
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Take an event and do nothing."""
    del event
