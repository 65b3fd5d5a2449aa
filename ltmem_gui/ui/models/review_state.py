"""The review that the window works on: one plan, its texts, and every decision as a step that can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.consent import Decision
from ltmem_gui.domain.diffing.files import decode_text
from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.rows import Row, RowKind
from ltmem_gui.domain.diffing.units import Unit
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import FileChange, Plan
from ltmem_gui.domain.review import Review
from ltmem_gui.ui.models.diff_model import FileInput

TOKEN_BYTES = 4


class ReviewState(QObject):
    """Hold the review.

    Signals: `replaced` when another plan came, `decided` after each decision or undo. Threads: UI.
    """

    replaced = Signal()
    decided = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.review: Review | None = None
        self.files: dict[str, FileInput] = {}
        self.texts: dict[str, str] = {}
        self.base: dict[str, bytes] = {}

    @property
    def plan(self) -> Plan | None:
        """Return the plan under review."""
        return self.review.plan if self.review else None

    def load(self, plan: Plan, base: Mapping[str, bytes]) -> tuple[str, ...]:
        """Take a plan and the files it was made from; decisions of an earlier plan are carried over by content.

        Returns the paths whose content is not what the plan was made from: their unchanged lines stay hidden.
        """
        moved: list[str] = []
        self.base = dict(base)
        self.files = {}
        self.texts = {path: text for path, data in base.items() if (text := decode_text(data)) is not None}
        for change in plan.changes:
            lines = _base_lines(change, base.get(change.path))
            if lines is None and change.hunks:
                moved.append(change.path)
            file = self.files[change.path] = FileInput(change, lines)
            if lines is not None and change.change != "deleted":
                self.texts[change.path] = "".join(file.proposed)
        earlier = self.review
        self.review = earlier.rebase(plan, self.texts) if earlier is not None else Review(plan, self.texts)
        self.replaced.emit()
        return tuple(moved)

    def clear(self) -> None:
        """Forget plan and decisions."""
        self.review, self.files, self.texts, self.base = None, {}, {}, {}
        self.replaced.emit()

    # --- decisions ---

    def decide(self, keys: Sequence[str], decision: Decision) -> bool:
        """Decide units; tell whether anything changed."""
        assert self.review is not None
        return self._step(self.review.decide(keys, decision))

    def decide_file(self, path: str, decision: Decision) -> bool:
        """Decide everything of a file."""
        assert self.review is not None
        return self._step(self.review.decide_file(path, decision))

    def decide_rows(self, path: str, rows: Sequence[Row], decision: Decision) -> bool:
        """Decide the lines among `rows`, cutting hunks where only a part is meant; one step of the undo history."""
        assert self.review is not None
        before = review = self.review
        for key in dict.fromkeys(row.unit for row in rows if row.unit is not None):
            unit = review.by_key.get(key)
            if unit is None:
                continue
            cut = _ranges(unit, path, rows, review)
            if cut is None:
                review = review.decide(key, decision)
                continue
            hunk, old, new = cut
            review = review.split(path, hunk, old, new)
            inside = [u.key for u in review.by_member[path, hunk] if _within(u, old, new)]
            review = review.decide(inside, decision)
        return self._step(review, previous=before)

    def block_units(self, path: str, line: int) -> tuple[str, ...]:
        """Return the units of the task group around a line (from 1) of the proposed text."""
        assert self.review is not None
        block = self.files[path].headings.block(line - 1)
        if block is None:
            return ()
        keys: list[str] = []
        for hunk in self.files[path].change.hunks:
            end = hunk.new_start + max(1, len(hunk.new))
            if hunk.new_start < block[1] and end > block[0]:
                keys += [unit.key for unit in self.review.by_member.get((path, hunk.id), ())]
        return tuple(keys)

    def edit(self, key: str, lines: tuple[str, ...]) -> bool:
        """Take other lines for a unit."""
        assert self.review is not None
        return self._step(self.review.edit(key, lines))

    def note(self, key: str, text: str) -> bool:
        """Keep a review note."""
        assert self.review is not None
        return self._step(self.review.note(key, text))

    def override(self, finding: str, reason: str) -> bool:
        """Pass a blocking finding with a reason."""
        assert self.review is not None
        return self._step(self.review.override(finding, reason))

    def undo(self) -> bool:
        """Take the last step back."""
        assert self.review is not None
        return self._step(self.review.undo())

    def set_checked(self, findings: tuple[Finding, ...]) -> None:
        """Keep the findings of a dry application; those the plan names already are not repeated."""
        assert self.review is not None
        known = {(f.rule, f.path, f.line) for f in self.review.plan.findings}
        fresh = tuple(f for f in findings if (f.rule, f.path, f.line) not in known or f.severity.value == "blocking")
        self._step(self.review.with_checked(fresh))

    def _step(self, review: Review, previous: Review | None = None) -> bool:
        if review is self.review:
            return False
        if previous is not None and review.previous is not previous:
            review = Review(
                review.plan,
                review.texts,
                review.marks,
                review.splits,
                review.overrides,
                review.notes,
                previous=previous,
            )
        self.review = review
        self.decided.emit()
        return True

    # --- numbers ---

    def budget(self, path: str) -> str:
        """Return size before and after, in words: bytes, lines, tokens (a quarter of the bytes), and what goes."""
        change = self.files[path].change
        added, removed = self.files[path].counts
        parts = [f"{change.old_size:,} → {change.new_size:,} bytes"]
        base = self.files[path].base
        if base is not None and change.hunks:
            parts.append(f"{len(base):,} → {len(base) + added - removed:,} lines")
            if base:
                parts.append(f"{100 * removed / len(base):.0f} % of the lines removed")
        parts.append(f"~{change.old_size // TOKEN_BYTES:,} → ~{change.new_size // TOKEN_BYTES:,} tokens")
        return " · ".join(parts)


def _base_lines(change: FileChange, data: bytes | None) -> tuple[str, ...] | None:
    if change.old_sha256 is None:
        return () if data is None else None
    if data is None or content_hash(data) != change.old_sha256:
        return None
    text = decode_text(data)
    return None if text is None else tuple(split_lines(text))


def _ranges(
    unit: Unit, path: str, rows: Sequence[Row], review: Review
) -> tuple[str, tuple[int, int], tuple[int, int]] | None:
    """Return the part of a hunk that rows cover, None when that is all of the unit or it cannot be cut."""
    if unit.kind not in ("hunk", "part") or any(r.kind is RowKind.HEADER and r.unit == unit.key for r in rows):
        return None
    member = unit.members[0]
    hunk = next(h for c in review.plan.changes if c.path == path for h in c.hunks if h.id == member.hunk)
    mine = [row for row in rows if row.unit == unit.key]
    if review.mark(unit.key).decision is Decision.EDITED:
        return None
    # A view that looks past white space shows lines of the change as unchanged ones: they belong to both sides.
    old = [row.old - 1 - hunk.old_start for row in mine if row.kind in (RowKind.REMOVED, RowKind.CONTEXT) and row.old]
    new = [row.new - 1 - hunk.new_start for row in mine if row.kind in (RowKind.ADDED, RowKind.CONTEXT) and row.new]
    # Rows are in order: removed lines first, so a range over both reaches the end of one and the start of the other.
    old_range = (min(old), max(old) + 1) if old else (member.old[1], member.old[1])
    new_range = (min(new), max(new) + 1) if new else (member.new[0], member.new[0])
    if (old_range == member.old and new_range == member.new) or (not old and not new):
        return None
    return member.hunk, old_range, new_range


def _within(unit: Unit, old: tuple[int, int], new: tuple[int, int]) -> bool:
    part = unit.members[0]
    return (
        old[0] <= part.old[0]
        and part.old[1] <= old[1]
        and new[0] <= part.new[0]
        and part.new[1] <= new[1]
        and (part.old[0] < part.old[1] or part.new[0] < part.new[1])
    )
