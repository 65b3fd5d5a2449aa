"""A private git folder that borrows the objects of a memory folder: git may work there, and the memory is only read.

It has no settings, hooks or ignore rules of the borrowed repository.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ltmem_gui.domain.errors import InputError
from ltmem_gui.workspace.git_program import ATTRIBUTES, GitProgram
from ltmem_gui.workspace.lending import foreign_objects

BRANCH = "refs/heads/main"
_LONG_ID = 64
_LONG_IDS = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"


@contextmanager
def borrowing(root: Path, commit: str | None, *, on_disk: bool = False) -> Iterator[GitProgram]:
    """Yield git on a temporary folder (0700) whose HEAD is `commit`; with `on_disk` its work tree is `root`.

    Raises `InputError` when the repository of `root` takes objects from elsewhere itself.
    """
    if commit is not None and (foreign := foreign_objects(root / ".git")):
        raise InputError(foreign, "bring the objects into the repository itself", str(root / ".git"))
    with tempfile.TemporaryDirectory(prefix="ltmem-git-") as name:
        git_dir = Path(name)
        for folder in ("objects", "refs", "info"):
            (git_dir / folder).mkdir()
        if commit is not None and len(commit) == _LONG_ID:
            (git_dir / "config").write_text(_LONG_IDS, encoding="ascii")
        (git_dir / "HEAD").write_text(f"{commit}\n" if commit else f"ref: {BRANCH}\n", encoding="ascii")
        (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
        lender = root / ".git" / "objects" if commit is not None else None
        yield GitProgram(git_dir, root if on_disk else None, lender)
