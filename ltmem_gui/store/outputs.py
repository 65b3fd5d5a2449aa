"""Stage-1 outputs: what was extracted, what is left out, what was used, and what is old enough to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from peewee import fn

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.plan import SelectedRow
from ltmem_gui.domain.usage import names_of, not_kept
from ltmem_gui.store.database import storable
from ltmem_gui.store.leasing import enqueue_global
from ltmem_gui.store.models import Exclusion, Stage1Output
from ltmem_gui.store.part import StorePart
from ltmem_gui.store.taking_over import LEDGER

CODEX_COUNTS_WITHIN_SECONDS = 60
"""How much later than its message Codex may have counted a citation, and the message been stamped."""
_SECONDS_PER_DAY = 86_400
_COLUMNS = (
    Stage1Output.thread_id,
    Stage1Output.source_updated_at,
    Stage1Output.raw_memory,
    Stage1Output.rollout_summary,
    Stage1Output.rollout_slug,
    Stage1Output.generated_at,
    Stage1Output.usage_count,
    Stage1Output.last_usage,
    Stage1Output.cwd,
    Stage1Output.rollout_path,
    Stage1Output.git_branch,
    Stage1Output.memory_mode,
)


class Outputs(StorePart):
    """Read and steer the rows that Phase 2 works from."""

    def outputs(self) -> tuple[StageOneOutput, ...]:
        """Return all rows in ascending thread-id order."""
        query = Stage1Output.select(*_COLUMNS).order_by(Stage1Output.thread_id)
        return tuple(StageOneOutput(*row) for row in self._db.rows(query))

    def output(self, thread_id: str) -> StageOneOutput | None:
        """Return the row of one thread."""
        row = self._db.row(Stage1Output.select(*_COLUMNS).where(Stage1Output.thread_id == thread_id))
        return None if row is None else StageOneOutput(*row)

    def selected_rows(self) -> tuple[SelectedRow, ...]:
        """Return the selection of the last success with its snapshots, in ascending thread-id order."""
        query = Stage1Output.select(Stage1Output.thread_id, Stage1Output.selected_for_phase2_source_updated_at)
        query = query.where(Stage1Output.selected_for_phase2 == 1).order_by(Stage1Output.thread_id)
        return tuple(SelectedRow(thread_id=thread, source_updated_at=at or 0) for thread, at in self._db.rows(query))

    def edit_output(self, thread_id: str, *, source_updated_at: int, changes: Mapping[str, str], now: int) -> bool:
        """Change `raw_memory`, `rollout_summary` or `rollout_slug` of a row and enqueue Phase 2.

        False when the row is gone or of another source by now. Raises `ValueError` for any other column.
        """
        if not changes or not changes.keys() <= {"raw_memory", "rollout_summary", "rollout_slug"}:
            raise ValueError(f"not an editable column: {', '.join(sorted(changes))}")
        values: dict[str, object] = {name: storable(text) for name, text in changes.items()}
        query = Stage1Output.update(**values, edited_at=now).where(
            (Stage1Output.thread_id == thread_id) & (Stage1Output.source_updated_at == source_updated_at)
        )
        with self._db.transaction():
            changed = self._db.run(query) == 1
            if changed:
                enqueue_global(self._db, source_updated_at)
        return changed

    # --- left out until lifted ---

    def excluded(self) -> Mapping[str, str]:
        """Return thread → reason of the rows that are left out until lifted."""
        return dict(self._db.rows(Exclusion.select(Exclusion.thread_id, Exclusion.reason)))

    def exclude(self, thread_id: str, *, reason: str, now: int) -> None:
        """Leave a thread out of consolidation until lifted; Phase 2 is enqueued when it has a row."""
        thread_id = storable(thread_id)
        with self._db.transaction():
            query = Exclusion.insert(thread_id=thread_id, reason=storable(reason), excluded_at=now)
            self._db.run(query.on_conflict_replace())
            self._enqueue_row(thread_id)

    def lift(self, thread_id: str) -> bool:
        """Take a thread in again; False when it was not left out."""
        with self._db.transaction():
            lifted = self._db.run(Exclusion.delete().where(Exclusion.thread_id == thread_id)) == 1
            if lifted:
                self._enqueue_row(thread_id)
        return lifted

    # --- usage and retention ---

    def credit_usage(self, citations: Sequence[Mapping[str, str]], *, now: int) -> int:
        """Credit citations: `thread_id` and `record` say where it was cited, `cited_id` which thread.

        Each is credited once ever, whether it was kept under its record or, as older ledgers do, its `place`; `used_at`
        (Unix seconds) may say when, else it is `now`. Returns how many rows of outputs were updated, counted per
        citation.
        """
        updated = 0
        with self._db.transaction():
            for credit in citations:
                if self._is_kept(credit):
                    continue
                key = (credit["thread_id"], credit["record"], credit["cited_id"])
                self._db.change("INSERT INTO usage_ledger VALUES (?, ?, ?, ?)", (*key, now))
                if not self._counted_by_codex(credit):
                    used_at = int(credit.get("used_at", now))
                    updated += self._db.change(
                        "UPDATE stage1_outputs SET usage_count = COALESCE(usage_count, 0) + 1,"
                        " last_usage = MAX(COALESCE(last_usage, 0), ?) WHERE thread_id = ?",
                        (used_at, credit["cited_id"]),
                    )
        return updated

    def uncredited(self, citations: Sequence[Mapping[str, str]]) -> tuple[Mapping[str, str], ...]:
        """Return those of the citations that were never credited, in order."""
        return tuple(credit for credit in not_kept(citations, self._kept) if not self._counted_by_codex(credit))

    def _is_kept(self, credit: Mapping[str, str]) -> bool:
        names = names_of(credit)
        query = (
            "SELECT 1 FROM usage_ledger WHERE thread_id = ? AND cited_id = ?"
            f" AND record IN ({', '.join('?' * len(names))})"
        )
        return bool(self._db.sql(query, (credit["thread_id"], credit["cited_id"], *names)))

    def _kept(self, thread_id: str, cited_id: str) -> set[str]:
        query = "SELECT record FROM usage_ledger WHERE thread_id = ? AND cited_id = ?"
        return {record for (record,) in self._db.sql(query, (thread_id, cited_id))}

    def _counted_by_codex(self, credit: Mapping[str, str]) -> bool:
        """Tell whether a citation is in the usage that was taken over: Codex counts one as soon as it is made."""
        query = "SELECT 1 FROM usage_ledger WHERE thread_id = ? AND record = ? AND cited_id = ? AND credited_at >= ?"
        used_at = credit.get("used_at")
        if used_at is None:
            return False
        latest = int(used_at) - CODEX_COUNTS_WITHIN_SECONDS
        return bool(self._db.sql(query, (*LEDGER, credit["cited_id"], latest)))

    def prunable(
        self,
        now: int,
        max_unused_days: int,
        limit: int,
        recency_fallback: Literal["generated_at", "source_updated_at"] = "generated_at",
    ) -> tuple[str, ...]:
        """Return at most `limit` threads whose rows are unused for `max_unused_days` and not in the last baseline.

        Stalest first; `recency_fallback` stands in for a row that was never used (design §5.1).
        """
        recency = fn.COALESCE(Stage1Output.last_usage, getattr(Stage1Output, recency_fallback))
        query = (
            Stage1Output.select(Stage1Output.thread_id)
            .where((Stage1Output.selected_for_phase2 == 0) & (recency < now - max_unused_days * _SECONDS_PER_DAY))
            .order_by(recency, Stage1Output.source_updated_at, Stage1Output.thread_id)
            .limit(limit)
        )
        return tuple(thread for (thread,) in self._db.rows(query))

    def prune(self, thread_ids: Sequence[str]) -> int:
        """Delete rows by retention; a row that is in the last baseline by now stays. Job rows stay."""
        with self._db.transaction():
            return sum(
                self._db.change("DELETE FROM stage1_outputs WHERE thread_id = ? AND selected_for_phase2 = 0", (thread,))
                for thread in thread_ids
            )

    def _enqueue_row(self, thread_id: str) -> None:
        query = Stage1Output.select(Stage1Output.source_updated_at).where(Stage1Output.thread_id == thread_id)
        row = self._db.row(query)
        if row is not None:
            enqueue_global(self._db, row[0])
