"""Read files of a project's git repository at a commit, from its objects alone.

Git runs in a private folder that borrows the objects, so that no setting, hook, filter or ignore rule of the project
has influence, and nothing of it is written. Links are not followed: what they hold is not what was cited.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.workspace.borrowing import borrowing
from ltmem_gui.workspace.git_program import GitFailed, GitProgram

LARGEST = 16 * 1024 * 1024
_REMEDY = "name the project's folder, or fetch the commit there"
_KINDS = {"120000": "a link", "160000": "another repository", "040000": "a folder"}


class GitProjects:
    """Implement `pipeline.project_ports.ProjectFiles`. Threads: any."""

    def read(self, folder: Path, commit: str, path: str) -> bytes:
        """Return a file as it was at a commit; `folder` is the project's top or one below it. Raises `InputError`."""
        top = _top(folder)
        below = folder.absolute().relative_to(top).as_posix()
        # Ids of 64 digits are of another hash; a shorter one is looked up among the ordinary ones.
        with borrowing(top, commit if len(commit) == 64 else "0" * 40) as private:
            git = GitProgram(private.git_dir, lender=top / ".git" / "objects")
            whole = _commit(git, commit, top)
            wanted = [path] if below == "." else [path, f"{below}/{path}"]
            for name in wanted:
                found = _entry(git, whole, name)
                if found is not None:
                    return _content(git, *found, f"{name} at {commit[:8]}")
        raise InputError(f"there is no file {path} at commit {commit[:8]}", _REMEDY, str(top))


def _top(folder: Path) -> Path:
    """Return the folder that holds the repository: this one or one above it."""
    place = folder.absolute()
    for top in (place, *place.parents):
        git_dir = top / ".git"
        if os.path.lexists(git_dir):
            return top
    raise InputError("there is no git repository", _REMEDY, str(folder))


def _commit(git: GitProgram, commit: str, top: Path) -> str:
    with suppress(GitFailed):
        return git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").decode("ascii").strip()
    raise InputError(f"the repository has no commit {commit[:8]}", _REMEDY, str(top))


def _entry(git: GitProgram, commit: str, path: str) -> tuple[str, str] | None:
    """Return mode and id of a path of a commit."""
    listing = git.run("ls-tree", "-z", "--full-tree", commit, "--", path)
    head, tab, name = listing.partition(b"\0")[0].partition(b"\t")
    if not tab or name != os.fsencode(path):
        return None
    mode, _, blob = head.decode("ascii").split(" ")
    return mode, blob


def _content(git: GitProgram, mode: str, blob: str, label: str) -> bytes:
    if mode in _KINDS:
        raise InputError(f"{label} is {_KINDS[mode]}", "cite a file", label)
    try:
        if int(git.run("cat-file", "-s", blob)) > LARGEST:
            raise InputError(f"{label} is larger than 16 MB", "look at it by hand", label)
        return git.run("cat-file", "blob", blob)
    except GitFailed as error:
        raise InputError(f"{label} cannot be read: {error}", "check it with `git fsck`", label) from error
