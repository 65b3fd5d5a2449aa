"""The strips of the review: what is shown, find, a note, and the way to Apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ltmem_gui.domain.diffing.whitespace import Whitespace
from ltmem_gui.pipeline.review_export import TITLES
from ltmem_gui.ui.actions import ActionRegistry
from ltmem_gui.ui.theme import bold_font
from ltmem_gui.ui.widgets.labels import ElidedLabel, plain_label

_SWITCH = (
    "QToolButton { padding: 3px 8px; border-radius: 4px; border: 1px solid transparent; }"
    "QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); }"
)
SWITCHES = (("review.side_by_side", "Split"), ("review.whole_file", "Whole"), ("review.reading_list", "List"))
SIDES = (("both", "both sides"), ("new", "new side"), ("old", "old side"))


class ReviewHeader(QFrame):
    """Name the file, count what is open, and switch how it is looked at.

    Signals: `save_asked` and `copy_asked` (form of the review), `whitespace_reset`.
    """

    save_asked = Signal(str)
    copy_asked = Signal(str)
    whitespace_reset = Signal()

    def __init__(self, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.title = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.title.setObjectName("review.title")
        self.title.setFont(bold_font())
        self.counts = ElidedLabel(role="muted")
        self.counts.setObjectName("review.counts")
        self._chip = QPushButton()
        self._chip.setObjectName("review.whitespace_chip")
        self._chip.setProperty("chip", "true")
        self._chip.clicked.connect(self.whitespace_reset)
        self._chip.hide()
        self._buttons: dict[str, QToolButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 6)
        layout.setSpacing(8)
        layout.addWidget(self.title)
        layout.addWidget(self.counts, 1)
        layout.addWidget(self._chip)
        switches = QHBoxLayout()
        switches.setSpacing(0)
        layout.addLayout(switches)
        for id_, short in SWITCHES:
            switches.addWidget(self._button(registry.action(id_), short))
        switches.addWidget(self._exports())

    def show_modes(self, *, side_by_side: bool, whole: bool, reading: bool, whitespace: Whitespace) -> None:
        """Show which views are on; a white-space view is a chip that a press takes away."""
        states = {"review.side_by_side": side_by_side, "review.whole_file": whole, "review.reading_list": reading}
        for id_, on in states.items():
            button = self._buttons[id_]
            button.defaultAction().setChecked(on)
            button.setAccessibleName(f"{button.defaultAction().text()}, {'on' if on else 'off'}")
        self._chip.setVisible(whitespace is not Whitespace.SHOW_ALL)
        self._chip.setText(f"{whitespace.value}  ×")
        self._chip.setAccessibleName(f"View: {whitespace.value}. Press to show all white space")
        self._chip.setToolTip("A way to look only: decisions are about every byte. Press to show all white space.")

    def _button(self, action: QAction, short: str) -> QToolButton:
        action.setIconText(short)
        action.setCheckable(True)
        button = QToolButton()
        button.setStyleSheet(_SWITCH)
        button.setObjectName(f"{action.objectName()}_button")
        button.setProperty("role", "flat")
        button.setDefaultAction(action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons[action.objectName()] = button
        return button

    def _exports(self) -> QToolButton:
        button = QToolButton()
        button.setObjectName("review.export")
        button.setText("Export ▾")
        button.setAccessibleName("Export the review")
        button.setProperty("role", "flat")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._export = button
        menu = QMenu(button)
        for words, verb, signal in (("Save: {}…", "save", self.save_asked), ("Copy: {}", "copy", self.copy_asked)):
            for form, title in TITLES.items():
                action = menu.addAction(words.format(title))
                action.setObjectName(f"review.{verb}.{form}")
                action.triggered.connect(_emitter(signal, form))
            menu.addSeparator()
        button.setMenu(menu)
        return button

    def open_exports(self) -> None:
        """Open the menu of exports below its button."""
        menu = self._export.menu()
        menu.popup(self._export.mapToGlobal(self._export.rect().bottomLeft()))
        menu.setActiveAction(menu.actions()[0])


def _emitter(signal: Any, form: str) -> Callable[[], None]:
    return lambda: signal.emit(form)


class FindBar(QFrame):
    """Search the diff.

    Signals: `searched` (text, regex, match case, side), `step_asked` (1 or -1), `closed`.
    """

    searched = Signal(str, bool, bool, str)
    step_asked = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setObjectName("review.find")
        self.field = QLineEdit()
        self.field.setObjectName("review.find.text")
        self.field.setPlaceholderText("Find in the diff")
        self.field.setAccessibleName("Find in the diff")
        self._regex = QCheckBox("Regex")
        self._regex.setObjectName("review.find.regex")
        self._case = QCheckBox("Match case")
        self._case.setObjectName("review.find.case")
        self._side = QComboBox()
        self._side.setObjectName("review.find.side")
        self._side.setAccessibleName("Side to search")
        for value, title in SIDES:
            self._side.addItem(title, value)
        self._count = plain_label(role="muted")
        self._count.setObjectName("review.find.count")
        close = QToolButton()
        close.setObjectName("review.find.close")
        close.setText("×")
        close.setAccessibleName("Leave find")
        close.setProperty("role", "flat")
        close.clicked.connect(self.leave)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 8, 4)
        layout.setSpacing(8)
        layout.addWidget(self.field, 1)
        for widget in (self._regex, self._case, self._side, self._count, close):
            layout.addWidget(widget)
        self.field.textChanged.connect(self._on_search_changed)
        self._regex.toggled.connect(self._on_search_changed)
        self._case.toggled.connect(self._on_search_changed)
        self._side.currentIndexChanged.connect(self._on_search_changed)
        self.hide()

    def begin(self) -> None:
        """Show the bar with the last text, and take the focus."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self._on_search_changed()

    def resume(self) -> None:
        """Show the bar and search for the last text; the focus stays where it is."""
        self.show()
        self._on_search_changed()

    def leave(self) -> None:
        """Hide the bar; the text is kept."""
        self.hide()
        self.closed.emit()

    def search_again(self) -> None:
        """Search the file that is shown now."""
        if not self.isHidden():
            self._on_search_changed()

    def tell(self, text: str) -> None:
        """Say what was found."""
        self._count.setText(text)
        self.field.setAccessibleDescription(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step_asked.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def _on_search_changed(self) -> None:
        side = str(self._side.currentData())
        self.searched.emit(self.field.text(), self._regex.isChecked(), self._case.isChecked(), side)


class NoteBar(QFrame):
    """One line for a note or a reason. Return keeps it, Escape leaves it as it was.

    Signals: `kept` (text), `closed`.
    """

    kept = Signal(str)
    closed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "bar")
        self._label = plain_label()
        self.field = QLineEdit()
        self.field.setObjectName(f"{name}.text")
        keep = QPushButton("Keep")
        keep.setObjectName(f"{name}.keep")
        keep.clicked.connect(self._on_keep_clicked)
        leave = QPushButton("Leave")
        leave.setObjectName(f"{name}.leave")
        leave.setProperty("flat", "true")
        leave.clicked.connect(self.leave)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 4, 8, 4)
        layout.setSpacing(8)
        layout.addWidget(self._label)
        layout.addWidget(self.field, 1)
        layout.addWidget(keep)
        layout.addWidget(leave)
        self.field.returnPressed.connect(self._on_keep_clicked)
        self.hide()

    def begin(self, label: str, text: str) -> None:
        """Ask for a text."""
        self._label.setText(label)
        self.field.setAccessibleName(label)
        self.field.setText(text)
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def leave(self) -> None:
        """Go without keeping."""
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _on_keep_clicked(self) -> None:
        self.hide()
        self.kept.emit(self.field.text())
        self.closed.emit()


class ReviewFoot(QFrame):
    """The way to Apply: the button, why it is off, what would be written."""

    def __init__(self, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "foot")
        action = registry.action("review.apply")
        self.button = QPushButton("Apply…")
        self.button.setObjectName("review.apply_button")
        self.button.setProperty("primary", "true")
        self.button.setAutoDefault(False)
        self.button.clicked.connect(action.trigger)
        self.reason = ElidedLabel()
        self.reason.setObjectName("review.reason")
        self.summary = ElidedLabel(role="muted")
        self.summary.setObjectName("review.summary")
        self.budget = ElidedLabel(role="muted")
        self.budget.setObjectName("review.budget")
        self.position = ElidedLabel(role="muted")
        self.position.setObjectName("review.position")
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.reason)
        texts.addWidget(self.summary)
        right = QVBoxLayout()
        right.setSpacing(2)
        right.addWidget(self.position)
        right.addWidget(self.budget)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(12)
        layout.addWidget(self.button)
        layout.addLayout(texts, 3)
        layout.addLayout(right, 4)
