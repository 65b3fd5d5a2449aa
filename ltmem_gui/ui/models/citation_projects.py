"""Cited files of projects in the window: read when a person opens one, from the folder that sessions name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.project_files import named_folders
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.pipeline.requests import ScanReport
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.citation_rows import CitationRow, Place
from ltmem_gui.ui.models.text_lines import TextLine, decoded, lines_of

TASK = "citations.project"
MOST_FOLDERS = 20
LONGEST_SHOWN = 120
"""A folder whose name cannot be shown whole and as it is, is not opened."""


@dataclass(frozen=True, slots=True)
class ProjectEvidence:
    """What reading a cited file of a project gave: its lines, or in words why there are none."""

    row: CitationRow
    lines: tuple[TextLine, ...] = ()
    reason: str = ""


class ProjectReader(QObject):
    """Read cited files at their commits, each folder only after a press that it was named for.

    Text of sessions names the folders: one press opens one, and only the one that is shown.

    Signals: `read` (`ProjectEvidence`).
    """

    read = Signal(object)

    def __init__(self, operations: Operations, supervisor: Supervisor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self._folders: tuple[str, ...] = ()
        self._opened: frozenset[str] = frozenset()
        self._offered: str | None = None

    @property
    def opened(self) -> tuple[Path, ...]:
        """Return the folders that were opened in this window."""
        return tuple(Path(folder) for folder in self._folders if folder in self._opened)

    def follow(self, folder: WorkspaceSnapshot | None, report: ScanReport | None) -> None:
        """Take the working folders that summaries and scanned sessions name; none of them is looked at."""
        self._offered = None
        files = {path: file.data for path, file in folder.files.items()} if folder is not None else {}
        scanned = [rollout.cwd for rollout in report.rollouts] if report is not None else []
        named = dict.fromkeys((*named_folders(files), *scanned))
        self._folders = tuple(name for name in named if Path(name).is_absolute() and _is_shown(name))[:MOST_FOLDERS]

    def offer(self) -> str:
        """Say which folder the next press looks into: the one that is named now, and no other."""
        left = [folder for folder in self._folders if folder not in self._opened]
        self._offered = left[0] if left else None
        if not left:
            return "" if self._folders else "no session names a project folder"
        more = f", the first of {len(left)} that sessions name" if len(left) > 1 else ""
        return f"press O to read it from the git objects below {left[0]}{more}"

    def ask(self, row: CitationRow, *, pressed: bool, done: Callable[[], bool]) -> bool:
        """Read a row's file from the folders opened before, and the one on offer if a person `pressed`; tell whether.

        `done` tells that the row is not shown any more.
        """
        if row.place is not Place.PROJECT or row.entry is None or not self._folders:
            return False
        if pressed and self._offered is not None:
            self._opened |= {self._offered}
        self._offered = None
        folders = self.opened
        if not folders:
            return False
        self._supervisor.spawn(TASK, self._read(row, folders, done), policy="replace")
        return True

    async def _read(self, row: CitationRow, folders: tuple[Path, ...], done: Callable[[], bool]) -> None:
        assert row.entry is not None
        found = await self._operations.audit.read_project(folders, row.entry.path)
        if done():
            return
        if isinstance(found, str):
            self.read.emit(ProjectEvidence(row, reason="; ".join(filter(None, (self.offer(), found)))))
            return
        lines = lines_of(decoded(found), range(row.entry.start, row.entry.end + 1))
        reason = "" if row.entry.end <= len(lines) else f"the file has {len(lines)} lines"
        self.read.emit(ProjectEvidence(row, lines, reason))


def _is_shown(folder: str) -> bool:
    return one_line(folder, LONGEST_SHOWN) == folder
