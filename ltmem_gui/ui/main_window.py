"""The window: sidebar, strips and panels put together. It decides nothing; the controller does."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.pipeline.operations import Operations
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.job_table import JobTableModel
from ltmem_gui.ui.panels.agent_transcript import AgentDrawer
from ltmem_gui.ui.panels.citations import CitationsPanel
from ltmem_gui.ui.panels.folders import FoldersPage
from ltmem_gui.ui.panels.history import HistoryPanel
from ltmem_gui.ui.panels.inbox import InboxPanel
from ltmem_gui.ui.panels.memory import MemoryPanel
from ltmem_gui.ui.panels.queue import QueuePanel
from ltmem_gui.ui.panels.review import ReviewPanel
from ltmem_gui.ui.panels.run_bar import RunBar, StatusStrip
from ltmem_gui.ui.theme import Theme
from ltmem_gui.ui.widgets.bars import MessageBar

PANELS = ("queue", "inbox", "review", "citations", "memory", "history")
SIDEBAR_WIDTH = 168


class MainWindow(QMainWindow):
    """The one window.

    Signals: `closed` (reason) when a person closes it; `panel_shown` (name, "folders" for the start page).
    """

    closed = Signal(str)
    panel_shown = Signal(str)

    def __init__(self, operations: Operations, supervisor: Supervisor, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("main")
        self.setWindowTitle("LTMem")
        self.setMinimumSize(960, 600)
        self.resize(1280, 800)
        self.theme = theme
        self.registry = ActionRegistry(theme.icon)
        model = JobTableModel(supervisor, theme.color, parent=self)
        self.queue = QueuePanel(theme, self.registry, supervisor, model)
        self.inbox = InboxPanel(theme, self.registry)
        self.review = ReviewPanel(operations, supervisor, theme, self)
        self.citations = CitationsPanel(operations, supervisor, theme, self.registry)
        self.memory = MemoryPanel(theme)
        self.history = HistoryPanel(theme)
        self.folders = FoldersPage(theme, supervisor)
        self._panels: dict[str, QWidget] = {
            "queue": self.queue,
            "inbox": self.inbox,
            "review": self.review,
            "citations": self.citations,
            "memory": self.memory,
            "history": self.history,
            "folders": self.folders,
        }
        self.strip = StatusStrip(theme, self.registry)
        self.run_bar = RunBar(theme, self.registry)
        self.messages = MessageBar(theme.icon)
        self.agent = AgentDrawer(theme)
        self.stack = QStackedWidget()
        self.stack.setObjectName("panels")
        for panel in self._panels.values():
            self.stack.addWidget(panel)
        self.sidebar = self._build_sidebar()
        self.setCentralWidget(self._build_frame())
        self.registry.attach(self, "everywhere")
        theme.changed.connect(self._on_theme_changed)
        self.show_panel("folders")
        self.folders.sessions.setFocus()

    @property
    def shown_panel(self) -> str:
        """Return the name of the panel that is shown."""
        return next(name for name, panel in self._panels.items() if panel is self.stack.currentWidget())

    def show_panel(self, name: str) -> None:
        """Show a panel by name."""
        self.stack.setCurrentWidget(self._panels[name])
        first = {"queue": self.queue.table, "inbox": self.inbox.list, "citations": self.citations.table}.get(name)
        if first is not None:
            first.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if name in PANELS:
            self.sidebar.setCurrentRow(PANELS.index(name))
        else:
            self.sidebar.setCurrentRow(-1)
            self.sidebar.clearSelection()
        self.panel_shown.emit(name)

    def ask_for_attention(self) -> None:
        """Mark the window in the task bar until a person looks at it."""
        QApplication.alert(self)

    def set_badge(self, name: str, number: int) -> None:
        """Show a count beside a panel's name."""
        title = self.registry.action(f"panel.{name}").text()
        if name == "review":
            self.setWindowTitle(f"{number} undecided – LTMem" if number else "LTMem")
        item = self.sidebar.item(PANELS.index(name))
        text = f"{title}   {number}" if number else title
        if item.text() == text:
            return
        item.setText(text)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}, {number}" if number else title)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hand over to the shutdown; nothing is asked, and nothing that is open means yes."""
        event.ignore()
        self.closed.emit("window closed")

    def _build_sidebar(self) -> QListWidget:
        sidebar = QListWidget()
        sidebar.setObjectName("sidebar")
        sidebar.setAccessibleName("Panels")
        sidebar.setFixedWidth(SIDEBAR_WIDTH)
        sidebar.setIconSize(QSize(16, 16))
        sidebar.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for name in PANELS:
            action = self.registry.action(f"panel.{name}")
            item = QListWidgetItem(action.icon(), action.text())
            item.setSizeHint(QSize(0, max(32, sidebar.fontMetrics().height() + 16)))
            sidebar.addItem(item)
        sidebar.itemSelectionChanged.connect(self._on_sidebar_selected)
        return sidebar

    def _build_frame(self) -> QWidget:
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.messages)
        right.addWidget(self._build_work(), 1)
        below = QHBoxLayout()
        below.setSpacing(0)
        below.addWidget(self.sidebar)
        below.addLayout(right, 1)
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(self.run_bar)
        column.addLayout(below, 1)
        return central

    def _build_work(self) -> QSplitter:
        """Put the agent's steps below whatever panel is shown."""
        work = QSplitter(Qt.Orientation.Vertical)
        work.setObjectName("work")
        work.setChildrenCollapsible(False)
        work.addWidget(self.stack)
        work.addWidget(self.agent)
        work.setStretchFactor(0, 1)
        work.setSizes([460, 240])
        return work

    def _on_sidebar_selected(self) -> None:
        rows = self.sidebar.selectedIndexes()
        if rows and PANELS[rows[0].row()] != self.shown_panel:
            self.show_panel(PANELS[rows[0].row()])

    def _on_theme_changed(self) -> None:
        self.registry.refresh_icons()
        self.messages.refresh_icon()
        for row, name in enumerate(PANELS):
            self.sidebar.item(row).setIcon(self.registry.action(f"panel.{name}").icon())
