"""The frame of a plan that changes a memory folder beside the main job: read, bound to what was read, sealed."""

from __future__ import annotations

import uuid

from ltmem_gui.domain.effects import Effect
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, SelectedRow
from ltmem_gui.pipeline.folder_changes import folder_effects
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request


async def named_folder(adapters: Adapters, request: Request) -> WorkspaceSnapshot:
    """Read the memory folder. Raises `UsageError` when none was named, and what reading it raises."""
    if request.memory_root is None:
        raise UsageError("no memory folder was named", "give --memory-root DIR")
    return await adapters.offload.store(adapters.workspace.read, request.memory_root)


def folder_plan(
    adapters: Adapters,
    request: Request,
    operation: str,
    snapshot: WorkspaceSnapshot,
    changes: tuple[FileChange, ...],
    *,
    effects: tuple[Effect, ...],
    watermark: int,
    found: bool,
    rows: tuple[SelectedRow, ...] = (),
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...] = (),
) -> Plan:
    """Seal a plan that is bound to the folder as it was read; `effects` come after those of the folder itself.

    Where nothing was `found` to be done the plan is empty, and has no effects.
    """
    return Plan(
        kind="apply",
        operation=operation,
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.APPLYABLE if found else PlanState.EMPTY,
        home=str(request.home),
        memory_root=snapshot.root,
        provider=adapters.extractor("builtin", request.settings).mark,
        settings=request.settings,
        base=snapshot.mark(),
        effects=(*folder_effects(snapshot, changes), *effects) if found else (),
        changes=changes,
        rows=rows,
        findings=findings,
        notes=notes,
        watermark=watermark,
    ).sealed()
