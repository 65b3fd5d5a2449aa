"""Ask whether one file of the program's own may be written from now on, named in full."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.ui.bridge.awaiting import opened
from ltmem_gui.ui.dialogs import armed
from ltmem_gui.ui.dialogs.armed import ArmedSheet
from ltmem_gui.ui.theme import monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label

WIDTH = 520


class FileSheet(ArmedSheet):
    """Name the file, say what it will hold, and ask."""

    def __init__(
        self, name: str, title: str, lines: tuple[str, ...], path: str, yes: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(name, parent, arm_ms=armed.ARM_MS)
        self.setWindowTitle(title)
        self.setMinimumWidth(WIDTH)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        column.addWidget(plain_label(title, font=title_font(), wrap=True))
        where = plain_label(path, font=monospace(), wrap=True, selectable=True)
        where.setObjectName(f"{name}.path")
        where.setAccessibleName(f"File: {path}")
        column.addWidget(where)
        for line in lines:
            column.addWidget(plain_label(line, wrap=True, role="muted"))
        column.addSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        cancel, yes_button = QPushButton("Cancel"), QPushButton(yes)
        cancel.setObjectName(f"{name}.cancel")
        yes_button.setObjectName(f"{name}.yes")
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(yes_button)
        column.addLayout(row)
        self._arm(cancel, yes_button)
        self.resize(WIDTH, column.heightForWidth(WIDTH))


async def ask_file(
    name: str, title: str, lines: tuple[str, ...], path: str, yes: str, *, parent: QWidget | None = None
) -> bool:
    """Open the sheet and wait; True only for a pressed yes."""
    sheet = FileSheet(name, title, lines, path, yes, parent)
    try:
        await opened(sheet)
        return sheet.confirmed
    finally:
        sheet.deleteLater()
