"""The detail of one queue row: why, what to do, every rule, every attempt, sizes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.jobs import Attempt
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.job_rows import JobRow
from ltmem_gui.ui.models.job_state import TITLES, StateKind
from ltmem_gui.ui.theme import Theme, bold_font
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label, set_role

_ROLES = {StateKind.BAD: "bad", StateKind.GOOD: "good", StateKind.NEEDS: "needs", StateKind.STOPPED: "muted"}

# What a person can do, by the first rule that failed.
_REMEDIES = {
    "interactive": "To take such sessions too: --set include_non_interactive=true.",
    "age": "To take older sessions: --set max_rollout_age_days=N.",
    "idle": "It is taken once it has rested; or --set min_rollout_idle_hours=0.",
    "up_to_date": "Nothing to do: it is taken again when the session goes on.",
    "memory_mode": "The agent's own setting for this session; it is respected.",
    "root_session": "Runs of sub-agents belong to their parent session.",
    "own_run": "Memory runs are never learnt from.",
}


class QueueDetail(QStackedWidget):
    """Show one row."""

    def __init__(self, theme: Theme, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue.detail")
        self._theme = theme
        self._row: JobRow | None = None
        self._shown_at = 0
        theme.changed.connect(self._on_theme_changed)
        self._empty = EmptyPage("queue.detail.empty")
        self._empty.teach("No rollout selected", "Select a row to see why it is, or is not, in the next run.")
        self.addWidget(self._empty)
        self.addWidget(self._build(actions))

    @property
    def row(self) -> JobRow | None:
        """Return what is shown."""
        return self._row

    def show_row(self, row: JobRow | None, now: int) -> None:
        """Show a row, or the empty page."""
        self._row = row
        self._shown_at = now
        self.setCurrentIndex(0 if row is None else 1)
        if row is None:
            return
        self._title.set_text(row.title)
        self._state.setText(f"{row.state.label}  ·  {TITLES[row.state.kind]}")
        set_role(self._state, "role", _ROLES.get(row.state.kind, ""))
        self._reason.setText(_reason(row))
        self._remedy.setText(_remedy(row))
        self._remedy.setVisible(bool(self._remedy.text()))
        self._show_facts(row, now)
        self._show_rules(row)
        self._show_attempts(row)

    def take_focus(self) -> None:
        """Move the keyboard into the detail."""
        (self._rules if self._row is not None else self).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_theme_changed(self) -> None:
        self.show_row(self._row, self._shown_at)

    def _build(self, actions: ActionRegistry) -> QWidget:
        page = QWidget()
        page.setProperty("role", "page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = ElidedLabel()
        self._title.setFont(bold_font())
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 1)
        for id_ in ("queue.rollout", "queue.copy_id"):
            head.addWidget(_button(actions.action(id_)))
        body = QHBoxLayout()
        body.setSpacing(16)
        body.addWidget(self._build_reason(), 2)
        body.addLayout(self._build_lists(), 3)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addLayout(body, 1)
        return page

    def _build_reason(self) -> QScrollArea:
        self._state = plain_label()
        self._reason = plain_label(wrap=True, selectable=True)
        self._reason.setObjectName("queue.detail.reason")
        self._remedy = plain_label(wrap=True, role="muted", selectable=True)
        self._facts = QGridLayout()
        self._facts.setHorizontalSpacing(12)
        self._facts.setVerticalSpacing(2)
        self._facts.setColumnStretch(1, 1)
        holder = QWidget()
        holder.setProperty("role", "page")
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(4)
        for label in (self._state, self._reason, self._remedy):
            column.addWidget(label)
        column.addSpacing(8)
        column.addLayout(self._facts)
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("queue.detail.facts")
        area.setAccessibleName("Facts of the rollout")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(holder)
        return area

    def _build_lists(self) -> QVBoxLayout:
        self._rules = _tree("queue.detail.rules", "Rules of eligibility", ("Rule", "Value"))
        self._attempts = _tree(
            "queue.detail.attempts", "Attempts", ("Try", "Outcome", "Started", "Took", "Tokens", "Reason")
        )
        self._rules_title = plain_label("Rules", role="muted")
        self._attempts_title = plain_label("Attempts", role="muted")
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self._rules_title)
        column.addWidget(self._rules, 3)
        column.addWidget(self._attempts_title)
        column.addWidget(self._attempts, 1)
        return column

    def _show_facts(self, row: JobRow, now: int) -> None:
        while (item := self._facts.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for line, (name, value) in enumerate(_facts(row, now)):
            self._facts.addWidget(plain_label(name, role="muted"), line, 0, Qt.AlignmentFlag.AlignTop)
            label = ElidedLabel(value, Qt.TextElideMode.ElideMiddle)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            self._facts.addWidget(label, line, 1)

    def _show_rules(self, row: JobRow) -> None:
        self._rules.clear()
        reasons = row.scanned.eligibility.reasons if row.scanned else ()
        failed = sum(1 for reason in reasons if not reason.passed)
        self._rules_title.setText(
            f"Rules: {len(reasons) - failed} of {len(reasons)} passed" if reasons else "Rules: not in the last scan"
        )
        for reason in sorted(reasons, key=lambda r: r.passed):
            sign = "✓" if reason.passed else "✕"
            item = QTreeWidgetItem([f"{sign} {reason.rule.replace('_', ' ')}", one_line(reason.text, 300)])
            item.setData(
                0, Qt.ItemDataRole.AccessibleTextRole, f"{'passed' if reason.passed else 'failed'}: {reason.rule}"
            )
            if not reason.passed:
                item.setForeground(0, self._theme.color("state.bad"))
            self._rules.addTopLevelItem(item)

    def _show_attempts(self, row: JobRow) -> None:
        attempts = row.job.attempts if row.job else ()
        self._attempts.clear()
        self._attempts.setVisible(bool(attempts))
        self._attempts_title.setVisible(bool(attempts))
        for attempt in reversed(attempts):
            self._attempts.addTopLevelItem(QTreeWidgetItem(_attempt(attempt)))


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setObjectName(f"{action.objectName()}.button")
    button.setDefaultAction(action)
    button.setProperty("role", "flat")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button


def _tree(name: str, title: str, columns: tuple[str, ...]) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setObjectName(name)
    tree.setAccessibleName(title)
    tree.setColumnCount(len(columns))
    tree.setHeaderLabels(list(columns))
    tree.setHeaderHidden(len(columns) == 2)
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setIndentation(0)
    tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    tree.header().setStretchLastSection(True)
    tree.header().resizeSection(0, 150 if len(columns) == 2 else 48)
    return tree


def _reason(row: JobRow) -> str:
    if row.reason:
        return row.reason
    match row.state.kind:
        case StateKind.WAITING:
            return "It passes every rule and will be in the next run."
        case StateKind.GOOD if row.state.name == "nothing to keep":
            return "It was read, and nothing in it would help a future agent. That is a success."
        case StateKind.GOOD:
            return "It was extracted; nothing has changed since."
        case StateKind.RUNNING:
            return "It is being extracted now."
        case _:
            return ""


def _remedy(row: JobRow) -> str:
    failed = row.scanned.eligibility.failed if row.scanned else ()
    return _REMEDIES.get(failed[0].rule, "") if failed and row.state.kind is not StateKind.WAITING else ""


def _facts(row: JobRow, now: int) -> list[tuple[str, str]]:
    facts = [("Session", row.thread_id), ("Folder", one_line(row.cwd, 400) or formats.DASH)]
    scanned = row.scanned
    if scanned is not None:
        facts.append(("File", one_line(scanned.path, 400)))
        if scanned.git_branch:
            facts.append(("Branch", one_line(scanned.git_branch)))
        facts.append(("Changed", f"{formats.absolute(scanned.updated_at)}  ({formats.ago(scanned.updated_at, now)})"))
        size = f"{formats.size(scanned.ref.size)} on disk, {formats.plural(scanned.items, 'item')}"
        facts.append(("Size", f"{size}, ~{formats.tokens(scanned.tokens)} tokens after filtering"))
        if scanned.skipped_lines:
            first = scanned.skipped_lines[0]
            text = f"{formats.plural(len(scanned.skipped_lines), 'line')}; line {first.line}: {one_line(first.reason)}"
            facts.append(("Unreadable", text))
        facts.extend(("Warning", one_line(warning, 300)) for warning in scanned.warnings)
    if row.owner and row.lease_until is not None:
        facts.append(("Lease", f"{row.owner}, until {formats.absolute(row.lease_until)}"))
    return facts


def _attempt(attempt: Attempt) -> list[str]:
    took = formats.DASH if attempt.ended_at is None else formats.span(attempt.ended_at - attempt.started_at)
    used = None
    if attempt.tokens_in is not None or attempt.tokens_out is not None:
        used = (attempt.tokens_in or 0) + (attempt.tokens_out or 0)
    return [
        str(attempt.number),
        attempt.outcome,
        formats.absolute(attempt.started_at),
        took,
        formats.tokens(used),
        one_line(attempt.error, 300),
    ]
