"""Open a file at a line in the person's editor, or show it in the file manager: one piece for every panel (D24)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.opening import Place
from ltmem_gui.domain.outside import OutsideAct
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.outside import NO_EDITOR, NO_EDITOR_REMEDY
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.workbench import Notice

TASK = "opening"

ConfirmAct = Callable[[OutsideAct], Awaitable[bool]]


class PlaceOpener(QObject):
    """Open places; each start is shown to the letter and confirmed first.

    The controller owns the one of the window (`Controller.opener`). A panel says where, and the rest happens here:

        place = place_below(ref.root or str(Path(ref.path).parent), ref.path, line)   # or Place(root, "MEMORY.md", 12)
        opener.open_in_editor(place)
        opener.show_in_file_manager(place)

    `place_below` refuses a file outside its root at once; the disk is looked at when the action is pressed, and again
    right before the start. Known errors (no such file, a link, no such program) reach the window's message bar.

    Signals: `noticed` (`Notice`: what was started, or that no editor is set).
    """

    noticed = Signal(object)

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        *,
        editor: Callable[[], str],
        confirm: ConfirmAct,
        parent: QObject | None = None,
    ) -> None:
        """Take what opens: `editor` returns the command template of the settings, empty while none is set."""
        super().__init__(parent)
        self._operations = operations
        self._supervisor = supervisor
        self._editor = editor
        self._confirm = confirm

    def open_in_editor(self, place: Place) -> None:
        """Ask, then open a place in the person's editor; without one, say where it is set."""
        if not self._editor():
            self.noticed.emit(Notice("info", f"{NO_EDITOR.capitalize()}.", f"To set one, {NO_EDITOR_REMEDY}."))
            return
        self._supervisor.spawn(TASK, self._open(place, "editor"), policy="replace")

    def show_in_file_manager(self, place: Place) -> None:
        """Ask, then show a place in the file manager."""
        self._supervisor.spawn(TASK, self._open(place, "file manager"), policy="replace")

    async def _open(self, place: Place, purpose: Literal["editor", "file manager"]) -> None:
        outside = self._operations.outside
        if purpose == "editor":
            act = await outside.plan_editor(place, self._editor())
        else:
            act = await outside.plan_file_manager(place)
        if not await self._confirm(act):
            return
        await outside.start(outside.approve(act))
        self.noticed.emit(Notice("good", f"Started {act.argv[0]} for {place.label}."))
