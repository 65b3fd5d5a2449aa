"""The facade of both surfaces: everything a person can ask for, in one place. Holds no state of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection, Surface
from ltmem_gui.domain.errors import RefusedError, UsageError
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.extraction import ExtractionInput, StageOneOutput
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.inbox import InboxLine
from ltmem_gui.domain.jobs import JobRecord
from ltmem_gui.domain.memory_items import token_limit
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.queue_actions import ROW_ACTIONS, RUN_ACTIONS, QueueAction
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.pipeline import (
    agent_run,
    approval,
    audit_sitting,
    consolidation,
    extraction,
    maintenance,
    model_consolidation,
    planner,
    redaction_plan,
    row_apply,
    row_plans,
    scanning,
    take_over,
    thread_plans,
)
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.audit_operations import AuditOperations
from ltmem_gui.pipeline.evidence_keeping import evidence_of_apply
from ltmem_gui.pipeline.ledger import StoreLedger
from ltmem_gui.pipeline.outside import OutsideActs
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.provider_choice import ProviderChoice
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.row_plans import InboxWish
from ltmem_gui.pipeline.sessions import open_store
from ltmem_gui.pipeline.standing import Standing, standing_of
from ltmem_gui.pipeline.written import LastApply, last_apply


class Operations:
    """Scan, plan, check, approve, apply and look; the window and the command line call the same methods."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters

    @property
    def adapters(self) -> Adapters:
        """Return what the use cases work with."""
        return self._adapters

    @property
    def audit(self) -> AuditOperations:
        """Return what can be asked of the audit."""
        return AuditOperations(self._adapters)

    @property
    def outside(self) -> OutsideActs:
        """Return what can be done outside the named folders, each with a yes of its own."""
        return OutsideActs(self._adapters)

    @property
    def providers(self) -> ProviderChoice:
        """Return what can be asked of providers before one is chosen: options, models, a connection test, keys."""
        return ProviderChoice(self._adapters)

    async def scan(self, request: Request, *, cancel: CancelToken, listen: Listener) -> ScanReport:
        """Find and judge the sessions below the named folders; reads only."""
        return await scanning.scan(self._adapters, request, cancel=cancel, listen=listen)

    async def plan_extract(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Plan an extraction run; reads, and redacts in memory only."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await planner.plan_extract(self._adapters, request, cancel=cancel, listen=listen)

    async def plan_consolidate(self, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
        """Work out a consolidation in memory.

        With the built-in provider the plan is the final one; with a model it is of kind `consolidate`, and `propose`
        returns the one that remains to be confirmed.
        """
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        if request.provider != BUILTIN:
            return await model_consolidation.plan_agent(self._adapters, request, cancel=cancel, listen=listen)
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

    async def plan_redact(self, request: Request, *, cancel: CancelToken) -> Plan:
        """Plan to take the secrets out of the memory folder and out of what git keeps of it."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await redaction_plan.plan_redact(self._adapters, request, cancel=cancel)

    async def plan_queue_action(
        self,
        request: Request,
        action: QueueAction,
        thread_ids: Sequence[str],
        *,
        cancel: CancelToken,
        listen: Listener,
    ) -> Plan:
        """Plan an action on rows of the queue; rows it is not for are in `skipped`, each with its reason."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        if action in ROW_ACTIONS:
            return await row_plans.plan_jobs_action(self._adapters, request, action, thread_ids)
        if action in RUN_ACTIONS:
            return await thread_plans.plan_threads(
                self._adapters, request, action, thread_ids, cancel=cancel, listen=listen
            )
        if action is QueueAction.FORGET and len(thread_ids) == 1:
            return await maintenance.plan_forget(self._adapters, request, thread_ids[0], cancel=cancel, listen=listen)
        raise UsageError(f"{action.value} cannot be planned for {len(thread_ids)} rows", "choose one row")

    async def excluded(self, home: Path) -> Mapping[str, str]:
        """Return thread → reason of what is left out of the memory until lifted."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.excluded)

    async def inbox(self, home: Path) -> tuple[InboxLine, ...]:
        """Return the inbox lines that wait, best first."""
        return await row_plans.read_inbox(self._adapters, home)

    async def plan_inbox(self, request: Request, wishes: Sequence[InboxWish]) -> Plan:
        """Plan to take, reword or drop inbox lines."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await row_plans.plan_inbox(self._adapters, request, wishes)

    async def plan_take_over(
        self, request: Request, codex_home: Path, *, cancel: CancelToken, listen: Listener
    ) -> Plan:
        """Plan to take over the memories that Codex keeps in its own home; reads a private copy only."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        return await take_over.plan_take_over(self._adapters, request, codex_home, cancel=cancel, listen=listen)

    async def require_unmoved(self, plan: Plan) -> None:
        """Raise `WorkspaceMoved`, naming what moved, when the folder is not the one a plan was made from."""
        snapshot = await self.read_folder(Path(plan.memory_root))
        await self._adapters.offload.thread(approval.require_unmoved, plan, snapshot)

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
        if grant.plan.operation == audit_sitting.AUDIT:
            return await audit_sitting.run_import(self._adapters, grant)
        if row_plans.is_row_plan(grant.plan):
            return await row_apply.apply_rows(self._adapters, grant, cancel=cancel, listen=listen)
        if grant.plan.kind == "apply":
            listen(StepReached("applying", f"{len(grant.plan.changes)} files"))
            home = Path(grant.plan.home)
            evidence = await evidence_of_apply(self._adapters, grant)
            writer = self._adapters.writer(home, StoreLedger(self._adapters, home, grant, evidence))
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

    async def last_apply(self, request: Request) -> LastApply | None:
        """Return what the last apply changed, None when its undo image is gone."""
        return await last_apply(self._adapters, request)

    async def watermark(self, home: Path) -> int:
        """Return the last success watermark, Unix seconds; 0 before the first."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.watermark)

    async def standing(self, request: Request, *, foreign: bool = False) -> Standing:
        """Tell who holds the memory folder and what a run that was cut off left behind; `foreign` asks Codex too."""
        return await standing_of(self._adapters, request, foreign=foreign)

    async def recover(self, home: Path, digest: str, *, finish: bool) -> Receipt | None:
        """Finish an apply that was cut off and return its receipt, or restore the folder as it was before it."""
        recovery = self._adapters.recovery(home)
        if finish:
            return await self._adapters.offload.store(recovery.finish, digest)
        await self._adapters.offload.store(recovery.roll_back, digest)
        return None

    async def read_folder(self, root: Path) -> WorkspaceSnapshot:
        """Read a memory folder; writes nothing."""
        return await self._adapters.offload.store(self._adapters.workspace.read, root)

    async def input_of(self, request: Request, ref: RolloutRef) -> ExtractionInput:
        """Return what a provider would get of one session: filtered, redacted, within the budget. Stores nothing."""
        self._adapters.use_home(request.home)
        self._adapters.use_settings(request.settings)
        limit = token_limit(request.settings.context_window or None)
        return await self._adapters.preparer.prepare(ref, token_limit=limit)

    async def output_of(self, home: Path, thread_id: str) -> StageOneOutput | None:
        """Return what was extracted of one session and is stored, None where nothing is."""
        async with open_store(self._adapters, home, writing=False) as call:
            return await call(call.store.output, thread_id)

    async def load_rollout(self, ref: RolloutRef) -> Rollout:
        """Read one session whole."""
        return await self._adapters.offload.cpu(self._adapters.rollouts.load, ref)
