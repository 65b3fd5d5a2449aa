"""What one cell of a table shows, answered at once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from PySide6.QtGui import QColor


class Cell(NamedTuple):
    """Text, its color (None is the color of the text) and its side."""

    text: str
    color: QColor | None = None
    right: bool = False


class CellSource(Protocol):
    """A table model that answers for a cell at once."""

    def cell(self, row: int, column: int) -> Cell:
        """Return what a cell shows."""
        ...
