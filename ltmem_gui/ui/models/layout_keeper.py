"""Keep the layout of the window: read it for a data folder, and write it once a person has said so.

Nothing is written before `allow`, or before a file in which a person said so earlier. Writes are silent, of this one
file, at most one a second, on a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from ltmem_gui.domain.errors import InputError
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.window_state import LayoutFile, WindowState, from_bytes, to_bytes

WRITE_TASK = "layout.write"
PAUSE_MS = 1_000


class LayoutKeeper(QObject):
    """Own the file of one data folder.

    Signals: `problem_found` (`InputError`); the usual layout is shown then, and the file stays as it is.
    """

    problem_found = Signal(object)

    def __init__(
        self,
        file: LayoutFile,
        supervisor: Supervisor,
        current: Callable[[], WindowState],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._file = file
        self._supervisor = supervisor
        self._current = current
        self._home: Path | None = None
        self._remember = False
        self._written = b""
        self._ended = False
        # A write on the thread must not land after a later one.
        self._lock = threading.Lock()
        self._generation = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._on_timer_fired)

    @property
    def remembers(self) -> bool:
        """Tell whether a person has said that the layout may be kept."""
        return self._remember

    @property
    def path(self) -> Path | None:
        """Return the file that is, or would be, written."""
        return self._file.path(self._home) if self._home is not None else None

    def open(self, home: Path | None) -> WindowState | None:
        """Turn to a data folder and return what is kept there, None where nothing usable is."""
        self.close()
        self._home, self._remember, self._written = home, False, b""
        if home is None:
            return None
        try:
            data = self._file.read(home)
            if data is None:
                return None
            state = from_bytes(data, str(self._file.path(home)))
        except InputError as error:
            self.problem_found.emit(error)
            return None
        self._remember, self._written = state.remember, data
        return state

    def refusal(self) -> str:
        """Return why the layout cannot be kept now, empty when it can."""
        if self._home is None:
            return "name a data folder first"
        return "" if self._home.is_dir() else "the data folder does not exist yet; a confirmed run creates it"

    def allow(self) -> None:
        """Take a person's yes and write."""
        self._remember = True
        self.touch()

    def stop(self) -> None:
        """Take a person's no: one last write says so, and none follows."""
        if self._remember:
            self._timer.stop()
            self._remember = False
            self._write(self._data())

    def touch(self) -> None:
        """Tell that something changed; it is written within a second."""
        if self._remember and self._home is not None and not self._ended:
            self._timer.start()

    def end(self) -> None:
        """Write what waits, for the last time: the window goes."""
        self._ended = True
        self.close()

    def close(self) -> None:
        """Write what waits; also before another folder is opened."""
        self._timer.stop()
        if self._remember:
            self._write(self._data())

    def _data(self) -> bytes:
        return to_bytes(self._current().model_copy(update={"remember": self._remember}))

    def _on_timer_fired(self) -> None:
        home, data = self._home, self._data()
        if home is not None and data != self._written:
            self._generation += 1
            # What the file holds is open until the write has ended.
            self._written = b""
            # What is written, and where, is settled now: when the task starts another folder may be open.
            work = self._write_beside(home, data, self._generation)
            self._supervisor.spawn(WRITE_TASK, work, policy="parallel")

    async def _write_beside(self, home: Path, data: bytes, generation: int) -> None:
        written = await asyncio.to_thread(self._write_newest, home, data, generation)
        if written and generation == self._generation:
            self._written = data

    def _write_newest(self, home: Path, data: bytes, generation: int) -> bool:
        """Write on a thread, unless something newer was written meanwhile."""
        with self._lock:
            if generation != self._generation:
                return False
            self._file.write(home, data)
            return True

    def _write(self, data: bytes) -> None:
        """Write at once: a few milliseconds, when the window goes anyway."""
        if self._home is None or data == self._written:
            return
        try:
            with self._lock:
                self._generation += 1
                self._file.write(self._home, data)
        except InputError as error:
            self.problem_found.emit(error)
        else:
            self._written = data
