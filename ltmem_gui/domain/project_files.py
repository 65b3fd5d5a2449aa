"""Citations of a project's files as they were at a commit: `src/app.py@1a2b3c4:10-15` (ui-features C14).

A commit never changes, so such lines are in place or they never were. Nothing is looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ltmem_gui.domain.anchors import inside_root
from ltmem_gui.domain.citations import CitationEntry

_PLACE = re.compile(r"(?P<path>.+)@(?P<commit>[0-9a-f]{7,64})\Z", re.DOTALL)
_HEAD_LINES = 6
_CWD = "cwd: "


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """A file of a project, by its path below the project's top, at a commit (7 to 64 hex digits)."""

    path: str
    commit: str


ProjectTexts = Mapping[str, bytes | str]
"""Cited path → what the file held at its commit, or in words why that is not known."""


def project_place(path: str) -> ProjectPlace | None:
    """Read a cited path, None for one that names no commit or leaves the project."""
    match = _PLACE.match(path)
    inside = inside_root(match["path"]) if match else None
    return ProjectPlace(inside, match["commit"]) if match and inside is not None else None


def project_paths(entries: Iterable[CitationEntry], files: Iterable[str]) -> tuple[str, ...]:
    """Return the cited paths that name a project's file, once each; one that the memory folder itself has is none."""
    own = frozenset(files)
    paths = (entry.path for entry in entries if inside_root(entry.path) not in own)
    return tuple(path for path in dict.fromkeys(paths) if project_place(path) is not None)


def named_folders(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the working folders that rendered summaries name, once each, in order of their files."""
    found: list[str] = []
    for path in sorted(files):
        if path.startswith("rollout_summaries/"):
            head = files[path].decode("utf-8", "replace").split("\n", _HEAD_LINES)[:_HEAD_LINES]
            found += [line.removeprefix(_CWD).strip() for line in head if line.startswith(_CWD)]
    return tuple(dict.fromkeys(folder for folder in found if folder))
