"""A sitting: confirmed once at its start (rater, frame, table), then only appends of that sitting (design §2).

The memory folder is neither read nor written. Verdicts of an import are part of its plan, and appended all at once.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ltmem_gui.domain.audit_evidence import cited_entries
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.effects import CreateDataFolder, Effect, KeepEvidence, StoreVerdicts, VerdictMark
from ltmem_gui.domain.errors import AlreadyApplied, GrantMissing, StalePlan, UsageError
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.verdicts import VerdictRecord
from ltmem_gui.pipeline.audit import Audit
from ltmem_gui.pipeline.evidence_keeping import mark_of, record_of, unkept
from ltmem_gui.pipeline.ports import Adapters
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store

AUDIT = "audit"
MAX_NAME = 200


async def plan_sitting(
    adapters: Adapters, request: Request, rater: str, frame: str, audit: Audit | None = None
) -> Plan:
    """Plan a sitting of one rater over one frame; what citations without a record say in `audit` is kept with it.

    Raises `UsageError` for a name that is blank, long or hides text.
    """
    for what, name in (("rater", rater), ("frame", frame)):
        if not name.strip() or one_line(name, MAX_NAME) != name:
            raise UsageError(f"{name!r} is no name of a {what}", "give one line of at most 200 visible characters")
    seen = await _first_sight(adapters, audit) if audit is not None else ()
    return await _plan(adapters, request, (StoreVerdicts(rater=rater, frame=frame), *seen), ())


async def plan_keeping(adapters: Adapters, request: Request, audit: Audit) -> Plan:
    """Plan to keep what citations without a record say now; `EMPTY` when each has one."""
    effects = await _first_sight(adapters, audit)
    fresh = sum(effect.count for effect in effects)
    known = {record.key for record in audit.evidence}
    cited = cited_entries(_files(audit)).keys()
    kept = len(known & cited)
    unseen = len(cited) - kept - fresh
    more = f", {unseen} not seen: sessions or projects not read, or lines not there" if unseen else ""
    return await _plan(adapters, request, effects, (f"{fresh} to keep, {kept} kept already{more}",))


async def _first_sight(adapters: Adapters, audit: Audit) -> tuple[KeepEvidence, ...]:
    texts = {thread: text.lines for thread, text in audit.texts.items()}
    seen = await unkept(adapters, audit.snapshot, audit.evidence, audit.extracted, texts)
    marks = tuple(mark_of(record) for record in seen)
    return (KeepEvidence(root=audit.snapshot.root, count=len(marks), records=marks),) if marks else ()


def _files(audit: Audit) -> dict[str, bytes]:
    return {path: file.data for path, file in audit.snapshot.files.items()}


async def plan_import(adapters: Adapters, request: Request, records: Sequence[VerdictRecord]) -> Plan:
    """Plan to append the verdicts of a report that are not stored yet; `EMPTY` when all are."""
    async with open_store(adapters, request.home, writing=False) as call:
        known = set(await call(call.store.verdicts))
    groups: dict[tuple[str, str], list[VerdictMark]] = defaultdict(list)
    fresh = [record for record in dict.fromkeys(records) if record not in known]
    for record in fresh:
        clean = await _redacted(adapters, record)
        groups[record.rater, record.frame].append(_mark(clean))
    effects = tuple(StoreVerdicts(rater=r, frame=f, records=tuple(marks)) for (r, f), marks in groups.items())
    note = f"{len(records)} records in the report, {len(records) - len(fresh)} stored already"
    return await _plan(adapters, request, effects, (note,))


class Sitting:
    """A confirmed sitting. Appends its rater's verdicts of its frame, nothing else; ends with a receipt.

    Lives on the event loop; made by `open_sitting`.
    """

    def __init__(self, adapters: Adapters, grant: ApplyGrant, started: int) -> None:
        self._adapters = adapters
        self._grant = grant
        self._started = started
        self._home = Path(grant.plan.home)
        self._allowed = {(e.rater, e.frame) for e in grant.plan.effects_of(StoreVerdicts) if not e.records}
        self._count = 0
        self._kept = 0
        self._closed = False
        self._busy = asyncio.Lock()

    @property
    def count(self) -> int:
        """Return how many records were appended."""
        return self._count

    async def append(self, record: VerdictRecord) -> VerdictRecord:
        """Append one record, its note redacted; return it as stored.

        Raises `GrantMissing` for another rater or frame or after the end, `RedactionFailed` with nothing stored.
        """
        if self._closed or (record.rater, record.frame) not in self._allowed:
            raise GrantMissing("this sitting does not cover the verdict", "begin a sitting for this rater and frame")
        async with self._busy:
            stored = await _redacted(self._adapters, record)
            async with open_store(self._adapters, self._home, writing=True) as call:
                await call(call.store.add_verdicts, (stored,))
            self._count += 1
        return stored

    async def close(self) -> Receipt:
        """End the sitting and return its receipt. Raises `GrantMissing` the second time."""
        if self._closed:
            raise GrantMissing("the sitting has ended")
        self._closed = True
        async with self._busy, open_store(self._adapters, self._home, writing=True) as call:
            return await call(call.store.record_receipt, self._receipt())

    async def keep_evidence(self) -> None:
        """Keep what the plan lists of cited places; a record that came in between stays as it is."""
        effects = self._grant.plan.effects_of(KeepEvidence)
        if effects:
            async with open_store(self._adapters, self._home, writing=True) as call:
                for effect in effects:
                    records = [record_of(mark) for mark in effect.records]
                    self._kept += await call(call.store.keep_evidence, effect.root, records)

    async def append_planned(self) -> None:
        """Append the records that are part of the plan, in one transaction."""
        planned = [_record(e, mark) for e in self._grant.plan.effects_of(StoreVerdicts) for mark in e.records]
        async with open_store(self._adapters, self._home, writing=True) as call:
            self._count += await call(call.store.add_verdicts, planned)

    def _receipt(self) -> Receipt:
        plan, approval = self._grant.plan, self._grant.approval
        return Receipt(
            operation_number=0,
            operation=plan.operation,
            kind=plan.kind,
            plan_digest=plan.digest,
            selection_digest=self._grant.selection.digest,
            approver=approval.approver,
            surface=approval.surface,
            started_at=self._started,
            finished_at=self._adapters.clock(),
            counts={"verdicts": self._count} | ({"places_kept": self._kept} if self._kept else {}),
        )


async def open_sitting(adapters: Adapters, grant: ApplyGrant) -> Sitting:
    """Use the grant up and begin; the approval is recorded, the data folder created if the plan says so.

    Raises `GrantMissing` for another kind of plan, `AlreadyApplied`, `StalePlan`, and the grant's own refusals.
    """
    plan = grant.plan
    if (
        plan.operation != AUDIT
        or plan.changes
        or {e.type for e in plan.effects} - {"StoreVerdicts", "KeepEvidence", "CreateDataFolder"}
    ):
        raise GrantMissing("the grant is not for a sitting")
    grant.consume()
    home = Path(plan.home)
    if plan.effects_of(CreateDataFolder):
        await adapters.offload.store(adapters.stores.create_home, home)
    elif not await adapters.offload.thread(home.is_dir):
        raise StalePlan("the data folder is gone", "make a new plan", plan.home)
    async with open_store(adapters, home, writing=True) as call:
        if await call(call.store.receipt_of, plan.digest) is not None:
            raise AlreadyApplied("this plan was carried out already", "make a new plan", plan.home)
        await call(call.store.record_approval, grant.approval)
    sitting = Sitting(adapters, grant, adapters.clock())
    await sitting.keep_evidence()
    return sitting


async def run_import(adapters: Adapters, grant: ApplyGrant) -> Receipt:
    """Carry out a plan of verdicts from begin to end."""
    sitting = await open_sitting(adapters, grant)
    await sitting.append_planned()
    return await sitting.close()


async def _plan(adapters: Adapters, request: Request, rows: tuple[Effect, ...], notes: tuple[str, ...]) -> Plan:
    creates = bool(rows) and not await adapters.offload.thread(request.home.exists)
    effects = (*((CreateDataFolder(path=str(request.home)),) if creates else ()), *rows)
    return Plan(
        kind="apply",
        operation=AUDIT,
        id=uuid.uuid4().hex,
        created_at=adapters.clock(),
        state=PlanState.APPLYABLE if rows else PlanState.EMPTY,
        home=str(request.home),
        memory_root=str(request.memory_root or ""),
        provider=adapters.extractor("builtin", request.settings).mark,
        settings=request.settings,
        effects=effects,
        notes=notes,
    ).sealed()


async def _redacted(adapters: Adapters, record: VerdictRecord) -> VerdictRecord:
    if not record.note:
        return record
    return replace(record, note=(await adapters.redact_text(record.note)).text)


def _mark(record: VerdictRecord) -> VerdictMark:
    return VerdictMark(
        at=record.at,
        item=record.item,
        verdict=record.verdict,
        note=record.note,
        binding=record.binding,
        thread_ids=record.thread_ids,
    )


def _record(effect: StoreVerdicts, mark: VerdictMark) -> VerdictRecord:
    return VerdictRecord(
        mark.at, effect.rater, effect.frame, mark.item, mark.verdict, mark.note, mark.binding, mark.thread_ids
    )
