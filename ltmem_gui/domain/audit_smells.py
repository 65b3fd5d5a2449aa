"""Signs that a citation deserves a look: hints for sampling and filters, never verdicts (ui-features §4.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from ltmem_gui.domain.anchors import SHORT_QUOTE, inside_root
from ltmem_gui.domain.audit import AuditItem

MAX_LINES = 60
SHARED_BY = 3

_NUMBERED = re.compile(r"c[1-9][0-9]{0,8}(?![0-9A-Za-z_])")
_DATE = re.compile(r"(?<![0-9-])((?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?![0-9])")


class Smell(StrEnum):
    """The signs, in the order in which they are shown."""

    UNKNOWN_SESSION = "unknown session"
    ITSELF = "cites itself"
    SECRET = "secret in evidence"
    BLANK = "blank or headings only"
    SHORT = "fewer than 12 characters"
    LONG = "more than 60 lines"
    SHARED = "same lines behind 3 or more claims"
    DUPLICATE = "duplicate"
    NEWER = "claim newer than evidence"
    NO_NOTE = "empty note"


def smells_of(
    items: Sequence[AuditItem], *, known_sessions: Collection[str] = (), secrets: Collection[str] = ()
) -> dict[str, tuple[Smell, ...]]:
    """Return key → smells, every item named.

    Without `known_sessions` nobody knows which exist. `secrets` are the keys whose evidence holds one.
    """
    known = frozenset(session.lower() for session in known_sessions)
    claims = Counter(span for span, _ in {(_span(item), item.claim) for item in items})
    seen: set[tuple[str, str, tuple[str, int, int]]] = set()
    found: dict[str, tuple[Smell, ...]] = {}
    for item in items:
        twin = (item.file, item.claim, _span(item))
        own = set(_alone(item))
        own |= {Smell.UNKNOWN_SESSION} if known and _is_unknown(item, known) else set()
        own |= {Smell.SHARED} if claims[_span(item)] >= SHARED_BY else set()
        own |= {Smell.DUPLICATE} if twin in seen else set()
        own |= {Smell.SECRET} if item.key in secrets else set()
        seen.add(twin)
        found[item.key] = tuple(smell for smell in Smell if smell in own)
    return found


def count_smells(found: Mapping[str, tuple[Smell, ...]]) -> dict[str, int]:
    """Return smell → number of items, every smell named."""
    counts = Counter(smell for smells in found.values() for smell in smells)
    return {str(smell): counts[smell] for smell in Smell}


def _alone(item: AuditItem) -> Iterator[Smell]:
    if not _NUMBERED.sub("", item.entry.note, count=1).strip():
        yield Smell.NO_NOTE
    if inside_root(item.entry.path) == item.file:
        yield Smell.ITSELF
    if item.entry.end - item.entry.start + 1 > MAX_LINES:
        yield Smell.LONG
    if not item.location.status.resolves or (not item.evidence and item.entry.thread_id is not None):
        return
    rows = [line.strip() for line in item.evidence.split("\n")]
    if all(not row or row.startswith("#") for row in rows):
        yield Smell.BLANK
    elif len(item.evidence.strip()) < SHORT_QUOTE:
        yield Smell.SHORT
    if item.cited_at is not None:
        day = datetime.fromtimestamp(item.cited_at, UTC).strftime("%Y-%m-%d")
        if any(date > day for date in _DATE.findall(item.claim)):
            yield Smell.NEWER


def _is_unknown(item: AuditItem, known: frozenset[str]) -> bool:
    thread = item.entry.thread_id
    return thread is not None and thread.lower() not in known


def _span(item: AuditItem) -> tuple[str, int, int]:
    return item.entry.path, item.entry.start, item.entry.end
