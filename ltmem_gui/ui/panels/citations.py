"""The citations of the memory folder: the list, the claim, and the evidence at its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from operator import attrgetter

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.anchors import LocationStatus
from ltmem_gui.domain.audit import AuditItem
from ltmem_gui.domain.audit_support import quote_spans
from ltmem_gui.domain.citation_look import Position
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.rollouts import RolloutRef
from ltmem_gui.pipeline.audit_reports import ReportFormat
from ltmem_gui.pipeline.citation_look import LookResult
from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.pipeline.ports import WorkspaceSnapshot
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.audit_state import AuditSession, SittingWish, row_key
from ltmem_gui.ui.models.citation_look import CitationLooker
from ltmem_gui.ui.models.citation_projects import ProjectEvidence, ProjectReader
from ltmem_gui.ui.models.citation_rows import (
    CitationRow,
    Place,
    chip_of,
    citation_rows,
    cited_range,
    claim_lines,
    evidence_lines,
    evidence_text,
    thread_of,
    uncited_rows,
    who_cites,
)
from ltmem_gui.ui.models.citation_table import CitationTableModel, VerdictMark
from ltmem_gui.ui.models.formats import middle
from ltmem_gui.ui.models.text_lines import rollout_lines
from ltmem_gui.ui.models.workbench import Notice, Seen
from ltmem_gui.ui.panels.audit_desk import AuditDesk
from ltmem_gui.ui.panels.citation_commands import CitationCommands, CitationView
from ltmem_gui.ui.panels.citation_evidence import EvidencePane
from ltmem_gui.ui.panels.citation_list import CitationTable
from ltmem_gui.ui.theme import Theme, bold_font, monospace
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.chips import Chip, ChipRow
from ltmem_gui.ui.widgets.labels import ElidedLabel
from ltmem_gui.ui.widgets.line_view import LineColors, LineView

TASK = "citations.evidence"
GROUPS = ("One list", "By file", "By session", "By place")


def line_colors(theme: Theme) -> LineColors:
    """Return what a line view paints with."""
    return LineColors(
        theme.color("cite.band"), theme.color("cite.edge"), theme.color("diff.gutter"), theme.color("diff.gutter_text")
    )


class CitationsPanel(QWidget):
    """Show citations.

    Signals: `read_asked` (the folder is to be read), `count_changed` (citations), `problems_changed` (that point
    nowhere).
    """

    read_asked = Signal()
    count_changed = Signal(int)

    def __init__(
        self,
        operations: Operations,
        supervisor: Supervisor,
        theme: Theme,
        actions: ActionRegistry,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("citations")
        self._operations = operations
        self._supervisor = supervisor
        self._theme = theme
        self._seen = Seen()
        self._kept = ""
        self._leads = True  # a row that a person chooses is judged next; one that moves by itself is not
        self._titles: dict[str, str] = {}
        self.model = CitationTableModel(theme.color, bold_font(), self)
        self.session = AuditSession(operations, supervisor, parent=self)
        self.looker = CitationLooker(operations, supervisor, self)
        self.projects = ProjectReader(operations, supervisor, self)
        self.projects.read.connect(self._on_project_read)
        shown = CitationView(self.current_row, lambda: self._seen.snapshot, self._ref, lambda: self.evidence.lines)
        self.commands = CitationCommands(shown, self)
        self.desk = AuditDesk(self.session, actions)
        self._build(actions)
        for view in (self.claim, self.evidence):
            actions.attach(view, "citations")
        self.model.about_to_arrange.connect(self._on_model_arranging)
        self.model.arranged.connect(self._on_model_arranged)
        theme.changed.connect(self._on_theme_changed)
        self._bind(actions)
        self.looker.found.connect(self._on_look_found)
        self.pane.place_chosen.connect(self._on_place_chosen)
        self.pane.view.left.connect(self.table.setFocus)
        self.session.item_shown.connect(self._on_item_shown)
        self.session.marks_changed.connect(self._on_marks_changed)
        self.session.mark_changed.connect(self.model.set_mark)
        self.desk.begin_asked.connect(self._on_begin_asked)
        self.desk.report_asked.connect(self._on_report_asked)
        self.desk.list_wanted.connect(self.table.setFocus)

    def show_seen(self, seen: Seen) -> None:
        """Show the citations of the folder as it was read."""
        before, self._seen = self._seen, seen
        if seen.snapshot is before.snapshot and seen.report is before.report:
            return
        if self.session.is_open and not _same_folder(before.snapshot, seen.snapshot):
            # Its items speak of texts that are not there any more; what was judged is stored, and is resumed.
            self.session.end()
        self.projects.follow(seen.snapshot, seen.report)
        rollouts = seen.report.rollouts if seen.report is not None else ()
        self._titles = {rollout.id.lower(): one_line(rollout.title, 60) for rollout in rollouts}
        if seen.snapshot is None:
            self.looker.stop()
            self.model.set_rows(())
        else:
            ids = [rollout.id for rollout in seen.report.rollouts] if seen.report else []
            self.model.set_rows(citation_rows(seen.snapshot, ids))
            self.looker.start(seen.snapshot, seen.report, self._positions_on_screen())
        self._update_page()

    def teach(self, title: str, sentence: str, action: str = "") -> None:
        """Say what an empty list means."""
        self._empty.teach(title, sentence, action)

    def current_row(self) -> CitationRow | None:
        """Return the row the keyboard is on."""
        return self.model.row_at(self.table.currentIndex().row())

    def focus_evidence(self) -> None:
        """Move the keyboard into the evidence."""
        self.evidence.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_evidence(self) -> None:
        """Move the keyboard into the evidence; a project's file is read by this press."""
        row = self.current_row()
        if row is not None:
            self.projects.ask(row, pressed=True, done=lambda: self.current_row() is not row)
        self.focus_evidence()

    def focus_filter(self) -> None:
        """Move the keyboard into the filter."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_to_place(self, by: int) -> None:
        """Go to the next or previous citation of the claims that this one belongs to."""
        row = self.current_row()
        lines = self.looker.claims.together.get((row.file, row.line), ()) if row is not None else ()
        if row is None or len(lines) < 2:
            self._say("This claim is cited at one place only")
            return
        self._go_to(row.file, lines[(lines.index(row.line) + by) % len(lines)])

    def go_to_citing(self, by: int) -> None:
        """Go to the next or previous citation of any of these lines."""
        row = self.current_row()
        others = who_cites(self.model.rows, row) if row is not None else []
        if row is None or not others:
            self._say("Nothing else cites these lines")
            return
        places = sorted({(row.file, row.line), *((other.file, other.line) for other in others)})
        self._go_to(*places[(places.index((row.file, row.line)) + by) % len(places)])

    # parts

    def _bind(self, actions: ActionRegistry) -> None:
        bind, commands = actions.bind, self.commands
        bind("citations.evidence", self.table.go_in)
        bind("citations.open", self.open_evidence)
        bind("citations.check", self.read_asked.emit)
        bind("citations.copy", commands.copy_location)
        bind("citations.permalink", commands.copy_permalink)
        bind("citations.quote", commands.copy_quote)
        bind("citations.editor", commands.open_in_editor)
        bind("citations.reveal", commands.show_in_file_manager)
        bind("citations.next_place", partial(self.go_to_place, 1))
        bind("citations.previous_place", partial(self.go_to_place, -1))
        bind("citations.next_citing", partial(self.go_to_citing, 1))
        bind("citations.previous_citing", partial(self.go_to_citing, -1))

    def _build_bar(self) -> QWidget:
        self.filter = QLineEdit()
        self.filter.setObjectName("citations.filter")
        self.filter.setAccessibleName("Filter the citations")
        self.filter.setPlaceholderText("Filter by file, target, note, place, verdict, rater or age")
        self.filter.setClearButtonEnabled(True)
        self.filter.setMinimumWidth(120)
        self.filter.textChanged.connect(self._on_filter_changed)
        self.chips = ChipRow(
            "citations.chips",
            [
                Chip("good", "Found", "✓"),
                Chip("drift", "Drifted", "≈"),
                Chip("open", "Not scanned", "○"),
                Chip("bad", "Broken", "✕"),
                Chip("uncited", "Uncited", "∅"),
            ],
        )
        self.groups = QComboBox()
        self.groups.setObjectName("citations.groups")
        self.groups.setAccessibleName("Groups of the list")
        self.groups.addItems(GROUPS)
        self.groups.currentIndexChanged.connect(self._on_groups_changed)
        self.chips.chosen.connect(self._on_filter_changed)
        # The chips keep their words where the window is narrow; what gives way is the count behind them.
        self.chips.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._summary = ElidedLabel(role="muted")
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(12)
        row.addWidget(self.chips)
        row.addWidget(self.filter, 1)
        row.addWidget(self.groups)
        row.addWidget(self._summary)
        return bar

    def _build(self, actions: ActionRegistry) -> None:
        bar = self._build_bar()
        self.table = CitationTable(self.model, actions)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_row_changed)
        self.table.evidence_asked.connect(self.focus_evidence)
        self._claim_title = ElidedLabel(role="muted")
        self.claim = self._view("citations.claim", "Claim")
        self.pane = EvidencePane(line_colors(self._theme), monospace())
        self.evidence, self._evidence_title = self.pane.view, self.pane.title
        texts = QSplitter(Qt.Orientation.Vertical)
        texts.addWidget(_titled(self._claim_title, self.claim))
        texts.addWidget(self.pane)
        texts.setSizes([260, 380])
        texts.setChildrenCollapsible(False)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.table)
        splitter.addWidget(texts)
        splitter.setStretchFactor(0, 5)
        splitter.setStretchFactor(1, 6)
        splitter.setSizes([610, 570])
        splitter.setChildrenCollapsible(False)
        self._empty = EmptyPage("citations.empty")
        self._empty.pressed.connect(self.read_asked)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(_above(splitter, self.desk))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self._stack, 1)

    def _view(self, name: str, title: str) -> LineView:
        view = LineView(name, line_colors(self._theme), monospace())
        view.setAccessibleName(title)
        return view

    # what is shown

    def _update_page(self) -> None:
        rows = self.model.rows
        counts: Counter[str] = Counter()
        for place, number in Counter(map(attrgetter("place"), rows)).items():
            counts[chip_of(place)] += number
        self.chips.set_counts(counts)
        entries = sum(row.entry is not None for row in rows)
        ids = sum(bool(row.thread_id) for row in rows if row.entry is None)
        self._summary.set_text(f"{entries} citations, {ids} session ids" if rows else "")
        self._stack.setCurrentIndex(1 if rows else 0)
        self.count_changed.emit(entries)

    def _show_row(self, row: CitationRow | None) -> None:
        snapshot = self._seen.snapshot
        if row is None or snapshot is None:
            self.claim.show_lines(())
            self.pane.show_lines(())
            self.pane.show_usage("")
            self._claim_title.set_text("Claim")
            self._evidence_title.set_text("Evidence")
            return
        self._claim_title.set_text(f"Claim · {row.standing}")
        self.claim.show_lines(claim_lines(row, snapshot))
        self._evidence_title.set_text(f"Evidence · {one_line(row.target, 200)}")
        location = self.session.location(row.key) or row.location
        lines = evidence_lines(row, snapshot, location)
        if lines and row.looked is not None and row.looked.location.status is not LocationStatus.EXACT:
            self.pane.show_drifted(evidence_text(row, snapshot), row.looked)
        else:
            self.pane.show_lines(lines)
        self.pane.show_usage(self.looker.standing.get(thread_of(row, snapshot), ""))
        if lines:
            if not self.pane.candidates.places:
                self._mark_quotes()
            moved = location is not None and location.status is not LocationStatus.EXACT
            where = f" — {location.label}" if location is not None and moved else ""
            self._evidence_title.set_text(f"Evidence · {one_line(row.target, 200)}{where}{self._others(row)}")
            return
        ref = self._ref(row.thread_id)
        if self.projects.ask(row, pressed=False, done=lambda: self.current_row() is not row):
            return
        if ref is not None:
            self._supervisor.spawn(TASK, self._show_rollout(row, ref), policy="replace")
        else:
            words = self.projects.offer() if row.place is Place.PROJECT else row.reason
            reason = words or "this session is not in the last scan; scan its folder to open it"
            self._evidence_title.set_text(f"Evidence · {one_line(row.target, 120)} — {reason}")

    async def _show_rollout(self, row: CitationRow, ref: RolloutRef) -> None:
        rollout = await self._operations.load_rollout(ref)
        if self.current_row() is not row:
            return
        location = self.session.location(row.key)
        marked = cited_range(row, location)
        self.pane.show_lines(rollout_lines(rollout, marked))
        self._mark_quotes()
        drifted = location is not None and location.status is not LocationStatus.EXACT
        moved = f" — {location.label}" if location is not None and drifted else ""
        where = f"{one_line(row.target, 120)}{moved}{self._others(row)} · {one_line(rollout.path, 200)}"
        self._evidence_title.set_text(f"Evidence · {where}")

    def _mark_quotes(self) -> None:
        """Underline in the evidence what the claim quotes."""
        claim = "\n".join(line.text for line in self.claim.lines if line.marked)
        self.evidence.underline(partial(quote_spans, claim))

    def _others(self, row: CitationRow) -> str:
        """Say who else cites any of these lines."""
        found = [other.standing for other in who_cites(self.model.rows, row)]
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        return f" · also cited at {', '.join(one_line(place, 80) for place in found[:5])}{more}" if found else ""

    def _ref(self, thread_id: str) -> RolloutRef | None:
        if not thread_id or self._seen.report is None:
            return None
        wanted = thread_id.lower()
        return next((r.ref for r in self._seen.report.rollouts if r.id.lower() == wanted), None)

    # slots

    def _on_filter_changed(self) -> None:
        chosen = self.chips.checked
        places = {place for place in Place if chip_of(place) in chosen}
        self.model.set_filter(self.filter.text(), frozenset(places))
        self.session.limit(self.model.shown_keys)

    def _on_groups_changed(self, choice: int) -> None:
        self.model.set_groups((None, lambda row: row.file, self._session_of, lambda row: row.place.value)[choice])

    def _session_of(self, row: CitationRow) -> str:
        """Return the title of the session that a row rests on."""
        thread = thread_of(row, self._seen.snapshot) if self._seen.snapshot is not None else row.thread_id.lower()
        ref = self._titles.get(thread, "")
        return f"{ref}{' · ' if ref else ''}{middle(thread, 13)}" if thread else "no session"

    def _on_model_arranging(self) -> None:
        row = self.current_row()
        self._kept = row.key if row else ""

    def _on_model_arranged(self) -> None:
        position = self.model.position_of(self._kept) if self._kept else None
        if position is None and self.model.rowCount():
            position = 0
        if position is None:
            self._show_row(None)
        else:
            self.table.setCurrentIndex(self.model.index(position, 0))

    def _on_current_row_changed(self) -> None:
        row = self.current_row()
        self._show_row(row)
        if row is not None and self._leads:
            self.session.follow(row.file, row.line)

    def _on_begin_asked(self, wish: SittingWish) -> None:
        self.session.begin(wish, self._refs(), self.projects.opened)

    def _on_report_asked(self, form: ReportFormat) -> None:
        self.session.save_report(form, self._refs(), self.projects.opened)

    def _refs(self) -> tuple[RolloutRef, ...] | None:
        """Return the sessions that were scanned, None where no scan was."""
        report = self._seen.report
        return tuple(rollout.ref for rollout in report.rollouts) if report is not None else None

    def _on_marks_changed(self, marks: Mapping[str, VerdictMark]) -> None:
        self.table.show_verdicts(bool(marks))
        self._leads = False
        self.model.set_marks(marks)
        self._leads = True

    def _on_item_shown(self, item: AuditItem | None) -> None:
        """Bring the list to the item; a filter that hides it is taken off."""
        if item is None:
            return
        self._reveal(row_key(item))

    def _on_look_found(self, part: LookResult) -> None:
        """Show what is known of the lines; the row that a person looks at stays."""
        row = self.current_row()
        self._leads = False
        self.model.set_look(part.places)
        if part.claims is not None and part.claims.uncited:
            self.model.set_rows((*self.model.rows, *uncited_rows(part.claims.uncited)))
        self._leads = True
        self._update_page()
        if row is not None and part.standing and self._seen.snapshot is not None:
            self.pane.show_usage(part.standing.get(thread_of(row, self._seen.snapshot), ""))

    def _on_project_read(self, found: ProjectEvidence) -> None:
        self.pane.show_lines(found.lines)
        self._mark_quotes()
        reason = f" — {one_line(found.reason, 300)}" if found.reason else self._others(found.row)
        self._evidence_title.set_text(f"Evidence · {one_line(found.row.target, 200)}{reason}")

    def _on_place_chosen(self, first: int, last: int) -> None:
        row = self.current_row()
        if row is not None and row.entry is not None:
            self.session.propose_place(row.file, row.entry, first, last)

    def _positions_on_screen(self) -> frozenset[Position]:
        """Return where the citations stand that can be seen, one screen more than that."""
        top = max(0, self.table.rowAt(0))
        height = self.table.viewport().height() // max(1, self.table.verticalHeader().defaultSectionSize()) + 1
        rows = (self.model.row_at(position) for position in range(top, top + 2 * height))
        return frozenset((row.file, row.line) for row in rows if row is not None)

    def _go_to(self, file: str, line: int) -> None:
        """Go to the citation that stands there; a filter that hides it is taken off."""
        row = next(row for row in self.model.rows if (row.file, row.line) == (file, line) and row.entry is not None)
        self._reveal(row.key)

    def _reveal(self, key: str) -> None:
        if self.model.position_of(key) is None:
            self.model.open_groups()
        if self.model.position_of(key) is None:
            self.chips.clear()
            self.filter.clear()
        position = self.model.position_of(key)
        if position is not None and self.table.currentIndex().row() != position:
            self.table.setCurrentIndex(self.model.index(position, 0))

    def _say(self, words: str) -> None:
        self.commands.noticed.emit(Notice("info", f"{words}."))

    def _on_theme_changed(self) -> None:
        for view in (self.claim, self.pane):
            view.set_colors(line_colors(self._theme))


def _same_folder(one: WorkspaceSnapshot | None, other: WorkspaceSnapshot | None) -> bool:
    return one is other or (one is not None and other is not None and one.mark() == other.mark())


def _above(upper: QWidget, lower: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(upper, 1)
    column.addWidget(lower)
    return page


def _titled(title: ElidedLabel, view: QWidget) -> QWidget:
    holder = QWidget()
    title.setContentsMargins(12, 6, 12, 6)
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(title)
    layout.addWidget(view, 1)
    return holder
