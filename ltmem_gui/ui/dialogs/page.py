"""A page to read: one scrolled column, and a foot whose default button closes it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from ltmem_gui.ui.widgets.labels import plain_label


class ReadingPage(QDialog):
    """Hold `column` and `area`; what stands in the column is the page's own.

    `name` is the first part of the object names, `part` the second one of the scrolled area, `about` what it is to
    assistive tools.
    """

    def __init__(
        self, name: str, part: str, about: str, size: QSize, *, foot: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(size)
        body = QWidget()
        body.setProperty("role", "page")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.column = QVBoxLayout(body)
        self.column.setContentsMargins(20, 16, 20, 16)
        self.column.setSpacing(6)
        self.area = QScrollArea()
        self.area.setObjectName(f"{name}.{part}")
        self.area.setAccessibleName(about)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.area, 1)
        layout.addWidget(self._foot(name, foot))

    def _foot(self, name: str, text: str) -> QFrame:
        close = QPushButton("Close")
        close.setObjectName(f"{name}.close")
        close.setDefault(True)
        close.clicked.connect(self.reject)
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 12, 20, 16)
        if text:
            row.addWidget(plain_label(text, role="muted"))
        row.addStretch(1)
        row.addWidget(close)
        return foot
