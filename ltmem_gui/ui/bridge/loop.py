"""The event loop of the window: qasync behind one class, with its quirks closed off.

What is different from qasync 0.28 (each has a test in tests/contract/test_loop.py):

- ready callbacks live in one first-in-first-out queue that a single zero timer drains, so their order is kept;
- `call_soon_threadsafe` keeps the caller's context and returns a handle;
- blocking functions run in a `ThreadPoolExecutor`, where a `BaseException` reaches the future;
- `run_until_complete` does not pump Qt after the running loop was unset.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import PySide6.QtCore  # noqa: F401  # isort: skip  (qasync takes the binding that was imported first)
import qasync
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimerEvent, Signal, Slot

if TYPE_CHECKING:

    class _QtLoop(asyncio.SelectorEventLoop):
        def __init__(self, app: QCoreApplication) -> None: ...
        def _check_closed(self) -> None: ...
        def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle: ...

else:
    _QtLoop = qasync.QEventLoop

T = TypeVar("T")

WAITING_THREADS = 4
SLICE_SECONDS = 0.004


class WindowLoop(_QtLoop):
    """Run coroutines on the thread of the window.

    Threads: everything but `call_soon_threadsafe` belongs to the UI thread.
    """

    def __init__(self, app: QCoreApplication) -> None:
        self._queue = _ReadyQueue(self._on_interrupt_raised)
        self._executor: ThreadPoolExecutor | None = None
        self._interrupt: BaseException | None = None
        super().__init__(app)
        self.set_default_executor(ThreadPoolExecutor(WAITING_THREADS, thread_name_prefix="wait"))

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Queue a callback from any thread, in the caller's context; return its handle."""
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, context=context)
        self._queue.put_from_thread(handle)
        return handle

    def set_default_executor(self, executor: ThreadPoolExecutor) -> None:
        """Take the executor that `run_in_executor(None, …)` uses; the loop shuts it down."""
        # Not handed to qasync: it would wait at close for functions that may never return.
        self._executor = executor

    def run_in_executor(self, executor: Executor | None, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run a blocking function; whatever it raises reaches the future."""
        self._check_closed()
        chosen = executor if executor is not None else self._executor
        if chosen is None:
            raise RuntimeError("the executor was shut down")
        return asyncio.wrap_future(chosen.submit(func, *args), loop=self)

    async def shutdown_default_executor(self, *limits: float | None) -> None:
        """Drop blocking functions that have not begun; those that run are not waited for here."""
        del limits
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    def run_until_complete(self, future: Any) -> Any:
        """Run until the future is done and return its result.

        Raises `RuntimeError` when the loop was stopped before that.
        """
        self._check_closed()
        given = future
        future = asyncio.ensure_future(given, loop=self)
        future.add_done_callback(self._on_future_finished)
        try:
            self.run_forever()
        finally:
            future.remove_done_callback(self._on_future_finished)
        if not future.done():
            raise RuntimeError("the event loop was stopped before the future was done")
        return future.result()

    def run_forever(self) -> Any:
        """Run until `stop`; a `KeyboardInterrupt` or `SystemExit` of a callback comes out here."""
        result = super().run_forever()
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None:
            raise interrupt
        return result

    def close(self) -> None:
        """Release everything; queued callbacks are dropped."""
        if self.is_closed():
            return
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)
        super().close()
        self._queue.clear()

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        if delay <= 0:
            self._check_closed()
            self._queue.put(handle)
            return handle
        # Qt counts whole milliseconds: rounding up keeps a timeout from coming before its time.
        return super()._add_callback(handle, math.ceil(delay * 1000) / 1000)

    def _on_future_finished(self, future: asyncio.Future[Any]) -> None:
        del future
        self.stop()

    def _on_interrupt_raised(self, error: BaseException) -> None:
        self._interrupt = error
        self.stop()


class _ReadyQueue(QObject):
    """Keep ready callbacks in order and run one batch per turn of Qt's loop.

    A zero timer, not a posted event, drains it: posted events would keep timers and input waiting while
    coroutines hop.
    """

    _woken = Signal()

    def __init__(self, interrupted: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._handles: deque[asyncio.Handle] = deque()
        self._timer = 0
        self._interrupted = interrupted
        self._woken.connect(self._on_queue_woken, Qt.ConnectionType.QueuedConnection)

    def put(self, handle: asyncio.Handle) -> None:
        self._handles.append(handle)
        self._arm()

    def put_from_thread(self, handle: asyncio.Handle) -> None:
        self._handles.append(handle)
        self._woken.emit()

    def clear(self) -> None:
        self._handles.clear()
        self._disarm()

    def timerEvent(self, event: QTimerEvent) -> None:
        del event
        self._disarm()
        try:
            until = time.perf_counter() + SLICE_SECONDS
            for _ in range(len(self._handles)):
                if not self._handles:
                    break
                handle = self._handles.popleft()
                if not handle.cancelled():
                    handle._run()
                if time.perf_counter() > until:
                    break  # the rest comes in the next turn: input and painting are not kept waiting
        except (SystemExit, KeyboardInterrupt) as error:
            self._interrupted(error)
        finally:
            if self._handles:
                self._arm()

    @Slot()
    def _on_queue_woken(self) -> None:
        if self._handles:
            self._arm()

    def _arm(self) -> None:
        if not self._timer:
            self._timer = self.startTimer(0)

    def _disarm(self) -> None:
        if self._timer:
            self.killTimer(self._timer)
            self._timer = 0


def run(app: QCoreApplication, main: Callable[[WindowLoop], Coroutine[Any, Any, T]]) -> T:
    """Run `main` on a new loop until it returns, then cancel what is left and close the loop.

    The coroutine owns quitting: the last window closing does not end the program.
    """
    _keep_open(app)
    with asyncio.Runner(loop_factory=lambda: WindowLoop(app)) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, WindowLoop)
        return runner.run(main(loop))


def _keep_open(app: QCoreApplication) -> None:
    setter = getattr(app, "setQuitOnLastWindowClosed", None)
    if setter is not None:
        setter(False)
