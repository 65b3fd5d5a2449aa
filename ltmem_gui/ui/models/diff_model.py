"""What the diff views show of one file: rows, word marks, findings, decisions, and where to go next. No widgets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.intraline import Intraline, Span
from ltmem_gui.domain.diffing.layout import Look, lay_out, new_lines
from ltmem_gui.domain.diffing.moves import Moves, find_moves, order_only
from ltmem_gui.domain.diffing.rows import Document, Row, RowKind
from ltmem_gui.domain.diffing.searching import Place, find_in
from ltmem_gui.domain.diffing.sections import Headings
from ltmem_gui.domain.diffing.whitespace import Whitespace
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.hazards import usual_line_end
from ltmem_gui.domain.plan import FileChange
from ltmem_gui.domain.review import Review
from ltmem_gui.ui.models.diff_marks import WordMarks

MAX_MOVE_LINES = 20_000
LONG_LINE = 10_000


@dataclass(frozen=True)
class FileInput:
    """One file as it is opened for review. `base` holds its lines as they are, None where they are not at hand."""

    change: FileChange
    base: tuple[str, ...] | None

    @cached_property
    def proposed(self) -> tuple[str, ...]:
        """Return the lines of the proposed text, none where those of the file are not at hand."""
        return () if self.base is None else tuple(new_lines(self.change, self.base))

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Return how many lines the change adds and removes."""
        hunks = self.change.hunks
        return sum([len(hunk.new) for hunk in hunks]), sum([len(hunk.old) for hunk in hunks])

    @cached_property
    def headings(self) -> Headings:
        """Return the Markdown headings of the proposed text."""
        return Headings(self.proposed)


class DiffModel(QObject):
    """Hold the rows of one file in one look.

    Signals: `structure_changed` when rows were laid out anew, `decisions_changed` when only decisions did. Threads: UI.
    """

    structure_changed = Signal()
    decisions_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = Document([])
        self.look = Look()
        self.file: FileInput | None = None
        self.review: Review | None = None
        self.usual_end = "\n"
        self.longest = 0
        self.long_lines = 0
        self.is_order_only = False
        self._findings: dict[int, tuple[Finding, ...]] = {}
        self._file_findings: tuple[Finding, ...] = ()
        self._moves: Moves | None = None
        self.marks = WordMarks(self.document)
        self._number_of: dict[int, int] = {}
        self.last_number = 1
        self._places: tuple[Place, ...] = ()
        self._places_by_line: dict[tuple[str, int], tuple[Span, ...]] = {}

    # --- what is shown ---

    def open(self, file: FileInput, review: Review, look: Look | None = None) -> None:
        """Show a file; everything of the one before is gone."""
        self.file, self.review = file, review
        self.look = look or Look(whitespace=self.look.whitespace, whole=self.look.whole)
        lines = file.base or ()
        known = file.base is not None
        changed = [line for h in file.change.hunks for line in (h.new if known else (*h.old, *h.new))]
        hunks = file.change.hunks[-1:]
        ends = [max(h.old_start + len(h.old), h.new_start + len(h.new)) for h in hunks]
        grown = sum(len(h.new) - len(h.old) for h in file.change.hunks)
        self.last_number = max(1, len(lines), len(lines) + grown, *ends)
        self.usual_end = usual_line_end(lines or changed)
        self.longest = max(max(map(len, lines), default=0), max(map(len, changed), default=0))
        self.long_lines = 0
        if self.longest > LONG_LINE:
            self.long_lines = sum(1 for line in (*lines, *changed) if len(line) > LONG_LINE)
        self.is_order_only = order_only(file.change.hunks)
        self._moves = None
        self._sort_findings(review)
        self._lay_out()

    def clear(self) -> None:
        """Show nothing."""
        self.file = self.review = None
        self.document = Document([])
        self._findings, self._file_findings = {}, ()
        self._places, self._places_by_line = (), {}
        self.structure_changed.emit()

    def set_review(self, review: Review) -> None:
        """Show other decisions; rows are laid out anew only where lines changed with them."""
        before, self.review = self.review, review
        if self.file is None:
            return
        if before is None or before.checked != review.checked:
            self._sort_findings(review)
        if before is None or _shape(before, self.file.change) != _shape(review, self.file.change):
            self._lay_out()
        else:
            self.decisions_changed.emit()

    def set_look(self, look: Look) -> None:
        """Fold, unfold or look past white space; never changes a decision."""
        self.look = look
        if self.file is not None:
            self._lay_out()

    def open_fold(self, row: int, lines: int) -> None:
        """Show more lines of a fold."""
        gap = self.document.row(row).gap
        if gap >= 0:
            self.set_look(self.look.open_gap(gap, lines))

    def reveal(self, line: int, *, old: bool = False) -> int | None:
        """Return the row of a line (from 0), opening its fold if need be."""
        row = self.document.place_of(line, old=old)
        gap = self.document.fold_of(line, old=old) if row is None else None
        if gap is not None and gap >= 0:
            self.set_look(Look(self.look.whole, {**self.look.opened, gap: (10**9, 0)}, self.look.whitespace))
            row = self.document.place_of(line, old=old)
        return row

    # --- what is known of a row ---

    def decision_of(self, row: Row) -> Decision | None:
        """Return the decision a row stands under, None for rows outside of changes."""
        if self.review is None or row.unit is None:
            return None
        return self.review.mark(row.unit).decision

    def decision_of_unit(self, unit: str | None) -> Decision:
        """Return the decision on a unit; undecided where there is none."""
        if self.review is None or unit is None:
            return Decision.UNDECIDED
        return self.review.mark(unit).decision

    @property
    def undecided(self) -> tuple[int, int]:
        """Return how many changes of the file have no decision, and how many there are."""
        if self.review is None or self.file is None:
            return 0, 0
        return self.review.undecided_in(self.file.change.path)

    def findings_at(self, index: int, row: Row) -> tuple[Finding, ...]:
        """Return the findings on the line of a row; those of the whole file stand on its first change."""
        if row.kind is RowKind.HEADER:
            return self._file_findings if self._number_of.get(index, 0) == 1 else ()
        if row.new is None or row.kind is RowKind.FOLD:
            return ()
        # The lines of an edit are not the ones that were looked at; they are checked before Apply.
        if row.kind is RowKind.ADDED and self.decision_of(row) is Decision.EDITED:
            return ()
        return self._findings.get(row.new, ())

    def number_of(self, header: int) -> tuple[int, int]:
        """Return which change of how many begins at a row, from 1; 0 where none does."""
        return self._number_of.get(header, 0), len(self._number_of)

    def title_of(self, header: Row) -> str:
        """Return what a change is about: the thread with what goes with it, or the heading it stands under."""
        unit = self.review.by_key.get(header.unit) if self.review is not None and header.unit else None
        if unit is not None and unit.kind == "thread":
            others = sorted({m.path for m in unit.members} - {self.file.change.path if self.file else ""})
            name = f"Thread {unit.key.removeprefix('thread:')}"
            return f"{name}, decided with {', '.join(others)}" if others else name
        heading = self.document.heading(header)
        return heading.title if heading is not None else ""

    def can_edit(self, row: Row) -> bool:
        """Tell whether the lines of a row's change can be edited: not those of whole files and threads."""
        unit = self.review.by_key.get(row.unit) if self.review is not None and row.unit else None
        return unit is not None and unit.kind in ("hunk", "part")

    def note_of(self, row: Row) -> str:
        """Return the review note of a row's change."""
        return self.review.notes.get(row.unit, "") if self.review is not None and row.unit else ""

    def marks_of(self, index: int) -> Intraline:
        """Return the changed words of a row; computed for the rows that are looked at, kept for the layout."""
        return self.marks.of(index)[0]

    def only_end_changed(self, index: int) -> bool:
        """Tell whether a row differs from its partner in its line end alone."""
        return self.marks.of(index)[1]

    def moved(self, row: Row) -> int | None:
        """Return the line (from 1) a moved row went to or came from, None for rows that did not move."""
        if self.file is None or row.kind not in (RowKind.REMOVED, RowKind.ADDED):
            return None
        if self._moves is None:
            hunks = self.file.change.hunks
            few = sum(len(h.old) + len(h.new) for h in hunks) <= MAX_MOVE_LINES
            self._moves = find_moves(hunks) if few else Moves()
        if row.kind is RowKind.REMOVED:
            there = self._moves.old.get((row.old or 0) - 1)
        else:
            there = self._moves.new.get((row.new or 0) - 1)
        return None if there is None else there + 1

    # --- where to go ---

    def next_header(self, row: int, step: int, wanted: Callable[[Row], bool] | None = None) -> int | None:
        """Return the next header after (step 1) or before (step -1) a row that is wanted."""
        headers = self.document.headers
        at = bisect_right(headers, row) if step > 0 else bisect_left(headers, row) - 1
        while 0 <= at < len(headers):
            if wanted is None or wanted(self.document.row(headers[at])):
                return headers[at]
            at += step
        return None

    def is_undecided(self, row: Row) -> bool:
        """Tell whether the change of a row has no decision."""
        return self.decision_of(row) is Decision.UNDECIDED

    def next_finding(self, row: int, step: int) -> int | None:
        """Return the next row with a finding; a fold that hides it is opened."""
        places: list[tuple[int, int | None]] = []
        for line in self._findings:
            place = self.document.place_of(line - 1)
            fold = self.document.fold_row_of(line - 1) if place is None else None
            if place is not None and (place > row if step > 0 else place < row):
                places.append((place, None))
            elif fold is not None and (fold >= row if step > 0 else fold < row) and self.document.row(fold).gap >= 0:
                places.append((fold, line))
        if self._file_findings and self._number_of:
            first = min(self._number_of)
            places += [(first, None)] if (first > row if step > 0 else first < row) else []
        if not places:
            return None
        place, hidden = (min if step > 0 else max)(places, key=lambda p: (p[0], p[1] or 0))
        return place if hidden is None else self.reveal(hidden - 1)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return every finding of the file, those of the whole file first."""
        return (*self._file_findings, *(f for line in sorted(self._findings) for f in self._findings[line]))

    # --- find ---

    def search(self, pattern: object, side: str) -> tuple[Place, ...]:
        """Search the old lines that go, the new text, or both; keep the places for painting. None clears."""
        self._places, self._places_by_line = (), {}
        if pattern is not None and self.file is not None:
            self._places = tuple(self._found(pattern, side))
            for place in self._places:
                key = (place.side, place.line)
                self._places_by_line[key] = (*self._places_by_line.get(key, ()), (place.start, place.end))
        self.decisions_changed.emit()
        return self._places

    def places_of(self, row: Row) -> tuple[Span, ...]:
        """Return the spans of a row that the search found."""
        if not self._places_by_line:
            return ()
        if row.kind is RowKind.REMOVED and row.old is not None:
            return self._places_by_line.get(("old", row.old - 1), ())
        return self._places_by_line.get(("new", row.new - 1), ()) if row.new is not None else ()

    def _found(self, pattern: object, side: str) -> list[Place]:
        assert self.file is not None
        change, base = self.file.change, self.file.base
        places: list[Place] = []
        removed = {h.old_start + k: line for h in change.hunks for k, line in enumerate(h.old)}
        added = {h.new_start + k: line for h in change.hunks for k, line in enumerate(h.new)}
        shown = dict(added)
        if base is not None:
            at = new = 0
            for start, old_count, new_start, new_count in [
                (h.old_start, len(h.old), h.new_start, len(h.new)) for h in change.hunks
            ] + [(len(base), 0, -1, 0)]:
                shown.update(zip(range(new, new + start - at), base[at:start], strict=True))
                at, new = start + old_count, new_start + new_count
        if side in ("old", "both"):
            places += find_in(_Indexed(removed), sorted(removed), "old", pattern)  # type: ignore[arg-type]
        if side in ("new", "both"):
            places += find_in(_Indexed(shown), sorted(shown), "new", pattern)  # type: ignore[arg-type]
        return sorted(places, key=self._order)

    def _order(self, place: Place) -> tuple[int, int]:
        """Sort old lines just before the new ones of their change."""
        if place.side == "new" or self.file is None:
            return place.line, 1 + place.start
        hunk = next(h for h in self.file.change.hunks if h.old_start <= place.line < h.old_start + len(h.old))
        return hunk.new_start, place.line - hunk.old_start - len(hunk.old)

    # --- inside ---

    def _lay_out(self) -> None:
        file = self.file
        assert file is not None
        assert self.review is not None
        self.document = lay_out(file.change, self.review, file.base, self.look, lambda: file.headings)
        self.marks = WordMarks(self.document)
        self._number_of = {row: number for number, row in enumerate(self.document.headers, 1)}
        self.structure_changed.emit()

    def _sort_findings(self, review: Review) -> None:
        assert self.file is not None
        by_line: dict[int, tuple[Finding, ...]] = {}
        whole: list[Finding] = []
        checked = {f.id: f for f in (*review.plan.findings, *review.checked)}
        for finding in checked.values():
            if finding.path != self.file.change.path:
                continue
            if finding.line is None:
                whole.append(finding)
            else:
                by_line[finding.line] = (*by_line.get(finding.line, ()), finding)
        self._findings, self._file_findings = by_line, tuple(whole)


class _Indexed(Sequence[str]):
    """Lines by number, for a search that takes any sequence."""

    def __init__(self, lines: Mapping[int, str]) -> None:
        self._lines = lines

    def __getitem__(self, index: int) -> str:  # type: ignore[override]
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)


def _shape(review: Review, change: FileChange) -> tuple[object, ...]:
    """Return what of a review changes the rows of a file: splits and edits."""
    splits = tuple((k, v) for k, v in review.splits.items() if k[0] == change.path)
    edits = tuple((key, mark.edited) for key, mark in review.marks.items() if mark.edited is not None)
    return splits, edits, review.checked


WHITESPACE_MODES = tuple(Whitespace)
