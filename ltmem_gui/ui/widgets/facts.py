"""Facts by name, one a line: the labels stay, only their texts change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy

from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label


class Fact(NamedTuple):
    """A name and its value; one that is `whole` takes the lines it needs, others are cut in the middle."""

    name: str
    value: str
    whole: bool = False


class FactGrid(QGridLayout):
    """Show facts as plain text.

    Making a label costs a third of a millisecond, most of it the style sheet; a queue row is told anew ten times a
    second. So labels are kept, and made only where there are more facts than before, or of another kind.
    """

    def __init__(self, *, horizontal: int, vertical: int) -> None:
        super().__init__()
        self.setHorizontalSpacing(horizontal)
        self.setVerticalSpacing(vertical)
        self.setColumnStretch(1, 1)
        self._lines: list[tuple[QLabel, QLabel]] = []

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return names and values as they are shown, before they are cut."""
        return tuple((name.text(), _text(value)) for name, value in self._lines if not name.isHidden())

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these facts and no others."""
        for line, fact in enumerate(facts):
            name, value = self._line(line, whole=fact.whole)
            name.setText(fact.name)
            name.show()
            if isinstance(value, ElidedLabel):
                value.set_text(fact.value)
            elif value.text() != fact.value:
                value.setText(fact.value)
            value.show()
        for name, value in self._lines[len(facts) :]:
            name.hide()
            value.hide()

    def _line(self, line: int, *, whole: bool) -> tuple[QLabel, QLabel]:
        if line == len(self._lines):
            name = plain_label(role="muted")
            self.addWidget(name, line, 0, Qt.AlignmentFlag.AlignTop)
        elif isinstance(self._lines[line][1], ElidedLabel) is not whole:
            return self._lines[line]
        else:
            name, other = self._lines.pop(line)
            self.removeWidget(other)
            other.hide()
            other.deleteLater()
        value = _label(whole=whole)
        self.addWidget(value, line, 1)
        self._lines.insert(line, (name, value))
        return name, value


def _label(*, whole: bool) -> QLabel:
    if whole:
        return plain_label(wrap=True, selectable=True)
    label = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    return label


def _text(label: QLabel) -> str:
    return label.full_text if isinstance(label, ElidedLabel) else label.text()
