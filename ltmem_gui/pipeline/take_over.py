"""Take the memories that Codex keeps in its own home over into the data folder: a plan of rows, confirmed like any.

Codex's home is read through a private copy and never changed. Each row is an effect of its own, redacted before it is
in the plan; what is stored here and as new stays, so that a second run has nothing to do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import CreateDataFolder, Effect, TakeOverJobs, TakeOverRow
from ltmem_gui.domain.errors import InputError, RedactionFailed
from ltmem_gui.domain.events import Listener, ScanProgressed, StepReached
from ltmem_gui.domain.extraction import StageOneOutput
from ltmem_gui.domain.jobs import STAGE1_KIND
from ltmem_gui.domain.plan import Plan, Skip, SourceMark
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.domain.taking_over import TAKE_OVER, Change, KeptRow, change_of, is_thread_id, unfit
from ltmem_gui.pipeline.ports import Adapters, ForeignMemories, Store
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.row_plans import row_plan
from ltmem_gui.pipeline.sessions import open_store

AS_NEW: Final = "what is stored here is as new"
TAKEN: Final = "memories taken over"
RAISED: Final = "usage raised"
DONE: Final = "jobs taken over"
MOVED: Final = "not as planned any more"
AT_ONCE: Final = 8
"""How many rows are redacted at a time, so that every worker has something to do."""
_MEMORIES: Final = "memories"
_TEXTS: Final = ("raw_memory", "rollout_summary")
_LABELS: Final = ("cwd", "rollout_path", "rollout_slug", "git_branch")


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is here already; `done` maps thread → its watermark."""

    outputs: Mapping[str, StageOneOutput]
    excluded: Mapping[str, str]
    done: Mapping[str, int]
    watermark: int
    notices: tuple[str, ...]


async def plan_take_over(
    adapters: Adapters, request: Request, codex_home: Path, *, cancel: CancelToken, listen: Listener
) -> Plan:
    """Plan to take over what Codex keeps in `codex_home`; `EMPTY` when nothing of it is newer.

    Raises `InputError` for a folder that cannot be read or in which Codex keeps no memories.
    """
    listen(StepReached("reading", str(codex_home)))
    foreign = await adapters.offload.store(_look, adapters, codex_home)
    stored = await _stored(adapters, request)
    clean = _Cleaner(adapters)
    rows: list[TakeOverRow] = []
    left: list[Skip] = []
    for start in range(0, len(foreign.rows), AT_ONCE):
        cancel.check()
        listen(ScanProgressed(start, len(foreign.rows)))
        part = foreign.rows[start : start + AT_ONCE]
        for made in await asyncio.gather(*(_row(clean, kept, stored) for kept in part)):
            if isinstance(made, Skip):
                left.append(made)
            else:
                rows.append(made)
    effects: list[Effect] = [*rows, *_jobs(foreign, stored)]
    if effects and not await adapters.offload.thread(request.home.exists):
        effects.insert(0, CreateDataFolder(path=str(request.home)))
    folder = codex_home / _MEMORIES
    notes = *stored.notices, *_notes(foreign, rows, folder if await adapters.offload.thread(folder.is_dir) else None)
    sources = (SourceMark(agent="codex", path=str(codex_home)),)
    return row_plan(adapters, request, TAKE_OVER, tuple(effects), tuple(left), notes, sources)


async def cleaned_rows(adapters: Adapters, plan: Plan) -> tuple[TakeOverRow, ...]:
    """Pass the texts of a plan's rows through the choke point again; a plan may come from elsewhere."""
    clean = _Cleaner(adapters)
    return tuple([await clean.row(row) for row in plan.effects_of(TakeOverRow)])


def take_rows(store: Store, rows: Sequence[TakeOverRow], jobs: Sequence[TakeOverJobs], now: int) -> Counter[str]:
    """Take rows and watermarks over inside the caller's transaction; count what really changed."""
    counts: Counter[str] = Counter()
    for row in rows:
        word = RAISED if row.change == "usage" else TAKEN
        counts[word if store.take_over_row(row, now=now) else MOVED] += 1
    for effect in jobs:
        counts[DONE] += store.take_over_jobs(effect, now=now)
    return +counts


def _look(adapters: Adapters, codex_home: Path) -> ForeignMemories:
    try:
        foreign = adapters.codex_home(codex_home)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"this folder cannot be read: {reason}", "check the name", str(codex_home)) from error
    if foreign is None:
        remedy = "name a Codex home: the folder that holds memories_1.sqlite or state_5.sqlite"
        raise InputError("Codex keeps no memories here", remedy, str(codex_home))
    return foreign


async def _stored(adapters: Adapters, request: Request) -> _Stored:
    async with open_store(adapters, request.home, writing=False) as call:
        outputs = {output.thread_id: output for output in await call(call.store.outputs)}
        jobs = [job for job in await call(call.store.jobs) if job.kind == STAGE1_KIND]
        return _Stored(
            outputs=outputs,
            excluded=await call(call.store.excluded),
            done={job.job_key: job.last_success_watermark for job in jobs},
            watermark=await call(call.store.watermark),
            notices=call.store.notices,
        )


async def _row(clean: _Cleaner, kept: KeptRow, stored: _Stored) -> TakeOverRow | Skip:
    thread = kept.output.thread_id
    ours = stored.outputs.get(thread)
    reason = unfit(kept) or stored.excluded.get(thread, "")
    change = None if reason else change_of(kept.output, ours)
    if change is None:
        return Skip(id=thread, reasons=(reason or AS_NEW,))
    effect = _effect(kept, change, ours)
    try:
        return await clean.row(effect)
    except RedactionFailed as error:
        return Skip(id=thread, reasons=(f"it could not be checked for secrets: {error.what}",))


def _effect(kept: KeptRow, change: Change, ours: StageOneOutput | None) -> TakeOverRow:
    row = kept.output if change != "usage" else replace(kept.output, raw_memory="", rollout_summary="")
    return TakeOverRow(
        change=change,
        thread_id=row.thread_id,
        source_updated_at=row.source_updated_at,
        replaces=None if ours is None else ours.source_updated_at,
        raw_memory=row.raw_memory,
        rollout_summary=row.rollout_summary,
        rollout_slug=row.rollout_slug,
        generated_at=row.generated_at,
        usage_count=row.usage_count,
        last_usage=row.last_usage,
        selected_at=kept.selected_at if change == "added" else None,
        cwd=row.cwd,
        rollout_path=row.rollout_path,
        git_branch=row.git_branch,
        memory_mode=row.memory_mode,
    )


class _Cleaner:
    """Redact the texts of rows; labels by the rules alone, and what many rows share only once."""

    def __init__(self, adapters: Adapters) -> None:
        self._adapters = adapters
        self._labels: dict[str, Redaction] = {}

    async def row(self, row: TakeOverRow) -> TakeOverRow:
        """Return a row without secrets. Raises `RedactionFailed`."""
        found: Counter[str] = Counter(row.redactions)
        changes: dict[str, object] = {}
        cleaned = {name: await self._adapters.redact_text(text) for name, text in _given(row, _TEXTS)}
        labels = dict(_given(row, _LABELS))
        fresh = tuple(label for label in dict.fromkeys(labels.values()) if label not in self._labels)
        self._labels.update(zip(fresh, await self._adapters.redact_labels(fresh), strict=True))
        for name, redaction in (cleaned | {name: self._labels[label] for name, label in labels.items()}).items():
            found.update(finding.kind for finding in redaction.findings)
            changes[name] = redaction.text
        return row.model_copy(update=changes | {"redactions": dict(sorted(found.items()))})


def _given(row: TakeOverRow, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        text: str | None = getattr(row, name)
        if text:
            yield name, text


def _jobs(foreign: ForeignMemories, stored: _Stored) -> Iterator[TakeOverJobs]:
    """Yield the effect that takes over how far Codex has worked, where that is further than what is stored here."""
    done = {
        thread: mark
        for thread, mark in sorted(foreign.done.items())
        if thread not in stored.excluded and mark > stored.done.get(thread, 0) and is_thread_id(thread)
    }
    watermark = foreign.watermark if foreign.watermark > stored.watermark else None
    if done or watermark is not None:
        yield TakeOverJobs(done=done, watermark=watermark)


def _notes(foreign: ForeignMemories, rows: Sequence[TakeOverRow], folder: Path | None) -> Iterator[str]:
    yield f"Codex keeps {len(foreign.rows)} memories in {foreign.where}; it is only read, and stays as it is"
    redacted = sum(sum(row.redactions.values()) for row in rows)
    if redacted:
        yield f"{redacted} secrets were taken out; Codex's own rows still hold them"
    yield "what Codex is done with is not extracted again until it changes, or is run from the queue by hand"
    if folder is not None:
        yield f"its memory folder goes on with --memory-root {folder}"
