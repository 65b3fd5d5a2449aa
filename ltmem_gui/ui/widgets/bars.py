"""Banners and pages: what went wrong, what is missing, and the one thing to do about it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QIcon
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from ltmem_gui.ui.widgets.labels import plain_label, set_role

SIGNS = {"info": "info", "good": "good", "warning": "warning", "error": "error"}
TITLE_SCALE = 1.25
WORDS = {"info": "Note", "good": "Done", "warning": "Warning", "error": "Error"}


class MessageBar(QFrame):
    """One message with cause and remedy above the panels; it stays until it is closed or replaced.

    Signals: `action_pressed` (action id), `dismissed`.
    """

    action_pressed = Signal(str)
    dismissed = Signal()

    def __init__(self, icon: Callable[[str], QIcon], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self._icon = icon
        self._action = ""
        self._kind = "info"
        self._sign = QLabel()
        self._text = plain_label(wrap=True, selectable=True)
        self._text.setObjectName("message_bar.text")
        self._remedy = plain_label(wrap=True, selectable=True, role="muted")
        self._remedy.setObjectName("message_bar.remedy")
        self._button = QPushButton()
        self._button.setObjectName("message_bar.action")
        self._button.clicked.connect(self._on_button_clicked)
        close = QToolButton()
        close.setObjectName("message_bar.close")
        close.setText("×")
        close.setAccessibleName("Close this message")
        close.setProperty("role", "flat")
        close.clicked.connect(self.dismiss)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._text)
        texts.addWidget(self._remedy)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 8, 8, 8)
        layout.setSpacing(12)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        """Return what is shown, empty while nothing is."""
        return "" if self.isHidden() else self._text.text()

    def show_message(self, kind: str, text: str, remedy: str = "", action: str = "", action_title: str = "") -> None:
        """Show a message of kind info, good, warning or error."""
        set_role(self, "banner", kind)
        self._kind = kind
        self.refresh_icon()
        self._sign.setAccessibleName(WORDS[kind])
        self._text.setText(text)
        self._remedy.setText(remedy)
        self._remedy.setVisible(bool(remedy))
        self._action = action
        self._button.setText(action_title)
        self._button.setVisible(bool(action))
        self.setAccessibleName(f"{WORDS[kind]}: {text} {remedy}".strip())
        self.show()

    def refresh_icon(self) -> None:
        """Draw the sign again after the scheme changed."""
        self._sign.setPixmap(self._icon(SIGNS[self._kind]).pixmap(16, 16))

    def dismiss(self) -> None:
        """Take the message away."""
        self.hide()
        self.dismissed.emit()

    def _on_button_clicked(self) -> None:
        self.action_pressed.emit(self._action)


class EmptyPage(QWidget):
    """A page that teaches: a title, one sentence, one action."""

    pressed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        # Set before the first polish: a style sheet that is changed later would take a later font away.
        font = QFont(QGuiApplication.font())
        font.setPointSizeF(font.pointSizeF() * TITLE_SCALE)
        font.setWeight(QFont.Weight.DemiBold)
        self._title = plain_label(font=font)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence = plain_label(wrap=True, role="muted")
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._sentence.setMinimumWidth(320)
        self._button = QPushButton()
        self._button.setObjectName(f"{name}.action")
        self._button.clicked.connect(self.pressed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(32, 32, 32, 32)
        layout.setSpacing(12)
        layout.addStretch(2)
        for widget in (self._title, self._sentence, self._button):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)

    def teach(self, title: str, sentence: str, action: str = "") -> None:
        """Change what the page says; without an action there is no button."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        wide = self._sentence.fontMetrics().horizontalAdvance(sentence) + 16
        self._sentence.setMinimumWidth(min(520, wide))
        self._button.setText(action)
        self._button.setVisible(bool(action))
        self.setAccessibleName(f"{title}. {sentence}")
