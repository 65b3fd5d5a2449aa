"""The remark for a new run of the agent: what it will be told, and where that goes. Nothing starts from here."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.domain.hazards import one_line
from ltmem_gui.domain.refusals import RefusedHunk
from ltmem_gui.ui.models.formats import count, plural
from ltmem_gui.ui.models.text_lines import TextLine
from ltmem_gui.ui.theme import monospace, title_font
from ltmem_gui.ui.widgets.labels import plain_label
from ltmem_gui.ui.widgets.line_view import LineColors, LineView

MAX_NOTE = 4_000


class RegenerateSheet(QDialog):
    """Ask for the remark and show the rejected changes that go along; its plan is confirmed like any other."""

    def __init__(
        self, refused: Sequence[RefusedHunk], where: str, colors: LineColors, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("regenerate")
        self.setWindowTitle("Regenerate with a note")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumSize(520, 360)
        self.resize(640, 460)
        self.note = QPlainTextEdit()
        self.note.setObjectName("regenerate.note")
        self.note.setAccessibleName("Your remark")
        self.note.setPlaceholderText("for example: Keep the bullets about npm; say the rest in half the words.")
        self.note.setTabChangesFocus(True)
        self.note.textChanged.connect(self._on_note_changed)
        self._reason = plain_label(role="muted")
        self.plan = QPushButton("Plan the run…")
        self.plan.setObjectName("regenerate.plan")
        self.plan.setProperty("primary", "true")
        self.plan.setAutoDefault(False)
        self.plan.clicked.connect(self.accept)
        cancel = QPushButton("Cancel")
        cancel.setObjectName("regenerate.cancel")
        cancel.setDefault(True)
        cancel.clicked.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(8)
        column.addWidget(plain_label("What should the agent do differently?", font=title_font()))
        column.addWidget(plain_label(where, role="muted", wrap=True))
        column.addWidget(self.note, 2)
        self._add_refused(column, refused, colors)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self._reason, 1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.plan)
        column.addLayout(buttons)
        self._on_note_changed()
        self.note.setFocus()

    @property
    def text(self) -> str:
        """Return the remark."""
        return self.note.toPlainText().strip()

    def _add_refused(self, column: QVBoxLayout, refused: Sequence[RefusedHunk], colors: LineColors) -> None:
        if not refused:
            column.addWidget(plain_label("No change is rejected yet: only the remark goes along.", role="muted"))
            return
        column.addWidget(plain_label(f"{plural(len(refused), 'change')} that you rejected will be told too:"))
        view = LineView("regenerate.refused", colors, monospace())
        view.setAccessibleName("Rejected changes that are told")
        view.show_lines(_lines(refused))
        column.addWidget(view, 1)

    def _on_note_changed(self) -> None:
        length = len(self.text)
        over = length - MAX_NOTE
        if not length:
            self._reason.setText("Write a remark first.")
        else:
            self._reason.setText(
                f"{count(over)} characters too many" if over > 0 else "It asks before anything starts."
            )
        self.plan.setEnabled(0 < length <= MAX_NOTE)


def _lines(refused: Sequence[RefusedHunk]) -> list[TextLine]:
    lines: list[TextLine] = []
    for hunk in refused:
        note = f" — your note: {one_line(hunk.note)}" if hunk.note else ""
        lines.append(TextLine("", f"{one_line(hunk.path, 300)}{note}"))
        lines += [TextLine("−", line.rstrip("\n")) for line in hunk.old]
        lines += [TextLine("+", line.rstrip("\n")) for line in hunk.new]
    return lines
