"""Wait in tests for a condition, never for a time: how fast the machine is decides nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE_SECONDS = 60.0
"""How long is waited for what must come: only a hang gets there, also on a machine that is slow or was suspended."""
PATIENCE_MS = int(PATIENCE_SECONDS * 1_000)


def wait_for(holds: Callable[[], object], what: str = "") -> None:
    """Wait on this thread until the condition holds. Raises `AssertionError` that says what did not come."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"after {PATIENCE_SECONDS:g} s still not: {what or holds}"
        time.sleep(0.005)


async def until(holds: Callable[[], object], what: str = "") -> None:
    """Wait on the running loop until the condition holds. Raises `AssertionError` that says what did not come."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"after {PATIENCE_SECONDS:g} s still not: {what or holds}"
        await asyncio.sleep(0.005)
