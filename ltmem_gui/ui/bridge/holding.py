"""Hold what is planned beside the run to the folders it is planned for.

A run holds its folders by itself: while one goes on, no others can be named. What a desk asks, reads and plans beside
it does not, so it is dropped, its open sheet too, as soon as a person names other folders.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ltmem_gui.domain.errors import RefusedError


class OtherFolders(RefusedError):
    """A plan was dropped because other folders were named before it was carried out."""

    def __init__(self) -> None:
        super().__init__("other folders were named, so what was planned was dropped", "ask again for these folders")


@contextmanager
def held(changed: Any) -> Iterator[None]:
    """Give the current task up at what it waits for when `changed` is emitted; None for folders that never change.

    Belongs around everything from a press to the yes, in a task. Raises `OtherFolders`.
    """
    task = asyncio.current_task()
    assert task is not None
    dropped = False

    def on_folders_changed(_: object = None) -> None:
        nonlocal dropped
        if not dropped:
            dropped = True
            task.cancel()

    if changed is not None:
        changed.connect(on_folders_changed)
    try:
        yield
        if dropped:
            raise OtherFolders
    except asyncio.CancelledError:
        # Whoever else asked for the end gets it without a word.
        if dropped and task.uncancel() == 0:
            raise OtherFolders from None
        raise
    finally:
        if changed is not None:
            changed.disconnect(on_folders_changed)
