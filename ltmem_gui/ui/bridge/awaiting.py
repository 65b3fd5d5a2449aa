"""Await what Qt tells: dialogs that were opened, signals, and the next turn of its loop."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Protocol

from PySide6.QtCore import QObject

REJECTED = 0


class Openable(Protocol):
    """A dialog as this module needs it: `open` shows it, `finished` (int) ends it, `done` closes it."""

    finished: ClassVar[Any]
    destroyed: ClassVar[Any]

    def open(self) -> None: ...
    def done(self, result: int, /) -> None: ...


async def opened(dialog: Openable) -> int:
    """Open a dialog and return its result; a dialog that is destroyed or whose waiting is cancelled is rejected."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def on_dialog_finished(result: int) -> None:
        if not future.done():
            future.set_result(int(result))

    def on_dialog_destroyed(dead: QObject | None = None) -> None:
        del dead
        on_dialog_finished(REJECTED)

    dialog.finished.connect(on_dialog_finished)
    dialog.destroyed.connect(on_dialog_destroyed)
    try:
        dialog.open()
        return await future
    except asyncio.CancelledError:
        dialog.done(REJECTED)
        raise


async def next_turn() -> None:
    """Let the window handle what came meanwhile, and paint, before what follows."""
    await asyncio.sleep(0)


async def emitted(signal: Any) -> tuple[Any, ...]:
    """Wait for the next emission of a signal and return its arguments; limit it with `asyncio.timeout`."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, ...]] = loop.create_future()

    def on_signal_emitted(*args: Any) -> None:
        if not future.done():
            future.set_result(args)

    signal.connect(on_signal_emitted)
    try:
        return await future
    finally:
        signal.disconnect(on_signal_emitted)
