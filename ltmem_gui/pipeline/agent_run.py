"""A granted consolidation by a model, carried out: the lease, the staged copy, the agent, and the plan that remains.

The memory folder is read and never written here. A run that fails leaves it as it was; its reason, and when the next
try may begin, are on the global job. Design §5.6b: the lease is held while the agent runs and given back when the
proposal is there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ltmem_gui.domain.agent import AgentTranscript
from ltmem_gui.domain.agent_kept import bound, kept
from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt
from ltmem_gui.domain.effects import SendToModel, StartAgent, StoreOutputs
from ltmem_gui.domain.errors import (
    Cancelled,
    GrantMissing,
    KnownError,
    LeaseLost,
    RefusedError,
    StalePlan,
    UsageError,
)
from ltmem_gui.domain.events import Listener, StepReached
from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.jobs import Claim
from ltmem_gui.domain.leases import StageTwo
from ltmem_gui.domain.memory_files import threads_of
from ltmem_gui.domain.memory_items import token_limit
from ltmem_gui.domain.metrics import Meter, phase2_metrics
from ltmem_gui.domain.naming import WORKSPACE_DIFF_FILENAME
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.prices import Bill, money, plain, price_of
from ltmem_gui.domain.tokens import TokenUsage
from ltmem_gui.pipeline.agent import AgentRun, Verdict
from ltmem_gui.pipeline.agent_findings import review_findings
from ltmem_gui.pipeline.agent_tools import Toolbox, is_input
from ltmem_gui.pipeline.approval import require_unmoved
from ltmem_gui.pipeline.consolidation import propose, redact_files
from ltmem_gui.pipeline.extensions import with_seed
from ltmem_gui.pipeline.failure_words import checked, said_all
from ltmem_gui.pipeline.ledger import StoreLedger, change_rows
from ltmem_gui.pipeline.model_consolidation import (
    AgentInput,
    brief_of,
    broken_artifacts,
    input_changes,
    prepare_input,
)
from ltmem_gui.pipeline.ports import Adapters, AgentModel, StagedFolder
from ltmem_gui.pipeline.provider_limits import keep_what_was_heard, refuse_agent_below_limit
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.pipeline.sessions import open_store
from ltmem_gui.pipeline.staged import Staged, selected_rows, stage, validated

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Applied:
    """What a granted plan came to: its receipt, the plan that remains to be confirmed, and how the agent worked."""

    receipt: Receipt
    proposal: Plan | None = None
    transcript: AgentTranscript | None = None


async def run_consolidation(
    adapters: Adapters,
    grant: ApplyGrant,
    *,
    cancel: CancelToken,
    listen: Listener,
    heartbeat_seconds: float = StageTwo.JOB_HEARTBEAT_SECONDS,
) -> Applied:
    """Carry out a plan of kind `consolidate`.

    Raises the grant's own refusals, `LockBusy`, `StalePlan` or `WorkspaceMoved` with nothing begun; `Cancelled` with
    the lease given back; `LeaseLost`; and `AgentFailed`, `ProviderError`, `RedactionFailed` or `InputError` with the
    failure recorded.
    """
    plan = grant.plan
    if plan.kind != "consolidate":
        raise GrantMissing(f"the grant is for a plan of kind {plan.kind}, not for a consolidation")
    grant.consume()
    home = Path(plan.home)
    if not await adapters.offload.thread(home.is_dir):
        raise StalePlan("the data folder is gone", "make a new plan", plan.home)
    ledger = StoreLedger(adapters, home, grant)
    model = adapters.agent_model(plan.provider.name, plan.settings)
    await refuse_agent_below_limit(adapters, home, model, plan.settings)
    claim = await _claim(adapters, ledger, plan)
    store = adapters.offload.store
    run = _Run(adapters, grant, ledger, claim, cancel, listen)
    try:
        return await _supervised(run, cancel, heartbeat_seconds)
    except LeaseLost:
        raise
    except (Cancelled, asyncio.CancelledError, RefusedError):
        await asyncio.shield(store(_end, ledger.release, claim, run.bill))
        raise
    except KnownError as error:
        told = await asyncio.shield(checked(adapters, error))
        await asyncio.shield(store(_end, ledger.fail, claim, str(told), run.bill))
        if told is error:
            raise
        raise told from None
    except BaseException as error:
        await asyncio.shield(store(_end, ledger.fail, claim, f"internal error: {type(error).__name__}", run.bill))
        raise


async def _claim(adapters: Adapters, ledger: StoreLedger, plan: Plan) -> Claim:
    """Take the lease; one that is won while the caller is cancelled is given back."""
    claiming = asyncio.ensure_future(adapters.offload.store(ledger.claim, plan))
    try:
        return await asyncio.shield(claiming)
    except asyncio.CancelledError:
        (won,) = await asyncio.gather(claiming, return_exceptions=True)
        if isinstance(won, Claim):
            await adapters.offload.store(_end, ledger.release, won)
        raise


def _end(how: Callable[..., None], *arguments: object) -> None:
    """End the lease; what is told is why the run failed, not that its end could not be recorded."""
    try:
        how(*arguments)
    except LeaseLost as error:
        _log.info("the end of the run is its new owner's to record: %s", error.what)
    except (KnownError, OSError) as error:
        _log.warning("the end of the run could not be recorded: %s", error)


async def _supervised(run: _Run, cancel: CancelToken, heartbeat_seconds: float) -> Applied:
    """Run the work beside its heartbeat; end it at once on a wish to stop and on a lost lease."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.call_soon_threadsafe(work.cancel)

    work = asyncio.ensure_future(run.work())
    beat = asyncio.ensure_future(run.beat(heartbeat_seconds))
    try:
        with cancel.watched(stop):
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                beat.result()  # raises: a heart only stops when the lease is lost
            return await work
    except asyncio.CancelledError:
        if cancel.cancelled:
            raise Cancelled from None
        raise
    finally:
        for task in (work, beat):
            task.cancel()
        await asyncio.gather(work, beat, return_exceptions=True)


class _Run:
    """One run under its lease. Lives on the event loop."""

    def __init__(
        self,
        adapters: Adapters,
        grant: ApplyGrant,
        ledger: StoreLedger,
        claim: Claim,
        cancel: CancelToken,
        listen: Listener,
    ) -> None:
        self._adapters = adapters
        self._grant = grant
        self._plan = grant.plan
        self._ledger = ledger
        self._claim = claim
        self._listen = listen
        self._started = adapters.clock()
        self._cancel = cancel
        self._agent: AgentRun | None = None
        self._model: AgentModel | None = None

    @property
    def bill(self) -> Bill:
        """Return what the agent's answers took so far."""
        usage = TokenUsage() if self._agent is None else self._agent.transcript.usage
        mark = self._plan.provider
        price = price_of(self._plan.settings.prices, mark.name, mark.model)
        return Bill(usage, mark.name, mark.model, money(price, usage))

    async def beat(self, seconds: float) -> None:
        """Renew the lease until cancelled. Raises `LeaseLost`."""
        while True:
            await asyncio.sleep(seconds)
            if not await self._adapters.offload.store(self._ledger.heartbeat, self._claim):
                raise _lost()

    async def work(self) -> Applied:
        """Stage, let the agent work, and make the plan that remains."""
        request = _request_of(self._plan)
        staged, prepared = await self._restage(request)
        if staged.row_effects:
            await self._store_decisions()
        transcript, result = await self._let_work(staged, prepared)
        proposal = await self._propose(request, replace(staged, row_effects=()), prepared, result, transcript)
        if not await self._adapters.offload.store(self._ledger.owns, self._claim):
            raise _lost()
        receipt = await asyncio.shield(self._record(staged, proposal, transcript))
        return Applied(receipt, proposal, transcript)

    async def _restage(self, request: Request) -> tuple[Staged, AgentInput]:
        """Stage again under the lease. Raises `StalePlan` unless it is, to the byte, what was confirmed."""
        try:
            staged = await stage(self._adapters, request, self._listen)
        except UsageError as error:
            raise StalePlan(f"a memory of the plan is gone: {error.what}", "make a new plan") from error
        require_unmoved(self._plan, staged.snapshot)
        prepared = await prepare_input(self._adapters, staged, self._cancel)
        same = selected_rows(staged) == self._plan.rows
        if not same or await input_changes(self._adapters, staged, prepared) != self._plan.changes:
            raise StalePlan("the memories moved since the plan was made", "make a new plan", self._plan.home)
        return staged, prepared

    async def _store_decisions(self) -> None:
        async with open_store(self._adapters, Path(self._plan.home), writing=True) as call:
            await call(change_rows, call.store, self._plan, self._adapters.clock())

    async def _let_work(self, staged: Staged, prepared: AgentInput) -> tuple[AgentTranscript, dict[str, bytes]]:
        (agent,) = self._plan.effects_of(StartAgent)
        fence = agent.constraints
        model = self._model = self._adapters.agent_model(self._plan.provider.name, self._plan.settings)
        self._require_same_model(model)
        thread = self._adapters.offload.thread
        lay: AbstractContextManager[StagedFolder] = self._adapters.staged_copy(
            prepared.files, max_bytes=fence.max_bytes, max_files=fence.max_files
        )
        laying = asyncio.ensure_future(thread(lay.__enter__))
        try:
            folder = await asyncio.shield(laying)
            room = token_limit(self._plan.settings.context_window or None)
            run = self._agent = AgentRun(
                model,
                # A quarter of the room at four bytes a token.
                Toolbox(folder, answer_bytes=room),
                fence,
                offload=self._adapters.offload,
                listen=self._listen,
                words=partial(said_all, self._adapters),
                room_tokens=room,
            )
            self._listen(StepReached("agent", f"{model.mark.label}, in a staged copy"))
            brief = brief_of(prepared, agent)
            transcript = await run.run(model.opening(brief), partial(self._check, folder, staged, prepared))
            return transcript, _merged(prepared, await thread(folder.files))
        finally:
            await asyncio.shield(self._remove(laying, lay))
            await asyncio.shield(model.close())

    async def _remove(self, laying: asyncio.Future[StagedFolder], lay: AbstractContextManager[StagedFolder]) -> None:
        """Remove the staged copy; one that is still being laid when the run ends is waited for first."""
        await asyncio.wait({laying})
        if laying.exception() is None:
            await self._adapters.offload.thread(lay.__exit__, None, None, None)

    def _require_same_model(self, model: AgentModel) -> None:
        hosts = {effect.host for effect in self._plan.effects_of(SendToModel)}
        if model.mark != self._plan.provider or (model.mark.host and model.mark.host not in hosts):
            raise GrantMissing(f"the plan does not name {model.mark.host or model.mark.label}", "make a new plan")

    async def _check(self, folder: StagedFolder, staged: Staged, prepared: AgentInput) -> Verdict:
        """Say what does not hold in the copy; only missing or broken artifacts are fatal."""
        result = _merged(prepared, await self._adapters.offload.thread(folder.files))
        findings = await validated(self._adapters, self._plan.settings, staged, result)
        blocking = [f for f in findings if f.severity is Severity.BLOCKING]
        places = (f"- {f.path if f.line is None else f'{f.path}:{f.line}'}: {f.text}" for f in blocking[:40])
        return Verdict("\n".join(places), fatal=bool(broken_artifacts(blocking)))

    async def _propose(
        self,
        request: Request,
        staged: Staged,
        prepared: AgentInput,
        result: dict[str, bytes],
        transcript: AgentTranscript,
    ) -> Plan:
        before = {path: file.data for path, file in staged.snapshot.files.items()}
        clean, redacted = await redact_files(self._adapters, with_seed(result), before)
        reviewed = await self._adapters.offload.cpu(review_findings, clean, before, staged.refused)
        replaced = [f for f in prepared.findings if clean.get(f.path) == prepared.tree.get(f.path)]
        return await propose(
            self._adapters,
            request,
            staged,
            clean,
            mark=self._plan.provider,
            notes=transcript.in_words(),
            redacted=(*replaced, *redacted, *reviewed),
            listen=self._listen,
        )

    def _metrics(self, staged: Staged, proposal: Plan, transcript: AgentTranscript) -> dict[str, int]:
        meter = Meter()
        meter.add(TokenUsage(transcript.tokens_in, transcript.tokens_out))
        return phase2_metrics(
            "succeeded_no_output" if proposal.state is PlanState.EMPTY else "",
            inputs=len(staged.rows),
            milliseconds=(self._adapters.clock() - self._started) * 1000,
            meter=meter,
        )

    async def _record(self, staged: Staged, proposal: Plan, transcript: AgentTranscript) -> Receipt:
        """Record the run and give the lease back; where nothing is to change, that is the success of the job."""
        plan, approval, bill = self._plan, self._grant.approval, self.bill
        before = {path: file.data for path, file in staged.snapshot.files.items()}
        told = {thread for hunk in staged.refused for thread in hunk.thread_ids}
        texts = kept(transcript, staged.all_threads | threads_of(before) | threads_of(staged.files) | told)
        receipt = Receipt(
            operation_number=0,
            operation=plan.operation,
            kind=plan.kind,
            plan_digest=plan.digest,
            selection_digest=self._grant.selection.digest,
            approver=approval.approver,
            surface=approval.surface,
            started_at=self._started,
            finished_at=self._adapters.clock(),
            counts=transcript.counts(),
            redactions=_redactions(plan),
            steps=transcript.rows(),
            transcript=texts,
            transcript_sha256=bound(texts),
            metrics=self._metrics(staged, proposal, transcript),
            costs={paid.currency: plain(paid.amount)} if (paid := bill.money) else {},
            cost_unknown=0 if bill.money else 1,
        )
        now = self._adapters.clock()
        async with open_store(self._adapters, Path(plan.home), writing=True) as call:
            await keep_what_was_heard(call, plan.provider, self._model, self._started)
            if proposal.state is PlanState.EMPTY:
                rows = selected_rows(staged)
                return await call(
                    call.store.finish_global,
                    self._claim,
                    watermark=staged.watermark,
                    rows=rows,
                    receipt=receipt,
                    now=now,
                    bill=bill,
                )
            numbered = await call(call.store.record_receipt, receipt)
            await call(call.store.release_global, self._claim, now=now, bill=bill)
            return numbered


def _merged(prepared: AgentInput, found: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the folder as the agent leaves it: inputs as the program made them, and files it never saw."""
    made = {path: data for path, data in found.items() if not is_input(path)}
    inputs = {path: data for path, data in prepared.tree.items() if is_input(path)}
    return made | inputs | {p: d for p, d in prepared.unchecked.items() if p != WORKSPACE_DIFF_FILENAME}


def _redactions(plan: Plan) -> dict[str, dict[str, int]]:
    """Return what was taken out of what the agent saw."""
    found = [dict(effect.redactions) for effect in plan.effects_of(SendToModel)]
    return {"input": found[0]} if found and found[0] else {}


def _request_of(plan: Plan) -> Request:
    """Return the request a plan was made from, with the decisions of its input review."""
    changes = [change for effect in plan.effects_of(StoreOutputs) for change in effect.edited]
    decided = [change for change in changes if "excluded" in change]
    return Request(
        home=Path(plan.home),
        memory_root=Path(plan.memory_root),
        settings=plan.settings,
        provider=plan.provider.name,
        exclude=frozenset(c["thread_id"] for c in decided if c["excluded"]),
        lift=frozenset(c["thread_id"] for c in decided if not c["excluded"]),
        edits={c["thread_id"]: c["raw_memory"] for c in changes if "raw_memory" in c},
        refused=plan.refused,
    )


def _lost() -> LeaseLost:
    return LeaseLost("another run took the lease over", "make a new plan")
