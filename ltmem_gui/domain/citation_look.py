"""A look at a folder's citations for the list: where known lines are now, and which citations belong together.

Only what is known beyond the numbers is answered for: citations of files of which a record or the baseline tells what
they said. Positions are (citing file, line in it).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ltmem_gui.domain.anchors import EvidenceSnapshot, Location
from ltmem_gui.domain.audit_evidence import Kept
from ltmem_gui.domain.audit_items import bullets_of, numbers_of
from ltmem_gui.domain.audit_usage import Usage, standing_words
from ltmem_gui.domain.citation_check import Sessions, Snapshots, check_citations, citation_key, citing_files
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.memory_document import read_document
from ltmem_gui.domain.selection import RecencyFallback
from ltmem_gui.domain.usage import CitedUse, cited_names

Position = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Looked:
    """Where a citation's lines are, and what they said: since when that is known (Unix seconds), and from what."""

    location: Location
    taken: EvidenceSnapshot
    origin: str = "baseline"
    since: int | None = None


@dataclass(frozen=True, slots=True)
class LookSources:
    """What a look is made from: the folder, what its baseline said, and the records."""

    files: Mapping[str, bytes]
    at_baseline: Snapshots
    kept: Kept


def look_up(
    sources: LookSources, *, only: Collection[Position] | None = None, without: Collection[Position] = ()
) -> dict[Position, Looked]:
    """Answer for the citations at `only` these positions (all), `without` those that were answered for."""

    def wanted(file: str, entry: CitationEntry) -> bool:
        at = (file, entry.line)
        return entry.thread_id is None and at not in without and (only is None or at in only)

    texts = {key: record.taken for key, record in sources.kept.items()}
    nobody = Sessions({})
    found: dict[Position, Looked] = {}
    for item in check_citations(
        sources.files, sessions=nobody, snapshots=sources.at_baseline, kept=texts, wanted=wanted
    ):
        if item.entry is None or item.taken is None:
            continue
        record = sources.kept.get(citation_key(item.file, item.entry))
        known = (record.origin, record.at) if record is not None else ("baseline", None)
        found[item.file, item.line] = Looked(item.location, item.taken, *known)
    return found


@dataclass(frozen=True, slots=True)
class ClaimPlaces:
    """How claims and citations belong together.

    `together` maps a position to the lines of all citations of the same claims, in reading order, its own among them;
    `uncited` are the claims that no citation stands behind: file, line, text.
    """

    together: Mapping[Position, tuple[int, ...]] = field(default_factory=dict[Position, tuple[int, ...]])
    uncited: tuple[tuple[str, int, str], ...] = ()


def places_of_claims(files: Mapping[str, bytes]) -> ClaimPlaces:
    """Read the claims of every citing file."""
    found: dict[Position, set[int]] = {}
    uncited: list[tuple[str, int, str]] = []
    for path in citing_files(files):
        for group in read_document(files[path].decode("utf-8", "surrogateescape")).groups:
            entries = group.entries_by_claim
            for bullet in bullets_of(group):
                lines = [entry.line for number in numbers_of(bullet) for entry in entries.get(number, ())]
                if not lines:
                    uncited.append((path, bullet.line, bullet.text))
                for line in lines:
                    found.setdefault((path, line), set()).update(lines)
    return ClaimPlaces({at: tuple(sorted(lines)) for at, lines in found.items()}, tuple(uncited))


def usage_of(outputs: Iterable[StageOneOutput], uses: Iterable[CitedUse]) -> dict[str, Usage]:
    """Return thread → how often agents cited it or its summary in the sessions that were scanned."""
    names = cited_names(outputs)
    times: dict[str, list[int | None]] = {}
    for use in uses:
        for thread in {names[name.lower()] for name in use.cited if name.lower() in names}:
            times.setdefault(thread, []).append(use.at)
    return {
        thread: Usage(len(found), max((at for at in found if at is not None), default=None))
        for thread, found in times.items()
    }


def standings(
    outputs: Collection[StageOneOutput],
    uses: Iterable[CitedUse],
    *,
    now: int,
    max_unused_days: int,
    fallback: RecencyFallback,
) -> dict[str, str]:
    """Return thread in lower case → how often it was used and cited, and why it is kept or stale."""
    usage = usage_of(outputs, uses)
    return {
        output.thread_id.lower(): standing_words(
            output,
            usage.get(output.thread_id, Usage()),
            now=now,
            max_unused_days=max_unused_days,
            fallback=fallback,
        )
        for output in outputs
    }
