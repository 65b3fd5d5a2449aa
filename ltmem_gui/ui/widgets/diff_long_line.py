"""One very long line, a page at a time, nothing cut and nothing laid out that is not shown (B58)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.domain.hazards import visible
from ltmem_gui.ui.widgets.clean_text import CleanText
from ltmem_gui.ui.widgets.labels import plain_label

PAGE = 10_000
_WHOLE = "The diff clips lines of more than 10,000 characters. A decision is about the whole line, as it is here."


class LongLineDialog(QDialog):
    """Show a line wrapped, in pages of 10,000 characters, and what else to do with it; opened, never executed.

    Signals: `copy_asked` (the whole line), `editor_asked` (its file at the line, outside).
    """

    copy_asked = Signal()
    editor_asked = Signal()

    def __init__(self, text: str, place: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("long_line")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"{visible(place)}: {len(text):,} characters")
        self.resize(760, 480)
        self._text = text
        self._page = 0
        self._field = CleanText()
        self._field.setObjectName("long_line.text")
        self._field.setAccessibleName("The whole line")
        self._field.setReadOnly(True)
        self._field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._field.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._where = plain_label(role="muted")
        self._where.setObjectName("long_line.where")
        self._back = QPushButton("Previous page")
        self._back.setObjectName("long_line.back")
        self._back.clicked.connect(self._on_back_clicked)
        self._on = QPushButton("Next page")
        self._on.setObjectName("long_line.on")
        self._on.clicked.connect(self._on_next_clicked)
        copy, outside = QPushButton("Copy the whole line"), QPushButton("Open in your editor…")
        copy.setObjectName("long_line.copy")
        copy.clicked.connect(self.copy_asked)
        outside.setObjectName("long_line.outside")
        outside.clicked.connect(self._on_outside_clicked)
        close = QPushButton("Close")
        close.setObjectName("long_line.close")
        close.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self._where, 1)
        for button in (self._back, self._on):
            row.addWidget(button)
        row.addSpacing(16)
        for button in (copy, outside, close):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(_WHOLE, role="muted", wrap=True))
        layout.addWidget(self._field, 1)
        layout.addLayout(row)
        self._show()

    @property
    def pages(self) -> int:
        """Return the number of pages."""
        return max(1, -(-len(self._text) // PAGE))

    def _show(self) -> None:
        start = self._page * PAGE
        part = self._text[start : start + PAGE]
        self._field.setPlainText(visible(part, keep="\t"))
        self._where.setText(f"characters {start + 1:,}–{start + len(part):,} of {len(self._text):,}")
        self._back.setEnabled(self._page > 0)
        self._on.setEnabled(self._page + 1 < self.pages)

    def _on_outside_clicked(self) -> None:
        self.reject()
        self.editor_asked.emit()

    def _on_back_clicked(self) -> None:
        self._page -= 1
        self._show()

    def _on_next_clicked(self) -> None:
        self._page += 1
        self._show()
