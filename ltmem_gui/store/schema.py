"""The tables of the data folder's database, and the steps from one version to the next.

`stage1_outputs` and `jobs` have Codex's columns under Codex's names (reference §3.1), then our own.
"""

from __future__ import annotations

from typing import Final, Protocol

from ltmem_gui.domain.chain import GENESIS
from ltmem_gui.domain.errors import InputError

SCHEMA_VERSION: Final = 4

_VERSION_1: Final = (
    """
    CREATE TABLE stage1_outputs (
        thread_id TEXT PRIMARY KEY,
        source_updated_at INTEGER NOT NULL,
        raw_memory TEXT NOT NULL,
        rollout_summary TEXT NOT NULL,
        rollout_slug TEXT,
        generated_at INTEGER NOT NULL,
        usage_count INTEGER,
        last_usage INTEGER,
        selected_for_phase2 INTEGER NOT NULL DEFAULT 0,
        selected_for_phase2_source_updated_at INTEGER,
        cwd TEXT NOT NULL DEFAULT '',
        rollout_path TEXT NOT NULL DEFAULT '',
        git_branch TEXT,
        memory_mode TEXT NOT NULL DEFAULT 'enabled',
        edited_at INTEGER
    )
    """,
    "CREATE INDEX idx_stage1_outputs_source ON stage1_outputs (source_updated_at DESC, thread_id DESC)",
    """
    CREATE TABLE jobs (
        kind TEXT NOT NULL,
        job_key TEXT NOT NULL,
        status TEXT NOT NULL,
        worker_id TEXT,
        ownership_token TEXT,
        started_at INTEGER,
        finished_at INTEGER,
        lease_until INTEGER,
        retry_at INTEGER,
        retry_remaining INTEGER NOT NULL,
        last_error TEXT,
        input_watermark INTEGER,
        last_success_watermark INTEGER,
        agent TEXT NOT NULL DEFAULT '',
        cwd TEXT NOT NULL DEFAULT '',
        rollout_path TEXT NOT NULL DEFAULT '',
        git_branch TEXT,
        title TEXT NOT NULL DEFAULT '',
        last_outcome TEXT NOT NULL DEFAULT '',
        error_group TEXT NOT NULL DEFAULT '',
        crash_count INTEGER NOT NULL DEFAULT 0,
        attempt INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (kind, job_key)
    )
    """,
    "CREATE INDEX idx_jobs_claim ON jobs (kind, status, retry_at, lease_until)",
    """
    CREATE TABLE attempts (
        kind TEXT NOT NULL,
        job_key TEXT NOT NULL,
        number INTEGER NOT NULL,
        owner TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        outcome TEXT NOT NULL DEFAULT '',
        tokens_in INTEGER,
        tokens_out INTEGER,
        error_group TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (kind, job_key, number)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE operations (
        number INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        type TEXT NOT NULL,
        plan_digest TEXT NOT NULL,
        operation_number INTEGER NOT NULL,
        body TEXT NOT NULL,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL
    )
    """,
    "CREATE INDEX idx_operations_plan ON operations (plan_digest, type)",
    "CREATE TABLE operations_head (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, hash TEXT NOT NULL)",
    f"INSERT INTO operations_head (id, number, hash) VALUES (1, 0, '{GENESIS}')",
    """
    CREATE TABLE inbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        thread_id TEXT NOT NULL,
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        line INTEGER,
        kind TEXT NOT NULL,
        score INTEGER NOT NULL,
        created_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX idx_inbox_thread ON inbox (thread_id)",
    """
    CREATE TABLE inbox_decisions (
        key TEXT PRIMARY KEY,
        thread_id TEXT NOT NULL,
        decision TEXT NOT NULL,
        decided_at INTEGER NOT NULL,
        kind TEXT NOT NULL DEFAULT '',
        bullet TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID
    """,
    "CREATE INDEX idx_inbox_decisions_thread ON inbox_decisions (thread_id)",
    """
    CREATE TABLE refused_hunks (
        key TEXT PRIMARY KEY,
        path TEXT NOT NULL,
        old TEXT NOT NULL,
        new TEXT NOT NULL,
        note TEXT NOT NULL,
        thread_ids TEXT NOT NULL,
        refused_at INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE exclusions (
        thread_id TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        excluded_at INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE usage_ledger (
        thread_id TEXT NOT NULL,
        record TEXT NOT NULL,
        cited_id TEXT NOT NULL,
        credited_at INTEGER NOT NULL,
        PRIMARY KEY (thread_id, record, cited_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX idx_usage_ledger_cited ON usage_ledger (cited_id)",
    """
    CREATE TABLE verdicts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        rater TEXT NOT NULL,
        frame TEXT NOT NULL,
        item TEXT NOT NULL,
        verdict TEXT NOT NULL,
        note TEXT NOT NULL,
        binding TEXT NOT NULL,
        thread_ids TEXT NOT NULL
    )
    """,
    "CREATE INDEX idx_verdicts_frame ON verdicts (frame, rater, item)",
    "CREATE TABLE chores (name TEXT PRIMARY KEY)",
)

_VERSION_2: Final = (
    "ALTER TABLE attempts ADD COLUMN tokens_cached INTEGER",
    "ALTER TABLE attempts ADD COLUMN tokens_reasoning INTEGER",
    "ALTER TABLE attempts ADD COLUMN provider TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE attempts ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    # A decimal number as text: SQLite has no exact fractions.
    "ALTER TABLE attempts ADD COLUMN cost TEXT",
    "ALTER TABLE attempts ADD COLUMN currency TEXT NOT NULL DEFAULT ''",
    """
    CREATE TABLE provider_limits (
        provider TEXT NOT NULL,
        host TEXT NOT NULL,
        model TEXT NOT NULL,
        at INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (provider, host, model)
    ) WITHOUT ROWID
    """,
)

_VERSION_3: Final = (
    """
    CREATE TABLE evidence (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        root TEXT NOT NULL,
        file TEXT NOT NULL,
        note TEXT NOT NULL,
        path TEXT NOT NULL,
        first_line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        quote TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        copies INTEGER NOT NULL,
        baseline TEXT,
        at INTEGER NOT NULL,
        origin TEXT NOT NULL,
        thread_ids TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX idx_evidence_citation ON evidence (root, file, path, first_line, last_line, note)",
)

_VERSION_4: Final = (
    """
    CREATE TABLE agent_transcripts (
        operation_number INTEGER PRIMARY KEY,
        body TEXT NOT NULL,
        thread_ids TEXT NOT NULL
    )
    """,
)

MIGRATIONS: Final[dict[int, tuple[str, ...]]] = {1: _VERSION_1, 2: _VERSION_2, 3: _VERSION_3, 4: _VERSION_4}
"""Version → the statements that lead to it from the version before."""


class Statements(Protocol):
    """What a migration needs of a database: run one statement inside the open transaction."""

    def change(self, statement: str) -> object: ...


def check_version(version: int, path: str) -> None:
    """Raise `InputError` for a database of a newer program."""
    if version > SCHEMA_VERSION:
        raise InputError(
            f"the database is of a newer version ({version}; this program knows {SCHEMA_VERSION})",
            "use the newer program, or name another data folder",
            path,
        )


def migrate(db: Statements, version: int) -> None:
    """Lead a database of `version` to the newest one; call it inside a transaction."""
    for target in range(version + 1, SCHEMA_VERSION + 1):
        for statement in MIGRATIONS[target]:
            db.change(statement)
    if version < SCHEMA_VERSION:
        db.change(f"PRAGMA user_version = {SCHEMA_VERSION}")
