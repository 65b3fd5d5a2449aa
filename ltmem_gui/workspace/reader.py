"""Read a memory folder as it is, without creating, changing or touching anything."""

from __future__ import annotations

import os
from pathlib import Path

from ltmem_gui.domain.naming import WORKSPACE_DIFF_FILENAME
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.workspace.baseline import read_baseline
from ltmem_gui.workspace.git_program import require_git
from ltmem_gui.workspace.tree import root_state, walk


def read(root: Path) -> WorkspaceSnapshot:
    """Return the snapshot of a memory folder; a missing one has `exists=False`.

    Raises `InputError` with path and remedy when the root is a symlink, no folder or unreadable, or git is missing.
    """
    root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow the links that are to be refused
    require_git()
    if root_state(root) is None:
        return WorkspaceSnapshot(str(root), False, {}, None, {})
    tree = walk(root)
    leftover = tree.files.pop(WORKSPACE_DIFF_FILENAME, None) is not None
    baseline = read_baseline(root)
    problems = (*tree.problems, *([baseline.problem] if baseline.problem else []))
    return WorkspaceSnapshot(str(root), True, tree.files, baseline.commit, baseline.blobs, leftover, problems)
