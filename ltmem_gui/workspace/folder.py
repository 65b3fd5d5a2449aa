"""The memory folder as the use cases see it: read, render, compare; nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.pipeline.ports import BaselineChange, WorkspaceSnapshot
from ltmem_gui.workspace import baseline, diff, layout, reader


class MemoryFolder:
    """Implement the port `Workspace`. Stateless; any thread."""

    def __init__(self, protect: Callable[[Path], object] | None = None) -> None:
        """Tell `protect` of every root that is read: the program's guard watches it from then on."""
        self._protect = protect

    def read(self, root: Path) -> WorkspaceSnapshot:
        """Read the folder. Raises `InputError` for a symlinked or unreadable root; a missing one is `exists=False`."""
        if self._protect is not None:
            self._protect(root)
        return reader.read(root)

    def render_inputs(self, outputs: Sequence[StageOneOutput]) -> dict[str, bytes]:
        """Return `raw_memories.md` and `rollout_summaries/…`, equal to Codex's bytes."""
        return layout.render_inputs(outputs)

    def stale_paths(self, snapshot: WorkspaceSnapshot, inputs: Mapping[str, bytes], now: int) -> dict[str, str]:
        """Return path → reason for summaries and extension resources that are to be pruned."""
        return layout.stale_paths(snapshot, inputs, now)

    def baseline_changes(self, snapshot: WorkspaceSnapshot, files: Mapping[str, bytes]) -> tuple[BaselineChange, ...]:
        """Compare a tree with the baseline without writing any object."""
        return baseline.baseline_changes(snapshot, files)

    def workspace_diff(self, snapshot: WorkspaceSnapshot, files: Mapping[str, bytes]) -> str:
        """Render `phase2_workspace_diff.md` of a tree against the baseline (capped, fence-safe)."""
        return diff.workspace_diff(snapshot, files)
