"""Ask of every citation in a memory folder where its lines are now: one answer each, the bad lines too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ltmem_gui.domain import citations
from ltmem_gui.domain.anchors import (
    SESSION_READING,
    CitedText,
    EvidenceSnapshot,
    Location,
    LocationStatus,
    inside_root,
    line_hashes,
    locate,
    locate_in_session,
    snapshot,
)
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.memory_files import threads_of
from ltmem_gui.domain.project_files import ProjectTexts, project_place

_INPUTS = ("rollout_summaries/", "extensions/")

Snapshots = Mapping[tuple[str, int, int], EvidenceSnapshot]
"""Place → what was cited there, of whatever citation."""

CitationKey = tuple[str, str, int, int, str]
"""One citation: the citing file, the cited path, first and last line, the note."""

KeptSnapshots = Mapping[CitationKey, EvidenceSnapshot]


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """One citation line: where it stands, what it says (None for a bad line), and where its lines are.

    `taken` is what it was compared with, None where nothing is known of what it said.
    """

    file: str
    line: int
    text: str
    entry: CitationEntry | None
    location: Location
    taken: EvidenceSnapshot | None = None


@dataclass(frozen=True, slots=True)
class Sessions:
    """What is known of sessions: thread id → number of lines of its file, None where that cannot be said.

    `complete` tells that every folder of sessions was named, so that an unknown thread is a missing one; `texts` holds
    what is said by line, of the sessions that were read.
    """

    lines: Mapping[str, int | None]
    complete: bool = False
    texts: Mapping[str, Mapping[int, str]] = field(default_factory=dict[str, Mapping[int, str]])


def citation_key(file: str, entry: CitationEntry) -> CitationKey:
    """Return what names a citation across changes of its file."""
    return file, entry.path, entry.start, entry.end, entry.note


def citing_files(paths: Iterable[str]) -> list[str]:
    """Return the files whose citations are claims: Markdown, but not the rendered inputs, which quote anything."""
    return sorted(p for p in paths if p.endswith(".md") and p != "raw_memories.md" and not p.startswith(_INPUTS))


def check_citations(
    files: Mapping[str, bytes],
    *,
    sessions: Sessions,
    snapshots: Snapshots | None = None,
    kept: KeptSnapshots | None = None,
    wanted: Callable[[str, CitationEntry], bool] | None = None,
    projects: ProjectTexts | None = None,
) -> tuple[CheckedCitation, ...]:
    """Answer for every citation of the folder, by file and line; bad lines are answered for too.

    What was `kept` of a citation itself counts before what `snapshots` say of its place. `wanted` tells which citations
    are to be looked for (all). `projects` holds what cited files of projects said at their commits.
    """
    checker = _Checker(files, sessions, snapshots or {}, kept or {}, wanted, projects or {})
    return tuple(item for path in citing_files(files) for item in checker.check(path))


def count_by_status(checked: Iterable[CheckedCitation]) -> dict[str, int]:
    """Return status → number, every status named."""
    counts = Counter(item.location.status for item in checked)
    return {str(status): counts[status] for status in LocationStatus}


def take_snapshots(files: Mapping[str, bytes], checked: Iterable[CheckedCitation], baseline: str | None) -> Snapshots:
    """Keep what each exact citation of a file says now, for later questions."""
    texts: dict[str, CitedText] = {}
    taken: dict[tuple[str, int, int], EvidenceSnapshot] = {}
    for item in checked:
        entry = item.entry
        if entry is None or entry.thread_id is not None or item.location.status is not LocationStatus.EXACT:
            continue
        path = inside_root(entry.path) or ""
        if path not in texts:
            texts[path] = CitedText(files[path])
        text = texts[path]
        taken[entry.path, entry.start, entry.end] = snapshot(entry.path, entry.start, entry.end, text, baseline)
    return taken


class _Checker:
    def __init__(
        self,
        files: Mapping[str, bytes],
        sessions: Sessions,
        snapshots: Snapshots,
        kept: KeptSnapshots,
        wanted: Callable[[str, CitationEntry], bool] | None,
        projects: ProjectTexts,
    ) -> None:
        self._files = files
        self._snapshots = snapshots
        self._kept = kept
        self._wanted = wanted
        self._projects = projects
        self._texts: dict[str, CitedText | None] = {}
        self._hashes: dict[str, dict[int, str]] = {}
        # Ids that differ only in letter case are one id.
        self._counts = {thread.lower(): count for thread, count in sessions.lines.items()}
        self._said = {thread.lower(): said for thread, said in sessions.texts.items()}
        self._complete = sessions.complete
        self._summaries = frozenset(thread.lower() for thread in threads_of(files))

    def check(self, path: str) -> Iterator[CheckedCitation]:
        text = self._files[path].decode("utf-8", "surrogateescape")
        parsed = citations.parse(text)
        found = [
            CheckedCitation(path, entry.line, citations.format_entry(entry), entry, self._locate(entry, taken), taken)
            for entry in parsed.entries
            if self._wanted is None or self._wanted(path, entry)
            for taken in (self._taken(path, entry),)
        ]
        for bad in parsed.rejected:
            location = Location(LocationStatus.MALFORMED, 0, 0, detail=f": {bad.reason}")
            found.append(CheckedCitation(path, bad.line, bad.text, None, location))
        yield from sorted(found, key=lambda item: item.line)

    def _taken(self, file: str, entry: CitationEntry) -> EvidenceSnapshot | None:
        kept = self._kept.get(citation_key(file, entry)) if self._kept else None
        return kept or self._snapshots.get((entry.path, entry.start, entry.end))

    def _locate(self, entry: CitationEntry, taken: EvidenceSnapshot | None) -> Location:
        if entry.thread_id is not None:
            return self._in_session(entry, entry.thread_id.lower(), taken)
        path = inside_root(entry.path)
        if path is None and entry.path:
            return Location(LocationStatus.OUTSIDE_ROOT, entry.start, entry.end)
        if path not in self._files and project_place(entry.path) is not None:
            return self._in_project(entry, taken)
        return locate(entry, self._text(path or ""), taken)

    def _in_project(self, entry: CitationEntry, taken: EvidenceSnapshot | None) -> Location:
        found = self._projects.get(entry.path)
        if found is None:
            detail = ": a project's file at a commit; its folder was not named"
            return Location(LocationStatus.NOT_CHECKED, entry.start, entry.end, detail=detail)
        if isinstance(found, str):
            return Location(LocationStatus.MISSING_FILE, entry.start, entry.end, detail=f": {found}")
        if entry.path not in self._texts:
            self._texts[entry.path] = CitedText(found)
        return locate(entry, self._texts[entry.path], taken)

    def _text(self, path: str) -> CitedText | None:
        if path not in self._texts:
            self._texts[path] = CitedText(self._files[path]) if path in self._files else None
        return self._texts[path]

    def _in_session(self, entry: CitationEntry, thread: str, taken: EvidenceSnapshot | None) -> Location:
        start, end = entry.start, entry.end
        if entry.status == "reversed":
            return Location(LocationStatus.REVERSED, start, end)
        if entry.status != "ok":
            return Location(LocationStatus.OUT_OF_RANGE, start, end)
        comparable = taken is not None and taken.baseline == SESSION_READING
        if taken is not None and comparable and thread in self._said:
            if thread not in self._hashes:
                self._hashes[thread] = line_hashes(self._said[thread])
            return locate_in_session(entry, self._hashes[thread], taken)
        lines = self._counts.get(thread)
        if lines is not None:
            return Location(LocationStatus.EXACT if end <= lines else LocationStatus.OUT_OF_RANGE, start, end)
        if thread in self._counts or (thread in self._summaries and not self._complete):
            return Location(LocationStatus.NOT_CHECKED, start, end, detail=": the session's lines were not read")
        known = self._complete or bool(self._summaries)
        status = LocationStatus.MISSING_FILE if known else LocationStatus.NOT_CHECKED
        return Location(status, start, end, detail=": no such session is known")
