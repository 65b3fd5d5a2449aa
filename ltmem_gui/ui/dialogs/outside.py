"""The sheet of an act outside the named folders: a program to start, a copy to write."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.domain.outside import OutsideAct
from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.armed import ArmedSheet
from ltmem_gui.ui.models.outside_text import ActText, describe_act
from ltmem_gui.ui.theme import bold_font, monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

_LINES = 3
_WIDTH = 600


class OutsideSheet(ArmedSheet):
    """Show one act to the letter, and ask."""

    def __init__(self, act: OutsideAct, parent: QWidget | None = None) -> None:
        super().__init__("outside", parent, arm_ms=armed.ARM_MS)
        text = describe_act(act)
        self.setWindowTitle(text.title)
        self.setMinimumWidth(480)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._body(text), 1)
        layout.addWidget(rule())
        layout.addWidget(self._foot(text))
        self.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))

    def _body(self, text: ActText) -> QVBoxLayout:
        body = QVBoxLayout()
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(8)
        body.addWidget(plain_label(text.title, font=title_font()))
        body.addSpacing(4)
        body.addWidget(plain_label(text.heading, font=bold_font()))
        body.addWidget(self._exact(text))
        for line in text.warnings:
            body.addWidget(plain_label(line, wrap=True, role="needs"))
        for line in text.facts:
            body.addWidget(plain_label(line, wrap=True, role="muted"))
        body.addStretch(1)
        return body

    def _exact(self, text: ActText) -> QPlainTextEdit:
        """Return what cannot be cut: a label would lose the end of a long command."""
        shown = QPlainTextEdit(text.exact)
        shown.setObjectName("outside.exact")
        shown.setAccessibleName(text.heading)
        shown.setAccessibleDescription(text.exact)
        shown.setReadOnly(True)
        shown.setTabChangesFocus(True)
        shown.setFont(monospace())
        shown.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        shown.setFixedHeight(shown.fontMetrics().lineSpacing() * _LINES + 20)
        return shown

    def _foot(self, text: ActText) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.setSpacing(8)
        cancel = QPushButton("Cancel")
        cancel.setObjectName("outside.cancel")
        yes = QPushButton(text.yes)
        yes.setObjectName("outside.yes")
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(yes)
        self._arm(cancel, yes)
        return foot


async def ask(act: OutsideAct, parent: QWidget | None = None) -> bool:
    """Open the sheet and wait; True only for a pressed yes."""
    sheet = OutsideSheet(act, parent)
    try:
        await opened(sheet)
        return sheet.confirmed
    finally:
        sheet.deleteLater()
