"""The desk below the citations: say who judges which, then one key for each verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.audit import GUIDELINE, Support
from ltmem_gui.domain.audit_frames import METHODS, STRATA
from ltmem_gui.domain.audit_repairs import RepairKind
from ltmem_gui.domain.audit_statistics import at_most_wrong
from ltmem_gui.domain.hazards import one_line
from ltmem_gui.pipeline.audit_reports import ReportFormat
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.audit_state import REPORTS, AuditSession, SittingWish
from ltmem_gui.ui.verdict_ids import verdict_ids
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label

VERDICTS = verdict_ids("audit")
REPAIRS: dict[RepairKind, str] = {
    "re-anchor": "Re-anchor to where the lines are now",
    "fix note": "Fix the note: take the words of the note field",
    "remove claim": "Remove the claim",
}
COVERAGE_MS = 250
SETTLE = len(METHODS)
"""The last choice of what to judge."""


class AuditDesk(QFrame):
    """Show a session's state and pass presses on.

    Signals: `begin_asked` (`SittingWish`), `report_asked` (form), `list_wanted` (focus).
    """

    begin_asked = Signal(object)
    report_asked = Signal(object)
    list_wanted = Signal()

    def __init__(self, session: AuditSession, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("audit")
        self.setProperty("role", "foot")
        self.session = session
        self._actions = actions
        self._pages = (self._build_rest(), self._build_setup(), self._build_sitting())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        for page in self._pages:
            layout.addWidget(page)
        self._show_page(0)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COVERAGE_MS)
        self._timer.timeout.connect(self.show_coverage)
        for id_, support in VERDICTS.items():
            actions.bind(id_, lambda support=support: self.judge(support))
        actions.bind("audit.note", lambda: self.note.setFocus(Qt.FocusReason.ShortcutFocusReason))
        actions.bind("audit.skip", session.skip)
        actions.bind("audit.undo", session.undo)
        session.changed.connect(self._on_session_changed)
        self._on_session_changed()

    def judge(self, support: Support) -> None:
        """Give the current item a verdict with the note that was written."""
        if self.session.judge(support, self.note.text()):
            self.note.clear()
        self.list_wanted.emit()

    @property
    def page(self) -> int:
        """Return which page is shown: 0 at rest, 1 before a sitting, 2 while one is going on."""
        return next(number for number, page in enumerate(self._pages) if not page.isHidden())

    def show_coverage(self) -> None:
        """Count again what is judged and supported."""
        words = self.session.coverage_words()
        self._coverage.set_text(" · ".join(words[2:]))
        self._coverage.setToolTip("\n".join(words))

    # parts

    def _build_rest(self) -> QWidget:
        self.opener = QPushButton("Judge citations…")
        self.opener.setObjectName("audit.open")
        self.opener.clicked.connect(self._on_open_clicked)
        words = plain_label(
            "Do the cited lines support the claims? Stores your verdicts, and what the lines say now.", role="muted"
        )
        self.report = QPushButton("Report ▾")
        self.report.setObjectName("audit.report")
        self.report.setAccessibleName("Save a report of the citations")
        self.report.setToolTip("Reads the memory folder, cited sessions and verdicts; asks before it is written")
        self.report.setProperty("flat", "true")
        self.reports = QMenu(self.report)
        for form, title in REPORTS.items():
            entry = self.reports.addAction(f"{title}…")
            entry.setObjectName(f"audit.report.{form}")
            entry.triggered.connect(partial(self._on_report_chosen, form))
        self.report.clicked.connect(self._on_report_clicked)
        return _row(self.opener, words, None, self.report)

    def _build_setup(self) -> QWidget:
        self.rater = _field("audit.rater", "Rater", 160)
        self.method = _choice(
            "audit.method", "Which citations", ("All", "Random", "Stratified", "What raters differ in")
        )
        self.method.currentIndexChanged.connect(self._on_method_changed)
        self.number = _field("audit.size", "How many", 64)
        self.number.setText("59")
        self.number.textChanged.connect(self._on_number_changed)
        self.by = _choice("audit.by", "Strata", ("by file", "by age", "by new or older", "by smell"))
        self.seed = _field("audit.seed", "Seed", 64)
        self.seed.setText("1")
        self.seed.setToolTip("The same seed draws the same sample")
        self.blind = QCheckBox("Blind")
        self.blind.setObjectName("audit.blind")
        self.blind.setChecked(True)
        self.blind.setToolTip("Hides hints and others' verdicts until you have judged")
        self.begin = QPushButton("Begin…")
        self.begin.setObjectName("audit.begin")
        self.begin.setProperty("primary", "true")
        self.begin.setToolTip("Reads the memory folder, the cited sessions and your verdicts; asks before storing any")
        self.begin.clicked.connect(self._on_begin_clicked)
        drop = QPushButton("Not now")
        drop.setObjectName("audit.not_now")
        drop.setProperty("flat", "true")
        drop.clicked.connect(self._on_not_now_clicked)
        self._refusal = plain_label(role="bad")
        self._power = plain_label(role="muted")
        self._power.setObjectName("audit.power")
        rater, judge, seed = (plain_label(text, role="muted") for text in ("Rater", "Judge", "Seed"))
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(_line(rater, self.rater, judge, self.method, self.number, self.by, seed, self.seed, None))
        column.addLayout(_line(self.blind, self._power, self._refusal, None, drop, self.begin))
        return page

    def _build_sitting(self) -> QWidget:
        self._claim = ElidedLabel(fills=True)
        self._claim.setObjectName("audit.claim")
        self._progress = plain_label(role="muted")
        self._progress.setObjectName("audit.progress")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._said = ElidedLabel(role="muted", fills=True)
        self._coverage = ElidedLabel(role="muted", fills=True)
        self._coverage.setObjectName("audit.coverage")
        self.buttons = {id_: self._verdict_button(id_, number) for number, id_ in enumerate(VERDICTS, 1)}
        self.note = _field("audit.note", "Note on the verdict", 300)
        self.note.setPlaceholderText("T  Note, kept with the next verdict")
        self.note.returnPressed.connect(self.list_wanted)
        self.guide = QPushButton("Guide")
        self.guide.setObjectName("audit.guide")
        self.guide.setCheckable(True)
        self.guide.setProperty("flat", "true")
        self._rules = plain_label(
            "\n".join(f"{n}  {s}: {r}" for n, (s, r) in enumerate(GUIDELINE.items(), 1)), wrap=True
        )
        self._rules.hide()
        self.guide.toggled.connect(self._rules.setVisible)
        skip, undo, end = self._side_buttons()
        rows = (
            _line(self._claim, self._progress, self._bar, self.guide, end, fill=self._claim),
            _line(*self.buttons.values(), None),
            _line(self.note, self._said, skip, undo, self.repair, fill=self._said),
            _line(self._coverage, fill=self._coverage),
        )
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for row in rows:
            column.addLayout(row)
        column.addWidget(self._rules)
        return page

    def _verdict_button(self, id_: str, number: int) -> QPushButton:
        support = VERDICTS[id_]
        button = QPushButton(f"{number}  {str(support).capitalize()}")
        button.setObjectName(id_)
        button.setAccessibleName(f"{support}, key {number}")
        button.setToolTip(GUIDELINE[support])
        button.clicked.connect(lambda: self._press(id_))
        return button

    def _side_buttons(self) -> tuple[QPushButton, QPushButton, QPushButton]:
        skip = QPushButton("S  Skip")
        skip.setObjectName("audit.skip")
        skip.clicked.connect(lambda: self._press("audit.skip"))
        undo = QPushButton("Z  Undo")
        undo.setObjectName("audit.undo")
        undo.clicked.connect(lambda: self._press("audit.undo"))
        self.repair = QPushButton("Propose ▾")
        self.repair.setObjectName("audit.propose")
        self.repair.setAccessibleName("Propose a change for the review")
        self.repair.setProperty("flat", "true")
        menu = QMenu(self.repair)
        for kind, words in REPAIRS.items():
            entry = menu.addAction(words)
            entry.setObjectName(f"audit.propose.{kind}")
            entry.triggered.connect(partial(self._on_repair_chosen, kind))
        self.repairs = menu
        self.repair.clicked.connect(self._on_repair_clicked)
        end = QPushButton("End")
        end.setObjectName("audit.end")
        end.clicked.connect(self.session.end)
        return skip, undo, end

    def _press(self, id_: str) -> None:
        """Do an action by its button; the keyboard goes back to the list."""
        self._actions.trigger(id_)
        self.list_wanted.emit()

    def _show_page(self, number: int) -> None:
        for place, page in enumerate(self._pages):
            page.setVisible(place == number)

    # slots

    def _on_open_clicked(self) -> None:
        self.rater.setText(self.session.rater)
        self._refusal.setText("")
        self._on_method_changed()
        self._show_page(1)
        self.rater.setFocus()

    def _on_not_now_clicked(self) -> None:
        self._show_page(0)
        self.list_wanted.emit()

    def _on_method_changed(self) -> None:
        method = self.method.currentIndex()
        self.number.setVisible(method in (1, 2))
        self.by.setVisible(method == 2)
        self.blind.setVisible(method != SETTLE)
        self._power.setVisible(method in (1, 2))
        self._on_number_changed()

    def _on_number_changed(self) -> None:
        """Say what a sample of this size can tell."""
        text = self.number.text().strip()
        size = int(text) if _is_number(text) else 0
        most = 100 * at_most_wrong(size)
        self._power.setText(f"{size} with no error: at most {most:.1f} % are wrong (95 %)" if size else "")

    def _on_repair_clicked(self) -> None:
        self.repairs.popup(self.repair.mapToGlobal(self.repair.rect().topLeft()))

    def _on_report_clicked(self) -> None:
        self.reports.popup(self.report.mapToGlobal(self.report.rect().topLeft()))

    def _on_report_chosen(self, form: ReportFormat, _checked: bool = False) -> None:
        self.report_asked.emit(form)

    def _on_repair_chosen(self, kind: RepairKind, _checked: bool = False) -> None:
        self.session.propose(kind, self.note.text())

    def _on_begin_clicked(self) -> None:
        settle = self.method.currentIndex() == SETTLE
        method = "all" if settle else METHODS[self.method.currentIndex()]
        size, seed = self.number.text().strip(), self.seed.text().strip()
        if not self.rater.text().strip():
            self._refusal.setText("A rater needs a name")
        elif method != "all" and not (_is_number(size) and int(size) > 0):
            self._refusal.setText("Say how many")
        elif not _is_number(seed):
            self._refusal.setText("A seed is a whole number")
        else:
            self._refusal.setText("")
            by = STRATA[self.by.currentIndex()] if method == "stratified" else None
            number = 0 if method == "all" else int(size)
            self.begin_asked.emit(
                SittingWish(self.rater.text().strip(), method, number, int(seed), by, self.blind.isChecked(), settle)
            )

    def _on_session_changed(self) -> None:
        session = self.session
        queue, item = session.queue, session.current
        for id_ in (*VERDICTS, "audit.note", "audit.skip", "audit.undo"):
            self._actions.allow(id_, "" if queue is not None else "no sitting was begun")
        if queue is None:
            if self.page == 2:
                self._show_page(0)
                self.list_wanted.emit()
            return
        if self.page != 2:
            self._show_page(2)
            self.list_wanted.emit()
        done, total = queue.progress
        self._progress.setText(queue.words)
        self._bar.setMaximum(max(1, total))
        self._bar.setValue(done)
        finished = "Everything in this frame is judged. End the sitting, or go back with Z."
        self._claim.set_text(f"Claim: {one_line(item.claim, 600) or '(none)'}" if item is not None else finished)
        self._said.set_text(self._said_words())
        self._timer.start()

    def _said_words(self) -> str:
        session = self.session
        own = session.standing
        parts: list[str] = []
        if own is not None:
            stale = ", stale: the texts changed since" if own.is_stale else ""
            parts.append(
                f"You said: {own.support}{stale}" + (f" ({one_line(own.record.note)})" if own.record.note else "")
            )
        parts += [f"{one_line(other.record.rater)}: {other.support}" for other in session.others]
        if session.hints:
            parts.append(f"Hints, not verdicts: {session.hints}")
        return " · ".join(parts)


def _row(*widgets: QWidget | None) -> QWidget:
    """Lay widgets side by side; None takes the room that is left."""
    page = QWidget()
    layout = _line(*widgets)
    layout.setContentsMargins(0, 0, 0, 0)
    page.setLayout(layout)
    return page


def _line(*widgets: QWidget | None, fill: QWidget | None = None) -> QHBoxLayout:
    layout = QHBoxLayout()
    layout.setSpacing(8)
    for widget in widgets:
        if widget is None:
            layout.addStretch(1)
        else:
            layout.addWidget(widget, 1 if widget is fill else 0)
    return layout


def _field(name: str, title: str, width: int) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setAccessibleName(title)
    field.setFixedWidth(width)
    return field


def _choice(name: str, title: str, words: Sequence[str]) -> QComboBox:
    box = QComboBox()
    box.setObjectName(name)
    box.setAccessibleName(title)
    box.addItems(list(words))
    return box


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
