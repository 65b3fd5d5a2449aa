"""Connect the workbench with the window: actions on one side, what was seen and done on the other."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from ltmem_gui import __version__
from ltmem_gui.domain.consent import Receipt, Selection
from ltmem_gui.domain.errors import KnownError, StalePlan
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, newly_left_out
from ltmem_gui.domain.queue_actions import QueueAction, RowFacts, refusals
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import ScannedRollout
from ltmem_gui.pipeline.requests import Request
from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.bridge.excepthook import BugReport, BugReporter
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import cleaned, told
from ltmem_gui.ui.dialogs import confirmation
from ltmem_gui.ui.dialogs.act_sheet import ask_act
from ltmem_gui.ui.dialogs.messages import About, ErrorReport, KeysPage, Palette, RolloutWindow
from ltmem_gui.ui.main_window import PANELS, MainWindow
from ltmem_gui.ui.model_desk import ModelDesk
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.file_copies import FileCopies
from ltmem_gui.ui.models.folder_watch import FolderWatch
from ltmem_gui.ui.models.job_rows import JobRow
from ltmem_gui.ui.models.job_state import StateKind
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.outside_text import describe_act
from ltmem_gui.ui.models.run_state import RunPhase, RunState
from ltmem_gui.ui.models.sittings import AuditPowers
from ltmem_gui.ui.models.text_lines import rollout_lines
from ltmem_gui.ui.models.window_state import LayoutFile
from ltmem_gui.ui.models.workbench import Folders, Notice, Seen, Workbench
from ltmem_gui.ui.models.written import WrittenChanges
from ltmem_gui.ui.panels.citations import line_colors
from ltmem_gui.ui.panels.history import effect_text
from ltmem_gui.ui.queue_rooms import QueueRooms
from ltmem_gui.ui.seen_panels import SeenPanels
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.file_dialogs import ask_save_name

DemoFactory = Callable[[Path], Awaitable[Request]]

ABOUT = (
    "A memory for coding agents that a developer can trust.",
    "Every effect is shown first and confirmed by a person. MIT licence.",
)
BUSY = "a task is running"
ROW_ACTIONS = {
    "queue.retry": QueueAction.RETRY,
    "queue.run_now": QueueAction.RUN,
    "queue.larger": QueueAction.LARGER,
    "queue.smaller": QueueAction.SMALLER,
    "queue.split": QueueAction.SPLIT,
    "queue.hold": QueueAction.HOLD,
    "queue.release": QueueAction.RELEASE,
    "queue.exclude": QueueAction.EXCLUDE,
    "queue.lift": QueueAction.LIFT,
    "queue.forget": QueueAction.FORGET,
}


@dataclass(frozen=True)
class WindowParts:
    """What the composition root gives the window; `demo` creates the demo's folder when a person asked for it;
    `prepare` runs on a thread before the first work a person asked for."""

    operations: Operations
    supervisor: Supervisor
    theme: Theme
    reporter: BugReporter
    settings: Settings
    approver: Callable[[], str]
    demo: DemoFactory
    prepare: Callable[[], None] = lambda: None
    layout: LayoutFile | None = None


class Controller(QObject):
    """Own the workbench and the window's behaviour."""

    def __init__(self, window: MainWindow, parts: WindowParts) -> None:
        super().__init__(window)
        self.window = window
        self._parts = parts
        self._actions = window.registry
        self._report: ErrorReport | None = None
        self._phase: RunPhase | None = None
        self.workbench = Workbench(
            parts.operations,
            parts.supervisor,
            settings=parts.settings,
            approver=parts.approver,
            confirm=self._confirm,
            prepare=parts.prepare,
            parent=self,
        )
        self._panels = SeenPanels(window)
        self._watch = FolderWatch(parts.operations, parts.supervisor, self)
        self.written = WrittenChanges(parts.operations, parts.supervisor, self.workbench.request, parent=self)
        self.copies = FileCopies(
            parts.operations,
            choose=lambda title, name: ask_save_name(title, name, window),
            confirm=lambda act: ask_act("outside", describe_act(act), window),
            kept=lambda: tuple(f for f in (self.workbench.folders.memory_root, self.workbench.folders.home) if f),
            parent=self,
        )
        self.opener = PlaceOpener(
            parts.operations,
            parts.supervisor,
            editor=lambda: self.workbench.settings.editor,
            confirm=lambda act: ask_act("outside", describe_act(act), window),
            parent=self,
        )
        self.rooms = QueueRooms(window, self.workbench, parts.supervisor, parts.theme, self.opener, parts.layout)
        self.model_desk = ModelDesk(window, self.workbench, parts.supervisor, self)
        self._bind()
        self._connect()
        self._connect_outside()
        self._on_folders_changed(Folders())
        self._on_run_changed(RunState())

    def name_folders(self, folders: Folders) -> None:
        """Take folders: shown, and read on a press. A task that runs keeps its own, and says so."""
        if self.workbench.name_folders(folders):
            self.window.folders.show_folders(folders)
            if folders.can_scan:
                self.window.show_panel("queue")

    def _bind(self) -> None:
        bind, bench, window = self._actions.bind, self.workbench, self.window
        for name in PANELS:
            bind(f"panel.{name}", lambda name=name: window.show_panel(name))
        bind("folders.open", lambda: window.show_panel("folders"))
        bind("demo.open", lambda: window.show_panel("folders"))
        bind("run.scan", self._on_scan_pressed)
        bind("run.estimate", bench.estimate)
        bind("run.start", self._on_run_pressed)
        bind("run.consolidate", bench.consolidate)
        bind("run.undo", bench.undo)
        bind("run.cancel", bench.cancel)
        bind("find.focus", self._on_find_pressed)
        bind("keys.open", lambda: KeysPage(window).open())
        bind("about.open", lambda: About(__version__, ABOUT, window).open())
        bind("palette.open", lambda: self._spawn("palette", self._choose_action()))
        bind("theme.toggle", self._on_theme_toggled)
        bind("app.quit", window.close)
        bind("queue.detail", window.queue.detail.take_focus)
        bind("inbox.rollout", lambda: self._spawn("inbox.rollout", self._open_inbox_rollout()))
        for id_, action in ROW_ACTIONS.items():
            bind(id_, lambda action=action: self._on_row_action_pressed(action))
        bind("queue.copy_id", self._on_copy_id_pressed)

    def _connect(self) -> None:
        bench, window = self.workbench, self.window
        bench.folders_changed.connect(self._on_folders_changed)
        bench.run_changed.connect(self._on_run_changed)
        bench.seen_changed.connect(self._on_seen_changed)
        bench.estimated.connect(window.run_bar.show_plan)
        self.rooms.noticed.connect(self._on_noticed)
        bench.events_arrived.connect(window.queue.take_events)
        bench.plan_made.connect(self._on_plan_made)
        bench.receipt_made.connect(self._on_receipt_made)
        bench.noticed.connect(self._on_noticed)
        window.folders.named.connect(self._on_folders_named)
        window.folders.demo_asked.connect(self._on_demo_asked)
        window.review.apply_requested.connect(self._on_apply_requested)
        window.review.rebase_requested.connect(self._on_rebase_requested)
        window.review.leave_out_requested.connect(self._on_leave_out_requested)
        window.review.undecided_changed.connect(lambda number: window.set_badge("review", number))
        window.queue.count_changed.connect(self._on_queue_counted)
        window.queue.row_chosen.connect(self._on_row_chosen)
        window.queue.empty_pressed.connect(self._actions.trigger)
        window.inbox.decided.connect(bench.decide_inbox)
        window.inbox.read_asked.connect(self._on_receipts_asked)
        window.inbox.count_changed.connect(lambda number: window.set_badge("inbox", number))
        session = window.citations.session
        powers = AuditPowers(bench.request, self._confirm, self._parts.approver, bench.folders_changed)
        session.lend(powers)
        window.review.verdicts.lend(powers)
        session.noticed.connect(self._on_noticed)
        session.plan_made.connect(bench.review)
        session.ended.connect(bench.read_receipts)
        window.citations.looker.lend(bench.request)
        window.citations.commands.opener = self.opener
        window.citations.commands.noticed.connect(self._on_noticed)
        window.citations.read_asked.connect(self._on_read_asked)
        window.citations.count_changed.connect(lambda number: window.set_badge("citations", number))
        window.memory.read_asked.connect(self._on_read_asked)
        window.messages.action_pressed.connect(self._actions.trigger)
        self._parts.supervisor.known_raised.connect(self._on_known_raised)
        self._parts.supervisor.bug_raised.connect(lambda error: self._parts.reporter.report("task", error))
        self._parts.reporter.known_reported.connect(self._on_known_raised)
        self._parts.reporter.bug_reported.connect(self._on_bug_reported)

    def _connect_outside(self) -> None:
        """Connect what reaches beyond a plan: the editor, copies, what was written before."""
        window = self.window
        self.opener.noticed.connect(self._on_noticed)
        self.copies.noticed.connect(self._on_noticed)
        window.review.copies = self.copies
        window.citations.session.copies = self.copies
        window.review.verdicts.noticed.connect(self._on_noticed)
        window.review.verdicts.ended.connect(self.workbench.read_receipts)
        window.review.hand_over.opener = self.opener
        window.history.read_asked.connect(self._on_receipts_asked)
        window.history.undo_asked.connect(self.workbench.undo)
        window.history.changes_asked.connect(self.written.read)
        self.written.arrived.connect(window.history.show_changes)

    def _spawn(self, name: str, coro: Any) -> None:
        self._parts.supervisor.spawn(name, coro, policy="replace")

    # coroutines

    async def _confirm(self, plan: Plan, selection: Selection) -> bool:
        receipts = self.workbench.seen.receipts
        last = ""
        if receipts:
            newest = receipts[-1]
            last = f"last receipt: no. {newest.operation_number}, {formats.absolute(newest.finished_at)}"
        return await confirmation.ask(plan, selection, last_receipt=last, watch=self._watch, parent=self.window)

    async def _choose_action(self) -> None:
        palette = Palette(self._actions, self.window)
        await opened(palette)
        if palette.chosen:
            self._actions.trigger(palette.chosen)

    async def _open_inbox_rollout(self) -> None:
        line, report = self.window.inbox.current_line(), self.workbench.seen.report
        if line is None:
            return
        found = next((r for r in (report.rollouts if report else ()) if r.id == line.thread_id), None)
        if found is None:
            self.window.messages.show_message("warning", "Its rollout is not in the scan.", "Scan the folder it is in.")
            return
        marked = None if line.line is None else range(line.line, line.line + 1)
        await self._show_rollout(found, one_line(line.text, 200), marked)

    async def _show_rollout(self, scanned: ScannedRollout, title: str, marked: range | None = None) -> None:
        rollout = await self._parts.operations.load_rollout(scanned.ref)
        colors = line_colors(self._parts.theme)
        lines = rollout_lines(rollout, marked)
        RolloutWindow(title, one_line(rollout.path, 400), lines, colors, self.window).open()

    def open_demo(self, top: Path) -> None:
        """Create the demo's folder, which a person asked for, and scan its sessions."""
        self._spawn("demo", self._open_demo(top))

    async def _open_demo(self, top: Path) -> None:
        if not self.workbench.is_free():
            return
        request = await self._parts.demo(top)
        self.name_folders(Folders(request.sources, request.memory_root, request.home, demo=True))
        self.workbench.scan()

    # a person's presses

    def _on_folders_named(self, folders: Folders) -> None:
        self.name_folders(folders)
        if folders.can_scan and folders == self.workbench.folders:
            self.workbench.scan()

    def _on_demo_asked(self, top: Path) -> None:
        self.open_demo(top)

    def _on_scan_pressed(self) -> None:
        self.window.show_panel("queue")
        self.workbench.scan()

    def _on_run_pressed(self) -> None:
        if self.workbench.run_state.phase is RunPhase.PLAN_READY:
            self.window.show_panel("review")
        else:
            self.window.show_panel("queue")
            self.workbench.run()

    def _on_apply_requested(self, request: tuple[Plan, Selection]) -> None:
        left_out = self.model_desk.left_out(request[0])
        if left_out:
            self.workbench.consolidate(left_out)
        else:
            self.workbench.apply(*request)

    def _on_rebase_requested(self, plan: Plan) -> None:
        if not self.workbench.run_state.busy and plan.operation == "consolidate":
            self.workbench.regenerate(self.model_desk.anew(plan, newly_left_out(plan)))

    def _on_leave_out_requested(self, plan: Plan, threads: frozenset[str]) -> None:
        if not self.workbench.run_state.busy and plan.operation == "consolidate":
            self.workbench.regenerate(self.model_desk.anew(plan, threads))

    def _on_read_asked(self) -> None:
        if self.workbench.folders.memory_root is None:
            self.window.show_panel("folders")
        else:
            self.workbench.read_folder()

    def _on_receipts_asked(self) -> None:
        if self.workbench.folders.home is None:
            self.window.show_panel("folders")
        else:
            self.workbench.read_receipts()

    def _on_find_pressed(self) -> None:
        panel = getattr(self.window, self.window.shown_panel)
        if hasattr(panel, "focus_filter"):
            panel.focus_filter()

    def _on_copy_id_pressed(self) -> None:
        row = self.window.queue.current_row()
        if row is not None:
            QGuiApplication.clipboard().setText(cleaned(row.thread_id).text)

    def _on_row_action_pressed(self, action: QueueAction) -> None:
        self.workbench.act_on_rows(action, [row.thread_id for row in self.window.queue.selected_rows()])

    def _on_theme_toggled(self) -> None:
        theme = self._parts.theme
        theme.set_scheme("light" if theme.scheme == "dark" else "dark")

    # what happened

    def _on_folders_changed(self, folders: Folders) -> None:
        self.window.strip.show_folders(folders)
        if self.window.review.state.plan is not None:
            self.window.review.clear()
            self.window.set_badge("review", 0)
        self._update_actions()
        self._teach(folders)

    def _on_run_changed(self, state: RunState) -> None:
        if state.phase is not self._phase:
            self._phase = state.phase
            self.window.queue.set_running(state.phase is RunPhase.EXTRACTING)
            self._update_actions()
        self.window.run_bar.show_run(state)

    def _on_seen_changed(self, seen: Seen) -> None:
        self.window.strip.show_seen(seen)
        self._panels.show_seen(seen)
        self._teach(self.workbench.folders)

    def _on_plan_made(self, plan: Plan) -> None:
        self.window.review.show_plan(plan)
        self.window.show_panel("review")

    def _on_receipt_made(self, receipt: Receipt) -> None:
        self.window.review.show_receipt(receipt)
        if self.workbench.plan is None:
            self.window.set_badge("review", 0)
        text = f"Receipt no. {receipt.operation_number}: {effect_text(receipt)}."
        self.window.messages.show_message("good", text)
        self.window.show_panel("history")
        self.window.history.select(receipt.operation_number)

    def _on_noticed(self, notice: Notice) -> None:
        title = self._actions.action(notice.action).text() if notice.action else ""
        self.window.messages.show_message(notice.kind, notice.text, notice.remedy, notice.action, title)

    def _on_known_raised(self, error: KnownError) -> None:
        error = told(error)
        place = error.where if error.line is None else f"{error.where}:{error.line}"
        text = f"{one_line(place, 200)}: {error.what}" if place else error.what
        if isinstance(error, StalePlan) and self.workbench.plan is not None:
            self.window.review.show_stale(error.what)
            self.window.show_panel("review")
        self.window.messages.show_message("error", text, error.remedy)

    def _on_bug_reported(self, report: BugReport) -> None:
        if self._report is not None and self._report.group == report.group:
            self._report.update_report(report)
        elif self._report is None and report.count == 1:
            self._report = ErrorReport(report, self.window)
            self._report.finished.connect(self._on_report_closed)
            self._report.open()

    def _on_report_closed(self) -> None:
        self._report = None

    def _on_queue_counted(self, waiting: int) -> None:
        self.window.set_badge("queue", waiting)
        self.window.run_bar.show_waiting(waiting, self.workbench.seen.report is not None)

    def _on_row_chosen(self, row: JobRow | None) -> None:
        self._actions.allow("queue.copy_id", "" if row is not None else "no row is selected")
        self._update_row_actions()

    def _update_row_actions(self) -> None:
        """Say of each action whether it is for one of the selected rows, and else why not."""
        rows = self.window.queue.selected_rows()
        now = int(time.time())
        busy = BUSY if self.workbench.run_state.busy else ""
        left_out = self.workbench.seen.excluded
        offered = refusals(
            (
                RowFacts(row.thread_id, row.job, row.state.kind is StateKind.WAITING, left_out.get(row.thread_id))
                for row in rows
            ),
            now,
        )
        for id_, action in ROW_ACTIONS.items():
            refusal = busy or offered[action]
            if not refusal and action is QueueAction.FORGET and len(rows) > 1:
                refusal = "it is for one row at a time"
            self._actions.allow(id_, refusal)

    # what is possible now

    def _update_actions(self) -> None:
        folders, state = self.workbench.folders, self.workbench.run_state
        busy = BUSY if state.busy else ""
        home = "" if folders.home is not None else "name a data folder first"
        sessions = "" if folders.can_scan else "name a sessions folder first"
        ready = state.phase is RunPhase.PLAN_READY
        self.window.folders.set_busy(state.busy)
        self._actions.allow("run.scan", busy or sessions or home)
        self._actions.allow("run.estimate", busy or sessions or home)
        self._actions.allow("run.start", "" if ready else busy or sessions or home)
        memory = "" if folders.memory_root is not None else "name a memory folder first"
        self._actions.allow("run.consolidate", busy or memory or home)
        self._actions.allow("run.undo", busy or memory or home)
        self._update_row_actions()
        self._actions.allow("run.cancel", "" if state.can_cancel else "nothing is running")

    def _teach(self, folders: Folders) -> None:
        window, seen = self.window, self.workbench.seen
        if not folders.can_scan:
            window.queue.teach(
                "No sessions folder named", "Name one to see its rollouts.", "folders.open", "Name folders…"
            )
        elif seen.report is None:
            sentence = "Scan reads the sessions folder in memory only; nothing is written or sent."
            window.queue.teach("Ready to scan", sentence, "run.scan", "Scan")
        else:
            sentence = "The folder holds no rollout that this program can read."
            window.queue.teach("No rollouts found", sentence, "folders.open", "Name another folder…")
        if folders.memory_root is None:
            for panel in (window.citations, window.memory):
                panel.teach("No memory folder named", "Name one to see what it holds.", "Name folders…")
        elif seen.snapshot is None:
            sentence = "Reading it changes nothing: no file is written or touched."
            window.citations.teach("The memory folder was not read yet", sentence, "Read the folder")
            window.memory.teach("The memory folder was not read yet", sentence, "Read the folder")
        else:
            window.citations.teach("Nothing is cited", "The memory folder has no citations yet.", "Read it again")
            window.memory.teach(
                "The memory folder is empty", "A confirmed run writes the first files.", "Read it again"
            )
        if seen.inbox is None:
            sentence = "Lines the built-in rules were unsure of wait here for a person."
            window.inbox.teach("The inbox was not read yet", sentence, "Read the inbox")
        else:
            sentence = "Every line the built-in rules were unsure of has been decided."
            window.inbox.teach("Nothing waits for a decision", sentence)
        if folders.home is None:
            window.history.teach("No data folder named", "Name one to see its receipts.", "Name folders…")
        elif seen.receipts is None:
            window.history.teach("Receipts were not read yet", "They tell what was written, and when.", "Read receipts")
        else:
            window.history.teach("No receipts yet", "Each confirmed step leaves one here.", "Read them again")
