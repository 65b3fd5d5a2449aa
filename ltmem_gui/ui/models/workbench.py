"""What the window knows and does, without widgets: named folders, the scan, a run from press to receipt.

Nothing is read before `scan`, `estimate`, `run` or a panel's `read_folder`/`read_receipts` is asked for by a person.
Every effect goes through `confirm`, which a surface injects; without a yes nothing happens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.cancel import CancelToken
from ltmem_gui.domain.consent import ApplyGrant, Receipt, Selection
from ltmem_gui.domain.errors import Cancelled, KnownError, UsageError
from ltmem_gui.domain.events import Event, Listener
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.domain.review import all_accepted
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.agent_run import Applied
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.requests import Request, ScanReport
from ltmem_gui.pipeline.row_plans import InboxWish
from ltmem_gui.ui.bridge.awaiting import next_turn
from ltmem_gui.ui.bridge.signals import AppEvents
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.models.agent_work import AgentEnd, Wish, run_agent
from ltmem_gui.ui.models.formats import plural
from ltmem_gui.ui.models.phase_two import lock_in_words
from ltmem_gui.ui.models.run_events import followed
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.workbench_values import Folders as Folders
from ltmem_gui.ui.models.workbench_values import Notice as Notice
from ltmem_gui.ui.models.workbench_values import Seen as Seen
from ltmem_gui.ui.models.workbench_values import Task

RUN_TASK = "run"
FOLDER_TASK = "read.folder"
RECEIPTS_TASK = "read.receipts"
LOCK_WAIT_SECONDS = 1.0

Confirm = Callable[[Plan, Selection], Awaitable[bool]]
Planning = Callable[[CancelToken, Listener], Awaitable[Plan]]
Work = Callable[[Task], Awaitable[None]]


async def _nothing() -> None:
    return


class Workbench(QObject):
    """Run the use cases for the window.

    Signals: `folders_changed`, `run_changed` (`RunState`), `seen_changed` (`Seen`), `estimated` (`Plan`),
    `events_arrived` (tuple), `plan_made` (`Plan` to review), `receipt_made` (`Receipt`), `noticed` (`Notice`),
    `model_chosen` (`ModelChoice`), `agent_began` (the confirmed `Plan`), `agent_ended` (`AgentEnd`).
    Threads: the UI thread; the pipeline's events cross through `AppEvents`.
    """

    folders_changed = Signal(object)
    run_changed = Signal(object)
    seen_changed = Signal(object)
    estimated = Signal(object)
    events_arrived = Signal(object)
    plan_made = Signal(object)
    receipt_made = Signal(object)
    noticed = Signal(object)
    model_chosen = Signal(object)
    agent_began = Signal(object)
    agent_ended = Signal(object)

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        *,
        settings: Settings,
        approver: Callable[[], str],
        confirm: Confirm,
        prepare: Callable[[], None] = lambda: None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.operations = operations
        self.supervisor = supervisor
        self.settings = settings
        self.choice = ModelChoice()
        self.folders = Folders()
        self.seen = Seen()
        self.run_state = RunState()
        self.plan: Plan | None = None
        self.passed_over: tuple[str, ...] = ()  # the rows that the last action was not for
        self.recall: Callable[[], Awaitable[None]] = _nothing
        """What a person's press brings back before it is followed: the model they saved."""
        self._approver = approver
        self._confirm = confirm
        self._prepare: Callable[[], None] | None = prepare
        self._cancel = CancelToken()
        self._events = AppEvents(self)
        self._events.events_arrived.connect(self._on_events_arrived)

    # naming

    def name_folders(self, folders: Folders) -> bool:
        """Take the folders a person named; what was read and planned of others is forgotten. Nothing is opened.

        Returns False, and says why, while a task runs: what it reads and plans belongs to the folders it began with.
        """
        if folders == self.folders or not self.is_free():
            return folders == self.folders
        self.supervisor.cancel(FOLDER_TASK)
        self.supervisor.cancel(RECEIPTS_TASK)
        self.folders, self.plan, self.seen, self.passed_over = folders, None, Seen(), ()
        if self.run_state != RunState():
            self._set_run(RunState())
        self.seen_changed.emit(self.seen)
        self.folders_changed.emit(folders)
        return True

    def is_free(self) -> bool:
        """Tell whether no task runs; one that does is said."""
        if self.supervisor.is_running(RUN_TASK):
            self._notice("info", "A task is running.", "Wait until it is done, or cancel it.")
            return False
        return True

    def request(self) -> Request:
        """Return what the use cases get. Raises `UsageError` when no data folder is named."""
        if self.folders.home is None:
            raise UsageError("no data folder was named", "name one under Folders")
        named = self.folders
        return Request(self.folders.home, named.memory_root, named.sources, self.settings, self.choice.extract)

    def choose_model(self, choice: ModelChoice) -> None:
        """Take another provider for the next runs; nothing is opened or sent."""
        self.choice, self.settings = choice, choice.settings(self.settings)
        self.model_chosen.emit(choice)

    # asking

    def scan(self) -> None:
        """List the sessions of the named folders."""
        self._start(self._scan)

    def estimate(self) -> None:
        """Plan an extraction and show it; nothing is claimed, sent or written."""
        self._start(self._estimate)

    def run(self) -> None:
        """Extract, then consolidate up to a plan to review; each effect is confirmed."""
        self._start(self._run)

    def consolidate(self, exclude: frozenset[str] = frozenset()) -> None:
        """Make a plan to review from what is stored already, without the threads in `exclude`."""
        self._start(lambda task: self._consolidate(task, Wish(exclude)))

    def regenerate(self, wish: Wish) -> None:
        """Let the agent work by a wish: again, told what a person says of its last proposal, or after a look at its
        inputs. What waits for its review stays until the next is there."""
        self._start(lambda task: self._consolidate(task, wish))

    def apply(self, plan: Plan, selection: Selection) -> None:
        """Confirm and carry out the reviewed part of a plan."""
        self._start(lambda task: self._apply(task, plan, selection))

    def review(self, plan: Plan) -> None:
        """Show a plan that was made elsewhere; one that waits for its review already stays."""
        if self.plan is not None or self.run_state.busy:
            self._notice("warning", "Another plan waits for its review.", "Apply or drop it first.")
        elif plan.state is PlanState.EMPTY:
            self._notice("info", "There is nothing to change.")
        else:
            self.plan = plan
            self._set_run(RunState(RunPhase.PLAN_READY))
            self.plan_made.emit(plan)

    def undo(self) -> None:
        """Make a plan that takes the last apply back, to be reviewed."""
        if self.plan is not None:
            self._notice("warning", "Another plan waits for its review.", "Apply or drop it first.")
        else:
            self._start(self._undo)

    def act_on_rows(self, action: QueueAction, thread_ids: Sequence[str]) -> None:
        """Plan an action on rows of the queue, confirm it, carry it out, and tell for which it was not."""
        chosen = tuple(thread_ids)
        self._start(lambda task: self._act_on_rows(task, action, chosen))

    def decide_inbox(self, wishes: Sequence[InboxWish]) -> None:
        """Confirm and store what a person wants of inbox lines."""
        self._start(lambda task: self._decide_inbox(task, tuple(wishes)))

    def take_small(self, name: str, planning: Planning) -> None:
        """Make a plan that changes rows alone, confirm it, and carry it out."""
        self._start(lambda task: self._small(task, name, planning))

    def read_folder(self) -> None:
        """Read the memory folder for the citation and memory panels."""
        self.supervisor.spawn(FOLDER_TASK, self._read_folder(), policy="replace")

    def read_receipts(self) -> None:
        """Read the receipts of the data folder."""
        self.supervisor.spawn(RECEIPTS_TASK, self._read_receipts(), policy="replace")

    def cancel(self) -> None:
        """Ask the running work to stop; leases are given back before it ends."""
        if not self.run_state.can_cancel:
            return
        asking = self.run_state.phase is RunPhase.CONFIRMING
        self._to(RunPhase.CANCELLING)
        self.cancel_work()
        if asking:
            self.supervisor.cancel(RUN_TASK)

    def cancel_rows(self, thread_ids: Sequence[str]) -> None:
        """Stop the extraction of just these; their leases are given back and no try is lost."""
        for thread_id in thread_ids:
            self._cancel.part(thread_id).cancel()

    def cancel_work(self) -> None:
        """Set the cancel token of whatever runs; also the first stage of closing."""
        self._cancel.cancel()

    # doing

    def _start(self, work: Work) -> None:
        if self.is_free():
            self._cancel = CancelToken()
            self.supervisor.spawn(RUN_TASK, self._guarded(work))

    async def _guarded(self, work: Work) -> None:
        """Give the work what it is for, once; leave the button in a true state however it ends."""
        try:
            await self._be_ready()
            await work(Task(self.request(), self.choice.consolidate, "demo" if self.folders.demo else "window"))
        except (Cancelled, asyncio.CancelledError):
            # A plan that was made stays where it is: only the step was given up.
            self._set_run(RunState(RunPhase.PLAN_READY if self.plan is not None else RunPhase.IDLE))
            self._notice("info", "Cancelled. Nothing further was written.")
            raise
        except BaseException as error:
            what = told(error).what if isinstance(error, KnownError) else "an error in the program"
            self._set_run(replace(RunState(RunPhase.FAILED), detail=what))
            raise
        finally:
            self._events.flush()

    async def _be_ready(self) -> None:
        """Load what the first press needs, on a thread: imports would hold the window for a third of a second."""
        prepare, self._prepare = self._prepare, None
        if prepare is not None:
            await asyncio.to_thread(prepare)
        await self.recall()

    async def _scan(self, task: Task) -> None:
        self._to(RunPhase.SCANNING)
        await self._read_queue(task)
        self._to(RunPhase.IDLE)

    async def _read_queue(self, task: Task) -> None:
        report = await self.operations.scan(task.request, cancel=self._cancel, listen=self._events.publish)
        await self._read_store(task.request, report)

    async def _read_store(self, request: Request, report: ScanReport | None = None) -> None:
        store, home = self.operations, request.home
        self._events.flush()  # what was told before is older than what is stored
        self._see(
            jobs=await store.jobs(home),
            receipts=await store.receipts(home),
            watermark=await store.watermark(home),
            inbox=await store.inbox(home),
            excluded=await store.excluded(home),
            standing=await store.standing(request),
            report=report or self.seen.report,
        )
        await next_turn()  # what comes of it, and the end of a run, need not be one stop of the window

    async def _when_free(self, task: Task) -> bool:
        """Wait, in a state of its own, while another run or program holds the memory folder; tell whether it did."""
        before, waited = self.run_state.phase, False
        while (standing := await self.operations.standing(task.request, foreign=True)).lock.held:
            waited = True
            self._cancel.check()
            self._see(standing=standing)
            self._to(RunPhase.WAITING_FOR_LOCK, lock_in_words(standing.lock))
            await asyncio.sleep(LOCK_WAIT_SECONDS)
            self._cancel.check()
        self._cancel.check()
        self._to(before)
        return waited

    async def _estimate(self, task: Task) -> None:
        self._to(RunPhase.ESTIMATING)
        plan = await self.operations.plan_extract(task.request, cancel=self._cancel, listen=self._events.publish)
        self.estimated.emit(plan)
        await self._read_store(task.request)
        if plan.state is PlanState.EMPTY:
            self._to(RunPhase.NOTHING_TO_DO, "no rollout to extract")
        else:
            self._to(RunPhase.IDLE)

    async def _run(self, task: Task) -> None:
        self._to(RunPhase.ESTIMATING)
        plan = await self.operations.plan_extract(task.request, cancel=self._cancel, listen=self._events.publish)
        self.estimated.emit(plan)
        if self.seen.report is None:
            await self._read_queue(task)
        if plan.state is not PlanState.EMPTY:
            selection = Selection(plan_digest=plan.digest)
            self._to(RunPhase.CONFIRMING)
            if not await self._confirm(plan, selection):
                self._to(RunPhase.IDLE)
                return
            self._to(RunPhase.EXTRACTING)
            await self._carry_out(task, plan, selection)
            await self._read_store(task.request)
        if task.request.memory_root is None:
            self._to(RunPhase.NOTHING_TO_DO, "extracted; name a memory folder to consolidate")
            await next_turn()
            self._notice("info", "Extraction is done. Name a memory folder to consolidate it.", action="folders.open")
            return
        await self._consolidate(task, Wish())

    async def _consolidate(self, task: Task, wish: Wish) -> None:
        self._to(RunPhase.CONSOLIDATING)
        await self._when_free(task)
        request = replace(
            task.request, provider=task.consolidator, exclude=wish.exclude, note=wish.note, refused=wish.refused
        )
        plan = await self.operations.plan_consolidate(request, cancel=self._cancel, listen=self._events.publish)
        self._cancel.check()
        if plan.kind == "consolidate" and plan.state is not PlanState.EMPTY and not wish.look:
            plan = await self._let_agent_work(task, plan, all_accepted(plan))
        self._offer(plan, noted=bool(wish.note))

    def _offer(self, plan: Plan | None, *, noted: bool = False) -> None:
        """Show a plan to review; after a remark that changed nothing, an earlier one goes on waiting."""
        if plan is None:
            return
        if plan.state is PlanState.EMPTY and noted:
            self._rest(RunPhase.NOTHING_TO_DO)
            remedy = "The earlier proposal still waits." if self.plan else ""
            self._notice("info", "The agent changed nothing more.", remedy)
        elif plan.state is PlanState.EMPTY:
            self.plan = None
            self._to(RunPhase.NOTHING_TO_DO, "the memory folder is up to date")
            self._notice("good", "Nothing to do: the memory folder is up to date.")
        else:
            self.plan = plan
            self._to(RunPhase.PLAN_READY)
            self.plan_made.emit(plan)

    async def _let_agent_work(self, task: Task, plan: Plan, selection: Selection) -> Plan | None:
        """Confirm and run the agent of a plan; return what it proposes, None where a person said no."""
        self._to(RunPhase.CONFIRMING)
        if not await self._confirm(plan, selection):
            self._rest(RunPhase.IDLE)
            return None
        self._to(RunPhase.CONSOLIDATING, "the agent starts")
        self.agent_began.emit(plan)

        async def work() -> Applied:
            grant = await self._grant(task, plan, selection)
            return await self.operations.consolidate(grant, cancel=self._cancel, listen=self._events.publish)

        return await run_agent(work, lambda: self._read_store(task.request), lambda: self.seen.jobs, self._end_agent)

    def _end_agent(self, end: AgentEnd) -> None:
        self._events.flush()
        self.agent_ended.emit(end)

    async def _undo(self, task: Task) -> None:
        self._to(RunPhase.CONSOLIDATING, "looking at the undo image")
        self._offer(await self.operations.plan_undo(task.request))

    async def _apply(self, task: Task, plan: Plan, selection: Selection) -> None:
        if plan.kind == "consolidate":
            self._set_run(RunState(RunPhase.PLAN_READY))
            self._offer(await self._let_agent_work(task, plan, selection))
            return
        if not await self._ask_while_free(task, plan, selection):
            return
        receipt = await self._carry_out(task, plan, selection)
        self.plan = None
        self._to(RunPhase.DONE)
        await self._read_store(task.request)
        if task.request.memory_root is not None:
            await self._read_folder()
        self.receipt_made.emit(receipt)

    async def _act_on_rows(self, task: Task, action: QueueAction, thread_ids: tuple[str, ...]) -> None:
        self._to(RunPhase.ESTIMATING)
        plan = await self.operations.plan_queue_action(
            task.request, action, thread_ids, cancel=self._cancel, listen=self._events.publish
        )
        await self._carry_out_small(task, plan, action.value, len(thread_ids))

    async def _decide_inbox(self, task: Task, wishes: tuple[InboxWish, ...]) -> None:
        await self._small(task, "inbox", lambda *_: self.operations.plan_inbox(task.request, wishes), len(wishes))

    async def _small(self, task: Task, name: str, planning: Planning, number: int | None = None) -> None:
        self._to(RunPhase.ESTIMATING)
        plan = await planning(self._cancel, self._events.publish)
        await self._carry_out_small(task, plan, name, len(plan.skipped) if number is None else number)

    async def _carry_out_small(self, task: Task, plan: Plan, name: str, number: int) -> None:
        reasons = "; ".join(dict.fromkeys(reason for skip in plan.skipped for reason in skip.reasons))
        self.passed_over = tuple(skip.id for skip in plan.skipped)
        if plan.state is PlanState.EMPTY:
            self._rest(RunPhase.NOTHING_TO_DO)
            self._notice(
                "warning", f"{name}: for none of {plural(number, 'row')}" if number else f"{name}: nothing", reasons
            )
            return
        selection = all_accepted(plan)
        self._to(RunPhase.CONFIRMING)
        if not await self._confirm(plan, selection):
            self._rest(RunPhase.IDLE)
            return
        self._to(RunPhase.EXTRACTING if plan.kind == "extract" else RunPhase.APPLYING)
        receipt = await self._carry_out(task, plan, selection)
        await self._read_store(task.request)
        self._rest(RunPhase.DONE)
        counts = ", ".join(f"{count} {name}" for name, count in receipt.counts.items())
        left = f"Not for {plural(len(plan.skipped), 'row')}: {reasons}" if plan.skipped else ""
        others = "queue.others" if self.passed_over else ""
        self._notice("good", f"{name}: {counts or 'done'} (receipt no. {receipt.operation_number})", left, others)

    def _rest(self, phase: RunPhase) -> None:
        """End a step aside: a plan that waits for its review goes on waiting."""
        if self.plan is not None:
            self._set_run(RunState(RunPhase.PLAN_READY))
        else:
            self._to(phase)

    async def _ask_while_free(self, task: Task, plan: Plan, selection: Selection) -> bool:
        """Ask until a yes finds the memory folder free: after a wait it is asked again, a yes does not grow old."""
        while await self._ask(plan, selection):
            self._to(RunPhase.APPLYING)
            if not await self._when_free(task):
                return True
        return False

    async def _ask(self, plan: Plan, selection: Selection) -> bool:
        self._set_run(RunState(RunPhase.PLAN_READY))
        self._to(RunPhase.CONFIRMING)
        if await self._confirm(plan, selection):
            return True
        self._to(RunPhase.PLAN_READY)
        return False

    async def _carry_out(self, task: Task, plan: Plan, selection: Selection) -> Receipt:
        grant = await self._grant(task, plan, selection)
        return await self.operations.apply(grant, cancel=self._cancel, listen=self._events.publish)

    async def _grant(self, task: Task, plan: Plan, selection: Selection) -> ApplyGrant:
        return await self.operations.approve(plan, selection, approver=self._approver(), surface=task.surface)

    async def _read_folder(self) -> None:
        root = self.folders.memory_root
        if root is None:
            raise UsageError("no memory folder was named", "name one under Folders")
        await self._be_ready()
        self._see(snapshot=await self.operations.read_folder(root))

    async def _read_receipts(self) -> None:
        await self._be_ready()
        await self._read_store(self.request())

    # telling

    def _see(self, **changes: Any) -> None:
        self.seen = replace(self.seen, **changes)
        self.seen_changed.emit(self.seen)

    def _to(self, phase: RunPhase, detail: str = "") -> None:
        self._set_run(self.run_state.to(phase, detail, now=time.monotonic()))

    def _set_run(self, state: RunState) -> None:
        self.run_state = state
        self.run_changed.emit(state)

    def _notice(self, kind: str, text: str, remedy: str = "", action: str = "") -> None:
        self.noticed.emit(Notice(kind, text, remedy, action))

    def _on_events_arrived(self, events: tuple[Event, ...]) -> None:
        state = followed(self.run_state, events)
        if state != self.run_state:
            self._set_run(state)
        self.events_arrived.emit(events)
