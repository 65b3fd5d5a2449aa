"""The citation protocol: point at lines, tolerate bad lines, never lose one in silence.

Block (mission §3, reference §5.2, design §5.3)::

    <citation_entries>
    path/to/file.md:10-15 |note=[why this matters]
    rollout:<thread id>:42-50 |note=[c2 what was said]
    </citation_entries>
    <rollout_ids>
    thread-abc-123
    </rollout_ids>

with or without `<oai-mem-citation>` around it; `<thread_ids>` counts only where no `<rollout_ids>` is. Lines end at
0x0A and are counted from 1 in the text given. Nothing here raises for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

OUTER_OPEN, OUTER_CLOSE = "<oai-mem-citation>", "</oai-mem-citation>"
ENTRIES_OPEN, ENTRIES_CLOSE = "<citation_entries>", "</citation_entries>"
IDS_OPEN, IDS_CLOSE = "<rollout_ids>", "</rollout_ids>"
LEGACY_IDS_OPEN, LEGACY_IDS_CLOSE = "<thread_ids>", "</thread_ids>"
ROLLOUT_PREFIX = "rollout:"
NOTE_MARK = "|note=["
MAX_LINE_NUMBER = 2**32 - 1

# The white space of the public reader; Python's own set also has U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NUMBER = re.compile(r"\+?0*([0-9]{1,10})\Z", re.ASCII)
# What nearly every line looks like: printable ASCII, at most 9 digits. It is read the same way as any other line.
_PLAIN = re.compile(r"([!-{}~](?:[ -{}~]*[!-{}~])?):([0-9]{1,9})-([0-9]{1,9}) ?\|note=\[([ -~]*)\]\Z", re.ASCII)
_CLAIM = re.compile(r"c([1-9][0-9]{0,8})(?![0-9A-Za-z_])")
_TAG = re.compile(r"<(?=/?(?:oai-mem-citation|citation_entries|rollout_ids|thread_ids)>)")


@dataclass(frozen=True, slots=True)
class CitationEntry:
    """One readable citation line. `line` is where it stands; two entries that differ only in it are equal."""

    path: str
    start: int
    end: int
    note: str = ""
    line: int = field(default=0, compare=False)

    @property
    def status(self) -> str:
        """Return `ok`, `zero`, `reversed` or `empty path`: what can be said without opening anything."""
        if not self.path:
            return "empty path"
        if self.start == 0 or self.end == 0:
            return "zero"
        return "reversed" if self.start > self.end else "ok"

    @property
    def location(self) -> str:
        """Return `path:start-end`."""
        return f"{self.path}:{self.start}-{self.end}"

    @property
    def thread_id(self) -> str | None:
        """Return the session a `rollout:` citation points into, None for a file."""
        return self.path.removeprefix(ROLLOUT_PREFIX) if self.path.startswith(ROLLOUT_PREFIX) else None

    @property
    def claim(self) -> int | None:
        """Return the number of the bullet this supports (`c2 …` → 2), None where the note names none."""
        match = _CLAIM.match(self.note)
        return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line inside a block that is no citation, and why; where it stands makes no difference to equality."""

    line: int = field(compare=False)
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ParsedCitations:
    """Everything a text cites; ids once each, in first-seen order and spelling."""

    entries: tuple[CitationEntry, ...] = ()
    rollout_ids: tuple[str, ...] = ()
    rejected: tuple[RejectedLine, ...] = ()


def parse(text: str) -> ParsedCitations:
    """Read every citation block of a text; a bad line costs only itself."""
    entries: list[CitationEntry] = []
    rejected: list[RejectedLine] = []
    ids: list[str] = []
    counter = _LineCounter(text)
    for start, end in _scopes(text):
        for block in _blocks(text, start, end, ENTRIES_OPEN, ENTRIES_CLOSE):
            for line, content in _lines(text, block, counter):
                found = _read(content, line)
                if isinstance(found, CitationEntry):
                    entries.append(found)
                else:
                    rejected.append(RejectedLine(line, content, found))
        blocks = list(_blocks(text, start, end, IDS_OPEN, IDS_CLOSE))
        blocks = blocks or list(_blocks(text, start, end, LEGACY_IDS_OPEN, LEGACY_IDS_CLOSE))
        ids.extend(_trimmed(part) for block in blocks for part in text[block[0] : block[1]].split("\n"))
    return ParsedCitations(tuple(entries), unique_ids(ids), tuple(rejected))


def parse_entry(line_text: str, line: int = 0) -> CitationEntry | str:
    """Read one citation line; return the reason in words where it is none."""
    return _read(_trimmed(line_text), line)


def _read(text: str, line: int) -> CitationEntry | str:
    plain = _PLAIN.match(text)
    if plain is not None:
        return CitationEntry(plain[1], int(plain[2]), int(plain[3]), plain[4].strip(" "), line)
    if NOTE_MARK not in text:
        return "no |note=[ after the location"
    if not text.endswith("]"):
        return "the note is not closed by ] at the end of the line"
    reason = ""
    at = text.find(NOTE_MARK)
    while at >= 0:
        # A path may hold the mark too: take the first place where what stands before it is a location.
        found = _location(_trimmed(text[:at]))
        if not isinstance(found, str):
            note = _trimmed(text[at + len(NOTE_MARK) : -1])
            return CitationEntry(found[0], found[1], found[2], note, line)
        reason = reason or found
        at = text.find(NOTE_MARK, at + 1)
    return reason


def format(parsed: ParsedCitations) -> str:  # noqa: A001 -- the field's name for the inverse of parse
    """Write entries and ids as one block; `parse` reads the same values back."""
    lines = [ENTRIES_OPEN, *map(format_entry, parsed.entries), ENTRIES_CLOSE]
    lines += [IDS_OPEN, *map(_one_line, parsed.rollout_ids), IDS_CLOSE]
    return "\n".join(lines) + "\n"


def format_entry(entry: CitationEntry) -> str:
    """Write one citation line; line breaks and tags inside a part are defused."""
    return f"{_one_line(entry.path)}:{entry.start}-{entry.end} {NOTE_MARK}{_one_line(entry.note)}]"


def unique_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Drop blank ids and repeats; ids that differ only in letter case are one, first spelling kept."""
    seen: dict[str, str] = {}
    for item in ids:
        if item:
            seen.setdefault(item.lower(), item)
    return tuple(seen.values())


def strip_blocks(text: str) -> str:
    """Return what a reader of an agent's message sees: the text without citation blocks, trimmed."""
    stream = CitationStream()
    visible = stream.feed(text) + stream.finish()
    for opening, closing in ((ENTRIES_OPEN, ENTRIES_CLOSE), (IDS_OPEN, IDS_CLOSE), (LEGACY_IDS_OPEN, LEGACY_IDS_CLOSE)):
        visible = _without(visible, opening, closing)
    return _trimmed(visible)


class CitationStream:
    """Take `<oai-mem-citation>` blocks out of a message that arrives in pieces.

    Tags may be split over pieces and are literal, not nested. A partial opening tag at the end is shown; a block
    that is not closed ends with the message.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._inside = False
        self._block: list[str] = []
        self._blocks: list[str] = []

    @property
    def blocks(self) -> tuple[str, ...]:
        """Return the inner texts of the blocks that are complete."""
        return tuple(self._blocks)

    @property
    def citations(self) -> ParsedCitations:
        """Return what the complete blocks cite, together; lines are counted within each block."""
        parts = [parse(block) for block in self._blocks]
        return ParsedCitations(
            tuple(entry for part in parts for entry in part.entries),
            unique_ids(item for part in parts for item in part.rollout_ids),
            tuple(line for part in parts for line in part.rejected),
        )

    def feed(self, chunk: str) -> str:
        """Take the next piece; return the text that may be shown now."""
        self._pending += chunk
        shown: list[str] = []
        while True:
            tag = OUTER_CLOSE if self._inside else OUTER_OPEN
            at = self._pending.find(tag)
            cut = at if at >= 0 else len(self._pending) - _overlap(self._pending, tag)
            (self._block if self._inside else shown).append(self._pending[:cut])
            if at < 0:
                self._pending = self._pending[cut:]
                return "".join(shown)
            self._pending = self._pending[at + len(tag) :]
            self._switch()

    def finish(self) -> str:
        """End the message; return what is left to show."""
        rest, self._pending = self._pending, ""
        if not self._inside:
            return rest
        self._block.append(rest)
        self._switch()
        return ""

    def _switch(self) -> None:
        if self._inside:
            self._blocks.append("".join(self._block))
            self._block.clear()
        self._inside = not self._inside


class _LineCounter:
    """Number positions that only grow, in one pass over the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1

    def line_of(self, position: int) -> int:
        self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line


def _scopes(text: str) -> Iterator[tuple[int, int]]:
    """Yield the insides of outer blocks and the stretches between them, in order."""
    at = 0
    while (opening := text.find(OUTER_OPEN, at)) >= 0:
        yield at, opening
        inside = opening + len(OUTER_OPEN)
        closing = text.find(OUTER_CLOSE, inside)
        end = len(text) if closing < 0 else closing
        yield inside, end
        at = len(text) if closing < 0 else closing + len(OUTER_CLOSE)
    yield at, len(text)


def _blocks(text: str, start: int, end: int, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    at = start
    while (found := text.find(opening, at, end)) >= 0:
        inside = found + len(opening)
        close = text.find(closing, inside, end)
        if close < 0:
            return
        yield inside, close
        at = close + len(closing)


def _lines(text: str, block: tuple[int, int], counter: _LineCounter) -> Iterator[tuple[int, str]]:
    line = counter.line_of(block[0])
    for number, raw in enumerate(text[block[0] : block[1]].split("\n"), line):
        content = _trimmed(raw)
        if content:
            yield number, content


def _location(text: str) -> tuple[str, int, int] | str:
    path, colon, span = text.rpartition(":")
    if not colon:
        return "no line range after the path"
    first, dash, last = span.partition("-")
    if not dash:
        return "no range: expected start-end after the last colon"
    start, end = _number(first), _number(last)
    if start is None or end is None:
        return "a line number is not a whole number of at most 32 bits"
    return _trimmed(path), start, end


def _number(text: str) -> int | None:
    match = _NUMBER.match(_trimmed(text))
    if match is None:
        return None
    value = int(match[1])
    return value if value <= MAX_LINE_NUMBER else None


def _trimmed(text: str) -> str:
    return text.strip(WHITE_SPACE)


def defuse(text: str) -> str:
    """Return the text with protocol tags made harmless, so that quoted text opens and closes no block."""
    return _TAG.sub("‹", text)


def _one_line(text: str) -> str:
    return _trimmed(defuse(text.replace("\n", " ")))


def _without(text: str, opening: str, closing: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in _blocks(text, 0, len(text), opening, closing):
        parts.append(text[at : start - len(opening)])
        at = end + len(closing)
    parts.append(text[at:])
    return "".join(parts)


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text could begin the tag."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-size:]):
            return size
    return 0
