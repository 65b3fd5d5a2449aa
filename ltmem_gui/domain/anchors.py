"""Where cited lines are now: a machine's answer, apart from whether they support the claim (design §4).

A snapshot keeps what was cited: the quote, what stood around it, its hash and the baseline. Lines are looked for at
their place, then as an exact quote with its surroundings, then as one contiguous run that is at least 85 % alike. What
cannot be told apart is `ambiguous`; nothing is called exact that is not equal to the byte. Lines end at 0x0A, from 1.
"""

from __future__ import annotations

import math
import posixpath
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from rapidfuzz import fuzz

from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.citations import CitationEntry

CONTEXT_CHARACTERS = 120
LIKENESS = 0.85
SHORT_QUOTE = 12
"""Quotes shorter than this prove nothing by themselves."""

MAX_CANDIDATES = 20
SESSION_READING = "session reading 1"
"""Marks hashes of what sessions say. Raise the number when the readers give another text for the same line: what was
hashed before cannot be compared then, and a change that the program made must not look like one of the session."""

_FUZZY_LIMIT = 2_000_000
_LONG_QUOTE = 1_500
"""A longer quote is looked for by the lines that did not change: letter by letter it would take seconds."""

_MOST_TRIES = 50
_EMPTY = content_hash(b"")
_DRIVE = re.compile(r"[A-Za-z]:")


class LocationStatus(StrEnum):
    """Where a citation's lines are."""

    EXACT = "exact"
    MOVED = "moved"
    EDITED = "edited"
    AMBIGUOUS = "ambiguous"
    MISSING_TEXT = "missing text"
    OUT_OF_RANGE = "out of range"
    MISSING_FILE = "missing file"
    OUTSIDE_ROOT = "outside root"
    MALFORMED = "malformed"
    REVERSED = "reversed"
    NOT_CHECKED = "not checked"

    @property
    def resolves(self) -> bool:
        """Tell whether the lines were found where they can be shown; what nobody could check is not a failure."""
        return self in (self.EXACT, self.MOVED, self.EDITED, self.NOT_CHECKED)


@dataclass(frozen=True, slots=True)
class EvidenceSnapshot:
    """What was cited, as it was: `quote` without its last line end, `sha256` of it in UTF-8, and its surroundings.

    `copies` is how often the file held the quote: one of several that is left later need not be the one that was cited.
    Where the text itself may not be kept, `quote` and the surroundings are empty and the hash alone speaks.
    """

    path: str
    start: int
    end: int
    quote: str
    sha256: str
    before: str = ""
    after: str = ""
    baseline: str | None = None
    copies: int = 1

    @property
    def is_hash_only(self) -> bool:
        """Tell whether the quote is known by its hash alone."""
        return not self.quote and self.sha256 != _EMPTY

    def is_of(self, quote: str) -> bool:
        """Tell whether a text is the quote, to the byte."""
        return quote_hash(quote) == self.sha256 if self.is_hash_only else quote == self.quote


@dataclass(frozen=True, slots=True)
class Location:
    """The answer: the lines as they are now (as cited, where not found), how alike they are, and other places."""

    status: LocationStatus
    start: int
    end: int
    likeness: float | None = None
    candidates: tuple[tuple[int, int], ...] = ()
    detail: str = ""

    @property
    def label(self) -> str:
        """Return the status in the words of the screen: `moved +6`, `edited (0.91)`, `ambiguous (3 places)`."""
        return f"{self.status}{self.detail}"


class CitedText:
    """One file that is cited, prepared once for any number of questions."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("utf-8", "surrogateescape")
        self.lines: list[str] = self.text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Return line text → positions from 0."""
        found: dict[str, list[int]] = {}
        for position, line in enumerate(self.lines):
            found.setdefault(line, []).append(position)
        return found

    @cached_property
    def offsets(self) -> list[int]:
        """Return where each line begins, in code points."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def quote(self, start: int, end: int) -> str:
        """Return the lines `start` to `end`, from 1, without the last line end."""
        return "\n".join(self.lines[start - 1 : end])

    def context(self, start: int, end: int) -> tuple[str, str]:
        """Return what stands before and after the lines, at most `CONTEXT_CHARACTERS` each."""
        first, last = self.offsets[start - 1], self.offsets[min(end, len(self.lines))]
        return self.text[max(0, first - CONTEXT_CHARACTERS) : first], self.text[last : last + CONTEXT_CHARACTERS]


def inside_root(path: str) -> str | None:
    """Return the path below the memory root in its normal form, None for one that leads outside.

    Absolute paths, drive letters, backslashes, `~`, NUL and `..` that climbs out are outside.
    """
    if not path or path.startswith(("/", "~")) or "\\" in path or "\x00" in path or _DRIVE.match(path):
        return None
    normal = posixpath.normpath(path)
    return None if normal in (".", "..") or normal.startswith("../") else normal


def line_count(data: bytes) -> int:
    """Return the number of lines, ended by 0x0A; a last line without one counts."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def snapshot(path: str, start: int, end: int, text: CitedText, baseline: str | None = None) -> EvidenceSnapshot:
    """Keep what is cited. Raises `ValueError` for a range that is not in the file."""
    if not 1 <= start <= end <= len(text.lines):
        raise ValueError(f"{path} has {len(text.lines)} lines; {start}-{end} is not among them")
    quote = text.quote(start, end)
    before, after = text.context(start, end)
    hashed = quote_hash(quote)
    copies = len(_runs(quote.split("\n"), text))
    return EvidenceSnapshot(path, start, end, quote, hashed, before, after, baseline, copies)


def locate(entry: CitationEntry, text: CitedText | None, taken: EvidenceSnapshot | None = None) -> Location:
    """Say where the lines of a citation are; without a snapshot only whether the range is there.

    `text` is the cited file, None for a missing one. The path is the caller's to judge (`inside_root`).
    """
    start, end = entry.start, entry.end
    if not entry.path:
        return Location(LocationStatus.MALFORMED, start, end, detail=": no path")
    if start > end:
        return Location(LocationStatus.REVERSED, start, end)
    if text is None:
        return Location(LocationStatus.MISSING_FILE, start, end)
    inside = start >= 1 and end <= len(text.lines)
    if taken is None or (taken.start, taken.end) != (start, end):
        return Location(LocationStatus.EXACT if inside else LocationStatus.OUT_OF_RANGE, start, end)
    if inside and taken.is_of(text.quote(start, end)):
        return Location(LocationStatus.EXACT, start, end, 1.0)
    return _elsewhere(taken, text, inside)


def quote_hash(quote: str) -> str:
    """Return the hash that a quote is known by: of its bytes in the file; half characters of a session as they are."""
    try:
        return content_hash(quote.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return content_hash(quote.encode("utf-8", "surrogatepass"))


def line_hashes(lines: Mapping[int, str]) -> dict[int, str]:
    """Return place → hash of what a session says there; what it says itself need not be kept."""
    return {place: quote_hash(text) for place, text in lines.items()}


def session_snapshot(path: str, start: int, end: int, hashes: Mapping[int, str]) -> EvidenceSnapshot | None:
    """Keep what a session says, as a hash; None where it says nothing."""
    said = session_hash(hashes, start, end)
    return EvidenceSnapshot(path, start, end, "", said, baseline=SESSION_READING) if said else None


def session_hash(hashes: Mapping[int, str], start: int, end: int) -> str:
    """Return the hash of what a session says from `start` to `end`, empty where it says nothing.

    `hashes` is what `line_hashes` gives; lines of the file that say nothing are passed over.
    """
    places = range(start, end + 1) if end - start < len(hashes) else sorted(hashes)
    said = [hashes[place] for place in places if place in hashes and start <= place <= end]
    return content_hash("\n".join(said).encode("ascii")) if said else ""


def locate_in_session(entry: CitationEntry, hashes: Mapping[int, str], taken: EvidenceSnapshot) -> Location:
    """Say where the cited lines of a session are: in place, at one other place, at several, or nowhere."""
    start, size = entry.start, entry.end - entry.start
    if session_hash(hashes, start, entry.end) == taken.sha256:
        return Location(LocationStatus.EXACT, start, entry.end, 1.0)
    found = [place for place in hashes if session_hash(hashes, place, place + size) == taken.sha256]
    if not found:
        return Location(LocationStatus.MISSING_TEXT, start, entry.end)
    if len(found) == 1:
        return Location(LocationStatus.MOVED, found[0], found[0] + size, 1.0, detail=f" {found[0] - start:+d}")
    places = tuple((place, place + size) for place in sorted(found)[:MAX_CANDIDATES])
    return Location(LocationStatus.AMBIGUOUS, start, entry.end, 1.0, places, f" ({len(found)} places)")


def _elsewhere(taken: EvidenceSnapshot, text: CitedText, inside: bool) -> Location:
    size = taken.end - taken.start + 1
    found = _hashed_runs(taken, text, size) if taken.is_hash_only else _runs(taken.quote.split("\n"), text)
    chosen = _by_context(found, size, taken, text)
    if chosen is not None:
        start = chosen + 1
        shift = f" {start - taken.start:+d}"
        return Location(LocationStatus.MOVED, start, start + size - 1, 1.0, detail=shift)
    if found:
        places = tuple((at + 1, at + size) for at in found[:MAX_CANDIDATES])
        words = f" ({len(found)} place{'s' if len(found) > 1 else ''})"
        return Location(LocationStatus.AMBIGUOUS, taken.start, taken.end, 1.0, places, words)
    return _alike(taken, text, inside)


def _runs(wanted: list[str], text: CitedText) -> list[int]:
    return [at for at in text.places.get(wanted[0], ()) if text.lines[at : at + len(wanted)] == wanted]


def _hashed_runs(taken: EvidenceSnapshot, text: CitedText, size: int) -> list[int]:
    starts = range(len(text.lines) - size + 1)
    return [at for at in starts if taken.is_of(text.quote(at + 1, at + size))]


def _by_context(found: Sequence[int], size: int, taken: EvidenceSnapshot, text: CitedText) -> int | None:
    """Return the one place that the surroundings speak for, None where they speak for none or several."""
    if len(found) == taken.copies == 1 and len(text.quote(found[0] + 1, found[0] + size).strip()) >= SHORT_QUOTE:
        return found[0]
    scores: list[tuple[int, int]] = []
    for at in found:
        before, after = text.context(at + 1, at + size)
        scores.append((_common(before[::-1], taken.before[::-1]) + _common(after, taken.after), at))
    scores.sort(reverse=True)
    if not scores or scores[0][0] < SHORT_QUOTE or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def _common(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _alike(taken: EvidenceSnapshot, text: CitedText, inside: bool) -> Location:
    """Look for one contiguous run of lines that is nearly the quote: between its old neighbours, else anywhere."""
    if len(taken.quote) >= SHORT_QUOTE and len(text.text) <= _FUZZY_LIMIT:
        best, score = _between_neighbours(taken, text)
        if score >= LIKENESS:
            return _edited(best, score)
        if len(taken.quote) > _LONG_QUOTE:
            return _by_lines(taken, text) or _gone(taken, inside)
        best, score = _anywhere(taken, text)
        if score >= LIKENESS:
            rival = _rival(taken.quote, text, best)
            if rival is None:
                return _edited(best, score)
            return Location(LocationStatus.AMBIGUOUS, taken.start, taken.end, score, (best, rival), " (2 places)")
    return _gone(taken, inside)


def _gone(taken: EvidenceSnapshot, inside: bool) -> Location:
    status = LocationStatus.MISSING_TEXT if inside else LocationStatus.OUT_OF_RANGE
    return Location(status, taken.start, taken.end)


def _by_lines(taken: EvidenceSnapshot, text: CitedText) -> Location | None:
    """Return the run that most unchanged lines of a long quote speak for, None where none is alike enough."""
    votes: Counter[int] = Counter()
    lines = taken.quote.split("\n")
    for number, line in enumerate(lines):
        places = text.places.get(line, ())
        if line.strip() and len(places) <= _MOST_TRIES:
            votes.update(place - number for place in places)
    found: list[tuple[float, tuple[int, int]]] = []
    for at, _ in votes.most_common(_MOST_TRIES):
        first, last = max(1, at + 1), min(len(text.lines), at + len(lines))
        if all(last < other[0] or other[1] < first for _, other in found):
            found.append(_fitted(taken.quote, text, first, last))
    alike = sorted((one for one in found if one[0] >= LIKENESS), reverse=True)
    if len(alike) > 1:
        places = tuple(place for _, place in alike[:MAX_CANDIDATES])
        words = f" ({len(alike)} places)"
        return Location(LocationStatus.AMBIGUOUS, taken.start, taken.end, alike[0][0], places, words)
    return _edited(alike[0][1], alike[0][0]) if alike else None


def _fitted(quote: str, text: CitedText, first: int, last: int) -> tuple[float, tuple[int, int]]:
    """Return the run about these lines that is most alike, its ends moved by at most two lines."""
    runs = (
        (begin, end)
        for begin in range(max(1, first - 2), min(first + 2, last) + 1)
        for end in range(max(begin, last - 2), min(len(text.lines), last + 2) + 1)
    )
    return max((fuzz.ratio(quote, text.quote(*run)) / 100, run) for run in runs)


def _edited(place: tuple[int, int], score: float) -> Location:
    # Rounding up would show a changed text as equal.
    likeness = math.floor(score * 100) / 100
    return Location(LocationStatus.EDITED, *place, likeness, detail=f" ({likeness:.2f})")


def _between_neighbours(taken: EvidenceSnapshot, text: CitedText) -> tuple[tuple[int, int], float]:
    """Return the one run that stands where the quote stood: after the same line and before the same line."""
    before, after = taken.before.split("\n")[-2:-1], taken.after.split("\n")[:1]
    size = taken.end - taken.start + 1
    found: list[tuple[float, tuple[int, int]]] = []
    ends = text.places.get(after[0], ()) if after[0].strip() else ()
    for first in text.places.get(before[0], ()) if before and before[0].strip() else ():
        for last in ends[bisect_left(ends, first + 2) : bisect_right(ends, first + 2 * size + 3)]:
            place = (first + 2, last)
            found.append((fuzz.ratio(taken.quote, text.quote(*place)) / 100, place))
            if len(found) > _MOST_TRIES:
                return (0, 0), 0.0  # such neighbours tell nothing
    alike = [(score, place) for score, place in found if score >= LIKENESS]
    return (alike[0][1], alike[0][0]) if len(alike) == 1 else ((0, 0), 0.0)


def _anywhere(taken: EvidenceSnapshot, text: CitedText) -> tuple[tuple[int, int], float]:
    best, best_score = (0, 0), 0.0
    if len(taken.quote) > len(text.text):
        return best, best_score
    match = fuzz.partial_ratio_alignment(taken.quote, text.text, score_cutoff=LIKENESS * 80)
    if match is None:
        return best, best_score
    first_line = bisect_right(text.offsets, match.dest_start) - 1
    last_line = bisect_right(text.offsets, max(match.dest_start, match.dest_end - 1)) - 1
    for first in range(max(0, first_line - 1), first_line + 2):
        for last in range(max(first, last_line - 1), min(len(text.lines), last_line + 2)):
            score = fuzz.ratio(taken.quote, text.quote(first + 1, last + 1)) / 100
            if score > best_score:
                best, best_score = (first + 1, last + 1), score
    return best, best_score


def _rival(quote: str, text: CitedText, best: tuple[int, int]) -> tuple[int, int] | None:
    """Return another run that is alike as well, so that a guess is not shown as certain."""
    for part, shift in ((text.lines[: best[0] - 1], 0), (text.lines[best[1] :], best[1])):
        joined = "\n".join(part)
        if len(joined) < len(quote) * LIKENESS:
            continue
        match = fuzz.partial_ratio_alignment(quote, joined, score_cutoff=LIKENESS * 100)
        if match is not None:
            first = shift + joined.count("\n", 0, match.dest_start) + 1
            return first, first + joined.count("\n", match.dest_start, match.dest_end)
    return None
