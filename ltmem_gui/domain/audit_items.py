"""From a memory folder to what can be audited: each claim with each of its citations and what the cited lines say.

Bullets and entries of a task group are linked by number (design §5.3). An entry that no bullet names is an item of its
own, with its note as the claim. Cited files are looked up among the files given; nothing is opened here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ltmem_gui.domain import citations
from ltmem_gui.domain.anchors import CitedText, EvidenceSnapshot, Location, LocationStatus, inside_root
from ltmem_gui.domain.audit import AuditItem, Claim
from ltmem_gui.domain.audit_smells import smells_of
from ltmem_gui.domain.audit_support import RareWords
from ltmem_gui.domain.canonical import digest
from ltmem_gui.domain.citation_check import (
    CheckedCitation,
    CitationKey,
    KeptSnapshots,
    Sessions,
    Snapshots,
    check_citations,
    citing_files,
)
from ltmem_gui.domain.citations import CitationEntry
from ltmem_gui.domain.memory_document import Bullet, Group, Section, read_document, split_reference
from ltmem_gui.domain.project_files import ProjectTexts

HEAD_LINES = 6
_NUMBERED = re.compile(r"c[1-9][0-9]{0,8}(?![0-9A-Za-z_])")
_HEAD = re.compile(r"(thread_id|updated_at): (.*)")


@dataclass(frozen=True, slots=True)
class SessionText:
    """One session as evidence: what is said at each place, how many lines its file has (None: unknown), and its age."""

    lines: Mapping[int, str]
    count: int | None = None
    updated_at: int | None = None


@dataclass(frozen=True, slots=True)
class AuditSources:
    """What an audit is made from.

    `files` is the memory folder; `sessions` maps thread ids to those that could be read; `known` are all that are known
    to exist, `complete` when these are all; `new_lines` are (file, line) that came with the last apply. `kept` is what
    each citation said when it was cited, `snapshots` what its place said at the baseline; `projects` holds cited files
    of projects at their commits.
    """

    files: Mapping[str, bytes]
    sessions: Mapping[str, SessionText] = field(default_factory=dict[str, SessionText])
    known: frozenset[str] = frozenset()
    complete: bool = False
    snapshots: Snapshots = field(default_factory=dict[tuple[str, int, int], EvidenceSnapshot])
    new_lines: frozenset[tuple[str, int]] = frozenset()
    kept: KeptSnapshots = field(default_factory=dict[CitationKey, EvidenceSnapshot])
    projects: ProjectTexts = field(default_factory=dict[str, bytes | str])


@dataclass(frozen=True, slots=True)
class AuditSet:
    """Everything that can be judged, in reading order; and every citation line with where its lines are now."""

    items: tuple[AuditItem, ...]
    claims: tuple[Claim, ...]
    checked: tuple[CheckedCitation, ...]

    def item(self, key: str) -> AuditItem | None:
        """Return the item of a key."""
        return next((item for item in self.items if item.key == key), None)

    def citing(self, path: str, start: int, end: int) -> tuple[AuditItem, ...]:
        """Return who cites any of these lines: `path` below the root, or `rollout:<thread id>`."""
        return tuple(
            item
            for item in self.items
            if (inside_root(item.entry.path) or item.entry.path) == path
            and item.location.start <= end
            and start <= item.location.end
        )

    @property
    def cited_sessions(self) -> frozenset[str]:
        """Return the sessions that any item rests on."""
        return frozenset(thread for item in self.items for thread in item.threads)


def collect(sources: AuditSources) -> AuditSet:
    """Pair claims with citations, look up the evidence, and add hints."""
    lines = {thread: text.count for thread, text in sources.sessions.items()}
    lines |= {thread: None for thread in sources.known if thread not in lines}
    texts = {thread: text.lines for thread, text in sources.sessions.items()}
    sessions = Sessions(lines, sources.complete, texts)
    checked = check_citations(
        sources.files, sessions=sessions, snapshots=sources.snapshots, kept=sources.kept, projects=sources.projects
    )
    reader = _Reader(sources, checked)
    items: list[AuditItem] = []
    claims: list[Claim] = []
    for path in citing_files(sources.files):
        found, said = reader.read(path)
        items += found
        claims += said
    return AuditSet(tuple(_with_hints(items, sources)), tuple(claims), checked)


def with_secrets(found: AuditSet, keys: Collection[str], known_sessions: Collection[str] = ()) -> AuditSet:
    """Return the set with the smell of secrets on the items named."""
    smells = smells_of(found.items, known_sessions=known_sessions, secrets=keys)
    items = tuple(replace(item, smells=smells[item.key]) for item in found.items)
    return replace(found, items=items)


def _with_hints(items: Sequence[AuditItem], sources: AuditSources) -> Iterator[AuditItem]:
    rare = RareWords([*(item.claim for item in items), *(item.evidence for item in items)])
    smells = smells_of(items, known_sessions=sources.known)
    for item in items:
        yield replace(item, smells=smells[item.key], score=rare.score(item.claim, item.evidence))


class _Reader:
    def __init__(self, sources: AuditSources, checked: Sequence[CheckedCitation]) -> None:
        self._sources = sources
        self._evidence = _Evidence(sources)
        self._places = {(item.file, item.line): item.location for item in checked}
        self._twins: Counter[str] = Counter()

    def read(self, path: str) -> tuple[list[AuditItem], list[Claim]]:
        text = self._sources.files[path].decode("utf-8", "surrogateescape")
        items: list[AuditItem] = []
        claims: list[Claim] = []
        linked: set[int] = set()
        for group in read_document(text).groups:
            entries = group.entries_by_claim
            for bullet in bullets_of(group):
                cited = [(number, entry) for number in numbers_of(bullet) for entry in entries.get(number, ())]
                own = [self._item(path, group.title, f"c{number}", bullet, entry) for number, entry in cited]
                linked |= {entry.line for _, entry in cited}
                statuses = tuple(item.location.status for item in own)
                keys = tuple(item.key for item in own)
                claims.append(Claim(path, bullet.line, _text(bullet), group.title, keys, statuses))
                items += own
        rest = [entry for entry in citations.parse(text).entries if entry.line not in linked]
        items += [self._item(path, "", "note", None, entry) for entry in rest]
        return items, claims

    def _item(self, path: str, group: str, label: str, bullet: Bullet | None, entry: CitationEntry) -> AuditItem:
        location = self._places[path, entry.line]
        identity = digest([path, group, label, entry.path, entry.start, entry.end])
        self._twins[identity] += 1
        rows = range(bullet.line, bullet.line + 1 + len(bullet.more)) if bullet else range(0)
        found = self._evidence.of(entry, location)
        return AuditItem(
            key=digest([identity, self._twins[identity]])[:16],
            file=path,
            line=entry.line,
            claim=_text(bullet) if bullet else _NUMBERED.sub("", entry.note, count=1).strip(),
            claim_lines=tuple(rows),
            entry=entry,
            location=location,
            group=group,
            evidence=found.text,
            before=found.before,
            after=found.after,
            threads=found.threads,
            cited_at=found.at,
            is_new=any((path, row) in self._sources.new_lines for row in (entry.line, *rows)),
        )


@dataclass(frozen=True, slots=True)
class _Found:
    text: str = ""
    before: str = ""
    after: str = ""
    threads: tuple[str, ...] = ()
    at: int | None = None


class _Evidence:
    """Look up what cited lines say, each file prepared once."""

    def __init__(self, sources: AuditSources) -> None:
        self._sources = sources
        self._texts: dict[str, CitedText] = {}
        self._heads: dict[str, dict[str, str]] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        self._sessions = {thread.lower(): (thread, text) for thread, text in sources.sessions.items()}
        for thread, text in sources.sessions.items():
            self._places[thread] = sorted(text.lines)

    def of(self, entry: CitationEntry, location: Location) -> _Found:
        """Return the evidence as it stands now; never the lines of a number that points at something else."""
        thread = entry.thread_id
        if thread is not None:
            return self._in_session(thread, location)
        path = inside_root(entry.path) or ""
        data = self._sources.files.get(path, self._sources.projects.get(entry.path))
        if not isinstance(data, bytes) or location.status is LocationStatus.NOT_CHECKED:
            return _Found()
        if path not in self._texts:
            self._texts[path] = CitedText(data)
            self._heads[path] = _head(self._texts[path].lines)
        head = self._heads[path]
        threads = (head["thread_id"],) if head.get("thread_id") else ()
        about = _Found(threads=threads, at=_seconds(head.get("updated_at", "")))
        if not location.status.resolves:
            return about
        text = self._texts[path]
        before, after = text.context(location.start, location.end)
        return replace(about, text=text.quote(location.start, location.end), before=before, after=after)

    def _in_session(self, thread: str, location: Location) -> _Found:
        thread, session = self._sessions.get(thread.lower(), (thread, None))
        if session is None or location.status not in (LocationStatus.EXACT, LocationStatus.MOVED):
            return _Found(threads=(thread,), at=session.updated_at if session else None)
        places = self._places[thread]
        first, last = bisect_left(places, location.start), bisect_right(places, location.end)
        return _Found(
            "\n".join(session.lines[place] for place in places[first:last]),
            session.lines[places[first - 1]] if first else "",
            session.lines[places[last]] if last < len(places) else "",
            (thread,),
            session.updated_at,
        )


def _head(lines: Sequence[str]) -> dict[str, str]:
    """Return what the first lines of a rendered summary say of its session."""
    found = (_HEAD.fullmatch(line) for line in lines[:HEAD_LINES])
    return {match[1]: match[2].strip() for match in found if match is not None}


def bullets_of(group: Group) -> Iterator[Bullet]:
    """Yield the claims of a task group, in order."""
    sections: tuple[Section, ...] = group.sections
    return (item for section in sections for item in section.items if isinstance(item, Bullet))


def numbers_of(bullet: Bullet) -> tuple[int, ...]:
    """Return the citation numbers of a bullet; a wrapped one may carry them at its end."""
    wrapped = split_reference(bullet.more[-1])[2] if bullet.more else ()
    return tuple(dict.fromkeys((*bullet.claims, *wrapped)))


def _text(bullet: Bullet) -> str:
    rows = [bullet.text, *(line.strip() for line in bullet.more)]
    return "\n".join((*rows[:-1], split_reference(rows[-1])[0]))


def _seconds(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return int(moment.timestamp()) if moment.tzinfo is not None else None
