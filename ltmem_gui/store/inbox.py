"""The inbox: uncertain lines of the built-in provider that wait for a person (rules in `domain/inbox`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.extraction import Candidate
from ltmem_gui.domain.inbox import (
    INBOX_EXPIRY_SECONDS,
    InboxLine,
    admit,
    bullet,
    first_memory,
    is_open,
    line_key,
    overflow,
    with_bullet,
)
from ltmem_gui.domain.jobs import STAGE1_KIND
from ltmem_gui.store.database import Database, storable
from ltmem_gui.store.leasing import enqueue_global
from ltmem_gui.store.models import InboxRow
from ltmem_gui.store.part import StorePart

_COLUMNS = (
    InboxRow.id,
    InboxRow.thread_id,
    InboxRow.text,
    InboxRow.line,
    InboxRow.kind,
    InboxRow.score,
    InboxRow.created_at,
)


class Inbox(StorePart):
    """List the waiting lines and store what a person decided about them."""

    def inbox(self, now: int) -> tuple[InboxLine, ...]:
        """Return the open lines, best score first; expired ones are not shown."""
        lines = (line for line in _all(self._db) if is_open(line, now))
        return tuple(sorted(lines, key=lambda line: (-line.score, line.created_at, line.id)))

    def take_inbox(self, line_id: int, *, now: int, text: str | None = None) -> str:
        """Add a line, reworded when `text` is given, as a bullet to its thread's raw memory; enqueue Phase 2.

        Returns the thread. A thread without a row gets one. `text` was redacted before. Raises `InputError` when the
        line does not wait any more.
        """
        with self._db.transaction():
            line = self._waiting(line_id, now)
            taken = bullet(storable(line.text if text is None else text), line.thread_id, line.line)
            self._decide(line, "taken" if text is None else "reworded", now, taken)
            keep_taken(self._db, line.thread_id, now)
            source = self._db.sql("SELECT source_updated_at FROM stage1_outputs WHERE thread_id = ?", (line.thread_id,))
            enqueue_global(self._db, source[0][0])
        return line.thread_id

    def drop_inbox(self, line_id: int, *, now: int) -> str:
        """Drop a line for good: its text goes, its key stays so that it never returns. Returns the thread."""
        with self._db.transaction():
            line = self._waiting(line_id, now)
            self._decide(line, "dropped", now, "")
        return line.thread_id

    def _waiting(self, line_id: int, now: int) -> InboxLine:
        row = self._db.row(InboxRow.select(*_COLUMNS).where(InboxRow.id == line_id))
        line = None if row is None else InboxLine(*row)
        if line is None or not is_open(line, now):
            raise InputError(f"inbox line {line_id} does not wait any more", "look at the inbox again")
        return line

    def _decide(self, line: InboxLine, decision: Literal["taken", "reworded", "dropped"], now: int, kept: str) -> None:
        self._db.change(
            "INSERT OR REPLACE INTO inbox_decisions (key, thread_id, decision, decided_at, kind, bullet)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (line_key(line.text), line.thread_id, decision, now, line.kind, kept),
        )
        self._db.change("DELETE FROM inbox WHERE id = ?", (line.id,))


def keep_taken(db: Database, thread_id: str, now: int) -> bool:
    """See that every line a person took from this thread is in its row, also after it was extracted again.

    Makes the row when there is none. Returns whether the thread has taken lines. Inside the caller's transaction.
    """
    taken = db.sql(
        "SELECT bullet, kind FROM inbox_decisions WHERE thread_id = ? AND bullet <> '' ORDER BY decided_at, key",
        (thread_id,),
    )
    if not taken:
        return False
    row = db.sql("SELECT raw_memory FROM stage1_outputs WHERE thread_id = ?", (thread_id,))
    raw_memory = row[0][0] if row else _first_row(db, thread_id, now)
    for kept, kind in taken:
        if kept not in raw_memory.split("\n"):
            raw_memory = with_bullet(raw_memory, kept, kind)
    db.change(
        "UPDATE stage1_outputs SET raw_memory = ?, edited_at = ? WHERE thread_id = ?", (raw_memory, now, thread_id)
    )
    return True


def _first_row(db: Database, thread_id: str, now: int) -> str:
    job = db.sql(
        "SELECT COALESCE(input_watermark, 0), cwd, rollout_path, git_branch FROM jobs WHERE kind = ? AND job_key = ?",
        (STAGE1_KIND, thread_id),
    )
    source_updated_at, cwd, rollout_path, git_branch = job[0] if job else (now, "", "", None)
    raw_memory, summary = first_memory(cwd)
    db.change(
        "INSERT INTO stage1_outputs (thread_id, source_updated_at, raw_memory, rollout_summary, rollout_slug,"
        " generated_at, cwd, rollout_path, git_branch) VALUES (?, ?, ?, ?, '', ?, ?, ?, ?)",
        (thread_id, source_updated_at, raw_memory, summary, now, cwd, rollout_path, git_branch),
    )
    return raw_memory


def add_candidates(db: Database, thread_id: str, candidates: Iterable[Candidate], now: int) -> None:
    """Replace the waiting lines of a thread inside the caller's transaction; caps and expiry are kept.

    A line that waited before keeps its date, so that extracting again does not make it younger.
    """
    offered = tuple(replace(candidate, text=storable(candidate.text)) for candidate in candidates)
    since = dict(db.sql("SELECT key, created_at FROM inbox WHERE thread_id = ?", (thread_id,)))
    if not offered and not since:
        return
    db.change("DELETE FROM inbox WHERE thread_id = ? OR created_at <= ?", (thread_id, now - INBOX_EXPIRY_SECONDS))
    for candidate in admit(offered, _decided(db, offered)):
        key = line_key(candidate.text)
        created_at = since.get(key, now)
        if created_at + INBOX_EXPIRY_SECONDS > now:
            db.change(
                "INSERT INTO inbox (thread_id, key, text, line, kind, score, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (thread_id, key, candidate.text, candidate.line, candidate.kind, candidate.score, created_at),
            )
    for line_id in overflow(_all(db)):
        db.change("DELETE FROM inbox WHERE id = ?", (line_id,))


def _decided(db: Database, offered: Iterable[Candidate]) -> set[str]:
    keys = {line_key(candidate.text) for candidate in offered}
    return {key for key in keys if db.sql("SELECT 1 FROM inbox_decisions WHERE key = ?", (key,))}


def _all(db: Database) -> tuple[InboxLine, ...]:
    return tuple(InboxLine(*row) for row in db.rows(InboxRow.select(*_COLUMNS).order_by(InboxRow.id)))
