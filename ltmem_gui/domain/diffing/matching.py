"""Which lines of two texts stay: anchors of unique lines first, exact alignment of the small gaps between them.

Everything is bounded: unique lines cost O(n log n), a gap is aligned exactly up to `EXACT_CELLS` and by the order of
equal lines beyond that. The result is a set of equal runs; what lies between two runs is a change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from operator import lt

from rapidfuzz.distance import Indel

# One gap of this many (old × new) lines costs the bit matrix 8 MB and some tens of milliseconds.
EXACT_CELLS = 64_000_000
_TINY_CELLS = 4
_MAX_DEPTH = 24

Run = tuple[int, int, int]
_Segment = tuple[int, int, int, int, int]


def equal_runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """Return runs `(old_start, new_start, length)` of lines that stay, ascending, never touching in both texts.

    Deterministic: the same input gives the same runs on every platform.
    """
    names: dict[str, int] = {}
    a = [names.setdefault(line, len(names)) for line in old]
    b = [names.setdefault(line, len(names)) for line in new]
    runs: list[Run] = []
    # Depth first, left to right: the stack holds what lies to the right.
    stack: list[_Segment | Run] = [(0, len(a), 0, len(b), 0)]
    while stack:
        item = stack.pop()
        if len(item) == 3:
            runs.append(item)
            continue
        stack.extend(reversed(_parts(a, b, item)))
    return _join(runs)


def _parts(a: list[int], b: list[int], segment: _Segment) -> list[_Segment | Run]:
    """Split one segment into equal runs and smaller segments, left to right."""
    a_lo, a_hi, b_lo, b_hi, depth = segment
    head = _common_prefix(a, b, a_lo, a_hi, b_lo, b_hi)
    tail = _common_suffix(a, b, a_lo + head, a_hi, b_lo + head, b_hi)
    parts: list[_Segment | Run] = [(a_lo, b_lo, head)] if head else []
    a_lo, b_lo, a_hi, b_hi = a_lo + head, b_lo + head, a_hi - tail, b_hi - tail
    if a_lo < a_hi and b_lo < b_hi:
        parts.extend(_middle(a, b, (a_lo, a_hi, b_lo, b_hi, depth)))
    if tail:
        parts.append((a_hi, b_hi, tail))
    return parts


def _middle(a: list[int], b: list[int], segment: _Segment) -> list[_Segment | Run]:
    a_lo, a_hi, b_lo, b_hi, depth = segment
    cells = (a_hi - a_lo) * (b_hi - b_lo)
    anchors = _unique_anchors(a, b, segment) if cells > _TINY_CELLS and depth < _MAX_DEPTH else []
    if anchors:
        return _between(anchors, segment)
    if cells <= EXACT_CELLS:
        return _exact(a, b, segment)
    return [(i, j, 1) for i, j in _ordinal_anchors(a, b, segment)]


def _between(anchors: list[tuple[int, int]], segment: _Segment) -> list[_Segment | Run]:
    """Turn anchors into runs, with a segment for each gap that has lines on both sides."""
    a_at, a_hi, b_at, b_hi, depth = segment
    parts: list[_Segment | Run] = []
    start_a, start_b, length = anchors[0][0], anchors[0][1], 0
    for i, j in anchors:
        if i == start_a + length and j == start_b + length:
            length += 1
            continue
        parts.append((start_a, start_b, length))
        start_a, start_b, length = i, j, 1
    parts.append((start_a, start_b, length))
    whole: list[_Segment | Run] = []
    for run in parts:
        if run[0] > a_at and run[1] > b_at:
            whole.append((a_at, run[0], b_at, run[1], depth + 1))
        whole.append(run)
        a_at, b_at = run[0] + run[2], run[1] + run[2]
    if a_hi > a_at and b_hi > b_at:
        whole.append((a_at, a_hi, b_at, b_hi, depth + 1))
    return whole


def _unique_anchors(a: list[int], b: list[int], segment: _Segment) -> list[tuple[int, int]]:
    """Return the longest ascending chain of lines that occur once on each side."""
    a_lo, a_hi, b_lo, b_hi, _ = segment
    place_a, place_b = _unique(a, a_lo, a_hi), _unique(b, b_lo, b_hi)
    return _ascending([(i, place_b[line]) for line, i in place_a.items() if line in place_b])


def _unique(lines: list[int], lo: int, hi: int) -> dict[int, int]:
    """Return the places of the lines that occur once in `lines[lo:hi]`, in order."""
    part = lines[lo:hi]
    if len(set(part)) == hi - lo:
        return dict(zip(part, range(lo, hi), strict=True))
    count = Counter(part)
    return {line: i for i, line in enumerate(part, lo) if count[line] == 1}


def _ordinal_anchors(a: list[int], b: list[int], segment: _Segment) -> list[tuple[int, int]]:
    """Pair the n-th occurrence of a line with the n-th on the other side and keep the longest ascending chain."""
    a_lo, a_hi, b_lo, b_hi, _ = segment
    seen: Counter[int] = Counter()
    place: dict[tuple[int, int], int] = {}
    for j in range(b_lo, b_hi):
        place[b[j], seen[b[j]]] = j
        seen[b[j]] += 1
    seen.clear()
    pairs: list[tuple[int, int]] = []
    for i in range(a_lo, a_hi):
        j = place.get((a[i], seen[a[i]]))
        seen[a[i]] += 1
        if j is not None:
            pairs.append((i, j))
    return _ascending(pairs)


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second members ascend (patience sorting, O(n log n))."""
    order = [j for _, j in pairs]
    if all(map(lt, order, islice(order, 1, None))):
        return pairs
    tails: list[int] = []
    piles: list[int] = []
    back: list[int] = []
    for index, j in enumerate(order):
        at = len(tails) if not tails or j > tails[-1] else bisect_left(tails, j)
        back.append(piles[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            piles.append(index)
        else:
            tails[at] = j
            piles[at] = index
    chain: list[tuple[int, int]] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        chain.append(pairs[at])
        at = back[at]
    chain.reverse()
    return chain


def _exact(a: list[int], b: list[int], segment: _Segment) -> list[_Segment | Run]:
    """Align one gap with the fewest removed and added lines."""
    a_lo, a_hi, b_lo, b_hi, _ = segment
    blocks = Indel.opcodes(a[a_lo:a_hi], b[b_lo:b_hi])
    return [
        (a_lo + block.src_start, b_lo + block.dest_start, block.src_end - block.src_start)
        for block in blocks
        if block.tag == "equal"
    ]


def _common_prefix(a: list[int], b: list[int], a_lo: int, a_hi: int, b_lo: int, b_hi: int) -> int:
    limit = min(a_hi - a_lo, b_hi - b_lo)
    if a[a_lo : a_lo + limit] == b[b_lo : b_lo + limit]:
        return limit
    length = 0
    while a[a_lo + length] == b[b_lo + length]:
        length += 1
    return length


def _common_suffix(a: list[int], b: list[int], a_lo: int, a_hi: int, b_lo: int, b_hi: int) -> int:
    limit = min(a_hi - a_lo, b_hi - b_lo)
    length = 0
    while length < limit and a[a_hi - 1 - length] == b[b_hi - 1 - length]:
        length += 1
    return length


def _join(runs: list[Run]) -> list[Run]:
    """Join runs that touch in both texts."""
    joined: list[Run] = []
    for i, j, length in runs:
        if joined:
            p, q, before = joined[-1]
            if p + before == i and q + before == j:
                joined[-1] = (p, q, before + length)
                continue
        joined.append((i, j, length))
    return joined
