"""The detail of one queue row: why, what to do, every rule, every attempt, sizes, and the log."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.job_facts import InputFacts, attempt_cells, facts_of, reason_of, remedy_of
from ltmem_gui.ui.models.job_log import LogLine
from ltmem_gui.ui.models.job_rows import PHASE_TWO, JobRow
from ltmem_gui.ui.models.job_state import TITLES, UP_TO_DATE_RULE, StateKind
from ltmem_gui.ui.panels.queue_log import QueueLog
from ltmem_gui.ui.theme import Theme, bold_font
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.facts import Fact, FactGrid
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label, set_role

_ROLES = {StateKind.BAD: "bad", StateKind.GOOD: "good", StateKind.NEEDS: "needs", StateKind.STOPPED: "muted"}
TABS = ("rules", "attempts", "log")
# More attempts than this are folded away under the newest.
UNFOLDED = 3

# What can be done with rows, in groups; the same in the menu of the table and in the detail.
MENU = (
    ("queue.detail", "queue.log", "queue.copy_id"),
    ("queue.rollout", "queue.input", "queue.output", "queue.citations", "queue.editor", "queue.reveal"),
    ("queue.cancel", "queue.retry", "queue.run_now", "queue.larger", "queue.smaller", "queue.split"),
    ("queue.hold", "queue.release", "queue.exclude", "queue.lift"),
    ("queue.forget",),
)


def fill_menu(menu: QMenu, actions: ActionRegistry) -> QMenu:
    """Put what can be done with rows into a menu; what is not possible says why."""
    menu.setToolTipsVisible(True)
    for group in MENU:
        for id_ in group:
            menu.addAction(actions.action(id_))
        menu.addSeparator()
    return menu


class QueueDetail(QStackedWidget):
    """Show one row."""

    def __init__(self, theme: Theme, actions: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queue.detail")
        self._theme = theme
        self._row: JobRow | None = None
        self._shown_at = 0
        self._recolor = False
        self._given: InputFacts | None = None
        self._lines: tuple[LogLine, ...] = ()
        self._more: tuple[tuple[str, str], ...] = ()
        theme.changed.connect(self._on_theme_changed)
        self._empty = EmptyPage("queue.detail.empty")
        self._empty.teach("No rollout selected", "Select a row to see why it is, or is not, in the next run.")
        self.addWidget(self._empty)
        self.addWidget(self._build(actions))

    @property
    def row(self) -> JobRow | None:
        """Return what is shown."""
        return self._row

    def show_row(
        self,
        row: JobRow | None,
        now: int,
        given: InputFacts | None = None,
        lines: Sequence[LogLine] = (),
        more: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show a row, or the empty page; `given` tells of its input, `lines` are its log, `more` further facts."""
        before, self._row, self._shown_at, self._given = self._row, row, now, given
        self._lines, self._more = tuple(lines), tuple(more)
        self.setCurrentIndex(0 if row is None else 1)
        if row is None:
            return
        self._title.set_text(row.title)
        self._state.setText(f"{row.state.label}  ·  {TITLES[row.state.kind]}")
        set_role(self._state, "role", _ROLES.get(row.state.kind, ""))
        self._reason.setText(reason_of(row))
        self._remedy.setText(remedy_of(row))
        self._remedy.setVisible(bool(self._remedy.text()))
        facts = [Fact(name, value) for name, value in facts_of(row, now, given)]
        self._facts.show_facts([*facts, *(Fact(name, value, whole=True) for name, value in self._more)])
        # A run tells of a row ten times a second: what has not changed is not laid out anew.
        if before is None or before.key != row.key or before.scanned is not row.scanned or self._recolor:
            self._show_rules(row)
        if before is None or before.key != row.key or before.job is not row.job:
            self._show_attempts(row)
        self._recolor = False
        self.log.show_lines(self._lines)

    def take_focus(self) -> None:
        """Move the keyboard into the detail."""
        pages = (self._rules, self._attempts, self.log.text)
        (pages[self._tabs.currentIndex()] if self._row is not None else self).setFocus(
            Qt.FocusReason.ShortcutFocusReason
        )

    def show_log(self) -> None:
        """Show the log, with the keyboard in it."""
        self._tabs.setCurrentIndex(TABS.index("log"))
        self.take_focus()

    def _on_theme_changed(self) -> None:
        self._recolor = True
        self.show_row(self._row, self._shown_at, self._given, self._lines, self._more)

    def _build(self, actions: ActionRegistry) -> QWidget:
        page = QWidget()
        page.setProperty("role", "page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = ElidedLabel(fills=True)
        self._title.setFont(bold_font())
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title, 1)
        for id_ in ("queue.rollout", "queue.output", "queue.copy_id"):
            head.addWidget(_button(actions.action(id_)))
        more = _button(None)
        more.setObjectName("queue.detail.more")
        more.setText("More ▾")
        more.setAccessibleName("More actions of this row")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setMenu(fill_menu(QMenu(more), actions))
        head.addWidget(more)
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
        self._facts = FactGrid(horizontal=12, vertical=2)
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
        self._rules = _tree("queue.detail.rules", "Rules of eligibility", ("Rule", "Value"), (150,))
        self._attempts = _tree(
            "queue.detail.attempts",
            "Attempts",
            ("Try", "Outcome", "Started", "Took", "Tokens", "Cost", "Owner", "Reason"),
            (60, 108, 152, 64, 60, 96, 140),
        )
        self._attempts.setRootIsDecorated(True)
        self._attempts.setIndentation(12)
        self.log = QueueLog()
        self._tabs = QTabBar()
        self._tabs.setObjectName("queue.detail.tabs")
        self._tabs.setAccessibleName("Rules, attempts, log")
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setUsesScrollButtons(False)
        pages = QStackedWidget()
        for title, page in (("Rules", self._rules), ("Attempts", self._attempts), ("Log", self.log)):
            self._tabs.addTab(title)
            pages.addWidget(page)
        self._tabs.currentChanged.connect(pages.setCurrentIndex)
        self.log.counted.connect(lambda shown, total: self._tabs.setTabText(2, _titled("Log", shown, total)))
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self._tabs)
        column.addWidget(pages, 1)
        return column

    def _show_rules(self, row: JobRow) -> None:
        self._rules.clear()
        reasons = row.scanned.eligibility.reasons if row.scanned else ()
        failed = sum(1 for reason in reasons if not reason.passed)
        self._tabs.setTabText(0, f"Rules {len(reasons) - failed} of {len(reasons)} passed" if reasons else "Rules")
        if not reasons:
            why = "rules are about rollouts" if row.phase == PHASE_TWO else "not in the last scan, so no rule was asked"
            self._rules.addTopLevelItem(QTreeWidgetItem(["–", why]))
        for reason in sorted(reasons, key=lambda r: r.passed):
            # That a rollout was extracted already is why it is not taken, and nothing is wrong with it.
            done = reason.rule == UP_TO_DATE_RULE and not reason.passed
            sign = "✓" if reason.passed else "○" if done else "✕"
            item = QTreeWidgetItem([f"{sign} {reason.rule.replace('_', ' ')}", one_line(reason.text, 300)])
            spoken = f"{'passed' if reason.passed else 'failed'}: {reason.rule}"
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, spoken)
            if not reason.passed:
                item.setForeground(0, self._theme.color("muted" if done else "state.bad"))
            self._rules.addTopLevelItem(item)

    def _show_attempts(self, row: JobRow) -> None:
        attempts = list(reversed(row.job.attempts if row.job else ()))
        self._attempts.clear()
        self._tabs.setTabText(1, f"Attempts {len(attempts)}" if attempts else "Attempts")
        folded = attempts[1:] if len(attempts) > UNFOLDED else []
        for attempt in attempts[: len(attempts) - len(folded)]:
            self._attempts.addTopLevelItem(QTreeWidgetItem(attempt_cells(attempt)))
        if folded:
            fold = QTreeWidgetItem([f"{len(folded)} replaced attempts"])
            self._attempts.addTopLevelItem(fold)
            fold.setFirstColumnSpanned(True)
            fold.addChildren([QTreeWidgetItem(attempt_cells(attempt)) for attempt in folded])


def _titled(title: str, shown: int, total: int) -> str:
    return f"{title} {shown} of {total}" if shown != total else f"{title} {total}" if total else title


def _button(action: QAction | None) -> QToolButton:
    button = QToolButton()
    if action is not None:
        button.setObjectName(f"{action.objectName()}.button")
        button.setDefaultAction(action)
    button.setProperty("role", "flat")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def _tree(name: str, title: str, columns: tuple[str, ...], widths: tuple[int, ...]) -> QTreeWidget:
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
    for place, width in enumerate(widths):
        tree.header().resizeSection(place, width)
    return tree
