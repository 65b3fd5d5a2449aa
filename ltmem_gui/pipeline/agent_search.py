"""The search tool of the consolidation agent: substrings, several at once, in one bounded answer (reference §5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

MatchMode = Literal["any", "all_on_same_line", "all_within_lines"]


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for; `line_count` counts the lines of an `all_within_lines` window."""

    queries: tuple[str, ...]
    mode: MatchMode = "any"
    line_count: int = 1
    case_sensitive: bool = True
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A run of lines, counted from 1, both ends included."""

    path: str
    start: int
    end: int


def find(path: str, lines: Sequence[str], search: Search) -> Iterator[Match]:
    """Yield the places in one file, in order; windows that contain a smaller window are left out.

    Raises `ValueError` for a query that is empty once it is normalized.
    """
    prepare = _preparer(search)
    queries = [prepare(query) for query in search.queries]
    if not all(queries):
        raise ValueError("a query has no letter or digit to look for" if search.normalized else "a query is empty")
    hits = ({i for i, query in enumerate(queries) if query in line} for line in map(prepare, lines))
    if search.mode == "all_within_lines":
        yield from _windows(path, hits, len(queries), search.line_count)
        return
    wanted = len(queries) if search.mode == "all_on_same_line" else 1
    for number, found in enumerate(hits, 1):
        if len(found) >= wanted:
            yield Match(path, number, number)


def _windows(path: str, hits: Iterable[set[int]], wanted: int, width: int) -> Iterator[Match]:
    """Yield the minimal windows of at most `width` lines in which every query occurs."""
    last: list[int] = [-1] * wanted
    previous = -1
    for number, found in enumerate(hits):
        for query in found:
            last[query] = number
        start = min(last)
        if found and start > previous and number - start < width:
            previous = start
            yield Match(path, start + 1, number + 1)


def _preparer(search: Search) -> Callable[[str], str]:
    def prepare(text: str) -> str:
        if search.normalized:
            text = "".join(char for char in text if char.isalnum())
        return text if search.case_sensitive else text.lower()

    return prepare
