"""The inbox: lines the built-in provider was unsure of, to take, reword or drop by keyboard."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.inbox import INBOX_EXPIRY_SECONDS, INBOX_TOTAL, InboxLine
from ltmem_gui.domain.jobs import STAGE1_KIND, JobRecord
from ltmem_gui.pipeline.row_plans import InboxWish
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.labels import plain_label

COLUMNS = ("Decision", "Line", "Session", "Kind", "Score", "Waits", "Expires")
WIDTHS = (110, 480, 200, 100, 60, 70, 80)
DAYS = INBOX_EXPIRY_SECONDS // 86_400
SIGNS = {"take": "✓ take", "reword": "✎ reword", "drop": "✕ drop"}
COLORS = {"take": "state.good", "reword": "state.running", "drop": "state.bad"}


class InboxPanel(QWidget):
    """Collect decisions. Signals: `decided` (tuple of `InboxWish`), `read_asked`, `count_changed` (open lines)."""

    decided = Signal(object)
    read_asked = Signal()
    count_changed = Signal(int)

    def __init__(
        self,
        theme: Theme,
        actions: ActionRegistry,
        clock: Callable[[], float] = time.time,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("inbox")
        self._theme = theme
        self._clock = clock
        self._lines: tuple[InboxLine, ...] | None = None
        self._sessions: dict[str, str] = {}
        self.wishes: dict[int, InboxWish] = {}
        self.list = self._build_list(actions)
        self.words = QLineEdit()
        self.words.setObjectName("inbox.words")
        self.words.setAccessibleName("New words of the line")
        self.words.setPlaceholderText("New words; Return takes the line in these words")
        self.words.returnPressed.connect(self._on_words_entered)
        self.confirm = QPushButton()
        self.confirm.setObjectName("inbox.confirm")
        self.confirm.setProperty("primary", "true")
        self.confirm.clicked.connect(self._on_confirm_clicked)
        self._hint = plain_label("T take · W reword · D drop · U undecided · L rollout", role="muted")
        self._caps = plain_label(role="muted")
        self._caps.setObjectName("inbox.caps")
        self._empty = EmptyPage("inbox.empty")
        self._empty.pressed.connect(self.read_asked)
        self._build()
        for id_, decide in (
            ("inbox.take", lambda: self.decide("take")),
            ("inbox.drop", lambda: self.decide("drop")),
            ("inbox.reword", self._on_reword_pressed),
            ("inbox.undecide", lambda: self.decide(None)),
        ):
            actions.bind(id_, decide)
        self._update()

    def show_seen(self, seen: Seen) -> None:
        """Show the lines that wait; decisions for lines that are gone are forgotten."""
        if seen.inbox == self._lines:
            return
        self._lines = seen.inbox
        self._sessions = {job.job_key: _session(job) for job in seen.jobs if job.kind == STAGE1_KIND}
        waiting = {line.id for line in seen.inbox or ()}
        self.wishes = {id_: wish for id_, wish in self.wishes.items() if id_ in waiting}
        self._fill()

    def teach(self, title: str, sentence: str, action: str = "") -> None:
        """Say what an empty inbox means."""
        self._empty.teach(title, sentence, action)

    def current_line(self) -> InboxLine | None:
        """Return the line the keyboard is on."""
        item = self.list.currentItem()
        id_ = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        return next((line for line in self._lines or () if line.id == id_), None)

    def decide(self, decision: str | None, words: str = "") -> None:
        """Decide the current line and go on to the next; nothing is stored before the confirmation."""
        line = self.current_line()
        if line is None:
            return
        if decision is None:
            self.wishes.pop(line.id, None)
        elif decision == "take":
            self.wishes[line.id] = InboxWish(line.id, "take", "")
        elif decision == "drop":
            self.wishes[line.id] = InboxWish(line.id, "drop", "")
        else:
            self.wishes[line.id] = InboxWish(line.id, "reword", words)
        item = self.list.currentItem()
        if item is not None:
            self._show_decision(item, line)
            below = self.list.itemBelow(item)
            if decision is not None and below is not None:
                self.list.setCurrentItem(below)
        self._update()

    def _build(self) -> None:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(12)
        row.addWidget(self.confirm)
        row.addWidget(self.words, 1)
        row.addWidget(self._hint)
        row.addWidget(self._caps)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.list, 1)
        column.addWidget(foot)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)

    def _build_list(self, actions: ActionRegistry) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setObjectName("inbox.lines")
        tree.setAccessibleName("Lines that wait")
        tree.setColumnCount(len(COLUMNS))
        tree.setHeaderLabels(list(COLUMNS))
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setAlternatingRowColors(True)
        tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for index, width in enumerate(WIDTHS):
            tree.header().resizeSection(index, width)
        actions.attach(tree, "inbox")
        return tree

    def _fill(self) -> None:
        line = self.current_line()
        self.list.clear()
        now = int(self._clock())
        for waiting in self._lines or ():
            texts = [
                "",
                one_line(waiting.text, 300),
                self._sessions.get(waiting.thread_id, waiting.thread_id),
                waiting.kind,
                str(waiting.score),
                formats.span(now - waiting.created_at),
                formats.ago(waiting.expires_at, now),
            ]
            item = QTreeWidgetItem(texts)
            item.setData(0, Qt.ItemDataRole.UserRole, waiting.id)
            item.setToolTip(1, one_line(waiting.text, 600).replace("<", "‹"))
            self._show_decision(item, waiting)
            self.list.addTopLevelItem(item)
            if line is not None and waiting.id == line.id:
                self.list.setCurrentItem(item)
        first = self.list.topLevelItem(0)
        if self.list.currentItem() is None and first is not None:
            self.list.setCurrentItem(first)
        self._stack.setCurrentIndex(1 if self._lines else 0)
        self._caps.setText(f"{len(self._lines or ())} of at most {INBOX_TOTAL} wait, {DAYS} days each")
        self.count_changed.emit(len(self._lines or ()))
        self._update()

    def _show_decision(self, item: QTreeWidgetItem, line: InboxLine) -> None:
        wish = self.wishes.get(line.id)
        item.setText(0, SIGNS[wish.decision] if wish is not None else "○ undecided")
        item.setForeground(0, self._theme.color(COLORS[wish.decision] if wish is not None else "muted"))
        item.setText(1, one_line(wish.text if wish is not None and wish.text else line.text, 300))

    def _update(self) -> None:
        number = len(self.wishes)
        self.confirm.setText(f"Confirm {formats.plural(number, 'decision')}…" if number else "No decisions yet")
        self.confirm.setEnabled(bool(number))

    def _on_reword_pressed(self) -> None:
        line = self.current_line()
        if line is not None:
            self.words.setText(one_line(line.text, 1_000))
            self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.words.selectAll()

    def _on_words_entered(self) -> None:
        words = self.words.text().strip()
        if words:
            self.decide("reword", words)
        self.words.clear()
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_confirm_clicked(self) -> None:
        self.decided.emit(tuple(self.wishes.values()))


def _session(job: JobRecord) -> str:
    """Return project and title of the session a line is from."""
    title = one_line(job.title, 120) or job.job_key
    return f"{formats.project(job.cwd)} · {title}" if job.cwd else title
