"""Lines that only changed their place: moved blocks, and files whose lines are the same in another order (D17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ltmem_gui.domain.plan import FileChange, Hunk

_MIN_INK = 20


@dataclass(frozen=True, slots=True)
class Moves:
    """`old` maps removed line numbers to where the line stands now, `new` added ones to where it stood; from 0."""

    old: dict[int, int] = field(default_factory=dict[int, int])
    new: dict[int, int] = field(default_factory=dict[int, int])


def order_only(hunks: Sequence[Hunk]) -> bool:
    """Tell whether the change of a file is a new order of the same lines."""
    if sum(len(hunk.old) for hunk in hunks) != sum(len(hunk.new) for hunk in hunks):
        return False
    removed = Counter(line for hunk in hunks for line in hunk.old)
    return bool(removed) and removed == Counter(line for hunk in hunks for line in hunk.new)


def find_moves(hunks: Sequence[Hunk]) -> Moves:
    """Return the blocks that were removed in one place and added in another.

    A block is found by a line that was removed once and added once, and grows to both sides; blocks with fewer than
    `_MIN_INK` visible characters are left alone.
    """
    gone = {line for hunk in hunks for line in hunk.old}
    if gone.isdisjoint(line for hunk in hunks for line in hunk.new):
        return Moves()
    removed = {hunk.old_start + k: line for hunk in hunks for k, line in enumerate(hunk.old)}
    added = {hunk.new_start + k: line for hunk in hunks for k, line in enumerate(hunk.new)}
    source, target = _once(removed), _once(added)
    moves = Moves()
    for line, i in source.items():
        j = target.get(line)
        if j is None or i in moves.old:
            continue
        block = _grown(removed, added, i, j)
        if sum(len(removed[a].strip()) for a, _ in block) >= _MIN_INK:
            moves.old.update(block)
            moves.new.update({b: a for a, b in block})
    return moves


def _once(lines: dict[int, str]) -> dict[str, int]:
    count = Counter(lines.values())
    return {line: at for at, line in lines.items() if count[line] == 1 and line.strip()}


def _grown(removed: dict[int, str], added: dict[int, str], i: int, j: int) -> list[tuple[int, int]]:
    up = 0
    while (i - up - 1) in removed and removed[i - up - 1] == added.get(j - up - 1):
        up += 1
    down = 0
    while (i + down + 1) in removed and removed[i + down + 1] == added.get(j + down + 1):
        down += 1
    return [(i + k, j + k) for k in range(-up, down + 1)]


def renamed_from(changes: Sequence[FileChange]) -> dict[str, str]:
    """Return new path → old path for added files whose lines are mostly those of a deleted one.

    A hint for the eye: the plan still deletes one file and adds the other.
    """
    gone = {c.path: Counter(line for h in c.hunks for line in h.old) for c in changes if c.change == "deleted"}
    by_hash = {c.old_sha256: c.path for c in changes if c.change == "deleted"}
    found: dict[str, str] = {}
    for change in changes:
        if change.change != "added":
            continue
        same = by_hash.get(change.new_sha256)
        if same is None:
            lines = Counter(line for h in change.hunks for line in h.new)
            best = max(((_overlap(lines, old), path) for path, old in gone.items()), default=(0.0, ""))
            same = best[1] if best[0] >= 0.5 else None
        if same is not None and same not in found.values():
            found[change.path] = same
    return found


def _overlap(a: Counter[str], b: Counter[str]) -> float:
    total = max(a.total(), b.total())
    return (a & b).total() / total if total else 0.0
