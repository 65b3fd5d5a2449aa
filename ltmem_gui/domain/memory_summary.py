"""The schema of `memory_summary.md` (reference §8.5): names, limits, reading and checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.memory_checks import Remark
from ltmem_gui.domain.memory_document import read_document

VERSION_LINE = "v1"
PROFILE = "## User Profile"
PREFERENCES = "## User preferences"
GENERAL_TIPS = "## General Tips"
INDEX = "## What's in Memory"
OLDER_TOPICS = "### Older Memory Topics"
HEADINGS = (PROFILE, PREFERENCES, GENERAL_TIPS, INDEX)
PROFILE_WORDS = 350
SUMMARY_BYTES = 10_000
"""What a reader is given: 2,500 tokens of 4 bytes, the middle left out (reference §5.1)."""

DAY_HEADING = re.compile(r"#### ((?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2})\s*\Z")


@dataclass(frozen=True, slots=True)
class Topic:
    """One `- topic: k1, k2` line of the index, with the headings it stands below."""

    name: str
    keywords: tuple[str, ...]
    scope: str
    day: str
    older: bool
    line: int


def headings(lines: list[str]) -> list[tuple[int, str]]:
    """Return (line, heading) of every level-two heading; lines count from 1."""
    return [(number, line.rstrip()) for number, line in enumerate(lines, 1) if line.startswith("## ")]


def topics(lines: list[str]) -> Iterator[Topic]:
    """Yield the topics of the index in order."""
    inside = older = False
    scope = day = ""
    for number, line in enumerate(lines, 1):
        text = line.rstrip()
        if text.startswith("## "):
            inside = text == INDEX
        elif text == OLDER_TOPICS:
            older, scope, day = True, "", ""
        elif text.startswith("### "):
            older, scope, day = False, text[4:].strip(), ""
        elif text.startswith("#### "):
            match = DAY_HEADING.match(text)
            scope, day = (text[5:].strip(), "") if older else (scope, match[1] if match else "")
        elif inside and text.startswith("- "):
            name, _, words = text[2:].rpartition(": ")
            keywords = tuple(word.strip() for word in words.split(",") if word.strip())
            yield Topic(name or words, keywords if name else (), scope, day, older, number)


def unread_lines(data: bytes) -> tuple[int, int] | None:
    """Return the first and last line that a reader's limit cuts out of the middle, None where all is read."""
    if len(data) <= SUMMARY_BYTES:
        return None
    head = SUMMARY_BYTES // 2
    tail = len(data) - (SUMMARY_BYTES - head)
    return data.count(b"\n", 0, head) + 1, data.count(b"\n", 0, tail - 1) + 1


def check_summary(path: str, data: bytes, text: str, memory: str) -> Iterator[Remark]:
    """Yield what breaks the form of the summary; `memory` is the text of `MEMORY.md`."""
    lines = text.split("\n")
    yield from _check_headings(path, lines)
    yield from _check_sections(path, lines)
    yield from _check_index(path, lines, memory)
    unread = unread_lines(data)
    if unread is not None:
        words = f"{len(data)} bytes; a reader gets {SUMMARY_BYTES}: lines {unread[0]}-{unread[1]} would not be read"
        yield Remark("size", Severity.WARNING, path, unread[0], words)


def _check_headings(path: str, lines: list[str]) -> Iterator[Remark]:
    if len(lines) > 1 and lines[1].strip():
        yield _form(path, 2, "line 2 is blank", Severity.INFO)
    found = [heading for _, heading in headings(lines)]
    for name in HEADINGS:
        if name not in found:
            yield _form(path, None, f"{name} is missing")
    reached = -1
    for number, heading in headings(lines):
        if heading not in HEADINGS:
            yield _form(path, number, f"{heading} is not a heading of the summary", Severity.INFO)
            continue
        place = HEADINGS.index(heading)
        if place <= reached:
            yield _form(path, number, f"{heading} is out of order")
        reached = max(reached, place)


def _check_sections(path: str, lines: list[str]) -> Iterator[Remark]:
    current, words, at = "", 0, 0
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            current = line.rstrip()
            at = number if current == PROFILE else at
        elif current == PROFILE:
            words += len(line.split())
        elif current in (PREFERENCES, GENERAL_TIPS) and line.strip() and not line.startswith(("- ", " ", "\t")):
            yield _form(path, number, f"{current} holds bullets that begin with -")
    if words > PROFILE_WORDS:
        yield _form(path, at, f"the profile has {words} words; at most {PROFILE_WORDS}")


def _check_index(path: str, lines: list[str], memory: str) -> Iterator[Remark]:
    found = list(topics(lines))
    folded = memory.casefold()
    seen: dict[tuple[str, str], int] = {}
    days: dict[str, str] = {}
    for topic in found:
        if not topic.older:
            if not topic.day:
                yield _form(path, topic.line, "the topic stands below no #### YYYY-MM-DD")
            elif days.get(topic.scope, topic.day) < topic.day:
                yield _form(path, topic.line, f"days of {topic.scope} are not newest first")
            days[topic.scope] = topic.day
        first = seen.setdefault((topic.scope, topic.name.casefold()), topic.line)
        if first != topic.line:
            yield _form(path, topic.line, f"the topic stands twice, first on line {first}")
        if not lines[topic.line : topic.line + 1] or not lines[topic.line].strip().startswith("- desc:"):
            yield _form(path, topic.line, "the topic has no desc line below it")
        lost = [word for word in topic.keywords if word.casefold() not in folded]
        if lost:
            yield _form(path, topic.line, f"not found in MEMORY.md: {', '.join(lost)}", Severity.INFO)
    yield from _check_coverage(path, lines, memory)


def _check_coverage(path: str, lines: list[str], memory: str) -> Iterator[Remark]:
    start = next((number for number, heading in headings(lines) if heading == INDEX), None)
    if start is None:
        return
    index = "\n".join(lines[start:]).casefold()
    for group in read_document(memory).groups:
        keywords = [word for task in group.tasks for line in task.keywords for word in line.lstrip("- ").split(",")]
        names = [group.title, group.cwd, *keywords]
        if not any(name.strip() and name.strip().casefold() in index for name in names):
            yield _form(path, start, f"the task group {group.title} is not in the index")


def _form(path: str, line: int | None, text: str, severity: Severity = Severity.WARNING) -> Remark:
    return Remark("schema", severity, path, line, text)
