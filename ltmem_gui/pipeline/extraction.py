"""Phase 1: claim, prepare, extract, redact, store — at most eight at once, each under a lease of its own.

No job can take the run down with it: every failure is recorded on its job with a reason and a group, and the run
goes on. Nothing is retried within a run (mission: "do not hot-loop").
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ltmem_gui.domain.audit_evidence import EXTRACTED, EvidenceChange, extracted_evidence
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.effects import (
    ClaimJobs,
    CreateDataFolder,
    CreditUsage,
    DeleteFile,
    PlannedJob,
    PruneOutputs,
    SendToModel,
    UpdateJobs,
)
from ltmem_gui.domain.errors import (
    AlreadyApplied,
    Cancelled,
    GrantMissing,
    InputError,
    KnownError,
    LeaseLost,
    ProviderError,
    RedactionFailed,
    StalePlan,
)
from ltmem_gui.domain.events import (
    JobFinished,
    JobNoted,
    JobPrepared,
    JobStarted,
    LeaseRenewed,
    Listener,
    RunProgressed,
)
from ltmem_gui.domain.evidence import lines_of, references_supported
from ltmem_gui.domain.extraction import (
    BadReply,
    Candidate,
    ExtractionInput,
    ExtractionReply,
    StageOneOutput,
    StageOneReply,
    decode_reply,
)
from ltmem_gui.domain.jobs import STAGE1_KIND, Claim, ClaimOutcome, ClaimResult, JobOutcome
from ltmem_gui.domain.leases import StageOne, StageTwo
from ltmem_gui.domain.memory_items import token_limit
from ltmem_gui.domain.metrics import Meter, phase1_metrics
from ltmem_gui.domain.plan import Plan
from ltmem_gui.domain.prices import Bill, plain
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.pipeline.failure_words import checked
from ltmem_gui.pipeline.ports import Adapters, Extractor, SplittingExtractor
from ltmem_gui.pipeline.provider_limits import keep_what_was_heard, recall_forms, refuse_below_limit
from ltmem_gui.pipeline.provider_ports import LimitedExtractor
from ltmem_gui.pipeline.row_apply import change_jobs
from ltmem_gui.pipeline.sessions import StoreCall, open_store
from ltmem_gui.pipeline.spending import Spending

CONCURRENCY_LIMIT = 8
SLOT_WAIT_SECONDS = 0.5
SLOT_PATIENCE_SECONDS = 60.0
STOPPED = "the run was stopped before it"
NOT_BEGUN = "cancelled by you before it began"
CANCELLED_ALONE = "cancelled by you; its try is not lost"

_log = logging.getLogger(__name__)


async def run_extraction(adapters: Adapters, grant: ApplyGrant, *, cancel: CancelToken, listen: Listener) -> Receipt:
    """Carry out an extraction plan and return its receipt.

    Raises `AlreadyApplied`, `StalePlan`, the grant's own refusals, and `Cancelled` after every lease was given back.
    """
    plan = grant.plan
    if plan.kind != "extract":
        raise GrantMissing(f"the grant is for a plan of kind {plan.kind}, not for an extraction")
    grant.consume()
    started = adapters.clock()
    home = Path(plan.home)
    if plan.effects_of(CreateDataFolder):
        await adapters.offload.store(adapters.stores.create_home, home)
    elif not await adapters.offload.thread(home.is_dir):
        raise StalePlan("the data folder is gone", "make a new plan", plan.home)
    async with open_store(adapters, home, writing=True) as call:
        if await call(call.store.receipt_of, plan.digest) is not None:
            raise AlreadyApplied("this plan was carried out already", "make a new plan", plan.home)
        await refuse_below_limit(adapters, call, plan)
        await call(call.store.record_approval, grant.approval)
        run = _Run(adapters, call, plan, cancel, listen)
        await recall_forms(call, run.extractor.mark, run.extractor, started)
        try:
            await run.change_rows()
            await run.extract_all()
        finally:
            receipt = await asyncio.shield(_record(call, grant, run, started, adapters.clock()))
    if cancel.cancelled:
        raise Cancelled
    return receipt


async def _record(call: StoreCall, grant: ApplyGrant, run: _Run, started: int, finished: int) -> Receipt:
    spent = run.spending.money
    receipt = Receipt(
        operation_number=0,
        operation=grant.plan.operation,
        kind=grant.plan.kind,
        plan_digest=grant.plan.digest,
        selection_digest=grant.selection.digest,
        approver=grant.approval.approver,
        surface=grant.approval.surface,
        started_at=started,
        finished_at=finished,
        counts=dict(sorted(run.counts.items())),
        metrics=phase1_metrics(run.counts, run.meter, milliseconds=run.milliseconds),
        redactions={place: dict(sorted(kinds.items())) for place, kinds in run.redactions.items() if kinds},
        costs={} if spent is None else {spent.currency: plain(spent.amount)},
        cost_unknown=run.spending.unknown,
    )
    recorded = await call(call.store.record_receipt, receipt)
    await keep_what_was_heard(call, run.extractor.mark, run.extractor, started)
    return recorded


class _Run:
    """One run over the jobs of a plan. Lives on the event loop; the store is reached through `call`."""

    def __init__(self, adapters: Adapters, call: StoreCall, plan: Plan, cancel: CancelToken, listen: Listener) -> None:
        self._adapters = adapters
        self._call = call
        self._plan = plan
        self._cancel = cancel
        self._listen = listen
        self.extractor: Extractor = adapters.extractor(plan.provider.name, plan.settings)
        self._live: dict[str, Claim] = {}
        self._claiming: set[asyncio.Future[ClaimResult]] = set()
        self._hosts = {effect.host for effect in plan.effects_of(SendToModel)}
        self._began = asyncio.get_running_loop().time()
        limited = self.extractor if isinstance(self.extractor, LimitedExtractor) else None
        self.spending = Spending(
            plan.settings,
            self.extractor.mark,
            clock=adapters.clock,
            limits=lambda: None if limited is None else limited.limits,
        )
        self.meter = Meter()
        self.counts: Counter[str] = Counter()
        self.redactions: dict[str, Counter[str]] = {"input": Counter(), "output": Counter()}

    @property
    def milliseconds(self) -> int:
        """Return how long the run has taken."""
        return round((asyncio.get_running_loop().time() - self._began) * 1000)

    async def change_rows(self) -> None:
        """Do what the plan does before: credit uses, end the back-off of jobs, delete the rows it names."""
        for effect in self._plan.effects_of(CreditUsage):
            now = self._adapters.clock()
            self.counts["credited"] += await self._call(self._call.store.credit_usage, effect.credits, now=now)
        for effect in self._plan.effects_of(UpdateJobs):
            if effect.jobs:
                await self._call(change_jobs, self._call.store, effect, self._adapters.clock())
        for effect in self._plan.effects_of(PruneOutputs):
            self.counts["pruned"] += await self._call(self._call.store.prune, effect.thread_ids)
        if self._plan.effects_of(DeleteFile):
            # The only file an extraction plan names is the undo image that is past its time.
            await self._call(self._adapters.undo.discard, Path(self._plan.home))

    async def extract_all(self) -> None:
        """Work through the plan's list with eight workers until it is done or cancelled."""
        jobs = [job for effect in self._plan.effects_of(ClaimJobs) for job in effect.jobs]
        host = self.extractor.mark.host
        if jobs and host and host not in self._hosts:
            raise GrantMissing(f"the plan does not name the host {host}", "make a new plan")
        waiting = await self._labelled(jobs)
        workers = [asyncio.ensure_future(self._work(waiting, len(jobs))) for _ in range(CONCURRENCY_LIMIT)]
        beat = asyncio.ensure_future(self._beat())
        loop = asyncio.get_running_loop()

        def stop() -> None:
            for worker in workers:
                loop.call_soon_threadsafe(worker.cancel)

        try:
            with self._cancel.watched(stop):
                await asyncio.gather(*workers)
        except asyncio.CancelledError:
            if not self._cancel.cancelled:
                raise
        finally:
            for task in (*workers, beat):
                task.cancel()
            await asyncio.gather(*workers, beat, return_exceptions=True)
            await asyncio.gather(*self._claiming, return_exceptions=True)
            for job in jobs:
                # What was asked and cut off may be billed all the same: the receipt must not call its cost known.
                await self.spending.release(job)
            await asyncio.shield(self._release_all())
            await asyncio.shield(self.extractor.close())

    async def _work(self, waiting: Iterator[PlannedJob], total: int) -> None:
        for job in waiting:
            stop = STOPPED if self._cancel.cancelled else await self.spending.admit(job)
            if stop:
                outcome, reason, bill = JobOutcome.SKIPPED, stop, None
            else:
                outcome, reason, bill = await self._stoppable(job)
                await self.spending.release(job)
            self.counts[outcome.value] += 1
            tokens = (bill.usage.input, bill.usage.output) if bill else (None, None)
            self._listen(JobFinished(job.thread_id, outcome.value, reason, *tokens))
            self._listen(RunProgressed(sum(self.counts[outcome.value] for outcome in JobOutcome), total))

    async def _stoppable(self, job: PlannedJob) -> tuple[JobOutcome, str, Bill | None]:
        """Work on one job until it ends or a person cancels just this one: its lease is given back, its try kept."""
        part = self._cancel.part(job.thread_id)
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        assert me is not None
        if part.cancelled:
            return JobOutcome.SKIPPED, NOT_BEGUN, None
        work = asyncio.ensure_future(self._one(job))

        def stop() -> None:
            loop.call_soon_threadsafe(work.cancel)

        try:
            with part.watched(stop):
                return await work
        except asyncio.CancelledError:
            if me.cancelling() or not part.cancelled:
                raise
        return (*await self._give_back(job.thread_id), None)

    async def _give_back(self, thread_id: str) -> tuple[JobOutcome, str]:
        """End the lease of a job that a person cancelled; what was stored a moment before stays and is said."""
        await asyncio.gather(*self._claiming, return_exceptions=True)
        # Listed until it is given back: the end of the whole run may come in between.
        claim = self._live.get(thread_id)
        if claim is None:
            return JobOutcome.SKIPPED, NOT_BEGUN
        store, now = self._call.store, self._adapters.clock()
        released = JobOutcome.RELEASED
        await self._call(store.release_stage1, claim, outcome=released.value, reason=CANCELLED_ALONE, now=now)
        self._live.pop(thread_id, None)
        job = await self._call(store.job, STAGE1_KIND, thread_id)
        ended = JobOutcome(job.last_outcome) if job is not None and job.last_outcome else released
        return ended, CANCELLED_ALONE if ended is released else ""

    async def _one(self, job: PlannedJob) -> tuple[JobOutcome, str, Bill | None]:
        claim, reason = await self._claim(job)
        if claim is None:
            return JobOutcome.SKIPPED, reason, None
        self._listen(JobStarted(job.thread_id, claim.attempt, str(claim.owner), claim.lease_until))
        result = await self._attempt(job, claim)
        # Not reached when the task is cancelled: the lease stays listed, and `extract_all` gives it back.
        self._live.pop(job.thread_id, None)
        return result

    async def _attempt(self, job: PlannedJob, claim: Claim) -> tuple[JobOutcome, str, Bill | None]:
        bill: Bill | None = None
        known: tuple[str, ...] = ()
        try:
            changed = await self._changed(job)
            if changed is not None:
                await self._end_unread(claim, changed)
                return changed, changed.value, None
            prepared = await self._adapters.preparer.prepare(
                _ref(job), token_limit=token_limit(self._plan.settings.context_window or None)
            )
            known = prepared.known_values
            self.redactions["input"].update(prepared.redactions)
            self._tell_prepared(job, prepared)
            reply = await self._ask(job, prepared)
            bill = await self._billed(job, reply.usage)
            outcome, note = await self._finish(job, claim, prepared, reply, bill)
        except LeaseLost as error:
            return JobOutcome.LEASE_LOST, error.what, bill
        except KnownError as error:
            if isinstance(error, ProviderError):
                bill = await self._billed(job, error.usage, error)
            said = await checked(self._adapters, error, known)
            return await self._failed(claim, said, bill), str(said), bill
        except Exception as error:  # noqa: BLE001 - a bug in one rollout must not cost the others
            # The log carries the traceback to the crash report; the job carries the fact.
            _log.exception("extraction of %s failed", job.thread_id)
            bug = InputError(f"internal error: {type(error).__name__}")
            return await self._failed(claim, bug, bill, group="bug"), bug.what, bill
        return outcome, note, bill

    async def _billed(self, job: PlannedJob, usage: TokenUsage | None, error: ProviderError | None = None) -> Bill:
        """Count what an attempt took, also one whose answer cannot be used."""
        if usage is not None:
            self.meter.add(usage)
        bill = await self.spending.settle(job, usage, error)
        self._listen(self.spending.report())
        return bill

    def _tell_prepared(self, job: PlannedJob, prepared: ExtractionInput) -> None:
        sizes = (prepared.tokens_before, prepared.tokens, prepared.truncated)
        self._listen(JobPrepared(job.thread_id, *sizes, dict(prepared.redactions)))
        mark = self.extractor.mark
        where = f"{mark.host}, model {mark.model}" if mark.host else mark.label
        parts = f", in parts of {job.split} tokens" if job.split else ""
        self._listen(JobNoted(job.thread_id, "debug", f"asking {where}{parts}"))

    async def _ask(self, job: PlannedJob, prepared: ExtractionInput) -> ExtractionReply:
        """Ask the provider, in parts where the plan says so."""
        self.spending.asking(job)
        if not job.split:
            return await self.extractor.extract(prepared)
        if not isinstance(self.extractor, SplittingExtractor):
            raise InputError(f"{self.extractor.mark.name} reads a rollout whole", "make a plan without split")
        return await self.extractor.extract_split(prepared, job.split)

    async def _labelled(self, jobs: list[PlannedJob]) -> Iterator[PlannedJob]:
        """Pass what job rows say in words through the choke point; a plan may come from elsewhere.

        Each job is made when its turn comes: a thousand at once would hold the loop.
        """
        try:
            titles = [found.text for found in await self._adapters.redact_texts(tuple(job.title for job in jobs))]
        except RedactionFailed:
            titles = [""] * len(jobs)
        return (job.model_copy(update={"title": title}) for job, title in zip(jobs, titles, strict=True))

    async def _claim(self, job: PlannedJob) -> tuple[Claim | None, str]:
        """Win a lease; wait a while when other processes use all slots."""
        waited = 0.0
        while True:
            claiming = asyncio.ensure_future(self._claim_once(job))
            self._claiming.add(claiming)
            claiming.add_done_callback(self._claiming.discard)
            result = await asyncio.shield(claiming)
            if result.outcome is not ClaimOutcome.AT_CAP or waited >= SLOT_PATIENCE_SECONDS:
                return result.claim, result.outcome.value
            await asyncio.sleep(SLOT_WAIT_SECONDS)
            waited += SLOT_WAIT_SECONDS

    async def _claim_once(self, job: PlannedJob) -> ClaimResult:
        """Try to claim; a lease is listed at once, so that a worker that is cancelled meanwhile does not lose it."""
        result = await self._call(
            self._call.store.claim_stage1,
            job,
            self._adapters.owner,
            now=self._adapters.clock(),
            cap=CONCURRENCY_LIMIT,
        )
        if result.claim is not None:
            self._live[job.thread_id] = result.claim
        return result

    async def _changed(self, job: PlannedJob) -> JobOutcome | None:
        now = await self._adapters.offload.thread(self._adapters.rollouts.fingerprint, _ref(job))
        if now is None:
            return JobOutcome.SOURCE_MISSING
        if (now.size, now.mtime_ns) != (job.size, job.mtime_ns):
            return JobOutcome.CHANGED
        return None

    async def _end_unread(self, claim: Claim, outcome: JobOutcome) -> None:
        now = self._adapters.clock()
        if outcome is JobOutcome.SOURCE_MISSING:
            await self._call(
                self._call.store.fail_stage1,
                claim,
                outcome=outcome.value,
                group="source",
                reason="the rollout file is gone",
                now=now,
                retry_after=None,
            )
        else:
            await self._call(
                self._call.store.release_stage1, claim, outcome=outcome.value, reason=outcome.value, now=now
            )

    async def _finish(
        self, job: PlannedJob, claim: Claim, prepared: ExtractionInput, reply: ExtractionReply, bill: Bill
    ) -> tuple[JobOutcome, str]:
        decoded = decode_reply(reply.text)
        kept = StageOneReply.nothing() if decoded.is_no_op else decoded
        clean, inbox = await self._clean(kept, reply.inbox, prepared.known_values)
        reply = replace(reply, inbox=inbox)
        now = self._adapters.clock()
        if decoded.is_no_op:
            await self._call(self._call.store.succeed_stage1_no_output, claim, reply, now=now, bill=bill)
            return JobOutcome.NO_OUTPUT, ""
        output = StageOneOutput(
            thread_id=job.thread_id,
            source_updated_at=job.source_updated_at,
            raw_memory=clean.raw_memory,
            rollout_summary=clean.rollout_summary,
            rollout_slug=clean.rollout_slug or None,
            generated_at=now,
            cwd=prepared.cwd,
            rollout_path=prepared.rollout_path,
            git_branch=prepared.git_branch,
        )
        await self._call(self._call.store.succeed_stage1, claim, output, reply, now=now, bill=bill)
        said = (output.raw_memory, output.rollout_summary)
        evidence = extracted_evidence(said, output.thread_id, prepared.line_hashes, at=now)
        if evidence:
            await self._call(self._call.store.change_evidence, EXTRACTED, EvidenceChange(evidence))
        return JobOutcome.SUCCEEDED, self._doubts(clean, prepared)

    def _doubts(self, reply: StageOneReply, prepared: ExtractionInput) -> str:
        """Say which references of a model do not hold in the rollout; the built-in rules quote and need no check."""
        if not self.extractor.mark.host:
            return ""
        found = references_supported(reply, prepared.thread_id, lines_of(prepared.items))
        return f"{len(found)} references do not hold: {found[0].text}" if found else ""

    async def _clean(
        self, reply: StageOneReply, inbox: tuple[Candidate, ...], known: tuple[str, ...]
    ) -> tuple[StageOneReply, tuple[Candidate, ...]]:
        """Redact every field of the output, the slug included, and the inbox lines."""
        texts = (reply.raw_memory, reply.rollout_summary, reply.rollout_slug, *(line.text for line in inbox))
        if not any(texts):
            return reply, inbox
        found = await self._adapters.redact_texts(texts, known)
        self.redactions["output"].update(finding.kind for each in found for finding in each.findings)
        memory, summary, slug, *lines = [each.text for each in found]
        clean = StageOneReply(raw_memory=memory, rollout_summary=summary, rollout_slug=slug)
        return clean, tuple(replace(line, text=text) for line, text in zip(inbox, lines, strict=True))

    async def _failed(self, claim: Claim, error: KnownError, bill: Bill | None, *, group: str = "") -> JobOutcome:
        """Record a failure, with what an answer took that could not be used.

        A lease that was lost meanwhile has an owner who records instead.
        """
        try:
            await self._call(
                self._call.store.fail_stage1,
                claim,
                outcome=JobOutcome.FAILED.value,
                group=group or _group(error),
                reason=str(error),
                now=self._adapters.clock(),
                retry_after=error.retry_after if isinstance(error, ProviderError) else None,
                bill=bill,
            )
        except LeaseLost:
            return JobOutcome.LEASE_LOST
        return JobOutcome.FAILED

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(StageTwo.JOB_HEARTBEAT_SECONDS)
            for claim in tuple(self._live.values()):
                now = self._adapters.clock()
                if await self._call(self._call.store.heartbeat_stage1, claim, now):
                    self._listen(LeaseRenewed(claim.job_key, now + StageOne.JOB_LEASE_SECONDS))
                else:
                    self._listen(JobNoted(claim.job_key, "warning", "the lease is another worker's by now"))

    async def _release_all(self) -> None:
        for claim in tuple(self._live.values()):
            await self._call(
                self._call.store.release_stage1,
                claim,
                outcome=JobOutcome.RELEASED.value,
                reason="the run was cancelled",
                now=self._adapters.clock(),
            )
            self.counts[JobOutcome.RELEASED.value] += 1
        self._live.clear()


def _ref(job: PlannedJob) -> RolloutRef:
    return RolloutRef(
        job.agent, job.path, job.size, job.mtime_ns, job.thread_id, root=job.root, copied_from=job.copied_from
    )


def _group(error: KnownError) -> str:
    if isinstance(error, ProviderError):
        return error.group
    if isinstance(error, BadReply):
        return "schema"
    return "redaction" if isinstance(error, RedactionFailed) else "input"
