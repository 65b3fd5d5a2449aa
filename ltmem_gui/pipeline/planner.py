"""Phase-1 plans: which rollouts, what leaves this computer, what is written. Takes no lock and no lease."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.effects import (
    ClaimJobs,
    CreateDataFolder,
    CreditUsage,
    DeleteFile,
    Effect,
    PlannedJob,
    PruneOutputs,
    SendToModel,
    StoreOutputs,
    UpdateJobs,
)
from ltmem_gui.domain.errors import InputError, RedactionFailed, RefusedError, UsageError
from ltmem_gui.domain.events import Listener, ScanProgressed, StepReached
from ltmem_gui.domain.extraction import ExtractionInput
from ltmem_gui.domain.leases import StageOne
from ltmem_gui.domain.memory_items import token_limit
from ltmem_gui.domain.plan import Plan, PlanState, ProviderMark, Skip, SourceMark
from ltmem_gui.domain.providers import is_loopback_host
from ltmem_gui.pipeline.extraction import CONCURRENCY_LIMIT
from ltmem_gui.pipeline.guard import guard
from ltmem_gui.pipeline.ports import Adapters, Extractor, ScannedRollout, SplittingExtractor
from ltmem_gui.pipeline.provider_limits import REMEDY, known_limits, refuse_below
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.scanning import scan
from ltmem_gui.pipeline.sessions import open_store
from ltmem_gui.pipeline.spending import Budget, requests_of
from ltmem_gui.pipeline.usage import uncredited

PARTS = 4
SMALLEST_PART = 256


async def plan_extract(adapters: Adapters, request: Request, *, cancel: CancelToken, listen: Listener) -> Plan:
    """Plan one extraction run; the plan is `EMPTY` when nothing is waiting.

    Raises what `scan` raises, and `ProviderError` or `UsageError` for a provider that cannot be used.
    """
    report = await scan(adapters, request, cancel=cancel, listen=listen)
    eligible = [r for r in report.rollouts if r.eligibility.eligible]
    taken = eligible[: request.settings.max_rollouts_per_run]
    skipped = [_skip(r) for r in report.rollouts if not r.eligibility.eligible]
    limit = f"over max_rollouts_per_run ({request.settings.max_rollouts_per_run}); the next run takes it"
    skipped += [Skip(id=r.id, path=r.path, reasons=(limit,)) for r in eligible[len(taken) :]]
    skipped += [Skip(id="", path=f.path, reasons=(f.reason,)) for f in report.skipped_files]
    credited = await uncredited(adapters, request, report.rollouts)
    used = {credit["cited_id"] for credit in credited}
    prune = tuple(thread for thread in await _prunable(adapters, request) if thread not in used)
    chosen = Chosen(tuple(taken), tuple(skipped), prune=prune, credits=credited)
    return await plan_chosen(adapters, request, report, chosen, cancel=cancel, listen=listen)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a run is to do: the rollouts it takes, what is left out and why, and what happens before.

    `before` are effects carried out first; `split` extracts each rollout in parts and merges them.
    """

    rollouts: tuple[ScannedRollout, ...]
    skipped: tuple[Skip, ...] = ()
    before: tuple[Effect, ...] = ()
    prune: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    split: bool = False
    credits: tuple[dict[str, str], ...] = ()


async def plan_chosen(
    adapters: Adapters, request: Request, report: ScanReport, chosen: Chosen, *, cancel: CancelToken, listen: Listener
) -> Plan:
    """Plan to extract exactly the chosen rollouts; the plan is `EMPTY` when there is nothing to do.

    Raises `RefusedError` below the rate limit, `UsageError` for a provider that cannot be used or cannot split.
    """
    extractor = adapters.extractor(request.provider, request.settings)
    mark = extractor.mark
    if chosen.split and not isinstance(extractor, SplittingExtractor):
        raise UsageError(f"the provider {mark.name} reads a rollout whole", "split with a model on a server")
    if mark.host:
        await _refuse_below_limit(adapters, request, report.rollouts, extractor)
    jobs, unfit = await _plan_jobs(adapters, request, chosen, mark, cancel, listen)
    expired = await adapters.offload.store(adapters.undo.expired, request.home, adapters.clock())

    def made() -> Plan:
        return Plan(
            kind="extract",
            operation="extract",
            id=uuid.uuid4().hex,
            created_at=adapters.clock(),
            state=PlanState.APPLYABLE if jobs or chosen.prune or chosen.credits else PlanState.EMPTY,
            home=str(request.home),
            memory_root=str(request.memory_root or ""),
            provider=mark,
            settings=request.settings,
            sources=tuple(SourceMark(agent=s.agent, path=s.path) for s in request.sources),
            effects=(*_effects(request, jobs, mark, chosen), *_removals(expired, jobs, chosen)),
            skipped=(*chosen.skipped, *unfit),
            notes=(*_notes(report.rollouts, jobs), *_dear(request, mark, jobs), *chosen.notes),
        ).sealed()

    return await adapters.offload.thread(made)


async def _refuse_below_limit(
    adapters: Adapters, request: Request, rollouts: tuple[ScannedRollout, ...], extractor: Extractor
) -> None:
    """Leave what is left of a limit to the person's own work; the built-in rules use none and are not held back."""
    least, now = request.settings.min_rate_limit_remaining_percent, adapters.clock()
    verdict = guard((r.rate_limits for r in rollouts), min_remaining_percent=least, now=now)
    if not verdict.allowed:
        raise RefusedError(verdict.text, REMEDY)
    async with open_store(adapters, request.home, writing=False) as call:
        known = await known_limits(call, extractor.mark, extractor)
    refuse_below(known, request.settings, now)


async def _plan_jobs(
    adapters: Adapters,
    request: Request,
    chosen: Chosen,
    mark: ProviderMark,
    cancel: CancelToken,
    listen: Listener,
) -> tuple[list[PlannedJob], list[Skip]]:
    """Fix the fingerprint of each rollout; where text will leave, redact it now so that it can be shown."""
    clean = await _clean_labels(adapters, chosen.rollouts)
    if not mark.host:
        return await adapters.offload.thread(lambda: [_job(clean, r) for r in chosen.rollouts]), []
    listen(StepReached("redacting", "in memory only, to show what would be sent"))
    jobs: list[PlannedJob] = []
    unfit: list[Skip] = []
    limit = token_limit(request.settings.context_window or None)
    for rollout in chosen.rollouts:
        cancel.check()
        try:
            prepared = await adapters.preparer.prepare(rollout.ref, token_limit=limit)
        except (InputError, RedactionFailed) as error:
            unfit.append(Skip(id=rollout.id, path=rollout.path, reasons=(error.what,)))
        else:
            job = _job(clean, rollout, prepared)
            jobs.append(_in_parts(job, prepared, limit) if chosen.split else job)
        listen(ScanProgressed(len(jobs) + len(unfit), len(chosen.rollouts), rollout.path))
    return jobs, unfit


async def _clean_labels(adapters: Adapters, rollouts: tuple[ScannedRollout, ...]) -> Mapping[str, str]:
    """Return each label as the rules of redaction leave it, since a plan is kept as a file."""
    labels = dict.fromkeys(label for r in rollouts for label in (r.cwd, r.git_branch, r.title) if label)
    cleaned = await adapters.redact_labels(tuple(labels))
    return {label: redaction.text for label, redaction in zip(labels, cleaned, strict=True)}


def _job(clean: Mapping[str, str], rollout: ScannedRollout, prepared: ExtractionInput | None = None) -> PlannedJob:
    """Describe one job."""
    return PlannedJob(
        thread_id=rollout.id,
        agent=rollout.agent,
        path=rollout.ref.path,
        size=rollout.ref.size,
        mtime_ns=rollout.ref.mtime_ns,
        root=rollout.ref.root,
        copied_from=rollout.ref.copied_from,
        source_updated_at=rollout.updated_at or 0,
        cwd=clean.get(rollout.cwd, ""),
        git_branch=None if rollout.git_branch is None else clean.get(rollout.git_branch, ""),
        title=clean.get(rollout.title, ""),
        tokens=rollout.tokens,
        tokens_sent=prepared.tokens if prepared else 0,
        redactions=dict(prepared.redactions) if prepared else {},
    )


def _in_parts(job: PlannedJob, prepared: ExtractionInput, limit: int) -> PlannedJob:
    """Mark a job to be extracted in parts: of the size the window allows, of a quarter where that is not enough."""
    whole = prepared.tokens_before
    size = min(limit, max(-(-whole // PARTS), SMALLEST_PART))
    return job.model_copy(update={"split": size, "tokens_sent": whole})


async def _prunable(adapters: Adapters, request: Request) -> tuple[str, ...]:
    async with open_store(adapters, request.home, writing=False) as call:
        return await call(
            call.store.prunable, adapters.clock(), request.settings.max_unused_days, StageOne.PRUNE_BATCH_SIZE
        )


def _effects(request: Request, jobs: list[PlannedJob], mark: ProviderMark, chosen: Chosen) -> tuple[Effect, ...]:
    effects: list[Effect] = []
    prune = chosen.prune
    if chosen.credits:
        effects.append(CreditUsage(credits=chosen.credits))
    if (jobs or prune) and not Path(request.home).exists():
        effects.append(CreateDataFolder(path=str(request.home)))
    if prune:
        days = request.settings.max_unused_days
        effects.append(PruneOutputs(thread_ids=prune, reason=f"unused for {days} days and not in the baseline"))
    if not jobs:
        return tuple(effects)
    effects.extend(chosen.before)
    if mark.host:
        redactions: Counter[str] = Counter()
        for job in jobs:
            redactions.update(job.redactions)
        send = SendToModel(
            provider=mark.name,
            host=mark.host,
            model=mark.model,
            requests=sum(requests_of(job) for job in jobs),
            tokens=sum(job.tokens_sent for job in jobs),
            redactions=dict(sorted(redactions.items())),
            loopback=is_loopback_host(urlsplit(f"//{mark.host}").hostname or ""),
        )
        effects.append(Budget.of(request.settings, mark).priced(send, jobs, CONCURRENCY_LIMIT))
    effects.append(ClaimJobs(jobs=tuple(jobs), concurrency=CONCURRENCY_LIMIT, lease_seconds=StageOne.JOB_LEASE_SECONDS))
    effects.append(StoreOutputs(count=len(jobs)))
    effects.append(UpdateJobs(scope="stage1", count=len(jobs)))
    return tuple(effects)


def _removals(expired: str, jobs: list[PlannedJob], chosen: Chosen) -> tuple[Effect, ...]:
    """Name the undo image that is past its time; it rides along with a plan that has something to do."""
    if not expired or not (jobs or chosen.prune or chosen.credits):
        return ()
    return (DeleteFile(path=expired, reason="the undo image of the last apply is past its 24 hours"),)


def _skip(rollout: ScannedRollout) -> Skip:
    return Skip(id=rollout.id, path=rollout.path, reasons=tuple(r.text for r in rollout.eligibility.failed))


def _dear(request: Request, mark: ProviderMark, jobs: list[PlannedJob]) -> tuple[str, ...]:
    """Say how many sessions the limit of money would leave out by themselves."""
    budget = Budget.of(request.settings, mark)
    dear = sum(budget.most(job) > budget.limit for job in jobs) if budget.limited else 0
    if not dear:
        return ()
    return (f"{dear} of them may cost more than the limit of money each, so that they are not taken",)


def _notes(rollouts: tuple[ScannedRollout, ...], jobs: list[PlannedJob]) -> tuple[str, ...]:
    damaged = sum(1 for r in rollouts if r.skipped_lines)
    notes = [f"{len(rollouts)} rollouts found, {len(jobs)} to extract"]
    if damaged:
        notes.append(f"{damaged} rollouts hold lines that could not be read; `ltmem-gui rollout PATH` lists them")
    return tuple(notes)
