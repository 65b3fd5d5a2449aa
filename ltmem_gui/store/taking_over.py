"""Rows and watermarks that are taken over from Codex's own database; never backwards (rules in domain/taking_over)."""

from __future__ import annotations

from typing import Any, Final

from ltmem_gui.domain.effects import TakeOverJobs, TakeOverRow
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND
from ltmem_gui.domain.leases import StageOne, StageTwo
from ltmem_gui.store.database import storable, storable_number
from ltmem_gui.store.inbox import keep_taken
from ltmem_gui.store.leasing import enqueue_global
from ltmem_gui.store.part import StorePart

LEDGER: Final = ("codex", "taken over")
"""The ledger's entry for what Codex credited itself: up to its `credited_at`, a citation was counted there."""
_TEXTS: Final = (
    "source_updated_at", "raw_memory", "rollout_summary", "rollout_slug", "generated_at", "cwd", "rollout_path",
    "git_branch", "memory_mode",
)  # fmt: skip


class TakingOver(StorePart):
    """Carry out the effects of a take-over, each row compared once more with what is stored by then."""

    def take_over_row(self, row: TakeOverRow, *, now: int) -> bool:
        """Take a memory over unless the stored one is as new or its thread is left out; tell whether a row changed."""
        thread = storable(row.thread_id)
        with self._db.transaction():
            if self._db.sql("SELECT 1 FROM exclusions WHERE thread_id = ?", (thread,)):
                return False
            found = self._db.sql("SELECT source_updated_at FROM stage1_outputs WHERE thread_id = ?", (thread,))
            fresh = False
            if row.change != "usage" and (not found or found[0][0] < row.source_updated_at):
                self._store_text(thread, row, new=not found)
                keep_taken(self._db, thread, now)
                enqueue_global(self._db, row.source_updated_at)
                fresh = True
            raised = self._raise_usage(thread, row) if found or fresh else False
            return fresh or raised

    def take_over_jobs(self, jobs: TakeOverJobs, *, now: int) -> int:
        """Raise the watermarks of jobs to Codex's; return how many were lower. A job that runs at the moment stays."""
        with self._db.transaction():
            raised = sum(self._raise_job(thread, mark, now) for thread, mark in jobs.done.items())
            return raised + (0 if jobs.watermark is None else self._raise_global(jobs.watermark))

    def _store_text(self, thread: str, row: TakeOverRow, *, new: bool) -> None:
        values = [_storable(getattr(row, name)) for name in _TEXTS]
        if new:
            names = ("thread_id", *_TEXTS, "selected_for_phase2", "selected_for_phase2_source_updated_at")
            marks = ", ".join("?" * len(names))
            selected = (0, None) if row.selected_at is None else (1, storable_number(row.selected_at))
            self._db.change(
                f"INSERT INTO stage1_outputs ({', '.join(names)}) VALUES ({marks})", (thread, *values, *selected)
            )
            return
        assignments = ", ".join(f"{name} = ?" for name in _TEXTS)
        self._db.change(
            f"UPDATE stage1_outputs SET {assignments}, edited_at = NULL WHERE thread_id = ?", (*values, thread)
        )

    def _raise_usage(self, thread: str, row: TakeOverRow) -> bool:
        """Raise count and time of use, and note up to when Codex has counted by itself."""
        count, last = _number(row.usage_count), _number(row.last_usage)
        if last:
            self._db.change(
                "INSERT INTO usage_ledger (thread_id, record, cited_id, credited_at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET credited_at = MAX(credited_at, excluded.credited_at)",
                (*LEDGER, thread, last),
            )
        changed = self._db.change(
            "UPDATE stage1_outputs SET usage_count = NULLIF(MAX(COALESCE(usage_count, 0), ?), 0),"
            " last_usage = NULLIF(MAX(COALESCE(last_usage, 0), ?), 0)"
            " WHERE thread_id = ? AND (COALESCE(usage_count, 0) < ? OR COALESCE(last_usage, 0) < ?)",
            (count, last, thread, count, last),
        )
        return changed == 1

    def _raise_job(self, thread: str, mark: int, now: int) -> int:
        return self._db.change(
            """
            INSERT INTO jobs (kind, job_key, status, finished_at, retry_remaining, input_watermark,
                last_success_watermark, agent, cwd, rollout_path, git_branch)
            SELECT ?1, key, 'done', ?4, ?5, ?3, ?3, 'codex', COALESCE(o.cwd, ''), COALESCE(o.rollout_path, ''),
                o.git_branch
            FROM (SELECT ?2 AS key) LEFT JOIN stage1_outputs o ON o.thread_id = key
            WHERE key NOT IN (SELECT thread_id FROM exclusions)
            ON CONFLICT (kind, job_key) DO UPDATE SET
                last_success_watermark = excluded.last_success_watermark,
                status = CASE WHEN COALESCE(input_watermark, 0) <= excluded.input_watermark
                    AND status IN ('pending', 'error') THEN 'done' ELSE status END,
                retry_at = CASE WHEN COALESCE(input_watermark, 0) <= excluded.input_watermark
                    THEN NULL ELSE retry_at END
            WHERE status <> 'running' AND COALESCE(last_success_watermark, 0) < excluded.last_success_watermark
            """,
            (STAGE1_KIND, storable(thread), storable_number(mark), now, StageOne.RETRIES),
        )

    def _raise_global(self, watermark: int) -> int:
        mark = storable_number(watermark)
        return self._db.change(
            """
            INSERT INTO jobs (kind, job_key, status, retry_remaining, input_watermark, last_success_watermark)
            VALUES (?, ?, 'pending', ?, ?, ?)
            ON CONFLICT (kind, job_key) DO UPDATE SET
                last_success_watermark = excluded.last_success_watermark,
                input_watermark = MAX(COALESCE(input_watermark, 0), excluded.input_watermark)
            WHERE COALESCE(last_success_watermark, 0) < excluded.last_success_watermark
            """,
            (GLOBAL_KIND, GLOBAL_KEY, StageTwo.RETRIES, mark, mark),
        )


def _storable(value: str | int | None) -> Any:
    if value is None:
        return None
    return storable(value) if isinstance(value, str) else storable_number(value)


def _number(value: int | None) -> int:
    return storable_number(value or 0)
