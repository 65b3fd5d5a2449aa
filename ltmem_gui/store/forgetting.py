"""Forget a session, or everything: rows go, and no byte of them stays in the file or its log.

Damaged files that were set aside go whole, since nothing can be taken out of them. Deleted cells are overwritten
(`secure_delete`), the file is rebuilt and the write-ahead log emptied. A chore row remembers that this is still to be
done, so that a crash or a second program in between only delays it.
"""

from __future__ import annotations

import glob
import json

from ltmem_gui.domain.jobs import GLOBAL_KIND, STAGE1_KIND
from ltmem_gui.store.database import Database, storable
from ltmem_gui.store.leasing import enqueue_global
from ltmem_gui.store.part import StorePart

SET_ASIDE = ".damaged-"
_CHORE = "scrub"
_CLEARED = (
    "stage1_outputs",
    "inbox",
    "inbox_decisions",
    "usage_ledger",
    "refused_hunks",
    "verdicts",
    "evidence",
    "agent_transcripts",
)
_RUNNING = (
    f"kind = '{GLOBAL_KIND}' AND EXISTS (SELECT 1 FROM jobs g WHERE g.kind = '{GLOBAL_KIND}' AND g.status = 'running')"
)
_WITH_THREADS = (
    ("refused_hunks", "key"),
    ("verdicts", "id"),
    ("evidence", "id"),
    ("agent_transcripts", "operation_number"),
)


class Forgetting(StorePart):
    """Delete for good; the operation log stays, for it holds no memory text."""

    def forget(self, thread_id: str, *, reason: str, now: int) -> dict[str, int]:
        """Delete everything that came from a thread; return table → number of rows.

        The thread stays excluded with `reason`, so that it is not learnt again. Phase 2 is enqueued when a row was in
        the last selection (reference §3.12).
        """
        thread_id = storable(thread_id)
        with self._db.transaction():
            selected = self._db.sql(
                "SELECT 1 FROM stage1_outputs WHERE thread_id = ? AND selected_for_phase2 = 1", (thread_id,)
            )
            counts = {
                "stage1_outputs": self._db.change("DELETE FROM stage1_outputs WHERE thread_id = ?", (thread_id,)),
                "jobs": self._delete_jobs("jobs", thread_id),
                "attempts": self._delete_jobs("attempts", thread_id),
                "inbox": self._db.change("DELETE FROM inbox WHERE thread_id = ?", (thread_id,)),
                "inbox_decisions": self._db.change("DELETE FROM inbox_decisions WHERE thread_id = ?", (thread_id,)),
                "usage_ledger": self._db.change(
                    "DELETE FROM usage_ledger WHERE thread_id = ? OR cited_id = ?", (thread_id, thread_id)
                ),
            }
            for table, key in _WITH_THREADS:
                counts[table] = self._delete_with_threads(table, key, thread_id)
            # Earlier versions did not say what rejected lines rest on: they may be of any session.
            counts["refused_hunks"] += self._db.change("DELETE FROM refused_hunks WHERE thread_ids = '[]'")
            self._db.change(
                "INSERT OR REPLACE INTO exclusions (thread_id, reason, excluded_at) VALUES (?, ?, ?)",
                (thread_id, storable(reason), now),
            )
            if selected:
                enqueue_global(self._db, now)
            _note_chore(self._db)
        scrub(self._db)
        return counts

    def clear_all(self) -> dict[str, int]:
        """Delete all outputs, the jobs of both phases and what hangs on them; return table → number of rows.

        Exclusions stay, so that what a person left out is not learnt again; so does the global lease of the run that
        clears, with both watermarks at 0.
        """
        with self._db.transaction():
            counts = {table: self._db.change(f"DELETE FROM {table} WHERE 1") for table in _CLEARED}
            for table in ("jobs", "attempts"):
                counts[table] = self._db.change(f"DELETE FROM {table} WHERE NOT ({_RUNNING})")
            self._db.change("UPDATE jobs SET input_watermark = 0, last_success_watermark = 0")
            _note_chore(self._db)
        scrub(self._db)
        return counts

    def _delete_jobs(self, table: str, thread_id: str) -> int:
        return self._db.change(f"DELETE FROM {table} WHERE kind = ? AND job_key = ?", (STAGE1_KIND, thread_id))

    def _delete_with_threads(self, table: str, key: str, thread_id: str) -> int:
        rows = self._db.sql(f"SELECT {key}, thread_ids FROM {table}")
        return sum(
            self._db.change(f"DELETE FROM {table} WHERE {key} = ?", (value,))
            for value, threads in rows
            if thread_id in json.loads(threads)
        )


def scrub(db: Database) -> bool:
    """Rebuild the file and empty its log if that is still to be done; False when another program kept it from being."""
    if not db.sql("SELECT 1 FROM chores WHERE name = ?", (_CHORE,)):
        return True
    for aside in db.path.parent.glob(f"{glob.escape(db.path.name)}{SET_ASIDE}*"):
        aside.unlink(missing_ok=True)
    db.sql("VACUUM")
    db.change("DELETE FROM chores WHERE name = ?", (_CHORE,))
    busy, _, _ = db.sql("PRAGMA wal_checkpoint(TRUNCATE)")[0]
    if busy:
        _note_chore(db)
    return not busy


def _note_chore(db: Database) -> None:
    db.change("INSERT OR IGNORE INTO chores (name) VALUES (?)", (_CHORE,))
