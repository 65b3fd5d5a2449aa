"""Carry a journaled operation forwards or backwards; every method may be repeated after a crash at any point.

All work on the memory folder goes through one staging folder in its root, so that each change of a real path is one
rename in the same file system:

    .ltmem-<digest>/new/<n>     contents to come, synced
                    old/<n>     files that were replaced or deleted (same inode as before)
                    git/.git    the baseline to come; `git-ready` holds its commit id once it is complete
                    old-git     the `.git` that was there
                    leftover    the `phase2_workspace_diff.md` that was there
                    rest/       what clearing the folder moved away
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from ltmem_gui.domain.apply_steps import Step
from ltmem_gui.domain.canonical import content_hash
from ltmem_gui.domain.errors import WorkspaceMoved
from ltmem_gui.domain.naming import STAGING_PREFIX, WORKSPACE_DIFF_FILENAME, check_path
from ltmem_gui.pipeline.ports import WorkspaceFile
from ltmem_gui.workspace import baseline
from ltmem_gui.workspace.disk import make_folders, move_in, move_out, remove_tree, replace_file, sync_folder, write_new
from ltmem_gui.workspace.journal import Entry, Journal
from ltmem_gui.workspace.steps import Reached
from ltmem_gui.workspace.tree import open_below, open_folder, read_file, walk

CLEAR = "clear"


class Transaction:
    """One operation on one memory folder. The caller holds the root lock; not for several threads."""

    def __init__(self, journal: Journal, reach: Reached) -> None:
        self._journal = journal
        self._operation = journal.operation
        self._root = Path(journal.operation.root)
        self._staging = self._root / f"{STAGING_PREFIX}{journal.operation.digest[:12]}"
        self._reach = reach

    # --- forwards ---

    def stage(self) -> None:
        """Make missing folders and write all new contents beside the old ones. Raises `OSError`."""
        self._enter(Step.STAGE)
        self._make_layout()
        for folder in (self._staging, self._staging / "new", self._staging / "old"):
            folder.mkdir(mode=0o700, exist_ok=True)
        for entry in self._operation.entries:
            if entry.new_sha256 is None or self._is(entry, new=True):
                continue
            target = self._staging / "new" / str(entry.number)
            target.unlink(missing_ok=True)
            write_new(target, self._journal.new(entry), entry.new_mode or 0o644, owner=self._owner(entry))
            self._reach(Step.STAGE)
        sync_folder(self._staging / "new")
        sync_folder(self._root)

    def write(self) -> None:
        """Rename the new contents into place. Raises `OSError`, `WorkspaceMoved` for a file that changed meanwhile."""
        self._enter(Step.WRITE)
        for entry in self._operation.entries:
            if entry.new_sha256 is None or self._is(entry, new=True):
                continue
            self._expect_old(entry)
            parts = check_path(entry.path)
            self._keep_old(entry, parts)
            move_in(self._root, parts, self._staging / "new" / str(entry.number))
            self._reach(Step.WRITE)

    def delete(self) -> None:
        """Move deleted files out of the way, and what else a cleared folder holds. Raises like `write`."""
        self._enter(Step.DELETE)
        for entry in self._operation.entries:
            if entry.new_sha256 is not None or self._state(entry) is None:
                continue
            self._expect_old(entry)
            move_out(self._root, check_path(entry.path), self._staging / "old" / str(entry.number))
            self._reach(Step.DELETE)
        for folder in sorted(self._operation.folders, key=len, reverse=True):
            self._remove_if_empty(folder)
        if self._operation.plan.operation == CLEAR:
            self._move_rest()

    def remove_diff(self) -> None:
        """Take a left-over workspace diff away, before any baseline. Raises `OSError`."""
        self._enter(Step.REMOVE_DIFF)
        path = self._root / WORKSPACE_DIFF_FILENAME
        if os.path.lexists(path):
            path.rename(self._staging / "leftover")
            self._reach(Step.REMOVE_DIFF)

    def reset_baseline(self, now: int, files: Iterable[WorkspaceFile] | None = None) -> str | None:
        """Put the new baseline in place; return its commit id, None when the plan resets none.

        `files` are those of the folder as it is expected; without, the folder is read. Raises `OSError`, `GitFailed`.
        """
        if not self._operation.resets_baseline:
            return None
        self._enter(Step.BASELINE)
        fresh, ready, current = self._staging / "git", self._staging / "git-ready", self._root / ".git"
        if not ready.exists():
            remove_tree(fresh)
            fresh.mkdir(mode=0o700)
            commit = baseline.build(fresh, walk(self._root).files.values() if files is None else files, now)
            replace_file(ready, commit.encode("ascii"))
        self._reach(Step.BASELINE)
        if (fresh / ".git").exists():
            if os.path.lexists(current):
                self._set_aside(current)
                self._reach(Step.BASELINE)
            (fresh / ".git").rename(current)
            sync_folder(self._root)
        self._reach(Step.BASELINE)
        baseline.refresh_index(current, self._root)
        return ready.read_text(encoding="ascii")

    def _set_aside(self, current: Path) -> None:
        aside = self._staging / "old-git"
        if os.path.lexists(aside):
            remove_tree(current)  # the old one is safe already: this one was made by somebody since the crash
        else:
            current.rename(aside)

    def clean(self) -> None:
        """Remove the staging folder with everything that was replaced. Raises `OSError`."""
        remove_tree(self._staging)
        if self._root.is_dir():
            sync_folder(self._root)

    # --- backwards ---

    def roll_back(self) -> None:
        """Restore the folder as it was: files, modes, `.git`, left-over diff, folders.

        Raises `WorkspaceMoved`, before anything is changed, for a file that is neither old nor new, else `OSError`.
        """
        if not self._root.is_dir():
            return
        for entry in self._operation.entries:
            self._expect_known(entry)
        self._restore_git()
        if os.path.lexists(self._staging / "leftover"):
            (self._staging / "leftover").rename(self._root / WORKSPACE_DIFF_FILENAME)
        self._restore_rest()
        for folder in sorted(self._operation.folders, key=len):
            if not (self._root / folder).exists():
                make_folders(self._root, tuple(folder.split("/")))
                (self._root / folder).chmod(self._operation.folders[folder])
        for entry in self._operation.entries:
            self._restore(entry)
        self.clean()
        for folder in sorted(self._operation.creates, key=len, reverse=True):
            self._remove_if_empty(folder)
        for above in sorted(self._operation.creates_above, key=len, reverse=True):
            with contextlib.suppress(OSError):
                Path(above).rmdir()

    def _restore(self, entry: Entry) -> None:
        kept = self._staging / "old" / str(entry.number)
        parts = check_path(entry.path)
        if kept.exists():
            move_in(self._root, parts, kept)
            kept.unlink(missing_ok=True)  # a rename between two names of one inode keeps both
        elif self._is(entry, new=False):
            return
        elif entry.old_sha256 is None:
            with open_folder(self._root) as top, open_below(top, parts[:-1]) as folder:
                os.unlink(parts[-1], dir_fd=folder)
                os.fsync(folder)
        else:
            self._staging.mkdir(mode=0o700, exist_ok=True)
            copy = self._staging / f"back-{entry.number}"
            copy.unlink(missing_ok=True)
            write_new(copy, self._journal.pre(entry), entry.old_mode or 0o644)
            move_in(self._root, parts, copy)

    def _restore_git(self) -> None:
        # Without its mark the new baseline is made again, should the operation be finished after all.
        (self._staging / "git-ready").unlink(missing_ok=True)
        old = self._staging / "old-git"
        if os.path.lexists(old):
            baseline.remove_git(self._root)
            old.rename(self._root / ".git")
        elif not self._operation.had_git:
            baseline.remove_git(self._root)

    def _move_rest(self) -> None:
        rest = self._staging / "rest"
        rest.mkdir(mode=0o700, exist_ok=True)
        for child in list(self._root.iterdir()):
            is_git_to_reset = child.name == ".git" and self._operation.resets_baseline
            if child != self._staging and not is_git_to_reset:
                child.rename(rest / child.name)
                self._reach(Step.DELETE)

    def _restore_rest(self) -> None:
        rest = self._staging / "rest"
        if rest.is_dir():
            for child in list(rest.iterdir()):
                child.rename(self._root / child.name)

    # --- looking ---

    def _enter(self, step: Step) -> None:
        self._journal.note(step)
        self._reach(step)

    def _make_layout(self) -> None:
        for above in sorted(self._operation.creates_above, key=len):
            Path(above).mkdir(exist_ok=True)
        for folder in sorted(self._operation.creates, key=len):
            if folder:
                make_folders(self._root, tuple(folder.split("/")))
            else:
                self._root.mkdir(exist_ok=True)

    def _state(self, entry: Entry) -> tuple[str, int] | None:
        parts = check_path(entry.path)
        try:
            with open_folder(self._root) as top, open_below(top, parts[:-1]) as folder:
                found = read_file(folder, parts[-1])
        except FileNotFoundError:
            return None
        return ("not a regular file", 0) if found is None else (content_hash(found[0]), found[1])

    def _is(self, entry: Entry, *, new: bool) -> bool:
        sha256, mode = (entry.new_sha256, entry.new_mode) if new else (entry.old_sha256, entry.old_mode)
        state = self._state(entry)
        return state is None if sha256 is None else state == (sha256, mode)

    def _expect_old(self, entry: Entry) -> None:
        if not self._is(entry, new=False):
            raise WorkspaceMoved(
                "the file changed while it was being written", "move it away or make a new plan", entry.path
            )

    def _expect_known(self, entry: Entry) -> None:
        if not (self._is(entry, new=False) or self._is(entry, new=True) or self._state(entry) is None):
            where = str(PurePosixPath(self._operation.root) / entry.path)
            raise WorkspaceMoved("the file was changed since the interrupted apply", "move it away first", where)

    def _keep_old(self, entry: Entry, parts: tuple[str, ...]) -> None:
        kept = self._staging / "old" / str(entry.number)
        if entry.old_sha256 is None or kept.exists():
            return
        with (
            open_folder(self._root) as top,
            open_below(top, parts[:-1]) as folder,
            contextlib.suppress(OSError, NotImplementedError),
        ):
            # Where hard links are not supported the copy in the journal serves.
            os.link(parts[-1], kept, src_dir_fd=folder, follow_symlinks=False)

    def _owner(self, entry: Entry) -> tuple[int, int] | None:
        parts = check_path(entry.path)
        try:
            with open_folder(self._root) as top, open_below(top, parts[:-1]) as folder:
                state = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return (state.st_uid, state.st_gid) if stat.S_ISREG(state.st_mode) else None

    def _remove_if_empty(self, folder: str) -> None:
        with contextlib.suppress(OSError):
            (self._root / folder).rmdir()
