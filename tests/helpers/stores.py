"""Stores with a clock and holders of one's own, and the smallest rows that the rules need."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import PlannedJob
from ltmem_gui.domain.extraction import Candidate, ExtractionReply, StageOneOutput
from ltmem_gui.domain.jobs import Claim, ClaimOutcome, Owner
from ltmem_gui.store.opening import DATABASE_NAME, SqliteStores
from ltmem_gui.store.store import SqliteStore

NOW = 1_800_000_000
HOUR = 3_600
DAY = 86_400
CAP = 8
ME = Owner("here", 100, 1, "worker-a")
OTHER = Owner("here", 200, 1, "worker-b")
ABROAD = Owner("elsewhere", 1, 1, "worker-c")


class Holders:
    """Answer which holders live: all on this host but the dead ones; nothing is known of other hosts."""

    def __init__(self) -> None:
        self.dead: set[Owner] = set()

    def __call__(self, owner: Owner) -> bool | None:
        if owner.host != "here":
            return None
        return owner not in self.dead


class Home:
    """A data folder of a test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.holders = Holders()
        self.stores = SqliteStores(alive=self.holders)

    @property
    def database(self) -> Path:
        return self.path / DATABASE_NAME

    def create(self) -> Home:
        self.stores.create_home(self.path)
        return self

    @contextmanager
    def open(self) -> Iterator[SqliteStore]:
        with self.stores.writing(self.path) as store:
            yield store

    def sql(self, statement: str, *params: object) -> list[tuple[object, ...]]:
        """Run one statement behind the store's back."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            return connection.execute(statement, params).fetchall()

    def files(self) -> dict[str, tuple[int, int, int]]:
        """Return name → (inode, size, mtime) of the database and what lies beside it under its name."""
        found = {}
        for path in sorted(self.path.glob(f"{DATABASE_NAME}*")):
            status = path.stat()
            found[path.name] = (status.st_ino, status.st_size, status.st_mtime_ns)
        return found


def a_job(thread: str = "t1", source: int = NOW - DAY) -> PlannedJob:
    return PlannedJob(
        thread_id=thread,
        agent="codex",
        path=f"/s/{thread}.jsonl",
        size=1,
        mtime_ns=1,
        source_updated_at=source,
        cwd="/p",
        git_branch="main",
        title=f"title of {thread}",
    )


def an_output(thread: str = "t1", source: int = NOW - DAY, **changes: object) -> StageOneOutput:
    values: dict[str, object] = {
        "thread_id": thread,
        "source_updated_at": source,
        "raw_memory": f"raw of {thread}",
        "rollout_summary": f"summary of {thread}",
        "rollout_slug": "slug",
        "generated_at": NOW,
        "cwd": "/p",
        "rollout_path": f"/s/{thread}.jsonl",
        "git_branch": "main",
    }
    return StageOneOutput(**(values | changes))  # type: ignore[arg-type]


def a_reply(*inbox: Candidate) -> ExtractionReply:
    return ExtractionReply("{}", tokens_in=11, tokens_out=7, inbox=inbox)


def a_receipt(plan_digest: str = "d" * 64, **changes: object) -> Receipt:
    values: dict[str, object] = {
        "operation_number": 0,
        "operation": "consolidate",
        "kind": "apply",
        "plan_digest": plan_digest,
        "selection_digest": "s" * 64,
        "approver": "me",
        "surface": "command line",
        "started_at": NOW,
        "finished_at": NOW + 1,
    }
    return Receipt.model_validate(values | changes)


def claimed(
    store: SqliteStore, thread: str = "t1", source: int = NOW - DAY, *, owner: Owner = ME, now: int = NOW
) -> Claim:
    """Claim a thread that must be free."""
    result = store.claim_stage1(a_job(thread, source), owner, now=now, cap=CAP)
    assert result.outcome is ClaimOutcome.CLAIMED, result
    assert result.claim is not None
    return result.claim


def extracted(
    store: SqliteStore, thread: str = "t1", source: int = NOW - DAY, *, now: int = NOW, **changes: object
) -> None:
    """Store an output by claiming and succeeding."""
    claim = claimed(store, thread, source, now=now)
    store.succeed_stage1(claim, an_output(thread, source, **({"generated_at": now} | changes)), a_reply(), now=now)


def claimed_global(store: SqliteStore, *, owner: Owner = ME, now: int = NOW, ignore_cooldown: bool = False) -> Claim:
    """Claim the global job that must be free."""
    result = store.claim_global(owner, now=now, ignore_cooldown=ignore_cooldown)
    assert result.outcome is ClaimOutcome.CLAIMED, result
    assert result.claim is not None
    return result.claim
