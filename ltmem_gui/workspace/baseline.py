"""The git baseline: one parentless commit of exactly the files, and the comparison with it (reference §4.8).

Reading runs git without locks and writes nothing. A new baseline is built in a folder of its own and swapped in by
two renames, so that the old objects leave with the old `.git` and a crash never leaves a half-made one in use.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.naming import STAGING_PREFIX, WORKSPACE_DIFF_FILENAME
from ltmem_gui.pipeline.ports import BaselineChange, Clock, WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.workspace.borrowing import BRANCH
from ltmem_gui.workspace.disk import remove_tree
from ltmem_gui.workspace.git_program import ATTRIBUTES, GitFailed, GitProgram, quote
from ltmem_gui.workspace.lending import foreign_objects
from ltmem_gui.workspace.tree import walk

AUTHOR = "LTMem <noreply>"
SUBJECT = "Set the memory baseline"
FILE_MODE = "100644"
EXECUTABLE_MODE = "100755"
END_OF_STREAM = b"done\n"
# Kept in the repository for whoever runs git there later: a background gc would keep deleted text alive.
_PERSISTENT = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tautocrlf = false\n"


@dataclass(frozen=True)
class Baseline:
    """The baseline of a folder: `blobs` maps path → (blob id, git mode); `problem` says why there is no usable one."""

    commit: str | None = None
    blobs: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    problem: str = ""


def git_mode(mode: int) -> str:
    """Return the git mode of permission bits: any x bit makes a file executable."""
    return EXECUTABLE_MODE if mode & 0o111 else FILE_MODE


def read_baseline(root: Path) -> Baseline:
    """Return the baseline of `root`. Writes nothing; raises `InputError` when git is missing."""
    commit = read_head(root)
    try:
        if commit is not None:
            listing = GitProgram(root / ".git").run("ls-tree", "-r", "-z", "--full-tree", commit)
            return Baseline(commit, dict(_entries(listing)))
    except GitFailed:
        pass
    if not os.path.lexists(root / ".git"):
        return Baseline()
    if foreign := foreign_objects(root / ".git"):
        return Baseline(problem=f".git: {foreign}; the baseline is made anew by the next apply")
    return Baseline(problem=".git: unusable or without a commit; the baseline is made anew by the next apply")


def read_head(root: Path) -> str | None:
    """Return the commit of the baseline, None without a usable one. Writes nothing."""
    git_dir = root / ".git"
    if not os.path.lexists(git_dir) or foreign_objects(git_dir):
        return None
    try:
        return GitProgram(git_dir).run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode("ascii").strip()
    except GitFailed:
        return None


def baseline_changes(snapshot: WorkspaceSnapshot, files: Mapping[str, bytes]) -> tuple[BaselineChange, ...]:
    """Compare a tree with the baseline by blob id and mode, in path order; nothing is written.

    The mode of a path that the snapshot does not hold is that of a plain file.
    """
    blobs = snapshot.baseline_blobs
    algorithm = "sha256" if snapshot.baseline and len(snapshot.baseline) == 64 else "sha1"
    changes: list[BaselineChange] = []
    for path in sorted(set(blobs) | set(files)):
        if path == WORKSPACE_DIFF_FILENAME:
            continue
        if path not in files:
            changes.append(BaselineChange("D", path))
        elif path not in blobs:
            changes.append(BaselineChange("A", path))
        elif blobs[path] != (blob_id(files[path], algorithm), git_mode(mode_of(snapshot, path))):
            changes.append(BaselineChange("M", path))
    return tuple(changes)


def _entries(listing: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in listing.split(b"\0"):
        if line:
            meta, _, path = line.partition(b"\t")
            mode, _, blob = meta.decode("ascii").split(" ")
            yield os.fsdecode(path), (blob, mode)


def mode_of(snapshot: WorkspaceSnapshot, path: str) -> int:
    """Return the permission bits of a path, those of a plain file where the snapshot does not hold it."""
    return snapshot.files[path].mode if path in snapshot.files else 0o644


def blob_id(data: bytes, algorithm: str = "sha1") -> str:
    """Return the id git gives a blob of this content."""
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def build(folder: Path, files: Iterable[WorkspaceFile], now: int) -> str:
    """Make `folder/.git` with one parentless commit of `files`; return the commit id.

    `now` in Unix seconds. Raises `GitFailed`.
    """
    git_dir = folder / ".git"
    program = GitProgram(git_dir, folder)
    program.run("init", "--quiet", "--template=", "--initial-branch=main")
    with (git_dir / "config").open("a", encoding="ascii") as config:
        config.write(_PERSISTENT)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
    program.run("fast-import", "--quiet", "--done", "--depth=0", data=commit_stream(files, now) + END_OF_STREAM)
    program.run("read-tree", "--reset", "HEAD")
    return (git_dir / BRANCH).read_text(encoding="ascii").strip()


def commit_stream(
    files: Iterable[WorkspaceFile],
    now: int,
    *,
    branch: str = BRANCH,
    stored: Mapping[str, tuple[str, str]] | None = None,
) -> bytes:
    """Return the input of `git fast-import` for one parentless commit of `files` and of blobs git has already.

    `stored` maps path → (blob id, git mode). The whole input must end with `END_OF_STREAM`.
    """
    subject = SUBJECT.encode()
    head = (branch.encode(), AUTHOR.encode(), max(now, 0), len(subject), subject)
    parts = [b"commit %s\ncommitter %s %d +0000\ndata %d\n%s\n" % head]
    for path, (blob, mode) in (stored or {}).items():
        parts.append(b"M %s %s %s\n" % (mode.encode(), blob.encode(), quote(path)))
    for file in files:
        entry = b"M %s inline %s\ndata %d\n" % (git_mode(file.mode).encode(), quote(file.path), len(file.data))
        parts.extend((entry, file.data, b"\n"))
    return b"".join(parts)


def refresh_index(git_dir: Path, root: Path) -> None:
    """Fill the stat data of the index from the files of `root`, so that `git status` is clean and quick."""
    GitProgram(git_dir, root).run("update-index", "-q", "--refresh", ok=(0, 1))


def reset(root: Path, *, clock: Clock, files: Iterable[WorkspaceFile] | None = None) -> str:
    """Replace the baseline of `root` by one commit of exactly its files; return the commit id.

    A left-over diff file is removed first, so it is never committed. For staged copies and the writer's own tests:
    the writer runs the same steps under its journal. Raises `InputError` naming the folder when git fails.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / WORKSPACE_DIFF_FILENAME).unlink(missing_ok=True)
    staging = root / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
    staging.mkdir(mode=0o700)
    try:
        commit = build(staging, walk(root).files.values() if files is None else files, clock())
        remove_git(root)
        (staging / ".git").rename(root / ".git")
    except GitFailed as error:
        raise InputError(
            f"the baseline was not made: {error}", "check space and rights of the folder", str(root)
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    refresh_index(root / ".git", root)
    return commit


def remove_git(root: Path) -> None:
    """Remove `.git`, whatever it is, without following a link."""
    remove_tree(root / ".git")
