"""A private git folder that borrows the objects of a memory folder: git may work there, and the memory is only read.

It has no settings, hooks or ignore rules of the borrowed repository.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ltmem_gui.workspace.git_program import ATTRIBUTES, GitProgram, quote

BRANCH = "refs/heads/main"
_LONG_ID = 64


@contextmanager
def borrowing(root: Path, commit: str | None, *, on_disk: bool = False) -> Iterator[GitProgram]:
    """Yield git on a temporary folder (0700) whose HEAD is `commit`; with `on_disk` its work tree is `root`."""
    with tempfile.TemporaryDirectory(prefix="ltmem-git-") as name:
        git_dir = Path(name)
        for folder in ("objects/info", "objects/pack", "refs/heads", "info"):
            (git_dir / folder).mkdir(parents=True)
        long_ids = commit is not None and len(commit) == _LONG_ID
        extension = "[extensions]\n\tobjectformat = sha256\n" if long_ids else ""
        config = (
            f"[core]\n\trepositoryformatversion = {int(long_ids)}\n\tbare = {str(not on_disk).lower()}\n{extension}"
        )
        (git_dir / "config").write_text(config, encoding="ascii")
        (git_dir / "HEAD").write_text(f"{commit}\n" if commit else f"ref: {BRANCH}\n", encoding="ascii")
        (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
        if commit is not None:
            lender = quote(os.fspath(root / ".git" / "objects"))
            (git_dir / "objects/info/alternates").write_bytes(lender + b"\n")
        yield GitProgram(git_dir, root if on_disk else None)
