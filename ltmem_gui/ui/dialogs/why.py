"""The page that explains an empty memory: the answer, then the chain link by link, each with its next step."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.pipeline.explain import Link
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.models.why_words import step_of
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label


class WhyPage(QDialog):
    """Show the chain.

    Signals: `action_asked` (id of the action of a next step; the page closes first).
    """

    action_asked = Signal(str)

    def __init__(
        self, verdict: str, links: Sequence[Link], actions: ActionRegistry, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("why")
        self.setWindowTitle("Why is my memory empty?")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 480)
        self._actions = actions
        body = QWidget()
        body.setProperty("role", "page")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(body)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        answer = plain_label(verdict, font=title_font(), wrap=True, selectable=True)
        answer.setObjectName("why.verdict")
        column.addWidget(answer)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        broken = False
        for row, link in enumerate(links):
            # Only the first broken link is the reason; later ones follow from it.
            self._add_link(grid, row, link, first=not link.holds and not broken)
            broken = broken or not link.holds
        column.addLayout(grid)
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("why.chain")
        area.setAccessibleName("The chain from the folders to the files")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addWidget(self._foot())

    def _add_link(self, grid: QGridLayout, row: int, link: Link, *, first: bool) -> None:
        sign = plain_label("✓" if link.holds else "✕", role="good" if link.holds else "bad")
        sign.setAccessibleName("holds" if link.holds else "broken")
        name = plain_label(link.name, font=bold_font() if first else None)
        text = QVBoxLayout()
        text.setSpacing(2)
        text.addWidget(plain_label(link.text, wrap=True, selectable=True))
        step = step_of(link, can_scan=self._actions.action("run.scan").isEnabled())
        if step.words:
            text.addWidget(plain_label(f"→ {step.words}", wrap=True, role="muted", selectable=True))
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(sign, row, 0, top)
        grid.addWidget(name, row, 1, top)
        grid.addLayout(text, row, 2)
        if step.action and not link.holds:
            action = self._actions.action(step.action)
            button = QPushButton(action.text())
            button.setObjectName(f"why.step.{row}")
            button.setAutoDefault(False)
            button.setEnabled(action.isEnabled())
            button.setToolTip(action.toolTip())
            button.setAccessibleName(f"{action.text().rstrip('…')}: {step.words}")
            button.clicked.connect(lambda _=False, id_=step.action: self._on_step_pressed(id_))
            grid.addWidget(button, row, 3, top)

    def _foot(self) -> QFrame:
        close = QPushButton("Close")
        close.setObjectName("why.close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.addStretch(1)
        row.addWidget(close)
        return foot

    def _on_step_pressed(self, action: str) -> None:
        self.accept()
        self.action_asked.emit(action)
