"""The only way a coroutine is started in the window: under a name, watched to its end."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.errors import Cancelled, KnownError

current_task_name: contextvars.ContextVar[str] = contextvars.ContextVar("current_task_name", default="")

Policy = Literal["refuse", "replace", "parallel"]


class Outcome(StrEnum):
    """How a task ended: the four ways of design §"Errors"."""

    DONE = "done"
    KNOWN = "known error"
    BUG = "bug"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """Tell how a named task ended; `error` for known errors and bugs."""

    name: str
    outcome: Outcome
    error: BaseException | None = None


class AlreadyRunning(RuntimeError):
    """A task of this name runs and the policy is to refuse a second one."""


class Supervisor(QObject):
    """Start, name, cancel and await coroutines.

    Signals: `task_started` (name), `task_ended` (`TaskEnd`), `known_raised` (`KnownError`), `bug_raised`
    (exception), `idled` when the last task ended. Threads: the UI thread only.
    """

    task_started = Signal(str)
    task_ended = Signal(object)
    known_raised = Signal(object)
    bug_raised = Signal(object)
    idled = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: dict[str, set[asyncio.Task[Any]]] = {}
        self._closed = False

    def spawn(self, name: str, coro: Coroutine[Any, Any, Any], *, policy: Policy = "refuse") -> asyncio.Task[Any]:
        """Start `coro` under `name`.

        Policy: `refuse` raises `AlreadyRunning` while one of the name runs, `replace` cancels it, `parallel` lets
        both run. Raises `RuntimeError` without a running loop or after `close`.
        """
        try:
            loop = asyncio.get_running_loop()
            self._admit(name, policy)
        except RuntimeError:
            coro.close()
            raise
        context = contextvars.copy_context()
        context.run(current_task_name.set, name)
        task = loop.create_task(coro, name=name, context=context)
        # Registered before its first step, so that `idle` can never be true in between.
        self._tasks.setdefault(name, set()).add(task)
        task.add_done_callback(self._on_task_finished)
        self.task_started.emit(name)
        return task

    def is_running(self, name: str) -> bool:
        """Tell whether a task of this name runs."""
        return bool(self._tasks.get(name))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of what runs."""
        return tuple(sorted(name for name, tasks in self._tasks.items() if tasks))

    def cancel(self, name: str) -> bool:
        """Cancel the tasks of this name; tell whether there were any."""
        tasks = tuple(self._tasks.get(name, ()))
        for task in tasks:
            task.cancel()
        return bool(tasks)

    async def idle(self) -> None:
        """Wait until nothing runs but the caller."""
        me = asyncio.current_task()
        while pending := [task for task in self._all() if task is not me]:
            await asyncio.wait(pending)
            await asyncio.sleep(0)

    async def close(self, seconds: float) -> tuple[str, ...]:
        """Take no more tasks, cancel what runs, wait up to `seconds`; return the names that did not end."""
        self._closed = True
        me = asyncio.current_task()
        pending = {task for task in self._all() if task is not me}
        for task in pending:
            task.cancel()
        if pending:
            _, pending = await asyncio.wait(pending, timeout=seconds)
        return tuple(sorted(task.get_name() for task in pending))

    def _admit(self, name: str, policy: Policy) -> None:
        if self._closed:
            raise RuntimeError(f"{name}: the window is closing")
        if policy == "refuse" and self.is_running(name):
            raise AlreadyRunning(name)
        if policy == "replace":
            self.cancel(name)

    def _all(self) -> list[asyncio.Task[Any]]:
        return [task for tasks in self._tasks.values() for task in tasks]

    def _on_task_finished(self, task: asyncio.Task[Any]) -> None:
        name = task.get_name()
        tasks = self._tasks.get(name, set())
        tasks.discard(task)
        if not tasks:
            self._tasks.pop(name, None)
        end = _end_of(name, task)
        if end.outcome is Outcome.KNOWN:
            self.known_raised.emit(end.error)
        elif end.outcome is Outcome.BUG:
            self.bug_raised.emit(end.error)
        self.task_ended.emit(end)
        if not self._tasks:
            self.idled.emit()


def _end_of(name: str, task: asyncio.Task[Any]) -> TaskEnd:
    if task.cancelled():
        return TaskEnd(name, Outcome.CANCELLED)
    error = task.exception()
    if error is None:
        return TaskEnd(name, Outcome.DONE)
    if isinstance(error, Cancelled):
        return TaskEnd(name, Outcome.CANCELLED)
    return TaskEnd(name, Outcome.KNOWN if isinstance(error, KnownError) else Outcome.BUG, error)
