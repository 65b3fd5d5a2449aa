"""Worker processes that run at a low priority from their first instruction.

A process that lowers itself starts at the priority of the window and takes half a second of it to load an interpreter
and modules; with two of them starting on two processors the window waited up to 23 ms for its turn. On Linux a process
starts with the priority of the thread that starts it, and a thread that gave its priority up cannot have it back: so a
short-lived thread starts them. Elsewhere priority belongs to the whole process, and workers lower themselves.
"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

# A turn of a worker is a few milliseconds whatever its weight: at 10 one came more often while the window painted, and
# at 19 a machine that is busy with other things would leave them next to nothing.
NICE = 15
LOWEST = 19


class LowProcess(SpawnProcess):
    """A process that is started from a thread of low priority."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        with ThreadPoolExecutor(1, thread_name_prefix="start worker", initializer=_lower_thread) as starter:
            return starter.submit(SpawnProcess._Popen, process_obj).result()  # type: ignore[attr-defined]


class LowContext(SpawnContext):
    """The way worker processes are started."""

    Process = LowProcess  # type: ignore[assignment]


def worker_context() -> SpawnContext:
    """Return how worker processes are started on this system."""
    return LowContext() if sys.platform == "linux" else SpawnContext()


def _lower_thread() -> None:
    thread = threading.get_native_id()
    # From where it stands: only a privileged program may take the priority back that it was started without.
    os.setpriority(os.PRIO_PROCESS, thread, min(os.getpriority(os.PRIO_PROCESS, thread) + NICE, LOWEST))


def lower_this() -> None:
    """Lower the process that calls, where the thread that started it could not."""
    if sys.platform != "linux":
        os.nice(NICE)
