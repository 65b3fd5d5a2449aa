"""Why a line is there: the citation of the line under the cursor and the lines it points at (D5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ltmem_gui.domain.citations import CitationEntry, parse_entry
from ltmem_gui.domain.diffing.sections import Headings
from ltmem_gui.domain.memory_document import Bullet, Document, Group, read_document
from ltmem_gui.domain.rollouts import Rollout

_AROUND = 4
_MAX_LINES = 400


class Support(StrEnum):
    """What can be said of the sources of a line."""

    CITED = "cited"
    NO_SOURCE = "no source"
    NOT_A_CLAIM = "nothing to cite"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One line of a source: its number or speaker, its text, and whether the citation covers it."""

    label: str
    text: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """One cited place. `lines` is empty while the source is not read; `thread` names a rollout that can be."""

    title: str
    note: str
    lines: tuple[EvidenceLine, ...] = ()
    problem: str = ""
    thread: str = ""
    entry: CitationEntry | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The answer for one line of the proposed text; `line` (from 1) is where the claim or the citation stands."""

    support: Support
    claim: str = ""
    evidence: tuple[Evidence, ...] = ()
    line: int = 0


class Provenances:
    """Answer for the lines of one proposed memory file; each task group is parsed once."""

    def __init__(self, lines: Sequence[str], texts: Mapping[str, str], headings: Headings | None = None) -> None:
        self._lines = lines
        self._texts = texts
        self._headings = headings or Headings(lines)
        self._blocks: dict[int, Document] = {}

    def of_line(self, line: int, rollouts: Mapping[str, Rollout]) -> Provenance:
        """Return where line `line` (from 1) comes from; `rollouts` are the sessions read so far, by thread id."""
        if not 1 <= line <= len(self._lines):
            return Provenance(Support.NOT_A_CLAIM)
        entry = parse_entry(self._lines[line - 1])
        if isinstance(entry, CitationEntry):
            return Provenance(Support.CITED, entry.location, (self._evidence(entry, rollouts),), line)
        # Only the task group around the line is read: a file of megabytes would hold the cursor up.
        block = self._headings.block(line - 1)
        if block is None:
            return Provenance(Support.NOT_A_CLAIM)
        start, end = block
        if start not in self._blocks:
            self._blocks[start] = read_document("".join(self._lines[start:end]))
        found = _bullet_at(self._blocks[start], line - start)
        if found is None:
            return Provenance(Support.NOT_A_CLAIM)
        group, bullet = found
        claims = group.entries_by_claim
        entries = [entry for number in bullet.claims for entry in claims.get(number, ())]
        if not entries:
            return Provenance(Support.NO_SOURCE, bullet.text)
        found_at = tuple(self._evidence(entry, rollouts) for entry in entries)
        return Provenance(Support.CITED, bullet.text, found_at, start + bullet.line)

    def of_thread(self, thread: str, rollouts: Mapping[str, Rollout]) -> Provenance:
        """Return the session that a rendered input comes from, with what the person said in it once it is read."""
        rollout = rollouts.get(thread)
        lines = tuple(said(rollout)) if rollout is not None else ()
        note = "This input is rendered from what was extracted of the session."
        return Provenance(Support.INPUT, thread, (Evidence(f"rollout {thread}", note, lines, thread=thread),))

    def _evidence(self, entry: CitationEntry, rollouts: Mapping[str, Rollout]) -> Evidence:
        if entry.status != "ok":
            return Evidence(entry.location, entry.note, problem=f"the range is {entry.status}", entry=entry)
        thread = entry.thread_id
        if thread is not None:
            rollout = rollouts.get(thread)
            if rollout is None:
                return Evidence(f"rollout {thread}", entry.note, thread=thread, entry=entry)
            return Evidence(f"rollout {thread}", entry.note, _rollout_lines(rollout, entry), thread=thread, entry=entry)
        text = self._texts.get(entry.path)
        if text is None:
            return Evidence(entry.location, entry.note, problem="the file is not in the memory folder", entry=entry)
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        if entry.start > len(lines):
            return Evidence(entry.location, entry.note, problem=f"the file has only {len(lines)} lines", entry=entry)
        first, last = max(1, entry.start - _AROUND), min(len(lines), entry.end + _AROUND, entry.start + _MAX_LINES)
        shown = tuple(EvidenceLine(str(n), lines[n - 1], entry.start <= n <= entry.end) for n in range(first, last + 1))
        return Evidence(entry.location, entry.note, shown, entry=entry)


def said(rollout: Rollout) -> Iterator[EvidenceLine]:
    """Yield what the person typed in a session."""
    for item in rollout.items:
        if item.role == "user" and item.kind == "message" and not (item.injected or item.inherited or item.undone):
            for number, text in enumerate(item.text.split("\n")[:_MAX_LINES]):
                yield EvidenceLine(str(item.line or item.row or "") if not number else "", text, False)


def _rollout_lines(rollout: Rollout, entry: CitationEntry) -> tuple[EvidenceLine, ...]:
    """Return the turns in and just around the cited lines; speakers stand in the margin."""
    shown: list[EvidenceLine] = []
    for item in rollout.items:
        place = item.line or item.row or 0
        if entry.start - 2 <= place <= entry.end + 2:
            cited = entry.start <= place <= entry.end
            for number, text in enumerate(item.text.split("\n")[:_MAX_LINES]):
                shown.append(EvidenceLine(f"{place} {item.role}" if not number else "", text, cited))
    return tuple(shown)


def _bullet_at(document: Document, line: int) -> tuple[Group, Bullet] | None:
    for group in document.groups:
        for section in group.sections:
            for item in section.items:
                if isinstance(item, Bullet) and item.line <= line <= item.line + len(item.more):
                    return group, item
    return None
