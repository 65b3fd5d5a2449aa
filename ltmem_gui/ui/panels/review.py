"""The review: decide a plan hunk by hunk. Nothing here writes; Apply only asks for the confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QItemSelection, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QWidget,
)

from ltmem_gui.domain.consent import Receipt
from ltmem_gui.domain.diffing.rows import Row, RowKind
from ltmem_gui.domain.errors import StalePlan
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.plan import Plan, PlanState
from ltmem_gui.domain.rollouts import Rollout, RolloutRef
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.review_export import TITLES, ReviewFormat, export_name, export_review
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.bridge.words import told
from ltmem_gui.ui.models.file_copies import FileCopies
from ltmem_gui.ui.models.formats import plural
from ltmem_gui.ui.models.review_evidence import Provenance, Provenances, Support
from ltmem_gui.ui.models.review_files import mode_facts
from ltmem_gui.ui.models.review_verdicts import ReviewVerdicts
from ltmem_gui.ui.panels.review_actions import MENU_ACTIONS
from ltmem_gui.ui.panels.review_commands import ReviewCommands
from ltmem_gui.ui.panels.review_judging import ReviewJudging
from ltmem_gui.ui.panels.review_page import ReviewPage
from ltmem_gui.ui.theme import Theme

READ_TASK = "review.read"
CHECK_TASK = "review.check"
ROLLOUT_TASK = "review.rollout"
SAVE_TASK = "review.save"
LOOK_TASK = "review.look"
_SOURCE_FILES = ("MEMORY.md",)
_CLAIM_ROWS = 60
_NOTHING = Provenance(Support.NOT_A_CLAIM)


class ReviewPanel(ReviewPage):
    """The page with its commands, and the way to Apply.

    Signals: `apply_requested` ((`Plan`, `Selection`) of a finished and checked review), `rebase_requested` (`Plan`,
    when the folder moved and a person asked for a fresh one), `leave_out_requested` (`Plan`, frozenset of thread ids,
    when a plan without the rejected inputs was asked for), `undecided_changed` (changes without a decision).
    """

    apply_requested = Signal(object)
    rebase_requested = Signal(object)
    leave_out_requested = Signal(object, object)
    undecided_changed = Signal(int)

    def __init__(
        self, operations: Operations, supervisor: Supervisor, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._operations = operations
        self._supervisor = supervisor
        self._theme = theme
        self._rollout_refs: dict[str, RolloutRef] = {}
        self._rollouts: dict[str, Rollout] = {}
        self._provenances: Provenances | None = None
        self.copies: FileCopies | None = None
        self._moved = False
        self.commands = ReviewCommands(self)
        self.verdicts = ReviewVerdicts(operations, supervisor, parent=self)
        self._judging = ReviewJudging(self, self.verdicts, self.commands.say)
        self._connect()
        self.clear()

    # --- what it is told ---

    def show_plan(self, plan: Plan) -> None:
        """Review a plan; the memory folder it was made from is read for the unchanged lines.

        Decisions of the plan before are carried over where the change is the same.
        """
        self.load(plan, {})
        if plan.memory_root and any(change.old_sha256 is not None for change in plan.changes):
            self._supervisor.spawn(READ_TASK, self._read_base(plan), policy="replace")
        else:
            self._load_verdicts()

    def load(self, plan: Plan, base: Mapping[str, bytes]) -> None:
        """Review a plan whose files are at hand; the file and the change that were looked at stay in sight."""
        self.messages.hide()
        path, unit = self.current_path(), self.commands.unit()
        moved = self.state.load(plan, base)
        self._moved = bool(moved)
        if path:
            self.open_file(path)
            row = self.model.document.header_of(unit) if unit is not None else None
            if row is not None and self.current_path() == path:
                self.view.set_cursor_row(row)
        if base and moved:
            self.show_stale(f"{plural(len(moved), 'file')} moved since the plan was made: {', '.join(moved[:3])}")
        elif plan.drift:
            what = f"Changed outside since the baseline: {one_line(', '.join(plan.drift[:5]), 300)}"
            more = f" and {len(plan.drift) - 5} more" if len(plan.drift) > 5 else ""
            self.messages.show_message("info", what + more, "The diff starts from the files as they are now.")
        self._take_focus()

    def clear(self) -> None:
        """Forget the plan and say what the panel is for."""
        self.edit.leave_file()
        self.messages.hide()
        self.verdicts.clear()
        self.state.clear()

    def show_receipt(self, receipt: Receipt) -> None:
        """Close the review of a plan that was applied."""
        plan = self.state.plan
        if plan is not None and receipt.plan_digest == plan.digest:
            self.clear()
            self._empty.teach(f"Applied: receipt no. {receipt.operation_number}", "The history keeps what was written.")

    def show_stale(self, reason: str) -> None:
        """Say that the world moved since the plan was made, and offer a fresh plan."""
        remedy = "Decisions are kept where the change is the same."
        self.messages.show_message("warning", f"Stale: {reason}", remedy, "review.rebase", "Rebase plan")

    def show_rollouts(self, refs: Mapping[str, RolloutRef]) -> None:
        """Tell where the sessions are, by thread id; one is read when a person asks for its lines."""
        self._rollout_refs = dict(refs)

    def focus_filter(self) -> None:
        """Open find."""
        if self.state.review is not None:
            self.finder.begin()

    def showEvent(self, event: QShowEvent) -> None:
        """Give the keys to the diff: a review can begin without the mouse."""
        super().showEvent(event)
        self._take_focus()

    def _take_focus(self) -> None:
        focus = QApplication.focusWidget()
        inside = focus is not None and focus is not self and self.isAncestorOf(focus)
        if self.isVisible() and self.state.review is not None and not inside:
            self.focus_diff()

    def request_apply(self) -> None:
        """Check the selection as it would be written, then ask for the confirmation."""
        review = self.state.review
        if review is not None and not review.obstacles and not self._supervisor.is_running(CHECK_TASK):
            self._supervisor.spawn(CHECK_TASK, self._check(review.plan), policy="replace")

    def ask_rollout(self, thread: str) -> None:
        """Read a session for its cited lines: a person pressed for it."""
        ref = self._rollout_refs.get(thread)
        if ref is None:
            self.side.show_evidence_text(f"rollout {thread}", "Not in the scan: scan the sessions folder to read it.")
            return
        self._supervisor.spawn(ROLLOUT_TASK, self._read_rollout(thread, ref), policy="replace")

    # --- coroutines ---

    async def _look_again(self, plan: Plan) -> None:
        try:
            await self._operations.require_unmoved(plan)
        except StalePlan as error:
            if self.state.plan is plan:
                self.show_stale(told(error).what)

    async def _read_base(self, plan: Plan) -> None:
        snapshot = await self._operations.read_folder(Path(plan.memory_root))
        if self.state.plan is None or self.state.plan.digest != plan.digest:
            return
        self.load(plan, {file.path: file.data for file in snapshot.files.values()})
        self._load_verdicts()

    async def _check(self, plan: Plan) -> None:
        review = self.state.review
        if review is None:
            return
        selection = review.selection()
        self._show_reason("Checking what would be written…")
        try:
            findings = await self._operations.check(plan, selection)
        except StalePlan as error:
            self.show_stale(told(error).what)
            self._show_counts()
            return
        if self.state.review is not review:
            return
        self.state.set_checked(findings)
        blocking = self.state.review.blocking if self.state.review is not None else ()
        if not blocking:
            self.apply_requested.emit((plan, selection))
        elif review.left_out:
            what = f"Leaving out {plural(len(review.left_out), 'thread')} leaves {plural(len(blocking), 'finding')}"
            remedy = "A plan made without them keeps your other decisions."
            self.messages.show_message("warning", what, remedy, "review.leave_out", "Plan again without them")

    async def _save(self, form: ReviewFormat) -> None:
        review, base = self.state.review, self.state.base
        if review is None or self.copies is None:
            return
        target = await self.copies.choose(f"Save: {TITLES[form]}", export_name(review, form))
        if target is not None:
            made = await export_review(self._operations.adapters, review, base, form)
            data = made.text.encode("utf-8", "surrogateescape")
            await self.copies.save(target, data, TITLES[form], redactions=made.redactions)

    async def _read_rollout(self, thread: str, ref: RolloutRef) -> None:
        self._rollouts[thread] = await self._operations.load_rollout(ref)
        self._show_provenance(self.view.cursor_row)
        self._load_verdicts()

    def _connect(self) -> None:
        self.registry.attach(self.view, "diff")
        self.registry.attach(self.reading, "diff")
        self.commands.bind()
        self.commands.apply_asked.connect(self.request_apply)
        self.file_shown.connect(self._on_file_shown)
        self.state.replaced.connect(self._on_state_replaced)
        self.state.decided.connect(self._on_state_decided)
        self.files.selectionModel().selectionChanged.connect(self._on_file_selected)
        self.reading.selectionModel().currentRowChanged.connect(self._on_reading_moved)
        self.view.cursor_moved.connect(self._on_cursor_moved)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._on_menu_asked)
        self.overview.row_wanted.connect(self._on_row_wanted)
        self.side.rollout_asked.connect(self.ask_rollout)
        self.side.left.connect(self.focus_diff)
        self.header.save_asked.connect(self._on_save_asked)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.applicationStateChanged.connect(self._on_application_state_changed)
        self.messages.action_pressed.connect(self._on_message_pressed)
        self._theme.changed.connect(self._on_theme_changed)

    # --- what happened ---

    def _on_state_replaced(self) -> None:
        review = self.state.review
        self._rollouts.clear()
        self._provenances = None
        self.hand_over.went_outside = False
        self.model.clear()
        self.files_model.set_review(review)
        self.findings_model.set_review(review)
        self._pages.setCurrentWidget(self._page if review is not None and review.plan.changes else self._empty)
        if review is None:
            sentence = "A plan comes here before anything is written: Run… or Consolidate… makes one."
            self._empty.teach("Nothing to review", sentence)
        elif not review.plan.changes:
            note = review.plan.notes[0] if review.plan.notes else "no change against the baseline"
            self._empty.teach("Nothing to decide", f"The plan changes no file: {note}.")
        elif self.files_model.rows:
            self.open_file(self.files_model.rows[0].change.path)
        self._show_counts()

    def _on_file_shown(self, path: str) -> None:
        file = self.state.files[path]
        self._provenances = Provenances(file.proposed, self.state.texts, file.headings)
        self._show_counts()

    def _on_state_decided(self) -> None:
        review = self.state.review
        if review is None:
            return
        self.model.set_review(review)
        self.files_model.set_review(review)
        self.findings_model.set_review(review)
        self._show_counts()

    def _on_file_selected(self, selected: QItemSelection) -> None:
        rows = selected.indexes()
        if rows:
            path = self.files_model.rows[rows[0].row()].change.path
            if path != self.current_path():
                self.open_file(path)

    def _on_reading_moved(self, current: QModelIndex) -> None:
        if current.isValid() and self.reads_list and current.row() != self.view.cursor_row:
            self.view.set_cursor_row(current.row())

    def _on_cursor_moved(self, row: int) -> None:
        if self.reads_list and self.reading.currentIndex().row() != row:
            self.reading.selectRow(row)
        self._show_provenance(row)
        self._show_position()

    def _on_menu_asked(self, point: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for id_ in MENU_ACTIONS:
            menu.addAction(self.registry.action(id_))
        menu.popup(self.view.viewport().mapToGlobal(point))

    def _on_row_wanted(self, row: int) -> None:
        self.view.set_cursor_row(row)
        self.view.center_cursor()

    def _on_message_pressed(self, action: str) -> None:
        plan, review = self.state.plan, self.state.review
        if action == "review.rebase" and plan is not None:
            self.rebase_requested.emit(plan)
        elif action == "review.leave_out" and review is not None:
            self.leave_out_requested.emit(plan, review.left_out)

    def _on_application_state_changed(self, state: Qt.ApplicationState) -> None:
        """Look whether the plan still holds when a person comes back from the editor that was opened here."""
        plan = self.state.plan
        back = state is Qt.ApplicationState.ApplicationActive and self.hand_over.went_outside
        if back and plan is not None and plan.base is not None and not self._supervisor.is_running(LOOK_TASK):
            self._supervisor.spawn(LOOK_TASK, self._look_again(plan))

    def _on_save_asked(self, form: ReviewFormat) -> None:
        self._supervisor.spawn(SAVE_TASK, self._save(form), policy="replace")

    def _on_theme_changed(self) -> None:
        self.set_colors(self._theme)

    # --- what is said ---

    def _show_provenance(self, row: int) -> None:
        if not 0 <= row < self.model.document.count or self._provenances is None:
            return
        line, known = self.model.document.row(row), self._provenances
        if line.unit is not None and line.unit.startswith("thread:"):
            found = known.of_thread(line.unit[len("thread:") :], self._rollouts)
        elif self.current_path() not in _SOURCE_FILES:
            found = _NOTHING
        else:
            found = self._provenance_of(row, line, known)
        self.side.show_provenance(found)
        self._judging.show_provenance(found)

    def _load_verdicts(self) -> None:
        """Fetch what was judged of the plan's claims, once the files it was made from are at hand."""
        plan = self.state.plan
        if plan is not None and not self._moved and any(change.path in _SOURCE_FILES for change in plan.changes):
            self.verdicts.load(plan, self.state.base, self._rollouts)

    def _provenance_of(self, at: int, row: Row, known: Provenances) -> Provenance:
        """Return where a row comes from; on the header of a change that is its first line that says something."""
        if row.kind is not RowKind.HEADER:
            return known.of_line(row.new, self._rollouts) if row.new is not None and row.text else _NOTHING
        for below in self.model.document.rows(at + 1, at + 1 + _CLAIM_ROWS):
            if below.unit != row.unit or below.kind is RowKind.HEADER:
                break
            if below.kind is RowKind.ADDED and below.new is not None and below.text:
                found = known.of_line(below.new, self._rollouts)
                if found.support is not Support.NOT_A_CLAIM:
                    return found
        return _NOTHING

    def _show_position(self) -> None:
        self.foot.position.set_text(self.commands.position())

    def _show_counts(self) -> None:
        review, path = self.state.review, self.current_path()
        self.registry.allow("review.apply", "" if review is not None else "there is no plan")
        self.foot.button.setEnabled(False)
        if review is None or not path:
            self._show_reason("")
            return
        self.header.counts.set_text(self._facts(path))
        self.header.title.set_text(path)
        self.foot.budget.set_text(self.state.budget(path))
        self.foot.summary.set_text(self.commands.summary())
        obstacles = list(review.obstacles)
        if review.plan.state is not PlanState.APPLYABLE:
            obstacles.append(f"the plan is {review.plan.state.value}")
        hint = " — press N" if review.undecided else " — press G" if review.blocking else ""
        self._show_reason(f"{', '.join(obstacles)}{hint}" if obstacles else "Ready: every change is decided")
        self.foot.button.setEnabled(not obstacles)
        self.foot.button.setToolTip(f"Not yet: {', '.join(obstacles)}" if obstacles else "Opens the sheet of effects")
        self.foot.button.setAccessibleDescription(self.foot.button.toolTip())
        self.registry.allow("review.apply", ", ".join(obstacles))
        self.show_modes()
        self._show_position()
        self.undecided_changed.emit(len(review.undecided))

    def _facts(self, path: str) -> str:
        """Return what a person should know of the file that is shown, the most urgent first."""
        review = self.state.review
        assert review is not None
        change = self.state.files[path].change
        undecided, total = review.undecided_in(path)
        added, removed = self.state.files[path].counts
        found = len(self.model.findings)
        parts = [f"+{added} −{removed}", f"{undecided} of {total} undecided" if total else "nothing to decide"]
        parts += [plural(found, "finding")] if found else []
        parts += mode_facts(change)
        row = self.files_model.row_of(path)
        origin = self.files_model.rows[row].renamed_from if row >= 0 else ""
        parts += [f"like the deleted {one_line(origin, 120)}"] if origin else []
        parts += ["same lines, other order"] if self.model.is_order_only else []
        if self.model.long_lines:
            parts.append(f"{plural(self.model.long_lines, 'long line')} clipped: L shows one whole, O opens the file")
        return " · ".join(parts)

    def _show_reason(self, text: str) -> None:
        self.foot.reason.set_text(text)
