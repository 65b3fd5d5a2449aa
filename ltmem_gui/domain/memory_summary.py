"""The schema of `memory_summary.md` (reference §8.5): names, limits and reading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
