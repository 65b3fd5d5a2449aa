"""Rejected hunks, kept by content until lifted; they are told to the next consolidation."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.store.database import storable
from ltmem_gui.store.models import RefusedRow
from ltmem_gui.store.part import StorePart


class Refusals(StorePart):
    """Keep, list and lift rejected hunks."""

    def refuse_hunks(self, hunks: Iterable[RefusedHunk]) -> int:
        """Keep rejected hunks; one that is known already keeps its first date. Returns how many were new."""
        with self._db.transaction():
            return sum(
                self._db.change(
                    "INSERT INTO refused_hunks (key, path, old, new, note, thread_ids, refused_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                    (
                        hunk.key,
                        storable(hunk.path),
                        json.dumps(hunk.old),
                        json.dumps(hunk.new),
                        storable(hunk.note),
                        json.dumps(hunk.thread_ids),
                        hunk.refused_at,
                    ),
                )
                for hunk in hunks
            )

    def refused_hunks(self) -> tuple[RefusedHunk, ...]:
        """Return the rejected hunks that were not lifted, oldest first."""
        query = RefusedRow.select(
            RefusedRow.path,
            RefusedRow.old,
            RefusedRow.new,
            RefusedRow.refused_at,
            RefusedRow.note,
            RefusedRow.thread_ids,
        ).order_by(RefusedRow.refused_at, RefusedRow.key)
        return tuple(
            RefusedHunk(path, tuple(json.loads(old)), tuple(json.loads(new)), at, note, tuple(json.loads(threads)))
            for path, old, new, at, note, threads in self._db.rows(query)
        )

    def lift_refusal(self, key: str) -> bool:
        """Let a hunk be proposed again; False when it was not refused."""
        with self._db.transaction():
            return self._db.run(RefusedRow.delete().where(RefusedRow.key == key)) == 1
