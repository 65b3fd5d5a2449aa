"""Carry out row plans: consume the grant, record the approval, compare and set each row, keep a receipt.

The rows and the receipt are stored in one transaction: a program that ends in between has changed nothing. No lock of
the memory folder is needed, since nothing of it is touched. Where the text or the choice of memories changes, a
consolidation that runs at the moment is waited out by the person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.effects import (
    CreateDataFolder,
    InboxDecision,
    JobMark,
    StoreInboxDecisions,
    StoreOutputs,
    TakeOverJobs,
    TakeOverRow,
    UpdateJobs,
)
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    GrantMissing,
    LockBusy,
    RefusedError,
    StalePlan,
    WrongDigest,
)
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.jobs import GLOBAL_KEY, GLOBAL_KIND, JobStatus
from ltmem_gui.domain.leases import StageTwo, lease_is_live
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.queue_actions import JOB_ACTIONS, QueueAction
from ltmem_gui.domain.taking_over import TAKE_OVER
from ltmem_gui.pipeline.ports import Adapters, Store
from ltmem_gui.pipeline.row_plans import is_row_plan
from ltmem_gui.pipeline.sessions import open_store
from ltmem_gui.pipeline.take_over import MOVED, cleaned_rows, take_rows

CHANGED: Final = "changed"
_OWN: Final = (UpdateJobs, StoreOutputs, StoreInboxDecisions)
_TAKING_OVER: Final = (CreateDataFolder, TakeOverRow, TakeOverJobs)
_TAKEN: Final = {"take": "taken", "reword": "reworded", "drop": "dropped"}


async def apply_rows(adapters: Adapters, grant: ApplyGrant, *, cancel: CancelToken, listen: Listener) -> Receipt:
    """Carry out a row plan and return its receipt, which counts what was really changed.

    Raises `StalePlan` when no row is as it was planned, `LockBusy` for a consolidation that runs, `AlreadyApplied`, and
    the grant's own refusals. A cancel is heeded until the first row is changed.
    """
    plan = grant.plan
    _check(grant)
    grant.consume()
    started = adapters.clock()
    home = Path(plan.home)
    creates = bool(plan.effects_of(CreateDataFolder))
    if not creates and not await adapters.offload.thread(home.is_dir):
        raise StalePlan("the data folder is gone", "make a new plan", plan.home)
    decisions = await _cleaned(adapters, plan)
    rows = await cleaned_rows(adapters, plan)
    cancel.check()
    if creates:
        await adapters.offload.store(adapters.stores.create_home, home)
    async with open_store(adapters, home, writing=True) as call:
        if await call(call.store.receipt_of, plan.digest) is not None:
            raise AlreadyApplied("this plan was applied already", "make a new plan", plan.home)
        await call(call.store.reap_global, adapters.clock())
        await call(call.store.record_approval, grant.approval)
        listen(StepReached("changing rows"))

        def work() -> Receipt:
            counts = _change(call.store, plan, decisions, rows, adapters.clock())
            return _receipt(grant, counts, started, adapters.clock())

        return await call(call.store.record_work, work)


def change_jobs(store: Store, effect: UpdateJobs, now: int) -> Counter[str]:
    """Change the jobs an effect names, each only while it is as the person saw it."""
    action = action_of(effect)
    return Counter(CHANGED if _change_job(store, action, mark, now) else MOVED for mark in effect.jobs)


def _check(grant: ApplyGrant) -> None:
    plan, selection, approval = grant.plan, grant.selection, grant.approval
    plan.verify()
    bound = (approval.plan_digest, selection.plan_digest) == (plan.digest, plan.digest)
    if not bound or approval.selection_digest != selection.digest:
        raise WrongDigest("the approval is not for this plan and selection", "confirm again")
    kinds = _TAKING_OVER if plan.operation == TAKE_OVER else _OWN
    own = len(plan.effects_of(*kinds)) == len(plan.effects)
    texts = any("excluded" not in change for effect in plan.effects_of(StoreOutputs) for change in effect.edited)
    if not is_row_plan(plan) or plan.changes or not own or texts:
        raise GrantMissing("this plan does more than change rows", "make a new plan")
    for effect in plan.effects_of(UpdateJobs):
        action_of(effect)
    if plan.state is not PlanState.APPLYABLE:
        raise RefusedError(f"the plan is {plan.state.value}", "make a new plan")


async def _cleaned(adapters: Adapters, plan: Plan) -> tuple[InboxDecision, ...]:
    """Pass every word that is kept through the choke point; a plan may come from elsewhere."""
    cleaned: list[InboxDecision] = []
    for effect in plan.effects_of(StoreInboxDecisions):
        for decision in effect.decisions:
            kept = decision.text if decision.decision == "reword" else decision.quote
            if decision.decision != "drop":
                kept = (await adapters.redact_text(kept)).text
            cleaned.append(decision.model_copy(update={"text": kept}))
    return tuple(cleaned)


def _change(
    store: Store, plan: Plan, decisions: tuple[InboxDecision, ...], rows: tuple[TakeOverRow, ...], now: int
) -> Counter[str]:
    """Compare and set every row, inside one transaction of the store; return how many really changed."""
    jobs = plan.effects_of(TakeOverJobs)
    if decisions or rows or jobs or plan.effects_of(StoreOutputs):
        _refuse_beside_consolidation(store, now)
    counts = take_rows(store, rows, jobs, now)
    for effect in plan.effects_of(UpdateJobs):
        counts += change_jobs(store, effect, now)
    for effect in plan.effects_of(StoreOutputs):
        counts.update(CHANGED if _change_exclusion(store, change, now) else MOVED for change in effect.edited)
    counts.update(_TAKEN[one.decision] if _decide(store, one, now) else MOVED for one in decisions)
    if not counts.total() - counts[MOVED]:
        raise StalePlan("no row is as it was when this was planned", "look at the queue again", plan.home)
    return counts


def _refuse_beside_consolidation(store: Store, now: int) -> None:
    job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    if job is None or job.status is not JobStatus.RUNNING:
        return
    if lease_is_live(job.lease_until, now, StageTwo.JOB_LEASE_SECONDS):
        raise LockBusy(f"a consolidation runs at the moment, held by {job.owner}", "wait, then confirm again")


def action_of(effect: UpdateJobs) -> QueueAction:
    """Return what an effect does to job rows. Raises `GrantMissing` for anything but retry, hold and release."""
    try:
        action = QueueAction(effect.action)
    except ValueError as error:
        raise GrantMissing(f"{effect.action!r} is no action on jobs", "make a new plan") from error
    if action not in JOB_ACTIONS or effect.scope != "stage1":
        raise GrantMissing(f"{action.value} is no change of job rows", "make a new plan")
    return action


def _change_job(store: Store, action: QueueAction, mark: JobMark, now: int) -> bool:
    if mark.thread_id == GLOBAL_KEY:
        return action is QueueAction.RETRY and _retry_consolidation(store, mark)
    if action is QueueAction.RELEASE:
        return mark.status is JobStatus.HELD and store.release_job(mark.thread_id, now=now)
    change = store.hold_job if action is QueueAction.HOLD else store.retry_job
    return change(mark.thread_id, expected=mark.status, now=now)


def _retry_consolidation(store: Store, mark: JobMark) -> bool:
    """End the back-off of the consolidation: calling for it anew does."""
    job = store.job(GLOBAL_KIND, GLOBAL_KEY)
    if job is None or job.status is not mark.status or job.status is not JobStatus.ERROR:
        return False
    store.enqueue_global(0)
    return True


def _change_exclusion(store: Store, change: Mapping[str, str], now: int) -> bool:
    thread, reason = change["thread_id"], change.get("excluded", "")
    if not reason:
        return store.lift(thread)
    if thread in store.excluded():
        return False
    store.exclude(thread, reason=reason, now=now)
    return True


def _decide(store: Store, decision: InboxDecision, now: int) -> bool:
    """Carry one decision out if the line still waits and is the one the person was shown."""
    shown = any(line.id == decision.line_id and line.text == decision.quote for line in store.inbox(now))
    if not shown:
        return False
    if decision.decision == "drop":
        store.drop_inbox(decision.line_id, now=now)
        return True
    same = decision.decision == "take" and decision.text == decision.quote
    store.take_inbox(decision.line_id, now=now, text=None if same else decision.text)
    return True


def _receipt(grant: ApplyGrant, counts: Counter[str], started: int, finished: int) -> Receipt:
    return Receipt(
        operation_number=0,
        operation=grant.plan.operation,
        kind=grant.plan.kind,
        plan_digest=grant.plan.digest,
        selection_digest=grant.selection.digest,
        approver=grant.approval.approver,
        surface=grant.approval.surface,
        started_at=started,
        finished_at=finished,
        counts=dict(sorted(counts.items())),
    )
