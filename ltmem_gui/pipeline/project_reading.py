"""Look up cited files of projects in the folders that a person named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ltmem_gui.domain.citation_check import citing_files
from ltmem_gui.domain.citations import parse
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.project_files import project_paths, project_place
from ltmem_gui.pipeline.project_ports import ProjectFiles


def read_projects(
    projects: ProjectFiles, folders: Sequence[Path], files: Mapping[str, bytes]
) -> dict[str, bytes | str]:
    """Return cited path → its content at the commit, or why there is none; nothing without folders."""
    if not folders:
        return {}
    entries = (entry for path in citing_files(files) for entry in parse(_text(files[path])).entries)
    return {path: read_project_file(projects, folders, path) for path in project_paths(entries, files)}


def read_project_file(projects: ProjectFiles, folders: Iterable[Path], path: str) -> bytes | str:
    """Return one cited file from the first folder that has it; otherwise in words what each lacks."""
    place = project_place(path)
    if place is None:
        return "the path names no commit"
    problems: list[str] = []
    for folder in folders:
        try:
            return projects.read(folder, place.commit, place.path)
        except InputError as error:
            problems.append(f"{folder}: {error.what}")
    return "; ".join(problems)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
