"""Edit the new side of one change; the diff above follows while typing (D3)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ltmem_gui.domain.diffing.editing import EditText, close_edit, open_for_edit, refusal
from ltmem_gui.ui.widgets.labels import plain_label

_PREVIEW_MS = 60


class EditPane(QFrame):
    """A small editor.

    Signals: `previewed` (lines) while typing, `kept` (lines), `abandoned`, `put_aside` (text of a changed draft whose
    file is left), `left` when the focus should go back to the diff with the draft kept.
    """

    previewed = Signal(object)
    kept = Signal(object)
    abandoned = Signal()
    put_aside = Signal(str)
    left = Signal()

    def __init__(self, mono: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setObjectName("review.edit_pane")
        self.field = _Field(self)
        self.field.setObjectName("review.edit_pane.text")
        self.field.setAccessibleName("New lines of this change")
        self.field.setFont(mono)
        self.field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.field.setTabChangesFocus(False)
        self._title = plain_label("Edit the new lines")
        self._state = plain_label(role="muted", wrap=True)
        self._state.setObjectName("review.edit_pane.state")
        self._keep = QPushButton("Keep edit")
        self._keep.setObjectName("review.edit_pane.keep")
        self._keep.setToolTip("Ctrl+Return")
        self._keep.clicked.connect(self.keep)
        drop = QPushButton("Drop edit")
        drop.setObjectName("review.edit_pane.drop")
        drop.setProperty("flat", "true")
        drop.clicked.connect(self.abandon)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._state, 1)
        head.addWidget(self._keep)
        head.addWidget(drop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 8)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.field, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PREVIEW_MS)
        self._timer.timeout.connect(self._on_timer_fired)
        self.field.textChanged.connect(self._on_text_changed)
        self._opened: EditText | None = None
        self._proposed: tuple[str, ...] = ()
        self.hide()

    @property
    def is_open(self) -> bool:
        """Tell whether a change is being edited."""
        return self._opened is not None

    @property
    def is_changed(self) -> bool:
        """Tell whether the draft differs from what was opened."""
        return self._opened is not None and self.field.toPlainText() != self._opened.text

    def begin(self, lines: Sequence[str], proposed: Sequence[str], draft: str | None = None) -> str:
        """Open lines for editing, or a draft of them; returns the reason when they cannot be, else nothing."""
        opened = open_for_edit(lines)
        if isinstance(opened, str):
            return opened
        self._opened = None
        self.field.setPlainText(opened.text)
        self._opened, self._proposed = opened, tuple(proposed)
        if draft is not None:
            self.field.setPlainText(draft)
        self._tell()
        self.show()
        self.field.setFocus()
        return ""

    def lines(self) -> tuple[str, ...] | str:
        """Return the edited lines, or the reason why they cannot be taken."""
        assert self._opened is not None
        text = self.field.toPlainText()
        return refusal(text) or close_edit(text, self._opened)

    def keep(self) -> None:
        """Take the edited lines; refused text stays in the field with its reason."""
        lines = self.lines() if self._opened is not None else ""
        if isinstance(lines, str):
            self._tell()
            return
        self._close()
        self.kept.emit(lines)

    def abandon(self) -> None:
        """Close without taking anything."""
        self._close()
        self.abandoned.emit()

    def leave_file(self) -> None:
        """Close, as the diff goes on to another file; what was typed is handed over and not lost."""
        text = self.field.toPlainText() if self.is_changed else None
        self._close()
        if text is not None:
            self.put_aside.emit(text)

    def escape(self) -> None:
        """Leave: an unchanged draft is closed, a changed one stays open and only loses the focus."""
        if self.is_changed:
            self.left.emit()
        else:
            self.abandon()

    def preview_again(self) -> None:
        """Show a changed draft in the diff again, after decisions on other changes were shown there."""
        if self.is_changed:
            self._timer.start()

    def _close(self) -> None:
        self._opened = None
        self._timer.stop()
        self.hide()

    def _tell(self) -> None:
        lines = self.lines()
        self._keep.setEnabled(not isinstance(lines, str))
        if isinstance(lines, str):
            self._state.setText(f"cannot be taken: {lines}")
            return
        count = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        same = " · as proposed" if lines == self._proposed else ""
        self._state.setText(f"{count}{same} · the diff above follows; it is checked again before Apply")

    def _on_text_changed(self) -> None:
        if self._opened is not None:
            self._tell()
            self._timer.start()

    def _on_timer_fired(self) -> None:
        lines = self.lines() if self._opened is not None else ""
        if not isinstance(lines, str):
            self.previewed.emit(lines)


class _Field(QPlainTextEdit):
    def __init__(self, pane: EditPane) -> None:
        super().__init__(pane)
        self._pane = pane

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() == Qt.Key.Key_Escape:
            self._pane.escape()
        elif control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pane.keep()
        else:
            super().keyPressEvent(event)
