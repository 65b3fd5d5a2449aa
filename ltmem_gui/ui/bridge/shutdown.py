"""End the program in stages, within five seconds, whoever asked for it.

A window that closes, SIGTERM and SIGINT all take the same way: cancel tokens first (so that work gives its leases
back), then tasks, then whatever the stages name. Signals never ask.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from ltmem_gui.ui.bridge.supervisor import Supervisor

LIMIT_SECONDS = 3.5
GRACE_SECONDS = 2.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger("ltmem_gui")


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of closing; it is left behind when its share of the time is over."""

    name: str
    run: Callable[[], Awaitable[object]]


class Shutdown(QObject):
    """Own the end of the program.

    Signals: `begun` (reason) once. `wait` returns when all stages ran.
    """

    begun = Signal(str)

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        cancel_work: Callable[[], None] = lambda: None,
        stages: tuple[Stage, ...] = (),
        limit: float = LIMIT_SECONDS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._supervisor = supervisor
        self._cancel_work = cancel_work
        self._stages = stages
        self._limit = limit
        self._asked = asyncio.Event()
        self._reason = ""

    @property
    def reason(self) -> str:
        """Return why the program ends, empty while it does not."""
        return self._reason

    def request(self, reason: str) -> None:
        """Ask for the end; only the first reason counts."""
        if self._asked.is_set():
            return
        self._reason = reason
        self._asked.set()
        self.begun.emit(reason)

    def listen_to_signals(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """Let SIGTERM and SIGINT end the program without asking; return the undo.

        The loop's wake-up descriptor makes an idle window act at once, without a polling timer.
        """
        for number in SIGNALS:
            loop.add_signal_handler(number, self.request, number.name)

        def undo() -> None:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

        return undo

    async def wait(self) -> str:
        """Wait for the request, run the stages, return the reason."""
        await self._asked.wait()
        deadline = time.monotonic() + self._limit
        self._cancel_work()
        await self._let_work_end(deadline)
        left = await self._supervisor.close(max(0.1, deadline - time.monotonic() - 0.5))
        if left:
            _log.info("still running at the end: %s", ", ".join(left))
        for stage in self._stages:
            try:
                async with asyncio.timeout(max(0.1, deadline - time.monotonic())):
                    await stage.run()
            except TimeoutError:
                _log.info("closing: %s took too long and was left behind", stage.name)
        return self._reason

    async def _let_work_end(self, deadline: float) -> None:
        try:
            async with asyncio.timeout(min(GRACE_SECONDS, deadline - time.monotonic())):
                await self._supervisor.idle()
        except TimeoutError:
            _log.info("closing: work did not end by itself and is cancelled")


def leave_after(seconds: float, code: int) -> threading.Timer:
    """Leave the process when it has not ended by itself: threads that block would hold it for ever otherwise."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()
    return timer
