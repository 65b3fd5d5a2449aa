"""A Codex home with memories, as far as it matters here: its databases with their real columns, and rows to fill in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ltmem_gui.domain.extraction import StageOneOutput
from tests.helpers.bench import NOW

OUTPUTS = (
    "CREATE TABLE stage1_outputs (thread_id TEXT PRIMARY KEY, source_updated_at INTEGER NOT NULL,"
    " raw_memory TEXT NOT NULL, rollout_summary TEXT NOT NULL, rollout_slug TEXT, generated_at INTEGER NOT NULL,"
    " usage_count INTEGER, last_usage INTEGER, selected_for_phase2 INTEGER NOT NULL DEFAULT 0,"
    " selected_for_phase2_source_updated_at INTEGER)"
)
JOBS = (
    "CREATE TABLE jobs (kind TEXT NOT NULL, job_key TEXT NOT NULL, status TEXT NOT NULL, worker_id TEXT,"
    " ownership_token TEXT, started_at INTEGER, finished_at INTEGER, lease_until INTEGER, retry_at INTEGER,"
    " retry_remaining INTEGER NOT NULL, last_error TEXT, input_watermark INTEGER, last_success_watermark INTEGER,"
    " PRIMARY KEY (kind, job_key))"
)
THREADS = (
    "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, created_at INTEGER NOT NULL,"
    " updated_at INTEGER NOT NULL, source TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT NOT NULL,"
    " archived INTEGER NOT NULL DEFAULT 0, git_branch TEXT, memory_mode TEXT NOT NULL DEFAULT 'enabled')"
)


@dataclass(frozen=True)
class CodexHome:
    """A folder with `memories` (rows and jobs) and `state` (threads) databases; both may be the same file."""

    path: Path
    memories: str = "memories_1.sqlite"
    state: str = "state_5.sqlite"

    def create(self) -> CodexHome:
        self.path.mkdir(parents=True, exist_ok=True)
        for table, name in ((OUTPUTS, self.memories), (JOBS, self.memories), (THREADS, self.state)):
            self.sql(name, table)
        return self

    def sql(self, name: str, statement: str, params: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run one statement as Codex would."""
        with closing(sqlite3.connect(self.path / name, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            return connection.execute(statement, params).fetchall()

    def keep(self, row: StageOneOutput, *, selected_at: int | None = None, thread: bool = True) -> None:
        """Store a memory and its thread."""
        values = (
            row.thread_id, row.source_updated_at, row.raw_memory, row.rollout_summary, row.rollout_slug,
            row.generated_at, row.usage_count, row.last_usage, int(selected_at is not None), selected_at,
        )  # fmt: skip
        self.sql(self.memories, f"INSERT OR REPLACE INTO stage1_outputs VALUES ({marks(10)})", values)
        if thread:
            place = (row.rollout_path, NOW, NOW, "cli", row.cwd, "", 0, row.git_branch, row.memory_mode)
            self.sql(self.state, f"INSERT OR REPLACE INTO threads VALUES ({marks(10)})", (row.thread_id, *place))

    def job(self, kind: str, key: str, status: str, watermark: int, *, lease_until: int | None = None) -> None:
        """Store a job."""
        values = (kind, key, status, "w", "t", NOW, NOW, lease_until, None, 3, None, watermark, watermark)
        self.sql(self.memories, f"INSERT OR REPLACE INTO jobs VALUES ({marks(13)})", values)

    def look(self) -> dict[str, tuple[int, int, bytes]]:
        """Return every file with inode, time and bytes: what must be the same after it was read."""
        return {
            str(path.relative_to(self.path)): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
            for path in sorted(self.path.rglob("*"))
            if path.is_file()
        }


def marks(count: int) -> str:
    return ", ".join("?" * count)


def kept(thread: str, at: int = NOW, **changes: Any) -> StageOneOutput:
    """Return a memory as Codex keeps it."""
    values: dict[str, Any] = {
        "thread_id": thread,
        "source_updated_at": at,
        "raw_memory": f"---\ndescription: of {thread}\n---\n- use pnpm in {thread}",
        "rollout_summary": f"# Session {thread}\n\nIt used pnpm.",
        "rollout_slug": "pnpm",
        "generated_at": at + 5,
        "cwd": f"/p/{thread}",
        "rollout_path": f"/codex/sessions/{thread}.jsonl",
        "git_branch": "main",
    }
    return StageOneOutput(**(values | changes))
