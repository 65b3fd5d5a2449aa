"""Lay one file of a plan out as rows: folded context, a header per unit, and the lines as decided."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ltmem_gui.domain.diffing.matching import equal_runs
from ltmem_gui.domain.diffing.rows import REVEAL, Document, RowKind, Run
from ltmem_gui.domain.diffing.sections import Headings
from ltmem_gui.domain.diffing.turned import in_other_order, moved_blocks
from ltmem_gui.domain.diffing.units import WHOLE
from ltmem_gui.domain.diffing.whitespace import Whitespace, normaliser
from ltmem_gui.domain.plan import FileChange, Hunk
from ltmem_gui.domain.review import Review

CONTEXT = 3
_MIN_FOLD = 2
TURNED = 1_000_000
"""Gaps above this number are changes whose lines only stand elsewhere, counted from the first."""
_HEX_BYTES = 256
_HEX_PER_ROW = 16

# Reading a member of an enumeration costs as much as half a row; a large file has tens of thousands.
_HEADER_ROW, _CONTEXT_ROW, _REMOVED_ROW, _ADDED_ROW = (
    RowKind.HEADER,
    RowKind.CONTEXT,
    RowKind.REMOVED,
    RowKind.ADDED,
)

Opened = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """How a file is looked at: never what is decided.

    `opened` maps gaps to how many more lines are shown at their (top, bottom); `whole` opens all of them.
    """

    whole: bool = False
    opened: Mapping[int, Opened] = field(default_factory=dict[int, Opened])
    whitespace: Whitespace = Whitespace.SHOW_ALL

    def open_gap(self, gap: int, lines: int = REVEAL) -> Look:
        """Return the look with more lines at both ends of a gap."""
        top, bottom = self.opened.get(gap, (0, 0))
        opened = {**self.opened, gap: (top + lines, bottom + lines)}
        return Look(self.whole, opened, self.whitespace)


def lay_out(
    change: FileChange,
    review: Review,
    base: Sequence[str] | None,
    look: Look,
    titles: Callable[[], Headings] | None = None,
) -> Document:
    """Return the rows of one change.

    `base` holds the lines of the file as it is; without it the unchanged parts are folds that cannot be opened.
    `titles` gives the headings of the proposed text, for callers that know them already.
    """
    if not change.hunks:
        return Document(_notes(change, review))
    runs = _Builder(change, review, base, look).build()
    return Document(runs, titles or (lambda: Headings(new_lines(change, base) if base is not None else ())))


def new_lines(change: FileChange, base: Sequence[str]) -> list[str]:
    """Return the lines of the proposed text."""
    lines: list[str] = []
    at = 0
    for hunk in change.hunks:
        lines.extend(base[at : hunk.old_start])
        lines.extend(hunk.new)
        at = hunk.old_start + len(hunk.old)
    lines.extend(base[at:])
    return lines


class _Builder:
    def __init__(self, change: FileChange, review: Review, base: Sequence[str] | None, look: Look) -> None:
        self._change = change
        self._base = base
        self._look = look
        self._alike = normaliser(look.whitespace)
        self._runs: list[Run] = []
        self._units = review.by_member
        self._edits = {key: mark.edited for key, mark in review.marks.items() if mark.edited is not None}
        self._moved = moved_blocks(change.hunks)
        self._turned = 0
        self._found = [f.line for f in review.plan.findings if f.path == change.path and f.line is not None]

    def build(self) -> list[Run]:
        old_at = new_at = 0
        hunks = self._change.hunks
        for gap, hunk in enumerate(hunks):
            if hunk.old_start > old_at:
                self._gap(gap, old_at, new_at, hunk.old_start - old_at, first=gap == 0, last=False)
            self._hunk(hunk)
            old_at, new_at = hunk.old_start + len(hunk.old), hunk.new_start + len(hunk.new)
        if self._base is not None:
            self._gap(len(hunks), old_at, new_at, len(self._base) - old_at, first=False, last=True)
        return self._runs

    def _gap(self, gap: int, old: int, new: int, count: int, *, first: bool, last: bool) -> None:
        """Add the unchanged lines between two changes, folded in the middle."""
        if count <= 0:
            return
        if self._base is None:
            self._runs.append(Run(RowKind.FOLD, 1, old=old, new=new, hidden=count, gap=-1))
            return
        if self._look.whole:
            self._context(old, new, count)
            return
        more_top, more_bottom = self._look.opened.get(gap, (0, 0))
        top = (0 if first else CONTEXT) + more_top
        bottom = (0 if last else CONTEXT) + more_bottom
        hidden = count - top - bottom
        if hidden < _MIN_FOLD:
            self._context(old, new, count)
            return
        self._context(old, new, top)
        self._runs.append(Run(RowKind.FOLD, 1, old=old + top, new=new + top, hidden=hidden, gap=gap))
        self._context(old + count - bottom, new + count - bottom, bottom)

    def _context(self, old: int, new: int, count: int) -> None:
        self._runs.append(Run(_CONTEXT_ROW, count, self._base or (), old, old, new))

    def _hunk(self, hunk: Hunk) -> None:
        path = self._change.path
        units = self._units.get((path, hunk.id)) or self._units.get((path, WHOLE), ())
        if not units:
            self._piece(None, hunk, 0, hunk.old, 0, hunk.new)
        for unit in units:
            for member in unit.members:
                if member.path != path or member.hunk not in (hunk.id, WHOLE):
                    continue
                if unit.kind == "part":
                    (a, b), (c, d) = member.old, member.new
                    self._piece(unit.key, hunk, a, hunk.old[a:b], c, hunk.new[c:d])
                else:
                    self._piece(unit.key, hunk, 0, hunk.old, 0, hunk.new)

    def _piece(
        self, key: str | None, hunk: Hunk, old_at: int, old: tuple[str, ...], new_at: int, new: tuple[str, ...]
    ) -> None:
        """Add the header and the lines of one hunk or part; it begins at these lines of the hunk."""
        # A large file has thousands of these: what most of them need costs as little as it can.
        old_from, new_from = hunk.old_start + old_at, hunk.new_start + new_at
        add = self._runs.append
        add(Run(_HEADER_ROW, 1, (), 0, old_from, new_from, key))
        edited = self._edits.get(key) if key is not None else None
        if edited is not None or self._alike is not None:
            self._matched(old, new if edited is None else edited, old_from, new_from, key)
            return
        suspect = hunk.id in self._moved or 1 < len(old) == len(new)
        if suspect and self._fold_turned(hunk, old, new, old_from, new_from, key):
            return
        if old:
            add(Run(_REMOVED_ROW, len(old), old, 0, old_from, -1, key))
        if new:
            add(Run(_ADDED_ROW, len(new), new, 0, -1, new_from, key))

    def _fold_turned(
        self, hunk: Hunk, old: Sequence[str], new: Sequence[str], old_from: int, new_from: int, key: str | None
    ) -> bool:
        """Add one row for lines that only stand elsewhere, unless it was opened; tell whether that is all of them."""
        count = len(old) or len(new)
        lines = "1 line" if count == 1 else f"{count:,} lines"
        if hunk.id in self._moved and (old == hunk.old and new == hunk.new):
            words = f"{lines} moved {'to' if old else 'from'} line {self._moved[hunk.id]:,}"
        elif in_other_order(old, new):
            words = f"{lines}, the same in another order"
        else:
            return False
        if any(new_from < line <= new_from + len(new) for line in self._found):
            return False  # what was found on a line is seen at once
        self._turned += 1
        gap = TURNED + self._turned
        if self._look.whole or gap in self._look.opened:
            return False
        places = (old_from if old else -1, new_from if new else -1)
        self._runs.append(Run(RowKind.FOLD, 1, (words,), 0, *places, key, hidden=count, gap=gap))
        return True

    def _matched(self, old: Sequence[str], new: Sequence[str], old_from: int, new_from: int, key: str | None) -> None:
        """Add the lines of a unit compared anew: what an edit put back, or a view ignores, is context."""
        same = self._alike or str
        a = b = 0
        runs = [*equal_runs([same(line) for line in old], [same(line) for line in new]), (len(old), len(new), 0)]
        for i, j, length in runs:
            self._lines(RowKind.REMOVED, old, a, i - a, old_from + a, key)
            self._lines(RowKind.ADDED, new, b, j - b, new_from + b, key)
            for k in range(length):
                alike = old[i + k] != new[j + k]
                self._runs.append(
                    Run(RowKind.CONTEXT, 1, new, j + k, old_from + i + k, new_from + j + k, key, alike=alike)
                )
            a, b = i + length, j + length

    def _lines(self, kind: RowKind, source: Sequence[str], offset: int, count: int, at: int, key: str | None) -> None:
        if count:
            old, new = (at, -1) if kind is RowKind.REMOVED else (-1, at)
            self._runs.append(Run(kind, count, source, offset, old, new, key))


def _notes(change: FileChange, review: Review) -> list[Run]:
    """Return the rows of a change without lines: sizes, hashes, modes and the head of the bytes."""
    units = review.by_member.get((change.path, WHOLE), ())
    key = units[0].key if units else None
    lines = describe(change)
    runs = [Run(RowKind.HEADER, 1, old=0, new=0, unit=key)] if key else []
    return [*runs, Run(RowKind.NOTE, len(lines), lines, unit=key)]


def describe(change: FileChange) -> list[str]:
    """Return what can be said of a file that is decided without looking at its lines."""
    lines = [change.reason] if change.reason else []
    if change.change != "added":
        lines.append(f"before: {change.old_size:,} bytes, sha256 {change.old_sha256}")
    if change.change != "deleted":
        lines.append(f"after: {change.new_size:,} bytes, sha256 {change.new_sha256}")
    if change.old_mode != change.new_mode and change.new_mode is not None:
        before = "no file" if change.old_mode is None else f"{change.old_mode:04o}"
        lines.append(f"permission bits: {before} → {change.new_mode:04o}")
    if change.new_mode is not None and change.new_mode & 0o111:
        lines.append("the file is executable")
    if change.content:
        head = base64.b64decode(change.content)[:_HEX_BYTES]
        lines.append(f"the first {len(head)} bytes:")
        lines.extend(_hex_rows(head))
    return lines


def _hex_rows(data: bytes) -> list[str]:
    rows: list[str] = []
    for at in range(0, len(data), _HEX_PER_ROW):
        part = data[at : at + _HEX_PER_ROW]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        rows.append(f"{at:08x}  {part.hex(' '):<{_HEX_PER_ROW * 3}} {shown}")
    return rows
