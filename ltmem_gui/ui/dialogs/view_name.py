"""Ask for the name of a view."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.models.window_state import NAME_LENGTH
from ltmem_gui.ui.widgets.labels import plain_label


class ViewName(QDialog):
    """One line for a name; what is shown at the moment gets it."""

    def __init__(self, suggestion: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("view_name")
        self.setWindowTitle("Save this view")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumWidth(400)
        self.line = QLineEdit(suggestion)
        self.line.setObjectName("view_name.line")
        self.line.setAccessibleName("Name of the view")
        self.line.setMaxLength(NAME_LENGTH)
        self.line.setPlaceholderText("Name")
        self.line.selectAll()
        self.line.textChanged.connect(self._on_name_changed)
        cancel = QPushButton("Cancel")
        cancel.setObjectName("view_name.cancel")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.save = QPushButton("Save")
        self.save.setObjectName("view_name.save")
        self.save.setProperty("primary", "true")
        self.save.setDefault(True)
        self.save.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        column.addWidget(plain_label("A view keeps the filter, the order and the columns as they are now."))
        column.addWidget(self.line)
        column.addSpacing(8)
        column.addLayout(row)
        self._on_name_changed()

    def _on_name_changed(self) -> None:
        self.save.setEnabled(bool(self.line.text().strip()))


async def ask_view_name(suggestion: str, *, parent: QWidget | None = None) -> str:
    """Open the dialog and return the name, nothing when it was cancelled."""
    dialog = ViewName(suggestion, parent)
    try:
        result = await opened(dialog)
        return dialog.line.text().strip() if result == QDialog.DialogCode.Accepted.value else ""
    finally:
        dialog.deleteLater()
