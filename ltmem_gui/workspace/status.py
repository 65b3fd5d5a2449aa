"""What changed on disk since the baseline, by way of git's index: files whose state did not change are not read."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.naming import STAGING_PREFIX, WORKSPACE_DIFF_FILENAME
from ltmem_gui.pipeline.ports import BaselineChange
from ltmem_gui.workspace.baseline import baseline_changes, read_head
from ltmem_gui.workspace.borrowing import BRANCH, borrowing
from ltmem_gui.workspace.git_program import GitFailed
from ltmem_gui.workspace.reader import read
from ltmem_gui.workspace.tree import root_state

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ARGUMENTS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional")


def status(root: Path) -> tuple[BaselineChange, ...]:
    """Return the changed paths in order, the same as reading the folder and comparing it.

    Nothing below the root is written: git works on a private copy of the index. Ignore rules have no influence.
    Raises `InputError` for a root that cannot be used or has no usable baseline.
    """
    root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow the links that are to be refused
    commit = (_loose_head(root) or read_head(root)) if root_state(root) else None
    if commit is None:
        raise _no_baseline(root)
    try:
        listing = _listing(root, commit)
    except GitFailed:
        listing = None
    if listing is None or any(line.endswith(b"/") or line[:1] not in b" ?!" for line in listing):
        # A repository inside the folder, or an index that is unusable or not that of the baseline: look at everything.
        snapshot = read(root)
        if snapshot.baseline is None:
            raise _no_baseline(root)
        return baseline_changes(snapshot, {path: file.data for path, file in snapshot.files.items()})
    return tuple(sorted(_changes(root, listing), key=lambda change: change.path))


def _no_baseline(root: Path) -> InputError:
    return InputError("the folder has no usable baseline", "apply a plan first", str(root))


def _loose_head(root: Path) -> str | None:
    """Return the commit of a branch that is stored as a file of its own, which spares starting git; None otherwise."""
    git_dir = root / ".git"
    try:
        if git_dir.is_symlink() or (git_dir / "HEAD").read_text("ascii").strip() != f"ref: {BRANCH}":
            return None
        commit = (git_dir / BRANCH).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return commit if _COMMIT.fullmatch(commit) else None


def _listing(root: Path, commit: str) -> list[bytes]:
    with borrowing(root, commit, on_disk=True) as program:
        index = root / ".git" / "index"
        if index.is_file() and not index.is_symlink():
            shutil.copy2(index, program.git_dir / "index")
        else:
            program.run("read-tree", commit)
        return [line for line in program.run(*_ARGUMENTS).split(b"\0") if line]


def _changes(root: Path, listing: list[bytes]) -> Iterator[BaselineChange]:
    for line in listing:
        code, path = line[:2].decode("ascii"), os.fsdecode(line[3:])
        if path == WORKSPACE_DIFF_FILENAME or path.startswith(STAGING_PREFIX):
            continue
        if code in ("??", "!!"):
            if stat.S_ISREG(os.lstat(root / path).st_mode):
                yield BaselineChange("A", path)
        else:
            yield BaselineChange("M" if code == " M" else "D", path)
