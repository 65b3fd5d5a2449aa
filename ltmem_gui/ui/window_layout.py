"""Put the window as it was kept, and keep it as it is: only after a person said so on a sheet that names the file."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.bridge.holding import held
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dialogs.act_sheet import ask_act
from ltmem_gui.ui.dialogs.view_name import ask_view_name
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models.act_words import ActWords
from ltmem_gui.ui.models.layout_keeper import LayoutKeeper
from ltmem_gui.ui.models.window_state import LayoutFile, WindowState
from ltmem_gui.ui.models.workbench import Folders

REMEMBER = (
    "It keeps the size of this window, columns and their order, the filter and the chosen row of the queue, and your "
    "views, under their names.",
    "From then on the program writes this one file by itself when the layout changes. Switch it off in the same menu.",
)


class WindowLayout(QObject):
    """Connect the window's parts that can be kept with the file.

    Signals: `told` (words for the message bar).
    """

    told = Signal(str)

    def __init__(
        self, window: MainWindow, file: LayoutFile, supervisor: Supervisor, folders_changed: Any = None
    ) -> None:
        super().__init__(window)
        self._folders_changed = folders_changed
        self._window = window
        self._supervisor = supervisor
        self.keeper = LayoutKeeper(file, supervisor, self.current, self)
        views = window.queue.views
        views.changed.connect(self.keeper.touch)
        views.save_asked.connect(lambda name: supervisor.spawn("view.save", self._save_view(name), policy="replace"))
        views.remember_asked.connect(self._on_remember_asked)
        views.attention_asked.connect(self._on_attention_asked)
        window.queue.splitter.splitterMoved.connect(self.keeper.touch)
        window.queue.row_chosen.connect(self.keeper.touch)
        self.keeper.problem_found.connect(supervisor.known_raised)

    def open(self, folders: Folders) -> None:
        """Turn to the data folder that was named, and put the window as it was kept there."""
        state = self.keeper.open(folders.home)
        views = self._window.queue.views
        views.remembers = self.keeper.remembers
        if state is not None:
            self._apply(state)

    def current(self) -> WindowState:
        """Return the window as it is."""
        window, views = self._window, self._window.queue.views
        row = window.queue.current_row()
        return WindowState(
            remember=views.remembers,
            attention=views.attention,
            width=window.width(),
            height=window.height(),
            splitter=tuple(window.queue.splitter.sizes()),
            queue=views.look(),
            selected=row.key if row is not None and row.key == one_line(row.key, 100) else "",
            views=views.saved,
        )

    def close(self) -> None:
        """Write what waits, before the window goes."""
        self.keeper.end()

    def _apply(self, state: WindowState) -> None:
        window, queue = self._window, self._window.queue
        queue.views.saved = state.views
        queue.views.attention = state.attention
        queue.views.apply(state.queue)
        if state.width and state.height:
            room = window.screen().availableSize()
            window.resize(min(state.width, room.width()), min(state.height, room.height()))
        if len(state.splitter) == queue.splitter.count() and all(state.splitter):
            queue.splitter.setSizes(list(state.splitter))
        if state.selected:
            queue.select_key(state.selected)

    async def _save_view(self, suggestion: str) -> None:
        name = await ask_view_name(suggestion, parent=self._window)
        if name:
            self._window.queue.views.save(name)
            kept = "" if self.keeper.remembers else " It is kept until the window closes: nothing is remembered yet."
            self.told.emit(f"The view {name} was saved.{kept}")

    async def _ask_to_remember(self) -> None:
        views, path = self._window.queue.views, self.keeper.path
        refusal = self.keeper.refusal()
        if refusal or path is None:
            raise InputError(f"the layout cannot be remembered: {refusal}")
        title = "Remember the layout of this window?"
        words = ActWords(title, "Writes this file, now and with every change", str(path), REMEMBER, "Remember")
        with held(self._folders_changed):
            agreed = await ask_act("keep_layout", words, self._window)
        if agreed:
            views.remembers = True
            self.keeper.allow()
            self.told.emit(f"The layout is remembered in {path.name} of the data folder.")

    def _on_remember_asked(self, on: bool) -> None:
        if on:
            self._supervisor.spawn("layout.ask", self._ask_to_remember(), policy="replace")
        else:
            self._window.queue.views.remembers = False
            self.keeper.stop()
            self.told.emit("The layout is not remembered any more; the file stays until you delete it.")

    def _on_attention_asked(self, on: bool) -> None:
        self._window.queue.views.attention = on
        self.keeper.touch()
