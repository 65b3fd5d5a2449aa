"""A read-only text whose selection reaches the clipboard without secrets, however it is copied."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QStringListModel
from PySide6.QtWidgets import QPlainTextEdit

from ltmem_gui.ui.bridge.words import cleaned_part


class CleanText(QPlainTextEdit):
    """Show text that may hold what no run has cleaned; keys, menu, drag and mouse selection all copy through here."""

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as it may leave the window."""
        text, cursor = self.toPlainText(), self.textCursor()
        start, end = (_code_points(text, at) for at in (cursor.selectionStart(), cursor.selectionEnd()))
        # Data that Python made crashes the program at its end while it lies on the clipboard: Qt makes it.
        model = QStringListModel([""])
        data = model.mimeData([model.index(0)])
        data.clear()
        data.setText(cleaned_part(text, start, end))
        return data


def _code_points(text: str, units: int) -> int:
    """Return an offset of Qt, in UTF-16 units, as one of Python."""
    if text.isascii():
        return units
    return len(text[:units].encode("utf-16-le", "surrogatepass")[: units * 2].decode("utf-16-le", "surrogatepass"))
