"""The store: every part on one connection."""

from __future__ import annotations

from collections.abc import Sequence

from ltmem_gui.store.consolidation import GlobalJob
from ltmem_gui.store.database import Database
from ltmem_gui.store.evidence import Evidence
from ltmem_gui.store.forgetting import Forgetting
from ltmem_gui.store.inbox import Inbox
from ltmem_gui.store.jobs import StageOneJobs
from ltmem_gui.store.liveness import IsAlive
from ltmem_gui.store.operations import OperationLog
from ltmem_gui.store.outputs import Outputs
from ltmem_gui.store.provider_limits import ProviderLimitRows
from ltmem_gui.store.queue import Queue
from ltmem_gui.store.refusals import Refusals
from ltmem_gui.store.taking_over import TakingOver
from ltmem_gui.store.verdicts import Verdicts


class SqliteStore(
    StageOneJobs,
    GlobalJob,
    Queue,
    Outputs,
    TakingOver,
    Inbox,
    Refusals,
    Verdicts,
    Evidence,
    ProviderLimitRows,
    OperationLog,
    Forgetting,
):
    """Implement `pipeline.ports.Store` on one SQLite connection, used on one thread."""

    def __init__(self, db: Database, alive: IsAlive, notices: Sequence[str] = ()) -> None:
        super().__init__(db, alive)
        self._notices = tuple(notices)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a person must be told of the opening."""
        return self._notices
