"""What leaves the review on a press: text for the clipboard, a place for the editor (D13, D24, D25)."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.diffing.export import patch_of_hunks
from ltmem_gui.domain.diffing.rows import Row, RowKind
from ltmem_gui.domain.diffing.units import WHOLE
from ltmem_gui.domain.opening import Place
from ltmem_gui.pipeline.review_export import ReviewFormat, review_text
from ltmem_gui.ui.bridge.copying import Copier
from ltmem_gui.ui.models.diff_model import DiffModel
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.review_state import ReviewState
from ltmem_gui.ui.widgets.diff_view import DiffView


class HandOver(QObject):
    """Copy and open.

    `went_outside` tells that a file of the plan was opened where it can be changed. Signals: `told` (what was done, or
    why not).
    """

    told = Signal(str)

    def __init__(self, state: ReviewState, model: DiffModel, view: DiffView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._model = model
        self._view = view
        self.opener: PlaceOpener | None = None
        self.went_outside = False
        # The folder on disk may hold what no run has cleaned.
        self.copier = Copier(self)
        self.copier.told.connect(self.told)

    def copy(self) -> None:
        """Copy the selected lines as they are in the files."""
        self.copier.copy(self._view.selected_text())

    def copy_patch(self) -> None:
        """Copy the change under the cursor, or those of the selected rows, as a patch."""
        file, review = self._model.file, self._state.review
        first, last = self._view.selected_rows
        keys = {row.unit for row in self._model.document.rows(first, last + 1) if row.unit}
        if file is None or review is None or not keys:
            self.told.emit("No change on this row: F7 goes to the next one")
            return
        members = [member for key in keys & review.by_key.keys() for member in review.by_key[key].members]
        wanted = {member.hunk for member in members if member.path == file.change.path}
        hunks = [hunk for hunk in file.change.hunks if hunk.id in wanted or WHOLE in wanted]
        self.copier.copy(patch_of_hunks(file.change, file.base, hunks))

    def copy_place(self) -> None:
        """Copy path:line of the row under the cursor."""
        row = self._row()
        if row is not None and self._model.file is not None:
            self.copier.copy(f"{self._model.file.change.path}:{row.new or row.old or 1}")

    def open_in_editor(self) -> None:
        """Open the file at the line of the row under the cursor, as it is in the folder now."""
        place = self.place()
        if place is not None and self.opener is not None:
            self.went_outside = True
            self.opener.open_in_editor(place)

    def show_in_file_manager(self) -> None:
        """Show the file in the file manager."""
        place = self.place()
        if place is not None and self.opener is not None:
            self.opener.show_in_file_manager(place)

    def place(self) -> Place | None:
        """Return where the row under the cursor is on disk; the reason why it is nowhere is told."""
        plan, file = self._state.plan, self._model.file
        if plan is None or file is None or not plan.memory_root or file.change.old_sha256 is None:
            self.told.emit("This file is not in the memory folder yet")
            return None
        line = self._old_line() if self._view.cursor_row < self._model.document.count else 1
        return Place(plan.memory_root, file.change.path, line)

    def _old_line(self) -> int:
        """Return the line of the file on disk that the cursor is at; a proposed line stands below the one returned."""
        document, cursor = self._model.document, self._view.cursor_row
        first = cursor + 1 if document.row(cursor).kind is RowKind.HEADER else cursor
        for at in range(first, -1, -1):
            if at < document.count and (old := document.row(at).old):
                return old
        return 1

    def copy_review(self, form: ReviewFormat) -> None:
        """Copy the whole review in one form."""
        if self._state.review is not None:
            self.copier.copy(review_text(self._state.review, self._state.base, form))

    def _row(self) -> Row | None:
        at = self._view.cursor_row
        return self._model.document.row(at) if at < self._model.document.count else None
