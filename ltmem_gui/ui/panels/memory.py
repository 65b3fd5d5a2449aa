"""The memory folder as it was read: its files and their text."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.pipeline.ports import WorkspaceFile, WorkspaceSnapshot
from ltmem_gui.ui.models import formats
from ltmem_gui.ui.models.text_lines import decoded, lines_of
from ltmem_gui.ui.models.workbench import Seen
from ltmem_gui.ui.panels.citations import line_colors
from ltmem_gui.ui.theme import Theme, monospace
from ltmem_gui.ui.widgets.bars import EmptyPage
from ltmem_gui.ui.widgets.labels import ElidedLabel
from ltmem_gui.ui.widgets.line_view import LineView

PURPOSES = {
    "MEMORY.md": "what future agents look things up in",
    "memory_summary.md": "what future agents always read",
    "raw_memories.md": "extracted memories, by session",
}


class MemoryPanel(QWidget):
    """Show files. Signals: `read_asked` (the folder is to be read)."""

    read_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memory")
        self._theme = theme
        self._snapshot: WorkspaceSnapshot | None = None
        theme.changed.connect(self._on_theme_changed)
        self._summary = ElidedLabel(role="muted")
        self.tree = self._build_tree()
        self._title = ElidedLabel(role="muted")
        self._title.setContentsMargins(12, 6, 12, 6)
        self.text = LineView("memory.text", line_colors(theme), monospace())
        self.text.setAccessibleName("Text of the file")
        self._empty = EmptyPage("memory.empty")
        self._empty.pressed.connect(self.read_asked)
        self._build()

    def _build(self) -> None:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 6, 12, 6)
        row.addWidget(self._summary, 1)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._title)
        column.addWidget(self.text, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.tree)
        splitter.addWidget(right)
        splitter.setSizes([340, 840])
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(splitter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self._stack, 1)

    def _build_tree(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setObjectName("memory.files")
        tree.setAccessibleName("Files of the memory folder")
        tree.setColumnCount(2)
        tree.setHeaderHidden(True)
        tree.setUniformRowHeights(True)
        tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        tree.header().resizeSection(1, 84)
        tree.currentItemChanged.connect(self._on_current_item_changed)
        return tree

    def show_seen(self, seen: Seen) -> None:
        """Show the folder as it was read."""
        if seen.snapshot is self._snapshot:
            return
        self._snapshot = seen.snapshot
        chosen = self._chosen_path()
        self.tree.clear()
        files = seen.snapshot.files if seen.snapshot else {}
        self._stack.setCurrentIndex(1 if files else 0)
        self._summary.set_text(_summary(seen.snapshot) if seen.snapshot else "")
        self._fill(files)
        self.select(chosen if chosen in files else "MEMORY.md" if "MEMORY.md" in files else next(iter(files), ""))

    def teach(self, title: str, sentence: str, action: str = "") -> None:
        """Say what an empty panel means."""
        self._empty.teach(title, sentence, action)

    def select(self, path: str) -> None:
        """Put the keyboard on a file."""
        for item in self.tree.findItems("*", Qt.MatchFlag.MatchWildcard | Qt.MatchFlag.MatchRecursive):
            if item.data(0, Qt.ItemDataRole.UserRole) == path:
                self.tree.setCurrentItem(item)
                return

    def _fill(self, files: Mapping[str, WorkspaceFile]) -> None:
        folders: dict[str, QTreeWidgetItem] = {}
        for path in sorted(files, key=lambda name: ("/" in name, name)):
            folder, _, name = path.rpartition("/")
            item = QTreeWidgetItem([one_line(name), formats.size(len(files[path].data))])
            item.setData(0, Qt.ItemDataRole.UserRole, path)
            item.setToolTip(0, one_line(path, 300).replace("<", "‹"))
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setForeground(1, self._theme.color("muted"))
            item.setIcon(0, self._theme.icon("file", "muted"))
            if not folder:
                self.tree.addTopLevelItem(item)
                continue
            if folder not in folders:
                folders[folder] = QTreeWidgetItem([one_line(folder) + "/", ""])
                folders[folder].setIcon(0, self._theme.icon("folder", "muted"))
                self.tree.addTopLevelItem(folders[folder])
                folders[folder].setExpanded(True)
            folders[folder].addChild(item)

    def _chosen_path(self) -> str:
        item = self.tree.currentItem()
        return str(item.data(0, Qt.ItemDataRole.UserRole) or "") if item is not None else ""

    def _on_current_item_changed(self) -> None:
        path = self._chosen_path()
        file = self._snapshot.files.get(path) if self._snapshot else None
        if file is None:
            self._title.set_text(path)
            self.text.show_lines(())
            return
        lines = lines_of(decoded(file.data))
        purpose = PURPOSES.get(path, "")
        facts = f"{formats.plural(len(lines), 'line')}, {formats.size(len(file.data))}"
        self._title.set_text(f"{one_line(path, 300)} · {facts}{' · ' + purpose if purpose else ''}")
        self.text.show_lines(lines)

    def _on_theme_changed(self) -> None:
        self.text.set_colors(line_colors(self._theme))
        path = self._chosen_path()
        self.tree.clear()
        self._fill(self._snapshot.files if self._snapshot else {})
        self.select(path)


def _summary(snapshot: WorkspaceSnapshot) -> str:
    parts = [one_line(snapshot.root, 300), formats.plural(len(snapshot.files), "file")]
    parts.append(f"baseline {snapshot.baseline[:8]}" if snapshot.baseline else "no baseline yet")
    if snapshot.leftover:
        parts.append("a leftover phase2_workspace_diff.md was found")
    parts.extend(one_line(problem, 200) for problem in snapshot.problems)
    return "  ·  ".join(parts)
