"""Which lines of two texts stay: anchors of unique lines first, exact alignment of the small gaps between them.

Everything is bounded: unique lines cost O(n log n), a gap is aligned exactly up to `EXACT_CELLS` and by the order of
equal lines beyond that. The result is a set of equal runs; what lies between two runs is a change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import compress, count, islice, pairwise, repeat
from operator import lt, ne, sub

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
    a, b = _numbered(old, new)
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


def _numbered(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the lines as numbers: that of a line is where it stands last in `old`, -1 where it does not."""
    last = dict(zip(old, range(len(old)), strict=True))
    a = list(range(len(old))) if len(last) == len(old) else list(map(last.__getitem__, old))
    return a, list(map(last.get, new, repeat(-1)))


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
    # Most gaps are one changed line: the first lines of both sides differ here.
    if cells == 1:
        return []
    runs = _straight_runs(a, b, segment) if not depth else []
    if not runs and cells > _TINY_CELLS and depth < _MAX_DEPTH:
        runs = _runs_of(_unique_anchors(a, b, segment))
    if runs:
        return _between(a, b, runs, segment)
    if cells <= EXACT_CELLS:
        return _exact(a, b, segment)
    return [(i, j, 1) for i, j in _ordinal_anchors(a, b, segment)]


def _straight_runs(a: list[int], b: list[int], segment: _Segment) -> list[Run]:
    """Return the runs through the lines that occur once on each side, where those stand in the same order on both.

    The usual case of a large file, without a look at each line; where lines moved the answer is empty.
    """
    a_lo, a_hi, b_lo, b_hi, _ = segment
    mine, part = a[a_lo:a_hi], b[b_lo:b_hi]
    repeated = set(compress(mine, map(ne, mine, count(a_lo))))
    # A number is a place in `old`: along a run it grows as the place in `new` does.
    steps = list(map(sub, part, count()))
    breaks = [0, *compress(count(1), map(ne, steps, islice(steps, 1, None))), len(part)]
    runs: list[Run] = []
    p, q = a_lo, b_lo
    for start, stop in pairwise(breaks):
        while start < stop and part[start] in repeated:
            start += 1
        if start == stop or not a_lo <= part[start] < a_hi:
            continue
        i, j = part[start], b_lo + start
        if i < p:
            return []
        length = min(stop - start, a_hi - i)
        if runs and i - p == j - q and a[p:i] == b[q:j]:
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + i - p + length)
        else:
            runs.append((i, j, length))
        p, q = i + length, j + length
    return runs


def _runs_of(anchors: list[tuple[int, int]]) -> list[Run]:
    """Join anchors that follow each other on both sides."""
    runs: list[Run] = []
    start_a = start_b = length = 0
    for i, j in anchors:
        if length and i == start_a + length and j == start_b + length:
            length += 1
            continue
        if length:
            runs.append((start_a, start_b, length))
        start_a, start_b, length = i, j, 1
    return [*runs, (start_a, start_b, length)] if length else runs


def _between(a: list[int], b: list[int], runs: list[Run], segment: _Segment) -> list[_Segment | Run]:
    """Put a segment into each gap between runs that has lines on both sides; one line for another is none."""
    a_at, a_hi, b_at, b_hi, depth = segment
    whole: list[_Segment | Run] = []
    for run in runs:
        i, j, length = run
        if i > a_at and j > b_at and (i > a_at + 1 or j > b_at + 1 or a[a_at] == b[b_at]):
            whole.append((a_at, i, b_at, j, depth + 1))
        whole.append(run)
        a_at, b_at = i + length, j + length
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
    times = Counter(part)
    return {line: i for i, line in enumerate(part, lo) if times[line] == 1}


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
