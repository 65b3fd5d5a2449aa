"""How the second phase stands: who holds the memory folder, and what a run that was cut off left behind. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobRecord, JobStatus, Owner
from ltmem_gui.domain.leases import StageTwo, lease_is_live
from ltmem_gui.pipeline.ports import Adapters, InterruptedOperation
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

LockKind = Literal["free", "another run", "another program"]


@dataclass(frozen=True, slots=True)
class FolderLock:
    """Who holds a memory folder: a run of this program, or another program; `until` in Unix seconds, at most."""

    kind: LockKind = "free"
    holder: str = ""
    since: int | None = None
    until: int | None = None

    @property
    def held(self) -> bool:
        """Tell whether a consolidation must wait."""
        return self.kind != "free"


@dataclass(frozen=True, slots=True)
class Standing:
    """The lock; jobs whose program ended while it worked on them; applies that were cut off."""

    lock: FolderLock = FolderLock()
    jobs: tuple[JobRecord, ...] = ()
    applies: tuple[InterruptedOperation, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Tell whether a run was cut off."""
        return bool(self.jobs or self.applies)


async def standing_of(adapters: Adapters, request: Request, *, foreign: bool) -> Standing:
    """Look at the lock and at what was interrupted.

    `foreign` also asks what another program keeps beside the memory folder, through a private copy of its database.
    Raises `InputError` for what cannot be read.
    """
    async with open_store(adapters, request.home, writing=False) as call:
        interrupted = await call(call.store.interrupted)
        record = await call(call.store.job, GLOBAL_KIND, GLOBAL_KEY)
    applies = await adapters.offload.store(adapters.recovery(request.home).pending)
    dead = any(job.kind == GLOBAL_KIND for job in interrupted)
    lock = await _lock(adapters, request, None if dead else record, foreign=foreign)
    return Standing(lock, interrupted, applies)


async def _lock(adapters: Adapters, request: Request, record: JobRecord | None, *, foreign: bool) -> FolderLock:
    root = request.memory_root
    if root is None:
        return FolderLock()
    holder = await adapters.offload.store(adapters.locks.holder, root)
    if holder is not None and not _is_own(adapters.owner, holder.owner):
        return FolderLock("another run", holder.owner, since=holder.since)
    if record is not None and _is_anothers(record, adapters):
        return FolderLock("another run", record.owner, record.started_at, record.lease_until)
    if foreign:
        kept = await adapters.offload.store(adapters.foreign_memories, root)
        if kept is not None and kept.lease is not None:
            return FolderLock("another program", kept.lease.holder, until=kept.lease.until)
    return FolderLock()


def _is_anothers(record: JobRecord, adapters: Adapters) -> bool:
    """Tell whether the job runs under a live lease that is not this process's."""
    live = lease_is_live(record.lease_until, adapters.clock(), StageTwo.JOB_LEASE_SECONDS)
    return record.status is JobStatus.RUNNING and live and not _is_own(adapters.owner, record.owner)


def _is_own(owner: Owner, text: str) -> bool:
    other = Owner.parse(text)
    return (other.host, other.pid, other.process_started) == (owner.host, owner.pid, owner.process_started)
