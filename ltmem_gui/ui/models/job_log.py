"""The log of each job: what a run tells, in a ring, and before it what is stored with the attempts.

The ring holds 500 lines of all jobs and at most 200 of one. Every text is redacted on its way in: what is not in the
ring can be neither shown nor copied.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache

from ltmem_gui.domain.events import Event, JobFinished, JobNoted, JobPrepared, JobStarted
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import Attempt, JobOutcome
from ltmem_gui.ui.models import formats

RING_LINES = 500
JOB_LINES = 200
LINE_LENGTH = 600

_FAILED = frozenset({JobOutcome.FAILED, JobOutcome.CRASHED, JobOutcome.LEASE_LOST, JobOutcome.SOURCE_MISSING})
_WARNED = frozenset({JobOutcome.RELEASED, JobOutcome.CHANGED, JobOutcome.SKIPPED})


class Level(IntEnum):
    """How loud a line is."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """Return the level in words."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line; `at` in Unix seconds, `attempt` 0 where none was begun."""

    at: int
    level: Level
    thread_id: str
    text: str
    attempt: int = 0

    def __str__(self) -> str:
        return f"{time.strftime('%H:%M:%S', time.localtime(self.at))}  {self.level.word:<7}  {self.text}"


class JobLog:
    """Keep the newest lines. Lives on the UI thread; `redact` is the choke point for texts."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        # Most lines of a run are alike, and redacting forty of them ten times a second would hold the window.
        self._clean = lru_cache(maxsize=RING_LINES)(lambda text: one_line(redact(text), LINE_LENGTH))
        self._lines: deque[LogLine] = deque()
        self._counts: Counter[str] = Counter()
        self._attempts: dict[str, int] = {}

    def take(self, events: Iterable[Event], now: int) -> frozenset[str]:
        """Write down what a run tells; return the jobs that have new lines."""
        touched: set[str] = set()
        for event in events:
            line = self._line(event, now)
            if line is not None:
                self._add(replace(line, text=self._clean(line.text)))
                touched.add(line.thread_id)
        return frozenset(touched)

    def lines(self, thread_id: str, attempts: Sequence[Attempt] = ()) -> tuple[LogLine, ...]:
        """Return the lines of a job, oldest first: stored attempts, then those of this sitting."""
        live = [line for line in self._lines if line.thread_id == thread_id]
        seen = {line.attempt for line in live}
        stored = [
            replace(line, text=self._clean(line.text))
            for attempt in attempts
            if attempt.number not in seen
            for line in _stored(thread_id, attempt)
        ]
        return (*stored, *live)[-JOB_LINES:]

    def export(self) -> str:
        """Return every line of the ring, each with its job, as text for a report of a fault."""
        return "\n".join(f"{line}  [{line.thread_id}]" for line in self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def _line(self, event: Event, now: int) -> LogLine | None:
        match event:
            case JobStarted(thread_id, attempt):
                self._attempts[thread_id] = attempt
                return LogLine(now, Level.INFO, thread_id, f"attempt {attempt} began, the lease was taken", attempt)
            case JobPrepared(thread_id):
                return self._live(now, Level.INFO, thread_id, prepared_in_words(event))
            case JobNoted(thread_id, level, text):
                return self._live(now, Level[level.upper()], thread_id, text)
            case JobFinished(thread_id):
                return self._live(now, _level_of(event.outcome), thread_id, _finished(event))
            case _:
                return None

    def _live(self, now: int, level: Level, thread_id: str, text: str) -> LogLine:
        return LogLine(now, level, thread_id, text, self._attempts.get(thread_id, 0))

    def _add(self, line: LogLine) -> None:
        self._lines.append(line)
        self._counts[line.thread_id] += 1
        if self._counts[line.thread_id] > JOB_LINES:
            self._drop(next(old for old in self._lines if old.thread_id == line.thread_id))
        elif len(self._lines) > RING_LINES:
            self._drop(self._lines[0])

    def _drop(self, line: LogLine) -> None:
        self._lines.remove(line)
        self._counts[line.thread_id] -= 1
        if not self._counts[line.thread_id]:
            del self._counts[line.thread_id]
            self._attempts.pop(line.thread_id, None)


def prepared_in_words(event: JobPrepared) -> str:
    """Say how large an input was, how much of it is sent, and what was replaced."""
    return ", ".join((*sizes_in_words(event.tokens_before, event.tokens_sent), redacted_in_words(event.redactions)))


def sizes_in_words(before: int, sent: int) -> tuple[str, ...]:
    """Return the size of an input after filtering, and of what fits the budget where that is less."""
    whole = f"{formats.tokens(before)} tokens after filtering"
    return (whole, f"cut to {formats.tokens(sent)}") if sent < before else (whole, "sent whole")


def redacted_in_words(redactions: object) -> str:
    """Return how many secrets were replaced, by kind."""
    counts = dict(redactions) if isinstance(redactions, dict) else {}
    if not counts:
        return "no secret found"
    kinds = ", ".join(f"{one_line(str(kind), 40)} {count}" for kind, count in sorted(counts.items()))
    return f"{formats.plural(sum(counts.values()), 'secret')} replaced ({kinds})"


def _finished(event: JobFinished) -> str:
    parts = [event.outcome]
    if event.tokens_in is not None or event.tokens_out is not None:
        parts.append(f"{formats.tokens(event.tokens_in)} tokens in, {formats.tokens(event.tokens_out)} out")
    return " — ".join([", ".join(parts), *([event.reason] if event.reason else [])])


def _stored(thread_id: str, attempt: Attempt) -> Iterable[LogLine]:
    number = attempt.number
    yield LogLine(attempt.started_at, Level.INFO, thread_id, f"attempt {number} began", number)
    if attempt.ended_at is not None:
        text = _finished(JobFinished(thread_id, attempt.outcome, attempt.error, attempt.tokens_in, attempt.tokens_out))
        yield LogLine(attempt.ended_at, _level_of(attempt.outcome), thread_id, text, number)


def _level_of(outcome: str) -> Level:
    return Level.ERROR if outcome in _FAILED else Level.WARNING if outcome in _WARNED else Level.INFO
