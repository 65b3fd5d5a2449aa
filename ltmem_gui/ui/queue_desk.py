"""What a person does with one row of the queue beside plans: see input and output, follow links, stop it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ltmem_gui.domain.citations import parse
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.extraction import ExtractionInput, StageOneOutput
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.opening import Place, place_below
from ltmem_gui.domain.queue_actions import QueueAction
from ltmem_gui.pipeline.explain import chain, verdict
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.dialogs.figures import FiguresPage
from ltmem_gui.ui.dialogs.messages import RolloutWindow
from ltmem_gui.ui.dialogs.why import WhyPage
from ltmem_gui.ui.main_window import MainWindow
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_facts import InputFacts
from ltmem_gui.ui.models.job_log import redacted_in_words, sizes_in_words
from ltmem_gui.ui.models.job_rows import PHASE_TWO, JobRow
from ltmem_gui.ui.models.opening import PlaceOpener
from ltmem_gui.ui.models.queue_figures import figures_of
from ltmem_gui.ui.models.run_state import RunState
from ltmem_gui.ui.models.text_lines import TextLine, lines_of, rollout_lines
from ltmem_gui.ui.models.workbench import Workbench
from ltmem_gui.ui.panels.citations import line_colors
from ltmem_gui.ui.theme import Theme

# A citation of more lines than this marks the first of them only.
MOST_LINES = 500
NOT_SCANNED = "its file is not in the scan"
NO_ROW = "no row is selected"
NO_OTHERS = "no action was for a part of its rows only"


class QueueDesk(QObject):
    """Own the actions of one row that change nothing stored.

    Signals: `told` (words for the message bar).
    """

    told = Signal(str)

    def __init__(
        self, window: MainWindow, workbench: Workbench, supervisor: Supervisor, theme: Theme, opener: PlaceOpener
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bench = workbench
        self._supervisor = supervisor
        self._theme = theme
        self._opener = opener
        bind = window.registry.bind
        bind("queue.rollout", lambda: self._spawn("rollout", self._show_rollout()))
        bind("queue.log", window.queue.detail.show_log)
        bind("queue.input", lambda: self._spawn("input", self._show_input()))
        bind("queue.output", lambda: self._spawn("output", self._show_output()))
        bind("queue.citations", self._on_citations_pressed)
        bind("queue.editor", lambda: self._on_place_pressed(opener.open_in_editor))
        bind("queue.reveal", lambda: self._on_place_pressed(opener.show_in_file_manager))
        bind("queue.cancel", self._on_cancel_pressed)
        bind("queue.others", self._on_others_pressed)
        bind("queue.figures", self._on_figures_pressed)
        bind("why.open", lambda: self._spawn("why", self._show_why()))
        window.queue.row_chosen.connect(self.update_actions)
        workbench.seen_changed.connect(self._on_seen_changed)
        workbench.run_changed.connect(self._on_run_changed)
        self.update_actions(None)
        self._update_others()

    def update_actions(self, row: JobRow | None) -> None:
        """Say of each action whether it is for the current row, and else why not."""
        allow = self._window.registry.allow
        none = NO_ROW if row is None else ""
        second = "it is the consolidation, not a rollout" if row is not None and row.phase == PHASE_TWO else ""
        unseen = none or second or ("" if row is not None and row.scanned is not None else NOT_SCANNED)
        stored = none or second or ("" if row is not None and row.job is not None else "nothing of it is stored yet")
        allow("queue.log", none)
        allow("queue.rollout", unseen)
        allow("queue.input", unseen)
        allow("queue.output", stored)
        allow(
            "queue.citations",
            none or second or ("" if self._bench.seen.snapshot else "the memory folder was not read yet"),
        )
        allow("queue.editor", unseen)
        allow("queue.reveal", unseen)
        allow("queue.cancel", self._why_not_cancel())

    def _why_not_cancel(self) -> str:
        rows = self._window.queue.selected_rows()
        if not rows:
            return NO_ROW
        if any(row.thread_id in self._window.queue.live for row in rows):
            return ""
        if any(row.state.label.endswith("running") for row in rows):
            return "another program extracts it; it ends there, or with its lease"
        return "it is not running"

    # showing

    async def _show_rollout(self) -> None:
        """Open the rollout at the first line that its memory cites."""
        row = self._row()
        if row.scanned is None:
            return
        rollout = await self._bench.operations.load_rollout(row.scanned.ref)
        output = None
        if row.job is not None and self._bench.folders.home is not None:
            output = await self._bench.operations.output_of(self._bench.folders.home, row.thread_id)
        marked = cited_lines(row.thread_id, output)
        head = one_line(rollout.path, 400)
        if marked:
            head += f"  ·  {formats.plural(len(marked), 'line')} cited by its memory"
        lines = rollout_lines(rollout, marked)
        RolloutWindow(row.title, head, lines, line_colors(self._theme), self._window).open()

    async def _show_input(self) -> None:
        row = self._row()
        assert row.scanned is not None
        given = await self._bench.operations.input_of(self._bench.request(), row.scanned.ref)
        facts = InputFacts(given.tokens_before, given.tokens, dict(given.redactions))
        self._window.queue.take_input(row.thread_id, facts)
        head = ", ".join((*sizes_in_words(facts.before, facts.sent), redacted_in_words(dict(facts.redactions))))
        self._open("input", "What a provider would get", f"{row.title}", head, input_lines(given))

    async def _show_output(self) -> None:
        row = self._row()
        home = self._bench.request().home
        output = await self._bench.operations.output_of(home, row.thread_id)
        if output is None:
            raise InputError("nothing is stored of this session", "it held nothing to keep, or was pruned", row.title)
        head = f"extracted {formats.absolute(output.generated_at)}, used {output.usage_count or 0}×"
        self._open("output", "What was extracted", row.title, head, output_lines(output))

    async def _show_why(self) -> None:
        """Explain the chain; a memory folder that is named and was not read yet is read for it."""
        seen, root = self._bench.seen, self._bench.folders.memory_root
        snapshot = seen.snapshot
        if snapshot is None and root is not None:
            snapshot = await self._bench.operations.read_folder(root)
        links = chain(
            seen.report,
            seen.jobs,
            seen.receipts or (),
            snapshot,
            inbox=len(seen.inbox or ()),
            excluded=len(seen.excluded),
            plan=self._bench.plan,
        )
        page = WhyPage(verdict(links, snapshot), links, self._window.registry, self._window)
        page.action_asked.connect(self._window.registry.trigger)
        page.open()

    def _open(self, name: str, title: str, what: str, head: str, lines: tuple[TextLine, ...]) -> None:
        shown = RolloutWindow(one_line(what, 200), head, lines, line_colors(self._theme), self._window)
        shown.setObjectName(name)
        shown.setWindowTitle(title)
        shown.text.setAccessibleName(title)
        shown.open()

    # what happened

    def _on_seen_changed(self) -> None:
        self.update_actions(self._window.queue.current_row())
        self._update_others()

    def _on_run_changed(self, state: RunState) -> None:
        self._update_others()
        queue = self._window.queue
        if queue.live and not state.busy:
            # A job that is given back with its run tells no end of its own.
            queue.live.clear()
            self.update_actions(queue.current_row())

    def _update_others(self) -> None:
        self._window.registry.allow("queue.others", "" if self._bench.passed_over else NO_OTHERS)

    # pressing

    def _on_others_pressed(self) -> None:
        self._window.queue.select_keys(self._bench.passed_over)

    def _on_citations_pressed(self) -> None:
        row = self._row()
        self._window.citations.filter.setText(row.thread_id)
        self._window.show_panel("citations")

    def _on_figures_pressed(self) -> None:
        queue, report = self._window.queue, self._bench.seen.report
        page = FiguresPage(figures_of(queue.model.rows, report.skipped_files if report else ()), self._window)
        page.show_asked.connect(self._on_group_asked)
        page.retry_asked.connect(lambda ids: self._bench.act_on_rows(QueueAction.RETRY, ids))
        page.open()

    def _on_group_asked(self, group: str) -> None:
        self._window.show_panel("queue")
        self._window.queue.chips.clear()
        self._window.queue.filter.setText(f'error:"{group}"')

    def _on_place_pressed(self, act: Callable[[Place], None]) -> None:
        row = self._row()
        assert row.scanned is not None
        ref = row.scanned.ref
        act(place_below(ref.root or str(Path(ref.path).parent), ref.path))

    def _on_cancel_pressed(self) -> None:
        queue = self._window.queue
        ids = [row.thread_id for row in queue.selected_rows() if row.thread_id in queue.live]
        self._bench.cancel_rows(ids)
        queue.mark_cancelling(ids)
        self.told.emit(f"Cancelling {formats.plural(len(ids), 'extraction')}; the run goes on, and no try is lost.")

    def _row(self) -> JobRow:
        row = self._window.queue.current_row()
        if row is None:
            raise InputError(NO_ROW)
        return row

    def _spawn(self, name: str, coro: object) -> None:
        self._supervisor.spawn(f"queue.{name}", coro, policy="replace")  # type: ignore[arg-type]


def cited_lines(thread_id: str, output: StageOneOutput | None) -> frozenset[int]:
    """Return the lines of a rollout that its own memory cites."""
    if output is None:
        return frozenset()
    entries = parse(f"{output.raw_memory}\n{output.rollout_summary}").entries
    own = [entry for entry in entries if entry.thread_id == thread_id and entry.status == "ok"]
    return frozenset(line for entry in own for line in range(entry.start, min(entry.end, entry.start + MOST_LINES) + 1))


def input_lines(given: ExtractionInput) -> tuple[TextLine, ...]:
    """Return the transcript as a provider would get it."""
    return lines_of(given.transcript)


def output_lines(output: StageOneOutput) -> tuple[TextLine, ...]:
    """Return both texts that were extracted, under their names."""
    return (
        TextLine("", "RAW MEMORY"),
        *lines_of(output.raw_memory),
        TextLine("", ""),
        TextLine("", "ROLLOUT SUMMARY" + (f" · {output.rollout_slug}" if output.rollout_slug else "")),
        *lines_of(output.rollout_summary),
    )
