"""Where things lie in a memory folder, and the files that are rendered from stage-1 rows (reference §4.5–4.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from ltmem_gui.domain.effects import EnsureLayout
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.naming import (
    EXTENSIONS_SUBDIR,
    RAW_MEMORIES_FILENAME,
    RETENTION_DAYS,
    ROLLOUT_SUMMARIES_SUBDIR,
    WHITE_SPACE,
    resource_time,
    summary_stems,
    utc,
)
from ltmem_gui.pipeline.ports import WorkspaceSnapshot


def memory_root(codex_home: Path) -> Path:
    """Return the memory folder of a Codex home."""
    return codex_home / "memories"


def rollout_summaries_dir(root: Path) -> Path:
    """Return the folder of the summaries."""
    return root / ROLLOUT_SUMMARIES_SUBDIR


def memory_extensions_root(root: Path) -> Path:
    """Return the folder of the extensions."""
    return root / EXTENSIONS_SUBDIR


def raw_memories_file(root: Path) -> Path:
    """Return the file of all raw memories."""
    return root / RAW_MEMORIES_FILENAME


def ensure_layout(root: Path) -> EnsureLayout | None:
    """Return the effect that makes the missing folders, None when both are there; nothing is created here."""
    missing = tuple(str(path) for path in (root, rollout_summaries_dir(root)) if not path.is_dir())
    return EnsureLayout(path=str(root), creates=missing) if missing else None


def render_inputs(outputs: Iterable[StageOneOutput]) -> dict[str, bytes]:
    """Return path → bytes of `raw_memories.md` and `rollout_summaries/…`, equal to what Codex writes for these rows.

    The result does not depend on the order of `outputs`.
    """
    rows = sorted(outputs, key=lambda o: o.thread_id)
    stems = summary_stems(rows)
    files = {RAW_MEMORIES_FILENAME: _raw_memories(rows, stems)}
    for row in rows:
        files[f"{ROLLOUT_SUMMARIES_SUBDIR}/{stems[row.thread_id]}.md"] = _summary(row)
    return files


def stale_paths(snapshot: WorkspaceSnapshot, inputs: Mapping[str, bytes], now: int) -> dict[str, str]:
    """Return path → reason of what is to be pruned: unselected summaries, and extension resources past retention.

    `now` in Unix seconds. Files of other people (no `.md`, nested, no `instructions.md`, no time) stay.
    """
    cutoff = utc(now) - timedelta(days=RETENTION_DAYS)
    stale: dict[str, str] = {}
    for path in sorted(snapshot.files):
        match path.split("/"):
            case [first, name] if first == ROLLOUT_SUMMARIES_SUBDIR:
                if name.endswith(".md") and path not in inputs:
                    stale[path] = "its session is not selected any more"
            case [first, extension, "resources", name] if first == EXTENSIONS_SUBDIR and name.endswith(".md"):
                time = resource_time(name)
                has_instructions = f"{first}/{extension}/instructions.md" in snapshot.files
                if has_instructions and time is not None and time <= cutoff:
                    stale[path] = f"extension resource older than {RETENTION_DAYS} days"
            case _:
                pass
    return stale


def _raw_memories(rows: list[StageOneOutput], stems: Mapping[str, str]) -> bytes:
    if not rows:
        return b"# Raw Memories\n\nNo raw memories yet.\n"
    title = "# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n"
    return _bytes(title + "".join(_raw_memory(row, stems[row.thread_id]) for row in rows))


def _raw_memory(row: StageOneOutput, stem: str) -> str:
    return (
        f"## Thread `{row.thread_id}`\n"
        f"updated_at: {_rfc3339(row)}\n"
        f"cwd: {row.cwd}\n"
        f"rollout_path: {row.rollout_path}\n"
        f"rollout_summary_file: {stem}.md\n"
        "\n"
        f"{row.raw_memory.strip(WHITE_SPACE)}\n"
        "\n"
    )


def _summary(row: StageOneOutput) -> bytes:
    branch = f"git_branch: {row.git_branch}\n" if row.git_branch is not None else ""
    return _bytes(
        f"thread_id: {row.thread_id}\n"
        f"updated_at: {_rfc3339(row)}\n"
        f"rollout_path: {row.rollout_path}\n"
        f"cwd: {row.cwd}\n"
        f"{branch}"
        "\n"
        f"{row.rollout_summary}\n"
    )


def _rfc3339(row: StageOneOutput) -> str:
    return utc(row.source_updated_at).isoformat(timespec="seconds")


def _bytes(text: str) -> bytes:
    # Lone surrogates come from cut emoji in transcripts; a file must be UTF-8.
    return text.encode("utf-8", "replace")
