"""Memory files are Markdown with parts that belong together: task groups, and one section per thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from ltmem_gui.domain.naming import RAW_MEMORIES_FILENAME

THREAD_HEADING = "## Thread `"
_FENCES = ("```", "~~~")
_FIRST = frozenset("#`~")
_THREAD_FIELD = "thread_id: "
_HEADER_LINES = 12
_STRETCH = 2_000


@dataclass(frozen=True, slots=True)
class Heading:
    """A Markdown heading; `line` counts from 0, `level` from 1."""

    line: int
    level: int
    title: str


def section_start(path: str) -> Callable[[str], bool] | None:
    """Return the test for lines that begin a part to be decided alone, None for files without parts."""
    if path == RAW_MEMORIES_FILENAME:
        return _is_thread_heading
    return _is_top_heading if path.endswith("MEMORY.md") else None


class Headings:
    """The headings of a Markdown text, read as far down as was asked for; lines inside code fences are none.

    `lines` are as `split_lines` makes them: none of them is empty. Lines count from 0.
    """

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self._lines = lines
        self._found: list[Heading] = []
        self._read = 0
        self._fence = ""

    def all(self) -> tuple[Heading, ...]:
        """Return every heading, in order."""
        self._read_to(len(self._lines))
        return tuple(self._found)

    def at(self, line: int) -> Heading | None:
        """Return the nearest heading at or above a line."""
        self._read_to(line + 1)
        at = bisect_right(self._found, line, key=_line_of)
        return self._found[at - 1] if at else None

    def block(self, line: int) -> tuple[int, int] | None:
        """Return `[start, end)` of the level-1 block (a task group) around a line; None above the first one."""
        self._read_to(line + 1)
        at = bisect_right(self._found, line, key=_line_of)
        start = next((h.line for h in reversed(self._found[:at]) if h.level == 1), None)
        if start is None:
            return None
        while True:
            end = next((h.line for h in islice(self._found, at, None) if h.level == 1), None)
            if end is not None or self._read >= len(self._lines):
                return start, len(self._lines) if end is None else end
            at = len(self._found)
            self._read_to(self._read + 1)

    def _read_to(self, stop: int) -> None:
        """Read on to a line, and a stretch beyond it."""
        if stop <= self._read or self._read >= len(self._lines):
            return
        first, self._read = self._read, min(len(self._lines), stop + _STRETCH)
        part = self._lines[first : self._read]
        # Most lines begin with none of these; the comprehension passes over them several times faster than the loop.
        for number in [n for n, line in enumerate(part) if line[0] in _FIRST]:
            line = part[number]
            start = line[:3]
            if start in _FENCES:
                self._fence = "" if self._fence == start else self._fence or start
            elif not self._fence and start.startswith("#"):
                level = len(line) - len(line.lstrip("#"))
                if level <= 6 and line[level : level + 1] in (" ", "\t"):
                    self._found.append(Heading(first + number, level, line[level:].strip()))


def thread_of_section(heading: str) -> str | None:
    """Return the thread id that a heading of `raw_memories.md` names."""
    if not heading.startswith(THREAD_HEADING):
        return None
    name, tick, _ = heading[len(THREAD_HEADING) :].partition("`")
    return name if tick else None


def thread_of_summary(lines: Sequence[str]) -> str | None:
    """Return the thread id that the header of a rollout summary names."""
    for line in lines[:_HEADER_LINES]:
        if line.startswith(_THREAD_FIELD):
            return line[len(_THREAD_FIELD) :].strip() or None
    return None


def thread_at(lines: Sequence[str], line: int) -> str | None:
    """Return the thread whose section of `raw_memories.md` holds a line (from 0)."""
    for number in range(min(line, len(lines) - 1), -1, -1):
        thread = thread_of_section(lines[number])
        if thread is not None:
            return thread
    return None


def _is_thread_heading(line: str) -> bool:
    return line.startswith(THREAD_HEADING)


def _is_top_heading(line: str) -> bool:
    return line.startswith("# ")


def _line_of(heading: Heading) -> int:
    return heading.line
