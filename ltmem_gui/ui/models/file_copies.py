"""Write a copy where a person says: a file is chosen, shown with its size, confirmed, written (D25)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.models.formats import size
from ltmem_gui.ui.models.opening import ConfirmAct
from ltmem_gui.ui.models.workbench import Notice

ChooseFile = Callable[[str, str], Awaitable[Path | None]]
"""Ask for a file: title of the question and suggested name → the file, None when the person gave up."""


class FileCopies(QObject):
    """Write copies; each is confirmed with its path, its size and what it would replace.

    The controller owns the one of the window. A panel chooses the file, makes the text, and saves it:

        target = await copies.choose("Save the review", "review.md")
        if target is not None:
            await copies.save(target, data, "Review as Markdown", redactions=2)

    What is saved must have passed the choke point before: `redactions` is what it counted, None where nobody looked.
    Signals: `noticed` (`Notice`: what was written).
    """

    noticed = Signal(object)

    def __init__(
        self,
        operations: Operations,
        *,
        choose: ChooseFile,
        confirm: ConfirmAct,
        kept: Callable[[], tuple[Path, ...]],
        parent: QObject | None = None,
    ) -> None:
        """Take the questions; `kept` returns the folders that the program keeps: no copy goes there."""
        super().__init__(parent)
        self._operations = operations
        self._confirm = confirm
        self._kept = kept
        self.choose = choose

    async def save(self, target: Path, data: bytes, what: str, *, redactions: int | None = None) -> bool:
        """Ask, then write; tell whether it was written. Raises `InputError`, `RefusedError`."""
        outside = self._operations.outside
        act = await outside.plan_copy(target, data, what, roots=self._kept(), redactions=redactions)
        if not await self._confirm(act):
            return False
        await outside.write(outside.approve(act), data)
        self.noticed.emit(Notice("good", f"Written: {act.path} ({size(act.size)})."))
        return True
