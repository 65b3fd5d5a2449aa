"""From two texts to hunks and back: each hunk one contiguous change of whole lines, named by its content."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from ltmem_gui.domain.diffing.lines import split_lines
from ltmem_gui.domain.diffing.matching import equal_runs
from ltmem_gui.domain.plan import Hunk

_ID_LENGTH = 12
_CONTEXT = 3
_MAX_SLIDE = 200

Change = tuple[int, int, int, int]


def make_hunks(
    path: str, old: str | None, new: str | None, *, cut: Callable[[str], bool] | None = None
) -> tuple[Hunk, ...]:
    """Return the changes that lead from `old` to `new`, in order, without context.

    None stands for a file that is not there. Hunk ids follow from path, old and new lines, so that a decision
    survives when other parts of the file move; only hunks that are equal in all three are told apart by the lines
    around them, and after that by their number. Applying all hunks to `old` gives `new` exactly. Where `cut` says of a
    line that a section begins, a change is cut in two, so that hunks may touch.
    """
    before = split_lines(old or "")
    after = split_lines(new or "")
    changes = _settled(before, after, _changes(before, after))
    if cut is not None:
        changes = [part for change in changes for part in _cut(before, after, change, cut)]
    keys = [_key(path, before[a:b], after[c:d]) for a, b, c, d in changes]
    ids = _distinct(keys, lambda at: _surroundings(before, *changes[at][:2]))
    return tuple(
        [
            Hunk(id=name, old_start=a, old=tuple(before[a:b]), new_start=c, new=tuple(after[c:d]))
            for name, (a, b, c, d) in zip(ids, changes, strict=True)
        ]
    )


def apply_hunks(old: str, hunks: Iterable[Hunk]) -> str:
    """Return `old` with the given hunks applied; the others stay as they were.

    Raises `ValueError` when a hunk does not fit the text.
    """
    lines = split_lines(old)
    parts: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda h: (h.old_start, h.new_start)):
        end = hunk.old_start + len(hunk.old)
        if hunk.old_start < at or tuple(lines[hunk.old_start : end]) != hunk.old:
            raise ValueError(f"hunk {hunk.id} does not fit the text at line {hunk.old_start + 1}")
        parts.extend(lines[at : hunk.old_start])
        parts.extend(hunk.new)
        at = end
    parts.extend(lines[at:])
    return "".join(parts)


def _changes(before: list[str], after: list[str]) -> list[Change]:
    changes: list[Change] = []
    a_at = b_at = 0
    for i, j, length in [*equal_runs(before, after), (len(before), len(after), 0)]:
        if i > a_at or j > b_at:
            changes.append((a_at, i, b_at, j))
        a_at, b_at = i + length, j + length
    return changes


def _settled(before: list[str], after: list[str], changes: list[Change]) -> list[Change]:
    """Slide pure insertions and deletions to where a reader expects them, never onto another change."""
    settled: list[Change] = []
    floor = 0
    for index, change in enumerate(changes):
        a, b, c, d = change
        if a == b or c == d:
            ceiling = changes[index + 1][0] - 1 if index + 1 < len(changes) else len(before)
            lines, lo, hi = (after, c, d) if a == b else (before, a, b)
            shift = _best_shift(lines, lo, hi, a - floor, ceiling - b)
            change = (a + shift, b + shift, c + shift, d + shift)
        settled.append(change)
        floor = change[1] + 1
    return settled


def _cut(before: list[str], after: list[str], change: Change, cut: Callable[[str], bool]) -> list[Change]:
    """Cut a change at the lines where sections begin; the parts of both sides are merged by their headings."""
    a, b, c, d = change
    old_cuts = [i for i in range(a + 1, b) if cut(before[i])]
    new_cuts = [j for j in range(c + 1, d) if cut(after[j])]
    if not old_cuts and not new_cuts and (a == b or c == d or not (cut(before[a]) and cut(after[c]))):
        return [change]
    old_parts = list(pairwise([a, *old_cuts, b])) if a < b else []
    new_parts = list(pairwise([c, *new_cuts, d])) if c < d else []
    parts: list[Change] = []
    if old_parts and new_parts and (not cut(before[a]) or not cut(after[c])):
        (_, a), (c_from, c_to) = old_parts.pop(0), new_parts.pop(0)
        parts.append((change[0], a, c_from, c_to))
        c = c_to
    while old_parts or new_parts:
        if old_parts and (not new_parts or before[old_parts[0][0]] <= after[new_parts[0][0]]):
            lo, a = old_parts.pop(0)
            parts.append((lo, a, c, c))
        else:
            lo, c = new_parts.pop(0)
            parts.append((a, a, lo, c))
    return parts


def _best_shift(lines: list[str], lo: int, hi: int, most_up: int, most_down: int) -> int:
    """Return how far the block `lines[lo:hi]` should move so that it starts at a heading or after a gap.

    A block whose first line equals the line after it can stand one line further down just as well, and the other way
    round. Among the equal places the one with the best first line wins, the lowest one on a tie.
    """
    most_up, most_down = min(most_up, _MAX_SLIDE), min(most_down, _MAX_SLIDE)
    up = down = 0
    while up < most_up and lines[lo - up - 1] == lines[hi - up - 1]:
        up += 1
    while down < most_down and lines[lo + down] == lines[hi + down]:
        down += 1
    if not up and not down:
        return 0
    return max(range(-up, down + 1), key=lambda s: (_opening(lines, lo + s, hi + s), s))


def _opening(lines: list[str], lo: int, hi: int) -> int:
    """Rank how well a block that starts at `lo` and ends before `hi` reads as one."""
    if lines[lo].startswith("#"):
        return 3
    if lines[hi - 1].strip() == "":
        return 2
    return 1 if lo == 0 or lines[lo - 1].strip() == "" else 0


def _key(path: str, old: Sequence[str], new: Sequence[str]) -> str:
    return _hash([path, f"-{len(old)}", *old, f"+{len(new)}", *new])


def _surroundings(before: list[str], a: int, b: int) -> list[str]:
    above = before[max(0, a - _CONTEXT) : a]
    return [str(len(above)), *above, *before[b : b + _CONTEXT]]


def _distinct(keys: list[str], around: Callable[[int], list[str]]) -> list[str]:
    """Return the keys, made distinct by context and then by number where several are equal."""
    if len(set(keys)) == len(keys):
        return keys
    total = Counter(keys)
    names = [key if total[key] == 1 else _hash([key, *around(at)]) for at, key in enumerate(keys)]
    total, seen = Counter(names), Counter[str]()
    ids: list[str] = []
    for name in names:
        seen[name] += 1
        ids.append(name if total[name] == 1 else _hash([name, str(seen[name])]))
    return ids


def _hash(parts: Sequence[str]) -> str:
    """Hash strings so that no two lists give the same bytes; lone surrogates are kept apart."""
    coded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return hashlib.sha256(b"".join([b"%d:%b" % (len(data), data) for data in coded])).hexdigest()[:_ID_LENGTH]
