"""Fixtures of the window's tests: a loop on the one application, and teardown that fails on what was left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ltmem_gui.ui.bridge.loop import WindowLoop
from ltmem_gui.ui.bridge.supervisor import Supervisor
from tests.helpers.waiting import PATIENCE_SECONDS

T = TypeVar("T")

RUN_SECONDS = 5 * PATIENCE_SECONDS
"""How long work on the loop may take: more than a waiter inside it waits, which says what it missed."""

# The offscreen plugin says what it lacks: size hints, raising a window, grabbing the keyboard.
QT_NOISE = r"This plugin does not support"


def pytest_configure(config: pytest.Config) -> None:
    """Name the Qt messages that mean nothing."""
    config.addinivalue_line("qt_log_ignore", QT_NOISE)


class LoopHarness:
    """Run coroutines on a fresh loop of the window; never nest Qt loops inside them."""

    def __init__(self, loop: WindowLoop, supervisor: Supervisor) -> None:
        self.loop = loop
        self.supervisor = supervisor

    def run(self, coro: Coroutine[Any, Any, T], timeout: float = RUN_SECONDS) -> T:
        """Run a coroutine to its end. Raises `TimeoutError` after `timeout` seconds."""

        async def limited() -> T:
            async with asyncio.timeout(timeout):
                return await coro

        return self.loop.run_until_complete(limited())

    def idle(self, timeout: float = RUN_SECONDS) -> None:
        """Run until the supervisor has nothing to do."""

        async def settle() -> None:
            await asyncio.sleep(0)
            await self.supervisor.idle()

        self.run(settle(), timeout)

    def call(self, function: Callable[[], object], timeout: float = RUN_SECONDS) -> None:
        """Call a function on the running loop (slots that spawn need one) and run until idle."""

        async def inside() -> None:
            function()
            await asyncio.sleep(0)
            await self.supervisor.idle()

        self.run(inside(), timeout)


@pytest.fixture
def harness(qapp: QApplication) -> Iterator[LoopHarness]:
    """Give a loop and a supervisor; fail when tasks were left."""
    qapp.setQuitOnLastWindowClosed(False)
    loop = WindowLoop(qapp)
    asyncio.set_event_loop(loop)
    supervisor = Supervisor()
    yield LoopHarness(loop, supervisor)
    left = [task for task in asyncio.all_tasks(loop) if not task.done()]
    names = [task.get_name() for task in left]
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    executor = loop._executor
    loop.close()
    if executor is not None:
        executor.shutdown(wait=True)
    assert not names, f"tasks left behind: {names}"


@pytest.fixture(autouse=True)
def no_leaks(qtbot: QtBot) -> Iterator[None]:
    """Fail on threads, active timers and windows that a test left behind."""
    gc.disable()
    threads = set(threading.enumerate())
    windows = set(QApplication.topLevelWidgets())
    yield
    # Qt objects in cycles must not be collected on a worker thread: the window collects on its own thread, too.
    gc.collect()
    gc.enable()
    QCoreApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete.value))
    new_threads = [t.name for t in threading.enumerate() if t not in threads and t.is_alive() and not t.daemon]
    shown = [w for w in QApplication.topLevelWidgets() if w not in windows and w.isVisible()]
    registered = {ref() for ref, _ in getattr(qtbot._request.node, "qt_widgets", [])}
    strays = [w.objectName() or type(w).__name__ for w in shown if w not in registered]
    timers = [
        timer.objectName() or "timer"
        for window in shown
        if window not in registered
        for timer in window.findChildren(QTimer)
        if timer.isActive()
    ]
    for window in shown:
        if window not in registered:
            window.close()
    assert not new_threads, f"threads left behind: {new_threads}"
    assert not strays, f"windows left behind: {strays}"
    assert not timers, f"timers left behind: {timers}"
