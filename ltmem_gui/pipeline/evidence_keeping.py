"""Keep what cited places say, as part of a confirmed apply; what is stored is checked for secrets first.

Before the folder changes, citations without a record are looked at as they are, and those that would come as they will
be cited. The records are worked out first and written at the end of the apply, with the receipt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from ltmem_gui.domain.anchors import EvidenceSnapshot
from ltmem_gui.domain.applying import apply_selection
from ltmem_gui.domain.audit_evidence import (
    EXTRACTED,
    EvidenceChange,
    KeptEvidence,
    Sight,
    Unchecked,
    after_apply,
    first_sight,
    hashed,
    in_the_open,
    origin_of,
    without_lost_text,
)
from ltmem_gui.domain.citation_check import Snapshots
from ltmem_gui.domain.consent import ApplyGrant
from ltmem_gui.domain.effects import EvidenceMark, KeepEvidence
from ltmem_gui.domain.errors import InputError, RedactionFailed, RefusedError
from ltmem_gui.domain.plan import Plan
from ltmem_gui.pipeline.audit_drift import AtBaseline, at_baseline
from ltmem_gui.pipeline.ports import Adapters, Store, WorkspaceSnapshot
from ltmem_gui.pipeline.sessions import open_store

_BETWEEN = "\n\x1e\n"


async def evidence_of_apply(adapters: Adapters, grant: ApplyGrant) -> EvidenceChange | None:
    """Work out what an apply makes of the records; None where its plan says nothing of it. Writes nothing."""
    plan = grant.plan
    if not plan.effects_of(KeepEvidence) and not plan.forgets:
        return None
    folder = await adapters.offload.store(adapters.workspace.read, Path(plan.memory_root))
    files = {path: file.data for path, file in folder.files.items()}
    try:
        after = apply_selection(files, plan, grant.selection)
    except (InputError, RefusedError):
        return None  # the writer refuses it too, and says why
    async with open_store(adapters, Path(plan.home), writing=False) as call:
        stored = await call(call.store.evidence, folder.root)
        extracted = places_of(await call(call.store.evidence, EXTRACTED))
    at = adapters.clock()
    seen = await unkept(adapters, folder, stored, extracted)
    sight = Sight(after, extracted)
    change, made = await adapters.offload.thread(lambda: after_apply(sight, (*stored, *seen), at=at))
    gone = frozenset(change.gone)
    put = (*(record for record in seen if record.key not in gone), *change.put, *await checked(adapters, made))
    if plan.forgets:
        replaced = gone | {record.key for record in put}
        left = (record for record in stored if record.key not in replaced)
        put = await checked(adapters, without_lost_text(Sight(after), (*left, *put)))
    return EvidenceChange(put, change.gone)


def write_evidence(store: Store, plan: Plan, change: EvidenceChange | None, baseline: str | None) -> None:
    """Write the records of an apply that is done; `baseline` is its commit.

    After a crash no change is known: nothing is recorded then, and what was to be forgotten leaves its texts.
    """
    root = plan.memory_root
    if change is None and plan.forgets:
        bare = (replace(record, taken=hashed(record.taken)) for record in store.evidence(root))
        change = EvidenceChange(tuple(bare))
    if change is not None:
        put = (_at_baseline(record, baseline) for record in change.put)
        store.change_evidence(root, EvidenceChange(tuple(put), change.gone))


async def unkept(
    adapters: Adapters,
    folder: WorkspaceSnapshot,
    kept: Sequence[KeptEvidence],
    extracted: Snapshots,
    sessions: Mapping[str, Mapping[int, str]] | None = None,
) -> tuple[KeptEvidence, ...]:
    """Return records of first sight: of every citation that has none, checked for secrets. Writes nothing.

    `extracted` is what places of sessions said when they were extracted, `sessions` what they say now.
    """
    files = {path: file.data for path, file in folder.files.items()}
    before = AtBaseline()
    with suppress(InputError):  # where git cannot be read, the folder as it is is all there is to see
        before = await at_baseline(adapters, folder)
    sight = Sight(files, {**before.places, **extracted}, sessions or {}, folder.baseline, before.files)
    keys = frozenset(record.key for record in kept)
    at = adapters.clock()
    return await checked(adapters, await adapters.offload.thread(lambda: first_sight(sight, keys, at=at)))


def places_of(records: Sequence[KeptEvidence]) -> dict[tuple[str, int, int], EvidenceSnapshot]:
    """Return place → what it said, of records without a citing file."""
    return {record.key[1:4]: record.taken for record in records}


async def checked(adapters: Adapters, found: Sequence[Unchecked]) -> tuple[KeptEvidence, ...]:
    """Pass the texts of records through the choke point; where that fails, their hashes alone are kept."""
    distinct = list(dict.fromkeys(one.whole for one in found if one.whole))
    try:
        findings = (await adapters.redact_text(_BETWEEN.join(distinct))).findings if distinct else ()
    except RedactionFailed:
        return in_the_open(found, [False] * len(found))
    places = [0, *accumulate(len(text) + len(_BETWEEN) for text in distinct)]
    starts = dict(zip(distinct, places, strict=False))

    def fine(one: Unchecked) -> bool:
        at = starts.get(one.whole, 0)
        return not any(secret.start < at + one.last and at + one.first < secret.end for secret in findings)

    return in_the_open(found, [fine(one) for one in found])


def _at_baseline(record: KeptEvidence, baseline: str | None) -> KeptEvidence:
    if record.origin != "cited" or record.taken.baseline is not None:
        return record
    return replace(record, taken=replace(record.taken, baseline=baseline))


def mark_of(record: KeptEvidence) -> EvidenceMark:
    """Return a record as a plan lists it."""
    taken = record.taken
    return EvidenceMark(
        file=record.file,
        note=record.note,
        path=taken.path,
        start=taken.start,
        end=taken.end,
        quote=taken.quote,
        sha256=taken.sha256,
        before=taken.before,
        after=taken.after,
        copies=taken.copies,
        baseline=taken.baseline,
        at=record.at,
        origin=record.origin,
        thread_ids=record.thread_ids,
    )


def record_of(mark: EvidenceMark) -> KeptEvidence:
    """Return the record that a plan lists."""
    taken = EvidenceSnapshot(
        mark.path,
        mark.start,
        mark.end,
        mark.quote,
        mark.sha256,
        mark.before,
        mark.after,
        mark.baseline,
        mark.copies,
    )
    return KeptEvidence(mark.file, mark.note, taken, mark.at, origin_of(mark.origin), mark.thread_ids)
