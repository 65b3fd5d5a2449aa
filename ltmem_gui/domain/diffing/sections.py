"""Memory files are Markdown with parts that belong together: task groups, and one section per thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ltmem_gui.domain.naming import RAW_MEMORIES_FILENAME

THREAD_HEADING = "## Thread `"
_FENCES = ("```", "~~~")
_FIRST = frozenset("#`~")
_THREAD_FIELD = "thread_id: "
_HEADER_LINES = 12


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


def headings(lines: Sequence[str]) -> tuple[Heading, ...]:
    """Return the headings of a Markdown text in order; lines inside code fences are none."""
    found: list[Heading] = []
    fence = ""
    # Most lines begin with none of these; the comprehension passes over them several times faster than the loop.
    for number in [n for n, line in enumerate(lines) if line[:1] in _FIRST]:
        line = lines[number]
        start = line[:3]
        if start in _FENCES:
            fence = "" if fence == start else fence or start
        elif not fence and start.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            if level <= 6 and line[level : level + 1] in (" ", "\t"):
                found.append(Heading(number, level, line[level:].strip()))
    return tuple(found)


def heading_at(found: Sequence[Heading], line: int) -> Heading | None:
    """Return the nearest heading at or above a line (from 0)."""
    at = bisect_right(found, line, key=lambda h: h.line)
    return found[at - 1] if at else None


def block_at(found: Sequence[Heading], line: int, total: int) -> tuple[int, int] | None:
    """Return `[start, end)` of the level-1 block (a task group) around a line; None above the first one."""
    tops = [h.line for h in found if h.level == 1]
    at = bisect_right(tops, line)
    if not at:
        return None
    return tops[at - 1], tops[at] if at < len(tops) else total


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
