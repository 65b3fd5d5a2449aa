"""What a person wants of a consolidation, and how an agent's run ended: values of the window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.units import WHOLE
from ltmem_gui.domain.jobs import GLOBAL_KIND, JobRecord
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.review import Review

NO_REMARKS = "the built-in rules take no remarks; choose a model first"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a consolidation is to mind: threads left out; for a new run of an agent, a remark and refused changes."""

    exclude: frozenset[str] = frozenset()
    note: str = ""
    refused: tuple[RefusedHunk, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How a run of the agent ended; `retry_at` (Unix seconds) where a failure makes the next one wait."""

    outcome: Literal["proposed", "unchanged", "cancelled", "failed"]
    reason: str = ""
    retry_at: int | None = None


def waits_until(jobs: Iterable[JobRecord]) -> int | None:
    """Return when the consolidation may run again after a failure, None when it does not wait."""
    return next((job.retry_at for job in jobs if job.kind == GLOBAL_KIND), None)


def no_regenerate(plan: Plan | None, choice: ModelChoice) -> str:
    """Return why a plan cannot be made again with a remark, empty where it can."""
    if plan is None:
        return "there is no proposal"
    if plan.operation != "consolidate":
        return "it is no proposal of a consolidation"
    return NO_REMARKS if choice.consolidate == BUILTIN else ""


def turned_down(review: Review, now: int) -> tuple[RefusedHunk, ...]:
    """Return the changes a person rejected so far, with their notes; parts of a hunk count as what they hold."""
    found: list[RefusedHunk] = []
    for unit in review.units:
        if unit.kind not in ("hunk", "part") or review.mark(unit.key).decision is not Decision.REJECT:
            continue
        for member in unit.members:
            if member.hunk == WHOLE:
                continue
            old, new = review.lines_of(member)
            found.append(RefusedHunk(member.path, old, new, now, review.notes.get(unit.key, "")))
    return tuple(found)
