"""Plans beside the main job: undo the last apply, forget a session, clear the memory; confirmed like any other."""

from __future__ import annotations

from dataclasses import replace

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import Effect, PruneOutputs, UpdateJobs
from ltmem_gui.domain.errors import StalePlan, UsageError
from ltmem_gui.domain.events import Listener
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileChange, Plan, PlanState
from ltmem_gui.pipeline.consolidation import plan_consolidate
from ltmem_gui.pipeline.folder_changes import file_changes
from ltmem_gui.pipeline.folder_plans import folder_plan, named_folder
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

FORGOTTEN = "forgotten on a person's wish"


async def plan_undo(adapters: Adapters, request: Request) -> Plan:
    """Plan to take the last apply back, while its undo image lives (24 hours, until the next apply).

    Raises `StalePlan` when there is nothing to undo, `WorkspaceMoved` when a file was changed since.
    """
    snapshot = await named_folder(adapters, request)
    offer = await adapters.offload.store(adapters.undo.offer, request.home, adapters.clock(), snapshot)
    if offer is None:
        raise StalePlan("there is nothing to undo: no apply in the last 24 hours", "", str(request.home))
    notes = (f"takes back the plan {offer.digest[:8]}; what was forgotten stays forgotten",)
    return await _plan(adapters, request, snapshot, "undo", offer.changes, (), notes=notes)


async def plan_clear(adapters: Adapters, request: Request) -> Plan:
    """Plan to empty the memory folder, `.git` included, and to delete every row; the folder itself is kept.

    Links are unlinked and never followed (reference §7.2). Raises `InputError` for a symlinked root.
    """
    snapshot = await named_folder(adapters, request)
    async with open_store(adapters, request.home, writing=False) as call:
        threads = tuple(output.thread_id for output in await call(call.store.outputs))
    changes = await adapters.offload.thread(file_changes, snapshot, {}, dict.fromkeys(snapshot.files, "cleared"))
    rows = (PruneOutputs(thread_ids=threads, reason="cleared on a person's wish"),)
    return await _plan(adapters, request, snapshot, "clear", changes, rows, notes=snapshot.problems)


async def plan_forget(
    adapters: Adapters, request: Request, thread_id: str, *, cancel: CancelToken, listen: Listener
) -> Plan:
    """Plan to forget one session: its rows, its files, the citations to it, the undo image, the git objects.

    The findings list the lines of the memory that only it supported. Raises `UsageError` for an unknown thread.
    """
    async with open_store(adapters, request.home, writing=False) as call:
        known = {job.job_key for job in await call(call.store.jobs)}
        known |= {output.thread_id for output in await call(call.store.outputs)}
    if thread_id not in known:
        raise UsageError(f"there is nothing of thread {thread_id!r}", "see: ltmem-gui jobs")
    without = replace(request, exclude=request.exclude | ({thread_id} & known))
    plan = await plan_consolidate(adapters, without, cancel=cancel, listen=listen)
    forget = PruneOutputs(thread_ids=(thread_id,), reason=FORGOTTEN)
    gone = tuple(_gone(plan.changes))
    kept = tuple(effect for effect in plan.effects if effect.type != "StoreOutputs")
    return plan.model_copy(
        update={
            "operation": "forget",
            "state": PlanState.APPLYABLE,
            "effects": (*(kept or _bare_effects(plan)), forget),
            "findings": (*plan.findings, *gone),
        }
    ).sealed()


def _bare_effects(plan: Plan) -> tuple[Effect, ...]:
    """Return the effects of a plan that changes no file: the lock is taken and the forgetting recorded all the same."""
    return (UpdateJobs(scope="global", count=len(plan.rows), watermark=plan.watermark),)


def _gone(changes: tuple[FileChange, ...]) -> list[Finding]:
    return [
        Finding(
            id=f"gone:{change.path}:{hunk.old_start + offset + 1}",
            rule="loss",
            severity=Severity.INFO,
            path=change.path,
            line=hunk.old_start + offset + 1,
            text=f"only this session supported: {line.strip()}",
        )
        for change in changes
        if change.path == "MEMORY.md"
        for hunk in change.hunks
        for offset, line in enumerate(hunk.old)
        if line.startswith("- ") and "[Task " in line
    ]


async def _plan(
    adapters: Adapters,
    request: Request,
    snapshot: WorkspaceSnapshot,
    operation: str,
    changes: tuple[FileChange, ...],
    rows: tuple[Effect, ...],
    notes: tuple[str, ...],
) -> Plan:
    async with open_store(adapters, request.home, writing=False) as call:
        watermark = await call(call.store.watermark)
    return folder_plan(
        adapters,
        request,
        operation,
        snapshot,
        changes,
        effects=(*rows, UpdateJobs(scope="global", watermark=watermark)),
        watermark=watermark,
        found=bool(changes or rows),
        notes=notes,
    )
