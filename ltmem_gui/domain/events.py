"""What the pipeline tells its surfaces while it works: frozen facts, delivered in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ltmem_gui.domain.agent import AgentStep


@dataclass(frozen=True, slots=True)
class ScanProgressed:
    """`done` files of `total` were read (`total` 0 while still counting)."""

    done: int
    total: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A rollout was claimed and is being extracted."""

    thread_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class JobFinished:
    """An attempt ended; `outcome` is a `JobOutcome` value, `reason` in words where it needs one."""

    thread_id: str
    outcome: str
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class RunProgressed:
    """`done` of `total` jobs of the plan ended."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class StepReached:
    """A named step of a longer effect (staging, diffing, consolidating, applying, …) began."""

    step: str
    detail: str = ""


Event = ScanProgressed | JobStarted | JobFinished | RunProgressed | StepReached | AgentStep
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Take an event and do nothing."""
    del event
