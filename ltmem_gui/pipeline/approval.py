"""The approval service: the only place where a person's yes becomes a grant.

What is validated is what will be written: the selection is applied to a copy of the folder in memory and checked again
before an approval exists (design §2).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ltmem_gui.domain.applying import apply_selection
from ltmem_gui.domain.consent import APPROVAL_SECONDS, ApplyGrant, Approval, Selection, Surface, mint
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    BlockedByFindings,
    NothingToDo,
    RedactionFailed,
    RefusedError,
    StalePlan,
    WorkspaceMoved,
    WrongDigest,
)
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import Plan, PlanState, WorkspaceMark
from ltmem_gui.pipeline.ports import Adapters, WorkspaceSnapshot
from ltmem_gui.pipeline.sessions import open_store

# What these leave behind is no folder of the main job: an earlier state, or nothing.
NOT_VALIDATED = frozenset({"undo", "clear", "redact"})


async def approve(
    adapters: Adapters, plan: Plan, selection: Selection, *, approver: str, surface: Surface
) -> ApplyGrant:
    """Turn a confirmation into a single-use grant.

    Raises `WrongDigest`, `NothingToDo`, `AlreadyApplied`, `StalePlan`, `WorkspaceMoved` or `BlockedByFindings`.
    """
    # A plan of a thousand jobs takes 10 ms to digest, and the window calls from its event loop.
    await adapters.offload.thread(plan.verify)
    if selection.plan_digest != plan.digest:
        raise WrongDigest("the decisions were made for another plan", "look at this plan and decide again")
    if plan.state is PlanState.EMPTY:
        raise NothingToDo("the plan changes nothing", "there is nothing to confirm")
    if plan.state is not PlanState.APPLYABLE:
        raise RefusedError(f"the plan is {plan.state.value}", "make a new plan")
    await _refuse_applied(adapters, plan)
    if plan.kind == "consolidate":
        await _require_inputs(adapters, plan, selection)
    if plan.kind == "apply":
        blocking = [f for f in await check(adapters, plan, selection) if f.severity is Severity.BLOCKING]
        open_ones = [finding for finding in blocking if not selection.overrides.get(finding.id, "").strip()]
        if open_ones:
            first = open_ones[0]
            place = first.path if first.line is None else f"{first.path}:{first.line}"
            raise BlockedByFindings(
                f"{len(open_ones)} blocking findings are open; the first: {place}: {first.text} [{first.id}]",
                "reject or edit the hunk, or override it with a written reason",
            )
    now = adapters.clock()
    approval = Approval(
        plan_digest=plan.digest,
        selection_digest=selection.digest,
        fingerprint=plan.base.fingerprint() if plan.base else "",
        approver=approver,
        surface=surface,
        at=now,
        expires_at=now + APPROVAL_SECONDS,
    )
    return mint(plan, selection, approval, adapters.clock)


async def _require_inputs(adapters: Adapters, plan: Plan, selection: Selection) -> None:
    """Refuse a part of the inputs: a thread is left out with its row, and then the plan is another."""
    if selection.edited or any(selection.rejected.values()):
        raise RefusedError(
            "the inputs of an agent are taken as the plan has them",
            "leave a thread out or edit its row, and plan again",
        )
    require_unmoved(plan, await adapters.offload.store(adapters.workspace.read, Path(plan.memory_root)))


async def check(adapters: Adapters, plan: Plan, selection: Selection) -> tuple[Finding, ...]:
    """Apply the selection to a copy of the folder in memory and validate the result, hunks a person edited included.

    Raises `WorkspaceMoved` when the folder is not the one the plan was made from. A plan without a folder changes rows
    alone: what it found is in itself.
    """
    if plan.base is None:
        return plan.findings
    snapshot = await adapters.offload.store(adapters.workspace.read, Path(plan.memory_root))
    require_unmoved(plan, snapshot)
    if plan.kind == "consolidate":
        return ()  # inputs of an agent: what it makes of them is a plan of its own, and validated there
    before = {path: file.data for path, file in snapshot.files.items()}
    after = apply_selection(before, plan, selection)
    secrets = await _secrets(adapters, plan, after)
    if plan.operation in NOT_VALIDATED:
        return secrets
    async with open_store(adapters, Path(plan.home), writing=False) as call:
        threads = frozenset(output.thread_id for output in await call(call.store.outputs))
    findings = await adapters.offload.cpu(
        partial(
            adapters.validate,
            after,
            before=before,
            loss_limit_percent=plan.settings.loss_limit_percent,
            known_threads=threads,
        )
    )
    return (*findings, *secrets)


def require_unmoved(plan: Plan, snapshot: WorkspaceSnapshot) -> None:
    """Raise `WorkspaceMoved`, naming what moved, unless the folder is the one the plan was made from."""
    moved = differences(plan.base, snapshot.mark())
    if moved:
        names = ", ".join(moved[:5]) + ("" if len(moved) <= 5 else f" and {len(moved) - 5} more")
        raise WorkspaceMoved(
            f"the memory folder moved since the plan was made: {names}", "make a new plan", plan.memory_root
        )


def differences(base: WorkspaceMark | None, now: WorkspaceMark) -> list[str]:
    """Name what differs between two fingerprints: paths, modes, the baseline."""
    if base is None:
        return ["the plan names no folder"]
    moved = [
        path for path in sorted(base.files.keys() | now.files.keys()) if base.files.get(path) != now.files.get(path)
    ]
    if base.baseline != now.baseline:
        moved.append("the git baseline")
    if base.exists != now.exists:
        moved.append("the folder itself")
    return moved


async def _refuse_applied(adapters: Adapters, plan: Plan) -> None:
    home = Path(plan.home)
    async with open_store(adapters, home, writing=False) as call:
        receipt = await call(call.store.receipt_of, plan.digest)
    if receipt is not None:
        raise AlreadyApplied(
            f"this plan was applied already, as operation {receipt.operation_number}", "make a new plan"
        )
    creates = any(effect.type == "CreateDataFolder" for effect in plan.effects)
    if creates and await adapters.offload.thread(home.exists):
        raise StalePlan("the data folder exists by now", "make a new plan", plan.home)


async def _secrets(adapters: Adapters, plan: Plan, after: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """Check every changed file for secrets again; the plan's own text was clean, an edited hunk may not be."""
    findings: list[Finding] = []
    for change in plan.changes:
        data = after.get(change.path)
        if data is None:
            continue
        text = data.decode("utf-8", "replace")
        try:
            found = (await adapters.redact_text(text)).findings
        except RedactionFailed as error:
            findings.append(_blocking(change.path, None, f"could not be checked for secrets: {error.what}"))
            continue
        for secret in found:
            line = text.count("\n", 0, secret.start) + 1
            findings.append(_blocking(change.path, line, f"a secret ({secret.kind}) would be written"))
    return tuple(findings)


def _blocking(path: str, line: int | None, text: str) -> Finding:
    return Finding(
        id=f"secret-after:{path}:{line or 0}",
        rule="secret",
        severity=Severity.BLOCKING,
        path=path,
        line=line,
        text=text,
    )
