"""The window's side of a model: who works where, the agent's steps while it runs and after, and a run with a remark."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject

from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.effects import StartAgent
from ltmem_gui.domain.events import Event
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import GLOBAL_KEY
from ltmem_gui.domain.model_choice import ModelChoice
from ltmem_gui.domain.plan import Plan, newly_left_out
from ltmem_gui.domain.prices import price_of
from ltmem_gui.domain.providers import BUILTIN
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.domain.turned_down import turned_down
from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dialogs.regenerate import RegenerateSheet
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.agent_work import NO_INPUTS, AgentEnd, Wish, no_regenerate, waits_until
from ltmem_gui.ui.models.provider_state import in_words
from ltmem_gui.ui.models.workbench import Workbench
from ltmem_gui.ui.panels.citations import line_colors
from ltmem_gui.ui.provider_desk import ProviderDesk

REGENERATE = "review.regenerate"
BUSY = "a task is running"


class ModelDesk(QObject):
    """Connect the workbench's agent with the drawer, the review and the dialogs that ask."""

    def __init__(
        self, window: MainWindow, bench: Workbench, supervisor: Supervisor, parent: QObject | None = None
    ) -> None:
        super().__init__(parent or window)
        self._window = window
        self._bench = bench
        self._supervisor = supervisor
        self._phase: object = None
        self.providers = ProviderDesk(window, bench, supervisor)
        bench.recall = self.providers.recall
        self._clock: Callable[[], float] = time.time
        self._bind()
        self._connect()
        self._on_model_chosen(bench.choice)

    def _bind(self) -> None:
        self._window.registry.bind("agent.steps", self._on_steps_toggled)
        self._window.registry.bind("provider.open", self.providers.open)
        self._window.registry.bind("run.inputs", lambda: self._bench.regenerate(Wish(look=True)))
        self._window.review.registry.bind(REGENERATE, self._on_regenerate_pressed)

    def _connect(self) -> None:
        bench, drawer = self._bench, self._window.agent
        bench.agent_began.connect(self._on_agent_began)
        bench.agent_ended.connect(self._on_agent_ended)
        bench.events_arrived.connect(self._on_events_arrived)
        bench.run_changed.connect(self._on_run_changed)
        bench.plan_made.connect(self._on_plan_made)
        bench.model_chosen.connect(self._on_model_chosen)
        bench.folders_changed.connect(self._on_folders_changed)
        bench.seen_changed.connect(self._update)
        bench.receipt_made.connect(self._on_receipt_made)
        drawer.regenerate_pressed.connect(self._on_regenerate_pressed)
        drawer.retry_pressed.connect(self._on_retry_pressed)
        self._window.folders.model_asked.connect(self.providers.open)
        self.providers.told.connect(self._window.messages.show_message)

    # who works

    def _on_model_chosen(self, choice: ModelChoice) -> None:
        self._window.run_bar.show_model(in_words(choice))
        self._window.folders.show_model(in_words(choice))
        self._update()

    def _on_folders_changed(self) -> None:
        self._window.agent.forget()
        self._update()

    # the inputs of the agent

    def left_out(self, plan: Plan) -> frozenset[str]:
        """Return the sessions that a person rejected among the inputs of an agent: it is planned again without them."""
        review = self._window.review.state.review
        return review.left_out if plan.kind == "consolidate" and review is not None else frozenset()

    def _on_plan_made(self, plan: Plan) -> None:
        inputs = plan.kind == "consolidate"
        self._window.review.foot.button.setText("Start the agent…" if inputs else "Apply…")
        self._update()

    # the agent's run

    def _on_agent_began(self, plan: Plan) -> None:
        (agent,) = plan.effects_of(StartAgent)
        limit = agent.constraints.max_steps
        price = price_of(plan.settings.prices, agent.provider, agent.model)
        self._window.agent.begin(
            f"works in a private copy, at most {formats.count(limit)} steps; Ctrl+. cancels", price
        )

    def _on_events_arrived(self, events: tuple[Event, ...]) -> None:
        steps = [event for event in events if isinstance(event, AgentStep)]
        if steps:
            self._window.agent.view.take_steps(steps)

    def _on_agent_ended(self, end: AgentEnd) -> None:
        drawer = self._window.agent
        match end.outcome:
            case "proposed":
                drawer.show_state("done: its proposal waits in the review; nothing was written", "good")
            case "unchanged":
                drawer.show_state("done: it found nothing to change", "good")
            case "cancelled":
                drawer.show_state("cancelled: the memory folder is as it was", "needs")
            case _:
                wait = f"; it may run again from {formats.absolute(end.retry_at)[:16]}" if end.retry_at else ""
                drawer.show_state(f"failed: {one_line(end.reason, 300)}{wait}; the memory folder is as it was", "bad")
        self._update()

    def _on_run_changed(self) -> None:
        if self._bench.run_state.phase is not self._phase:
            self._phase = self._bench.run_state.phase
            self._update()

    def _on_receipt_made(self, receipt: Receipt) -> None:
        if receipt.kind == "apply" and self._bench.plan is None:
            self._window.agent.hide()
        self._update()

    def _update(self, _: object = None) -> None:
        refusal = BUSY if self._bench.run_state.busy else no_regenerate(self._bench.plan, self._bench.choice)
        self._window.review.registry.allow(REGENERATE, refusal)
        self._window.registry.allow("run.inputs", self._no_inputs())
        under_review = self._window.review.state.plan
        if under_review is not None and under_review.kind == "consolidate" and self._is_over():
            self._window.review.clear()
        until = waits_until(self._bench.seen.jobs)
        waits = until is not None and until > self._clock() and not self._bench.run_state.busy
        self._window.agent.offer(regenerate=not refusal, retry=waits)

    def _no_inputs(self) -> str:
        bench = self._bench
        if bench.run_state.busy:
            return BUSY
        if bench.folders.memory_root is None or bench.folders.home is None:
            return "name a memory folder and a data folder first"
        return NO_INPUTS if bench.choice.consolidate == BUILTIN else ""

    def _is_over(self) -> bool:
        """Tell whether the inputs under review led to a run that changed nothing."""
        return self._bench.plan is None and not self._bench.run_state.busy

    # a person's presses

    def _on_steps_toggled(self) -> None:
        drawer = self._window.agent
        drawer.setVisible(drawer.isHidden())
        if not drawer.isHidden():
            drawer.view.table.setFocus()

    def _on_retry_pressed(self) -> None:
        self._bench.act_on_rows(QueueAction.RETRY, [GLOBAL_KEY])

    def _on_regenerate_pressed(self) -> None:
        if self._window.review.registry.action(REGENERATE).isEnabled():
            self._supervisor.spawn(REGENERATE, self._regenerate(), policy="replace")

    async def _regenerate(self) -> None:
        review, plan = self._window.review.state.review, self._bench.plan
        if review is None or plan is None:
            return
        refused = turned_down(review, int(self._clock()))
        where = self._destination(plan)
        sheet = RegenerateSheet(refused, where, line_colors(self._window.theme), self._window)
        try:
            if await opened(sheet):
                self._bench.regenerate(Wish(newly_left_out(plan), sheet.text, refused))
        finally:
            sheet.deleteLater()

    def anew(self, plan: Plan, exclude: frozenset[str]) -> Wish:
        """Return the wish for a plan that is made again: a model is told what was turned down in the one before."""
        review = self._window.review.state.review
        if plan.provider.name == BUILTIN or plan.kind != "apply":
            return Wish(exclude)
        same = review is not None and review.plan.digest == plan.digest
        return Wish(exclude, refused=turned_down(review, int(self._clock())) if review and same else plan.refused)

    def _destination(self, plan: Plan) -> str:
        host = plan.provider.host
        to = f" to {one_line(host, 200)}" if host else ""
        return (
            f"Your remark and the rejected changes are redacted, then sent{to} with a new run. You see its plan first; "
            "this proposal stays until the new one is there."
        )
