"""White-space modes: ways to look at a diff. They never make hunks, so no selection can depend on them (D11)."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

_RUNS = re.compile(r"[ \t\r]+")


class Whitespace(StrEnum):
    """What a view may leave out; `SHOW_ALL` is how it really is."""

    SHOW_ALL = "all white space shown"
    LINE_ENDS = "line ends ignored"
    TRAILING = "trailing white space ignored"
    AMOUNT = "amount of white space ignored"
    ALL = "white space ignored"


def normaliser(mode: Whitespace) -> Callable[[str], str] | None:
    """Return how a line is compared in a mode, None where every byte counts."""
    return _NORMALISERS[mode]


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _without_trailing(line: str) -> str:
    return line.rstrip(" \t\r\n")


def _with_single_spaces(line: str) -> str:
    return _RUNS.sub(" ", _without_trailing(line))


def _without_spaces(line: str) -> str:
    return _RUNS.sub("", _without_end(line))


_NORMALISERS: dict[Whitespace, Callable[[str], str] | None] = {
    Whitespace.SHOW_ALL: None,
    Whitespace.LINE_ENDS: _without_end,
    Whitespace.TRAILING: _without_trailing,
    Whitespace.AMOUNT: _with_single_spaces,
    Whitespace.ALL: _without_spaces,
}
