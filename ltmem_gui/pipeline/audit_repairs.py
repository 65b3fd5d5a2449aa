"""Repairs of a rater as a plan for the review panel: the same way to the folder as any other change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ltmem_gui.domain.audit_repairs import Repair, repaired
from ltmem_gui.domain.effects import UpdateJobs
from ltmem_gui.domain.plan import Plan
from ltmem_gui.pipeline.folder_changes import file_changes
from ltmem_gui.pipeline.folder_plans import folder_plan, named_folder
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

REANCHOR = "reanchor"


async def plan_repairs(adapters: Adapters, request: Request, repairs: Sequence[Repair]) -> Plan:
    """Plan re-anchored citations, fixed notes and removed claims; reads only.

    Raises `UsageError` without a folder or for lines that do not exist, `StalePlan` where the folder is not what the
    audit saw.
    """
    snapshot = await named_folder(adapters, request)
    before = {path: file.data for path, file in snapshot.files.items()}
    after = apply_repairs(before, repairs)
    changes = await adapters.offload.thread(file_changes, snapshot, after, {})
    async with open_store(adapters, request.home, writing=False) as call:
        watermark = await call(call.store.watermark)
        rows = await call(call.store.selected_rows)
        threads = frozenset(output.thread_id for output in await call(call.store.outputs))
    check = partial(
        adapters.validate,
        after,
        before=before,
        loss_limit_percent=request.settings.loss_limit_percent,
        known_threads=threads,
    )
    return folder_plan(
        adapters,
        request,
        REANCHOR,
        snapshot,
        changes,
        effects=(UpdateJobs(scope="global", count=len(rows), watermark=watermark),),
        watermark=watermark,
        found=bool(changes),
        rows=rows,
        findings=await adapters.offload.cpu(check),
        notes=tuple(repair.reason for repair in repairs),
    )


def apply_repairs(files: Mapping[str, bytes], repairs: Sequence[Repair]) -> dict[str, bytes]:
    """Return the folder after all repairs. Lines are removed last and from below, so that no other one moves."""

    def order(repair: Repair) -> tuple[bool, int]:
        removes = repair.kind == "remove claim"
        return removes, -min((repair.item.line, *repair.item.claim_lines)) if removes else 0

    after = dict(files)
    for repair in sorted(repairs, key=order):
        after[repair.item.file] = repaired(after, repair)
    return after
