"""The citations of a memory folder as rows: where each stands, where it points, and whether that place exists.

Everything is answered from the snapshot that was read: no cited path is ever opened.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ltmem_gui.domain.anchors import Location, LocationStatus
from ltmem_gui.domain.citation_look import Looked, Position
from ltmem_gui.domain.citations import CitationEntry, RejectedLine, parse
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.project_files import project_place
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.ui.models.formats import middle
from ltmem_gui.ui.models.text_lines import TextLine, decoded, lines_around

MEMORY_FILES = (".md",)


class Place(StrEnum):
    """Where a citation points now."""

    FOUND = "found"
    ROLLOUT = "rollout"
    MOVED = "moved"
    EDITED = "edited"
    AMBIGUOUS = "ambiguous"
    CHANGED = "missing text"
    NOT_SCANNED = "rollout not scanned"
    PROJECT = "project file"
    UNCITED = "no citation"
    OUT_OF_RANGE = "out of range"
    MISSING = "missing file"
    OUTSIDE = "outside root"
    INVALID = "invalid range"
    MALFORMED = "malformed"
    SESSION = "session id"


GOOD_PLACES = frozenset({Place.FOUND, Place.ROLLOUT, Place.SESSION})
DRIFTED_PLACES = frozenset({Place.MOVED, Place.EDITED, Place.AMBIGUOUS, Place.CHANGED})
DRIFTS = {
    LocationStatus.MOVED: Place.MOVED,
    LocationStatus.EDITED: Place.EDITED,
    LocationStatus.AMBIGUOUS: Place.AMBIGUOUS,
    LocationStatus.MISSING_TEXT: Place.CHANGED,
}
SIGNS = {
    Place.MOVED: "→",
    Place.EDITED: "≈",
    Place.AMBIGUOUS: "?",
    Place.FOUND: "✓",
    Place.ROLLOUT: "✓",
    Place.SESSION: "#",
    Place.NOT_SCANNED: "○",
    Place.PROJECT: "○",
    Place.UNCITED: "∅",
}


_DRIFT_REASONS = {
    Place.FOUND: "",
    Place.MOVED: "what was cited stands at other lines now",
    Place.EDITED: "what was cited was edited; the nearest text is shown",
    Place.AMBIGUOUS: "what was cited stands at several places; choose one",
    Place.CHANGED: "what was cited is not in the file any more",
}


@dataclass(frozen=True, slots=True)
class CitationRow:
    """One citation or one session id. `line` is where it stands in `file`; `target` is what a click opens.

    `looked` is what is known of the lines beyond their numbers.
    """

    file: str
    line: int
    place: Place
    target: str
    note: str = ""
    entry: CitationEntry | None = None
    thread_id: str = ""
    reason: str = ""
    looked: Looked | None = None

    @property
    def key(self) -> str:
        """Return what stays equal through a new reading."""
        return f"{self.file}:{self.line}:{self.target}"

    @property
    def label(self) -> str:
        """Return sign and word of the place; where lines drifted, how far or how much."""
        drifted = self.looked is not None and self.place in DRIFTED_PLACES
        word = self.looked.location.label if self.looked is not None and drifted else self.place.value
        return f"{SIGNS.get(self.place, '✕')} {word}"

    @property
    def location(self) -> Location | None:
        """Return where the lines are by what is known of them, None where nothing is."""
        return self.looked.location if self.looked is not None else None

    @property
    def short_target(self) -> str:
        """Return where it points, long session ids and paths cut in the middle so that the lines stay."""
        if self.entry is not None and not self.thread_id:
            return f"{middle(one_line(self.entry.path, 400), 18)}:{self.entry.start}-{self.entry.end}"
        if not self.thread_id:
            return one_line(self.target, 300)
        lines = f" : {self.entry.start}-{self.entry.end}" if self.entry else ""
        return f"{middle(one_line(self.thread_id, 80), 13)}{lines}"

    @property
    def short_standing(self) -> str:
        """Return where it stands, long paths cut in the middle so that the line stays."""
        file = middle(one_line(self.file, 400), 19)
        return f"{file}:{self.line}" if self.line else file

    @property
    def standing(self) -> str:
        """Return where it stands."""
        return f"{self.file}:{self.line}" if self.line else self.file


def citation_rows(snapshot: WorkspaceSnapshot, scanned_ids: Iterable[str] = ()) -> list[CitationRow]:
    """List every citation, bad line and session id of the folder's memory files, by file and line."""
    known = {id_.lower() for id_ in scanned_ids}
    places = _Places(snapshot.files, known)
    rows: list[CitationRow] = []
    for path in sorted(snapshot.files, key=_reading_order):
        if not path.endswith(MEMORY_FILES):
            continue
        parsed = parse(decoded(snapshot.files[path].data))
        rows.extend(places.row(path, entry) for entry in parsed.entries)
        rows.extend(_rejected_row(path, line) for line in parsed.rejected)
        rows.extend(
            CitationRow(path, 0, Place.SESSION if id_.lower() in known else Place.NOT_SCANNED, id_, thread_id=id_)
            for id_ in parsed.rollout_ids
        )
    return rows


def uncited_rows(claims: Iterable[tuple[str, int, str]]) -> list[CitationRow]:
    """Return rows of the claims that no citation stands behind."""
    reason = "no citation stands behind this claim"
    return [
        CitationRow(file, line, Place.UNCITED, "", one_line(text, 400), reason=reason) for file, line, text in claims
    ]


def chip_of(place: Place) -> str:
    """Return the id of the filter chip that a place belongs to."""
    if place in GOOD_PLACES:
        return "good"
    if place in DRIFTED_PLACES:
        return "drift"
    if place is Place.UNCITED:
        return "uncited"
    return "open" if place in (Place.NOT_SCANNED, Place.PROJECT) else "bad"


def thread_of(row: CitationRow, snapshot: WorkspaceSnapshot) -> str:
    """Return the session that a row rests on, in lower case: cited itself, or by its rendered summary."""
    if row.thread_id or row.entry is None:
        return row.thread_id.lower()
    file = snapshot.files.get(inside_path(row.entry.path) or "")
    head = file.data.partition(b"\n")[0] if file is not None else b""
    known = head.startswith(b"thread_id: ")
    return head.removeprefix(b"thread_id: ").decode("utf-8", "replace").strip().lower() if known else ""


def with_look(rows: Sequence[CitationRow], found: Mapping[Position, Looked]) -> tuple[CitationRow, ...]:
    """Return the rows with what a look found; the others are the same objects."""
    return tuple(_looked(row, found.get((row.file, row.line))) if row.entry is not None else row for row in rows)


def _looked(row: CitationRow, looked: Looked | None) -> CitationRow:
    if looked is None or row.place not in (Place.FOUND, Place.OUT_OF_RANGE, *DRIFTED_PLACES):
        return row
    status = looked.location.status
    place = DRIFTS.get(status, Place.FOUND if status is LocationStatus.EXACT else row.place)
    reason = _DRIFT_REASONS.get(place, row.reason)
    return replace(row, place=place, looked=looked, reason=reason)


def claim_lines(row: CitationRow, snapshot: WorkspaceSnapshot) -> tuple[TextLine, ...]:
    """Return the file that cites, with the citation's line and the bullets it supports marked."""
    file = snapshot.files.get(row.file)
    if file is None:
        return ()
    text = decoded(file.data)
    return lines_around(text, {row.line} | _claims(row, text.split("\n")))


def evidence_text(row: CitationRow, snapshot: WorkspaceSnapshot) -> str:
    """Return the whole text of the cited file, empty for what is no file of the folder."""
    file = snapshot.files.get(inside_path(row.entry.path) or "") if row.entry is not None else None
    return decoded(file.data) if file is not None else ""


def evidence_lines(
    row: CitationRow, snapshot: WorkspaceSnapshot, location: Location | None = None
) -> tuple[TextLine, ...]:
    """Return the cited file with its cited lines marked; empty for what is no file of the folder.

    Where it is known that the lines moved, they are marked where they are; where they are gone, nothing is.
    """
    if row.entry is None or row.place not in (Place.FOUND, Place.OUT_OF_RANGE, *DRIFTED_PLACES):
        return ()
    file = snapshot.files.get(inside_path(row.entry.path) or "")
    if file is None:
        return ()
    return lines_around(decoded(file.data), cited_range(row, location))


def cited_range(row: CitationRow, location: Location | None = None) -> range:
    """Return the lines to mark: as cited, where they are known to be now, or none where they are gone."""
    if row.entry is None or (location is not None and not location.status.resolves):
        return range(0)
    first, last = (row.entry.start, row.entry.end) if location is None else (location.start, location.end)
    return range(first, last + 1)


def who_cites(rows: Iterable[CitationRow], cited: CitationRow) -> list[CitationRow]:
    """Return the other rows that cite any of the same lines, in order."""
    if cited.entry is None:
        return []
    path = inside_path(cited.entry.path) or cited.entry.path
    return [
        row
        for row in rows
        if row.entry is not None
        and row is not cited
        and row.entry.start <= cited.entry.end
        and cited.entry.start <= row.entry.end
        and (inside_path(row.entry.path) or row.entry.path) == path
    ]


def inside_path(path: str) -> str | None:
    """Return a cited path below the root in one spelling; None when it points elsewhere."""
    if not path or path.startswith(("/", "~")) or "\\" in path or ":" in path or "\0" in path:
        return None
    normal = posixpath.normpath(path)
    return None if normal == ".." or normal.startswith("../") else normal


def searched_text(row: CitationRow) -> str:
    """Return what the words of the filter are looked for in, in lower case."""
    drift = row.looked.location.label if row.looked is not None else ""
    return f"{row.file}:{row.line} {row.target} {row.note} {row.place} {drift}".lower()


def _reading_order(path: str) -> tuple[int, str]:
    first = {"MEMORY.md": 0, "memory_summary.md": 1, "raw_memories.md": 2}
    return first.get(path, 3), path


class _Places:
    """Say where entries point, each cited path looked at once."""

    def __init__(self, files: Mapping[str, WorkspaceFile], known: set[str]) -> None:
        self._files = files
        self._known = known
        self._lengths: dict[str, int | tuple[Place, str]] = {}

    def row(self, file: str, entry: CitationEntry) -> CitationRow:
        thread = entry.thread_id or ""
        place, reason = self._place(entry, thread)
        return CitationRow(file, entry.line, place, entry.location, entry.note, entry, thread, reason)

    def _place(self, entry: CitationEntry, thread: str) -> tuple[Place, str]:
        if entry.status != "ok":
            return Place.INVALID, f"the range is {entry.status}"
        if thread:
            if thread.lower() in self._known:
                return Place.ROLLOUT, ""
            return Place.NOT_SCANNED, "scan the sessions folder that holds it to open it"
        length = self._lengths.get(entry.path)
        if length is None:
            length = self._lengths[entry.path] = self._length(entry.path)
        if isinstance(length, tuple):
            return length
        if entry.end > length:
            return Place.OUT_OF_RANGE, f"the file has {length} lines"
        return Place.FOUND, ""

    def _length(self, cited: str) -> int | tuple[Place, str]:
        """Return the lines of a cited file, or why it has none."""
        path = inside_path(cited)
        if path is None:
            return Place.OUTSIDE, "the path leaves the memory folder; it is never opened"
        if path in self._files:
            return _line_count(self._files[path].data)
        if project_place(cited) is not None:
            return Place.PROJECT, "a project's file at a commit; opening it reads the project's git objects alone"
        return Place.MISSING, "the memory folder has no such file"


def _rejected_row(file: str, rejected: RejectedLine) -> CitationRow:
    return CitationRow(file, rejected.line, Place.MALFORMED, one_line(rejected.text, 160), reason=rejected.reason)


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + (0 if not data or data.endswith(b"\n") else 1)


def _claims(row: CitationRow, lines: Sequence[str]) -> set[int]:
    """Find the bullets above a citation block that name its number, up to the block before."""
    number = row.entry.claim if row.entry else None
    if number is None:
        return set()
    found: set[int] = set()
    for index in range(min(row.line, len(lines)) - 1, -1, -1):
        text = lines[index]
        if text.strip() in ("</rollout_ids>", "</oai-mem-citation>"):
            break
        if f"[c{number}]" in text:
            found.add(index + 1)
    return found
