"""Phase 2 of the built-in provider: work out the result in a staged copy, and plan what remains to be confirmed.

The staged copy is a mapping of path → bytes in memory; nothing is written, no lock is taken, no git object is made. The
git baseline is the dirty check (mission §2): no difference to it, and sound artifacts, mean that there is nothing to
do.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import StoreOutputs, UpdateJobs
from ltmem_gui.domain.errors import RedactionFailed, UsageError
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.jobs import GLOBAL_KIND
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark, SelectedRow, Skip
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.domain.selection import select
from ltmem_gui.domain.watermark import advance
from ltmem_gui.pipeline.beside_codex import differing, require_no_other, strangers
from ltmem_gui.pipeline.extensions import foreign_notes, has_extensions, with_seed
from ltmem_gui.pipeline.folder_changes import file_changes, folder_effects
from ltmem_gui.pipeline.input_review import review_inputs, standing_refusals
from ltmem_gui.pipeline.ports import Adapters, ConsolidationRequest, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

NOTES_PREFIX = "extensions/ad_hoc/notes/"
NOTHING_EXTRACTED = "nothing was extracted yet, and the folder holds no artifacts"


@dataclass(frozen=True, slots=True)
class Staged:
    """What consolidation starts from: the folder as it is, the chosen rows, and the tree with their inputs."""

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
    notices: tuple[str, ...]


async def plan_consolidate(adapters: Adapters, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
    """Plan one consolidation with the built-in provider; `EMPTY` when the folder is as it should be.

    Raises `UsageError` without a memory folder, `InputError` for one that cannot be used.
    """
    mark = adapters.extractor(BUILTIN, request.settings).mark
    staged = await stage(adapters, request, listen)
    if nothing_to_consolidate(staged):
        return empty_plan(adapters, request, staged, mark, NOTHING_EXTRACTED)
    cancel.check()
    listen(StepReached("consolidating", f"{len(staged.rows)} memories, built-in rules"))
    before = {path: file.data for path, file in staged.snapshot.files.items()}
    result, notes, redacted = await _consolidate(adapters, staged, before)
    cancel.check()
    if has_extensions(result):
        result = with_seed(result)
    return await propose(adapters, request, staged, result, mark=mark, notes=notes, redacted=redacted, listen=listen)


async def propose(
    adapters: Adapters,
    request: Request,
    staged: Staged,
    result: Mapping[str, bytes],
    *,
    mark: ProviderMark,
    notes: tuple[str, ...],
    redacted: tuple[Finding, ...],
    listen: Listener,
) -> Plan:
    """Validate a result and seal the plan of kind `apply` that leads to it; `EMPTY` when there is no change."""
    before = {path: file.data for path, file in staged.snapshot.files.items()}
    listen(StepReached("validating"))
    findings = await adapters.offload.cpu(
        partial(
            adapters.validate,
            result,
            before=before,
            loss_limit_percent=request.settings.loss_limit_percent,
            known_threads=staged.all_threads,
        )
    )
    changes = await adapters.offload.thread(file_changes, staged.snapshot, result, staged.stale)
    drift = await adapters.offload.store(adapters.workspace.baseline_changes, staged.snapshot, before)
    if (
        not changes
        and not staged.snapshot.leftover
        and staged.snapshot.baseline
        and not drift
        and not staged.row_effects
    ):
        return empty_plan(adapters, request, staged, mark, "no change against the baseline", *notes)
    return Plan(
        kind="apply",
        operation="consolidate",
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.APPLYABLE,
        home=str(request.home),
        memory_root=staged.snapshot.root,
        provider=mark,
        settings=request.settings,
        base=staged.snapshot.mark(),
        effects=(
            *folder_effects(staged.snapshot, changes),
            *staged.row_effects,
            UpdateJobs(scope="global", count=len(staged.rows), watermark=staged.watermark),
        ),
        changes=changes,
        rows=selected_rows(staged),
        findings=(*findings, *redacted),
        skipped=staged.skipped,
        drift=tuple(f"{change.status} {change.path}" for change in drift) if staged.snapshot.baseline else (),
        notes=(*staged.notices, *staged.snapshot.problems, *notes),
        watermark=staged.watermark,
    ).sealed()


def selected_rows(staged: Staged) -> tuple[SelectedRow, ...]:
    """Return the selection as plans bind it."""
    return tuple(SelectedRow(thread_id=r.thread_id, source_updated_at=r.source_updated_at) for r in staged.rows)


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
        refused=still,
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


async def _consolidate(
    adapters: Adapters, staged: Staged, before: Mapping[str, bytes]
) -> tuple[dict[str, bytes], tuple[str, ...], tuple[Finding, ...]]:
    request = ConsolidationRequest(
        outputs=staged.rows,
        inputs=staged.inputs,
        existing={path: data for path, data in staged.files.items() if path not in staged.inputs},
        notes={path: data for path, data in before.items() if path.startswith(NOTES_PREFIX)},
        refused=tuple("".join(hunk.new) for hunk in staged.refused),
        now=adapters.clock(),
    )
    proposal = await adapters.offload.cpu(adapters.consolidate, request)
    result = dict(staged.files)
    for path, data in proposal.files.items():
        if data is None:
            result.pop(path, None)
        else:
            result[path] = data
    result, findings = await redact_files(adapters, result, before)
    return result, (*proposal.notes, *foreign_notes(before)), findings


async def redact_files(
    adapters: Adapters, files: Mapping[str, bytes], before: Mapping[str, bytes]
) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    """Pass everything that would be written through the choke point; what it takes out becomes a finding."""
    clean: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path, data in files.items():
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            clean[path] = data
            continue
        try:
            redaction = await adapters.redact_text(text)
        except RedactionFailed as error:
            findings.append(
                secret_finding(path, None, f"could not be checked for secrets: {error.what}", blocking=True)
            )
            clean[path] = before.get(path, b"")
            continue
        clean[path] = redaction.text.encode("utf-8") if redaction.findings else data
        for found in redaction.findings:
            line = text.count("\n", 0, found.start) + 1
            findings.append(secret_finding(path, line, f"a secret ({found.kind}) is replaced here", blocking=False))
    return clean, tuple(findings)


def secret_finding(path: str, line: int | None, text: str, *, blocking: bool) -> Finding:
    """Say on a line that a secret is there, was there, or may be there."""
    severity = Severity.BLOCKING if blocking else Severity.WARNING
    return Finding(id=f"secret:{path}:{line or 0}", rule="secret", severity=severity, path=path, line=line, text=text)


def empty_plan(adapters: Adapters, request: Request, staged: Staged, mark: ProviderMark, *notes: str) -> Plan:
    """Return the plan that has nothing to do, and says why."""
    return Plan(
        kind="apply",
        operation="consolidate",
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.EMPTY,
        home=str(request.home),
        memory_root=staged.snapshot.root,
        provider=mark,
        settings=request.settings,
        base=staged.snapshot.mark(),
        skipped=staged.skipped,
        notes=(*notes, *staged.notices, *staged.snapshot.problems),
        watermark=staged.watermark,
    ).sealed()
