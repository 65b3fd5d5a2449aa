"""Forget a session, or everything: rows go, and no byte of them stays in the file or its log.

Deleted cells are overwritten (`secure_delete`), the file is rebuilt and the write-ahead log emptied. A chore row
remembers that this is still to be done, so that a crash or a second program in between only delays it.
"""

from __future__ import annotations

import json

from ltmem_gui.domain.jobs import STAGE1_KIND
from ltmem_gui.store.database import Database, storable
from ltmem_gui.store.leasing import enqueue_global
from ltmem_gui.store.part import StorePart

_CHORE = "scrub"
_WITH_THREADS = (("refused_hunks", "key"), ("verdicts", "id"))


class Forgetting(StorePart):
    """Delete for good; the operation log stays, for it holds no memory text."""

    def forget(self, thread_id: str, *, reason: str, now: int) -> dict[str, int]:
        """Delete everything that came from a thread; return table → number of rows.

        The thread stays excluded with `reason`, so that it is not learnt again. Phase 2 is enqueued when a row was in
        the last selection (reference §3.12).
        """
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

        Exclusions stay, so that what a person left out is not learnt again.
        """
        tables = ("stage1_outputs", "jobs", "attempts", "inbox", "inbox_decisions", "usage_ledger", "refused_hunks")
        with self._db.transaction():
            counts = {table: self._db.change(f"DELETE FROM {table} WHERE 1") for table in (*tables, "verdicts")}
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
    """Rebuild the file and empty its log if that is still to be done; False when another program kept it from being.

    The attempt's error text of the global job may name a thread, never its text; it stays.
    """
    if not db.sql("SELECT 1 FROM chores WHERE name = ?", (_CHORE,)):
        return True
    db.sql("VACUUM")
    db.change("DELETE FROM chores WHERE name = ?", (_CHORE,))
    busy, _, _ = db.sql("PRAGMA wal_checkpoint(TRUNCATE)")[0]
    if busy:
        _note_chore(db)
    return not busy


def _note_chore(db: Database) -> None:
    db.change("INSERT OR IGNORE INTO chores (name) VALUES (?)", (_CHORE,))
