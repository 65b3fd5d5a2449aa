"""Codex's own memories and memory job beside a folder: looked at through a private copy, never in place.

Where the memory root is `<codex home>/memories`, Codex's global job lies in `<codex home>/memories_<n>.sqlite`, in
older versions in `state_<n>.sqlite` (reference codex-memories §3.1, §4.1). Two consolidations of one folder would race.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from ltmem_gui.pipeline.ports import ForeignLease, ForeignMemories
from ltmem_gui.sources.codex_db import STATE_NAME, private_copy

MEMORIES_NAME = re.compile(r"\Amemories_(\d+)\.sqlite\Z")
ROOT_NAME = "memories"
_LEASE = "SELECT worker_id, lease_until FROM jobs WHERE kind = ? AND job_key = ? AND status = ? AND lease_until > ?"
_LEASE_COLUMNS = {"kind", "job_key", "status", "worker_id", "lease_until"}
_ROWS = (
    "SELECT thread_id, source_updated_at FROM stage1_outputs"
    " WHERE length(trim(raw_memory)) > 0 OR length(trim(rollout_summary)) > 0"
)
_ROW_COLUMNS = {"thread_id", "source_updated_at", "raw_memory", "rollout_summary"}


def memories_beside(root: Path, now: int) -> ForeignMemories | None:
    """Return Codex's own rows for `root`, and its lease while it consolidates; None when this is no Codex home.

    `now` in Unix seconds. Raises `InputError` when the database beside the folder cannot be read.
    """
    database = _database(root.parent) if root.name == ROOT_NAME else None
    if database is None:
        return None
    with private_copy(str(database)) as connection:
        lease = _lease(connection, now) if _has(connection, "jobs", _LEASE_COLUMNS) else None
        if not _has(connection, "stage1_outputs", _ROW_COLUMNS):
            return ForeignMemories(str(database), {}, lease) if lease else None
        rows = {str(row["thread_id"]): int(row["source_updated_at"]) for row in connection.execute(_ROWS)}
    return ForeignMemories(str(database), rows, lease)


def _lease(connection: sqlite3.Connection, now: int) -> ForeignLease | None:
    row = connection.execute(_LEASE, (GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING.value, now)).fetchone()
    return None if row is None else ForeignLease(f"Codex ({row['worker_id']})", int(row["lease_until"]))


def _has(connection: sqlite3.Connection, table: str, columns: set[str]) -> bool:
    found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return {str(row["name"]) for row in found} >= columns


def _database(home: Path) -> Path | None:
    """Return the newest database that holds Codex's memory jobs."""
    try:
        names = [entry.name for entry in home.iterdir()]
    except OSError:
        return None  # the folder above may be closed to us; the memory folder itself is what was named
    for pattern in (MEMORIES_NAME, STATE_NAME):
        found = [match for match in map(pattern.match, names) if match]
        if found:
            return home / max(found, key=lambda match: int(match[1]))[0]
    return None
