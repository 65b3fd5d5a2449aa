"""The sheet of one act beside the plans: something sent, kept, started or written. Only its button means yes."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.armed import ArmedSheet
from ltmem_gui.ui.models.act_words import ActWords
from ltmem_gui.ui.theme import bold_font, monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label, rule

_WIDTH = 600
_MARGIN = 20
_MOST_LINES = 3
# Lines break between words: of each about a tenth may stay empty.
_FILLED = 0.9


class ActSheet(ArmedSheet):
    """Show one act to the letter, and ask. `name` is its object name and begins those of its parts."""

    def __init__(self, name: str, words: ActWords, parent: QWidget | None = None) -> None:
        super().__init__(name, parent, arm_ms=armed.ARM_MS)
        self.setWindowTitle(words.title)
        self.setMinimumWidth(480)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._body(words), 1)
        layout.addWidget(rule())
        layout.addWidget(self._foot(words))
        self.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))

    def _body(self, words: ActWords) -> QVBoxLayout:
        body = QVBoxLayout()
        body.setContentsMargins(_MARGIN, 16, _MARGIN, 16)
        body.setSpacing(8)
        body.addWidget(plain_label(words.title, font=title_font(), wrap=True))
        body.addSpacing(4)
        body.addWidget(plain_label(words.heading, font=bold_font(), wrap=True))
        body.addWidget(self._exact(words))
        for line in words.warnings:
            body.addWidget(plain_label(line, wrap=True, role="needs"))
        for line in words.facts:
            body.addWidget(plain_label(line, wrap=True, role="muted"))
        body.addStretch(1)
        return body

    def _exact(self, words: ActWords) -> QPlainTextEdit:
        """Return what cannot be cut: a label would lose the end of a long command; this one scrolls."""
        shown = QPlainTextEdit(words.exact)
        shown.setObjectName(f"{self.objectName()}.exact")
        shown.setAccessibleName(words.heading)
        shown.setAccessibleDescription(words.exact)
        shown.setReadOnly(True)
        shown.setTabChangesFocus(True)
        shown.setFont(monospace())
        shown.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        metrics = shown.fontMetrics()
        filled = (_WIDTH - 2 * _MARGIN) * _FILLED
        lines = sum(max(1, math.ceil(metrics.horizontalAdvance(line) / filled)) for line in words.exact.split("\n"))
        shown.setFixedHeight(metrics.lineSpacing() * min(lines, _MOST_LINES) + 16)
        return shown

    def _foot(self, words: ActWords) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(_MARGIN, 12, _MARGIN, 16)
        row.setSpacing(8)
        cancel, yes = QPushButton("Cancel"), QPushButton(words.yes)
        cancel.setObjectName(f"{self.objectName()}.cancel")
        yes.setObjectName(f"{self.objectName()}.yes")
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(yes)
        self._arm(cancel, yes)
        return foot


async def ask_act(name: str, words: ActWords, parent: QWidget | None = None) -> bool:
    """Open the sheet and wait; True only for a pressed yes."""
    sheet = ActSheet(name, words, parent)
    try:
        await opened(sheet)
        return sheet.confirmed
    finally:
        sheet.deleteLater()
