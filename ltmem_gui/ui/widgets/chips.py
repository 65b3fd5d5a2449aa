"""Filter chips: check buttons with counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip: `id` names it, `sign` stands before the title."""

    id: str
    title: str
    sign: str = ""


class ChipRow(QWidget):
    """A row of chips; none checked means no filter.

    Signals: `chosen` (frozenset of ids).
    """

    chosen = Signal(object)

    def __init__(self, name: str, chips: Sequence[Chip], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._chips = {chip.id: chip for chip in chips}
        self._buttons: dict[str, QPushButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for chip in chips:
            button = QPushButton()
            button.setObjectName(f"{name}.{chip.id}")
            button.setProperty("chip", "true")
            button.setCheckable(True)
            button.toggled.connect(self._on_chip_toggled)
            self._buttons[chip.id] = button
            layout.addWidget(button)
        layout.addStretch(1)
        self.set_counts({})

    @property
    def checked(self) -> frozenset[str]:
        """Return the ids that are on."""
        return frozenset(id_ for id_, button in self._buttons.items() if button.isChecked())

    def set_counts(self, counts: Mapping[str, int]) -> None:
        """Show how many each chip stands for."""
        for id_, button in self._buttons.items():
            chip, number = self._chips[id_], counts.get(id_, 0)
            text = f"{chip.sign} {chip.title} {number}".strip()
            if button.text() == text:
                continue
            button.setText(text)
            button.setAccessibleName(f"Filter: {chip.title}, {number} rows")

    def check(self, ids: Collection[str]) -> None:
        """Turn exactly these on; `chosen` is not emitted."""
        for id_, button in self._buttons.items():
            blocked = button.blockSignals(True)
            button.setChecked(id_ in ids)
            button.blockSignals(blocked)

    def clear(self) -> None:
        """Uncheck all."""
        for button in self._buttons.values():
            button.setChecked(False)

    def _on_chip_toggled(self) -> None:
        self.chosen.emit(self.checked)
