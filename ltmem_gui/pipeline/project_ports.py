"""What reads a project's files at a commit; part of `ports`, which adapters import."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class ProjectFiles(Protocol):
    """Read git objects of a project: nothing is checked out, run or written, and no setting of it counts."""

    def read(self, folder: Path, commit: str, path: str) -> bytes:
        """Return a file as it was at a commit; `folder` is the project's top or one below it.

        Raises `InputError` in words: no repository there, no such commit, no such file, a link, or too large.
        """
        ...


class ProjectAdapters(Protocol):
    """What of the adapters a look into a project asks for."""

    @property
    def project_files(self) -> ProjectFiles: ...
