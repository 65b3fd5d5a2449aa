"""Beside the diff: what was found, and where the line under the cursor comes from (D4, D5)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QListView,
    QMenu,
    QPushButton,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.findings import Severity
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.review_evidence import Evidence, Provenance, Support
from ltmem_gui.ui.models.review_findings import FindingRow, FindingsModel
from ltmem_gui.ui.theme import Theme, bold_font, monospace
from ltmem_gui.ui.widgets.labels import plain_label, set_role
from ltmem_gui.ui.widgets.line_view import LineColors, LineView, TextLine

_HINT = "On a line of MEMORY.md that says something, its sources stand here."
_HEADLINES = {
    Support.NO_SOURCE: "▲ no source",
    Support.NOT_A_CLAIM: "Nothing to cite on this line",
}


class SidePane(QWidget):
    """Findings above, evidence below.

    Signals: `finding_chosen` (`Finding`), `override_asked` (`Finding`), `rollout_asked` (thread id), `left` (Escape),
    `evidence_turned` (another source of the same claim is shown).
    """

    finding_chosen = Signal(object)
    override_asked = Signal(object)
    rollout_asked = Signal(str)
    left = Signal()
    evidence_turned = Signal()

    def __init__(self, theme: Theme, findings: FindingsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review.side")
        self._findings = findings
        self._shown: tuple[Evidence, ...] = ()
        self._at = 0
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setObjectName("review.side.splitter")
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._build_evidence(theme))
        splitter.addWidget(self._build_findings())
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)
        findings.modelReset.connect(self._on_findings_reset)
        self._on_findings_reset()

    # --- evidence ---

    def show_provenance(self, provenance: Provenance) -> None:
        """Show where a line comes from."""
        self._shown, self._at = provenance.evidence, 0
        headline = _HEADLINES.get(provenance.support, "")
        role = "needs" if provenance.support is Support.NO_SOURCE else ""
        set_role(self._headline, "role", role)
        if headline:
            self._headline.setText(headline)
            note = f"No citation supports: {one_line(provenance.claim, 160)}" if role else _HINT
            self._note.setText(note)
            self._show_lines(())
            self._next.hide()
            self._load.hide()
            return
        self._show_evidence()

    def show_evidence_text(self, title: str, note: str) -> None:
        """Show a line of text in place of evidence."""
        set_role(self._headline, "role", "")
        self._shown = ()
        self._headline.setText(title)
        self._note.setText(note)
        self._show_lines(())
        self._next.hide()
        self._load.hide()

    @property
    def evidence(self) -> Evidence | None:
        """Return the source that is shown."""
        return self._shown[self._at] if self._shown else None

    def offer_verdicts(self, actions: Sequence[QAction]) -> None:
        """Take the actions that judge; their keys also act while the evidence has the focus."""
        menu = QMenu(self._judge)
        for action in actions:
            menu.addAction(action)
            self._lines.addAction(action)
        self._judge.setMenu(menu)

    def show_verdict(self, words: str, *, can_judge: bool = False) -> None:
        """Say what was judged of the source that is shown; nothing hides the line."""
        self._verdict.setText(words)
        self._verdict.setVisible(bool(words))
        self._judge.setVisible(can_judge)

    def take_focus(self) -> None:
        """Give the focus to the evidence; a rollout that is not read yet is asked for."""
        if self._shown and self._shown[self._at].thread and not self._shown[self._at].lines:
            self.rollout_asked.emit(self._shown[self._at].thread)
        self._lines.setFocus()

    def set_colors(self, theme: Theme) -> None:
        """Change the scheme."""
        self._lines.set_colors(_line_colors(theme))

    def _build_evidence(self, theme: Theme) -> QWidget:
        self._headline = plain_label(font=bold_font(), wrap=True, selectable=True)
        self._headline.setObjectName("review.evidence.title")
        self._note = plain_label(role="muted", wrap=True, selectable=True)
        self._note.setObjectName("review.evidence.note")
        self._next = QPushButton("Next source")
        self._next.setObjectName("review.evidence.next")
        self._next.setProperty("flat", "true")
        self._next.clicked.connect(self._on_next_clicked)
        self._load = QPushButton("Read the rollout (S)")
        self._load.setObjectName("review.evidence.load")
        self._load.clicked.connect(self.take_focus)
        self._lines = _EvidenceView("review.evidence", _line_colors(theme), monospace())
        self._lines.setAccessibleName("Evidence")
        self._lines.escaped.connect(self.left)
        head = QHBoxLayout()
        head.addWidget(self._headline, 1)
        head.addWidget(self._next, 0, Qt.AlignmentFlag.AlignTop)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(12, 8, 8, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._note)
        layout.addLayout(self._build_verdict())
        layout.addWidget(self._load, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._lines, 1)
        layout.addStretch(0)
        self._next.hide()
        self._load.hide()
        return page

    def _build_verdict(self) -> QHBoxLayout:
        self._verdict = plain_label(wrap=True, selectable=True)
        self._verdict.setObjectName("review.evidence.verdict")
        self._judge = QToolButton()
        self._judge.setObjectName("review.evidence.judge")
        self._judge.setText("Judge ▾")
        self._judge.setAccessibleName("Does this source support the line?")
        self._judge.setToolTip("Does this source support the line? Keys 1 to 5")
        self._judge.setProperty("role", "flat")
        self._judge.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._judge.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._judge.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        row = QHBoxLayout()
        row.addWidget(self._verdict, 1)
        row.addWidget(self._judge, 0, Qt.AlignmentFlag.AlignTop)
        self.show_verdict("")
        return row

    def _show_evidence(self) -> None:
        evidence = self._shown[self._at]
        several = f" ({self._at + 1} of {len(self._shown)})" if len(self._shown) > 1 else ""
        title = f"rollout {formats.middle(evidence.thread, 21)}" if evidence.thread else one_line(evidence.title, 200)
        self._headline.setText(f"{title}{several}")
        self._headline.setToolTip(evidence.title.replace("<", "‹"))
        note = one_line(evidence.note, 300)
        self._note.setText(f"▲ {evidence.problem}. {note}" if evidence.problem else note)
        self._show_lines([TextLine(line.label, line.text, line.cited) for line in evidence.lines])
        self._next.setVisible(len(self._shown) > 1)
        self._load.setVisible(bool(evidence.thread) and not evidence.lines and not evidence.problem)

    def _show_lines(self, lines: Sequence[TextLine]) -> None:
        self._lines.show_lines(lines)
        self._lines.setVisible(bool(lines))

    def turn(self) -> None:
        """Show the next source of the same claim."""
        if len(self._shown) > 1:
            self._on_next_clicked()

    def _on_next_clicked(self) -> None:
        self._at = (self._at + 1) % len(self._shown)
        self._show_evidence()
        self.evidence_turned.emit()

    # --- findings ---

    def _build_findings(self) -> QWidget:
        self._none = plain_label("No findings in this plan", role="muted")
        self._none.setObjectName("review.findings.none")
        self._filter = QComboBox()
        self._filter.setObjectName("review.findings.filter")
        self._filter.setAccessibleName("Which findings")
        self._filter.currentIndexChanged.connect(self._on_filter_chosen)
        self._override = QPushButton("Override…")
        self._override.setObjectName("review.findings.override")
        self._override.setToolTip("Pass a blocking finding with a written reason")
        self._override.clicked.connect(self._on_override_clicked)
        self._list = QListView()
        self._list.setObjectName("review.findings")
        self._list.setAccessibleName("Findings")
        self._list.setModel(self._findings)
        self._list.setWordWrap(True)
        self._list.setSpacing(3)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setResizeMode(QListView.ResizeMode.Adjust)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.clicked.connect(self._on_finding_clicked)
        self._list.activated.connect(self._on_finding_clicked)
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._filter, 1)
        head.addWidget(self._override)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(12, 8, 8, 0)
        layout.setSpacing(4)
        layout.addWidget(self._none)
        layout.addLayout(head)
        layout.addWidget(self._list, 1)
        layout.addStretch(0)
        return page

    def current_finding(self) -> FindingRow | None:
        """Return the finding under the cursor of the list."""
        index = self._list.currentIndex()
        return self._findings.rows[index.row()] if index.isValid() else None

    def _on_findings_reset(self) -> None:
        counts = self._findings.counts
        chosen = self._filter.currentIndex()
        self._filter.blockSignals(True)
        self._filter.clear()
        total = sum(counts.values())
        self._filter.addItem(f"{total} finding{'' if total == 1 else 's'}", None)
        for severity, number in counts.items():
            self._filter.addItem(f"{severity.value}: {number}", severity)
        self._filter.setCurrentIndex(max(0, chosen))
        self._filter.blockSignals(False)
        self._none.setVisible(not total)
        for widget in (self._filter, self._override, self._list):
            widget.setVisible(bool(total))
        self._on_current_changed()

    def _on_filter_chosen(self, index: int) -> None:
        value = self._filter.itemData(index)
        self._findings.set_severity(Severity(value) if value is not None else None)

    def _on_finding_clicked(self, index: QModelIndex) -> None:
        self.finding_chosen.emit(self._findings.rows[index.row()].finding)

    def _on_current_changed(self) -> None:
        row = self.current_finding()
        self._override.setEnabled(row is not None and row.finding.severity is Severity.BLOCKING)

    def _on_override_clicked(self) -> None:
        row = self.current_finding()
        if row is not None:
            self.override_asked.emit(row.finding)


class _EvidenceView(LineView):
    escaped = Signal()

    def keyPressEvent(self, event: object) -> None:
        if event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            self.escaped.emit()
            return
        super().keyPressEvent(event)  # type: ignore[arg-type]


def _line_colors(theme: Theme) -> LineColors:
    return LineColors(
        theme.color("cite.band"), theme.color("cite.edge"), theme.color("diff.gutter"), theme.color("diff.gutter_text")
    )
