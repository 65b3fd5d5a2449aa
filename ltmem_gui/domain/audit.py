"""Does a cited place support what is claimed: a person's answer, apart from the machine's about the place (design §4).

A verdict is bound to the hashes of claim and evidence and goes stale when either changes. Records are only ever added:
an undo is a record, and so is an adjudication. Times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from ltmem_gui.domain.anchors import Location, LocationStatus
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.verdicts import VerdictRecord

UNDO = "undo"
FINAL_PREFIX = "final: "
UNDO_FINAL = FINAL_PREFIX + UNDO
NO_EVIDENCE = "none"


class Support(StrEnum):
    """What a person says of one citation, in the order of the keys 1 to 5."""

    SUPPORTS = "supports"
    PARTLY = "partly"
    DOES_NOT_SUPPORT = "does not support"
    WRONG_PLACE = "wrong place"
    CANNOT_JUDGE = "cannot judge"

    @property
    def asks_for_note(self) -> bool:
        """Tell whether the next reader needs to know why."""
        return self in (self.PARTLY, self.DOES_NOT_SUPPORT, self.WRONG_PLACE)


GUIDELINE_VERSION = "1"
GUIDELINE: dict[Support, str] = {
    Support.SUPPORTS: "The cited lines alone say what is claimed. “Use pnpm here” cites the person asking for pnpm.",
    Support.PARTLY: "Some of the claim is there, some is not. “Use pnpm 9” cites a line that only says pnpm.",
    Support.DOES_NOT_SUPPORT: "The lines speak of it and say otherwise, or say nothing that carries the claim.",
    Support.WRONG_PLACE: "The lines are about something else; the right ones are nearby or in another file.",
    Support.CANNOT_JUDGE: "The text is cut, garbled, or needs knowledge you do not have. Say so rather than guess.",
}
"""One rule and one example for each verdict; the version travels with every report."""


@dataclass(frozen=True)
class AuditItem:
    """One claim with one citation: what a verdict is given for.

    `line` is where the citation stands in `file`; `claim_lines` where the claim does (none for a citation that no
    bullet names: its note is the claim then). `evidence` is what the cited lines say now, empty where they were not
    found. `cited_at` is when the cited session last changed; `threads` are the sessions the texts may speak of.
    """

    key: str
    file: str
    line: int
    claim: str
    claim_lines: tuple[int, ...]
    entry: CitationEntry
    location: Location
    group: str = ""
    evidence: str = ""
    before: str = ""
    after: str = ""
    threads: tuple[str, ...] = ()
    cited_at: int | None = None
    is_new: bool = False
    smells: tuple[str, ...] = ()
    score: float | None = None

    @cached_property
    def binding(self) -> str:
        """Return the hashes of claim and evidence that a verdict holds for."""
        evidence = text_hash(self.evidence) if self.evidence else NO_EVIDENCE
        return f"{text_hash(self.claim)}:{evidence}"


@dataclass(frozen=True, slots=True)
class Claim:
    """One bullet of the memory and how its citations stand."""

    file: str
    line: int
    text: str
    group: str = ""
    keys: tuple[str, ...] = ()
    statuses: tuple[LocationStatus, ...] = ()

    @property
    def state(self) -> str:
        """Return `cited` (a citation was found in its place), `not checked`, `broken` (none was) or `uncited`."""
        if not self.statuses:
            return "uncited"
        if any(status.resolves and status is not LocationStatus.NOT_CHECKED for status in self.statuses):
            return "cited"
        return "not checked" if LocationStatus.NOT_CHECKED in self.statuses else "broken"


@dataclass(frozen=True, slots=True)
class Standing:
    """A verdict that counts: `is_stale` when claim or evidence changed since; `is_final` for an adjudication."""

    record: VerdictRecord
    support: Support
    is_stale: bool = False
    is_final: bool = False


@dataclass(slots=True)
class _Stacks:
    by_item: dict[tuple[str, str], list[VerdictRecord]] = field(
        default_factory=dict[tuple[str, str], list[VerdictRecord]]
    )

    def put(self, record: VerdictRecord) -> None:
        self.by_item.setdefault((record.rater, record.item), []).append(record)

    def pop(self, record: VerdictRecord) -> None:
        stack = self.by_item.get((record.rater, record.item))
        if stack:
            stack.pop()


class Verdicts:
    """What all records together say now.

    Records come oldest first; unknown words are passed over. `current` are the keys of the items that exist: a verdict
    of a key that is gone follows its texts to the key they have now.
    """

    def __init__(self, records: Iterable[VerdictRecord], current: Iterable[str] = ()) -> None:
        self.records = tuple(records)
        self._own, self._final = _Stacks(), _Stacks()
        for record in self.records:
            stacks = self._final if record.verdict.startswith(FINAL_PREFIX) else self._own
            if record.verdict in (UNDO, UNDO_FINAL):
                stacks.pop(record)
            elif support_of(record) is not None:
                stacks.put(record)
        self._order = {id(record): place for place, record in enumerate(self.records)}
        keys = frozenset(current)
        self._bound = _by_binding(self._own, keys)
        self._bound_final = _by_binding(self._final, keys)

    @property
    def raters(self) -> tuple[str, ...]:
        """Return who has verdicts that count, in order of name."""
        return tuple(sorted({rater for (rater, _), stack in self._own.by_item.items() if stack}))

    def of(self, item: AuditItem, rater: str) -> Standing | None:
        """Return a rater's verdict of an item: one for exactly these texts first, else the last one as stale.

        A renumbered or re-anchored citation whose texts did not change keeps its verdict.
        """
        return self._standing(item, rater, self._own, self._bound)

    def all_of(self, item: AuditItem) -> tuple[Standing, ...]:
        """Return every rater's verdict of an item, in order of name."""
        found = (self.of(item, rater) for rater in self.raters)
        return tuple(standing for standing in found if standing is not None)

    def final(self, item: AuditItem) -> Standing | None:
        """Return the adjudication of an item, the latest where there are several; one that is not stale first."""
        raters = {rater for rater, _ in self._final.by_item}
        found = [self._standing(item, rater, self._final, self._bound_final) for rater in raters]
        standings = [standing for standing in found if standing is not None]
        return max(standings, key=lambda s: (not s.is_stale, self._order[id(s.record)]), default=None)

    def _standing(
        self, item: AuditItem, rater: str, stacks: _Stacks, bound: dict[tuple[str, str], VerdictRecord]
    ) -> Standing | None:
        stack = stacks.by_item.get((rater, item.key))
        last = stack[-1] if stack else None
        if last is None or last.binding != item.binding:
            last = bound.get((rater, item.binding), last)
        support = support_of(last) if last is not None else None
        if last is None or support is None:
            return None
        return Standing(last, support, last.binding != item.binding, stacks is self._final)


def _by_binding(stacks: _Stacks, current: frozenset[str]) -> dict[tuple[str, str], VerdictRecord]:
    """Index what counts of items that are gone; verdicts about missing evidence hold for their own item only."""
    tops = [stack[-1] for (_, key), stack in stacks.by_item.items() if stack and key not in current]
    return {(top.rater, top.binding): top for top in tops if not top.binding.endswith(f":{NO_EVIDENCE}")}


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text; what is not valid Unicode is hashed as it is."""
    return content_hash(text.encode("utf-8", "surrogatepass"))


def support_of(record: VerdictRecord) -> Support | None:
    """Return the verdict a record holds, None for an undo or a word of another version."""
    word = record.verdict.removeprefix(FINAL_PREFIX)
    return Support(word) if word in set(Support) else None


def verdict_record(
    item: AuditItem, support: Support, *, rater: str, frame: str, at: int, note: str = "", final: bool = False
) -> VerdictRecord:
    """Return the record of a verdict; `final` makes it an adjudication."""
    return VerdictRecord(
        at=at,
        rater=rater,
        frame=frame,
        item=item.key,
        verdict=f"{FINAL_PREFIX}{support}" if final else str(support),
        note=note.strip(),
        binding=item.binding,
        thread_ids=item.threads,
    )


def undo_record(record: VerdictRecord, *, frame: str, at: int) -> VerdictRecord:
    """Return the record that takes a verdict back; the rater's one before it counts again."""
    word = UNDO_FINAL if record.verdict.startswith(FINAL_PREFIX) else UNDO
    return VerdictRecord(at, record.rater, frame, record.item, word, "", record.binding, record.thread_ids)


def permalink(entry: CitationEntry, baseline: str | None) -> str:
    """Return `path@commit#L10-15`; without a baseline there is no commit to name."""
    at = f"@{baseline}" if baseline else ""
    lines = f"L{entry.start}" if entry.start == entry.end else f"L{entry.start}-{entry.end}"
    return f"{entry.path}{at}#{lines}"
