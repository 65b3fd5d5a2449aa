"""One flag that long work polls or is told of; threads and coroutines share it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from ltmem_gui.domain.errors import Cancelled


class CancelToken:
    """Carry a person's wish to stop; `check` raises `Cancelled` once it was made. Threads: any.

    The end of the whole is not told to its parts: who works on them watches both.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._watchers: list[Callable[[], None]] = []
        self._parts: dict[str, CancelToken] = {}

    def cancel(self) -> None:
        """Ask for the end of the work; watchers are called on this thread."""
        with self._lock:
            self._event.set()
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher()

    def part(self, name: str) -> CancelToken:
        """Return the token of one piece of the work: it can be cancelled while the rest goes on."""
        with self._lock:
            return self._parts.setdefault(name, CancelToken())

    @property
    def cancelled(self) -> bool:
        """Tell whether the end was asked for."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` when the end was asked for."""
        if self._event.is_set():
            raise Cancelled

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Generator[None]:
        """Call `watcher` when the end is asked for inside the block, at once if it was asked for before."""
        with self._lock:
            self._watchers.append(watcher)
            late = self._event.is_set()
        try:
            if late:
                watcher()
            yield
        finally:
            with self._lock:
                self._watchers.remove(watcher)
