"""Codex's own memory job beside a memory folder: looked at through a private copy, never in place.

Where the memory root is `<codex home>/memories`, Codex's global job lies in `<codex home>/memories_<n>.sqlite`, in
older versions in `state_<n>.sqlite` (reference codex-memories §3.1, §4.1). Two consolidations of one folder would race.
"""

from __future__ import annotations

import re
from pathlib import Path

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from ltmem_gui.pipeline.ports import ForeignLease
from ltmem_gui.sources.codex_db import STATE_NAME, private_copy

MEMORIES_NAME = re.compile(r"\Amemories_(\d+)\.sqlite\Z")
ROOT_NAME = "memories"
_QUERY = "SELECT worker_id, lease_until FROM jobs WHERE kind = ? AND job_key = ? AND status = ? AND lease_until > ?"
_NEEDED = {"kind", "job_key", "status", "worker_id", "lease_until"}


def running_consolidation(root: Path, now: int) -> ForeignLease | None:
    """Return the live lease of Codex's own consolidation of `root`, None when there is none or no Codex home.

    `now` in Unix seconds. Raises `InputError` when the database beside the folder cannot be read.
    """
    database = _database(root.parent) if root.name == ROOT_NAME else None
    if database is None:
        return None
    with private_copy(str(database)) as connection:
        columns = {str(row["name"]) for row in connection.execute("SELECT name FROM pragma_table_info('jobs')")}
        if not columns >= _NEEDED:
            return None
        row = connection.execute(_QUERY, (GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING.value, now)).fetchone()
    if row is None:
        return None
    return ForeignLease(f"Codex ({row['worker_id']})", int(row["lease_until"]), str(database))


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
