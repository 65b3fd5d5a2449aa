"""What every consolidation starts from, and the one way its plans are made.

The staged copy is a mapping of path → bytes in memory; nothing is written, no lock is taken, no git object is made.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ltmem_gui.domain.effects import Effect, StoreOutputs
from ltmem_gui.domain.errors import UsageError
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.jobs import GLOBAL_KIND
from ltmem_gui.domain.plan import FileChange, Plan, PlanState, ProviderMark, SelectedRow, Skip
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.selection import select
from ltmem_gui.domain.settings import Settings
from ltmem_gui.domain.watermark import advance
from ltmem_gui.pipeline.beside_codex import differing, require_no_other, strangers
from ltmem_gui.pipeline.input_review import redacted_hunks, review_inputs, standing_refusals
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

CONSOLIDATE = "consolidate"
NOTHING_EXTRACTED = "nothing was extracted yet, and the folder holds no artifacts"
NO_CHANGE = "no change against the baseline"


@dataclass(frozen=True, slots=True)
class Staged:
    """What consolidation starts from: the folder as it is, the chosen rows, and the tree with their inputs.

    `refused` are all hunks that were rejected: those that are stored, and those `turned_down` in the proposals this one
    is made anew from, which go on with its plan.
    """

    snapshot: WorkspaceSnapshot
    rows: tuple[StageOneOutput, ...]
    all_threads: frozenset[str]
    inputs: Mapping[str, bytes]
    stale: Mapping[str, str]
    files: Mapping[str, bytes]
    watermark: int
    skipped: tuple[Skip, ...]
    row_effects: tuple[StoreOutputs, ...]
    refused: tuple[RefusedHunk, ...]
    turned_down: tuple[RefusedHunk, ...]
    notices: tuple[str, ...]


async def stage(adapters: Adapters, request: Request, listen: Listener) -> Staged:
    """Read the memory folder and the rows, select, render the inputs and prune, all in memory."""
    if request.memory_root is None:
        raise UsageError("no memory folder was named", "give --memory-root DIR")
    listen(StepReached("reading", str(request.memory_root)))
    snapshot = await adapters.offload.store(adapters.workspace.read, request.memory_root)
    foreign = await adapters.offload.store(require_no_other, adapters, request.memory_root)
    async with open_store(adapters, request.home, writing=False) as call:
        outputs = await call(call.store.outputs)
        excluded = dict(await call(call.store.excluded))
        stored_watermark = await call(call.store.watermark)
        jobs = await call(call.store.jobs)
        refused = await call(call.store.refused_hunks)
        notices = call.store.notices
    now = adapters.clock()
    reviewed = await review_inputs(adapters, request, outputs, excluded)
    still, lifted = standing_refusals(request, refused)
    turned_down = await redacted_hunks(adapters, request.refused)
    rows = tuple(
        select(
            reviewed.outputs,
            now=now,
            limit=request.settings.max_raw_memories_for_consolidation,
            max_unused_days=request.settings.max_unused_days,
            recency_fallback=request.settings.recency_fallback,
        )
    )
    listen(StepReached("staging", f"{len(rows)} of {len(outputs)} memories selected"))
    inputs = adapters.workspace.render_inputs(rows)
    stale = adapters.workspace.stale_paths(snapshot, inputs, now)
    files = {path: file.data for path, file in snapshot.files.items() if path not in stale} | dict(inputs)
    return Staged(
        snapshot=snapshot,
        rows=rows,
        all_threads=frozenset(output.thread_id for output in outputs),
        inputs=inputs,
        stale=stale,
        files=files,
        watermark=advance(
            stored=stored_watermark,
            claimed=max((job.input_watermark for job in jobs if job.kind == GLOBAL_KIND), default=0),
            source_updated_at=[row.source_updated_at for row in rows],
        ),
        skipped=_skipped(outputs, rows, reviewed.left_out),
        row_effects=(*reviewed.effects, *lifted),
        refused=tuple({hunk.key: hunk for hunk in (*still, *turned_down)}.values()),
        turned_down=turned_down,
        notices=(
            *notices,
            *differing(adapters, foreign, rows, root=request.memory_root, settings=request.settings),
            *strangers(snapshot, {*(o.thread_id for o in outputs), *(job.job_key for job in jobs)}),
        ),
    )


def _skipped(
    outputs: tuple[StageOneOutput, ...], rows: tuple[StageOneOutput, ...], left_out: Mapping[str, str]
) -> tuple[Skip, ...]:
    chosen = {row.thread_id for row in rows}
    reasons = {
        o.thread_id: left_out.get(o.thread_id, "not among the selected: rank, unused window or empty")
        for o in outputs
        if o.thread_id not in chosen
    }
    return tuple(Skip(id=thread, reasons=(reason,)) for thread, reason in sorted(reasons.items()))


def nothing_to_consolidate(staged: Staged) -> bool:
    """Tell whether there are no inputs and no artifacts (design §5.6), or no row was ever stored."""
    return not staged.rows and (not staged.all_threads or not is_own_folder(staged.snapshot))


def is_own_folder(snapshot: WorkspaceSnapshot) -> bool:
    """Tell whether the folder holds artifacts already."""
    return "MEMORY.md" in snapshot.files or "memory_summary.md" in snapshot.files


async def validated(
    adapters: Adapters,
    settings: Settings,
    staged: Staged,
    files: Mapping[str, bytes],
    before: Mapping[str, bytes] | None = None,
) -> tuple[Finding, ...]:
    """Check a tree against the rules of a memory folder, and against what it was `before`, where that is asked."""
    return await adapters.offload.cpu(
        partial(
            adapters.validate,
            files,
            before=before or {},
            loss_limit_percent=settings.loss_limit_percent,
            known_threads=staged.all_threads,
        )
    )


def staged_plan(
    adapters: Adapters,
    request: Request,
    staged: Staged,
    mark: ProviderMark,
    *,
    kind: Literal["apply", "consolidate"] = "apply",
    effects: tuple[Effect, ...] = (),
    changes: tuple[FileChange, ...] = (),
    findings: tuple[Finding, ...] = (),
    drift: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Plan:
    """Seal a plan of a consolidation; without effects it is the one that has nothing to do, and `notes` says why."""
    said = (*staged.notices, *staged.snapshot.problems)
    return Plan(
        kind=kind,
        operation=CONSOLIDATE,
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.APPLYABLE if effects else PlanState.EMPTY,
        home=str(request.home),
        memory_root=staged.snapshot.root,
        provider=mark,
        settings=request.settings,
        base=staged.snapshot.mark(),
        effects=effects,
        changes=changes,
        rows=selected_rows(staged) if effects else (),
        findings=findings,
        skipped=staged.skipped,
        drift=drift,
        notes=(*said, *notes) if effects else (*notes, *said),
        refused=staged.turned_down if effects else (),
        watermark=staged.watermark,
    ).sealed()


def selected_rows(staged: Staged) -> tuple[SelectedRow, ...]:
    """Return the selection as plans bind it."""
    return tuple(SelectedRow(thread_id=r.thread_id, source_updated_at=r.source_updated_at) for r in staged.rows)
