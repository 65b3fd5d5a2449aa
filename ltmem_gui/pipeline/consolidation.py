"""Phase 2 of the built-in provider: work out the result in a staged copy, and plan what remains to be confirmed.

The git baseline is the dirty check (mission §2): no difference to it, and sound artifacts, mean that there is nothing
to do.
"""

from __future__ import annotations

from collections.abc import Mapping

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import UpdateJobs
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import Plan, ProviderMark
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.pipeline.cleaning import cleaned_files, secret_finding
from ltmem_gui.pipeline.extensions import foreign_notes, has_extensions, with_seed
from ltmem_gui.pipeline.folder_changes import file_changes, folder_effects
from ltmem_gui.pipeline.ports import Adapters, ConsolidationRequest
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.staged import (
    NO_CHANGE,
    NOTHING_EXTRACTED,
    Staged,
    nothing_to_consolidate,
    stage,
    staged_plan,
    validated,
)

NOTES_PREFIX = "extensions/ad_hoc/notes/"


async def plan_consolidate(adapters: Adapters, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
    """Plan one consolidation with the built-in provider; `EMPTY` when the folder is as it should be.

    Raises `UsageError` without a memory folder, `InputError` for one that cannot be used.
    """
    mark = adapters.extractor(BUILTIN, request.settings).mark
    staged = await stage(adapters, request, listen)
    if nothing_to_consolidate(staged):
        return staged_plan(adapters, request, staged, mark, notes=(NOTHING_EXTRACTED,))
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
    findings = await validated(adapters, request.settings, staged, result, before)
    changes = await adapters.offload.thread(file_changes, staged.snapshot, result, staged.stale)
    drift = await adapters.offload.store(adapters.workspace.baseline_changes, staged.snapshot, before)
    clean = staged.snapshot.baseline and not staged.snapshot.leftover and not drift
    if clean and not changes and not staged.row_effects:
        return staged_plan(adapters, request, staged, mark, notes=(NO_CHANGE, *notes))
    record = UpdateJobs(scope="global", count=len(staged.rows), watermark=staged.watermark)
    return staged_plan(
        adapters,
        request,
        staged,
        mark,
        effects=(*folder_effects(staged.snapshot, changes), *staged.row_effects, record),
        changes=changes,
        findings=(*findings, *redacted),
        drift=tuple(f"{change.status} {change.path}" for change in drift) if staged.snapshot.baseline else (),
        notes=notes,
    )


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
    async for file in cleaned_files(adapters, files):
        clean[file.path] = file.data
        findings += file.findings
        if file.failed:
            clean[file.path] = before.get(file.path, b"")
            text = f"could not be checked for secrets: {file.failed}"
            findings.append(secret_finding(file.path, None, text, blocking=True))
    return clean, tuple(findings)
