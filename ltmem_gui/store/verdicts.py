"""Verdicts of audit sittings: append-only; an undo adds a record."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.store.database import storable
from ltmem_gui.store.models import VerdictRow
from ltmem_gui.store.part import StorePart


class Verdicts(StorePart):
    """Append and list verdicts."""

    def add_verdicts(self, verdicts: Iterable[VerdictRecord]) -> int:
        """Append verdicts; returns how many."""
        with self._db.transaction():
            return sum(
                self._db.change(
                    "INSERT INTO verdicts (at, rater, frame, item, verdict, note, binding, thread_ids)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        record.at,
                        storable(record.rater),
                        storable(record.frame),
                        storable(record.item),
                        record.verdict,
                        storable(record.note),
                        record.binding,
                        json.dumps(record.thread_ids),
                    ),
                )
                for record in verdicts
            )

    def verdicts(self, frame: str | None = None) -> tuple[VerdictRecord, ...]:
        """Return the verdicts of a frame, or all, oldest first."""
        query = VerdictRow.select(
            VerdictRow.at,
            VerdictRow.rater,
            VerdictRow.frame,
            VerdictRow.item,
            VerdictRow.verdict,
            VerdictRow.note,
            VerdictRow.binding,
            VerdictRow.thread_ids,
        ).order_by(VerdictRow.id)
        if frame is not None:
            query = query.where(VerdictRow.frame == frame)
        return tuple(
            VerdictRecord(at, rater, frame_name, item, verdict, note, binding, tuple(json.loads(threads)))
            for at, rater, frame_name, item, verdict, note, binding, threads in self._db.rows(query)
        )
