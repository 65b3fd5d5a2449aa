"""One flag that long work polls; threads and coroutines share it."""

from __future__ import annotations

import threading

from ltmem_gui.domain.errors import Cancelled


class CancelToken:
    """Carry a person's wish to stop; `check` raises `Cancelled` once it was made."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask for the end of the work."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Tell whether the end was asked for."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` when the end was asked for."""
        if self._event.is_set():
            raise Cancelled
