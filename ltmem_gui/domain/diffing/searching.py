"""Find text in the lines of a diff (D12)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.errors import UsageError

Side = Literal["old", "new"]
MAX_PLACES = 10_000
_MAX_CHARACTERS = 10_000
# A repeat inside of a repeated group: the common way to an expression that never ends on a harmless line.
_NESTED_REPEAT = re.compile(r"\((?:[^()\\]|\\.)*(?<!\\)[+*}](?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,\d*\})")


@dataclass(frozen=True, slots=True)
class Place:
    """One hit: the side, the line (from 0) and the span in code points."""

    side: Side
    line: int
    start: int
    end: int


def compile_search(text: str, *, regex: bool, match_case: bool) -> re.Pattern[str]:
    """Return the pattern to search for. Raises `UsageError` for a bad regular expression or one that may never end."""
    if regex and _NESTED_REPEAT.search(text):
        raise UsageError("not searched: a repeat inside of a repeat may never end", "take one of the two repeats out")
    try:
        return re.compile(text if regex else re.escape(text), 0 if match_case else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"not a regular expression: {error}", "correct it, or switch to plain text") from error


def find_in(lines: Sequence[str], numbers: Iterable[int], side: Side, pattern: re.Pattern[str]) -> list[Place]:
    """Return the hits in the given lines; empty hits do not count, lines are searched up to 10,000 characters."""
    places: list[Place] = []
    for number in numbers:
        hits = pattern.finditer(lines[number].removesuffix("\n"), 0, _MAX_CHARACTERS)
        places.extend(Place(side, number, hit.start(), hit.end()) for hit in hits if hit.start() < hit.end())
        if len(places) >= MAX_PLACES:
            return places[:MAX_PLACES]
    return places
