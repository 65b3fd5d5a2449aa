"""What acts outside the named folders need from the world; part of `ports`, which adapters satisfy."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import FileThere, OutsideGrant
from ltmem_gui.pipeline.project_ports import ProjectAdapters


class OutsideActor(Protocol):
    """Look at places on disk, start the person's own program, write a copy. Blocking; any thread."""

    def find(self, place: Place) -> str:
        """Return the absolute path of a place.

        Raises `RefusedError` for one outside its root, through a link, or that is no regular file; `InputError` where
        there is none.
        """
        ...

    def program(self, name: str, root: str) -> str:
        """Return the absolute path of a program.

        Raises `InputError` where there is none, `RefusedError` for one that lies below `root`.
        """
        ...

    def manager_command(self, file: str) -> tuple[str, ...]:
        """Return what shows a file in this system's file manager: a program's name and its arguments."""
        ...

    def real_folder(self, folder: Path) -> Path:
        """Return a folder as it is on disk: one that a person named through links is shown where it is."""
        ...

    def file_at(self, target: Path) -> FileThere | None:
        """Return the file that a copy would replace, None where there is none.

        Raises `RefusedError` for a link or anything but a regular file, `InputError` for a folder that is missing.
        """
        ...

    def start(self, grant: OutsideGrant) -> None:
        """Use a grant up and start its program, detached and without a shell. Raises `InputError`, `RefusedError`."""
        ...

    def write(self, grant: OutsideGrant, data: bytes) -> None:
        """Use a grant up and write its copy, whole or not at all. Raises `InputError`, `RefusedError`."""
        ...


class OutsideAdapters(ProjectAdapters, Protocol):
    """What of the adapters acts outside the named folders ask for."""

    @property
    def outside(self) -> OutsideActor: ...
