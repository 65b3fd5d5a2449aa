"""Measure how long the event loop is held, without the time in which the machine gave its processors to others."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

_TASKS = Path("/proc/self/task")


def waited() -> dict[str, int]:
    """Return the nanoseconds each thread of this process waited for a processor; empty where Linux does not tell."""
    found: dict[str, int] = {}
    for thread in os.listdir(_TASKS) if _TASKS.is_dir() else ():  # noqa: PTH208 - names are enough, and cheap
        try:
            found[thread] = int((_TASKS / thread / "schedstat").read_text().split()[1])
        except (OSError, IndexError):
            continue
    return found


async def longest_gap(work: Callable[[], Awaitable[Any]]) -> tuple[float, float, Any]:
    """Return the longest gap between two turns of the loop while `work` runs: as seen, and without waiting; seconds."""
    seen = net = 0.0
    done = False

    async def watch() -> None:
        nonlocal seen, net
        last, before = time.perf_counter(), waited()
        while not done:
            await asyncio.sleep(0.001)
            now, after = time.perf_counter(), waited()
            elsewhere = sum(after[thread] - before.get(thread, 0) for thread in after) / 1e9
            seen, net = max(seen, now - last), max(net, now - last - elsewhere)
            last, before = time.perf_counter(), after

    watching = asyncio.ensure_future(watch())
    await asyncio.sleep(0.02)
    result = await work()
    done = True
    await watching
    return seen, net, result
