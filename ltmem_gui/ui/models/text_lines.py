"""Texts as numbered lines for a line view: memory files, and rollouts item by item."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass

from ltmem_gui.domain.rollouts import Rollout, RolloutItem

MOST_LINES = 1_000
"""A longer file would hold the window while it is laid out."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line: `label` stands in the margin (a number), `marked` puts a band behind it."""

    label: str
    text: str
    marked: bool = False


def decoded(data: bytes) -> str:
    """Decode a file for the eye; bytes that are no UTF-8 become visible tags later."""
    return data.decode("utf-8", "surrogateescape")


def lines_of(text: str, marked: range | None = None) -> tuple[TextLine, ...]:
    """Cut a text at 0x0A and number its lines from 1; `marked` holds the numbers to mark."""
    parts = text.split("\n")
    if parts and parts[-1] == "":
        parts.pop()
    return tuple(
        TextLine(str(number), part, marked is not None and number in marked) for number, part in enumerate(parts, 1)
    )


def lines_around(text: str, marked: Collection[int], *, most: int = MOST_LINES) -> tuple[TextLine, ...]:
    """Do what `lines_of` does for a text of any length: of more than `most` lines, those around the first mark."""
    parts = text.split("\n")
    if parts[-1] == "":
        parts.pop()
    begin, end = 0, len(parts)
    if end > most:
        begin = max(0, min(min(marked, default=1) - most // 4, end - most))
        end = begin + most
    shown = [TextLine(str(at), part, at in marked) for at, part in enumerate(parts[begin:end], begin + 1)]
    if begin:
        shown.insert(0, TextLine("…", f"({begin} lines before are not shown)"))
    if end < len(parts):
        shown.append(TextLine("…", f"({len(parts) - end} more lines are not shown)"))
    return tuple(shown)


def rollout_lines(rollout: Rollout, marked: Container[int] | None = None) -> tuple[TextLine, ...]:
    """Write a session for reading: each item under its speaker, with the line it has in the file."""
    lines: list[TextLine] = []
    for item in rollout.items:
        place = item.line if item.line is not None else item.row
        on = marked is not None and place is not None and place in marked
        lines.append(TextLine("" if place is None else str(place), _speaker(item), on))
        lines.extend(TextLine("", "  " + part, on) for part in item.text.split("\n"))
        lines.append(TextLine("", ""))
    return tuple(lines)


def _speaker(item: RolloutItem) -> str:
    words = [item.role.upper()]
    if item.kind != "message":
        words.append(item.kind.replace("_", " "))
    if item.tool is not None:
        words.append(item.tool.name + (" (failed)" if item.tool.failed else ""))
    if item.injected:
        words.append("written by the host")
    if item.inherited:
        words.append("inherited")
    return " · ".join(words)
