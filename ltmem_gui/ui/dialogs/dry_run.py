"""The page of a dry run: both phases, and nothing that can be pressed but Close."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QToolButton, QVBoxLayout, QWidget

from ltmem_gui.ui.dialogs.confirmation import effect_group
from ltmem_gui.ui.models.dry_run_text import PhaseText
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

FOOT = "Nothing was claimed, locked, sent or written."


class DryRunPage(QDialog):
    """Show what a run would do."""

    def __init__(self, phases: tuple[PhaseText, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dry_run")
        self.setWindowTitle("Dry run")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 600)
        body = QWidget()
        body.setProperty("role", "page")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(body)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(6)
        for number, phase in enumerate(phases, 1):
            if number > 1:
                column.addSpacing(12)
                column.addWidget(rule())
                column.addSpacing(6)
            _add_phase(column, phase, number)
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("dry_run.phases")
        area.setAccessibleName("What a run would do")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        close = QPushButton("Close")
        close.setObjectName("dry_run.close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.addWidget(plain_label(FOOT, role="muted"))
        row.addStretch(1)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addWidget(foot)


def _add_phase(column: QVBoxLayout, phase: PhaseText, number: int) -> None:
    column.addWidget(plain_label(phase.title, font=title_font()))
    column.addWidget(plain_label(phase.answer, font=bold_font(), wrap=True, selectable=True))
    for line in phase.lines:
        column.addWidget(plain_label(line, wrap=True, role="muted", selectable=True))
    if phase.rows:
        _add_fold(column, f"dry_run.rows.{number}", "Which", plain_label("\n".join(phase.rows), wrap=True))
    if phase.effects:
        holder = QWidget()
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(8)
        for group in phase.effects:
            inner.addLayout(effect_group(group))
        _add_fold(column, f"dry_run.effects.{number}", "What it would ask your yes for", holder)


def _add_fold(column: QVBoxLayout, name: str, title: str, body: QWidget) -> None:
    toggle = QToolButton()
    toggle.setObjectName(name)
    toggle.setProperty("role", "link")
    toggle.setText(f"{title} ▸")
    toggle.setAccessibleName(title)
    toggle.setCheckable(True)
    body.setVisible(False)

    def on_toggled(open_: bool) -> None:
        body.setVisible(open_)
        toggle.setText(f"{title} {'▾' if open_ else '▸'}")

    toggle.toggled.connect(on_toggled)
    column.addWidget(toggle, 0, Qt.AlignmentFlag.AlignLeft)
    column.addWidget(body)
