"""The changed words of the rows that are looked at, within what a frame may cost (D9)."""

from __future__ import annotations

import time
from collections.abc import Callable

from ltmem_gui.domain.diffing.intraline import DIFFERENT, Intraline, compare_lines, pair_lines
from ltmem_gui.domain.diffing.rows import Document, RowKind, Run

# Forty pairs of usual lines take 2 ms; one pair of the longest lines that are compared takes 2.5 ms, and the rest of a
# frame of such lines 10 ms: with this the frame stays below 16 ms.
FRAME_SECONDS = 0.004
NO_MARKS = Intraline(DIFFERENT.extent)

Marks = tuple[Intraline, bool]
_NOTHING: Marks = (NO_MARKS, False)


class WordMarks:
    """Compare lines with their partners and keep the answers for one layout of rows.

    Between `start_frame` and `end_frame` comparing stops once it has used `FRAME_SECONDS` of processor time; rows that
    were not reached show no marks, and the next frame goes on with them.
    """

    def __init__(self, document: Document, clock: Callable[[], float] = time.thread_time) -> None:
        self._document = document
        self._clock = clock
        self._pairs: dict[int, dict[int, int]] = {}
        self._known: dict[tuple[int, int], Marks] = {}
        self._left: float | None = None
        self._missed = False

    def start_frame(self) -> None:
        """Limit what follows."""
        self._left, self._missed = FRAME_SECONDS, False

    def end_frame(self) -> bool:
        """Lift the limit; tell whether rows were left without marks."""
        self._left = None
        return self._missed

    def of(self, index: int) -> Marks:
        """Return changed words of a row, and whether its line end alone differs from its partner's."""
        place = self._document.locate(index)
        found = self._known.get(place)
        if found is not None:
            return found
        if self._left is not None and self._left <= 0:
            self._missed = True
            return _NOTHING
        began = self._clock()
        self._known[place] = found = self._compare(*place)
        if self._left is not None:
            self._left -= self._clock() - began
        return found

    def __contains__(self, index: object) -> bool:
        """Tell whether a row was compared already."""
        return isinstance(index, int) and self._document.locate(index) in self._known

    def _compare(self, run: int, inside: int) -> Marks:
        """Compare a row with its partner; the answer stands for both."""
        kind = self._document.runs[run].kind
        if kind not in (RowKind.REMOVED, RowKind.ADDED):
            return _NOTHING
        first = run if kind is RowKind.REMOVED else run - 1
        partner = self._partner(first, inside, from_old=kind is RowKind.REMOVED)
        if partner is None:
            return _NOTHING
        old_at, new_at = (inside, partner) if kind is RowKind.REMOVED else (partner, inside)
        old = self._document.runs[first].row(old_at)
        new = self._document.runs[first + 1].row(new_at)
        marks = compare_lines(old.text, new.text), old.text == new.text and old.end != new.end
        self._known[first, old_at] = self._known[first + 1, new_at] = marks
        return marks

    def _partner(self, first: int, inside: int, *, from_old: bool) -> int | None:
        """Return the line on the other side of a removed run (`first`) and the added run after it."""
        runs = self._document.runs
        if not 0 <= first < len(runs) - 1:
            return None
        removed, added = runs[first], runs[first + 1]
        if removed.kind is not RowKind.REMOVED or added.kind is not RowKind.ADDED or removed.unit != added.unit:
            return None
        if first not in self._pairs:
            self._pairs[first] = pair_lines(_lines(removed), _lines(added))
        pairs = self._pairs[first]
        if from_old:
            return pairs.get(inside)
        if removed.size == added.size:
            return inside
        return next((old for old, new in pairs.items() if new == inside), None)


def _lines(run: Run) -> list[str]:
    return list(run.source[run.offset : run.offset + run.size])
