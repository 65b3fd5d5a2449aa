"""What cited lines said when they were cited, kept beside each citation (ui-features C5).

A citation without a record is met for the first time: the git baseline tells what it said where it can, else the folder
as it is. What a record says never follows the text by itself; it goes with its citation. Text that may not be stored
(a secret, bytes that are no text, words of a session) is kept as its hash alone. Times are Unix seconds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ltmem_gui.domain import citations
from ltmem_gui.domain.anchors import (
    CitedText,
    EvidenceSnapshot,
    inside_root,
    line_hashes,
    session_snapshot,
    snapshot,
)
from ltmem_gui.domain.citation_check import CitationKey, Snapshots, citation_key, citing_files
from ltmem_gui.domain.citations import ROLLOUT_PREFIX, CitationEntry

EXTRACTED = ""
"""Where records of extractions are kept: under no memory folder."""

_SESSION_PLACE = re.compile(r"rollout:([^\s:]+):([0-9]{1,10})-([0-9]{1,10})")

Origin = Literal["cited", "baseline", "first sight"]
ORIGINS: tuple[Origin, ...] = ("cited", "baseline", "first sight")


def origin_of(word: str) -> Origin:
    """Read a stored word; an unknown one, of a newer program, promises the least."""
    known: dict[str, Origin] = {origin: origin for origin in ORIGINS}
    return known.get(word, "first sight")


@dataclass(frozen=True, slots=True)
class KeptEvidence:
    """One record: which citation (`file` and `note` beside the place), what it said, and since when that is known.

    `origin`: stored with the citation, told by the git baseline, or seen first at `at`. `thread_ids` are the sessions
    whose words it may hold, so that forgetting them forgets it.
    """

    file: str
    note: str
    taken: EvidenceSnapshot
    at: int
    origin: Origin = "cited"
    thread_ids: tuple[str, ...] = ()

    @property
    def key(self) -> CitationKey:
        """Return what names the citation."""
        return self.file, self.taken.path, self.taken.start, self.taken.end, self.note


Kept = Mapping[CitationKey, KeptEvidence]


@dataclass(frozen=True, slots=True)
class Sight:
    """What there is to take records from: the folder, and what cited sessions say by line.

    `at_baseline` is what places said earlier: at the git baseline, or for sessions when they were extracted. `earlier`
    are the whole files at the git baseline; the words of a place whose file is not among them are kept as a hash.
    """

    files: Mapping[str, bytes]
    at_baseline: Snapshots = field(default_factory=dict[tuple[str, int, int], EvidenceSnapshot])
    sessions: Mapping[str, Mapping[int, str]] = field(default_factory=dict[str, Mapping[int, str]])
    baseline: str | None = None
    earlier: Mapping[str, CitedText] = field(default_factory=dict[str, CitedText])


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """What becomes of the records: these are put, those are taken away."""

    put: tuple[KeptEvidence, ...] = ()
    gone: tuple[CitationKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A record whose text was not checked for secrets yet.

    `whole` is the file that the text is cut from, `first` to `last` the place in it, in code points: what is cut from a
    secret does not look like one.
    """

    record: KeptEvidence
    whole: str = ""
    first: int = 0
    last: int = 0

    @property
    def text(self) -> str:
        """Return the text that would be stored."""
        return self.whole[self.first : self.last]


def cited_entries(files: Mapping[str, bytes]) -> dict[CitationKey, CitationEntry]:
    """Return every citation of a folder by its key, in reading order; bad lines and impossible ranges left out."""
    found: dict[CitationKey, CitationEntry] = {}
    for path in citing_files(files):
        for entry in citations.parse(files[path].decode("utf-8", "surrogateescape")).entries:
            if entry.status == "ok":
                found.setdefault(citation_key(path, entry), entry)
    return found


def first_sight(
    sight: Sight, kept: Collection[CitationKey], *, at: int, origin: Origin = "first sight"
) -> tuple[Unchecked, ...]:
    """Return records of the citations that have none; nothing for lines that are not there."""
    taker = _Taker(sight, at, origin)
    entries = cited_entries(sight.files)
    made = (taker.take(key, entry) for key, entry in entries.items() if key not in kept)
    return tuple(found for found in made if found is not None)


def after_apply(sight: Sight, kept: Iterable[KeptEvidence], *, at: int) -> tuple[EvidenceChange, tuple[Unchecked, ...]]:
    """Return what becomes of the records when the folder has become `sight.files`, and the records that come.

    `kept` are all records, those of first sight included. A citation whose note alone changed keeps its record; one
    that came is recorded as it is cited; one that went loses its record.
    """
    records = {record.key: record for record in kept}
    entries = cited_entries(sight.files)
    left: dict[tuple[str, str, int, int], list[KeptEvidence]] = defaultdict(list)
    for key, record in records.items():
        if key not in entries:
            left[key[:4]].append(record)
    taker = _Taker(sight, at, "cited")
    carried: list[KeptEvidence] = []
    made: list[Unchecked] = []
    for key, entry in entries.items():
        if key in records:
            continue
        renoted = left.get(key[:4])
        if renoted:
            carried.append(replace(renoted.pop(0), note=entry.note))
        else:
            found = taker.take(key, entry)
            made += [found] if found is not None else []
    return EvidenceChange(tuple(carried), tuple(key for key in records if key not in entries)), tuple(made)


def without_lost_text(sight: Sight, kept: Iterable[KeptEvidence]) -> tuple[Unchecked, ...]:
    """Return records that hold nothing but what the folder still says: lost quotes as hashes, surroundings anew."""
    texts = _Texts(sight.files)
    found: list[Unchecked] = []
    for record in kept:
        old = record.taken
        text = texts.of(old.path)
        if text is not None and old.end <= len(text.lines) and text.quote(old.start, old.end) == old.quote:
            fresh = replace(snapshot(old.path, old.start, old.end, text, old.baseline), copies=old.copies)
            found.append(_unchecked(replace(record, taken=fresh), text.text, text.offsets[old.start - 1]))
        else:
            found.append(Unchecked(replace(record, taken=hashed(old))))
    return tuple(found)


def in_the_open(found: Sequence[Unchecked], allowed: Sequence[bool]) -> tuple[KeptEvidence, ...]:
    """Keep the texts that may be stored; of the others, and of what is no text, the hash alone."""
    return tuple(
        one.record if fine and _is_unicode(one.text) else replace(one.record, taken=hashed(one.record.taken))
        for one, fine in zip(found, allowed, strict=True)
    )


def hashed(taken: EvidenceSnapshot) -> EvidenceSnapshot:
    """Return the snapshot without any text: its hash still tells whether the lines are the same, and where."""
    return replace(taken, quote="", before="", after="")


def _unchecked(record: KeptEvidence, whole: str, quoted: int) -> Unchecked:
    """Return a record with the file that its text is cut from; the quote begins at `quoted`."""
    taken = record.taken
    last = min(len(whole), quoted + len(taken.quote) + 1) + len(taken.after)
    return Unchecked(record, whole, quoted - len(taken.before), last)


class _Texts:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._texts: dict[str, CitedText] = {}

    def of(self, cited: str) -> CitedText | None:
        path = inside_root(cited)
        if path is None or path not in self._files:
            return None
        if path not in self._texts:
            self._texts[path] = CitedText(self._files[path])
        return self._texts[path]


class _Taker:
    """Take records of one sight."""

    def __init__(self, sight: Sight, at: int, origin: Origin) -> None:
        self._sight = sight
        self._at = at
        self._origin: Origin = origin
        self._texts = _Texts(sight.files)
        self._hashes: dict[str, dict[int, str]] = {}

    def take(self, key: CitationKey, entry: CitationEntry) -> Unchecked | None:
        """Return what the citation says, None where nothing is there."""
        file, thread = key[0], entry.thread_id
        if thread is not None:
            return self._of_session(key, thread, entry)
        threads = _threads(self._sight.files.get(inside_root(entry.path) or "", b""))
        before = self._sight.at_baseline.get((entry.path, entry.start, entry.end))
        if before is not None:
            record = KeptEvidence(file, entry.note, before, self._at, "baseline", threads)
            return self._as_it_was(record, self._sight.earlier.get(inside_root(entry.path) or ""))
        text = self._texts.of(entry.path)
        if text is None or entry.end > len(text.lines):
            return None
        taken = snapshot(entry.path, entry.start, entry.end, text, self._sight.baseline)
        record = KeptEvidence(file, entry.note, taken, self._at, self._origin, threads)
        return _unchecked(record, text.text, text.offsets[entry.start - 1])

    def _as_it_was(self, record: KeptEvidence, text: CitedText | None) -> Unchecked:
        """Return a record of the baseline; what cannot be seen in its file cannot be checked, and is kept as a hash."""
        taken = record.taken
        if text is None or text.quote(taken.start, taken.end) != taken.quote:
            return Unchecked(replace(record, taken=hashed(taken)))
        return _unchecked(record, text.text, text.offsets[taken.start - 1])

    def _of_session(self, key: CitationKey, thread: str, entry: CitationEntry) -> Unchecked | None:
        taken = self._sight.at_baseline.get(key[1:4])
        if taken is not None:
            return Unchecked(KeptEvidence(key[0], entry.note, taken, self._at, "cited", (thread,)))
        if thread not in self._hashes:
            said = (lines for name, lines in self._sight.sessions.items() if name.lower() == thread.lower())
            self._hashes[thread] = line_hashes(next(said, dict[int, str]()))
        taken = session_snapshot(entry.path, entry.start, entry.end, self._hashes[thread])
        if taken is None:
            return None
        return Unchecked(KeptEvidence(key[0], entry.note, taken, self._at, self._origin, (thread,)))


def extracted_evidence(
    texts: Iterable[str], thread: str, hashes: Mapping[int, str], *, at: int
) -> tuple[KeptEvidence, ...]:
    """Return records of what the cited lines of a session say while it is extracted: hashes alone, no citing file.

    `texts` are what was extracted from it.
    """
    found: dict[tuple[int, int], KeptEvidence] = {}
    for match in (match for text in texts for match in _SESSION_PLACE.finditer(text)):
        start, end = int(match[2]), int(match[3])
        taken = session_snapshot(f"{ROLLOUT_PREFIX}{thread}", start, end, hashes) if match[1] == thread else None
        if taken is not None:
            found.setdefault((start, end), KeptEvidence("", "", taken, at, "cited", (thread,)))
    return tuple(found.values())


def _threads(data: bytes) -> tuple[str, ...]:
    """Return the session a rendered summary is of, nothing for another file."""
    head = data.partition(b"\n")[0]
    found = head.removeprefix(b"thread_id: ").decode("utf-8", "replace").strip()
    return (found,) if head.startswith(b"thread_id: ") and found else ()


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
