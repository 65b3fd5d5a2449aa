"""What a rater proposes instead: other lines, another note, no claim at all. Gives new bytes; the review decides.

There is no second door to writing: every repair becomes a plan. Each is checked against the text as it stands, so that
a line that moved meanwhile is refused and never replaced by guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ltmem_gui.domain.anchors import CitedText, Location, LocationStatus, inside_root
from ltmem_gui.domain.audit import AuditItem
from ltmem_gui.domain.citations import CitationEntry, format_entry, parse_entry
from ltmem_gui.domain.errors import StalePlan, UsageError

RepairKind = Literal["re-anchor", "fix note", "remove claim"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One proposal. `start` and `end` are the lines of a re-anchor, `note` the text of a fixed note."""

    kind: RepairKind
    item: AuditItem
    start: int = 0
    end: int = 0
    note: str = ""

    @property
    def reason(self) -> str:
        """Return what is proposed, in words."""
        if self.kind == "re-anchor":
            return f"points {self.item.entry.location} to lines {self.start}-{self.end}"
        if self.kind == "fix note":
            return f"words the note of {self.item.entry.location} anew"
        return "removes a claim and the citations that only it uses"


def anchored(item: AuditItem) -> Repair:
    """Return the repair that follows the machine's answer: a moved or edited place.

    Raises `UsageError` where the lines did not move to one certain place.
    """
    location = item.location
    if location.status not in (LocationStatus.MOVED, LocationStatus.EDITED):
        raise UsageError("the cited lines have no other certain place", "name the lines yourself")
    return Repair("re-anchor", item, location.start, location.end)


def pointed(file: str, entry: CitationEntry, start: int, end: int) -> Repair:
    """Return the repair that points one citation of a file to lines that a person chose."""
    location = Location(LocationStatus.NOT_CHECKED, entry.start, entry.end)
    item = AuditItem("", file, entry.line, "", (), entry, location)
    return Repair("re-anchor", item, start, end)


def anchorings(items: Iterable[AuditItem]) -> tuple[Repair, ...]:
    """Return the repairs of all citations whose lines moved to one certain place, each citation once."""
    found: dict[tuple[str, int], Repair] = {}
    for item in items:
        if item.location.status in (LocationStatus.MOVED, LocationStatus.EDITED):
            found.setdefault((item.file, item.line), anchored(item))
    return tuple(found.values())


def repaired(files: dict[str, bytes], repair: Repair) -> bytes:
    """Return the citing file after one repair; every byte that is not part of it stays.

    Raises `StalePlan` when the citation or the claim is not where the audit saw it, `UsageError` for lines that are not
    in the cited file.
    """
    item = repair.item
    data = files.get(item.file)
    if data is None:
        raise StalePlan("the citing file is gone", "read the folder again", item.file)
    lines = data.split(b"\n")
    if repair.kind == "remove claim":
        return _without_claim(lines, item)
    if repair.kind == "re-anchor":
        _require_lines(files, repair)
        entry = replace(item.entry, start=repair.start, end=repair.end)
    else:
        entry = replace(item.entry, note=_note(item.entry, repair.note))
    _require_entry(lines, item)
    end = b"\r" if lines[item.line - 1].endswith(b"\r") else b""
    lines[item.line - 1] = format_entry(entry).encode("utf-8", "surrogateescape") + end
    return b"\n".join(lines)


def _note(entry: CitationEntry, note: str) -> str:
    """Keep the number that links the note to its bullet."""
    if entry.claim is None or note.startswith(f"c{entry.claim} "):
        return note
    return f"c{entry.claim} {note}".strip()


def _require_lines(files: dict[str, bytes], repair: Repair) -> None:
    count = None
    if repair.item.entry.thread_id is None:
        path = inside_root(repair.item.entry.path) or ""
        count = len(CitedText(files[path]).lines) if path in files else 0
    if not 1 <= repair.start <= repair.end or (count is not None and repair.end > count):
        raise UsageError(
            f"{repair.start}-{repair.end} are no lines of {repair.item.entry.path}", "name lines that exist"
        )


def _require_entry(lines: list[bytes], item: AuditItem) -> None:
    row = lines[item.line - 1].decode("utf-8", "surrogateescape") if item.line <= len(lines) else ""
    if parse_entry(row) != item.entry:
        raise StalePlan("the citation is not on its line any more", "read the folder again", item.file, item.line)


def _without_claim(lines: list[bytes], item: AuditItem) -> bytes:
    """Take out the bullet, and this citation's line unless another bullet of the file names its number too."""
    _require_entry(lines, item)
    if not item.claim_lines:
        gone = {item.line}
    else:
        first = lines[item.claim_lines[0] - 1].decode("utf-8", "surrogateescape")
        if item.claim.split("\n")[0] not in first:
            raise StalePlan(
                "the claim is not on its line any more", "read the folder again", item.file, item.claim_lines[0]
            )
        gone = set(item.claim_lines)
        mark = f"[c{item.entry.claim}]".encode()
        start, end = _around(lines, item)
        entries = _entries_of(lines, start, end)
        rest = (lines[row - 1] for row in range(start, end) if row not in gone and row not in entries)
        if not any(mark in row for row in rest):
            gone |= {row for row, entry in entries.items() if entry.claim == item.entry.claim}
    return b"\n".join(line for number, line in enumerate(lines, 1) if number not in gone)


def _around(lines: list[bytes], item: AuditItem) -> tuple[int, int]:
    """Return the first line of the claim's task group and the line behind its last."""
    heads = [number for number, line in enumerate(lines, 1) if line.startswith(b"# ")]
    start = max((number for number in heads if number <= item.claim_lines[0]), default=1)
    return start, min((number for number in heads if number > item.claim_lines[0]), default=len(lines) + 1)


def _entries_of(lines: list[bytes], start: int, end: int) -> dict[int, CitationEntry]:
    """Return line number → citation of the lines that are one."""
    parsed = {row: parse_entry(lines[row - 1].decode("utf-8", "surrogateescape")) for row in range(start, end)}
    return {row: entry for row, entry in parsed.items() if isinstance(entry, CitationEntry)}
