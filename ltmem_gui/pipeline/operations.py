"""The facade of both surfaces: everything a person can ask for, in one place. Holds no state of its own."""

from __future__ import annotations

from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection, Surface
from ltmem_gui.domain.errors import RefusedError
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.jobs import JobRecord
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.pipeline import (
    agent_run,
    approval,
    consolidation,
    extraction,
    maintenance,
    planner,
    scanning,
)
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.ledger import StoreLedger
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.sessions import open_store


class Operations:
    """Scan, plan, check, approve, apply and look; the window and the command line call the same methods."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    @property
    def adapters(self) -> Adapters:
        """Return what the use cases work with."""
        return self._adapters

    async def scan(self, request: Request, *, cancel: CancelToken, listen: Listener) -> ScanReport:
        """Find and judge the sessions below the named folders; reads only."""
        return await scanning.scan(self._adapters, request, cancel=cancel, listen=listen)

    async def plan_extract(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Plan an extraction run; reads, and redacts in memory only."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await planner.plan_extract(self._adapters, request, cancel=cancel, listen=listen)

    async def plan_consolidate(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Work out a consolidation in memory; with the built-in provider the plan is the final one."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await consolidation.plan_consolidate(self._adapters, request, cancel=cancel, listen=listen)

    async def plan_undo(self, request: Request) -> Plan:
        """Plan to take the last apply back."""
        return await maintenance.plan_undo(self._adapters, request)

    async def plan_forget(self, request: Request, thread_id: str, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Plan to forget one session."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await maintenance.plan_forget(self._adapters, request, thread_id, cancel=cancel, listen=listen)

    async def plan_clear(self, request: Request) -> Plan:
        """Plan to empty the memory folder and delete every row."""
        return await maintenance.plan_clear(self._adapters, request)

    async def check(self, plan: Plan, selection: Selection) -> tuple[Finding, ...]:
        """Apply a selection to a copy in memory and validate it."""
        return await approval.check(self._adapters, plan, selection)

    async def approve(self, plan: Plan, selection: Selection, *, approver: str, surface: Surface) -> ApplyGrant:
        """Turn a person's confirmation into a grant."""
        self._adapters.use_home(Path(plan.home))
        self._adapters.use_settings(plan.settings)
        return await approval.approve(self._adapters, plan, selection, approver=approver, surface=surface)

    async def apply(self, grant: ApplyGrant, *, cancel: CancelToken, listen: Listener) -> Receipt:
        """Carry out a granted plan and return its receipt."""
        if grant.plan.kind == "extract":
            return await extraction.run_extraction(self._adapters, grant, cancel=cancel, listen=listen)
        if grant.plan.kind == "apply":
            listen(StepReached("applying", f"{len(grant.plan.changes)} files"))
            home = Path(grant.plan.home)
            writer = self._adapters.writer(home, StoreLedger(self._adapters, home, grant))
            return await self._adapters.offload.store(writer.apply, grant)
        raise RefusedError("a plan of kind consolidate comes to a proposal, not to a receipt alone", "use propose")

    async def propose(self, grant: ApplyGrant, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Carry out a plan of kind `consolidate`: run the agent, and return the plan that remains to be confirmed.

        The plan is `EMPTY` when the agent found nothing to change; that is recorded as a success.
        """
        proposal = (await self.consolidate(grant, cancel=cancel, listen=listen)).proposal
        assert proposal is not None
        return proposal

    async def consolidate(self, grant: ApplyGrant, *, cancel: CancelToken, listen: Listener) -> Applied:
        """Do what `propose` does, and return receipt and transcript too."""
        return await agent_run.run_consolidation(self._adapters, grant, cancel=cancel, listen=listen)

    async def jobs(self, home: Path) -> tuple[JobRecord, ...]:
        """Return the queue as stored."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.jobs)

    async def receipts(self, home: Path) -> tuple[Receipt, ...]:
        """Return every receipt, oldest first."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.receipts)

    async def watermark(self, home: Path) -> int:
        """Return the last success watermark, Unix seconds; 0 before the first."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.watermark)

    async def read_folder(self, root: Path) -> WorkspaceSnapshot:
        """Read a memory folder; writes nothing."""
        return await self._adapters.offload.store(self._adapters.workspace.read, root)

    async def load_rollout(self, ref: RolloutRef) -> Rollout:
        """Read one session whole."""
        return await self._adapters.offload.cpu(self._adapters.rollouts.load, ref)
