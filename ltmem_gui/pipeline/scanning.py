"""Find sessions and say of each why it would or would not be taken. Reads only what the person named."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.errors import InputError, UsageError
from ltmem_gui.domain.events import Listener, ScanProgressed
from ltmem_gui.domain.rollouts import Eligibility, Reason, RolloutRef, SkippedFile
from ltmem_gui.pipeline.ports import Adapters, ScannedRollout, ScanRules
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.sessions import open_store

READERS = 8


async def scan(adapters: Adapters, request: Request, *, cancel: CancelToken, listen: Listener) -> ScanReport:
    """Read the newest sessions below the named folders and judge each.

    Raises `UsageError` when no folder was named and `InputError` for a folder that cannot be read.
    """
    if not request.sources:
        raise UsageError("no sessions folder was named", "give --source codex=DIR")
    found = await adapters.offload.thread(
        lambda: adapters.rollouts.discover(
            request.sources, limit=request.settings.scan_limit, cancel=cancel, listen=listen
        )
    )
    rules = ScanRules(request.settings, adapters.clock(), str(request.memory_root or ""), str(request.home))
    scanned, unreadable = await _read_all(adapters, found.refs, rules, cancel, listen)
    judged = await _with_store(adapters, request, scanned)
    return ScanReport(judged, (*found.skipped, *unreadable))


async def _read_all(
    adapters: Adapters, refs: tuple[RolloutRef, ...], rules: ScanRules, cancel: CancelToken, listen: Listener
) -> tuple[list[ScannedRollout], list[SkippedFile]]:
    scanned: list[ScannedRollout] = []
    unreadable: list[SkippedFile] = []
    waiting = iter(refs)

    async def read() -> None:
        for ref in waiting:
            cancel.check()
            try:
                scanned.append(await adapters.preparer.scan(ref, rules))
            except InputError as error:
                unreadable.append(SkippedFile(ref.path, error.what))
            listen(ScanProgressed(len(scanned) + len(unreadable), len(refs), ref.path))

    readers = [asyncio.ensure_future(read()) for _ in range(min(READERS, len(refs)))]
    try:
        await asyncio.gather(*readers)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    return scanned, unreadable


async def _with_store(
    adapters: Adapters, request: Request, scanned: list[ScannedRollout]
) -> tuple[ScannedRollout, ...]:
    """Add what the store knows and order by age, on the store's thread: there may be thousands."""
    async with open_store(adapters, request.home, writing=False) as call:

        def judged() -> list[ScannedRollout]:
            excluded = call.store.excluded()
            return [_with_rules(r, call.store.up_to_date(r.id, r.updated_at or 0), excluded.get(r.id)) for r in scanned]

        rollouts = await call(lambda: sorted(judged(), key=lambda r: (-(r.updated_at or 0), r.id, r.path)))
    return tuple(rollouts)


def _with_rules(rollout: ScannedRollout, up_to_date: bool, excluded: str | None) -> ScannedRollout:
    """Add what only the store knows."""
    state = "up to date: extracted already, nothing new since" if up_to_date else "not extracted in this state yet"
    reasons = tuple(r for r in rollout.eligibility.reasons if r.rule != "up_to_date")
    own = (
        Reason("up_to_date", not up_to_date, state),
        Reason("excluded", excluded is None, "not excluded" if excluded is None else f"excluded: {excluded}"),
    )
    return replace(rollout, eligibility=Eligibility((*reasons, *own)))
