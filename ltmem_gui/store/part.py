"""What every part of the store shares: the connection, and the question whether a holder lives."""

from __future__ import annotations

from ltmem_gui.store.database import Database
from ltmem_gui.store.liveness import IsAlive


class StorePart:
    """Hold the connection for a group of operations; the parts are put together in `store/store.py`."""

    def __init__(self, db: Database, alive: IsAlive) -> None:
        self._db = db
        self._alive = alive
