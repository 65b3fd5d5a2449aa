"""A memory folder that Codex keeps too: its lease is respected, and what it would replace is said."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.domain.memory_files import threads_of
from ltmem_gui.domain.naming import utc
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot

MAX_NAMED = 3


def require_no_other(adapters: Adapters, root: Path) -> None:
    """Raise `LockBusy` while Codex itself consolidates this folder. Blocks on a private copy of its database."""
    lease = adapters.foreign_lease(root)
    if lease is not None:
        until = utc(lease.until).strftime("%Y-%m-%d %H:%M:%S UTC")
        raise LockBusy(f"{lease.holder} consolidates this folder, until {until} at most", "wait for it", lease.where)


def strangers(snapshot: WorkspaceSnapshot, known: Iterable[str]) -> tuple[str, ...]:
    """Say that the folder holds inputs of threads that only another program knows, and what that leads to."""
    unknown = sorted(threads_of({path: file.data for path, file in snapshot.files.items()}) - set(known))
    if not unknown:
        return ()
    named = ", ".join(unknown[:MAX_NAMED]) + (", …" if len(unknown) > MAX_NAMED else "")
    return (
        f"the folder holds summaries of {len(unknown)} threads this data folder does not know ({named}): this plan "
        "replaces them by its own inputs, and the next consolidation of the program that wrote them replaces these; "
        "name a separate --memory-root to keep both",
    )
