"""The rows of a diff as a person sees them, for any view: folded, paired, with a number and a unit each.

A `Document` is built from runs, never from single rows, so that 80,000 lines cost as much as their changes. Rows are
made when they are asked for.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, islice
from operator import itemgetter
from typing import NamedTuple

from ltmem_gui.domain.diffing.sections import Heading, Headings

REVEAL = 20


class RowKind(StrEnum):
    """What a row is."""

    HEADER = "change"
    CONTEXT = "unchanged"
    REMOVED = "removed"
    ADDED = "added"
    FOLD = "folded"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `text` has no line end; `end` is that end, empty for a last line without one.

    `old` and `new` count lines from 1. `unit` is the key of what the row belongs to. `hidden` counts the lines of a
    fold, `gap` names it; a fold that belongs to a change says in `text` what it hides. `alike` marks lines that differ
    in white space the view leaves out.
    """

    kind: RowKind
    text: str = ""
    end: str = "\n"
    old: int | None = None
    new: int | None = None
    unit: str | None = None
    hidden: int = 0
    gap: int = -1
    alike: bool = False

    @property
    def line(self) -> str:
        """Return the bytes of the line, end included."""
        return self.text + self.end


class Run(NamedTuple):
    """Rows of one kind that follow each other; `source[offset]` is the text of the first, numbers count from 0."""

    kind: RowKind
    size: int
    source: Sequence[str] = ()
    offset: int = 0
    old: int = -1
    new: int = -1
    unit: str | None = None
    hidden: int = 0
    gap: int = -1
    alike: bool = False

    def row(self, index: int) -> Row:
        """Return the row at `index` of the run."""
        text, end = self.source[self.offset + index] if self.source else "", ""
        if text.endswith("\n"):
            text, end = (text[:-2], "\r\n") if text.endswith("\r\n") else (text[:-1], "\n")
        return Row(
            self.kind,
            text,
            end,
            self.old + index + 1 if self.old >= 0 else None,
            self.new + index + 1 if self.new >= 0 else None,
            self.unit,
            self.hidden,
            self.gap,
            self.alike,
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the side-by-side view; headers, folds and notes stand alone in `left` and span both sides."""

    left: Row | None
    right: Row | None


class Document:
    """The rows of one file in one state of folding. Immutable; a new one is built when a fold opens."""

    def __init__(self, runs: Sequence[Run], titles: Callable[[], Headings] = Headings) -> None:
        self.runs = tuple([run for run in runs if run.size])
        self._titles = titles
        self._starts = list(accumulate([run.size for run in self.runs], initial=0))
        self.count = self._starts.pop()
        self._pairs: _Pairs | None = None

    def row(self, index: int) -> Row:
        """Return one row of the unified view. Raises `IndexError` outside of it."""
        at, inside = self.locate(index)
        return self.runs[at].row(inside)

    def rows(self, start: int, stop: int) -> list[Row]:
        """Return the rows from `start` up to `stop`, cut at the ends."""
        start, stop = max(0, start), min(self.count, stop)
        found: list[Row] = []
        at = bisect_right(self._starts, start) - 1
        while start < stop:
            run, first = self.runs[at], self._starts[at]
            end = min(stop, first + run.size)
            found.extend(run.row(i - first) for i in range(start, end))
            start, at = end, at + 1
        return found

    def locate(self, index: int) -> tuple[int, int]:
        """Return the run that holds a row, and the place of the row in it. Raises `IndexError` outside."""
        if not 0 <= index < self.count:
            raise IndexError(index)
        at = bisect_right(self._starts, index) - 1
        return at, index - self._starts[at]

    def start_of(self, run: int) -> int:
        """Return the first row of a run."""
        return self._starts[run]

    @cached_property
    def headers(self) -> tuple[int, ...]:
        """Return the rows at which changes begin."""
        runs = zip(self._starts, self.runs, strict=True)
        return tuple(start for start, run in runs if run.kind is RowKind.HEADER)

    @cached_property
    def _headings(self) -> Headings:
        return self._titles()

    @cached_property
    def _first_rows(self) -> dict[str, int]:
        runs = zip(reversed(self._starts), reversed(self.runs), strict=True)
        return {run.unit: start for start, run in runs if run.unit is not None}

    def counts_at(self, header: int) -> tuple[int, int]:
        """Return how many rows the change that begins at a row adds and removes."""
        added = removed = 0
        at = bisect_right(self._starts, header) - 1
        unit = self.runs[at].unit
        for run in islice(self.runs, at + 1, None):
            if run.unit != unit or run.kind is RowKind.HEADER:
                break
            added += run.size if run.kind is RowKind.ADDED else 0
            removed += run.size if run.kind is RowKind.REMOVED else 0
            if run.kind is RowKind.FOLD:
                added += run.hidden if run.new >= 0 else 0
                removed += run.hidden if run.old >= 0 else 0
        return added, removed

    def header_of(self, unit: str) -> int | None:
        """Return the first row of a unit."""
        return self._first_rows.get(unit)

    def place_of(self, line: int, *, old: bool = False) -> int | None:
        """Return the row of a line (from 0) of the new or the old text; None when it is folded away."""
        found = (self._old_lines if old else self._new_lines).find(line)
        return None if found is None or self.runs[found[0]].kind is RowKind.FOLD else self._starts[found[0]] + found[1]

    def fold_of(self, line: int, *, old: bool = False) -> int | None:
        """Return the gap that hides a line (from 0)."""
        row = self.fold_row_of(line, old=old)
        return None if row is None else self.row(row).gap

    def fold_row_of(self, line: int, *, old: bool = False) -> int | None:
        """Return the row of the fold that hides a line (from 0)."""
        found = (self._old_lines if old else self._new_lines).find(line)
        return self._starts[found[0]] if found is not None and self.runs[found[0]].kind is RowKind.FOLD else None

    @cached_property
    def _old_lines(self) -> _Lines:
        return _Lines([(run.old, run) for run in self.runs])

    @cached_property
    def _new_lines(self) -> _Lines:
        return _Lines([(run.new, run) for run in self.runs])

    def heading(self, row: Row) -> Heading | None:
        """Return the Markdown heading a row stands under, in the new text."""
        return self._headings.at(row.new - 1) if row.new is not None else None

    def row_of_pair(self, index: int) -> int:
        """Return the unified row that a row of the side-by-side view begins with."""
        return self._paired().unified(index)

    def pair_of_row(self, index: int) -> int:
        """Return the row of the side-by-side view that shows a unified row."""
        return self._paired().of_row(index)

    @property
    def pair_count(self) -> int:
        """Return the number of rows of the side-by-side view."""
        return self._paired().count

    def pair(self, index: int) -> Pair:
        """Return one row of the side-by-side view."""
        return self._paired().pair(index)

    def _paired(self) -> _Pairs:
        if self._pairs is None:
            self._pairs = _Pairs(self.runs, self._starts)
        return self._pairs


class _Lines:
    """Which run holds a line. An edit may be longer than what it stands for: what follows it keeps its own numbers."""

    def __init__(self, firsts: Sequence[tuple[int, Run]]) -> None:
        spans: list[tuple[int, int, int]] = []
        limit = sys.maxsize
        for at in range(len(firsts) - 1, -1, -1):
            first, run = firsts[at]
            if first < 0:
                continue
            if run.kind is not RowKind.HEADER:
                end = min(limit, first + (run.hidden if run.kind is RowKind.FOLD else run.size))
                if end > first:
                    spans.append((first, end, at))
            if run.kind is RowKind.HEADER or run.unit is None:
                limit = first
        spans.reverse()
        self._spans = spans

    def find(self, line: int) -> tuple[int, int] | None:
        """Return the number of the run and the place of the line in it."""
        at = bisect_right(self._spans, line, key=itemgetter(0)) - 1
        if at < 0:
            return None
        first, end, run = self._spans[at]
        return (run, line - first) if line < end else None


class _Pairs:
    """Side by side: removed and added runs of a unit share their rows, the shorter side is padded."""

    def __init__(self, runs: Sequence[Run], starts: Sequence[int]) -> None:
        self._items: list[tuple[Run | None, Run | None, int]] = []
        counts: list[int] = []
        at = 0
        while at < len(runs):
            run, start = runs[at], starts[at]
            follower = runs[at + 1] if at + 1 < len(runs) else None
            if run.kind is RowKind.REMOVED and follower is not None and follower.kind is RowKind.ADDED:
                self._items.append((run, follower, start))
                counts.append(max(run.size, follower.size))
                at += 2
                continue
            self._items.append((None, run, start) if run.kind is RowKind.ADDED else (run, None, start))
            counts.append(run.size)
            at += 1
        self._starts = list(accumulate(counts, initial=0))
        self.count = self._starts.pop()
        self._rows = [start for _, _, start in self._items]

    def _at(self, index: int) -> tuple[Run | None, Run | None, int, int]:
        if not 0 <= index < self.count:
            raise IndexError(index)
        at = bisect_right(self._starts, index) - 1
        return (*self._items[at], index - self._starts[at])

    def pair(self, index: int) -> Pair:
        left, right, _, inside = self._at(index)
        first = left.row(inside) if left is not None and inside < left.size else None
        if first is not None and first.kind is RowKind.CONTEXT:
            return Pair(first, first)
        return Pair(first, right.row(inside) if right is not None and inside < right.size else None)

    def unified(self, index: int) -> int:
        left, right, start, inside = self._at(index)
        if left is None or inside < left.size:
            return start + inside
        return start + left.size + min(inside, (right.size if right else 1) - 1)

    def of_row(self, row: int) -> int:
        at = max(0, bisect_right(self._rows, row) - 1)
        left, right, start = self._items[at]
        inside = row - start
        if left is not None and right is not None and inside >= left.size:
            inside -= left.size
        return self._starts[at] + inside
