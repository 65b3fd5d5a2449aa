"""The start page: name what to work with. Naming opens nothing; each press says what it reads."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.bridge.supervisor import Supervisor
from ltmem_gui.ui.models.workbench import Folders
from ltmem_gui.ui.theme import Theme, bold_font, title_font
from ltmem_gui.ui.widgets.file_dialogs import keep_no_history
from ltmem_gui.ui.widgets.labels import plain_label, rule

AGENTS = (("codex", "Codex"), ("claude", "Claude Code"))
PAGE_WIDTH = 720


class FoldersPage(QScrollArea):
    """Name a sessions folder, a memory folder and a data folder, or open the demo.

    Signals: `named` (`Folders`) when a person confirms, `demo_asked` (`Path` of the folder to create), `model_asked`
    (the page of providers is wanted).
    """

    named = Signal(object)
    demo_asked = Signal(object)
    model_asked = Signal()

    def __init__(self, theme: Theme, supervisor: Supervisor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("folders")
        self.setAccessibleName("Folders")
        self.setWidgetResizable(True)
        self._theme = theme
        self._supervisor = supervisor
        page = QWidget()
        page.setProperty("role", "page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        outer = QHBoxLayout(page)
        outer.setContentsMargins(32, 24, 32, 24)
        column = QVBoxLayout()
        column.setSpacing(8)
        outer.addStretch(1)
        outer.addLayout(column, 100)
        outer.addStretch(1)
        page.setMaximumWidth(PAGE_WIDTH * 3)
        self._build(column)
        column.addStretch(1)
        self.setWidget(page)
        self._update_go()

    def show_folders(self, folders: Folders) -> None:
        """Put named folders into the lines."""
        if folders.sources:
            first = folders.sources[0]
            self.sessions.setText(first.path)
            self.agent.setCurrentIndex(max(0, self.agent.findData(first.agent)))
        if folders.memory_root is not None:
            self.memory.setText(str(folders.memory_root))
        if folders.home is not None:
            self.home.setText(str(folders.home))
        self._further = folders.sources[1:]
        self._update_go()

    def set_busy(self, busy: bool) -> None:
        """Tell whether a task runs: other folders are named after it."""
        self._busy = busy
        self._update_go()

    def folders(self) -> Folders:
        """Return what the lines name."""
        sessions, memory, home = (line.text().strip() for line in (self.sessions, self.memory, self.home))
        first = (SourceSpec(self.agent.currentData(), str(_path(sessions))),) if sessions else ()
        return Folders(
            first + self._further,
            _path(memory) if memory else None,
            _path(home) if home else None,
        )

    def _build(self, column: QVBoxLayout) -> None:
        self._further: tuple[SourceSpec, ...] = ()
        self._busy = False
        column.addWidget(plain_label("A memory for coding agents that you can trust", font=title_font()))
        column.addWidget(
            plain_label(
                "Nothing has been read, and nothing will be written or sent before you confirm it.",
                role="muted",
                wrap=True,
            )
        )
        column.addSpacing(12)
        self.agent = QComboBox()
        self.agent.setObjectName("folders.agent")
        self.agent.setAccessibleName("Agent that wrote the sessions")
        for id_, title in AGENTS:
            self.agent.addItem(title, id_)
        self.sessions = self._line("folders.sessions", "Sessions folder", "for example ~/.codex or ~/.claude/projects")
        self.sessions.textChanged.connect(self._on_sessions_changed)
        self.memory = self._line("folders.memory", "Memory folder", "for example ~/.codex/memories; need not exist")
        self.home = self._line("folders.home", "Data folder", "queue and receipts of this program; need not exist")
        self.home.textChanged.connect(self._on_home_changed)
        self._row(
            column,
            "1  Name a sessions folder",
            "The transcripts your agent left. They are read when you press Scan, and never changed.",
            self.sessions,
            self.agent,
        )
        self._row(
            column,
            "2  Name a memory folder",
            "What future agents will read. It is written only after a review and a confirmation.",
            self.memory,
        )
        self._row(
            column,
            "3  Data folder of this program",
            "Queue, extracted memories and receipts. It is created by the first confirmed run.",
            self.home,
        )
        self._build_model(column)
        go = QHBoxLayout()
        go.setSpacing(12)
        self.go = QPushButton("Use these folders and scan")
        self.go.setObjectName("folders.scan")
        self.go.setProperty("primary", "true")
        self.go.setToolTip("Reads the sessions folder in memory only; nothing is written or sent")
        self.go.clicked.connect(self._on_go_clicked)
        self._hint = plain_label("", role="muted", wrap=True)
        go.addWidget(self.go)
        go.addWidget(self._hint, 1)
        column.addSpacing(8)
        column.addLayout(go)
        column.addSpacing(16)
        column.addWidget(rule())
        column.addSpacing(8)
        self._build_demo(column)

    def show_model(self, text: str) -> None:
        """Show who extracts and consolidates."""
        self._model.setText(text)

    def _build_model(self, column: QVBoxLayout) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.addWidget(plain_label("4  Who extracts and consolidates", font=bold_font()), 0, 0, 1, 2)
        self._model = plain_label("Built-in rules")
        self._model.setObjectName("folders.model")
        grid.addWidget(self._model, 1, 0)
        choose = QPushButton("Choose a model…")
        choose.setObjectName("folders.model.choose")
        choose.setToolTip("Built-in rules without an AI model, or a model on a server; sends nothing")
        choose.clicked.connect(self.model_asked)
        grid.addWidget(choose, 1, 1)
        grid.setColumnStretch(2, 1)
        column.addLayout(grid)
        column.addSpacing(4)

    def _build_demo(self, column: QVBoxLayout) -> None:
        self.demo = self._line("folders.demo", "Folder of the demo", "a folder that does not exist yet")
        self._row(
            column,
            "Or open the demo",
            "Sample rollouts in a fresh folder of their own: the whole way from queue to written memory. "
            "The folder named here is created when you press the button.",
            self.demo,
        )
        row = QHBoxLayout()
        self.open_demo = QPushButton("Create this folder and open the demo")
        self.open_demo.setObjectName("folders.open_demo")
        self._on_theme_changed()
        self._theme.changed.connect(self._on_theme_changed)
        self.open_demo.clicked.connect(self._on_demo_clicked)
        row.addWidget(self.open_demo)
        row.addStretch(1)
        column.addLayout(row)
        self.demo.textChanged.connect(self._on_demo_changed)

    def _line(self, name: str, title: str, hint: str) -> QLineEdit:
        line = QLineEdit()
        line.setObjectName(name)
        line.setAccessibleName(title)
        line.setPlaceholderText(hint)
        line.returnPressed.connect(self._on_line_entered)
        return line

    def _row(
        self, column: QVBoxLayout, title: str, sentence: str, line: QLineEdit, before: QWidget | None = None
    ) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.addWidget(plain_label(title, font=bold_font()), 0, 0, 1, 3)
        grid.addWidget(plain_label(sentence, role="muted", wrap=True), 1, 0, 1, 3)
        browse = QPushButton("Browse…")
        browse.setObjectName(f"{line.objectName()}.browse")
        browse.setAccessibleName(f"Browse for the {line.accessibleName().lower()}")
        browse.clicked.connect(lambda: self._on_browse_clicked(line))
        if before is not None:
            grid.addWidget(before, 2, 0)
        grid.addWidget(line, 2, 1 if before is not None else 0, 1, 1 if before is not None else 2)
        grid.addWidget(browse, 2, 2)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        column.addSpacing(8)

    def _update_go(self) -> None:
        missing = []
        if not self.sessions.text().strip():
            missing.append("a sessions folder")
        if not self.home.text().strip():
            missing.append("a data folder")
        busy = "A task is running: wait until it is done, or cancel it." if self._busy else ""
        self.go.setEnabled(not missing and not busy)
        self._hint.setText(busy or (f"Name {' and '.join(missing)} first." if missing else ""))
        self.open_demo.setEnabled(bool(self.demo.text().strip()) and not busy)
        self.open_demo.setToolTip(busy)

    def _on_sessions_changed(self, text: str) -> None:
        # Told by the name alone: the folder is not opened to find out.
        if ".claude" in text:
            self.agent.setCurrentIndex(self.agent.findData("claude"))
        elif ".codex" in text:
            self.agent.setCurrentIndex(self.agent.findData("codex"))
        self._update_go()

    def _on_theme_changed(self) -> None:
        self.open_demo.setIcon(self._theme.icon("demo"))

    def _on_home_changed(self) -> None:
        self._update_go()

    def _on_demo_changed(self) -> None:
        self._update_go()

    def _on_line_entered(self) -> None:
        self.focusNextPrevChild(True)

    def _on_go_clicked(self) -> None:
        self.named.emit(self.folders())

    def _on_demo_clicked(self) -> None:
        self.demo_asked.emit(_path(self.demo.text().strip()))

    def _on_browse_clicked(self, line: QLineEdit) -> None:
        self._supervisor.spawn("folders.browse", self._browse(line), policy="replace")

    async def _browse(self, line: QLineEdit) -> None:
        keep_no_history()
        dialog = QFileDialog(self.window(), line.accessibleName())
        dialog.setObjectName("folders.dialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setOption(QFileDialog.Option.ReadOnly)
        try:
            if await opened(dialog):
                line.setText(dialog.selectedFiles()[0])
        finally:
            dialog.deleteLater()


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()
