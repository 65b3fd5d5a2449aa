"""Which words, then which characters, differ between two lines; bounded, and honest when it gives up (D9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Indel

from ltmem_gui.domain.cancel import CancelToken

MAX_CHARACTERS = 4096
_MAX_WORD = 64
_WORD_ALIKE = 0.5
_LINE_ALIKE = 0.25
_PAIR_ALIKE = 0.4
_MAX_PAIRS = 400
# Which line became which shows in its first words: 400 pairs of whole long lines took 159 ms.
_LIKENESS = 512
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]


class Extent(StrEnum):
    """Tell how far the comparison went; all but `COMPARED` carry no spans."""

    COMPARED = "compared"
    TOO_LONG = "too long for word marks"
    DIFFERENT = "too different for word marks"


@dataclass(frozen=True, slots=True)
class Intraline:
    """The changed spans of an old and a new line, in code points, ascending and apart."""

    extent: Extent
    old: tuple[Span, ...] = ()
    new: tuple[Span, ...] = ()


TOO_LONG = Intraline(Extent.TOO_LONG)
DIFFERENT = Intraline(Extent.DIFFERENT)


def compare_lines(old: str, new: str) -> Intraline:
    """Return what differs between two lines (without their ends)."""
    if len(old) > MAX_CHARACTERS or len(new) > MAX_CHARACTERS:
        return TOO_LONG
    a, b = _TOKENS.findall(old), _TOKENS.findall(new)
    names: dict[str, int] = {}
    blocks = Indel.opcodes(
        [names.setdefault(token, len(names)) for token in a], [names.setdefault(token, len(names)) for token in b]
    )
    a_at, b_at = _offsets(a), _offsets(b)
    old_spans: list[Span] = []
    new_spans: list[Span] = []
    kept = 0
    i = j = 0
    for block in blocks:
        if block.tag != "equal":
            continue
        _differ(old, new, (a_at[i], a_at[block.src_start]), (b_at[j], b_at[block.dest_start]), old_spans, new_spans)
        kept += sum(len(t) for t in a[block.src_start : block.src_end] if not t.isspace())
        i, j = block.src_end, block.dest_end
    _differ(old, new, (a_at[i], len(old)), (b_at[j], len(new)), old_spans, new_spans)
    ink = max(_ink(a), _ink(b))
    if ink and kept < _LINE_ALIKE * ink and not (len(a) == 1 and len(b) == 1):
        return DIFFERENT
    return Intraline(Extent.COMPARED, _joined(old, old_spans), _joined(new, new_spans))


def pair_lines(old: Sequence[str], new: Sequence[str], cancel: CancelToken | None = None) -> dict[int, int]:
    """Return which removed line (index) became which added one, ascending on both sides.

    Equal counts pair in order; small unequal blocks by likeness; large ones in order as far as they go. Raises
    `Cancelled` when asked to stop.
    """
    if len(old) == len(new) or len(old) * len(new) > _MAX_PAIRS:
        return {i: i for i in range(min(len(old), len(new)))}
    score = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(a, b) for b in new] for a in old]
    for i in range(len(old) - 1, -1, -1):
        if cancel is not None:
            cancel.check()
        for j in range(len(new) - 1, -1, -1):
            paired = score[i + 1][j + 1] + alike[i][j] if alike[i][j] >= _PAIR_ALIKE else 0.0
            score[i][j] = max(score[i + 1][j], score[i][j + 1], paired)
    pairs: dict[int, int] = {}
    i = j = 0
    while i < len(old) and j < len(new):
        if score[i][j] == score[i + 1][j]:
            i += 1
        elif score[i][j] == score[i][j + 1]:
            j += 1
        else:
            pairs[i] = j
            i, j = i + 1, j + 1
    return pairs


def _likeness(a: str, b: str) -> float:
    return Indel.normalized_similarity(a[:_LIKENESS], b[:_LIKENESS], score_cutoff=_PAIR_ALIKE)


def _offsets(tokens: Sequence[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets


def _ink(tokens: Sequence[str]) -> int:
    return sum(len(token) for token in tokens if not token.isspace())


def _differ(old: str, new: str, a: Span, b: Span, old_spans: list[Span], new_spans: list[Span]) -> None:
    """Record one stretch that differs; two like words are compared by character."""
    left, right = old[slice(*a)], new[slice(*b)]
    if left and right and max(len(left), len(right)) <= _MAX_WORD and left.isalnum() and right.isalnum():
        ratio = Indel.normalized_similarity(left, right)
        if ratio >= _WORD_ALIKE:
            for block in Indel.opcodes(left, right):
                if block.tag == "delete":
                    old_spans.append((a[0] + block.src_start, a[0] + block.src_end))
                elif block.tag == "insert":
                    new_spans.append((b[0] + block.dest_start, b[0] + block.dest_end))
            return
    if left:
        old_spans.append(a)
    if right:
        new_spans.append(b)


def _joined(line: str, spans: list[Span]) -> tuple[Span, ...]:
    """Join spans that touch, or that only white space parts."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and not line[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)
