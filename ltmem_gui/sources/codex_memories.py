"""Codex's own memories and memory jobs: looked at through a private copy, never in place.

They lie in `<codex home>/memories_<n>.sqlite`, in older versions in `state_<n>.sqlite`, which holds the threads in
every version (reference codex-memories §3.1, §4.1). Where the memory root is `<codex home>/memories`, two
consolidations of one folder would race.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, STAGE1_KIND, JobStatus
from ltmem_gui.domain.taking_over import KeptRow
from ltmem_gui.pipeline.ports import ForeignLease, ForeignMemories
from ltmem_gui.sources.codex_db import STATE_NAME, IndexedThread, private_copy, read_threads
from ltmem_gui.sources.decoding import Record, text_of
from ltmem_gui.sources.foreign_tables import columns_of, rows_of

MEMORIES_NAME = re.compile(r"\Amemories_(\d+)\.sqlite\Z")
ROOT_NAME = "memories"
_LEASE = "SELECT worker_id, lease_until FROM jobs WHERE kind = ? AND job_key = ? AND status = ? AND lease_until > ?"
_DONE = "SELECT job_key, last_success_watermark FROM jobs WHERE kind = ? AND last_success_watermark > 0"
_JOB_COLUMNS = {"kind", "job_key", "status", "worker_id", "lease_until", "last_success_watermark"}
_ROW_COLUMNS = {"thread_id", "source_updated_at", "raw_memory", "rollout_summary"}


def memories_beside(root: Path, now: int) -> ForeignMemories | None:
    """Return what Codex keeps for the memory folder `root`; None when this is no Codex home.

    While Codex consolidates, its lease is all that counts, and is asked for again and again: rows are not read then.
    `now` in Unix seconds. Raises `InputError` when a database beside the folder cannot be read.
    """
    if root.name != ROOT_NAME:
        return None
    try:
        return memories_of(root.parent, now, beside_lease=False)
    except OSError:
        return None  # the folder above may be closed to us; the memory folder itself is what was named


def memories_of(home: Path, now: int, *, beside_lease: bool = True) -> ForeignMemories | None:
    """Return what Codex keeps in a home; None where it keeps neither memories nor memory jobs.

    `beside_lease` reads the rows also while Codex consolidates. `now` in Unix seconds. Raises `InputError` for a
    database that cannot be read, `OSError` for the folder.
    """
    names = [entry.name for entry in home.iterdir()]
    states = _newest_first(names, STATE_NAME)
    for name in (*_newest_first(names, MEMORIES_NAME), *states):
        found = _read(home, home / name, states, now, beside_lease=beside_lease)
        if found is not None:
            return found
    return None


def _newest_first(names: list[str], pattern: re.Pattern[str]) -> list[str]:
    found = [match for match in map(pattern.match, names) if match]
    return [match[0] for match in sorted(found, key=lambda match: -int(match[1]))]


def _read(home: Path, database: Path, states: list[str], now: int, *, beside_lease: bool) -> ForeignMemories | None:
    with private_copy(str(database)) as connection:
        has_jobs = _has(connection, "jobs", _JOB_COLUMNS)
        has_rows = _has(connection, "stage1_outputs", _ROW_COLUMNS)
        lease = _lease(connection, now) if has_jobs else None
        if lease is not None and not beside_lease:
            return ForeignMemories(str(database), (), lease)
        done = dict(_marks(connection, STAGE1_KIND)) if has_jobs else {}
        watermark = dict(_marks(connection, GLOBAL_KIND)).get(GLOBAL_KEY, 0) if has_jobs else 0
        rows = rows_of(connection, "stage1_outputs", order="thread_id") if has_rows else []
    if not has_rows and not (lease or done or watermark):
        return None
    threads = _threads(home, states) if rows else {}
    return ForeignMemories(str(database), tuple(_kept(row, threads) for row in rows), lease, done, watermark)


def _lease(connection: sqlite3.Connection, now: int) -> ForeignLease | None:
    row = connection.execute(_LEASE, (GLOBAL_KIND, GLOBAL_KEY, JobStatus.RUNNING.value, now)).fetchone()
    return None if row is None else ForeignLease(f"Codex ({row['worker_id']})", _int(row["lease_until"]))


def _marks(connection: sqlite3.Connection, kind: str) -> Iterator[tuple[str, int]]:
    for row in connection.execute(_DONE, (kind,)):
        yield text_of(row["job_key"]), _int(row["last_success_watermark"])


def _has(connection: sqlite3.Connection, table: str, columns: set[str]) -> bool:
    return set(columns_of(connection, table)) >= columns


def _threads(home: Path, states: list[str]) -> dict[str, IndexedThread]:
    """Return Codex's threads; none when no state database holds any, which says nothing about the memories."""
    return next((threads for threads in (read_threads(str(home / name)) for name in states) if threads), {})


def _kept(row: Record, threads: dict[str, IndexedThread]) -> KeptRow:
    """Read one row; cwd, path, branch and mode are joined from the threads, as Codex does."""
    thread_id = text_of(row["thread_id"])
    thread = threads.get(thread_id)
    slug = row.get("rollout_slug")
    output = StageOneOutput(
        thread_id=thread_id,
        source_updated_at=_int(row["source_updated_at"]),
        raw_memory=text_of(row["raw_memory"]),
        rollout_summary=text_of(row["rollout_summary"]),
        rollout_slug=slug if isinstance(slug, str) else None,
        generated_at=_int(row.get("generated_at")),
        usage_count=_count(row.get("usage_count")),
        last_usage=_count(row.get("last_usage")),
        cwd=thread.row.cwd if thread else "",
        rollout_path=thread.rollout_path if thread else "",
        git_branch=thread.row.git_branch if thread else None,
        memory_mode=thread.row.memory_mode if thread else "enabled",
    )
    selected = _count(row.get("selected_for_phase2_source_updated_at")) if row.get("selected_for_phase2") else None
    return KeptRow(output, selected, known=thread is not None or not threads)


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
