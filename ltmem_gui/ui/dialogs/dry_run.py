"""The page of a dry run: both phases, and nothing that can be pressed but Close."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from ltmem_gui.ui.dialogs.confirmation import effect_group
from ltmem_gui.ui.dialogs.page import ReadingPage
from ltmem_gui.ui.models.dry_run_text import PhaseText
from ltmem_gui.ui.theme import bold_font, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

FOOT = "Nothing was claimed, locked, sent or written."


class DryRunPage(ReadingPage):
    """Show what a run would do."""

    def __init__(self, phases: tuple[PhaseText, ...], parent: QWidget | None = None) -> None:
        super().__init__("dry_run", "phases", "What a run would do", QSize(720, 600), foot=FOOT, parent=parent)
        self.setWindowTitle("Dry run")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for number, phase in enumerate(phases, 1):
            if number > 1:
                self.column.addSpacing(12)
                self.column.addWidget(rule())
                self.column.addSpacing(6)
            _add_phase(self.column, phase, number)
        self.column.addStretch(1)


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
