"""Changes that only put lines elsewhere, told in one row: the same lines in another order, or a block that moved (D17).

Nothing is decided here. A change whose lines are all accounted for is folded when it is laid out, and can be opened.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltmem_gui.domain.plan import Hunk

_MIN_INK = 20
_MAX_SORTED = 2_000


def in_other_order(old: Sequence[str], new: Sequence[str]) -> bool:
    """Tell whether two stretches hold the same lines in another order; long ones are shown as they are."""
    if not old or len(old) != len(new) or len(old) > _MAX_SORTED:
        return False
    return sum(map(len, old)) == sum(map(len, new)) and sorted(old) == sorted(new)


def moved_blocks(hunks: Sequence[Hunk]) -> dict[str, int]:
    """Return hunk id → the line (from 1) a whole block went to, or came from.

    Counted are hunks that only remove or only add, whose text stands once on each side.
    """
    gone = {hunk.old: hunk for hunk in hunks if hunk.old and not hunk.new}
    come = {hunk.new: hunk for hunk in hunks if hunk.new and not hunk.old}
    if not gone or not come:
        return {}
    twice = _twice([hunk.old for hunk in hunks if not hunk.new]) | _twice([hunk.new for hunk in hunks if not hunk.old])
    found: dict[str, int] = {}
    for block in gone.keys() & come.keys() - twice:
        if sum(len(line.strip()) for line in block) >= _MIN_INK:
            found[gone[block].id] = come[block].new_start + 1
            found[come[block].id] = gone[block].old_start + 1
    return found


def _twice(blocks: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    again: set[tuple[str, ...]] = set()
    for block in blocks:
        (again if block in seen else seen).add(block)
    return again
