"""What leaves the citations on a press: places for the editor and the file manager, text for the clipboard (C14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.audit import permalink
from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.opening import Place as DiskPlace
from ltmem_gui.domain.opening import place_below
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.ui.bridge.copying import COPIED, Copier
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.models.citation_rows import CitationRow, inside_path
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.models.workbench import Notice


@dataclass(frozen=True, slots=True)
class CitationView:
    """What the panel shows at the moment."""

    row: Callable[[], CitationRow | None]
    folder: Callable[[], WorkspaceSnapshot | None]
    session: Callable[[str], RolloutRef | None]
    evidence: Callable[[], tuple[TextLine, ...]]


class CitationCommands(QObject):
    """Open and copy. Signals: `noticed` (`Notice`): what was copied, or why something was not done."""

    noticed = Signal(object)

    def __init__(self, view: CitationView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self._copier = Copier(self)
        self._copier.told.connect(self._on_copy_told)
        self.opener: PlaceOpener | None = None

    def open_in_editor(self) -> None:
        """Open the cited lines in the person's editor."""
        place = self.place()
        if place is not None and self.opener is not None:
            self.opener.open_in_editor(place)

    def show_in_file_manager(self) -> None:
        """Show the cited file in the file manager."""
        place = self.place()
        if place is not None and self.opener is not None:
            self.opener.show_in_file_manager(place)

    def place(self) -> DiskPlace | None:
        """Return where the cited lines are on disk; for lines that are nowhere, where the citation stands."""
        row, folder = self._view.row(), self._view.folder()
        if row is None or folder is None:
            return None
        path = inside_path(row.entry.path) if row.entry is not None and not row.thread_id else None
        if row.entry is not None and path is not None and path in folder.files:
            resolved = row.location is not None and row.location.status.resolves
            return DiskPlace(folder.root, path, row.location.start if resolved and row.location else row.entry.start)
        ref = self._view.session(row.thread_id)
        if ref is None:
            return DiskPlace(folder.root, row.file, max(1, row.line))
        try:
            return place_below(ref.root or str(Path(ref.path).parent), ref.path, row.entry.start if row.entry else 1)
        except RefusedError as error:
            self.noticed.emit(Notice("warning", str(told(error))))
            return None

    def copy_location(self) -> None:
        """Copy where the current citation points."""
        row = self._view.row()
        if row is not None:
            self._copier.copy(row.target)

    def copy_permalink(self) -> None:
        """Copy where the current citation points, with the baseline it holds for."""
        row, folder = self._view.row(), self._view.folder()
        if row is not None and row.entry is not None and folder is not None:
            self._copier.copy(permalink(row.entry, folder.baseline))

    def copy_quote(self) -> None:
        """Copy the cited lines as they stand, and below them where."""
        row = self._view.row()
        quote = "\n".join(line.text for line in self._view.evidence() if line.marked)
        if row is None or not quote:
            self.noticed.emit(Notice("info", "There are no cited lines to copy here."))
            return
        self._copier.copy(f"{quote}\n— {row.target}")

    def _on_copy_told(self, words: str) -> None:
        self.noticed.emit(Notice("info" if words.startswith(COPIED) else "warning", f"{words}."))
