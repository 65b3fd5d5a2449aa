"""Plan to take the secrets out of a memory folder and out of what git keeps of it; confirmed like any other plan.

Each replacement is a hunk with a finding. The baseline that follows has no parent, so that what was replaced, and what
only old objects held, is gone; the operation leaves no undo image (design §5.5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import UpdateJobs
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.findings import Finding
from ltmem_gui.domain.plan import Plan
from ltmem_gui.pipeline.cleaning import cleaned_files, secret_finding
from ltmem_gui.pipeline.folder_changes import file_changes
from ltmem_gui.pipeline.folder_plans import folder_plan, named_folder
from ltmem_gui.pipeline.ports import Adapters, MemoryObject, WorkspaceSnapshot
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

REDACT = "redact"
BATCH = 64
"""How many objects of git a worker looks at in one go."""


async def plan_redact(adapters: Adapters, request: Request, *, cancel: CancelToken) -> Plan:
    """Plan the folder without its secrets; `EMPTY` when neither files nor git hold one.

    Raises `UsageError` without a memory folder, `InputError` for one that is missing or whose git cannot be read,
    `RedactionFailed` for an object that cannot be checked.
    """
    snapshot = await named_folder(adapters, request)
    if not snapshot.exists:
        raise InputError("the memory folder does not exist", "give --memory-root DIR", snapshot.root)
    clean, findings = await _cleaned(adapters, snapshot, cancel)
    in_git = await _in_git(adapters, Path(snapshot.root), cancel)
    changes = await adapters.offload.thread(file_changes, snapshot, clean, {})
    async with open_store(adapters, request.home, writing=False) as call:
        watermark = await call(call.store.watermark)
    return folder_plan(
        adapters,
        request,
        REDACT,
        snapshot,
        changes,
        effects=(UpdateJobs(scope="global", watermark=watermark),),
        watermark=watermark,
        found=bool(changes or in_git),
        findings=findings,
        notes=(*_git_words(in_git), *snapshot.problems),
    )


async def _cleaned(
    adapters: Adapters, snapshot: WorkspaceSnapshot, cancel: CancelToken
) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    clean: dict[str, bytes] = {}
    findings: list[Finding] = []
    async for file in cleaned_files(adapters, {path: file.data for path, file in snapshot.files.items()}):
        cancel.check()
        clean[file.path] = file.data
        findings += file.findings
        if file.failed:
            text = f"could not be checked for secrets, and stays as it is: {file.failed}"
            findings.append(secret_finding(file.path, None, text, blocking=False))
        elif (await adapters.redact_text(file.path)).findings:
            text = "the name of this file holds a secret; rename it, since no plan does"
            findings.append(secret_finding(file.path, None, text, blocking=False))
    return clean, tuple(findings)


async def _in_git(adapters: Adapters, root: Path, cancel: CancelToken) -> Counter[str]:
    """Count by kind the secrets in everything git keeps: contents, names, messages, logs."""
    found: Counter[str] = Counter()
    objects: list[MemoryObject] = await adapters.offload.store(_listed, adapters, root)
    for start in range(0, len(objects), BATCH):
        cancel.check()
        texts = tuple(item.data.decode("utf-8", "surrogateescape") for item in objects[start : start + BATCH])
        for redaction in await adapters.redact_texts(texts):
            found.update(finding.kind for finding in redaction.findings)
    return found


def _listed(adapters: Adapters, root: Path) -> list[MemoryObject]:
    return list(adapters.memory_objects(root))


def _git_words(in_git: Counter[str]) -> Iterable[str]:
    if in_git:
        kinds = ", ".join(f"{kind} × {number}" for kind, number in sorted(in_git.items()))
        yield f"git keeps {kinds}; the new baseline has no history, so they are gone with it"
