"""The sheet of one act beside the plans: something sent to a server, something kept. Only its button means yes."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.armed import ArmedSheet
from ltmem_gui.ui.models.provider_state import ActWords
from ltmem_gui.ui.theme import bold_font, monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

_WIDTH = 560


class ActSheet(ArmedSheet):
    """Show one act to the letter, and ask."""

    def __init__(self, words: ActWords, parent: QWidget | None = None) -> None:
        super().__init__("act", parent, arm_ms=armed.ARM_MS)
        self.setWindowTitle(words.title)
        self.setMinimumWidth(480)
        body = QVBoxLayout()
        body.setContentsMargins(20, 16, 20, 16)
        body.setSpacing(8)
        body.addWidget(plain_label(words.title, font=title_font(), wrap=True))
        body.addSpacing(4)
        body.addWidget(plain_label(words.heading, font=bold_font(), wrap=True))
        exact = plain_label(words.exact, font=monospace(), wrap=True, selectable=True)
        exact.setObjectName("act.exact")
        body.addWidget(exact)
        for line in words.warnings:
            body.addWidget(plain_label(line, wrap=True, role="needs"))
        for line in words.facts:
            body.addWidget(plain_label(line, wrap=True, role="muted"))
        body.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(body, 1)
        layout.addWidget(rule())
        layout.addWidget(self._foot(words))
        self.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))

    def _foot(self, words: ActWords) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        row.setSpacing(8)
        cancel = QPushButton("Cancel")
        cancel.setObjectName("act.cancel")
        yes = QPushButton(words.yes)
        yes.setObjectName("act.yes")
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(yes)
        self._arm(cancel, yes)
        return foot


async def ask_act(words: ActWords, parent: QWidget | None = None) -> bool:
    """Open the sheet and wait; True only for a pressed yes."""
    sheet = ActSheet(words, parent)
    try:
        await opened(sheet)
        return sheet.confirmed
    finally:
        sheet.deleteLater()
