"""A memory folder that Codex keeps too: its lease is respected, and what it would replace is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ltmem_gui.domain.errors import LockBusy
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.memory_files import threads_of
from ltmem_gui.domain.naming import utc
from ltmem_gui.domain.selection import select
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters, ForeignMemories, WorkspaceSnapshot

MAX_NAMED = 12
SEPARATE = "_ltmem"


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


def codex_selection(foreign: ForeignMemories, settings: Settings, now: int) -> tuple[StageOneOutput, ...]:
    """Return the rows that Codex's next consolidation works from, by its own order (reference §4.2).

    To Codex a text of spaces alone is empty, while one of line ends is not.
    """
    rows = {kept.output.thread_id: kept.output for kept in foreign.rows if kept.known}
    blank = {row.thread_id for row in rows.values() if not (row.raw_memory + row.rollout_summary).strip(" ")}
    chosen = select(
        (replace(row, raw_memory="text") for thread, row in rows.items() if thread not in blank),
        now=now,
        limit=settings.max_raw_memories_for_consolidation,
        max_unused_days=settings.max_unused_days,
        recency_fallback="source_updated_at",
    )
    return tuple(rows[row.thread_id] for row in chosen)


def differing(
    adapters: Adapters,
    foreign: ForeignMemories | None,
    rows: Iterable[StageOneOutput],
    *,
    root: Path,
    settings: Settings,
) -> tuple[str, ...]:
    """Say which inputs of this plan Codex's next consolidation would replace, and offer a folder of its own.

    Empty where Codex would write the same bytes: then it finds no change.
    """
    if foreign is None:
        return ()
    mine = {row.thread_id: row for row in rows}
    selected = codex_selection(foreign, settings, adapters.clock())
    ours = _rendered(adapters, mine.values())
    theirs = _rendered(adapters, (_placed(row, mine.get(row.thread_id)) for row in selected))
    apart = sorted(thread for thread in ours.keys() | theirs.keys() if ours.get(thread) != theirs.get(thread))
    if not apart:
        return ()
    return (
        f"Codex selects {len(selected)} memories of its own for this folder ({foreign.where}); its next "
        f"consolidation replaces these inputs of {len(apart)} threads by its own: {_named(apart, ours, theirs)}; "
        f"take its memories over first (plan take-over --codex-home {root.parent}), or name a separate --memory-root "
        f"to keep both: {_separate(root)}",
    )


def _placed(row: StageOneOutput, ours: StageOneOutput | None) -> StageOneOutput:
    """Return a row with our word on where its session lies, when Codex's threads say nothing: that is no difference."""
    if ours is None or row.rollout_path:
        return row
    return replace(row, cwd=ours.cwd, rollout_path=ours.rollout_path, git_branch=ours.git_branch)


def _rendered(adapters: Adapters, rows: Iterable[StageOneOutput]) -> dict[str, Mapping[str, bytes]]:
    return {row.thread_id: adapters.workspace.render_inputs([row]) for row in rows}


def _named(threads: list[str], ours: Mapping[str, object], theirs: Mapping[str, object]) -> str:
    def word(thread: str) -> str:
        if thread not in theirs:
            return f"{thread} (only here)"
        return f"{thread} (only in Codex)" if thread not in ours else thread

    named = ", ".join(map(word, threads[:MAX_NAMED]))
    return named if len(threads) <= MAX_NAMED else f"{named} and {len(threads) - MAX_NAMED} more"


def _separate(root: Path) -> Path:
    """Return a folder beside this one that no other program writes."""
    return root.with_name(f"{root.name}{SEPARATE}")


def strangers(snapshot: WorkspaceSnapshot, known: Iterable[str]) -> tuple[str, ...]:
    """Say that the folder holds inputs of threads that only another program knows, and what that leads to."""
    unknown = sorted(threads_of({path: file.data for path, file in snapshot.files.items()}) - set(known))
    if not unknown:
        return ()
    named = ", ".join(unknown[:MAX_NAMED]) + (", …" if len(unknown) > MAX_NAMED else "")
    return (
        f"the folder holds summaries of {len(unknown)} threads this data folder does not know ({named}): this plan "
        "replaces them by its own inputs, and the next consolidation of the program that wrote them replaces these; "
        f"name a separate --memory-root to keep both: {_separate(Path(snapshot.root))}",
    )
