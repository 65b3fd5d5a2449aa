"""Figures of the queue: failures by cause, how long jobs took and waited, files that are no rollouts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import JobOutcome
from ltmem_gui.domain.rollouts import SkippedFile
from ltmem_gui.pipeline.explain import cause_in_words
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_facts import remedy_of
from ltmem_gui.ui.models.job_rows import PHASE_ONE, PHASE_TWO, JobRow
from ltmem_gui.ui.models.job_state import StateKind

# Below this a percentile says nothing.
LEAST = 5
MAX_FILES = 100
_ENDED = frozenset({JobOutcome.SUCCEEDED.value, JobOutcome.NO_OUTPUT.value, "succeeded"})


@dataclass(frozen=True, slots=True)
class Times:
    """How long something took, in seconds: the median and the longest but 5 %; None below five of them."""

    name: str
    count: int
    median: float | None = None
    slow: float | None = None

    def __str__(self) -> str:
        if self.median is None or self.slow is None:
            return f"{self.name}: {self.count} ended, too few to tell" if self.count else f"{self.name}: none ended yet"
        most = f"95 % within {formats.span(self.slow)}"
        return f"{self.name}: half within {formats.span(self.median)}, {most} ({formats.count(self.count)} ended)"


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one cause; `first` and `last` in Unix seconds."""

    group: str
    words: str
    keys: tuple[str, ...]
    sample: str
    remedy: str
    first: int | None
    last: int | None

    @property
    def when(self) -> str:
        """Return when the first and the last of them was."""
        if self.first is None or self.last is None:
            return ""
        if self.first == self.last:
            return formats.absolute(self.last)
        return f"first {formats.absolute(self.first)}, last {formats.absolute(self.last)}"


@dataclass(frozen=True, slots=True)
class Figures:
    """All of them."""

    groups: tuple[FailureGroup, ...]
    times: tuple[Times, ...]
    files: tuple[SkippedFile, ...]


def figures_of(rows: Sequence[JobRow], files: Sequence[SkippedFile] = ()) -> Figures:
    """Work out the figures of the rows, shown or not."""
    return Figures(failures(rows), times(rows), tuple(files))


def failures(rows: Iterable[JobRow]) -> tuple[FailureGroup, ...]:
    """Group what failed by its cause, the largest group first; a row that is good by now is in none."""
    by_group: dict[str, list[JobRow]] = {}
    for row in rows:
        if row.state.kind is StateKind.BAD:
            by_group.setdefault(row.error_group, []).append(row)
    groups = [_group(group, members) for group, members in by_group.items()]
    return tuple(sorted(groups, key=lambda group: (-len(group.keys), group.words)))


def times(rows: Iterable[JobRow]) -> tuple[Times, ...]:
    """Return how long attempts that ended well took, per phase, and how long rollouts waited for one."""
    took: dict[int, list[float]] = {PHASE_ONE: [], PHASE_TWO: []}
    waited: list[float] = []
    for row in rows:
        if row.job is None:
            continue
        for attempt in row.job.attempts:
            if attempt.ended_at is not None and attempt.outcome in _ENDED:
                took[row.phase].append(max(0, attempt.ended_at - attempt.started_at))
        if row.phase == PHASE_ONE and row.job.started_at is not None and row.job.input_watermark:
            waited.append(max(0, row.job.started_at - row.job.input_watermark))
    return (
        _times("An extraction took", took[PHASE_ONE]),
        _times("A rollout waited", waited),
        _times("A consolidation took", took[PHASE_TWO]),
    )


def _times(name: str, seconds: list[float]) -> Times:
    if len(seconds) < LEAST:
        return Times(name, len(seconds))
    ordered = sorted(seconds)
    return Times(name, len(ordered), _at(ordered, 50), _at(ordered, 95))


def _at(ordered: Sequence[float], percent: int) -> float:
    """Return the value below which `percent` of all lie (nearest rank)."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _group(group: str, rows: Sequence[JobRow]) -> FailureGroup:
    ends = [row.job.finished_at for row in rows if row.job is not None and row.job.finished_at is not None]
    return FailureGroup(
        group=group,
        words=cause_in_words(group),
        keys=tuple(row.thread_id for row in rows),
        sample=one_line(rows[-1].state.reason, 200),
        remedy=remedy_of(rows[0]),
        first=min(ends, default=None),
        last=max(ends, default=None),
    )
