"""A memory folder that Codex keeps too: its lease is respected, and what it would replace is said."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.memory_files import threads_of
from ltmem_gui.domain.naming import utc
from ltmem_gui.pipeline.ports import Adapters, ForeignMemories, WorkspaceSnapshot

MAX_NAMED = 3


def require_no_other(adapters: Adapters, root: Path) -> ForeignMemories | None:
    """Raise `LockBusy` while Codex itself consolidates this folder; return what it keeps for it.

    Blocks on a private copy of its database.
    """
    foreign = adapters.foreign_memories(root)
    if foreign is not None and foreign.lease is not None:
        until = utc(foreign.lease.until).strftime("%Y-%m-%d %H:%M:%S UTC")
        said = f"{foreign.lease.holder} consolidates this folder, until {until} at most"
        raise LockBusy(said, "wait for it", foreign.where)
    return foreign


def differing(foreign: ForeignMemories | None, rows: Iterable[StageOneOutput]) -> tuple[str, ...]:
    """Say that Codex's own memories of this folder are not the inputs of this plan, and what that leads to."""
    if foreign is None:
        return ()
    ours = {row.thread_id: row.source_updated_at for row in rows}
    apart = len(ours.items() ^ foreign.rows.items())
    if not apart:
        return ()
    return (
        f"Codex keeps {len(foreign.rows)} memories of its own for this folder ({foreign.where}), and they are not "
        f"these {len(ours)}: its next consolidation replaces these inputs; name a separate --memory-root to keep both",
    )


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
