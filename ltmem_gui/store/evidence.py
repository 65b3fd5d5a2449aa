"""What cited places said when they were cited: one row for each citation of a memory folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ltmem_gui.domain.anchors import EvidenceSnapshot
from ltmem_gui.domain.audit_evidence import EvidenceChange, KeptEvidence, origin_of
from ltmem_gui.store.database import storable
from ltmem_gui.store.models import EvidenceRow
from ltmem_gui.store.part import StorePart

_COLUMNS = (
    EvidenceRow.file,
    EvidenceRow.note,
    EvidenceRow.path,
    EvidenceRow.first_line,
    EvidenceRow.last_line,
    EvidenceRow.quote,
    EvidenceRow.sha256,
    EvidenceRow.before,
    EvidenceRow.after,
    EvidenceRow.baseline,
    EvidenceRow.copies,
    EvidenceRow.at,
    EvidenceRow.origin,
    EvidenceRow.thread_ids,
)


class Evidence(StorePart):
    """Keep and list what citations said. A record that is there is never replaced by a later look."""

    def evidence(self, root: str) -> tuple[KeptEvidence, ...]:
        """Return the records of a memory folder, in the order in which they came."""
        query = EvidenceRow.select(*_COLUMNS).where(EvidenceRow.root == root).order_by(EvidenceRow.id)
        return tuple(_kept(row) for row in self._db.rows(query))

    def keep_evidence(self, root: str, records: Iterable[KeptEvidence]) -> int:
        """Add records of citations that have none; returns how many were added."""
        with self._db.transaction():
            return sum(self._insert("INSERT OR IGNORE", root, record) for record in records)

    def change_evidence(self, root: str, change: EvidenceChange) -> None:
        """Delete the records of citations that went, and put the others, in one transaction."""
        with self._db.transaction():
            for file, path, start, end, note in change.gone:
                self._db.change(
                    "DELETE FROM evidence WHERE root = ? AND file = ? AND path = ? AND first_line = ?"
                    " AND last_line = ? AND note = ?",
                    (root, storable(file), storable(path), start, end, storable(note)),
                )
            for record in change.put:
                self._insert("INSERT OR REPLACE", root, record)

    def _insert(self, how: str, root: str, record: KeptEvidence) -> int:
        taken = record.taken
        return self._db.change(
            f"{how} INTO evidence (root, file, note, path, first_line, last_line, quote, sha256, before, after,"
            " baseline, copies, at, origin, thread_ids) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                root,
                *(storable(text) for text in (record.file, record.note, taken.path)),
                taken.start,
                taken.end,
                storable(taken.quote),
                taken.sha256,
                storable(taken.before),
                storable(taken.after),
                taken.baseline,
                taken.copies,
                record.at,
                record.origin,
                json.dumps(record.thread_ids),
            ),
        )


def _kept(row: tuple[Any, ...]) -> KeptEvidence:
    file, note, path, start, end, quote, sha256, before, after, baseline, copies, at, origin, threads = row
    taken = EvidenceSnapshot(path, start, end, quote, sha256, before, after, baseline, copies)
    return KeptEvidence(file, note, taken, at, origin_of(origin), tuple(json.loads(threads)))
